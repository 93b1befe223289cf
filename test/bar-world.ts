// Bars of a real store, written past the imports, and what the query runner answers of them.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { encodeIds } from '../src/base/ascending.ts';
import { FIRST_MS, formatDay, MINUTE_MS, parseDay } from '../src/base/instant.ts';
import { historicalBars, latestBars } from '../src/contract/bars.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import type { ErrorFacts } from '../src/contract/errors.ts';
import { interval as intervalOf } from '../src/contract/interval.ts';
import { bucketOf } from '../src/market/bars/block.ts';
import { encodeBlock } from '../src/market/bars/block-writer.ts';
import { type Bars, emptyBars, lowerBound, sliceBars } from '../src/market/bars/columns.ts';
import { type PeriodInterval, periodStart } from '../src/market/calendar/period.ts';
import { QueryRunner } from '../src/queries/index.ts';
import type { Answer, QueryRequest } from '../src/queries/query.ts';
import { openBlock } from '../src/store/all-blocks.ts';
import { openStore } from '../src/store/engines.ts';
import { runSpans, series as seriesDataset } from '../src/store/schema/bars.ts';
import type { RowOf } from '../src/store/schema/dataset.ts';
import { blockChanges } from '../src/store/schema/internal.ts';
import { instruments } from '../src/store/schema/reference.ts';
import type { Store } from '../src/store/store.ts';
import { openToWrite, TestFolder } from './stores.ts';

type Values = { close: number; open?: number; high?: number; low?: number; volume?: number; vwap?: number };
/** A bar by its key: an instant with an offset, or a label date. */
export type Row = Values & { at: string };
/**
 * A series by its interval; `finished`: the instant through which it is complete; `prices`: raw where they
 * are not said.
 */
export type Stored = {
  interval: string;
  rows: readonly Row[];
  finished?: string;
  prices?: 'raw' | 'split' | 'all';
};
type Named = Partial<RowOf<typeof instruments>>;

/** A bar as it is served. */
export type BarRecord = {
  datetime: string;
  close_datetime: string;
  session_date?: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number | null;
  vwap: number | null;
  [field: string]: unknown;
};
type Page = { next_page_key: string | null; next_page_url: string | null; count: number; data: BarRecord[] };

const temporary = new TestFolder();
const opened: Store[] = [];
after(async () => {
  for (const store of opened) await store.close();
  temporary.close();
});

function columnsOf(rows: readonly Row[]): Bars {
  const bars = emptyBars(rows.length);
  bars.count = rows.length;
  const sorted = rows.map((row) => ({ ...row, keyMs: Date.parse(row.at) })).sort((a, b) => a.keyMs - b.keyMs);
  for (const [at, row] of sorted.entries()) {
    bars.keyMs[at] = row.keyMs;
    bars.open[at] = row.open ?? row.close;
    bars.high[at] = row.high ?? row.close;
    bars.low[at] = row.low ?? row.close;
    bars.close[at] = row.close;
    bars.volume[at] = row.volume ?? 10;
    bars.vwap[at] = row.vwap ?? Number.NaN;
  }
  return bars;
}

/** What is recorded of a run without bars. */
const runOf = (run_id: number, series_id: number, interval: string): RowOf<typeof runSpans> => ({
  ...{ run_id, market: 'stock/US_STOCK', interval, kind: 'import', started_ms: 0, sha256: String(run_id) },
  ...{ command: run_id, zone: null, first_ms: null, last_keys: [], from_ms: null, through_ms: null },
  ...{ reach_ms: 0, series_count: 1, series: encodeIds([series_id]) },
});

/** A store of its own with a writer and a reader, as an import and a server have them. */
export class World {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  readonly #writer: Store;
  readonly #runner: QueryRunner;
  #lastId = 0;

  private constructor(writer: Store, reader: Store) {
    this.#writer = writer;
    this.#runner = new QueryRunner(reader, new Uint8Array(32).fill(7));
  }

  static async create(): Promise<World> {
    const url = temporary.storeUrl(String(opened.length));
    const writer = await openToWrite(url);
    const reader = await openStore(url, 'read');
    opened.push(writer, reader);
    return new World(writer, reader);
  }

