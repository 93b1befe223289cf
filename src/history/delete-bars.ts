// Deleting bars and instruments: a recorded run like an import, which can be taken back (contract 10).
import { emptyBars, filterBars } from '../bars/bars.ts';
import type { Interval } from '../contract/interval.ts';
import { type RowOf, spokenName } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import type { Store, Writer } from '../store/store.ts';
import { type BarBounds, selectBars } from './bar-selection.ts';
import { type DeletionRequest, runDeletion } from './deletion.ts';
import { findInstrument, type InstrumentChoice } from './instrument-choice.ts';
import { seriesWithBars, useOf } from './instrument-uses.ts';
import { changeRow, recordBlock } from './journal.ts';
import { RequestProblem } from './request-problem.ts';
import { type OpenedBlock, StoredSeries } from './stored-series.ts';
import { nameOf } from './undo-row.ts';

type Instrument = RowOf<typeof instruments>;

export type DeleteRequest = InstrumentChoice & DeletionRequest;

export type BarDeleteRequest = DeleteRequest &
  BarBounds & {
    /** Null: every interval. */
    readonly interval: Interval | null;
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

/** Deletes the bars of one instrument in a range. @throws RequestProblem when it is not known, or the range is none */
export function deleteBars(store: Store, request: BarDeleteRequest): Promise<DeleteReport> {
  return deleteIn(store, 'bars', request, async (writer, runId, instrument) => {
    const bars = [];
    for (const row of await seriesWithBars(writer, instrument)) {
      if (request.interval !== null && row.interval !== request.interval) continue;
      const series = new StoredSeries(writer, row, await new Calendars().of(writer, instrument));
      const count = await deleteFrom(writer, runId, series, request);
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

/** Deletes a series' bars in a range; how many there were. */
async function deleteFrom(
  writer: Writer,
  runId: number,
  series: StoredSeries,
  bounds: BarBounds,
): Promise<number> {
  const selected = selectBars(series.row, series.calendar, bounds);
  if (selected === null) return 0;
  const { fromBucket, toBucket, holds } = selected;
  let count = 0;
  for await (const block of series.blocks(fromBucket, toBucket))
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
