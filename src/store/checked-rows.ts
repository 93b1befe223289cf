// The check of a read of rows, whatever an index says: whole rows, of the keys that were asked for, in
// the order of the read. A row is whole by its checksum, over its table, its key and its values: a
// changed byte, or a row of another key, is found when it is read. A block has such a checksum of its
// place: its series, its bucket and the run that wrote it.
import { crc32 } from 'node:zlib';
import { blockCount, DamagedBlock } from '../market/bars/block.ts';
import { ofBytes } from './all-blocks.ts';
import { type Damage, DamagedData, keyWords } from './damage.ts';
import type { ColumnKind, Dataset, Values } from './schema/dataset.ts';
import type { Direction, Read, StoredBlock } from './store.ts';

/**
 * The column of the checksum. Every table of rows has it; no declaration names it, and content hashes and
 * exports leave it out.
 */
export const ROW_CHECK = 'row_check';

/** A value as an engine stores it. */
export type StoredCell = string | number | Uint8Array | null;

/** The starts of the checksums of a table's columns. */
const columnSeedsOf = (table: string, columns: readonly string[]): Int32Array =>
  Int32Array.from(columns, (column) => crc32(`${table}.${column}`));

/** Longer texts are faster in the library's CRC-32, shorter ones here. */
const SHORT_LENGTH = 96;

/** Odd, so that no step loses what differs: another value is another checksum (FNV-1a, of 32 bits). */
const PRIME = 0x0100_0193;

/** Begins a text, so that it is never a number. */
const TEXT = 0x2_0000;

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

function textCheck(seed: number, text: string): number {
  let check = Math.imul(seed ^ (TEXT + text.length), PRIME);
  if (text.length > SHORT_LENGTH) return Math.imul(check ^ crc32(text), PRIME);
  for (let at = 0; at < text.length; at++) check = Math.imul(check ^ text.charCodeAt(at), PRIME);
  return check;
}

function numberCheck(seed: number, number: number): number {
  // Engines do not keep the sign of zero.
  double[0] = number + 0;
  return Math.imul(Math.imul(seed ^ halves[0]!, PRIME) ^ halves[1]!, PRIME);
}

/**
 * The checksum of the first cells of a row, one for each seed: a signed integer of 32 bits. It is the sum of
 * those of its values, and null adds nothing: a column that a later layout adds leaves the checksums of older
 * rows as they are.
 */
function rowCheck(seeds: Int32Array, cells: readonly StoredCell[]): number {
  let sum = 0;
  for (let at = 0; at < seeds.length; at++) {
    const cell = cells[at]!;
    if (cell === null) continue;
    if (typeof cell === 'string') sum += textCheck(seeds[at]!, cell);
    else if (typeof cell === 'number') sum += numberCheck(seeds[at]!, cell);
    else sum += Math.imul(seeds[at]! ^ crc32(cell), PRIME);
  }
  return sum | 0;
}

/** The checksum of a block's place, over the checksum with which its bytes begin (`market/bars/block.ts`). */
export function blockCheck(
  seriesId: number,
  { bucket, runId, bytes }: { readonly bucket: number; readonly runId: number; readonly bytes: Uint8Array },
): number {
  return crc32(`${seriesId} ${bucket} ${runId} ${bytes.length}`, crc32(bytes.subarray(0, 4))) | 0;
}

export type Row = Record<string, unknown>;

/**
 * The form of the rows of one dataset: the names and kinds of its columns, and the start of their checksums.
 */
type RowForm = {
  readonly dataset: Dataset;
  readonly names: readonly string[];
  readonly kinds: readonly ColumnKind[];
  readonly seeds: Int32Array;
  /**
   * A row of nulls. Rows begin as copies of it: V8 keeps an object that gets many fields by name as a hash
   * table, three times as large.
   */
  readonly blank: Row;
};

const forms = new WeakMap<Dataset, RowForm>();

export function rowFormOf(dataset: Dataset): RowForm {
  let form = forms.get(dataset);
  if (form === undefined) {
    const names = Object.keys(dataset.columns);
    const kinds = names.map((name) => dataset.columns[name]!.kind);
    const blank = JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null])))) as Row;
    form = { dataset, names, kinds, seeds: columnSeedsOf(dataset.name, names), blank };
    forms.set(dataset, form);
  }
  return form;
}

/** True if a row is as it was written: `cells` are its columns, then its checksum. */
const isWhole = ({ seeds }: RowForm, cells: readonly StoredCell[]): boolean =>
  cells[seeds.length] === rowCheck(seeds, cells);

/**
 * Compares two stored values. The order of stored text is that of its UTF-8 bytes; null comes first
 * (sqlite.org/datatype3.html, 4.1; `nulls first` elsewhere).
 */
export function compareCells(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (a === null) return -1;
  if (b === null) return 1;
  return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string));
}

/** The order of rows by some columns. */
export type Order = readonly (readonly [column: string, direction: Direction])[];

/** The order of the key of a dataset. */
export const keyOrder = ({ key }: Pick<Dataset, 'key'>): Order => key.map((column) => [column, 'asc']);

/** Compares two rows; 0 for rows that are equal in the order. */
export function compareRows(order: Order, a: Values, b: Values): number {
  for (const [column, direction] of order) {
    const step = compareCells(a[column], b[column]);
    if (step !== 0) return direction === 'asc' ? step : -step;
  }
  return 0;
}

/** What decides which rows a read gives, and in which order. */
type Place = Pick<Read, 'where' | 'along' | 'range' | 'order'>;

