// Deleting bars and instruments: a recorded run, which can be undone (contract 10).
import { decodeIds, encodeIds } from '../base/ascending.ts';
import { DAY_MS, formatDay, formatInstantZ, MINUTE_MS } from '../base/instant.ts';
import { shellWord } from '../base/words.ts';
import { assetSchemas } from '../contract/identifiers.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import { bucketDays } from '../market/bars/block.ts';
import { emptyBars, filterBars } from '../market/bars/columns.ts';
import { Calendars } from '../series/calendars.ts';
import { bucketWords, namingDamage } from '../series/damaged-bars.ts';
import { marketName } from '../series/series.ts';
import { everyBucket, refuseLostBlocks } from '../store/all-blocks.ts';
import { rowWith } from '../store/all-rows.ts';
import { series as seriesDataset } from '../store/schema/bars.ts';
import { spokenName, type Values } from '../store/schema/dataset.ts';
import {
  type Instrument,
  type InstrumentName,
  instruments,
  instrumentTerms,
} from '../store/schema/reference.ts';
import type { RowReader, Store, StoredBlock, Writer } from '../store/store.ts';
import { findInstrument, type InstrumentChoice, severalTypes } from './instrument-choice.ts';
import { putChange, removeInstrument } from './journal.ts';
import { seriesWithBars, useOf } from './naming.ts';
import { nameOf } from './new-instrument.ts';
import { type DeletionRequest, putDeletedSpan, RequestProblem, runDeletion } from './recorded-write.ts';
import {
  damagedRow,
  removeDamagedInstrument,
  removeDamagedSeries,
  removingDamaged,
} from './remove-damaged.ts';
import { type BarBounds, type Selected, StoredSeries, selectBars } from './stored-series.ts';

/** A deletion that names one instrument. */
type DeleteRequest = InstrumentChoice & DeletionRequest;

/** A deletion of bars; an interval of null is every interval. */
type BarDeleteRequest = DeleteRequest & BarBounds & { readonly interval: Interval | null };

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
    const run = { runId, startedMs: request.nowMs() };
    const bars: { interval: string; count: number }[] = [];
    let [damagedDeleted, done, records] = [0, 0, 0];
    const onBars = (count: number): void => {
      done += count;
      request.onRows?.(done);
    };
    const isChosen = ({ interval }: Values): boolean =>
      request.interval === null || interval === request.interval;
    const stored = await removingDamaged(
      seriesDataset,
      () => seriesWithBars(writer, instrument),
      async (row) => {
        // Where the row is damaged, nothing tells which bars it has.
        const isWhole = request.from === null && request.to === null && isChosen(row);
        const removed = isWhole ? await removeDamagedSeries(writer, run, row) : null;
        if (removed === null) return false;
        records++;
        bars.push(removed);
        damagedDeleted += removed.count;
        return true;
      },
    );
    for (const row of stored) {
      if (!isChosen(row)) continue;
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
      await putDeletedSpan(writer, run, marketName(instrument, market), row, times);
    }
    const about = { dataset: 'bars', instrument: nameOf(instrument) };
    const result = { ...about, bars, damagedDeleted, instrumentsDeleted: 0 };
    return { result, count: bars.reduce((sum, { count }) => sum + count, records) };
  });
}

/**
 * Deletes one instrument. @throws RequestProblem for an unknown one, and for one that has bars or that rows
 * name
 */
export function deleteInstrument(store: Store, request: DeleteRequest): Promise<DeleteReport> {
  return runDeletion(store, 'instruments', request, async (writer, runId) => {
    const found: unknown = await findInstrument(writer, request).catch((error: unknown) => error);
    const damaged = damagedRow(instruments, found);
    if (damaged?.symbol === request.symbol && damaged.country_iso_code === request.country) {
      await refuseAmbiguous(writer, request);
      const bars = await removeDamagedInstrument(writer, { runId, startedMs: request.nowMs() }, damaged);
      if (bars !== null)
        return { result: deletedInstrument(damaged as Values & InstrumentName, bars), count: 1 };
    }
    if (found instanceof Error) throw found;
    const instrument = found as Instrument;
    const name = nameOf(instrument);
    const intervals = (await seriesWithBars(writer, instrument)).map((row) => row.interval);
    if (intervals.length > 0) {
      throw new RequestProblem(
        `${name} has bars (${intervals.join(', ')}): delete them first, by ${deletionOf(instrument)}`,
      );
    }
    const use = await useOf(writer, instrument);
    if (use !== null) {
      const dataset = spokenName(use.dataset);
      throw new RequestProblem(
        `${name} is used by ${dataset}: delete them first, by bourse delete ${dataset} ${use.flags}`,
      );
    }
    await removeInstrument(writer, runId, instrument);
    return { result: deletedInstrument(instrument, []), count: 1 };
  });
}

