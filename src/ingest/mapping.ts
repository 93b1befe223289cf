// Which column of a file, or which flag, gives which field of a dataset: native names, flags, or a map file (contract 11).
import { distance } from 'fastest-levenshtein';
import { type Cell, type Derived, derive, type Expression } from './cell.ts';
import type { PriceBasis } from './load.ts';
import { FileProblem } from './problem.ts';
import { cellsOf } from './sample.ts';

/** Rows that lie deeper in JSON: a query on the table `{file}`, which has the columns `keys`, each as JSON. */
export type JsonRecords = { readonly keys: readonly string[]; readonly query: string };

/** How a file is laid out and what gives which field: a map file, or what a preset says of a file. */
export type FieldMap = {
  /** Dataset field -> column of the file, or what is made of columns. */
  readonly columns: Readonly<Record<string, Cell>>;
  /** Fields that are the same in every row. */
  readonly values: Readonly<Record<string, string>>;
  /** Names of the columns of a file without a header line. */
  readonly header?: readonly string[];
  /** Of JSON that is no list of objects: SQL that makes the columns of `header` of it, from the table of objects `{file}`. */
  readonly records?: JsonRecords;
  /** What parts the cells, where it is neither a comma nor a tab. */
  readonly delimiter?: string;
  /** Lines before the header line, or before the first row where there is none. */
  readonly skip?: number;
  /** The zone of times without an offset, unless a flag names one. */
  readonly zone?: string;
  /** What was done to the prices, unless a flag says it. */
  readonly prices?: PriceBasis;
  /** Whether a row is one at all, as text `true` or `false`; one that is none is passed over, and counted where there is a reason. Bars do not have it. */
  readonly keep?: Expression;
  /** What each row is several of, such as a call and a put: each says the rest. Bars do not have it. */
  readonly parts?: readonly Part[];
  /** Whether a symbol is the one that its instrument has now, whatever day a row is about (contract 9.6). */
  readonly hasPresentSymbols?: boolean;
  /** Columns that its values and lookups were made of. */
  readonly taken?: readonly string[];
  /** Tells the columns that are made for one part from those of another. */
  readonly tag?: string;
  /** The preset that said all this. */
  readonly preset?: string;
  /** What is odd about the file as a whole, and does not keep it out. */
  readonly doubt?: string;
  /** What is told where a required field has nothing that gives it. */
  readonly hint?: string;
  /** Where in the map file something stands, for messages: by part, field and key. */
  readonly placeOf?: (...keys: readonly string[]) => string;
};

/** One of several rows that a row of a file is. */
export type Part = Pick<FieldMap, 'columns' | 'values'> & { readonly keep: Expression };

/** The maps that a row is read by: one, unless it is several. */
export const partsOf = (map: FieldMap): readonly FieldMap[] =>
  map.parts?.map(({ columns, values, keep }, index) => ({
    ...map,
    columns: { ...map.columns, ...columns },
    values: { ...map.values, ...values },
    keep,
    tag: String(index),
  })) ?? [map];

export const noMap: FieldMap = { columns: {}, values: {} };

/** The fields of a dataset, for the checks below. `flags` names the fields that a flag can give. */
export type FieldNames = {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /** Those that are numbers: one decimal mark holds for all of a file. */
  readonly numbers?: readonly string[];
};

/** Where each field comes from, and what of the file is passed over. */
export type Mapping = {
  readonly columns: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
  readonly ignored: readonly string[];
  /** Columns that are made of the file's own. */
  readonly derived: readonly Derived[];
  /** The one of them that says whether a row is one. */
  readonly keep: Derived | null;
};

/** The columns that all of some mappings pass over. */
export const ignoredByAll = ([first, ...others]: readonly Mapping[]): string[] =>
  first!.ignored.filter((column) => others.every(({ ignored }) => ignored.includes(column)));

/** The column of the file that a refusal names for one of a mapping. */
export const toldColumn = ({ derived }: Mapping, column: string): string =>
  derived.find(({ name }) => name === column)?.inputs[0] ?? column;