/** Says why a row cannot be of a read, after the row before it; null where it can. */
type Misplaced = (row: Row, before: Row | null) => string | null;

const OTHER_KEY = 'an index has it under another key';
const OTHER_SUM = 'its checksum does not match';

export function misplacedIn({ key }: Pick<Dataset, 'key'>, { where, along, range, order }: Place): Misplaced {
  const equal = Object.entries({ ...where, ...along });
  // An order of the whole key has each row once.
  const isOfKey = key.every(
    (column) => order.some(([ordered]) => ordered === column) || where?.[column] !== undefined,
  );
  const { from, to } = range ?? {};
  const first = order[0]?.[0];
  return (row, before) => {
    for (const [column, value] of equal) if (row[column] !== value) return OTHER_KEY;
    if (from !== undefined && compareCells(row[first!], from) < 0) return OTHER_KEY;
    if (to !== undefined && compareCells(row[first!], to) >= 0) return OTHER_KEY;
    const step = before === null ? -1 : compareRows(order, before, row);
    return step < 0 || (step === 0 && !isOfKey) ? null : 'an index has it out of order';
  };
}

/** The same for the rows of a key, in any order. */
export function misplacedAt(key: Row): Misplaced {
  const columns = Object.keys(key);
  return (row) => (columns.every((column) => row[column] === key[column]) ? null : OTHER_KEY);
}

/** A row whose values may be anything: for words about it. */
const rawRow = ({ names }: RowForm, cells: readonly StoredCell[]): Row =>
  Object.fromEntries(names.map((name, at) => [name, cells[at]!]));

/** The damage of a row. */
export const rowDamage = (dataset: Dataset, row: Row, problem: string): Damage => ({
  dataset: dataset.name,
  place: keyWords(dataset, row),
  problem,
  part: 'row',
});

function toSql(kind: ColumnKind, value: unknown): StoredCell {
  if (value === null || value === undefined) return null;
  if (kind === 'boolean') return value ? 1 : 0;
  if (kind === 'json') return JSON.stringify(value);
  // SQLite keeps no other number that is none.
  return Number.isNaN(value) ? null : (value as StoredCell);
}

function fromSql(kind: ColumnKind, value: StoredCell): unknown {
  if (value === null) return null;
  if (kind === 'boolean') return value !== 0;
  return kind === 'json' ? JSON.parse(value as string) : value;
}

function rowOf({ names, kinds, blank }: RowForm, cells: readonly StoredCell[]): Row {
  const row: Row = { ...blank };
  for (let at = 0; at < names.length; at++) row[names[at]!] = fromSql(kinds[at]!, cells[at]!);
  return row;
}

/** A row as it is stored: its columns, then its checksum. */
export function rowCells({ names, kinds, seeds }: RowForm, row: Row): StoredCell[] {
  const cells = names.map((name, at) => toSql(kinds[at]!, row[name]));
  cells.push(rowCheck(seeds, cells));
  return cells;
}

/** The key of a row as it is stored. */
export const keyCells = ({ key, columns }: Dataset, row: Row): StoredCell[] =>
  key.map((name) => toSql(columns[name]!.kind, row[name]));

/** The rows of some cells. @throws DamagedData for the first that is damaged, or not of the read */
export function checkedRows(dataset: Dataset, found: readonly StoredCell[][], misplaced: Misplaced): Row[] {
  const form = rowFormOf(dataset);
  let before: Row | null = null;
  return found.map((cells) => {
    const isSound = isWhole(form, cells);
    const row = isSound ? rowOf(form, cells) : rawRow(form, cells);
    const problem = isSound ? misplaced(row, before) : OTHER_SUM;
    if (problem !== null)
      throw new DamagedData(rowDamage(dataset, row, problem), undefined, rawRow(form, cells));
    before = row;
    return row;
  });
}

/** A block as an engine finds it, with its stored checksum. */
type FoundBlock = StoredBlock & { readonly storedCheck: number | null };

/**
 * Its bytes are given once their place is checked: reads take blocks beyond the ones that an answer needs.
 */
export class CheckedBlock implements StoredBlock {
  readonly bucket: number;
  readonly runId: number;
  readonly #seriesId: number;
  readonly #found: FoundBlock;

  constructor(seriesId: number, found: FoundBlock) {
    this.#seriesId = seriesId;
    this.#found = found;
    this.bucket = found.bucket;
    this.runId = found.runId;
  }

  /** @throws DamagedBlock */
  get bytes(): Uint8Array {
    const found = this.#found;
    // A flipped bit can make bytes a text.
    if (!(found.bytes instanceof Uint8Array) || found.storedCheck !== blockCheck(this.#seriesId, found))
      throw new DamagedBlock('the checksum of its place does not match');
    return found.bytes;
  }
}

/** The damage of a block of a series, as it was found; empty where it is sound. */
export function damageOf(seriesId: number, found: FoundBlock): Damage[] {
  try {
    ofBytes(seriesId, new CheckedBlock(seriesId, found), blockCount);
    return [];
  } catch (error) {
    if (error instanceof DamagedData) return [error.damage];
    throw error;
  }
}

/** The damage of rows, as they are stored. */
export function damageOfRows(dataset: Dataset, found: readonly StoredCell[][]): Damage[] {
  const form = rowFormOf(dataset);
  return found
    .filter((cells) => !isWhole(form, cells))
    .map((cells) => rowDamage(dataset, rawRow(form, cells), OTHER_SUM));
}
