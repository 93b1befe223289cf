// Removes damaged rows, blocks, series and instruments without reading what they say: then their files can be
// imported again (docs/decisions/0027).

import { decodeIds, encodeIds } from '../base/ascending.ts';
import { END_MS, FIRST_MS } from '../base/instant.ts';
import { emptyBars } from '../market/bars/columns.ts';
import { allBlocks, everyBucket, openBlock } from '../store/all-blocks.ts';
import { allRows, collectRows, rowWith } from '../store/all-rows.ts';
import { forgetEarlier } from '../store/changes.ts';
import { DamagedData, unlessDamaged } from '../store/damage.ts';
import { hasOwnTerm } from '../store/instrument-terms.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import { runSpans, series as seriesDataset } from '../store/schema/bars.ts';
import type { Dataset, RowOf, Values } from '../store/schema/dataset.ts';
import { blockChanges, heldBars, rowChanges } from '../store/schema/internal.ts';
import { type Instrument, instruments, instrumentTerms } from '../store/schema/reference.ts';
import type { Writer } from '../store/store.ts';
import { type BlockPlace, putChange, removeInstrument } from './journal.ts';
import { blankInstrument } from './new-instrument.ts';
import { type PresentDeletion, putDeletedSpan } from './recorded-write.ts';

/** The stored values of the damaged row of a dataset that an error names; null for any other error. */
export const damagedRow = (dataset: Dataset, error: unknown): Values | null =>
  error instanceof DamagedData && error.damage.dataset === dataset.name ? error.row : null;

/**
 * Runs a walk over rows of a dataset, and again after each damaged row that it meets and `remove` removes:
 * false where it does not. @throws DamagedData for a row that stays
 */
export async function removingDamaged<T>(
  dataset: Dataset,
  walk: () => Promise<T>,
  remove: (row: Values) => Promise<boolean>,
): Promise<T> {
  const removed = new Set<string>();
  for (;;) {
    try {
      return await walk();
    } catch (error) {
      const row = damagedRow(dataset, error);
      const key = row === null ? '' : rowKeyOf(dataset, row);
      // A row that is met again is not stored under the key that it has.
      if (row === null || removed.has(key) || !(await remove(row))) throw error;
      removed.add(key);
    }
  }
}

/** Removes the rows whose columns equal `where`, the first of the key; damaged ones too. */
const removeRows = <D extends Dataset>(writer: Writer, dataset: D, where: Partial<RowOf<D>>): Promise<void> =>
  removingDamaged(
    dataset,
    async () => writer.remove(dataset, await collectRows(writer, dataset, where)),
    async (row) => {
      await writer.remove(dataset, [row as Partial<RowOf<D>>]);
      return true;
    },
  );

/**
 * Removes a damaged row by its stored key, and what the journal has of it: none of it can be undone, or read
 * as it was, any more.
 */
export async function removeDamagedRow(writer: Writer, dataset: Dataset, row: Values): Promise<void> {
  await forgetEarlier(writer);
  await writer.remove(dataset, [row]);
  await removeRows(writer, rowChanges, { dataset: dataset.name, row_key: rowKeyOf(dataset, row) });
}

/** As `removeDamagedRow`, for a block; `run_id` is that of the deletion. */
export async function removeDamagedBlock(writer: Writer, place: BlockPlace): Promise<void> {
  const { series_id, bucket } = place;
  await forgetEarlier(writer);
  await removeRows(writer, blockChanges, { series_id, bucket });
  await removeRows(writer, heldBars, { series_id, bucket });
  await writer.putBlock(series_id, { bucket, bytes: null });
  await keepNumber(writer, place);
}

/**
 * Lets the deletion name a series, which stays without bars under its number (`StoredSeries.settle`): files
 * of before hold that number, so none of them proves that the series did not trade (contract 3.9 (4)).
 */
const keepNumber = (writer: Writer, place: BlockPlace): Promise<void> =>
  putChange(writer, place, { added: emptyBars(), before: emptyBars() });

