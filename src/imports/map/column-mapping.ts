// Which column of a file, or which flag, gives which field of a dataset: native names, flags, or a column
// mapping (contract 11).
import { nearest } from '../../base/words.ts';
import type { BarLabel, PriceBasis, SymbolTime, VolumeBasis } from '../../contract/file-words.ts';
import { anyNumber, type Fields } from '../../store/schema/dataset.ts';
import type { Notation } from '../../store/schema/notations.ts';
import { contentProblem, FileProblem, unfitProblem } from '../read/file-problem.ts';
import type { ChooseLayout, Layout } from '../read/format.ts';
import { cellsOf } from '../read/sample.ts';
import type { ComputedColumn } from '../read/scan.ts';
import type { SourceFile } from '../read/source.ts';
import { type Cell, derive, inputsOf } from './cell.ts';

/** The layout of a file and the sources of its fields: a mapping file, or what a preset says of a file. */
export type ColumnMapping = Layout & {
  /** Dataset field -> column of the file, or how it is computed from columns. */
  readonly columns: Readonly<Record<string, Cell>>;
  /** Fields that are the same in every row. */
  readonly values: Readonly<Record<string, string>>;
  /** The zone of times without an offset, unless a flag names one. */
  readonly zone?: string;
  /** How prices are adjusted already, unless a flag says it. */
  readonly prices?: PriceBasis;
  /** How volumes are adjusted already, where otherwise than prices, unless a flag says it. */
  readonly volumes?: VolumeBasis;
  /** Which symbols its instruments have, unless a flag says it. */
  readonly symbols?: SymbolTime;
  /** The notation of its US stocks, if it is not ours (contract 9.21). */
  readonly notation?: Notation;
  /** True if it names stocks by the roots of their options, which have no separators (contract 9.21). */
  readonly namesRoots?: true;
  /** The end of a bar that its datetime names, unless a flag says it. */
  readonly label?: BarLabel;
  /** Whether such files have no line end after the last row. */
  readonly isOpenEnded?: boolean;
  /** Columns that a preset's conversion reads or adds itself. */
  readonly ownColumns?: readonly string[];
  /** Added to the message where a required field is missing. */
  readonly hint?: string;
  /** The place in the mapping file of a part, field and key, for messages. */
  readonly locate?: (...keys: readonly string[]) => string;
};

export const noMapping: ColumnMapping = { columns: {}, values: {} };

/** A file that can be read, and its column mapping. */
export type MappedFile = SourceFile<ColumnMapping>;

/**
 * Chooses the column mapping of a file by its name and beginning. @throws FileProblem where the file is not
 * what the caller said
 */
export type ChooseMapping = ChooseLayout<ColumnMapping>;

/** For files whose columns have the names of fields. */
export const ownNames: ChooseMapping = () => noMapping;

/** The fields of a dataset. `flags` has the flag of each field that a flag can give. */
export type FieldNames = {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /**
   * The required ones, and those that rows of one kind need: read from columns of their own names beside a
   * mapping too.
   */
  readonly needed: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /** The fields that are numbers: they all have the same decimal mark. */
  readonly numbers: readonly string[];
};

/** The fields of a dataset by what a file needs to have of them, in their order. */
export function namesOf(fields: Fields): FieldNames {
  const names = Object.keys(fields);
  return {
    required: names.filter((name) => fields[name]!.isRequired),
    optional: names.filter((name) => !fields[name]!.isRequired),
    needed: names.filter((name) => fields[name]!.isRequired || fields[name]!.isOfOneKind),
    flags: Object.fromEntries(
      names.flatMap((name) => (fields[name]!.flag === undefined ? [] : [[name, fields[name]!.flag]])),
    ),
    numbers: names.filter((name) => fields[name]!.rule === anyNumber),
  };
}

/** The source of each field, and the columns that are unused. */
export type FieldSources = {
  readonly columns: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
  readonly ignored: readonly string[];
  /** Columns that are computed from those of the file. */
  readonly derived: readonly ComputedColumn[];
};

/**
 * Refuses a value for the whole file that no row could have, for the reason that `reasonOf` gives. What a
 * preset found in a file's name or rows concerns that file alone; a flag and a mapping file are wrong for
 * every file.
 */
export function checkValues(
  { file, flags }: { readonly file: MappedFile; readonly flags: ReadonlyMap<string, string> },
  { values }: FieldSources,
  fields: Fields,
  reasonOf: (field: string, value: string) => string | undefined,
): void {
  for (const [field, value] of values) {
    const reason = reasonOf(field, value);
    if (reason === undefined) continue;
    const { flag } = fields[field]!;
    if (file.mapping.preset === undefined || flags.has(field))
      throw new FileProblem('usage', `${flag ?? field} ${value}: ${reason}`);
    const cure = flag === undefined ? '' : `: give it as a flag: ${flag}`;
    throw unfitProblem(file.name, `its ${field} ${value} ${reason}${cure}`);
  }
}

