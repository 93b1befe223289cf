// What a run finds before it changes it: written beside each change, so that the run can be taken back (docs/decisions/0009).
import {
  type Bars,
  emptyBars,
  filterBars,
  indexOfKey,
  mergeBars,
  sameBar,
  valueColumns,
} from '../bars/bars.ts';
import { decodeBlock, wholeBlock } from '../bars/block-reader.ts';
import { encodeBlock } from '../bars/block-writer.ts';
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import { blockChanges, rowChanges } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import { putInstrumentTerms } from '../store/instrument-terms.ts';
import type { Writer } from '../store/store.ts';

type Instrument = RowOf<typeof instruments>;

/** Where a run changed a block. */
export type BlockPlace = Pick<RowOf<typeof blockChanges>, 'series_id' | 'bucket' | 'run_id'>;

/** The bars of a block that a run changed, by their state before it. */
export type BlockChange = {
  /** Bars that were not there: keys, and values of no meaning. Null: the block was not, so none of its bars were. */
  readonly added: Bars | null;
  /** Bars that were there with other values, or were removed. */
  readonly before: Bars;
};

const none = emptyBars();

/** The change of a run that makes a block where none was. */
export const wholeChange: BlockChange = { added: null, before: none };

/** The bars without what they say: what an absence takes to keep. */
function blank(bars: Bars): Bars {
  for (const column of valueColumns) {
    bars[column].fill(column === 'volume' || column === 'vwap' ? Number.NaN : 0, 0, bars.count);
  }
  return bars;
}

/** Absences at the keys of bars. */
export const absences = (bars: Bars): Bars => blank(filterBars(bars, () => true));

/** What changes where `bars` are put over `older`. A bar that is the same already is no change. */
export function changeOf(bars: Bars, older: Bars): BlockChange {
  const isNew = (index: number): boolean => indexOfKey(older, bars.keyMs[index]!) < 0;
  const isReplaced = (at: number): boolean => {
    const index = indexOfKey(bars, older.keyMs[at]!);
    return index >= 0 && !sameBar(older, at, bars, index);
  };
  return { added: blank(filterBars(bars, isNew)), before: filterBars(older, isReplaced) };
}

/** A stored entry's change. */
export function decodeChange({ added, before }: RowOf<typeof blockChanges>): BlockChange {
  return {
    added: added === null ? null : decodeBlock(added, wholeBlock),
    before: before === null ? none : decodeBlock(before, wholeBlock),
  };
}

/** Puts a change in place of what the journal holds of the run and block. */
export async function putChange(
  writer: Writer,
  { series_id, bucket, run_id }: BlockPlace,
  { added, before }: BlockChange,
): Promise<void> {
  await writer.upsert(blockChanges, [
    {
      series_id,
      bucket,
      run_id,
      added: added === null ? null : encodeBlock(added),
      before: before.count === 0 ? null : encodeBlock(before),
    },
  ]);
}

/** Records what a run changes in a block, beside what it changed there earlier: other bars, for a run changes none twice. */
export async function recordBlock(writer: Writer, place: BlockPlace, change: BlockChange): Promise<void> {
  if (change.added === null) return putChange(writer, place, change);
  const { series_id, bucket, run_id } = place;
  const [known] = await writer.rows(blockChanges, {
    where: { series_id, bucket, run_id },
    order: [['run_id', 'asc']],
    limit: 1,
  });
  if (known === undefined) return putChange(writer, place, change);
  const { added, before } = decodeChange(known);
  await putChange(writer, place, {
    added: added === null ? null : mergeBars(added, change.added),
    before: mergeBars(before, change.before),
  });
}

/** The key under which the journal keeps a row. */
export const rowKeyOf = (dataset: Dataset, row: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(dataset.key.map((column) => row[column]));

/** Writes a row in place of `before`, null where there was none, and records that; `after` null removes it. */
export async function changeRow<D extends Dataset>(
  writer: Writer,
  runId: number,
  dataset: D,
  before: RowOf<D> | null,
  after: RowOf<D> | null,
): Promise<void> {
  const row = (before ?? after)!;
  const where = { dataset: dataset.name, row_key: rowKeyOf(dataset, row), run_id: runId };
  // A run that changes a row again has recorded what it found; a row that it makes it has not changed before.
  const isRecorded =
    before !== null &&
    (await writer.rows(rowChanges, { where, order: [['run_id', 'asc']], limit: 1 })).length > 0;
  if (!isRecorded) await writer.upsert(rowChanges, [{ ...where, before }]);
  await putRow(writer, dataset, before, after);
}

/** Writes a row in place of `before`, null where there was none; `after` null removes it. What is made from rows follows. */
export async function putRow<D extends Dataset>(
  writer: Writer,
  dataset: D,
  before: RowOf<D> | null,
  after: RowOf<D> | null,
): Promise<void> {
  if (after !== null) await writer.upsert(dataset, [after]);
  else if (before !== null) await writer.remove(dataset, [before]);
  if (dataset.name === instruments.name)
    await putInstrumentTerms(writer, before as Instrument | null, after as Instrument | null);
}
