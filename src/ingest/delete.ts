// Deleting bars and instruments: a recorded run like an import, which can be taken back (contract 10).
import { emptyBars, filterBars } from '../bars/bars.ts';
import { bucketOf } from '../bars/bucket.ts';
import { DAY_MS, END_DAY, FIRST_DAY, type ParsedInstant } from '../base/instant.ts';
import { type BarRange, barRange, inOrder } from '../calendar/bar-range.ts';
import { isPeriod, periodHours } from '../calendar/period.ts';
import { type AssetSchema, assetSchemas } from '../contract/identifiers.ts';
import type { Interval } from '../contract/interval.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { importRuns } from '../datasets/internal.ts';
import { optionContracts } from '../datasets/options.ts';
import { instruments } from '../datasets/reference.ts';
import type { OnWait, Store, Writer } from '../store/store.ts';
import { changeRow, recordBlock } from './journal.ts';
import { nextValue } from './load.ts';
import { nearest } from './mapping.ts';
import { RequestProblem } from './problem.ts';
import { InstrumentCalendars, type OpenedBlock, StoredSeries } from './stored-series.ts';
import { writeOrTry } from './trial.ts';
import { nameOf } from './undo-row.ts';

type Instrument = RowOf<typeof instruments>;

/** Which instrument is meant. The asset type may be left out where no other type has the symbol. */
export type InstrumentChoice = {
  readonly assetSchema: AssetSchema | null;
  readonly country: string;
  readonly symbol: string;
};

export type DeleteRequest = InstrumentChoice & {
  /** What is asked for, in words: kept with the run. */
  readonly words: string;
  /** Does everything, and writes nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  readonly onWait?: OnWait;
};

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

/** No instrument has more series. */
const SERIES_MAX = 1500;

/** Symbols compared for a hint. */
const NEIGHBOURS_MAX = 1000;

/** Deletes the bars of one instrument in a range. @throws RequestProblem when it is not known, or the range is none */
export function deleteBars(store: Store, request: BarDeleteRequest): Promise<DeleteReport> {
  return deleteIn(store, 'bars', request, async (writer, runId, instrument) => {
    const bars = [];
    for (const row of await seriesOf(writer, instrument)) {
      if (request.interval !== null && row.interval !== request.interval) continue;
      const series = new StoredSeries(writer, row, await new InstrumentCalendars(writer).of(instrument));
      const count = await deleteFrom(writer, runId, series, rangeOf(series, request));
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
  const { assetSchema, country, symbol } = choice;
  const schemas = assetSchema === null ? assetSchemas : [assetSchema];
  const found: Instrument[] = [];
  for (const schema of schemas) {
    const where = { asset_schema: schema, country_iso_code: country, symbol };
    found.push(...(await writer.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 })));
  }
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    const types = found.map((instrument) => instrument.asset_schema).join(', ');
    throw new RequestProblem(
      `${country}:${symbol} is of several asset types: choose by --schema one of ${types}`,
    );
  }
  const near = nearest(symbol, await neighbours(writer, schemas, country, symbol[0]!));
  throw new RequestProblem(
    `the store holds no ${assetSchema ?? 'instrument'} ${country}:${symbol}${near === undefined ? '' : `; is it ${near}?`}`,
  );
}

async function neighbours(
  writer: Writer,
  schemas: readonly string[],
  country: string,
  beginning: string,
): Promise<string[]> {
  const symbols: string[] = [];
  for (const schema of schemas) {
    const found = await writer.rows(instruments, {
      where: { asset_schema: schema, country_iso_code: country },
      range: { from: beginning, to: `${beginning}\u{10ffff}` },
      order: [['symbol', 'asc']],
      limit: NEIGHBOURS_MAX,
    });
    symbols.push(...found.map((instrument) => instrument.symbol));
  }
  return symbols;
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
