// Which column of a file, or which flag, gives which field of a dataset: native names, flags, or a map file (contract 11).
import { readFileSync } from 'node:fs';
import { distance } from 'fastest-levenshtein';
import { FileProblem } from './problem.ts';

/** What a map file says: dataset field -> column of the file, and fields that are the same in every row. */
export type FieldMap = {
  readonly columns: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, string>>;
};

export const noMap: FieldMap = { columns: {}, values: {} };

/** The fields of a dataset, for the checks below. `flags` names the fields that a flag can give. */
export type FieldNames = {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
};

/** Where each field comes from, and what of the file is passed over. */
export type Mapping = {
  readonly columns: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
  readonly ignored: readonly string[];
};

/** Reads a map file: JSON `{"columns": {"datetime": "open_utc"}, "values": {"symbol": "BTCUSD"}}`. */
export function readMap(path: string): FieldMap {
  const parsed = parseMap(path);
  const { columns = {}, values = {}, ...others } = parsed as Record<string, unknown>;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined)
    throw new FileProblem('usage', `${path}: a map has "columns" and "values", not "${unknown}"`);
  return { columns: textsOf(path, 'columns', columns), values: textsOf(path, 'values', values) };
}

function parseMap(path: string): object {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new FileProblem(
      'usage',
      `--map ${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`,
      { cause: error },
    );
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch (error) {
    throw new FileProblem('usage', `--map ${path}: is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  throw new FileProblem('usage', `--map ${path}: holds no JSON object`);
}

function textsOf(path: string, part: string, value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FileProblem('usage', `--map ${path}: "${part}" must be an object of names`);
  }
  for (const [field, text] of Object.entries(value)) {
    if (typeof text !== 'string')
      throw new FileProblem('usage', `--map ${path}: "${part}": "${field}" must be text`);
  }
  return value as Record<string, string>;
}

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
  const columns = new Map<string, string>();
  const values = new Map([...Object.entries(map.values), ...flags]);
  for (const field of known) {
    const column = map.columns[field] ?? field;
    if (!values.has(field) && header.includes(column)) columns.set(field, column);
  }
  const parted = header.length === 1 ? /[;\t|]/.exec(header[0]!)?.[0] : undefined;
  if (parted !== undefined) {
    const mark = parted === '\t' ? 'tabs' : `"${parted}"`;
    throw new FileProblem('content', `${file}: its cells are parted by ${mark}: a CSV is parted by commas`);
  }
  const missing = fields.required.filter((field) => !columns.has(field) && !values.has(field));
  if (missing.length > 0) throw missingProblem(file, header, missing, fields, map, [...columns.values()]);
  const used = new Set(columns.values());
  return { columns, values, ignored: header.filter((column) => !used.has(column)) };
}

function checkMap(file: string, header: readonly string[], known: readonly string[], map: FieldMap): void {
  for (const field of [...Object.keys(map.columns), ...Object.keys(map.values)]) {
    if (known.includes(field)) continue;
    throw new FileProblem('usage', `the map names a field ${field} that is not one of ${known.join(', ')}`);
  }
  for (const column of Object.values(map.columns)) {
    if (header.includes(column)) continue;
    throw new FileProblem(
      'usage',
      `${file}: has no column ${column}, which the map names; its columns are ${header.join(', ')}`,
    );
  }
}

/** What files often call a field: offered, never taken. */
const oftenCalled: Readonly<Record<string, readonly string[]>> = {
  datetime: ['date', 'time', 'timestamp', 'ts', 't', 'open_time', 'date_time'],
  symbol: ['ticker', 'sym', 'instrument', 'code'],
  open: ['o'],
  high: ['h'],
  low: ['l'],
  close: ['c', 'last'],
  asset_schema: ['asset_type', 'asset_class'],
  country_iso_code: ['country', 'market'],
};

/** The column that a field may stand in. */
function likely(field: string, columns: readonly string[]): string | undefined {
  const often = oftenCalled[field] ?? [];
  return columns.find((column) => often.includes(column.toLowerCase().trim())) ?? nearest(field, columns);
}

/** A map as a file has it. */
const mapText = ({ columns, values }: FieldMap): string =>
  JSON.stringify(Object.keys(values).length === 0 ? { columns } : { columns, values });

function missingProblem(
  file: string,
  header: readonly string[],
  missing: readonly string[],
  fields: FieldNames,
  map: FieldMap,
  used: readonly string[],
): FileProblem {
  const mapped: Record<string, string> = {};
  for (const field of missing) {
    const free = header.filter((column) => !used.includes(column) && !Object.values(mapped).includes(column));
    const column = likely(field, free);
    if (column !== undefined) mapped[field] = column;
  }
  const unmapped = missing.filter((field) => mapped[field] === undefined);
  const flags = unmapped.filter((field) => fields.flags[field] !== undefined);
  // A map that leaves a field out would only lead to the next refusal.
  const isWhole = unmapped.length < missing.length && flags.length === unmapped.length;
  const whole = { ...map, columns: { ...map.columns, ...mapped } };
  const cures = [
    ...(isWhole ? [`If they stand under other names, say so by --map FILE with ${mapText(whole)}.`] : []),
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
      `The file has ${header.join(', ')}.`,
    ].join(' '),
  );
}
