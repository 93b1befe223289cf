// Synthetic bars for the demo: deterministic, a pure function of instrument and day. They are not market data.
import { type Bars, emptyBars, lowerBound, reserve, valueColumns } from '../bars/bars.ts';
import { periodCells } from '../bars/grid.ts';
import { resample } from '../bars/resample.ts';
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { type Calendar, calendarOf } from '../calendar/calendar.ts';
import type { Session } from '../calendar/session.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { interval } from '../contract/interval.ts';
import { barCoverage } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { importRuns } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import { changeRow } from '../history/journal.ts';
import { newInstrument, nextValue } from '../history/new-instrument.ts';
import { BarLoad } from '../loading/bar-load.ts';
import type { Store, Writer } from '../store/store.ts';
import { writeDemoEvents } from './demo-events.ts';
import { writeDemoOptions } from './demo-options.ts';
import { writeDemoRows } from './demo-rows.ts';

type Sample = {
  readonly assetSchema: AssetSchema;
  readonly country: string;
  readonly symbol: string;
  readonly name: string;
  readonly about: Partial<RowOf<typeof instruments>>;
  /** Around which the price moves, its decimals, and the decimals of its volume (null: it has none). */
  readonly price: number;
  readonly decimals: number;
  readonly volumeDecimals: number | null;
  readonly volumePerMinute: number;
};

/** The instruments of the demo. */
export const samples: readonly Sample[] = [
  {
    assetSchema: 'stock',
    country: 'US',
    symbol: 'AAPL',
    name: 'Apple Inc.',
    about: { exchange: 'XNAS', asset_subtype: 'common_stock' },
    price: 190,
    decimals: 2,
    volumeDecimals: 0,
    volumePerMinute: 140_000,
  },
  {
    assetSchema: 'stock',
    country: 'US',
    symbol: 'MSFT',
    name: 'Microsoft Corporation',
    about: { exchange: 'XNAS', asset_subtype: 'common_stock' },
    price: 410,
    decimals: 2,
    volumeDecimals: 0,
    volumePerMinute: 55_000,
  },
  {
    assetSchema: 'stock',
    country: 'US',
    symbol: 'SPY',
    name: 'SPDR S&P 500 ETF Trust',
    about: { exchange: 'ARCX', asset_subtype: 'etf' },
    price: 560,
    decimals: 2,
    volumeDecimals: 0,
    volumePerMinute: 150_000,
  },
  {
    assetSchema: 'crypto',
    country: 'GLOBAL',
    symbol: 'BTCUSD',
    name: 'Bitcoin / US Dollar',
    about: { base_currency: 'BTC', quote_currency: 'USD', currency: 'USD' },
    price: 68_000,
    decimals: 2,
    volumeDecimals: 6,
    volumePerMinute: 9,
  },
  {
    assetSchema: 'forex',
    country: 'GLOBAL',
    symbol: 'EURUSD',
    name: 'Euro / US Dollar',
    about: { base_currency: 'EUR', quote_currency: 'USD', currency: 'USD' },
    price: 1.09,
    decimals: 5,
    volumeDecimals: null,
    volumePerMinute: 0,
  },
];

/** What the demo's instruments say of themselves. */
const SYNTHETIC = 'Synthetic prices made by bourse demo: not market data.';
const SYNTHETIC_CONTRACT = 'A synthetic contract made by bourse demo: none that is traded.';

/** Days that the demo spans. */
export const DEMO_DAYS = 731;

/** How much a minute moves, relative to the price; and the share of pre- and post-market minutes that trade. */
const MINUTE_MOVE = 0.0003;
const EXTENDED_SHARE = 0.25;
const EXTENDED_VOLUME = 0.03;

