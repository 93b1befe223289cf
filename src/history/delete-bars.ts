// Deleting bars and instruments: a recorded run, which can be undone (contract 10).

import { emptyBars, filterBars } from '../bars/columns.ts';
import { decodeIds, encodeIds } from '../base/id-list.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Interval } from '../contract/interval.ts';
import { runSpans, type series as seriesDataset } from '../datasets/bars.ts';
import { type RowOf, spokenName } from '../datasets/dataset.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import { marketName } from '../series/series.ts';
import type { Store, Writer } from '../store/store.ts';
import { deletionOfBlocks, keysOfBucket, lostBlocks, lostBlockWords } from './damaged-blocks.ts';
import { type DeletionRequest, runDeletion } from './deletion.ts';
import { findInstrument, type InstrumentChoice } from './instrument-choice.ts';
import { seriesWithBars, useOf } from './instrument-uses.ts';
import { changeRow, recordBlock } from './journal.ts';
import { RequestProblem } from './request-problem.ts';
import { type BarBounds, type Selected, selectBars } from './selection.ts';
import { StoredSeries } from './stored-series.ts';
import { nameOf } from './undo-row.ts';

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
  /** Of these, the damaged ones: no undo restores them. */
  readonly damagedDeleted: number;
  readonly instrumentsDeleted: number;
};

/**
 * Deletes the bars of one instrument in a range. @throws RequestProblem for an unknown instrument or a range
 * that ends before it begins
 */
export function deleteBars(store: Store, request: BarDeleteRequest): Promise<DeleteReport> {
  return runDeletion(store, 'bars', request, async (writer, runId) => {
    const instrument = await findInstrument(writer, request);
    const bars = [];
    let [damagedDeleted, done] = [0, 0];
    const onBars = (count: number): void => {
      done += count;
      request.onRows?.(done);
    };
    for (const row of await seriesWithBars(writer, instrument)) {
      if (request.interval !== null && row.interval !== request.interval) continue;
      const { calendar, market } = await new Calendars().read(writer, instrument);
      const selected = selectBars(row, calendar, request);
      if (selected === null) continue;
      const runs = encodeIds([...decodeIds(row.runs), runId]);
      const series = new StoredSeries(writer, { ...row, runs });
      const { count, damaged } = await deleteFrom(writer, runId, { instrument, series }, selected, onBars);
      damagedDeleted += damaged;
      if (count === 0) continue;
      bars.push({ interval: row.interval, count });
      const times = { from_ms: selected.fromMs, through_ms: selected.toMs };
      await writer.upsert(runSpans, [
        deletedSpan(runId, marketName(instrument, market), row, times, request.nowMs()),
      ]);
    }
    const about = { dataset: 'bars', instrument: nameOf(instrument) };
    const result = { ...about, bars, damagedDeleted, instrumentsDeleted: 0 };
    return { result, count: bars.reduce((sum, { count }) => sum + count, 0) };
  });
}

/**
 * Deletes one instrument. @throws RequestProblem for an unknown one, and for one that has bars or that rows
 * name
 */
export function deleteInstrument(store: Store, request: DeleteRequest): Promise<DeleteReport> {
  return runDeletion(store, 'instruments', request, async (writer, runId) => {
    const instrument = await findInstrument(writer, request);
    const name = nameOf(instrument);
    const intervals = (await seriesWithBars(writer, instrument)).map((row) => row.interval);
    if (intervals.length > 0) {
      const { asset_schema, country_iso_code, symbol } = instrument;
      throw new RequestProblem(
        `${name} has bars (${intervals.join(', ')}): delete them first, by bourse delete bars --schema ${asset_schema} --country ${country_iso_code} --symbol ${shellWord(symbol)}`,
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
      result: {
        dataset: 'instruments',
        instrument: name,
        bars: [],
        damagedDeleted: 0,
        instrumentsDeleted: 1,
      },
      count: 1,
    };
  });
}

/** What a deletion is recorded by: the range that no earlier run covers any more (contract 3.9 (4)). */
const deletedSpan = (
  run_id: number,
  market: string,
  { interval, series_id }: RowOf<typeof seriesDataset>,
  times: { readonly from_ms: number; readonly through_ms: number },
  started_ms: number,
): RowOf<typeof runSpans> => ({
  ...{ run_id, market, interval, kind: 'delete', started_ms, sha256: '', command: run_id, zone: null },
  ...{ first_ms: null, last_keys: [], ...times, reach_ms: times.through_ms },
  ...{ series_count: 1, series: encodeIds([series_id]) },
});

/** A series that a deletion has opened, and its instrument. */
type OpenSeries = { readonly instrument: Instrument; readonly series: StoredSeries };

/** Deletes a series' bars in a range and counts them. */
async function deleteFrom(
  writer: Writer,
  runId: number,
  { instrument, series }: OpenSeries,
  selected: Selected,
  onBars: (count: number) => void,
): Promise<{ readonly count: number; readonly damaged: number }> {
  const { series_id } = series.row;
  let count = 0;
  for await (const block of series.blocks(selected.fromBucket, selected.toBucket)) {
    const { bucket, bars } = block;
    const isDeleted = (at: number): boolean => selected.holds(bars.keyMs[at]!);
    const before = filterBars(bars, isDeleted);
    if (before.count === 0) continue;
    const place = { series_id, bucket, run_id: runId };
    await recordBlock(writer, place, { change: { added: emptyBars(), before }, held: emptyBars() });
    const rest = filterBars(bars, (at) => !isDeleted(at));
    await series.put({ ...block, runId }, rest);
    count += before.count;
    onBars(before.count);
  }
  const buckets = await damagedWithin(writer, { instrument, series }, selected.holds);
  let damaged = 0;
  for (const [bucket, lost] of buckets) {
    await series.removeDamaged(bucket, lost);
    damaged += lost;
  }
  count += damaged;
  if (count > 0) await series.settle();
  return { count, damaged };
}

/**
 * The damaged blocks that a deletion has met, and the number of bars of each.
 * @throws RequestProblem where it would delete a part of one, or where only several together have a known
 * number
 */
async function damagedWithin(
  writer: Writer,
  { instrument, series }: OpenSeries,
  holds: (keyMs: number) => boolean,
): Promise<ReadonlyMap<number, number>> {
  const met = series.damaged;
  if (met.size === 0) return new Map();
  const { interval, first_ms, last_ms } = series.row;
  const holdsAll = (bucket: number): boolean => {
    const { firstMs, lastMs } = keysOfBucket(interval as Interval, bucket) ?? {
      firstMs: first_ms,
      lastMs: last_ms,
    };
    return holds(Math.max(firstMs, first_ms)) && holds(Math.min(lastMs, last_ms));
  };
  const { blocks, total } = await lostBlocks(writer, series.presentRow);
  const all = [...blocks.values()];
  const isKnown = all.every(({ count }) => count !== null);
  const wanted = isKnown ? all.filter(({ bucket }) => met.has(bucket)) : all;
  if (!wanted.every(({ bucket }) => met.has(bucket) && holdsAll(bucket))) {
    const places = wanted.map((block) => lostBlockWords(interval as Interval, block)).join('; ');
    const command = deletionOfBlocks(
      instrument,
      interval as Interval,
      wanted.map(({ bucket }) => bucket),
    );
    throw new RequestProblem(
      `stored bars of ${nameOf(instrument)} ${interval} are damaged, and can be deleted only together: ${places}. Delete all of them, by ${command}`,
    );
  }
  // Without the number of each, the first one stands for all.
  return new Map(wanted.map(({ bucket, count }, at) => [bucket, count ?? (at === 0 ? total : 0)]));
}