/** The nearest of some names, where one is near. */
export function nearest(name: string, among: readonly string[]): string | undefined {
  const ranked = [...among].sort(
    (a, b) => distance(a.toLowerCase(), name.toLowerCase()) - distance(b.toLowerCase(), name.toLowerCase()),
  );
  const best = ranked[0];
  return best !== undefined &&
    distance(best.toLowerCase(), name.toLowerCase()) <= Math.max(2, name.length / 3)
    ? best
    : undefined;
}

/**
 * Finds every field's source; flags win over the map's values, those over columns.
 * @throws FileProblem that names each required field without one, and what would give it.
 */
export function mapFields(
  file: string,
  header: readonly string[],
  fields: FieldNames,
  map: FieldMap,
  flags: ReadonlyMap<string, string>,
): Mapping {
  const known = [...fields.required, ...fields.optional];
  checkMap(file, header, known, map);
  const hasComma = Object.values(map.columns).some((cell) => typeof cell !== 'string' && 'decimal' in cell);
  const columns = new Map<string, string>();
  const derived: Derived[] = [];
  const values = new Map([...Object.entries(map.values), ...flags]);
  for (const field of known) {
    const given = Object.hasOwn(map.columns, field) ? map.columns[field]! : field;
    const isPlain = typeof given === 'string' && header.includes(given);
    const cell: Cell =
      isPlain && hasComma && fields.numbers?.includes(field) === true
        ? { column: given, decimal: ',' }
        : given;
    if (values.has(field) || (typeof cell === 'string' && !header.includes(cell))) continue;
    if (typeof cell !== 'string') derived.push(derive(field, cell, map.tag));
    columns.set(field, typeof cell === 'string' ? cell : derived.at(-1)!.name);
  }
  checkDelimiter(file, header, fields, map);
  const keep = map.keep === undefined ? null : derive('', map.keep, map.tag);
  if (keep !== null) derived.push(keep);
  const used = new Set([
    ...columns.values(),
    ...derived.flatMap(({ inputs }) => inputs),
    ...(map.taken ?? []),
  ]);
  const missing = fields.required.filter((field) => !columns.has(field) && !values.has(field));
  if (missing.length > 0) throw missingProblem(file, header, missing, fields, map, [...used]);
  return { columns, values, derived, keep, ignored: header.filter((column) => !used.has(column)) };
}

function checkDelimiter(
  file: string,
  header: readonly string[],
  { required }: FieldNames,
  map: FieldMap,
): void {
  const { hint } = map;
  const parted = header.length === 1 ? /[;\t|]/.exec(header[0]!)?.[0] : undefined;
  if (parted === undefined) return;
  const mark = parted === '\t' ? 'tabs' : `"${parted}"`;
  const cells = (cellsOf(header[0]!, parted) ?? []).filter((name) => !required.includes(name));
  const columns = likelyOnes(
    required.filter((field) => !header[0]!.includes(field)),
    cells,
  );
  const cure = mapText({ ...map, delimiter: parted, columns: { ...map.columns, ...columns } });
  throw new FileProblem(
    'content',
    `${file}: its cells are parted by ${mark}: a CSV is parted by commas; say so otherwise by --map FILE with ${cure}${hint === undefined ? '' : `. ${hint}`}`,
  );
}

/** The columns that a cell is made of. */
const columnsIn = (cell: Cell): readonly string[] =>
  typeof cell === 'string' ? [cell] : derive('', cell).inputs;

function checkMap(file: string, header: readonly string[], known: readonly string[], map: FieldMap): void {
  const placeOf = map.placeOf ?? (() => '');
  for (const part of ['columns', 'values'] as const) {
    const field = Object.keys(map[part]).find((name) => !known.includes(name));
    if (field === undefined) continue;
    throw new FileProblem(
      'usage',
      `${placeOf(part, field)}the map names a field ${field} that is not one of ${known.join(', ')}`,
    );
  }
  for (const [field, cell] of Object.entries(map.columns)) {
    const column = columnsIn(cell).find((name) => !header.includes(name));
    if (column === undefined) continue;
    const near = nearest(column, header);
    throw new FileProblem(
      'usage',
      `${placeOf('columns', field)}${file}: has no column ${column}, which the map names; its columns are ${header.join(', ')}${near === undefined ? '' : `; is it ${near}?`}`,
    );
  }
}

