// Rows of a dataset by values of some columns and a range of its time: along the index that fits, the rest compared row by row.
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import { rowsInOrder } from './all-rows.ts';
import type { RowReader } from './store.ts';

type Row = Readonly<Record<string, unknown>>;

/** Which rows are wanted. */
export type RowSelection = {
  /** Columns, and the values that they must have. */
  readonly where: Readonly<Record<string, string>>;
  /** Bounds of the dataset's time: `from` included, `to` not. */
  readonly range?: { readonly from?: number; readonly to?: number };
  /** Rows read at a time. */
  readonly limit?: number;
  /** The indexes that may be walked; all, unless it is said: the rows come in the order of the one that is. */
  readonly along?: readonly (readonly string[])[];
};

const ROWS_PER_READ = 500;

/** The key and the indexes of a dataset. */
export const indexesOf = ({ key, indexes = [] }: Dataset): (readonly string[])[] => [key, ...indexes];

/** A walk of one index: columns of equal value, the others in their order. */
type Walk = {
  readonly equal: readonly string[];
  readonly order: readonly string[];
  readonly isByTime: boolean;
  /** Columns that the selection does not name: the walk is made once for each value that they may have. */
  readonly open: readonly string[];
};

const wordsOf = ({ file }: Dataset, column: string): readonly string[] | undefined => {
  const rule = file?.fields[column]?.rule;
  return rule === undefined || 'unit' in rule ? undefined : rule.words;
};

/** The walk of an index that a selection leads to. */
function walkOf(dataset: Dataset, where: RowSelection['where'], index: readonly string[]): Walk {
  const isGiven = (column: string): boolean => Object.hasOwn(where, column);
  let end = index.findIndex((column) => !isGiven(column) && wordsOf(dataset, column) === undefined);
  // Something is left to be ordered by.
  if (end < 0) end = index.length - 1;
  const isByTime = index[end] === dataset.file?.time;
  // An open first column is kept: its values come in the order of their words.
  while (end > 1 && !isByTime && !isGiven(index[end - 1]!)) end--;
  const equal = index.slice(0, end);
  return { equal, order: index.slice(end), isByTime, open: equal.filter((column) => !isGiven(column)) };
}

/** How many named columns a walk goes straight to; the time counts half. */
const worthOf = ({ equal, open, isByTime }: Walk): number =>
  equal.length - open.length + (isByTime ? 0.5 : 0);

/** Every selected row; the walk is the one of most worth, of equal ones the first. */
export async function* selectedRows<D extends Dataset>(
  reader: RowReader,
  dataset: D,
  { where, range = {}, limit = ROWS_PER_READ, along = indexesOf(dataset) }: RowSelection,
): AsyncGenerator<RowOf<D>> {
  const walks = along.map((index) => walkOf(dataset, where, index));
  const walk = walks.reduce((best, other) => (worthOf(other) > worthOf(best) ? other : best));
  const { order, isByTime } = walk;
  const time = dataset.file?.time;
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = range;
  const isSelected = (row: Row): boolean =>
    Object.entries(where).every(([column, value]) => row[column] === value) &&
    (time === undefined || ((row[time] as number) >= from && (row[time] as number) < to));
  for (const equal of valuesOf(dataset, walk, where)) {
    const read = {
      where: equal as Partial<RowOf<D>>,
      ...(isByTime && { range }),
      order: order.map((column) => [column as keyof D['columns'] & string, 'asc'] as const),
      limit,
    };
    for await (const row of rowsInOrder(reader, dataset, read)) if (isSelected(row as Row)) yield row;
  }
}

/** The values of a walk's equal columns: one set of them, or one for each word of its open columns. */
function valuesOf(dataset: Dataset, { equal, open }: Walk, where: RowSelection['where']): Row[] {
  let sets: Row[] = [
    Object.fromEntries(
      equal.filter((column) => !open.includes(column)).map((column) => [column, where[column]]),
    ),
  ];
  for (const column of open)
    sets = sets.flatMap((set) => wordsOf(dataset, column)!.map((word) => ({ ...set, [column]: word })));
  return sets;
}
