// The journal: what a run found before each change, so that the run can be undone (docs/decisions/0009).

import { encodeBlock } from '../market/bars/block-writer.ts';
import {
  type Bars,
  emptyBars,
  filterBars,
  indexOfKey,
  mergeBars,
  sameBar,
  valueColumns,
} from '../market/bars/columns.ts';
import { type Brought, changesBar, changesBars } from '../series/brought.ts';
import { rowWith } from '../store/all-rows.ts';
import { putInstrumentTerms } from '../store/instrument-terms.ts';
import { type BlockChange, rowKeyOf } from '../store/journal-entries.ts';
import type { Dataset, RowOf, Values } from '../store/schema/dataset.ts';
import { blockChanges, heldBars, rowChanges } from '../store/schema/internal.ts';
import { type Instrument, instruments } from '../store/schema/reference.ts';
import type { Writer } from '../store/store.ts';

/** The place at which a run changed a block. */
export type BlockPlace = Pick<RowOf<typeof blockChanges>, 'series_id' | 'bucket' | 'run_id'>;

const none = emptyBars();

/** The bars that `holds` is true for, without their values. */
export function blankBars(bars: Bars, holds: (at: number) => boolean): Bars {
  const blank = filterBars(bars, holds);
  for (const column of valueColumns)
    blank[column].fill(column === 'volume' || column === 'vwap' ? Number.NaN : 0, 0, blank.count);
  return blank;
}

/** The bars of a run that adds a block. */
export const newBlock: Brought = { change: { added: null, before: none }, held: none };

/** The part of `bars` that changes `older`, and the part that `older` has already. */
export function broughtTo(older: Bars, bars: Bars): Brought {
  // Most imports append: then nothing is replaced.
  if (older.count === 0 || bars.keyMs[0]! > older.keyMs[older.count - 1]!)
    return { change: { added: blankBars(bars, () => true), before: none }, held: none };
  const isNew = (index: number): boolean => indexOfKey(older, bars.keyMs[index]!) < 0;
  const isReplaced = (at: number): boolean => {
    const index = indexOfKey(bars, older.keyMs[at]!);
    return index >= 0 && !sameBar(older, at, bars, index);
  };
  const isHeld = (index: number): boolean => {
    const at = indexOfKey(older, bars.keyMs[index]!);
    return at >= 0 && sameBar(older, at, bars, index);
  };
  const change = { added: blankBars(bars, isNew), before: filterBars(older, isReplaced) };
  return { change, held: blankBars(bars, isHeld) };
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

/** Records that a run held some bars of a block as they were stored; nothing where it held none. */
export async function putHeld(writer: Writer, place: BlockPlace, held: Bars): Promise<void> {
  if (held.count > 0) await writer.upsert(heldBars, [{ ...place, keys: encodeBlock(held) }]);
  else await writer.remove(heldBars, [place]);
}

/**
 * Records what a run brings to a block, beside what it has brought there before, `own`: that is of other
 * bars, for a run changes no bar twice.
 */
export async function recordBlock(
  writer: Writer,
  place: BlockPlace,
  { change, held }: Brought,
  { change: own, held: heldBefore }: Brought,
): Promise<void> {
  // A run that has made the block has brought all of it.
  if (own.added === null || change.added === null) return;
  const [added, before] = [mergeBars(own.added, change.added), mergeBars(own.before, change.before)];
  if (changesBars(change)) await putChange(writer, place, { added, before });
  // What the run has changed before is stored by now.
  const fresh = filterBars(held, (at) => !changesBar(own, held.keyMs[at]!));
  if (fresh.count > 0) await putHeld(writer, place, mergeBars(heldBefore, fresh));
}

/** The journal's place of what a run changes in a row. */
const placeOf = (runId: number, dataset: Dataset, row: Values) => ({
  dataset: dataset.name,
  row_key: rowKeyOf(dataset, row),
  run_id: runId,
});

/** A row before a change and after it, null for no row; `isRecorded`: the run has changed it before. */
type ChangedRow = {
  readonly before: RowOf<Dataset> | null;
  readonly after: RowOf<Dataset> | null;
  readonly isRecorded?: boolean;
};

/** Replaces rows of different keys together, and records what they were: nothing is looked up. */
export async function changeRows(
  writer: Writer,
  runId: number,
  dataset: Dataset,
  rows: readonly ChangedRow[],
) {
  const first = rows.filter(({ isRecorded }) => isRecorded !== true);
  const entryOf = ({ before, after }: ChangedRow) => ({
    ...placeOf(runId, dataset, (before ?? after)!),
    before,
  });
  await writer.upsert(rowChanges, first.map(entryOf));
  await putRows(writer, dataset, rows);
}

/** Removes an instrument, and records that: a run records what it found at its first change of a row. */
export async function removeInstrument(writer: Writer, runId: number, before: Instrument): Promise<void> {
  const isRecorded = (await rowWith(writer, rowChanges, placeOf(runId, instruments, before))) !== null;
  await changeRows(writer, runId, instruments, [{ before, after: null, isRecorded }]);
}

/** Replaces rows, and with instruments their search terms. */
export async function putRows(writer: Writer, dataset: Dataset, rows: readonly ChangedRow[]): Promise<void> {
  const gone = rows.flatMap(({ before, after }) => (before !== null && after === null ? [before] : []));
  await writer.upsert(
    dataset,
    rows.flatMap(({ after }) => (after === null ? [] : [after])),
  );
  await writer.remove(dataset, gone);
  if (dataset.name !== instruments.name) return;
  await putInstrumentTerms(writer, rows as Parameters<typeof putInstrumentTerms>[1]);
}
