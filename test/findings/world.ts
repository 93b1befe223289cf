// Random daily bars without faults, into which tests plant them, and the findings of a store by a short name.

import { importFile } from '../../src/imports/load/importers.ts';
import { calendarOf } from '../../src/market/calendar/calendar.ts';
import type { Finding, FindingKind } from '../../src/queries/findings/finding.ts';
import { instrumentsIn, storeFindings } from '../../src/queries/findings/store-findings.ts';
import { openStore } from '../../src/store/engines.ts';
import type { Random } from '../fuzz/random.ts';
import { type FileRow, opened, rowsFile } from '../importing.ts';
import { openToWrite, type TestFolder } from '../stores.ts';

const DAY_MS = 86_400_000;
export const NOW_MS = Date.parse('2025-06-01T00:00:00Z');

/** A bar of a file that a test may change. */
export type Bar = {
  day: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  vwap: number | null;
};

export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
export const dayOf = (date: string): number => Date.parse(date) / DAY_MS;

/** The label dates of the US stock market's sessions from one date to before another. */
export const sessionsOf = (from: string, to: string): number[] =>
  calendarOf('stock', 'US')
    .sessions(dayOf(from), dayOf(to))
    .map(({ day }) => day);

const cents = (value: number): number => Math.round(value * 100) / 100;

/** A price of two decimals, not fewer, a few cents above or below another. */
export function beyond(price: number, direction: 1 | -1): number {
  const value = Math.round(price * 100) + 2 * direction;
  return (value % 10 === 0 ? value + direction : value) / 100;
}

/** About the standard normal distribution: a sum of twelve. */
const normal = (random: Random): number =>
  Array.from({ length: 12 }, () => random.next()).reduce((a, b) => a + b) - 6;

/** A price that moves by about one percent a day, and never repeats a bar. */
export function walk(random: Random, days: readonly number[]): Bar[] {
  let price = 80 + random.below(80);
  return days.map((day, at) => {
    // Back to the middle, so that cents stay small against the price.
    price *= Math.exp(0.01 * normal(random) - 0.01 * Math.log(price / 100));
    const open = cents(price * Math.exp(0.002 * normal(random)));
    const close = cents(price);
    const high = cents(Math.max(open, close) * Math.exp(0.004 * random.next() + 0.001));
    const low = cents(Math.min(open, close) * Math.exp(-0.004 * random.next() - 0.001));
    return { day, open, high, low, close, volume: 1_000_000 + at, vwap: null };
  });
}

/** Multiplies the prices of bars. */
export function scale(bars: readonly Bar[], factor: number): void {
  for (const bar of bars)
    for (const column of ['open', 'high', 'low', 'close'] as const)
      bar[column] = Math.round(bar[column] * factor * 1e6) / 1e6;
}

/** Places in a list of `count`, at least `apart` from each other and from its ends. */
export function placesIn(random: Random, count: number, many: number, apart: number): number[] {
  const room = Math.floor((count - 2 * apart) / many);
  return Array.from({ length: many }, (_, at) => apart + at * room + random.below(room - apart));
}

export const rowsOfBars = (symbol: string, bars: readonly Bar[]): FileRow[] =>
  bars.map(({ day, ...values }) => ({
    ...{ asset_schema: 'stock', country_iso_code: 'US', symbol, interval: 'DAY', datetime: dateOf(day) },
    ...values,
  }));

/** A store that a test fills file by file and then checks. */
export class CheckedStore {
  readonly #folder: TestFolder;
  readonly url: string;

  constructor(folder: TestFolder, name: string) {
    this.#folder = folder;
    this.url = folder.storeUrl(name);
  }

  /** Imports each list of rows as a file. */
  async fill(
    dataset: string,
    files: readonly (readonly FileRow[])[],
    source: string | null = null,
  ): Promise<number[]> {
    const store = await openToWrite(this.url);
    const runs: number[] = [];
    for (const rows of files) {
      const file = await opened(rowsFile(this.#folder.path(`${dataset}.ndjson`), rows));
      const about = {
        flags: new Map<string, string>(),
        zone: null,
        basis: 'raw' as const,
        source,
        dryRun: false,
      };
      const report = await importFile(store, dataset, { file, ...about, nowMs: () => NOW_MS });
      await file.close();
      if (report.rowsRefused > 0) throw new Error(JSON.stringify(report.refused));
      runs.push(report.runId!);
    }
    await store.close();
    return runs;
  }

  /** All findings, with the symbols of their instruments. */
  async check() {
    const store = await openStore(this.url, 'read');
    const options = {
      ...{ nowMs: NOW_MS, onBars: () => undefined, onOthers: () => undefined },
      onDamage: (damage: unknown) => {
        throw new Error(JSON.stringify(damage));
      },
    };
    const found: (Finding & { readonly symbol: string })[] = [];
    await store.snapshot(async (reader) => {
      for await (const { instrument, findings } of storeFindings(reader, instrumentsIn(reader, {}), options))
        found.push(...findings.map((finding) => ({ symbol: instrument.symbol, ...finding })));
    });
    await store.close();
    return found;
  }

  /** The findings of a kind: symbol, first and last date in New York, sorted. */
  async places(kind: FindingKind): Promise<string[]> {
    const found = await this.check();
    return found
      .filter((finding) => finding.kind === kind)
      .map(({ symbol, fromMs, toMs }) => `${symbol} ${newYorkDate(fromMs)} ${newYorkDate(toMs - 1)}`)
      .sort();
  }
}

const newYork = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' });

/** The date of an instant in New York. */
export const newYorkDate = (ms: number): string => newYork.format(ms);