/** True if the index of a number leads to a damaged row: then the number is as it was written. */
async function isIndexed(writer: Writer, dataset: Dataset, column: string, row: Values): Promise<boolean> {
  const found = await rowWith(writer, dataset, { [column]: row[column] }).catch((error: unknown) => error);
  const other = damagedRow(dataset, found);
  return other !== null && rowKeyOf(dataset, other) === rowKeyOf(dataset, row);
}

/** Bars that were removed with their series: those of damaged blocks are not counted. */
type RemovedBars = { readonly interval: string; readonly count: number };

/** Removes all bars of a series. It stays without any, under its number, and has no run but this one. */
async function emptySeries(writer: Writer, run: PresentDeletion, row: Values): Promise<RemovedBars> {
  const { series_id, instrument_id, interval } = row as Values & RowOf<typeof seriesDataset>;
  let count = 0;
  for await (const block of allBlocks(writer, { seriesId: series_id, ...everyBucket, direction: 'asc' })) {
    count += (await unlessDamaged(Promise.try(openBlock, series_id, block)))?.bars.count ?? 0;
    await writer.putBlock(series_id, { bucket: block.bucket, bytes: null });
  }
  await removeRows(writer, blockChanges, { series_id });
  await removeRows(writer, heldBars, { series_id });
  await removeDamagedRow(writer, seriesDataset, row);
  const runs = encodeIds([run.runId]);
  const none = { prices: 'raw', volumes: null, first_ms: 0, last_ms: 0, bar_count: 0 };
  await writer.upsert(seriesDataset, [{ instrument_id, interval, series_id, ...none, runs }]);
  await keepNumber(writer, { series_id, bucket: 0, run_id: run.runId });
  const times = { from_ms: FIRST_MS, through_ms: END_MS };
  for (const market of await marketsOf(writer, interval, series_id))
    await putDeletedSpan(writer, run, market, { interval, series_id }, times);
  return { interval, count };
}

/** The markets under which runs hold a series: its instrument may be damaged too. */
async function marketsOf(writer: Writer, interval: string, seriesId: number): Promise<ReadonlySet<string>> {
  const markets = new Set<string>();
  for await (const span of allRows(writer, runSpans))
    if (span.interval === interval && decodeIds(span.series).includes(seriesId)) markets.add(span.market);
  return markets;
}

/** Empties a series whose row is damaged; null where its number is, and then nothing is removed. */
export const removeDamagedSeries = async (
  writer: Writer,
  run: PresentDeletion,
  row: Values,
): Promise<RemovedBars | null> =>
  (await isIndexed(writer, seriesDataset, 'series_id', row)) ? emptySeries(writer, run, row) : null;

/**
 * Removes an instrument whose row is damaged, with its bars; null where its identifier or its name is, and
 * then nothing is removed: terms of the name that it had would stay, and refuse every import of it. The
 * journal has it with its name alone, by which it gets its identifiers again.
 */
export async function removeDamagedInstrument(
  writer: Writer,
  run: PresentDeletion,
  row: Values,
): Promise<RemovedBars[] | null> {
  if (!(await isIndexed(writer, instruments, 'instrument_id', row))) return null;
  const { instrument_id, asset_schema, country_iso_code, symbol } = row as Values & Instrument;
  if (!(await hasOwnTerm(writer, row as Values & Instrument))) return null;
  const bars: RemovedBars[] = [];
  const series = await removingDamaged(
    seriesDataset,
    () => writer.group(seriesDataset, { instrument_id }),
    async (one) => {
      const removed = await removeDamagedSeries(writer, run, one);
      if (removed !== null) bars.push(removed);
      return removed !== null;
    },
  );
  for (const one of series) if (one.bar_count > 0) bars.push(await emptySeries(writer, run, one));
  await removeDamagedRow(writer, instruments, row);
  const named = blankInstrument({ asset_schema, country_iso_code, symbol }, instrument_id, instrument_id);
  await writer.upsert(instruments, [named]);
  await removeInstrument(writer, run.runId, named);
  for await (const term of allRows(writer, instrumentTerms, { asset_schema, country_iso_code }))
    if (term.symbol === symbol) await writer.remove(instrumentTerms, [term]);
  return bars;
}