/** A small generator of numbers in [0, 1): mulberry32, seeded by text and number. */
function seeded(text: string, number: number): () => number {
  let state = number;
  for (const letter of text) state = Math.imul(state ^ letter.codePointAt(0)!, 0x5bd1e995) + 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The price at the end of a day: slow waves, and a step of its own for every day. */
function levelOf(sample: Sample, day: number): number {
  const phase = seeded(sample.symbol, 1)() * 2 * Math.PI;
  const wave =
    0.09 * Math.sin(day / 97 + phase) +
    0.04 * Math.sin(day / 23 + 2 * phase) +
    0.015 * Math.sin(day / 5 + 3 * phase);
  const scale = sample.assetSchema === 'forex' ? 0.25 : 1;
  return sample.price * Math.exp(scale * (wave + 0.012 * (seeded(sample.symbol, day)() - 0.5)));
}

/** Appends one session's minutes, pre- and post-market thinly. */
function appendSession(bars: Bars, sample: Sample, session: Session, previousDay: number): void {
  const next = seeded(sample.symbol, session.day * 2 + 1);
  const power = 10 ** sample.decimals;
  const first = session.segments[0]!.openMs;
  const total = (session.segments[session.segments.length - 1]!.closeMs - first) / MINUTE_MS;
  const [from, to] = [levelOf(sample, previousDay), levelOf(sample, session.day)];
  let walked = 0;
  let last = Math.round(from * power);
  reserve(bars, bars.count + total);
  for (const segment of session.segments) {
    for (let ms = segment.openMs; ms < segment.closeMs; ms += MINUTE_MS) {
      // The walk is drawn back to the line between the two days' levels.
      const share = (ms - first) / MINUTE_MS / total;
      walked = walked * 0.995 + (next() - 0.5) * 2 * MINUTE_MOVE * from;
      if (segment.kind !== 'regular' && next() > EXTENDED_SHARE) continue;
      const close = Math.round((from + (to - from) * share + walked) * power);
      const spread = Math.round(next() * MINUTE_MOVE * 0.6 * from * power);
      appendMinute(
        bars,
        sample,
        ms,
        last,
        close,
        spread,
        next,
        segment.kind === 'regular' ? 1 : EXTENDED_VOLUME,
      );
      last = close;
    }
  }
}

function appendMinute(
  bars: Bars,
  sample: Sample,
  ms: number,
  open: number,
  close: number,
  spread: number,
  next: () => number,
  share: number,
): void {
  const at = bars.count++;
  const power = 10 ** sample.decimals;
  const high = Math.max(open, close) + Math.floor(spread * next());
  const low = Math.min(open, close) - Math.floor(spread * next());
  bars.keyMs[at] = ms;
  bars.open[at] = open / power;
  bars.high[at] = high / power;
  bars.low[at] = low / power;
  bars.close[at] = close / power;
  if (sample.volumeDecimals === null) {
    bars.volume[at] = Number.NaN;
    bars.vwap[at] = Number.NaN;
    return;
  }
  const volumePower = 10 ** sample.volumeDecimals;
  bars.volume[at] =
    Math.round(sample.volumePerMinute * share * (0.2 + 1.6 * next()) * volumePower) / volumePower;
  bars.vwap[at] = Math.round(((high + low + close) / 3 / power) * 1e4) / 1e4;
}

/** All minutes of a sample whose sessions are labelled `[fromDay, toDay)`, a month of sessions at a time. */
function* minutesOf(sample: Sample, calendar: Calendar, fromDay: number, toDay: number): Generator<Bars> {
  const sessions = calendar.sessions(fromDay, toDay);
  let bars = emptyBars();
  for (const [index, session] of sessions.entries()) {
    appendSession(bars, sample, session, sessions[index - 1]?.day ?? session.day - 1);
    if (index % 20 !== 19 && index !== sessions.length - 1) continue;
    yield bars;
    bars = emptyBars();
  }
}

function dailyOf(calendar: Calendar, minutes: Bars): Bars {
  const segments = calendar.segments(minutes.keyMs[0]!, minutes.keyMs[minutes.count - 1]! + 1, false);
  return resample(periodCells(minutes, segments, 'DAY'));
}

async function loadBars(load: BarLoad, sample: Sample, code: string, bars: Bars): Promise<void> {
  const name = {
    assetSchema: sample.assetSchema,
    country: sample.country,
    symbol: sample.symbol,
    interval: interval(code),
    exchange: null,
  };
  const series = (await load.series(name))!;
  const values = valueColumns.map((column) => bars[column]);
  for (let from = 0; from < bars.count; ) {
    const bucket = Math.floor(bars.keyMs[from]! / series.bucketMs);
    const to = lowerBound(bars, (bucket + 1) * series.bucketMs);
    if (series.open?.bucket !== bucket) await load.turn(series, bucket);
    series.append(bars.keyMs, values, from, to);
    from = to;
  }
}

async function writeSample(
  writer: Writer,
  runId: number,
  load: BarLoad,
  sample: Sample,
  fromDay: number,
  toDay: number,
): Promise<number> {
  const name = { asset_schema: sample.assetSchema, country_iso_code: sample.country, symbol: sample.symbol };
  const about = { ...sample.about, name: `${sample.name} (synthetic)`, description: SYNTHETIC };
  await changeRow(writer, runId, instruments, null, { ...(await newInstrument(writer, name)), ...about });
  const calendar = calendarOf(sample.assetSchema, sample.country);
  let count = 0;
  for (const minutes of minutesOf(sample, calendar, fromDay, toDay)) {
    await loadBars(load, sample, '1M', minutes);
    await loadBars(load, sample, 'DAY', dailyOf(calendar, minutes));
    count += minutes.count;
  }
  return count;
}

/** Fills an empty store with the demo's instruments and bars, two years up to the day before `today`, and its events. */
export async function writeDemo(store: Store, today: number, nowMs: number): Promise<void> {
  await store.write(async (writer) => {
    const runId = await nextValue(writer, 'run_id', 1);
    const load = new BarLoad(writer, runId, 'raw');
    let rows = 0;
    for (const sample of samples)
      rows += await writeSample(writer, runId, load, sample, today - DEMO_DAYS, today);
    await writeDemoOptions(writer, runId, today, SYNTHETIC_CONTRACT);
    await writeDemoEvents(writer, runId, today);
    await writeDemoRows(writer, runId, today);
    await load.settle();
    await load.finish(nowMs);
    await writer.upsert(importRuns, [
      {
        run_id: runId,
        kind: 'import',
        dataset: 'bars',
        file: 'bourse demo',
        sha256: '0'.repeat(64),
        source: SYNTHETIC,
        rows_read: rows,
        rows_written: load.counts.written,
        rows_unchanged: 0,
        rows_refused: 0,
        started_ms: nowMs,
        finished_ms: nowMs,
        undone_ms: null,
      },
    ]);
    await nextValue(writer, 'data_version', 1);
  });
}

/** Whether a store holds the demo up to the day before `today`: it was finished on that day. */
export async function isCurrent(store: Store, today: number): Promise<boolean> {
  const [covered] = await store.snapshot((reader) =>
    reader.rows(barCoverage, {
      where: { asset_schema: 'crypto', country_iso_code: 'GLOBAL', interval: 'DAY' },
      order: [['interval', 'asc']],
      limit: 1,
    }),
  );
  return covered !== undefined && Math.floor(covered.finished_ms / DAY_MS) === today;
}
