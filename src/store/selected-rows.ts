// Selects rows of a dataset by values of some columns and a range of its time: along the index that fits,
// then row by row.
import { rowsInOrder } from './all-rows.ts';
import type { ColumnOf, Dataset, RowOf, Values } from './schema/dataset.ts';
import type { RowReader } from './store.ts';

/** The rows to select. */
export type RowSelection = {
  /** Columns, and the values that they must have. */
  readonly where: Readonly<Record<string, string | null>>;
  /** Bounds of the dataset's time: `from` included, `to` not. */
  readonly range?: { readonly from?: number; readonly to?: number };
  /** Rows read at a time. */
  readonly limit?: number;
  /**
   * The indexes that may be walked; by default the key and all indexes. The rows are in the order of the
   * chosen one.
   */
  readonly along?: readonly (readonly string[])[];
};

const ROWS_PER_READ = 500;

/** A walk of one index: columns of equal value, the others in their order. */
type Walk = {
  readonly equal: readonly string[];
  readonly order: readonly string[];
  readonly isByTime: boolean;
  /** The number of selected columns that the walk uses; the time counts half. */
  readonly worth: number;
};

const wordsOf = ({ file }: Dataset, column: string): readonly string[] | undefined => {
  const rule = file?.fields[column]?.rule;
  return rule === undefined || 'unit' in rule ? undefined : rule.words;
};

/** The walk of an index for a selection. */
function walkOf(dataset: Dataset, where: RowSelection['where'], index: readonly string[]): Walk {
  const isGiven = (column: string): boolean => Object.hasOwn(where, column);
  // A whole key has one row, in any order.
  if (index === dataset.key && index.every(isGiven))
    return { equal: index, order: index.slice(-1), isByTime: false, worth: index.length };
  let end = index.findIndex((column) => !isGiven(column) && wordsOf(dataset, column) === undefined);
  // One column must be left for the order.
  if (end < 0) end = index.length - 1;
  const isByTime = index[end] === dataset.file?.time;
  // An open first column is kept: its values come in the order of their words.
  while (end > 1 && !isByTime && !isGiven(index[end - 1]!)) end--;
  const equal = index.slice(0, end);
  const worth = equal.filter(isGiven).length + (isByTime ? 0.5 : 0);
  return { equal, order: index.slice(end), isByTime, worth };
}

/** True if a row is of a selection. */
export function isSelected(
  { file }: Dataset,
  { where, range = {} }: Pick<RowSelection, 'where' | 'range'>,
  row: Values,
): boolean {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
  const time = file?.time;
  return (
    Object.entries(where).every(([column, value]) => row[column] === value) &&
    (time === undefined || ((row[time] as number) >= from && (row[time] as number) < to))
  );
}

/** Every selected row, by the walk of the greatest worth, or the first of several such walks. */
export async function* selectedRows<D extends Dataset>(
  reader: RowReader,
  dataset: D,
  {
    where,
    range = {},
    limit = ROWS_PER_READ,
    along = [dataset.key, ...(dataset.indexes ?? [])],
  }: RowSelection,
): AsyncGenerator<RowOf<D>> {
  const walks = along.map((index) => walkOf(dataset, where, index));
  const walk = walks.reduce((best, other) => (other.worth > best.worth ? other : best));
  for (const equal of valuesOf(dataset, walk, where)) {
    const read = {
      where: equal as Partial<RowOf<D>>,
      ...(walk.isByTime && { range }),
      order: walk.order.map((column) => [column as ColumnOf<D>, 'asc'] as const),
      limit,
    };
    for await (const row of rowsInOrder(reader, dataset, read))
      if (isSelected(dataset, { where, range }, row as Values)) yield row;
  }
}

/**
 * The values of a walk's equal columns: one set for each combination of the words of columns that the
 * selection does not name.
 */
function valuesOf(dataset: Dataset, { equal }: Walk, where: RowSelection['where']): Values[] {
  let sets: Values[] = [{}];
  for (const column of equal) {
    const values = Object.hasOwn(where, column) ? [where[column]] : wordsOf(dataset, column)!;
    sets = sets.flatMap((set) => values.map((value) => ({ ...set, [column]: value })));
  }
  return sets;
}