/** The columns of the file whose cells a refusal of a column shows; it names the first. */
export const reportedColumns = ({ derived }: FieldSources, column: string): readonly string[] =>
  derived.find(({ name }) => name === column)?.reported ?? [column];

/**
 * Finds every field's source; flags win over the mapping's values, and those win over columns. Beside a
 * mapping of columns an optional field is not read from a column that only happens to have its name: there
 * the word may mean something else.
 * @throws FileProblem that names each required field without a source, and what would give it.
 */
export function findSources(
  file: string,
  header: readonly string[],
  fields: FieldNames,
  mapping: ColumnMapping,
  flags: ReadonlyMap<string, string>,
): FieldSources {
  const about = { file, header, fields, mapping };
  const known = [...fields.required, ...fields.optional];
  checkMapping(about, known);
  const hasComma = Object.values(mapping.columns).some(
    (cell) => typeof cell !== 'string' && 'decimal' in cell,
  );
  const columns = new Map<string, string>();
  const derived: ComputedColumn[] = [];
  const values = new Map([...Object.entries(mapping.values), ...flags]);
  const hasOwnNames = Object.keys(mapping.columns).length === 0;
  for (const field of known) {
    const isNamed = Object.hasOwn(mapping.columns, field);
    if (!isNamed && !hasOwnNames && !fields.needed.includes(field) && !mapping.header?.includes(field))
      continue;
    let cell = isNamed ? mapping.columns[field]! : field;
    if (values.has(field) || (typeof cell === 'string' && !header.includes(cell))) continue;
    if (typeof cell === 'string' && hasComma && fields.numbers.includes(field))
      cell = { column: cell, decimal: ',' };
    if (typeof cell !== 'string') derived.push(derive(field, cell));
    columns.set(field, typeof cell === 'string' ? cell : derived.at(-1)!.name);
  }
  checkDelimiter(about);
  const used = new Set([...columns.values(), ...derived.flatMap(({ inputs }) => inputs)]);
  const missing = fields.required.filter((field) => !columns.has(field) && !values.has(field));
  if (missing.length > 0) throw missingProblem(about, missing, used);
  // A conversion writes fields that values give too.
  const own = mapping.convert === undefined ? [] : [...values.keys(), ...(mapping.ownColumns ?? [])];
  const { unread = [], paths = [] } = mapping;
  // An object of which values are read is not ignored, but the keys beside them are.
  const isOpened = (column: string): boolean =>
    mapping.unread !== undefined && paths.some((path) => path.startsWith(`${column}.`));
  const ignored = header.filter((column) => !used.has(column) && !own.includes(column) && !isOpened(column));
  return { columns, values, derived, ignored: [...ignored, ...unread] };
}

/** A file with the fields that are wanted of it. */
type About = {
  readonly file: string;
  readonly header: readonly string[];
  readonly fields: FieldNames;
  readonly mapping: ColumnMapping;
};

function checkDelimiter({ file, header, fields, mapping }: About): void {
  const { required } = fields;
  const delimiter = header.length === 1 ? /[;\t|]/.exec(header[0]!)?.[0] : undefined;
  if (delimiter === undefined) return;
  const cells = (cellsOf(header[0]!, delimiter) ?? []).filter((name) => !required.includes(name));
  const columns = likelyOnes(
    required.filter((field) => !header[0]!.includes(field)),
    cells,
  );
  const hasOwnNames = Object.keys(columns).length === 0 && delimiter !== '\t';
  const cure = hasOwnNames
    ? `Add --delimiter "${delimiter}"`
    : `Use --map FILE with ${mappingText({ ...mapping, delimiter, columns: { ...ownOnes(fields, mapping, cells), ...columns } })}`;
  const hint = mapping.hint === undefined ? '' : `. ${mapping.hint}`;
  const mark = JSON.stringify(delimiter);
  throw contentProblem(file, `this file separates columns by ${mark}. ${cure}${hint}`);
}

function checkMapping({ file, header, mapping }: About, known: readonly string[]): void {
  const locate = mapping.locate ?? (() => '');
  for (const part of ['columns', 'values'] as const) {
    const field = Object.keys(mapping[part]).find((name) => !known.includes(name));
    if (field === undefined) continue;
    throw new FileProblem(
      'usage',
      `${locate(part, field)}the column mapping names a field ${field} that is not one of ${known.join(', ')}`,
    );
  }
  for (const [field, cell] of Object.entries(mapping.columns)) {
    const column = inputsOf(cell).find((name) => !header.includes(name));
    if (column === undefined) continue;
    const near = nearest(column, header);
    throw new FileProblem(
      'unfit',
      `${locate('columns', field)}${file}: has no column ${column}, which the column mapping names; its columns are ${header.join(', ')}${near === undefined ? '' : `; is it ${near}?`}`,
    );
  }
}

