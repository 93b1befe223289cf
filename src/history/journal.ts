// The journal: what a run found before each change, so that the run can be undone (docs/decisions/0009).

import { encodeBlock } from '../bars/block-writer.ts';
import {
  type Bars,
  emptyBars,
  filterBars,
  indexOfKey,
  mergeBars,
  sameBar,
  valueColumns,
} from '../bars/columns.ts';
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import { blockChanges, rowChanges } from '../datasets/internal.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { expectRows, rowWith } from '../store/all-rows.ts';
import { putInstrumentTerms } from '../store/instrument-terms.ts';
import { type BlockChange, decodeChange, rowKeyOf } from '../store/journal-entries.ts';
import type { Writer } from '../store/store.ts';
import { regridSeries } from './regrid-series.ts';

/** Where a run changed a block. */
export type BlockPlace = Pick<RowOf<typeof blockChanges>, 'series_id' | 'bucket' | 'run_id'>;

const none = emptyBars();

/** The change of a run that adds a block. */
export const wholeChange: BlockChange = { added: null, before: none };

/** The bars that `holds` is true for, without their values. */
export function blankBars(bars: Bars, holds: (at: number) => boolean): Bars {
  const blank = filterBars(bars, holds);
  for (const column of valueColumns)
    blank[column].fill(column === 'volume' || column === 'vwap' ? Number.NaN : 0, 0, blank.count);
  return blank;
}

/** What changes where `bars` replace `older`. An equal bar is no change. */
export function changeOf(bars: Bars, older: Bars): BlockChange {
  const isNew = (index: number): boolean => indexOfKey(older, bars.keyMs[index]!) < 0;
  // Most imports append: then nothing is replaced.
  if (older.count === 0 || bars.keyMs[0]! > older.keyMs[older.count - 1]!)
    return { added: blankBars(bars, () => true), before: none };
  const isReplaced = (at: number): boolean => {
    const index = indexOfKey(bars, older.keyMs[at]!);
    return index >= 0 && !sameBar(older, at, bars, index);
  };
  return { added: blankBars(bars, isNew), before: filterBars(older, isReplaced) };
}

/** The journal's entry of a run and block. */
export function changeRowOf(
  { series_id, bucket, run_id }: BlockPlace,
  { added, before }: BlockChange,
): RowOf<typeof blockChanges> {
  return {
    series_id,
    bucket,
    run_id,
    added: added === null ? null : encodeBlock(added),
    before: before.count === 0 ? null : encodeBlock(before),
  };
}

/** Replaces the journal's entry of a run and block. */
export async function putChange(writer: Writer, place: BlockPlace, change: BlockChange): Promise<void> {
  await writer.upsert(blockChanges, [changeRowOf(place, change)]);
}

/** Records what a run changes in a block, beside its earlier changes there: those are of other bars, for a run changes no bar twice. */
export async function recordBlock(writer: Writer, place: BlockPlace, change: BlockChange): Promise<void> {
  const { series_id, bucket, run_id } = place;
  const known =
    change.added === null ? null : await rowWith(writer, blockChanges, { series_id, bucket, run_id });
  if (change.added === null || known === null) return putChange(writer, place, change);
  const { added, before } = decodeChange(known);
  await putChange(writer, place, {
    added: added === null ? null : mergeBars(added, change.added),
    before: mergeBars(before, change.before),
  });
}

/** The journal's place of what a run changes in a row. */
const placeOf = (runId: number, dataset: Dataset, row: Readonly<Record<string, unknown>>) => ({
  dataset: dataset.name,
  row_key: rowKeyOf(dataset, row),
  run_id: runId,
});

/** Says that `changeRow` comes next for rows that are stored (`RowWriter.expect`). */
export const expectChanges = (
  writer: Writer,
  runId: number,
  dataset: Dataset,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> =>
  expectRows(
    writer,
    rowChanges,
    rows.map((row) => placeOf(runId, dataset, row)),
  );

/** Replaces the row `before` by `after`, each null for no row, and records that. */
export async function changeRow<D extends Dataset>(
  writer: Writer,
  runId: number,
  dataset: D,
  before: RowOf<D> | null,
  after: RowOf<D> | null,
): Promise<void> {
  const where = placeOf(runId, dataset, (before ?? after)!);
  // A run records what it found at its first change of a row; without `before` this is the first.
  const isRecorded = before !== null && (await rowWith(writer, rowChanges, where)) !== null;
  if (!isRecorded) await writer.upsert(rowChanges, [{ ...where, before }]);
  await putRow(writer, dataset, before, after);
}

/**
 * Replaces the row `before` by `after`, each null for no row, and with an instrument what depends on it: search terms, and the grid
 * of its series.
 */
export async function putRow<D extends Dataset>(
  writer: Writer,
  dataset: D,
  before: RowOf<D> | null,
  after: RowOf<D> | null,
): Promise<void> {
  if (after !== null) await writer.upsert(dataset, [after]);
  else if (before !== null) await writer.remove(dataset, [before]);
  if (dataset.name !== instruments.name) return;
  const [was, is] = [before as Instrument | null, after as Instrument | null];
  await putInstrumentTerms(writer, was, is);
  if (was !== null && is !== null) await regridSeries(writer, was, is);
}
