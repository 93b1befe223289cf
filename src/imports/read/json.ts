// Nested values of JSON and Parquet as columns: `publisher.name` is a value within an object, `tickers[]`
// gives a row for each value of a list. And the check of the shape of JSON files.
import { createReadStream } from 'node:fs';
import { limits } from '../../contract/limits.ts';
import type { Columns } from './chunk.ts';
import { PIECE_BYTES } from './digest.ts';
import { contentProblem, unfitProblem } from './file-problem.ts';
import type { Format, JsonRecords, LackingKey } from './format.ts';
import { named, quoted, REPEATED, VECTOR_ROWS } from './scan.ts';

/** Keys that are separated by points; a key with `[]` is that of a list. */
const PATH = /^[^.[\]"]+(?:\[\])?(?:\.[^.[\]"]+(?:\[\])?)*$/;

/** A key that a path can have. */
const KEY = /^[^.[\]"]+$/;

/** True if a column's name can be the path of a nested value. A key with that very name wins. */
const isJsonPath = (name: string): boolean => /\.|\[\]/.test(name) && PATH.test(name);

const LIST = '[]';

/** A part of a path: a key, and whether it is that of a list. */
type Part = { readonly key: string; readonly isList: boolean };

const partsOf = (path: string): Part[] =>
  path.split('.').map((part) => ({
    key: part.endsWith(LIST) ? part.slice(0, -LIST.length) : part,
    isList: part.endsWith(LIST),
  }));

const firstKey = (path: string): string => partsOf(path)[0]!.key;

/** The lists of a path, the outermost first: `a[].b[].c` has `a[]` and `a[].b[]`. */
const listsOf = (path: string): string[] =>
  [...path.matchAll(/\[\]/g)].map(({ index }) => path.slice(0, index + LIST.length));

/** The SQL of values within others; texts of JSON are those of cells. */
type Dialect = {
  /** The value of some keys below a column, as it is or as that of a cell. */
  readonly at: (column: string, keys: readonly string[], isCell: boolean) => string;
  /** The number of rows that a list gives. */
  readonly count: (list: string) => string;
  /** The values of a list. One that is no list is the only one; an empty list is one row without a value. */
  readonly values: (list: string) => string;
};

const dialects: Readonly<Record<'json' | 'parquet', Dialect>> = {
  json: {
    // The column itself is JSON: to copy a long list takes its memory again.
    at: (column, keys, isCell) =>
      keys.length === 0 && !isCell
        ? named(column)
        : `(${named(column)} ${isCell ? '->>' : '->'} ${quoted(['$', ...keys.map((key) => `"${key}"`)].join('.'))})`,
    count: (list) =>
      `case when json_type(${list}) = 'ARRAY' then greatest(json_array_length(${list}), 1) else 1 end`,
    values: (list) =>
      `case when json_type(${list}) = 'ARRAY' and json_array_length(${list}) > 0 then from_json(${list}, '["JSON"]')
        when json_type(${list}) = 'ARRAY' then [null] else [${list}] end`,
  },
  // The types of Parquet say what is a list.
  parquet: {
    at: (column, keys) => keys.reduce((sql, key) => `struct_extract(${sql}, ${quoted(key)})`, named(column)),
    count: (list) => `greatest(coalesce(len(${list}), 0), 1)`,
    values: (list) => `case when len(${list}) > 0 then ${list} else [null] end`,
  },
};

/**
 * The SQL of a path in the rows of its innermost list, or of the file: that list's values are a column with
 * its name.
 */
function pathSql({ at }: Dialect, path: string, list: string | undefined, isCell: boolean): string {
  if (path === list) return at(list, [], isCell);
  const keys = partsOf(list === undefined ? path : path.slice(list.length + 1)).map(({ key }) => key);
  return list === undefined ? at(keys[0]!, keys.slice(1), isCell) : at(list, keys, isCell);
}

/** A cell of a row: its name, and its SQL in the rows of the innermost list around it. */
type CellSql = { readonly name: string; readonly sql: string };

/** A list within the one before it. */
const listSql = (dialect: Dialect, list: string): string =>
  pathSql(dialect, list, listsOf(list).at(-2), false);

/** The column with that number, in the rows of the list. */
const countIn = (list: string): string => named(`rows of ${list}`);

/**
 * The values of the last of some lists, each within the one before: an error where its rows would repeat too
 * much of the cells that are around them. `levels` are these cells, those of the file first, then those of
 * each list but the last.
 */
function boundedValues(
  dialect: Dialect,
  lists: readonly string[],
  levels: readonly (readonly CellSql[])[],
): string {
  const list = listSql(dialect, lists.at(-1)!);
  const checks = levels.flatMap((cells, level) => {
    if (cells.length === 0) return [];
    const sizes = cells.map(({ sql }) => `coalesce(strlen(${sql}::varchar), 0)`);
    const rows = [...lists.slice(level, -1).map(countIn), dialect.count(list)].join(' * ');
    const sized = cells.map(({ name }, at) => `{bytes: ${sizes[at]}, name: ${quoted(name)}}`);
    return `when list_sum([${sizes.join()}]) * least(${rows}, ${VECTOR_ROWS}) > ${limits.repeatedBytesMax}
      then error(${quoted(REPEATED)} || list_max([${sized.join()}]).name)`;
  });
  const values = dialect.values(list);
  return checks.length === 0 ? values : `case ${checks.join(' ')} else ${values} end`;
}

/**
 * The fields of a struct in DuckDB's words, `STRUCT(a VARCHAR, "b c" STRUCT(d BIGINT)[])`; null for any other
 * type.
 */
function fieldsOf(type: string): Map<string, string> | null {
  const inside = /^STRUCT\((.*)\)$/s.exec(type)?.[1];
  if (inside === undefined) return null;
  const tokens = inside.match(/"(?:[^"]|"")*"|[(),]|[^"(),]+/g) ?? [];
  const texts = [''];
  let depth = 0;
  for (const token of tokens) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === ',' && depth === 0) texts.push('');
    else texts[texts.length - 1] += token;
  }
  return new Map(
    texts.map((text) => {
      const [, name = '', field = ''] = /^("(?:[^"]|"")*"|\S+) (.*)$/s.exec(text.trim()) ?? [];
      return [name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name, field];
    }),
  );
}

