// Which column of a file, or which flag, gives which field of a dataset: native names, flags, or a map file (contract 11).
import { nearest } from '../base/nearest.ts';
import type { PriceBasis } from '../contract/price-basis.ts';
import type { ComputedColumn } from '../files/computed-column.ts';
import { cellsOf } from '../files/csv-line.ts';
import { FileProblem } from '../files/file-problem.ts';
import type { ChooseLayout, Layout } from '../files/format.ts';
import type { SourceFile } from '../files/source.ts';
import { type Cell, derive, type Expression } from './cell.ts';

/** How a file is laid out and what gives which field: a mapping file, or what a preset says of a file. */
export type ColumnMapping = Layout & {
  /** Dataset field -> column of the file, or what is made of columns. */
  readonly columns: Readonly<Record<string, Cell>>;
  /** Fields that are the same in every row. */
  readonly values: Readonly<Record<string, string>>;
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
  /** Tells the columns that are made for one part from those of another. */
  readonly tag?: string;
  /** What is told where a required field has nothing that gives it. */
  readonly hint?: string;
  /** Where in the map file something stands, for messages: by part, field and key. */
  readonly locate?: (...keys: readonly string[]) => string;
};

/** One of several rows that a row of a file is. */
export type Part = Pick<ColumnMapping, 'columns' | 'values'> & { readonly keep: Expression };

/** The maps that a row is read by: one, unless it is several. */
export const partsOf = (map: ColumnMapping): readonly ColumnMapping[] =>
  map.parts?.map(({ columns, values, keep }, index) => ({
    ...map,
    columns: { ...map.columns, ...columns },
    values: { ...map.values, ...values },
    keep,
    tag: String(index),
  })) ?? [map];

export const noMapping: ColumnMapping = { columns: {}, values: {} };

/** A file that can be read, and what gives which field. */
export type MappedFile = SourceFile<ColumnMapping>;

/** Says how a file is to be read, by its name and beginning. @throws FileProblem where it is not what was asked for */
export type ChooseMapping = ChooseLayout<ColumnMapping>;

/** Of files whose columns bear the names of fields. */
export const ownNames: ChooseMapping = () => noMapping;

/** The fields of a dataset, for the checks below. `flags` names the fields that a flag can give. */
export type FieldNames = {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /** Those that are numbers: one decimal mark holds for all of a file. */
  readonly numbers?: readonly string[];
};

/** Where each field comes from, and what of the file is passed over. */
export type FieldSources = {
  readonly columns: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
  readonly ignored: readonly string[];
  /** Columns that are made of the file's own. */
  readonly derived: readonly ComputedColumn[];
  /** The one of them that says whether a row is one. */
  readonly keep: ComputedColumn | null;
};

/** The columns that all of some mappings pass over. */
export const ignoredByAll = ([first, ...others]: readonly FieldSources[]): string[] =>
  first!.ignored.filter((column) => others.every(({ ignored }) => ignored.includes(column)));

/** The column of the file that a refusal names for one of a mapping. */
export const reportedColumn = ({ derived }: FieldSources, column: string): string =>
  derived.find(({ name }) => name === column)?.inputs[0] ?? column;

/**
 * Finds every field's source; flags win over the map's values, those over columns.
 * @throws FileProblem that names each required field without one, and what would give it.
 */
export function findSources(
  file: string,
  header: readonly string[],
  fields: FieldNames,
  map: ColumnMapping,
  flags: ReadonlyMap<string, string>,
): FieldSources {
  const known = [...fields.required, ...fields.optional];
  checkMapping(file, header, known, map);
  const hasComma = Object.values(map.columns).some((cell) => typeof cell !== 'string' && 'decimal' in cell);
  const columns = new Map<string, string>();
  const derived: ComputedColumn[] = [];
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
  const used = new Set([...columns.values(), ...derived.flatMap(({ inputs }) => inputs)]);
  const missing = fields.required.filter((field) => !columns.has(field) && !values.has(field));
  if (missing.length > 0) throw missingProblem(file, header, missing, fields, map, [...used]);
  // The columns of a converted file are its preset's own.
  const ignored = map.convert === undefined ? header.filter((column) => !used.has(column)) : [];
  return { columns, values, derived, keep, ignored };
}

function checkDelimiter(
  file: string,
  header: readonly string[],
  { required }: FieldNames,
  map: ColumnMapping,
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

function checkMapping(
  file: string,
  header: readonly string[],
  known: readonly string[],
  map: ColumnMapping,
): void {
  const locate = map.locate ?? (() => '');
  for (const part of ['columns', 'values'] as const) {
    const field = Object.keys(map[part]).find((name) => !known.includes(name));
    if (field === undefined) continue;
    throw new FileProblem(
      'usage',
      `${locate(part, field)}the map names a field ${field} that is not one of ${known.join(', ')}`,
    );
  }
  for (const [field, cell] of Object.entries(map.columns)) {
    const column = columnsIn(cell).find((name) => !header.includes(name));
    if (column === undefined) continue;
    const near = nearest(column, header);
    throw new FileProblem(
      'usage',
      `${locate('columns', field)}${file}: has no column ${column}, which the map names; its columns are ${header.join(', ')}${near === undefined ? '' : `; is it ${near}?`}`,
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
function mapText(map: ColumnMapping): string {
  const { header, delimiter, skip, zone, prices, columns, values } = map;
  const given = Object.keys(values).length === 0 ? undefined : values;
  return JSON.stringify({ header, delimiter, skip, zone, prices, columns, values: given });
}

function missingProblem(
  file: string,
  header: readonly string[],
  missing: readonly string[],
  fields: FieldNames,
  map: ColumnMapping,
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