/** Names that files often give to a field: suggested in messages, never used by themselves. */
const oftenCalled: Readonly<Record<string, RegExp>> = {
  datetime: /^(date|time|timestamp|ts|t|open_time|date_time|datum|zeit|fecha|data)$/,
  symbol: /^(ticker|sym|instrument|code|kürzel|símbolo|(occ|option|contract)_?symbol)$/,
  underlying_name: /^underlying(_?symbol)?$/,
  open: /^(o|eröffnung|eröffnungskurs|erster|ouverture|ouv|apertura)$/,
  high: /^(h|hoch|tageshoch|plus haut|\+haut|máximo|massimo)$/,
  low: /^(l|tief|tagestief|plus bas|\+bas|mínimo|minimo)$/,
  volume: /^(v|vol|volumen|stück|stücke)$/,
  close: /^(c|last|schluss|schlusskurs|letzter|clôture|clot|dernier|cierre|chiusura|ultimo)$/,
  asset_schema: /^(asset_type|asset_class)$/,
  country_iso_code: /^(country|market)$/,
};

/**
 * The likely columns of some fields, each for one field only; fields without one are left out. A name that is
 * only similar is likely for the fields of `similar` alone.
 */
export function likelyOnes(
  fields: readonly string[],
  columns: readonly string[],
  similar: readonly string[] = fields,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const field of fields) {
    const free = columns.filter((column) => !Object.values(found).includes(column));
    const often = free.find((column) => oftenCalled[field]?.test(column.toLowerCase().trim()));
    const column = often ?? (similar.includes(field) ? nearest(field, free) : undefined);
    if (column !== undefined) found[field] = column;
  }
  return found;
}

/**
 * The columns of a mapping. Where it has none yet, those that bear the names of optional fields: a mapping
 * must name them.
 */
function ownOnes(
  { optional, needed }: FieldNames,
  { columns }: ColumnMapping,
  header: readonly string[],
): Readonly<Record<string, Cell>> {
  if (Object.keys(columns).length > 0) return columns;
  const own = optional.filter((field) => !needed.includes(field) && header.includes(field));
  return Object.fromEntries(own.map((field) => [field, field]));
}

/** A mapping as its file would have it; with `indent` in lines. */
export function mappingText(mapping: ColumnMapping, indent?: number): string {
  const { header, encoding, delimiter, skip, zone, prices, volumes, symbols, label } = mapping;
  const { columns, values } = mapping;
  const given = Object.keys(values).length === 0 ? undefined : values;
  const said = { zone, prices, volumes, symbols, label };
  const parts = { encoding, header, delimiter, skip, ...said, columns, values: given };
  return JSON.stringify(parts, null, indent);
}

function missingProblem(
  { file, header, fields, mapping }: About,
  missing: readonly string[],
  used: ReadonlySet<string>,
): FileProblem {
  const free = header.filter((column) => !used.has(column));
  const mapped = likelyOnes(missing, free);
  const unmapped = missing.filter((field) => mapped[field] === undefined);
  const flags = unmapped.filter((field) => fields.flags[field] !== undefined);
  // A suggested mapping that leaves a field out would only lead to the next refusal.
  const isWhole =
    mapping.preset === undefined && unmapped.length < missing.length && flags.length === unmapped.length;
  const open = unmapped.filter((field) => !flags.includes(field)).map((field) => [field, '…']);
  const columns = { ...ownOnes(fields, mapping, header), ...mapped, ...Object.fromEntries(open) };
  const cure = `If the file has them under other names, use --map FILE with ${mappingText({ ...mapping, columns })}`;
  // Other columns may be the missing fields, whatever their names are.
  const isOpen = open.length > 0 && free.length - Object.keys(mapped).length >= open.length;
  const isOffered = isOpen && header.length > 1 && mapping.preset === undefined && mapping.hint === undefined;
  const sentences = [
    `${file}: required ${missing.length > 1 ? 'columns' : 'column'} missing: ${missing.join(', ')}.`,
    isWhole && `${cure}.`,
    !isWhole && isOffered && `${cure}, and put a column of the file in place of each ….`,
    flags.length > 0 &&
      `If a field is the same in every row, give it as a flag: ${flags.map((field) => fields.flags[field]).join(', ')}.`,
    mapping.hint,
    header.length <= 1 &&
      'Its first line has one cell. If there are lines above the header, skip them by --map FILE with "skip".',
    `The columns of the file are ${header.join(', ')}.`,
  ];
  return new FileProblem('unfit', sentences.filter(Boolean).join(' '));
}