/** The type at a path in DuckDB's words; undefined where it has none. */
function typeAt({ header, types }: Columns, path: string): string | undefined {
  let type: string | undefined;
  for (const [at, { key, isList }] of partsOf(path).entries()) {
    type = at === 0 ? types[header.indexOf(key)] : fieldsOf(type ?? '')?.get(key);
    if (isList) type = type?.replace(/\[\]$/, '');
  }
  return type;
}

/**
 * The fields of the objects at a path; null where DuckDB has no type for them: of values of different kinds.
 */
const fieldsAt = (keys: Columns, path: string): Map<string, string> | null =>
  fieldsOf(typeAt(keys, path) ?? '');

/** The paths of the values within the objects of a file, and within those of its lists of objects. */
export const pathsIn = ({ header, types }: Columns): readonly string[] =>
  header
    .flatMap((column, place) => pathsBelow(column, types[place] ?? ''))
    .filter((path) => isJsonPath(path) && !header.includes(path));

function pathsBelow(path: string, type: string): readonly string[] {
  const isList = type.endsWith(LIST);
  const fields = fieldsOf(isList ? type.slice(0, -LIST.length) : type);
  if (fields === null) return [path];
  const place = isList ? path + LIST : path;
  return [...fields].flatMap(([key, inner]) => (KEY.test(key) ? pathsBelow(`${place}.${key}`, inner) : []));
}

/** The paths of the objects around a value, the outermost first. */
const placesOf = (path: string): string[] =>
  path.split('.').flatMap((_, at, parts) => (at === 0 ? [] : [parts.slice(0, at).join('.')]));