  async instrument(named: Named = {}, stored: readonly Stored[] = []): Promise<number> {
    const id = ++this.#lastId;
    const unknown = Object.fromEntries(Object.keys(instruments.columns).map((name) => [name, null]));
    const row = {
      ...unknown,
      asset_schema: 'stock',
      country_iso_code: 'US',
      symbol: 'AAPL',
      ...named,
      instrument_id: id,
      asset_id: id,
    } as RowOf<typeof instruments>;
    await this.#writer.write((writer) => writer.upsert(instruments, [row]));
    for (const [index, one] of stored.entries()) await this.store(id, id * 100 + index, one);
    return id;
  }

  /** Writes a whole series anew, and through when it is complete: by default long after. */
  async store(instrumentId: number, seriesId: number, stored: Stored): Promise<void> {
    const code = intervalOf(stored.interval);
    const bars = columnsOf(stored.rows);
    const keys = [...bars.keyMs];
    await this.#writer.write(async (writer) => {
      for (const bucket of new Set(keys.map((key) => bucketOf(code, key)))) {
        const inside = keys.filter((key) => bucketOf(code, key) === bucket);
        const from = lowerBound(bars, inside[0]!);
        const bytes = encodeBlock(sliceBars(bars, from, from + inside.length));
        await writer.putBlock(seriesId, { bucket, runId: seriesId, bytes });
      }
      await writer.upsert(seriesDataset, [
        {
          instrument_id: instrumentId,
          interval: code,
          series_id: seriesId,
          prices: stored.prices ?? 'raw',
          volumes: null,
          first_ms: keys[0]!,
          last_ms: keys[keys.length - 1]!,
          bar_count: keys.length,
          runs: encodeIds([seriesId]),
        },
      ]);
      const through = Date.parse(stored.finished ?? '2025-12-31T00:00:00Z');
      await writer.upsert(runSpans, [
        { ...runOf(seriesId, seriesId, code), started_ms: through, from_ms: FIRST_MS, through_ms: through },
      ]);
    });
  }

  /**
   * Makes the bars of a series of minutes from one key to another those of a run that began with the first of
   * them.
   */
  async leaveUnfinished(series_id: number, first_ms: number, last_ms: number): Promise<void> {
    await this.#writer.write(async (writer) => {
      const [row] = await writer.rows(seriesDataset, {
        where: { series_id },
        order: [['series_id', 'asc']],
        limit: 1,
      });
      const run_id = series_id + 1_000_000;
      const code = intervalOf(row!.interval);
      const late = { started_ms: first_ms, first_ms, last_keys: [last_ms], reach_ms: last_ms };
      await writer.upsert(runSpans, [{ ...runOf(run_id, series_id, code), ...late }]);
      await writer.upsert(seriesDataset, [{ ...row!, runs: encodeIds([series_id, run_id]) }]);
      for (const bucket of new Set([first_ms, last_ms].map((key) => bucketOf(code, key)))) {
        const keys: number[] = [];
        const read = { seriesId: series_id, fromBucket: bucket, toBucket: bucket, direction: 'asc' } as const;
        for (const block of await writer.blocks({ ...read, limit: 1 })) {
          const { bars } = openBlock(series_id, block);
          keys.push(...bars.keyMs.subarray(lowerBound(bars, first_ms), lowerBound(bars, last_ms + 1)));
          await writer.putBlock(series_id, { bucket, runId: run_id, bytes: block.bytes });
        }
        const rows = keys.map((key) => ({ at: new Date(key).toISOString(), close: 1 }));
        const added = encodeBlock(columnsOf(rows));
        await writer.upsert(blockChanges, [{ series_id, bucket, run_id, added, before: null }]);
      }
    });
  }

  /** Removes a block, as a damaged page loses it. */
  async loseBlock(seriesId: number, bucket: number): Promise<void> {
    await this.#writer.write((writer) => writer.putBlock(seriesId, { bucket, bytes: null }));
  }

  /** Changes one byte in each of a series' blocks. */
  async damage(seriesId: number): Promise<void> {
    await this.#writer.write(async (writer) => {
      const read = { seriesId, fromBucket: 0, toBucket: 100_000, direction: 'asc', limit: 10 } as const;
      for (const block of await writer.blocks(read)) {
        const bytes = Uint8Array.from(block.bytes);
        bytes[30]! ^= 1;
        await writer.putBlock(seriesId, { ...block, bytes });
      }
    });
  }

  run(
    endpoint: 'historicalBars' | 'latestBars',
    raw: Record<string, string>,
    wrapCsv = false,
  ): Promise<Answer> {
    const texts = new Map(Object.entries({ schema_asset: 'stock', country_symbol: 'US:AAPL', ...raw }));
    const parameters =
      endpoint === 'latestBars' ? parseParameters(latestBars, texts) : parseParameters(historicalBars, texts);
    const request: QueryRequest = { endpoint, parameters, nowMs: this.nowMs, wrapCsv };
    return this.#runner.run(request);
  }

  async history(
    interval: string,
    from: string,
    to: string,
    rest: Record<string, string> = {},
  ): Promise<Page> {
    const raw = { interval, from_date: from, to_date: to, limit: '1000', ...rest };
    return page(await this.run('historicalBars', raw));
  }

  async latest(interval: string, rest: Record<string, string> = {}): Promise<Page> {
    return page(await this.run('latestBars', { interval, ...rest }));
  }
}