/** The terms tell which asset types have a symbol, whatever becomes of a row. @throws RequestProblem */
async function refuseAmbiguous(reader: RowReader, { assetSchema, country, symbol }: InstrumentChoice) {
  if (assetSchema !== null) return;
  const where = { country_iso_code: country, kind: 'symbol', term: symbol };
  const terms = assetSchemas.map((asset_schema) =>
    rowWith(reader, instrumentTerms, { asset_schema, ...where }),
  );
  const types = (await Promise.all(terms)).flatMap((term) => (term === null ? [] : [term.asset_schema]));
  if (types.length > 1) throw severalTypes({ country, symbol }, types);
}

const deletedInstrument = (name: InstrumentName, bars: DeleteReport['bars']) => ({
  dataset: 'instruments',
  instrument: nameOf(name),
  bars,
  damagedDeleted: bars.reduce((sum, { count }) => sum + count, 0),
  instrumentsDeleted: 1,
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
    await putChange(writer, place, { added: emptyBars(), before });
    const rest = filterBars(bars, (at) => !isDeleted(at));
    await series.put({ ...block, runId }, rest);
    count += before.count;
    onBars(before.count);
  }
  const damaged =
    series.damaged.size === 0 ? 0 : await deleteDamaged(runId, { instrument, series }, selected.holds);
  count += damaged;
  // Its ends are read, which may be damaged where the deletion does not reach them.
  // Blocks that their index has lost look like an empty range.
  if (count > 0) await namingDamage(writer, series.settle());
  else await namingDamage(writer, refuseLostBlocks(writer, series_id));
  return { count, damaged };
}

/**
 * Deletes the damaged blocks of a series, and gives how many bars they had: what its other blocks lack of its
 * number of bars. So all of them go together. @throws RequestProblem where the deletion does not hold all
 */
async function deleteDamaged(
  runId: number,
  { instrument, series }: OpenSeries,
  holds: (keyMs: number) => boolean,
): Promise<number> {
  const { first_ms, last_ms } = series.row;
  const interval = series.row.interval as Interval;
  let left = 0;
  for await (const { bars } of series.blocks(everyBucket.fromBucket, everyBucket.toBucket))
    left += bars.count;
  const blocks = [...series.damaged.values()];
  const holdsAll = ({ bucket }: StoredBlock): boolean => {
    const { firstMs, lastMs } = keysOfBucket(interval, bucket) ?? { firstMs: first_ms, lastMs: last_ms };
    return holds(Math.max(firstMs, first_ms)) && holds(Math.min(lastMs, last_ms));
  };
  if (blocks.every(holdsAll)) return series.removeDamaged(left, runId);
  const places = blocks.map(
    ({ bucket, runId }) => `${bucketWords(interval, bucket)}, imported by run ${runId}`,
  );
  const what = `stored bars of ${nameOf(instrument)} ${interval} are damaged, and can be deleted only together`;
  const command = `${deletionOf(instrument)} ${selectorsOf(interval, [...series.damaged.keys()])}`;
  throw new RequestProblem(`${what}: ${places.join('; ')}. Delete all of them, by ${command}`);
}

/** The first and the last key that a bar of a bucket can have; null where the bucket is all time. */
function keysOfBucket(interval: Interval, bucket: number): { firstMs: number; lastMs: number } | null {
  const days = bucketDays(interval);
  if (days === null) return null;
  const stepMs = intervalMinutes(interval) === null ? DAY_MS : MINUTE_MS;
  return { firstMs: bucket * days * DAY_MS, lastMs: (bucket + 1) * days * DAY_MS - stepMs };
}

/** The command that deletes the bars of an instrument. */
const deletionOf = ({ asset_schema, country_iso_code, symbol }: InstrumentName): string =>
  `bourse delete bars --schema ${asset_schema} --country ${country_iso_code} --symbol ${shellWord(symbol)}`;

/** The flags of that command for whole blocks, from the first bucket to the last. */
function selectorsOf(interval: Interval, buckets: readonly number[]): string {
  const first = keysOfBucket(interval, Math.min(...buckets));
  const last = keysOfBucket(interval, Math.max(...buckets));
  const text = (ms: number): string =>
    intervalMinutes(interval) === null ? formatDay(ms / DAY_MS) : formatInstantZ(ms);
  const range =
    first === null || last === null ? '' : ` --from ${text(first.firstMs)} --to ${text(last.lastMs)}`;
  return `--interval ${interval}${range}`;
}