/**
 * The first key of a path that no object of the file has, and the keys beside it; null where all may exist.
 */
function missingKey(keys: Columns, path: string): LackingKey | null {
  if (!keys.header.includes(firstKey(path))) return { key: firstKey(path), known: keys.header };
  for (const [at, place] of placesOf(path).entries()) {
    const fields = fieldsAt(keys, place);
    if (fields === null) return null;
    const { key } = partsOf(path)[at + 1]!;
    if (!fields.has(key)) return { key, known: [...fields.keys()] };
  }
  return null;
}

/** A path without the marks of lists. */
const keysOf = (path: string): string => `${path.replaceAll(LIST, '')}.`;

/** The keys beside those of some paths, within the same objects, as far as DuckDB knows their types. */
function unreadBeside(keys: Columns, paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap(placesOf))].flatMap((place) => {
    const inside = Array.from(fieldsAt(keys, place)?.keys() ?? [], (key) => `${place}.${key}`);
    return inside.filter((name) => !paths.some((path) => keysOf(path).startsWith(keysOf(name))));
  });
}

/** The lists of some paths, each within the one before. @throws FileProblem where two are side by side */
function chainOf(file: string, paths: readonly string[]): readonly string[] {
  const lists = [...new Set(paths.flatMap(listsOf))].sort((a, b) => a.length - b.length);
  const apart = lists.findIndex((list, index) => index > 0 && !list.startsWith(`${lists[index - 1]!}.`));
  if (apart < 0) return lists;
  throw unfitProblem(
    file,
    `the column mapping names two lists, ${lists[apart - 1]} and ${lists[apart]}: a row can have values of only one`,
  );
}

/**
 * @throws FileProblem for a path that leads into a value of Parquet without keys, such as one of a map: of
 * JSON DuckDB may not know the kind
 */
function checkTypes(file: string, keys: Columns, path: string): void {
  for (const place of placesOf(path)) {
    const type = typeAt(keys, place);
    if (type === undefined || fieldsOf(type) !== null) continue;
    const cure = type.endsWith(LIST) ? `. Name its values by ${place}${LIST}` : '';
    throw unfitProblem(
      file,
      `the column mapping names ${path}, but ${place} is not an object: it is ${type.slice(0, 80)}${cure}`,
    );
  }
  const scalar = listsOf(path).find(
    (list) => typeAt(keys, list.slice(0, -LIST.length))?.endsWith(LIST) === false,
  );
  if (scalar !== undefined)
    throw unfitProblem(file, `the column mapping names ${path}, but ${scalar} is not a list: omit ${LIST}`);
}

/** The columns of a file whose column mapping may name nested values. */
type Nested = {
  /** Nothing where no column is nested. */
  readonly found?: Columns & { readonly records: JsonRecords; readonly unread: readonly string[] };
  readonly lacking: ReadonlyMap<string, LackingKey>;
};

/**
 * The rows of a file whose column mapping may name nested values by `columns`: its columns are these,
 * and the keys of the file's objects except those of the lists. `unread` are the keys beside these; `lacking`
 * are the columns that no object has: they give no value. With `mayLack`, for the keys of a vendor, none is
 * told.
 * @throws FileProblem where two lists are side by side, or a path leads into a value without keys
 */