/** The page that an answer is. Fails where it is none. */
export function page(answer: Answer): Page {
  assert.equal(answer.kind, 'answer', answer.kind === 'refusal' ? answer.facts.message : '');
  if (answer.kind !== 'answer') throw new Error('unreachable');
  const { body, next } = answer;
  // The request handler writes the next page's address where the query left room for it.
  const result = (JSON.parse(Buffer.from(body).toString()) as { result: Page }).result;
  assert.equal(result.count, result.data.length);
  assert.equal(next?.key ?? null, result.next_page_key ?? null);
  return result;
}

/** The refusal that an answer is. Fails where it is none. */
export async function refusal(answer: Promise<Answer>): Promise<ErrorFacts & { word: string }> {
  const found = await answer;
  if (found.kind !== 'refusal') assert.fail('it was not refused');
  return { word: found.word, ...found.facts };
}

/** The date that a period's bar is stored under: the session, the Monday, the first of the month. */
export const keyDate = (interval: string, label: string): string =>
  formatDay(periodStart(interval as PeriodInterval, parseDay(label)!));

/** Opens in UTC, `03-03 14:30`, and the closing prices. */
export const opens = ({ data }: Page): [open: string, close: number][] =>
  data.map((record) => [record.datetime.slice(5, 16).replace('T', ' '), record.close]);
/** The closing prices. */
export const closes = ({ data }: Page): number[] => data.map((record) => record.close);

/** Bars every `step` minutes from an instant, of closing prices that count up from `first`. */
export function every(step: number, from: string, count: number, first: number): Row[] {
  return Array.from({ length: count }, (_, index) => ({
    at: new Date(Date.parse(from) + index * step * MINUTE_MS).toISOString(),
    close: first + index,
  }));
}

/** Rows of DAY and above, by label date. */
export const days = (...rows: readonly (readonly [date: string, close: number])[]): Row[] =>
  rows.map(([at, close]) => ({ at, close }));

/** The regular open of a Monday. New York was at UTC-5 up to 2025-03-08: regular hours 14:30 to 21:00. */
export const DAY_OPEN = '2025-03-03T09:30:00-05:00';

/** Every minute, extended hours included, of three days. */
export const sessionRows = every(1, '2025-03-03T04:00:00-05:00', 960, 0).concat(
  every(1, '2025-03-04T04:00:00-05:00', 960, 1000),
  every(1, '2025-03-10T04:00:00-04:00', 960, 2000),
);

/** The open of a day in winter. */
export const dated = (label: string): string => `${label}T14:30:00+00:00`;

/** Everything that walking the pages gives, page by page. */
export async function walk(world: World, raw: Record<string, string>): Promise<BarRecord[][]> {
  const pages: BarRecord[][] = [];
  let next_page_key = '';
  do {
    const found = page(await world.run('historicalBars', { ...raw, next_page_key }));
    pages.push(found.data);
    next_page_key = found.next_page_key ?? '';
    assert.ok(pages.length < 100);
  } while (next_page_key !== '');
  return pages;
}
