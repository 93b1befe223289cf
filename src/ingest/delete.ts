// Deleting bars and instruments: a recorded run like an import, which can be taken back (contract 10).
import { emptyBars, filterBars } from '../bars/bars.ts';
import type { Interval } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { importRuns } from '../datasets/internal.ts';
import { optionContracts } from '../datasets/options.ts';
import { instruments } from '../datasets/reference.ts';
import type { OnWait, Store, Writer } from '../store/store.ts';
import { type BarBounds, selectBars } from './bar-selection.ts';
import { findInstruments, type InstrumentChoice } from './instrument-choice.ts';
import { changeRow, recordBlock } from './journal.ts';
import { nextValue } from './load.ts';
import { RequestProblem } from './problem.ts';
import { InstrumentCalendars, type OpenedBlock, StoredSeries } from './stored-series.ts';
import { writeOrTry } from './trial.ts';
import { nameOf } from './undo-row.ts';

type Instrument = RowOf<typeof instruments>;

export type DeleteRequest = InstrumentChoice & {
  /** What is asked for, in words: kept with the run. */
  readonly words: string;
  /** Does everything, and writes nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  readonly onWait?: OnWait;
};

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

/** No instrument has more series. */
const SERIES_MAX = 1500;

/** Deletes the bars of one instrument in a range. @throws RequestProblem when it is not known, or the range is none */
export function deleteBars(store: Store, request: BarDeleteRequest): Promise<DeleteReport> {
  return deleteIn(store, 'bars', request, async (writer, runId, instrument) => {
    const bars = [];
    for (const row of await seriesOf(writer, instrument)) {
      if (request.interval !== null && row.interval !== request.interval) continue;
      const series = new StoredSeries(writer, row, await new InstrumentCalendars(writer).of(instrument));
      const count = await deleteFrom(writer, runId, series, request);
      if (count > 0) bars.push({ interval: row.interval, count });
    }
    return { bars, instrumentsDeleted: 0 };
  });
}

/** Deletes one instrument without bars. @throws RequestProblem when it is not known, or has bars */
export function deleteInstrument(store: Store, request: DeleteRequest): Promise<DeleteReport> {
  return deleteIn(store, 'instruments', request, async (writer, runId, instrument) => {
    const intervals = (await seriesOf(writer, instrument)).map((row) => row.interval);
    if (intervals.length > 0) {
      const { asset_schema, country_iso_code, symbol } = instrument;
      throw new RequestProblem(
        `${nameOf(instrument)} has bars (${intervals.join(', ')}): delete them first, by bourse delete bars --schema ${asset_schema} --country ${country_iso_code} --symbol ${symbol}`,
      );
    }
    await refuseNamed(writer, instrument);
    await changeRow(writer, runId, instruments, instrument, null);
    return { bars: [], instrumentsDeleted: 1 };
  });
}

/** An instrument that is an option contract, or the underlying of some, is needed as long as they are there. */
async function refuseNamed(writer: Writer, instrument: Instrument): Promise<void> {
  const { asset_schema, country_iso_code, symbol } = instrument;
  const where =
    asset_schema === 'option'
      ? { country_iso_code, symbol }
      : { country_iso_code, parent_asset_schema: asset_schema, underlying_name: symbol };
  const order = [[asset_schema === 'option' ? 'symbol' : 'option_type', 'asc']] as const;
  const [contract] = await writer.rows(optionContracts, { where, order, limit: 1 });
  if (contract === undefined) return;
  throw new RequestProblem(
    `${nameOf(instrument)} is named by option contracts, such as ${contract.symbol}: take their imports back first, by bourse undo RUN`,
  );
}

/** Runs a deletion in one write and records it, unless there was nothing to delete. */
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
  return writeOrTry(
    store,
    async (writer) => {
      const startedMs = request.nowMs();
      const instrument = await findInstrument(writer, request);
      const runId = await nextValue(writer, 'run_id', 1);
      const deleted = await work(writer, runId, instrument);
      const count = deleted.bars.reduce((sum, series) => sum + series.count, deleted.instrumentsDeleted);
      const isTrial = request.dryRun || count === 0;
      await record(writer, runId, dataset, request, count, startedMs);
      const report = { dataset, runId: isTrial ? null : runId, instrument: nameOf(instrument), ...deleted };
      return { result: report, isTrial };
    },
    request.onWait,
  );
}

async function record(
  writer: Writer,
  runId: number,
  dataset: string,
  { words, nowMs }: DeleteRequest,
  count: number,
  startedMs: number,
): Promise<void> {
  await writer.upsert(importRuns, [
    {
      run_id: runId,
      kind: 'delete',
      dataset,
      file: words,
      sha256: '',
      source: null,
      rows_read: count,
      rows_written: count,
      rows_unchanged: 0,
      rows_refused: 0,
      started_ms: startedMs,
      finished_ms: nowMs(),
      undone_ms: null,
    },
  ]);
  await nextValue(writer, 'data_version', 1);
}

async function findInstrument(writer: Writer, choice: InstrumentChoice): Promise<Instrument> {
  const [found, ...others] = await findInstruments(writer, choice);
  if (others.length === 0) return found!;
  const types = [found!, ...others].map((instrument) => instrument.asset_schema).join(', ');
  throw new RequestProblem(
    `${choice.country}:${choice.symbol} is of several asset types: choose by --schema one of ${types}`,
  );
}

/** The series of an instrument that have bars. */
async function seriesOf(writer: Writer, instrument: Instrument): Promise<RowOf<typeof seriesDataset>[]> {
  const found = await writer.rows(seriesDataset, {
    where: { instrument_id: instrument.instrument_id },
    order: [['interval', 'asc']],
    limit: SERIES_MAX,
  });
  return found.filter((row) => row.bar_count > 0);
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