export function nestedRecords(
  file: string,
  kind: Exclude<Format['kind'], 'csv'>,
  keys: Columns,
  columns: readonly string[],
  mayLack: boolean,
): Nested {
  const { header, types } = keys;
  const dialect = dialects[kind];
  const nested = [...new Set(columns)].filter((path) => isJsonPath(path) && !header.includes(path));
  if (kind === 'parquet') for (const path of nested) checkTypes(file, keys, path);
  const lacking = new Map(
    nested.flatMap((path) => {
      const missing = mayLack ? null : missingKey(keys, path);
      return missing === null ? [] : [[path, missing] as const];
    }),
  );
  const paths = nested.filter((path) => !lacking.has(path));
  if (paths.length === 0) return { lacking };
  const lists = chainOf(file, paths);
  // Each row of a long list would have all of it.
  const long = lists.slice(0, 1).map(firstKey);
  const own = header.filter((key) => !long.includes(key));
  // Values beside it, within the same object, are cells before that object is left out.
  const beside = paths.filter((path) => listsOf(path).length === 0 && long.includes(firstKey(path)));
  const sqlOf = (path: string): string => pathSql(dialect, path, listsOf(path).at(-1), true);
  const cellOf = (path: string): CellSql => ({
    name: path,
    sql: beside.includes(path) ? named(path) : sqlOf(path),
  });
  const whole = beside.map((path) => `${sqlOf(path)} as ${named(path)}`);
  const start = beside.length === 0 ? '{file}' : `(select *, ${whole.join()} from {file})`;
  const absent = [...lacking.keys()].map((name) => ({ name, sql: 'null' }));
  const held = [...own.map((key) => ({ name: key, sql: dialect.at(key, [], true) })), ...paths.map(cellOf)];
  // What is repeated, by the lists around it.
  const around =
    (depth: number) =>
    ({ name }: CellSql) =>
      (own.includes(name) ? 0 : listsOf(name).length) === depth;
  const table = lists.reduce((from, list, depth) => {
    const rest = depth === 0 ? `* exclude (${named(long[0]!)})` : '*';
    const levels = Array.from({ length: depth + 1 }, (_, level) => held.filter(around(level)));
    const values = boundedValues(dialect, lists.slice(0, depth + 1), levels);
    const count = dialect.count(listSql(dialect, list));
    return `(select ${rest}, unnest(${values}) as ${named(list)}, ${count} as ${countIn(list)} from ${from})`;
  }, start);
  const columnsRead = [...own, ...paths];
  const records = {
    keys: [...new Set([...header, ...paths.map(firstKey)])],
    query: `select ${[...held, ...absent].map(({ name, sql }) => `${sql} as ${named(name)}`).join()} from ${table}`,
  };
  const typesRead = columnsRead.map(
    (column) => (header.includes(column) ? types[header.indexOf(column)] : typeAt(keys, column)) ?? '',
  );
  return {
    found: { header: columnsRead, types: typesRead, records, unread: unreadBeside(keys, paths) },
    lacking,
  };
}

const [QUOTE, COLON, BACKSLASH] = [0x22, 0x3a, 0x5c];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads a JSON file to its end before DuckDB does, which checks that it is well-formed: there very deep
 * nesting ends the process, and very wide objects take seconds each. @throws FileProblem where it is nested
 * too deeply, or an object has too many keys
 */
export async function checkJson(name: string, path: string): Promise<void> {
  /** Keys of each open object, by the number of those around it. */
  const keys = new Uint32Array(limits.jsonDepthMax + 1);
  let [isText, isTooDeep, isTooWide, open, at] = [false, false, false, 0, 0];
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>) {
    for (; at < piece.length; at++) {
      const byte = piece[at]!;
      if (isText) {
        if (byte === QUOTE) isText = false;
        // Whatever follows is a part of the text, also in the next piece.
        else if (byte === BACKSLASH) at++;
      } else if (byte === QUOTE) isText = true;
      else if (byte === COLON) isTooWide ||= ++keys[open]! > limits.jsonKeysMax;
      else if (byte === OBJECT || byte === ARRAY) {
        keys[++open] = 0;
        isTooDeep ||= open > limits.jsonDepthMax;
      } else if (byte === OBJECT_END || byte === ARRAY_END) open = Math.max(0, open - 1);
    }
    at -= piece.length;
  }
  const refuse = (how: string) => contentProblem(name, `${how}. Nothing was imported.`);
  if (isTooDeep && open > 0)
    throw refuse(`the JSON is not well-formed: ${open} objects and arrays have no end`);
  if (isTooDeep) throw refuse(`has more than ${limits.jsonDepthMax} objects and arrays within each other`);
  if (isTooWide) throw refuse(`an object has more than ${limits.jsonKeysMax} keys`);
}