/** What files often call a field: offered, never taken. */
const oftenCalled: Readonly<Record<string, readonly string[]>> = {
  datetime: [
    'date',
    'time',
    'timestamp',
    'ts',
    't',
    'open_time',
    'date_time',
    'datum',
    'zeit',
    'fecha',
    'data',
  ],
  symbol: ['ticker', 'sym', 'instrument', 'code', 'kürzel', 'símbolo'],
  open: ['o', 'eröffnung', 'eröffnungskurs', 'erster', 'ouverture', 'ouv', 'apertura'],
  high: ['h', 'hoch', 'tageshoch', 'plus haut', '+haut', 'máximo', 'massimo'],
  low: ['l', 'tief', 'tagestief', 'plus bas', '+bas', 'mínimo', 'minimo'],
  close: [
    'c',
    'last',
    'schluss',
    'schlusskurs',
    'letzter',
    'clôture',
    'clot',
    'dernier',
    'cierre',
    'chiusura',
    'ultimo',
  ],
  asset_schema: ['asset_type', 'asset_class'],
  country_iso_code: ['country', 'market'],
};

/** The column that a field may stand in. */
function likely(field: string, columns: readonly string[]): string | undefined {
  const often = oftenCalled[field] ?? [];
  return columns.find((column) => often.includes(column.toLowerCase().trim())) ?? nearest(field, columns);
}

/** Those of some fields for which there is a likely column, each with its own. */
function likelyOnes(fields: readonly string[], columns: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const field of fields) {
    const free = columns.filter((column) => !Object.values(found).includes(column));
    const column = likely(field, free);
    if (column !== undefined) found[field] = column;
  }
  return found;
}

/** A map as a file has it. */
function mapText(map: FieldMap): string {
  const { header, delimiter, skip, zone, prices, columns, values } = map;
  const given = Object.keys(values).length === 0 ? undefined : values;
  return JSON.stringify({ header, delimiter, skip, zone, prices, columns, values: given });
}

function missingProblem(
  file: string,
  header: readonly string[],
  missing: readonly string[],
  fields: FieldNames,
  map: FieldMap,
  used: readonly string[],
): FileProblem {
  const free = header.filter((column) => !used.includes(column));
  const mapped = likelyOnes(missing, free);
  const unmapped = missing.filter((field) => mapped[field] === undefined);
  const flags = unmapped.filter((field) => fields.flags[field] !== undefined);
  // A map that leaves a field out would only lead to the next refusal.
  const isWhole =
    map.preset === undefined && unmapped.length < missing.length && flags.length === unmapped.length;
  const open = unmapped.filter((field) => !flags.includes(field)).map((field) => [field, '…']);
  const cure = mapText({
    ...map,
    columns: { ...map.columns, ...mapped, ...(isWhole ? {} : Object.fromEntries(open)) },
  });
  // Columns that may be those fields, whatever they are called.
  const isOpen = open.length > 0 && free.length - Object.keys(mapped).length >= open.length;
  const isOffered = isOpen && header.length > 1 && map.preset === undefined && map.hint === undefined;
  const cures = [
    ...(isWhole ? [`If they stand under other names, say so by --map FILE with ${cure}.`] : []),
    ...(!isWhole && isOffered
      ? [`If they stand under other names, say so by --map FILE with ${cure}, each … a column of the file.`]
      : []),
    ...(flags.length === 0
      ? []
      : [
          `What is the same in every row can be given as ${flags.map((field) => fields.flags[field]).join(', ')}.`,
        ]),
  ];
  const plural = missing.length > 1 ? 'columns' : 'column';
  return new FileProblem(
    'unfit',
    [
      `${file}: required ${plural} missing: ${missing.join(', ')}.`,
      ...cures,
      ...(map.hint === undefined ? [] : [map.hint]),
      ...(header.length > 1
        ? []
        : ['Its first line has one cell: what stands above the header is passed over by "skip" in a map.']),
      `The file has ${header.join(', ')}.`,
    ].join(' '),
  );
}
