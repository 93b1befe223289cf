// What a read of rows must give, whatever an index says: whole rows, of the keys that were asked for, in the
// order of the read.

import { type Damage, keyWords } from './damage.ts';
import { columnSeedsOf, rowCheck, type StoredCell } from './row-check.ts';
import type { ColumnKind, Dataset } from './schema/dataset.ts';
import type { Read } from './store.ts';

export type Row = Record<string, unknown>;

/**
 * The form of the rows of one dataset: the names and kinds of its columns, and the start of their checksums.
 */
export type RowForm = {
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
export const isWhole = ({ seeds }: RowForm, cells: readonly StoredCell[]): boolean =>
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

/** Whether one row comes after another in an order; `ifEqual` for rows that are equal in it. */
function follows(order: Read['order'], before: Row, row: Row, ifEqual: boolean): boolean {
  for (const [column, direction] of order) {
    const [a, b] = [before[column], row[column]];
    // The usual case, without the bytes of texts.
    if (a === b) continue;
    const step = compareCells(a, b);
    if (step !== 0) return direction === 'asc' ? step < 0 : step > 0;
  }
  return ifEqual;
}

/** What decides which rows a read gives, and in which order. */
type Place = Pick<Read, 'where' | 'along' | 'range' | 'order'>;

/** Says why a row cannot be of a read, after the row before it; null where it can. */
export type Misplaced = (row: Row, before: Row | null) => string | null;

const OTHER_KEY = 'an index has it under another key';

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
    return before === null || follows(order, before, row, !isOfKey) ? null : 'an index has it out of order';
  };
}

/** The same for the rows of a key, in any order. */
export function misplacedAt(key: Row): Misplaced {
  const columns = Object.keys(key);
  return (row) => (columns.every((column) => row[column] === key[column]) ? null : OTHER_KEY);
}

/** A row whose values may be anything: for words about it. */
export const rawRow = ({ names }: RowForm, cells: readonly StoredCell[]): Row =>
  Object.fromEntries(names.map((name, at) => [name, cells[at]!]));

/** The damage of a row. */
export const rowDamage = (dataset: Dataset, row: Row, problem: string): Damage => ({
  dataset: dataset.name,
  place: keyWords(dataset, row),
  problem,
  part: 'row',
});
