// Deleting bars and instruments: a recorded run, which can be undone (contract 10).
import { bucketOf } from '../bars/bucket.ts';
import { emptyBars, filterBars } from '../bars/columns.ts';
import type { Interval } from '../contract/interval.ts';
import { unfinishedBars } from '../datasets/bars.ts';
import { spokenName } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import { collectRows } from '../store/all-rows.ts';
import type { Store, Writer } from '../store/store.ts';
import { type DeletionRequest, runDeletion } from './deletion.ts';
import { findInstrument, type InstrumentChoice } from './instrument-choice.ts';
import { seriesWithBars, useOf } from './instrument-uses.ts';
import { changeRow, recordBlock } from './journal.ts';
import { RequestProblem } from './request-problem.ts';
import { type BarBounds, selectBars } from './selection.ts';
import { StoredSeries } from './stored-series.ts';
import { nameOf } from './undo-row.ts';
import { Unfinished } from './unfinished.ts';

/** A deletion that names one instrument. */
export type DeleteRequest = InstrumentChoice & DeletionRequest;

/** A deletion of bars; an interval of null is every interval. */
export type BarDeleteRequest = DeleteRequest & BarBounds & { readonly interval: Interval | null };

/** The report of a deletion. */
export type DeleteReport = {
  readonly dataset: string;
  /** Null where nothing was written. */
  readonly runId: number | null;
  readonly instrument: string;
  /** Bars deleted, by interval; intervals without any are left out. */
  readonly bars: readonly { readonly interval: string; readonly count: number }[];
  readonly instrumentsDeleted: number;
};

/** Deletes the bars of one instrument in a range. @throws RequestProblem for an unknown instrument or a range that ends before it begins */
export function deleteBars(store: Store, request: BarDeleteRequest): Promise<DeleteReport> {
  return runDeletion(store, 'bars', request, async (writer, runId) => {
    const instrument = await findInstrument(writer, request);
    const bars = [];
    for (const row of await seriesWithBars(writer, instrument)) {
      if (request.interval !== null && row.interval !== request.interval) continue;
      const series = new StoredSeries(writer, row, await new Calendars().of(writer, instrument));
      const count = await deleteFrom(writer, runId, series, request);
      if (count > 0) bars.push({ interval: row.interval, count });
    }
    const result = { dataset: 'bars', instrument: nameOf(instrument), bars, instrumentsDeleted: 0 };
    return { result, count: bars.reduce((sum, { count }) => sum + count, 0) };
  });
}

/** Deletes one instrument. @throws RequestProblem for an unknown one, and for one that has bars or that rows name */
export function deleteInstrument(store: Store, request: DeleteRequest): Promise<DeleteReport> {
  return runDeletion(store, 'instruments', request, async (writer, runId) => {
    const instrument = await findInstrument(writer, request);
    const name = nameOf(instrument);
    const intervals = (await seriesWithBars(writer, instrument)).map((row) => row.interval);
    if (intervals.length > 0) {
      const { asset_schema, country_iso_code, symbol } = instrument;
      throw new RequestProblem(
        `${name} has bars (${intervals.join(', ')}): delete them first, by bourse delete bars --schema ${asset_schema} --country ${country_iso_code} --symbol ${symbol}`,
      );
    }
    const use = await useOf(writer, instrument);
    if (use !== null) {
      const dataset = spokenName(use.dataset);
      throw new RequestProblem(
        `${name} is named by ${dataset}: delete them first, by bourse delete ${dataset} ${use.flags}`,
      );
    }
    await changeRow(writer, runId, instruments, instrument, null);
    return {
      result: { dataset: 'instruments', instrument: name, bars: [], instrumentsDeleted: 1 },
      count: 1,
    };
  });
}

/** Deletes a series' bars in a range and counts them. */
async function deleteFrom(
  writer: Writer,
  runId: number,
  series: StoredSeries,
  bounds: BarBounds,
): Promise<number> {
  const selected = selectBars(series.row, series.calendar, bounds);
  if (selected === null) return 0;
  const { series_id } = series.row;
  const unfinished = new Unfinished(await collectRows(writer, unfinishedBars, { series_id }), runId, {
    bucketOf: (keyMs) => bucketOf(series.row.interval as Interval, keyMs),
    closesLater: () => false,
  });
  let count = 0;
  for await (const block of series.blocks(selected.fromBucket, selected.toBucket)) {
    const { bucket, bars } = block;
    const isDeleted = (at: number): boolean => selected.holds(bars.keyMs[at]!);
    const before = filterBars(bars, isDeleted);
    if (before.count === 0) continue;
    const place = { series_id, bucket, run_id: runId };
    await recordBlock(writer, place, { added: emptyBars(), before });
    const rest = filterBars(bars, (at) => !isDeleted(at));
    await series.put({ ...block, runId }, rest);
    unfinished.see(series_id, before, rest);
    count += before.count;
  }
  await unfinished.settle(writer);
  if (count > 0) await series.settle();
  return count;
}
