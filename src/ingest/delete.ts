// Deleting bars and instruments: a recorded run like an import, which can be taken back (contract 10).
import { emptyBars, filterBars } from '../bars/bars.ts';
import { bucketOf } from '../bars/bucket.ts';
import { DAY_MS, END_DAY, FIRST_DAY, type ParsedInstant } from '../base/instant.ts';
import { type BarRange, barRange, inOrder } from '../calendar/bar-range.ts';
import { isPeriod, periodHours } from '../calendar/period.ts';
import type { Interval } from '../contract/interval.ts';
import { type RowOf, spokenName } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import type { Store, Writer } from '../store/store.ts';
import { type DeletionRequest, findInstrument, type InstrumentChoice, runDeletion } from './deletion.ts';
import { seriesWithBars, useOf } from './instrument-uses.ts';
import { changeRow, recordBlock } from './journal.ts';
import { RequestProblem } from './problem.ts';
import { InstrumentCalendars, type OpenedBlock, StoredSeries } from './stored-series.ts';
import { nameOf } from './undo-row.ts';

type Instrument = RowOf<typeof instruments>;

export type DeleteRequest = InstrumentChoice & DeletionRequest;

export type BarDeleteRequest = DeleteRequest & {
  /** Null: every interval. */
  readonly interval: Interval | null;
  /** Inclusive bounds as those of a request for bars (contract 2.2, 2.3); null: from the first, to the last. */
  readonly from: ParsedInstant | null;
  readonly to: ParsedInstant | null;
};

/** The account of a deletion. */
export type DeleteReport = {
  readonly dataset: string;
  /** Null where nothing was written. */
  readonly runId: number | null;
  readonly instrument: string;
  /** Bars deleted, by interval; those with none are left out. */
  readonly bars: readonly { readonly interval: string; readonly count: number }[];
  readonly instrumentsDeleted: number;
};

const FIRST: ParsedInstant = { kind: 'date', day: FIRST_DAY };
const LAST: ParsedInstant = { kind: 'date', day: END_DAY - 1 };

/** Deletes the bars of one instrument in a range. @throws RequestProblem when it is not known, or the range is none */
export function deleteBars(store: Store, request: BarDeleteRequest): Promise<DeleteReport> {
  return deleteIn(store, 'bars', request, async (writer, runId, instrument) => {
    const bars = [];
    for (const row of await seriesWithBars(writer, instrument)) {
      if (request.interval !== null && row.interval !== request.interval) continue;
      const series = new StoredSeries(writer, row, await new InstrumentCalendars(writer).of(instrument));
      const count = await deleteFrom(writer, runId, series, rangeOf(series, request));
      if (count > 0) bars.push({ interval: row.interval, count });
    }
    return { bars, instrumentsDeleted: 0 };
  });
}

/** Deletes one instrument that has no bars and that no row names. @throws RequestProblem when it is not known, or there are some */
export function deleteInstrument(store: Store, request: DeleteRequest): Promise<DeleteReport> {
  return deleteIn(store, 'instruments', request, async (writer, runId, instrument) => {
    const intervals = (await seriesWithBars(writer, instrument)).map((row) => row.interval);
    if (intervals.length > 0) {
      const { asset_schema, country_iso_code, symbol } = instrument;
      throw new RequestProblem(
        `${nameOf(instrument)} has bars (${intervals.join(', ')}): delete them first, by bourse delete bars --schema ${asset_schema} --country ${country_iso_code} --symbol ${symbol}`,
      );
    }
    const use = await useOf(writer, instrument);
    if (use !== null) {
      const dataset = spokenName(use.dataset);
      throw new RequestProblem(
        `${nameOf(instrument)} is named by ${dataset}: delete them first, by bourse delete ${dataset} ${use.flags}`,
      );
    }
    await changeRow(writer, runId, instruments, instrument, null);
    return { bars: [], instrumentsDeleted: 1 };
  });
}

/** Runs the deletion of what one instrument has, or of itself. */
function deleteIn(
  store: Store,
  dataset: string,
  request: DeleteRequest,
  work: (
    writer: Writer,
    runId: number,
    instrument: Instrument,
  ) => Promise<Pick<DeleteReport, 'bars' | 'instrumentsDeleted'>>,
): Promise<DeleteReport> {
  return runDeletion(store, dataset, request, async (writer, runId) => {
    const instrument = await findInstrument(writer, request);
    const deleted = await work(writer, runId, instrument);
    const count = deleted.bars.reduce((sum, series) => sum + series.count, deleted.instrumentsDeleted);
    return { result: { dataset, instrument: nameOf(instrument), ...deleted }, count };
  });
}

function rangeOf({ row, calendar }: StoredSeries, { from, to }: BarDeleteRequest): BarRange {
  const [first, last] = [from ?? FIRST, to ?? LAST];
  if (!inOrder(row.interval, calendar, first, last))
    throw new RequestProblem('--from lies after --to: exchange the two');
  return barRange(row.interval, calendar, first, last);
}

/** Whether a bar of a series lies in a range, by its key. */
function holdsKey({ row, calendar }: StoredSeries, range: BarRange): (keyMs: number) => boolean {
  const { fromMs, toMs, holds } = range;
  const { interval } = row;
  return (keyMs) => {
    if (keyMs < fromMs || keyMs >= toMs) return false;
    if (holds === null || !isPeriod(interval)) return true;
    const { openMs, day } = periodHours(calendar, interval, keyMs / DAY_MS, false);
    return holds(openMs, day);
  };
}

/** Deletes a series' bars in a range; how many there were. */
async function deleteFrom(
  writer: Writer,
  runId: number,
  series: StoredSeries,
  range: BarRange,
): Promise<number> {
  const { row } = series;
  const holds = holdsKey(series, range);
  const firstMs = Math.max(range.fromMs, row.first_ms);
  const lastMs = Math.min(range.toMs - 1, row.last_ms);
  if (firstMs > lastMs) return 0;
  const interval = row.interval as Interval;
  let count = 0;
  for await (const block of series.blocks(bucketOf(interval, firstMs), bucketOf(interval, lastMs)))
    count += await deleteFromBlock(writer, runId, series, block, holds);
  if (count > 0) await series.settle();
  return count;
}

async function deleteFromBlock(
  writer: Writer,
  runId: number,
  series: StoredSeries,
  block: OpenedBlock,
  holds: (keyMs: number) => boolean,
): Promise<number> {
  const { bucket, bars } = block;
  const gone = filterBars(bars, (at) => holds(bars.keyMs[at]!));
  if (gone.count === 0) return 0;
  const place = { series_id: series.row.series_id, bucket, run_id: runId };
  await recordBlock(writer, place, { added: emptyBars(), before: gone });
  await series.put(
    { ...block, runId },
    filterBars(bars, (at) => !holds(bars.keyMs[at]!)),
  );
  return gone.count;
}
