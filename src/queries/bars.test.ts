// Bars in process: from a real SQLite store through the query runner (contract 2, 3, 4, 6).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { TestFolder } from '../../test/stores.ts';
import { encodeBlock } from '../bars/block-writer.ts';
import { bucketOf } from '../bars/bucket.ts';
import { type Bars, emptyBars, lowerBound, sliceBars } from '../bars/columns.ts';
import { formatDay, MINUTE_MS, parseDay } from '../base/instant.ts';
import { type PeriodInterval, periodStart } from '../calendar/period.ts';
import { historicalBars, latestBars } from '../contract/bars.ts';
import { parseParameters } from '../contract/endpoint.ts';
import type { ErrorFacts } from '../contract/errors.ts';
import { interval as intervalOf } from '../contract/interval.ts';
import type { Parameter } from '../contract/parameter.ts';
import { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import { openStore } from '../store/engines.ts';
import type { Store } from '../store/store.ts';
import { QueryRunner } from './index.ts';
import type { Answer, QueryRequest } from './query.ts';

type Values = { close: number; open?: number; high?: number; low?: number; volume?: number; vwap?: number };
/** A bar by its key: an instant with an offset, or a label date. */
type Row = Values & { at: string };
type Stored = { interval: string; rows: readonly Row[]; offGrid?: boolean; finished?: string };
type Named = Partial<RowOf<typeof instruments>>;

type BarRecord = {
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

/** A store of its own with a writer and a reader, as an import and a server have them. */
class World {
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
    const writer = await openStore(url, 'write');
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
        await writer.putBlock(seriesId, { bucket, runId: 1, bytes });
      }
      await writer.upsert(seriesDataset, [
        {
          instrument_id: instrumentId,
          interval: code,
          series_id: seriesId,
          prices: 'raw',
          volumes: null,
          first_ms: keys[0]!,
          last_ms: keys[keys.length - 1]!,
          bar_count: keys.length,
          off_grid: stored.offGrid ?? false,
          complete_ms: Date.parse(stored.finished ?? '2025-12-31T00:00:00Z'),
          complete_run_id: null,
        },
      ]);
    });
  }

  /** Changes one byte in each of a series' blocks. */
  async loseBlock(seriesId: number, bucket: number): Promise<void> {
    await this.#writer.write((writer) => writer.removeBlock(seriesId, bucket));
  }

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

function page(answer: Answer): Page {
  assert.equal(answer.kind, 'answer', answer.kind === 'refusal' ? answer.facts.message : '');
  if (answer.kind !== 'answer') throw new Error('unreachable');
  const { body, next } = answer;
  // The request handler writes the next page's address where the query left room for it.
  const result = (JSON.parse(Buffer.from(body).toString()) as { result: Page }).result;
  assert.equal(result.count, result.data.length);
  assert.equal(next?.key ?? null, result.next_page_key ?? null);
  return result;
}

async function refusal(answer: Promise<Answer>): Promise<ErrorFacts & { word: string }> {
  const found = await answer;
  if (found.kind !== 'refusal') assert.fail('it was not refused');
  return { word: found.word, ...found.facts };
}

/** The date that a period's bar is stored under: the session, the Monday, the first of the month. */
const keyDate = (interval: string, label: string): string =>
  formatDay(periodStart(interval as PeriodInterval, parseDay(label)!));

/** Opens in UTC, `03-03 14:30`, and the closing prices. */
const opens = ({ data }: Page): [open: string, close: number][] =>
  data.map((record) => [record.datetime.slice(5, 16).replace('T', ' '), record.close]);
const closes = ({ data }: Page): number[] => data.map((record) => record.close);

/** Bars every `step` minutes from an instant, of closing prices that count up from `first`. */
function every(step: number, from: string, count: number, first: number): Row[] {
  return Array.from({ length: count }, (_, index) => ({
    at: new Date(Date.parse(from) + index * step * MINUTE_MS).toISOString(),
    close: first + index,
  }));
}

const days = (...rows: readonly (readonly [date: string, close: number])[]): Row[] =>
  rows.map(([at, close]) => ({ at, close }));

// New York was at UTC-5 up to 2025-03-08: regular hours 14:30 to 21:00.
const DAY_OPEN = '2025-03-03T09:30:00-05:00';

test('a bar has the fields of spec 2.10 in order, in upper case, null where nothing is known', async () => {
  const world = await World.create();
  const row = { at: DAY_OPEN, open: 1.5, high: 2.25, low: 1, close: 2, volume: 0.5 };
  await world.instrument({}, [{ interval: '1M', rows: [row] }]);
  const { data } = await world.history('1m', '2025-03-03', '2025-03-03', { session_date: 'true' });
  assert.equal(
    JSON.stringify(data),
    '[{"asset_schema":"STOCK","interval":"1M","country_iso_code":"US","exchange":null,"symbol":"AAPL",' +
      '"datetime":"2025-03-03T14:30:00+00:00","close_datetime":"2025-03-03T14:31:00+00:00",' +
      '"session_date":"2025-03-03","open":1.5,"high":2.25,"low":1,"close":2,"volume":0.5,"vwap":null}]',
  );
});

test('session_date is there only when it is asked for, and is the label where the UTC date is the day before (contract 3.7, 9.5)', async () => {
  const world = await World.create();
  const forex = { asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: 'EURUSD', exchange: 'GLOBAL' };
  await world.instrument(forex, [{ interval: '1M', rows: every(1, '2025-03-02T17:00:00-05:00', 1, 1) }]);
  const named = { schema_asset: 'forex', country_symbol: 'global:eurusd' };
  const [bare] = (await world.latest('1M', named)).data;
  const [dated] = (await world.latest('1M', { ...named, session_date: 'yes' })).data;
  assert.equal(bare!.datetime, '2025-03-02T22:00:00+00:00');
  assert.ok(!('session_date' in bare!));
  assert.equal(dated!.session_date, '2025-03-03');
});

test('a derived bar has the first open, last close, extremes, summed volume and weighted vwap (contract 3.8)', async () => {
  const world = await World.create();
  const rows: Row[] = [
    { at: '2025-03-03T09:30:00-05:00', open: 10, high: 12, low: 9, close: 11, volume: 0.1, vwap: 10 },
    { at: '2025-03-03T09:34:00-05:00', open: 11, high: 15, low: 11, close: 14, volume: 0.2, vwap: 13 },
  ];
  await world.instrument({}, [{ interval: '1M', rows }]);
  const [bar] = (await world.history('5M', '2025-03-03', '2025-03-03')).data;
  const { open, high, low, close, volume, vwap, close_datetime } = bar!;
  assert.deepEqual([open, high, low, close, volume, vwap], [10, 15, 9, 14, 0.3, 12]);
  assert.equal(close_datetime, '2025-03-03T14:35:00+00:00');
});

test('stored bars win over derived ones, and a hole in them stays a hole (contract 3.8)', async () => {
  const world = await World.create();
  const fives = every(5, DAY_OPEN, 3, 500).filter((row) => row.close !== 501);
  await world.instrument({}, [
    { interval: '5M', rows: fives },
    { interval: '1M', rows: every(1, DAY_OPEN, 15, 100) },
  ]);
  assert.deepEqual(opens(await world.history('5M', '2025-03-03', '2025-03-03')), [
    ['03-03 14:30', 500],
    ['03-03 14:40', 502],
  ]);
  assert.deepEqual(closes(await world.history('15M', '2025-03-03', '2025-03-03')), [502]);
});

for (const sort of ['asc', 'desc']) {
  test(`outside the span of the stored series the next finer one serves, sorted ${sort} (contract 3.8)`, async () => {
    const world = await World.create();
    await world.instrument({}, [
      { interval: '15M', rows: every(15, '2025-03-03T10:00:00-05:00', 2, 1500) },
      { interval: '5M', rows: every(5, '2025-03-03T09:45:00-05:00', 15, 500) },
      { interval: '1M', rows: every(1, DAY_OPEN, 120, 100) },
    ]);
    const expected = [
      ['03-03 14:30', 114],
      ['03-03 14:45', 502],
      ['03-03 15:00', 1500],
      ['03-03 15:15', 1501],
      ['03-03 15:30', 511],
      ['03-03 15:45', 514],
      ['03-03 16:00', 204],
      ['03-03 16:15', 219],
    ];
    const served = await world.history('15M', '2025-03-03', '2025-03-03', { sort });
    assert.deepEqual(opens(served), sort === 'asc' ? expected : expected.reverse());
  });
}

test('a bar that the coarser base fills only in part comes whole from the finer one that reaches it (contract 3.8)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    { interval: '5M', rows: every(5, '2025-03-03T09:40:00-05:00', 4, 500) },
    { interval: '1M', rows: every(1, DAY_OPEN, 60, 100) },
  ]);
  // The 5M series reaches from 09:40 to 10:00: of the 15M bars it fills the second alone.
  assert.deepEqual(opens(await world.history('15M', '2025-03-03', '2025-03-03')), [
    ['03-03 14:30', 114],
    ['03-03 14:45', 503],
    ['03-03 15:00', 144],
    ['03-03 15:15', 159],
  ]);
});

test('without a finer series a bar filled in part is made of what there is (contract 3.8)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '5M', rows: every(5, '2025-03-03T09:40:00-05:00', 2, 500) }]);
  assert.deepEqual(opens(await world.history('15M', '2025-03-03', '2025-03-03')), [
    ['03-03 14:30', 500],
    ['03-03 14:45', 501],
  ]);
});

const bases: readonly (readonly [asked: string, base: number])[] = [
  ['60M', 30],
  ['90M', 30],
  ['15M', 5],
  ['10M', 5],
  ['7M', 1],
  ['45M', 5],
  ['1440M', 30],
  ['DAY', 30],
];
for (const [asked, base] of bases) {
  test(`${asked} is derived from ${base}M, the coarsest stored interval that divides it (contract 3.8)`, async () => {
    const world = await World.create();
    const stored = [1, 5, 30].map((minutes) => ({
      interval: `${minutes}M`,
      rows: every(minutes, DAY_OPEN, 390 / minutes, 0).map((row) => ({ ...row, close: minutes })),
    }));
    await world.instrument({}, stored);
    const served = closes(await world.history(asked, '2025-03-03', '2025-03-03'));
    assert.deepEqual([...new Set(served)], [base]);
  });
}

test('whatever coarser series stand beside complete minutes, the same bars are served (contract 3.8)', async () => {
  // Ten sessions around the early close of 2024-11-29: a minute in about seven, all segments, some sessions empty.
  const rows = every(1, '2024-11-21T04:00:00-05:00', 20 * 1440, 0).filter(
    (_, minute) => (minute * 2_654_435_761) % 7 < 1 && Math.floor(minute / 1440) % 5 !== 2,
  );
  const minutes = {
    interval: '1M',
    rows: rows.map((row, at) => ({ ...row, close: 1 + (at % 89), volume: at % 7 })),
  };
  const plain = await World.create();
  await plain.instrument({}, [minutes]);
  const range = ['2024-11-01', '2024-12-31'] as const;
  const whole = async (world: World, interval: string, is_eth: string) => {
    const bars: Omit<BarRecord, 'vwap'>[] = [];
    const raw = { interval, is_eth, limit: '1000', from_date: range[0], to_date: range[1] };
    for (const { vwap: _, ...bar } of (await walk(world, raw)).flat()) bars.push(bar);
    return bars;
  };
  const bounds = fc.tuple(fc.nat(1000), fc.nat(1000));
  const coarser = fc.dictionary(
    fc.constantFrom('3M', '5M', '15M', '30M', '60M', '240M', 'DAY', 'WEEK', 'MON'),
    bounds,
    {
      minKeys: 1,
      maxKeys: 4,
    },
  );
  await fc.assert(
    fc.asyncProperty(coarser, fc.constantFrom('true', 'false'), async (spans, is_eth) => {
      const stored: Stored[] = [minutes];
      for (const [interval, [a, b]] of Object.entries(spans)) {
        const period = !interval.endsWith('M');
        const { data } = await plain.history(interval, ...range, {
          is_eth: String(!period),
          session_date: 'true',
        });
        const [from, to] = [Math.min(a, b) % data.length, Math.max(a, b) % data.length];
        const part = data.slice(Math.min(from, to), Math.max(from, to) + 1);
        const at = ({ session_date, datetime }: BarRecord) =>
          period ? keyDate(interval, session_date!) : datetime;
        stored.push({ interval, rows: part.map((bar) => ({ ...bar, at: at(bar) }) as Row) });
      }
      const world = await World.create();
      await world.instrument({}, stored);
      for (const asked of ['3M', '15M', '45M', '60M', '240M', 'DAY', 'WEEK', 'MON']) {
        assert.deepEqual(
          await whole(world, asked, is_eth),
          await whole(plain, asked, is_eth),
          `${asked} ${is_eth}`,
        );
      }
    }),
    { numRuns: 25 },
  );
});

test('a finer series that reaches no further than the coarser one takes nothing from it (contract 3.8)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    { interval: 'DAY', rows: days(['2025-03-05', 1000]) },
    { interval: '30M', rows: every(30, '2025-03-05T09:30:00-05:00', 13, 300) },
    // Pre- and post-market minutes do not reach further into regular hours.
    { interval: '1M', rows: every(1, '2025-03-05T04:00:00-05:00', 960, 0) },
  ]);
  // Week and month begin before the one session and end after it, in every series alike.
  for (const asked of ['WEEK', 'MON']) assert.deepEqual(closes(await world.latest(asked)), [1000], asked);
});

test('months of minutes are folded whole, however many steps they are read in (contract 3.6, 3.8)', async () => {
  const world = await World.create();
  const crypto = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD' };
  await world.instrument(crypto, [{ interval: '1M', rows: every(1, '2025-01-01T00:00:00Z', 90 * 1440, 0) }]);
  const named = { schema_asset: 'crypto', country_symbol: 'GLOBAL:BTCUSD' };
  const expected = [31, 28, 31].map((length) => length * 14_400);
  for (const sort of ['asc', 'desc']) {
    const { data } = await world.history('MON', '2025-01-01', '2025-12-31', { ...named, sort });
    const volumes = data.map((bar) => bar.volume);
    assert.deepEqual(sort === 'asc' ? volumes : volumes.reverse(), expected);
  }
});

test('a series off the session grid is served at its own interval as imported, and never derived from (contract 3.10)', async () => {
  const world = await World.create();
  const hours = [
    ...every(60, '2025-03-03T10:00:00-05:00', 6, 60),
    ...every(60, '2025-03-03T15:30:00-05:00', 1, 66),
  ];
  await world.instrument({}, [{ interval: '60M', rows: hours, offGrid: true }]);
  const { data } = await world.history('60M', '2025-03-03', '2025-03-03');
  assert.deepEqual(
    data.map((bar) => `${bar.datetime.slice(11, 16)}-${bar.close_datetime.slice(11, 16)}`),
    // The end is the nominal one, though the session ends before it.
    ['15:00-16:00', '16:00-17:00', '17:00-18:00', '18:00-19:00', '19:00-20:00', '20:00-21:00', '20:30-21:30'],
  );
  for (const asked of ['120M', 'DAY', 'WEEK', 'MON']) {
    for (const is_eth of ['true', 'false']) assert.equal((await world.latest(asked, { is_eth })).count, 0);
  }
});

test('intraday bars outside every asked segment are not served (contract 3.5, 3.10)', async () => {
  const world = await World.create();
  const at = ['03:59', '04:00', '09:29', '09:30', '15:59', '16:00', '19:59', '20:00'];
  const rows = at.map((clock, close) => ({ at: `2025-03-03T${clock}:00-05:00`, close }));
  await world.instrument({}, [
    { interval: '1M', rows: [...rows, { at: '2025-03-08T12:00:00-05:00', close: 9 }] },
  ]);
  assert.deepEqual(closes(await world.latest('1M')), [3, 4]);
  assert.deepEqual(closes(await world.latest('1M', { is_eth: 'true' })), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(closes(await world.latest('30M', { is_eth: '1' })), [1, 2, 3, 4, 5, 6]);
});

test('a bar never mixes segments, and an early close cuts the bar that meets it (contract 3.3, 3.4)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, '2024-11-29T09:00:00-05:00', 300, 0) }]);
  const hours = async (is_eth: string): Promise<string[]> =>
    (await world.history('60M', '2024-11-29', '2024-11-29', { is_eth })).data.map(
      (bar) => `${bar.datetime.slice(11, 16)}-${bar.close_datetime.slice(11, 16)}`,
    );
  const regular = ['14:30-15:30', '15:30-16:30', '16:30-17:30', '17:30-18:00'];
  assert.deepEqual(await hours('false'), regular);
  assert.deepEqual(await hours('true'), ['14:00-14:30', ...regular, '18:00-19:00']);
});

test('only bars that closed by now are served, by latest and by history alike (contract 3.9)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '5M', rows: every(5, DAY_OPEN, 4, 1) }]);
  const cases = [
    ['14:34:59.999', []],
    ['14:35:00', [1]],
    ['14:44:59', [1, 2]],
    ['14:50:00', [1, 2, 3, 4]],
  ] as const;
  for (const [clock, expected] of cases) {
    world.nowMs = Date.parse(`2025-03-03T${clock}Z`);
    assert.deepEqual(closes(await world.latest('5M')), expected);
    for (const sort of ['asc', 'desc']) {
      const served = closes(await world.history('5M', '2025-03-03', '2025-03-04', { sort }));
      assert.deepEqual(served, sort === 'asc' ? expected : [...expected].reverse());
    }
  }
});

const importEnds: readonly (readonly [asked: string, finished: string, count: number])[] = [
  ['5M', '2025-03-03T12:01:59-05:00', 30],
  ['5M', '2025-03-03T12:05:00-05:00', 31],
  ['60M', '2025-03-03T12:02:00-05:00', 2],
  ['DAY', '2025-03-03T12:02:00-05:00', 0],
  ['DAY', '2025-03-03T15:59:59-05:00', 0],
  ['DAY', '2025-03-03T16:00:00-05:00', 1],
  ['WEEK', '2025-03-07T15:59:59-05:00', 0],
  ['WEEK', '2025-03-07T16:00:00-05:00', 1],
  ['MON', '2025-03-31T15:59:59-04:00', 0],
  ['MON', '2025-03-31T16:00:00-04:00', 1],
];
for (const [asked, finished, count] of importEnds) {
  test(`minutes imported until ${finished} make ${count} finished ${asked} bars (contract 3.9)`, async () => {
    const world = await World.create();
    await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 152, 1), finished }]);
    assert.equal((await world.latest(asked)).count, count);
    assert.equal((await world.history(asked, '2025-03-03', '2025-03-04')).count, count);
    assert.equal((await world.history(asked, '2025-03-03', '2025-03-04', { sort: 'desc' })).count, count);
  });
}

test('a stored bar needs no coverage beyond now, a derived one does (contract 3.9)', async () => {
  const world = await World.create();
  const finished = '2025-03-03T12:00:00-05:00';
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 390, 1), finished }]);
  assert.equal((await world.history('1M', '2025-03-03', '2025-03-03')).count, 390);
  assert.equal((await world.history('5M', '2025-03-03', '2025-03-03')).count, 30);
});

test('an extended DAY derived from one interval is finished by the imports of that interval, not of another (contract 3.9)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    // Imported at midday; the 1M series of this instrument ended a week before, those of others go on.
    { interval: '5M', rows: every(5, DAY_OPEN, 30, 500), finished: '2025-03-03T12:00:00-05:00' },
    {
      interval: '1M',
      rows: every(1, '2025-02-24T09:30:00-05:00', 390, 100),
      finished: '2025-03-05T00:00:00Z',
    },
  ]);
  world.nowMs = Date.parse('2025-03-05T00:00:00Z');
  for (const is_eth of ['false', 'true']) {
    assert.deepEqual(closes(await world.latest('DAY', { is_eth })), [489]);
  }
});

test('a series that ended long before a bar began does not hold it back (contract 3.9)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    {
      interval: '5M',
      rows: every(5, '2025-03-07T09:30:00-05:00', 78, 500),
      finished: '2025-03-08T02:00:00Z',
    },
    {
      interval: '1M',
      rows: every(1, '2025-02-24T09:30:00-05:00', 390, 100),
      finished: '2025-02-25T02:00:00Z',
    },
  ]);
  for (const is_eth of ['false', 'true']) {
    assert.deepEqual(closes(await world.latest('DAY', { is_eth })), [489, 577]);
    assert.deepEqual(closes(await world.latest('WEEK', { is_eth })), [577]);
  }
});

test('latest gives the newest bars in ascending order (contract 3.11)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 390, 0) }]);
  assert.deepEqual(closes(await world.latest('1M', { limit: '3' })), [387, 388, 389]);
  assert.deepEqual(closes(await world.latest('15M', { limit: '2' })), [374, 389]);
  assert.equal((await world.latest('1M')).count, 150);
});

const sessionRows = every(1, '2025-03-03T04:00:00-05:00', 960, 0).concat(
  every(1, '2025-03-04T04:00:00-05:00', 960, 1000),
  every(1, '2025-03-10T04:00:00-04:00', 960, 2000),
);

type RangeCase = readonly [
  interval: string,
  from: string,
  to: string,
  eth: boolean,
  first: string,
  last: string,
  count: number,
];
const intradayRanges: readonly RangeCase[] = [
  ['1M', '2025-03-03', '2025-03-03', false, '03-03 14:30', '03-03 20:59', 390],
  ['1M', '2025-03-03', '2025-03-03', true, '03-03 09:00', '03-04 00:59', 960],
  ['1M', '2025-03-04', '2025-03-09', true, '03-04 09:00', '03-05 00:59', 960],
  ['1M', '2025-03-10', '2025-03-10', true, '03-10 08:00', '03-10 23:59', 960],
  ['1M', '2025-03-03T14:30:00Z', '2025-03-03T14:35:00Z', false, '03-03 14:30', '03-03 14:35', 6],
  ['1M', '2025-03-03T14:30:00.001Z', '2025-03-03T14:34:59.999Z', false, '03-03 14:31', '03-03 14:34', 4],
  ['1M', '2025-03-03 09:30:00-05:00', '2025-03-03 15:35:00 01:00', false, '03-03 14:30', '03-03 14:35', 6],
  ['1M', '2025-03-04T00:00:00', '2025-03-04 00:02:00', true, '03-04 00:00', '03-04 00:02', 3],
  ['60M', '2025-03-03T14:31:00', '2025-03-03T16:30:00', false, '03-03 15:30', '03-03 16:30', 2],
  ['60M', '2025-03-03', '2025-03-03', false, '03-03 14:30', '03-03 20:30', 7],
  ['240M', '2025-03-03T18:30:00Z', '2025-03-03T18:30:00Z', false, '03-03 18:30', '03-03 18:30', 1],
];

test('bounds of intraday bars are inclusive on the open, and dates are those of the market (contract 2.1, 2.2, 2.3)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: sessionRows }]);
  for (const [interval, from, to, eth, first, last, count] of intradayRanges) {
    for (const sort of ['asc', 'desc']) {
      const found = opens(await world.history(interval, from, to, { is_eth: String(eth), sort }));
      const ends = [found[0]?.[0], found.at(-1)?.[0]];
      assert.deepEqual(
        [...(sort === 'asc' ? ends : ends.reverse()), found.length],
        [first, last, count],
        `${interval} ${from} ${to} ${sort}`,
      );
    }
  }
});

test('a date alone is a UTC date for GLOBAL markets (contract 2.3)', async () => {
  const world = await World.create();
  const forex = { asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: 'EURUSD' };
  await world.instrument(forex, [{ interval: '60M', rows: every(60, '2025-03-03T17:00:00-05:00', 72, 0) }]);
  const found = opens(
    await world.history('60M', '2025-03-04', '2025-03-04', {
      schema_asset: 'forex',
      country_symbol: 'GLOBAL:EURUSD',
    }),
  );
  assert.deepEqual([found[0]![0], found.at(-1)![0], found.length], ['03-04 00:00', '03-04 23:00', 24]);
});

/** Sessions of two months; 2025-02-17 was Presidents' Day, so that week is labelled by its Tuesday. */
const dailyRows = days(
  ['2025-01-31', 131],
  ['2025-02-03', 203],
  ['2025-02-14', 214],
  ['2025-02-18', 218],
  ['2025-02-21', 221],
  ['2025-02-28', 228],
  ['2025-03-03', 303],
);
const dated = (label: string): string => `${label}T14:30:00+00:00`;

const labelRanges: readonly (readonly [interval: string, from: string, to: string, labels: string[]])[] = [
  ['DAY', '2025-02-14', '2025-02-18', ['2025-02-14', '2025-02-18']],
  ['DAY', '2025-02-14 00:00:00', '2025-02-18 00:00:00', ['2025-02-14', '2025-02-18']],
  ['DAY', '2025-02-14T00:00:00', '2025-02-18T00:00:00', ['2025-02-14', '2025-02-18']],
  ['DAY', '2025-02-14', '2025-02-14', ['2025-02-14']],
  ['DAY', '2025-02-14', '2025-02-14 00:00:00', ['2025-02-14']],
  ['DAY', '2025-02-14 00:00:00', '2025-02-14', ['2025-02-14']],
  ['DAY', '2025-02-14 00:00:00', '2025-02-14 00:00:00', ['2025-02-14']],
  // With an offset, or at another time, a bound is an instant and is compared with the open at 14:30.
  ['DAY', '2025-02-14T00:00:00Z', '2025-02-18T00:00:00Z', ['2025-02-14']],
  ['DAY', '2025-02-14T14:30:00Z', '2025-02-18T14:30:00Z', ['2025-02-14', '2025-02-18']],
  ['DAY', '2025-02-14T14:30:01Z', '2025-02-18T14:29:59', []],
  ['DAY', '2025-02-14T09:30:00-05:00', '2025-02-18', ['2025-02-14', '2025-02-18']],
  ['WEEK', '2025-02-18', '2025-02-18', ['2025-02-18']],
  ['WEEK', '2025-02-17', '2025-02-17', []],
  ['WEEK', '2025-02-10', '2025-02-23', ['2025-02-10', '2025-02-18']],
  ['WEEK', '2025-02-18 00:00:00', '2025-02-24 00:00:00', ['2025-02-18', '2025-02-24']],
  ['WEEK', '2025-02-18T14:30:00Z', '2025-02-24T14:29:59Z', ['2025-02-18']],
  ['MON', '2025-02-03', '2025-02-03', ['2025-02-03']],
  ['MON', '2025-02-01', '2025-02-02', []],
  ['MON', '2025-01-01', '2025-02-28', ['2025-01-02', '2025-02-03']],
  ['MON', '2025-01-02T14:30:00Z', '2025-02-03T14:30:00Z', ['2025-01-02', '2025-02-03']],
  ['MON', '2025-01-02T14:30:01Z', '2025-02-03T14:29:59Z', []],
];

for (const [interval, from, to, labels] of labelRanges) {
  test(`${interval} from ${from} to ${to} is ${labels.join(', ') || 'nothing'} (contract 2.2, 2.3, 3.6)`, async () => {
    const world = await World.create();
    await world.instrument({}, [{ interval: 'DAY', rows: dailyRows }]);
    for (const sort of ['asc', 'desc']) {
      const found = (await world.history(interval, from, to, { sort })).data.map((bar) => bar.datetime);
      assert.deepEqual(sort === 'asc' ? found : found.reverse(), labels.map(dated));
    }
  });
}

const wrongOrders: readonly (readonly [interval: string, from: string, to: string])[] = [
  ['1M', '2025-03-04', '2025-03-03'],
  ['1M', '2025-03-03T14:31:00Z', '2025-03-03T14:30:00Z'],
  ['1M', '2025-03-03', '2025-03-03T04:59:59Z'],
  ['DAY', '2025-03-04', '2025-03-03'],
  ['DAY', '2025-03-04 00:00:00', '2025-03-03'],
  ['MON', '2025-03-04 00:00:00', '2025-03-03 00:00:00'],
];
for (const [interval, from, to] of wrongOrders) {
  test(`${interval} from ${from} to ${to} is refused: from lies after to (contract 2.2)`, async () => {
    const world = await World.create();
    await world.instrument();
    const raw = { interval, from_date: from, to_date: to };
    const { word, param } = await refusal(world.run('historicalBars', raw));
    assert.deepEqual([word, param], ['invalid_parameter', 'from_date']);
  });
}

test('DAY is derived from regular minutes, first segment to last with is_eth (contract 3.6)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: sessionRows }]);
  const summary = async (is_eth: string) =>
    (await world.history('DAY', '2025-03-03', '2025-03-10', { is_eth })).data.map((bar) => [
      bar.datetime.slice(5, 16),
      bar.close_datetime.slice(5, 16),
      bar.open,
      bar.close,
      bar.volume,
    ]);
  assert.deepEqual(await summary('false'), [
    ['03-03T14:30', '03-03T21:00', 330, 719, 3900],
    ['03-04T14:30', '03-04T21:00', 1330, 1719, 3900],
    ['03-10T13:30', '03-10T20:00', 2330, 2719, 3900],
  ]);
  assert.deepEqual(await summary('true'), [
    ['03-03T09:00', '03-04T01:00', 0, 959, 9600],
    ['03-04T09:00', '03-05T01:00', 1000, 1959, 9600],
    ['03-10T08:00', '03-11T00:00', 2000, 2959, 9600],
  ]);
});

for (const sort of ['asc', 'desc']) {
  test(`with is_eth a session without minutes is its stored bar, with its regular hours, sorted ${sort} (contract 3.6)`, async () => {
    const world = await World.create();
    await world.instrument({}, [
      {
        interval: 'DAY',
        rows: days(['2025-02-28', 1], ['2025-03-03', 2], ['2025-03-05', 3], ['2025-03-10', 4]),
      },
      { interval: '1M', rows: sessionRows },
    ]);
    const expected = [
      ['02-28 14:30', 1],
      ['03-03 09:00', 959],
      ['03-04 09:00', 1959],
      ['03-05 14:30', 3],
      ['03-10 08:00', 2959],
    ];
    const served = opens(await world.history('DAY', '2025-02-01', '2025-03-31', { is_eth: 'true', sort }));
    assert.deepEqual(served, sort === 'asc' ? expected : expected.reverse());
    const regular = closes(await world.history('DAY', '2025-02-01', '2025-03-31', { sort }));
    assert.deepEqual(regular, sort === 'asc' ? [1, 2, 3, 4] : [4, 3, 2, 1]);
  });
}

for (const sort of ['asc', 'desc']) {
  test(`WEEK and MON with is_eth are made of extended sessions and stored ones, sorted ${sort} (contract 3.6)`, async () => {
    const world = await World.create();
    const daily = days(
      ['2025-02-28', 1],
      ['2025-03-03', 2],
      ['2025-03-05', 3],
      ['2025-03-12', 4],
      ['2025-03-17', 5],
    );
    await world.instrument({}, [
      { interval: 'DAY', rows: daily },
      { interval: '1M', rows: sessionRows },
    ]);
    const summary = async (interval: string) => {
      const { data } = await world.history(interval, '2025-02-01', '2025-03-31', { is_eth: 'true', sort });
      const rows = data.map((bar) => [bar.datetime.slice(0, 10), bar.open, bar.close, bar.volume]);
      return sort === 'asc' ? rows : rows.reverse();
    };
    assert.deepEqual(await summary('WEEK'), [
      ['2025-02-24', 1, 1, 10],
      ['2025-03-03', 0, 3, 9600 + 9600 + 10],
      ['2025-03-10', 2000, 4, 9600 + 10],
      ['2025-03-17', 5, 5, 10],
    ]);
    assert.deepEqual(await summary('MON'), [
      ['2025-02-03', 1, 1, 10],
      ['2025-03-03', 0, 5, 3 * 9600 + 30],
    ]);
  });
}

test('is_eth changes nothing where the market has no extended hours (contract 3.5)', async () => {
  const world = await World.create();
  const crypto = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD' };
  await world.instrument(crypto, [{ interval: '1M', rows: every(1, '2025-03-03T00:00:00Z', 3000, 0) }]);
  const named = { schema_asset: 'crypto', country_symbol: 'GLOBAL:BTCUSD' };
  for (const interval of ['1M', '60M', 'DAY', 'WEEK']) {
    const bodies = await Promise.all(
      ['true', 'false'].map((is_eth) =>
        world.history(interval, '2025-03-03', '2025-03-05', { ...named, is_eth }),
      ),
    );
    assert.deepEqual(bodies[0]!.data, bodies[1]!.data);
  }
});

// London was at UTC in March 2025: regular hours 08:00 to 16:30, the auction to 16:52.
const london = { country_iso_code: 'UK', symbol: 'VOD' };
const ofLondon = { country_symbol: 'UK:VOD' };

test('an auction counts once in DAY and above, whatever is_eth, and adds nothing to regular bars of minutes (contract 3.5, 3.13)', async () => {
  const minutes = [
    ...every(1, '2025-03-03T08:00:00Z', 510, 1),
    { at: '2025-03-03T16:35:00Z', close: 900, volume: 5000 },
    { at: '2025-03-03T16:52:00Z', close: 999, volume: 1 },
  ];
  const world = await World.create();
  await world.instrument(london, [{ interval: '1M', rows: minutes }]);
  const both = (interval: string) =>
    Promise.all(
      ['false', 'true'].map(
        async (is_eth) =>
          (await world.history(interval, '2025-03-01', '2025-03-31', { ...ofLondon, is_eth })).data,
      ),
    );
  for (const interval of ['1M', '5M', '45M', '60M', '240M']) {
    const [regular, extended] = await both(interval);
    const auction = extended!.slice(regular!.length);
    assert.equal(JSON.stringify(extended!.slice(0, regular!.length)), JSON.stringify(regular));
    assert.deepEqual(
      auction.map(({ close, volume }) => [close, volume]),
      [[900, 5000]],
      interval,
    );
  }
  for (const interval of ['DAY', 'WEEK', 'MON']) {
    const [regular, extended] = await both(interval);
    assert.deepEqual(extended, regular);
    assert.deepEqual(
      regular!.map(({ open, high, low, close, volume }) => [open, high, low, close, volume]),
      [[1, 900, 1, 900, 510 * 10 + 5000]],
      interval,
    );
  }
});

test('a stored DAY wins over minutes where only an auction follows regular hours, whatever is_eth (contract 3.5, 3.8)', async () => {
  const world = await World.create();
  await world.instrument(london, [
    { interval: '1M', rows: every(1, '2025-03-03T08:00:00Z', 510, 1) },
    { interval: 'DAY', rows: days(['2025-03-03', 7]) },
  ]);
  for (const is_eth of ['false', 'true']) {
    const { data } = await world.history('DAY', '2025-03-03', '2025-03-03', { ...ofLondon, is_eth });
    assert.deepEqual(
      data.map(({ datetime, close_datetime, close }) => [datetime, close_datetime, close]),
      [['2025-03-03T08:00:00+00:00', '2025-03-03T16:52:00+00:00', 7]],
    );
  }
});

test('a DAY is served from the end of its auction on, not before (contract 3.9, 3.13)', async () => {
  const world = await World.create();
  await world.instrument(london, [{ interval: '1M', rows: every(1, '2025-03-03T08:00:00Z', 510, 1) }]);
  for (const [now, count] of [
    ['2025-03-03T16:51:59Z', 0],
    ['2025-03-03T16:52:00Z', 1],
  ] as const) {
    world.nowMs = Date.parse(now);
    assert.equal((await world.latest('DAY', ofLondon)).count, count, now);
  }
});

test('a stored WEEK is labelled by the first session and closes with the last, traded or not (contract 3.6)', async () => {
  const world = await World.create();
  // Stored under the Monday, which was Presidents' Day; MON under the first of the month, a Saturday.
  await world.instrument({}, [
    { interval: 'WEEK', rows: days(['2025-02-17', 1]) },
    { interval: 'MON', rows: days(['2025-02-01', 2]) },
  ]);
  const [week] = (await world.latest('WEEK', { session_date: 'true' })).data;
  assert.deepEqual(
    [week!.session_date, week!.datetime, week!.close_datetime],
    ['2025-02-18', dated('2025-02-18'), '2025-02-21T21:00:00+00:00'],
  );
  const [month] = (await world.latest('MON', { session_date: 'true' })).data;
  assert.deepEqual(
    [month!.session_date, month!.datetime, month!.close_datetime],
    ['2025-02-03', dated('2025-02-03'), '2025-02-28T21:00:00+00:00'],
  );
});

test('DAY bars get their instants from the calendar: daylight saving, early close (contract 3.4, 3.10)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    { interval: 'DAY', rows: days(['2024-11-29', 1], ['2025-03-07', 2], ['2025-03-10', 3]) },
  ]);
  assert.deepEqual(
    (await world.latest('DAY')).data.map((bar) => [
      bar.datetime.slice(0, 16),
      bar.close_datetime.slice(0, 16),
    ]),
    [
      ['2024-11-29T14:30', '2024-11-29T18:00'],
      ['2025-03-07T14:30', '2025-03-07T21:00'],
      ['2025-03-10T13:30', '2025-03-10T20:00'],
    ],
  );
});

/** Everything that walking the pages gives, page by page. */
async function walk(world: World, raw: Record<string, string>): Promise<BarRecord[][]> {
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

test('pages of 1 to 7 bars make the one answer, with no page empty and the last without a key (contract 4.1, 4.2)', async () => {
  const world = await World.create();
  // DAY rows include a closed date.
  const daily = days(
    ['2025-02-14', 1],
    ['2025-02-17', 2],
    ['2025-02-18', 3],
    ['2025-03-03', 4],
    ['2025-03-05', 5],
  );
  const sparse = sessionRows.filter((_, index) => index % 97 === 0);
  await world.instrument({}, [
    { interval: 'DAY', rows: daily },
    { interval: '15M', rows: every(15, '2025-03-04T09:30:00-05:00', 8, 500) },
    { interval: '1M', rows: sparse },
  ]);
  for (const interval of ['1M', '15M', '60M', 'DAY', 'WEEK', 'MON']) {
    for (const is_eth of ['false', 'true']) {
      for (const sort of ['asc', 'desc']) {
        const raw = { interval, is_eth, sort, from_date: '2025-02-01', to_date: '2025-03-31' };
        const whole = page(await world.run('historicalBars', { ...raw, limit: '1000' }));
        assert.ok(whole.count > 1, interval);
        assert.equal(whole.next_page_key, null);
        assert.equal(whole.next_page_url, null);
        for (let limit = 1; limit <= 7; limit++) {
          const pages = await walk(world, { ...raw, limit: String(limit) });
          assert.deepEqual(pages.flat(), whole.data, `${interval} ${is_eth} ${sort} ${limit}`);
          assert.equal(pages.length, Math.ceil(whole.count / limit));
        }
      }
    }
  }
});

test('descending is ascending reversed (contract 4.5)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: sessionRows }]);
  for (const interval of ['7M', '240M', 'DAY', 'WEEK', 'MON']) {
    for (const is_eth of ['false', 'true']) {
      const range = ['2025-03-03', '2025-03-10'] as const;
      const ascending = (await world.history(interval, ...range, { is_eth })).data;
      const descending = (await world.history(interval, ...range, { is_eth, sort: 'DESC' })).data;
      assert.deepEqual(descending, ascending.reverse());
    }
  }
});

test('a walk while rows come in repeats none and misses none that was there (contract 4.1)', async () => {
  for (const sort of ['asc', 'desc']) {
    const world = await World.create();
    const rows = every(2, DAY_OPEN, 60, 0);
    const id = await world.instrument({}, [{ interval: '1M', rows }]);
    const raw = { interval: '1M', sort, from_date: '2025-03-03', to_date: '2025-03-03', limit: '25' };
    const first = page(await world.run('historicalBars', raw));
    // Bars appear between all those that were there, before the walk's place and behind it.
    const more = rows.map((row) => ({
      at: new Date(Date.parse(row.at) + MINUTE_MS).toISOString(),
      close: 1000,
    }));
    await world.store(id, id * 100, { interval: '1M', rows: [...rows, ...more] });
    const seen = [...first.data];
    let key = first.next_page_key;
    while (key !== null) {
      const next = page(await world.run('historicalBars', { ...raw, next_page_key: key }));
      seen.push(...next.data);
      key = next.next_page_key;
    }
    const keys = seen.map((bar) => bar.datetime);
    assert.equal(new Set(keys).size, keys.length);
    assert.deepEqual(keys, sort === 'asc' ? keys.toSorted() : keys.toSorted().reverse());
    const old = seen.filter((bar) => bar.close < 1000).map((bar) => bar.close);
    assert.deepEqual(
      old.sort((a, b) => a - b),
      rows.map((row) => row.close),
    );
    assert.ok(seen.length > rows.length);
  }
});

test('what the first page took for now holds for the whole walk (contract 4.1)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 60, 0) }]);
  const raw = { interval: '1M', from_date: '2025-03-03', to_date: '2025-03-03', limit: '6' };
  world.nowMs = Date.parse('2025-03-03T14:40:00Z');
  const first = page(await world.run('historicalBars', raw));
  world.nowMs += 3_600_000;
  const rest = page(await world.run('historicalBars', { ...raw, next_page_key: first.next_page_key! }));
  assert.deepEqual(closes(rest), [6, 7, 8, 9]);
  assert.equal(rest.next_page_key, null);
});

const otherQueries: readonly (readonly [what: string, change: Record<string, string>])[] = [
  ['interval', { interval: '5M' }],
  ['symbol', { country_symbol: 'US:MSFT' }],
  ['sort', { sort: 'desc' }],
  ['from_date', { from_date: '2025-03-02' }],
  ['to_date', { to_date: '2025-03-04' }],
  ['is_eth', { is_eth: 'true' }],
];
const sameQueries: readonly (readonly [what: string, change: Record<string, string>])[] = [
  ['limit', { limit: '3' }],
  ['letter case', { country_symbol: 'us:aapl', schema_asset: 'Stock', interval: '1min', sort: 'ASC' }],
  ['a default that is written out', { is_eth: 'no' }],
];

test('a page key holds for its own query alone: any limit, any spelling, no other filter (contract 4.1)', async () => {
  const world = await World.create();
  const stored = [{ interval: '1M', rows: every(1, DAY_OPEN, 30, 0) }];
  await world.instrument({}, stored);
  await world.instrument({ symbol: 'MSFT' }, stored);
  const raw = { interval: '1M', from_date: '2025-03-03', to_date: '2025-03-03', limit: '2' };
  const { next_page_key } = page(await world.run('historicalBars', raw));
  const behind = (change: Record<string, string>): Promise<Answer> =>
    world.run('historicalBars', { ...raw, next_page_key: next_page_key!, ...change });
  for (const [what, change] of otherQueries) {
    assert.equal((await refusal(behind(change))).word, 'invalid_page_key', what);
  }
  for (const [what, change] of sameQueries) {
    assert.equal(page(await behind(change)).data[0]!.close, 2, what);
  }
});

test('the next page has the same parameters with the defaults filled in, without the key (contract 4.3)', async () => {
  const world = await World.create();
  await world.instrument({ symbol: 'BRK/B' }, [{ interval: '1M', rows: every(1, DAY_OPEN, 30, 0) }]);
  const answer = await world.run('historicalBars', {
    country_symbol: 'us:brk/b',
    interval: '1m',
    from_date: '2025-03-03T14:30:00+00:00',
    to_date: '2025-03-03 23:00:00',
    limit: '2',
  });
  if (answer.kind !== 'answer') assert.fail();
  const [path, query] = answer.next!.address.split('?');
  assert.equal(
    path,
    '/api/v2/stock/bars/US:BRK%2FB/1M/from/2025-03-03T14:30:00%2B00:00/to/2025-03-03%2023:00:00',
  );
  const filled = 'format=json&csv_safe=false&limit=2&is_eth=false&session_date=false&adjust=none&sort=asc';
  const known = new Set(new URLSearchParams(filled).keys());
  const pairs = query!.split('&').map((pair) => pair.split('='));
  const isKnown = ([name]: string[]): boolean => known.has(name!);
  assert.equal(
    pairs
      .filter(isKnown)
      .map((pair) => pair.join('='))
      .join('&'),
    filled,
  );
  const declared: Readonly<Record<string, Parameter>> = historicalBars.parameters;
  for (const [name, text] of pairs.filter((pair) => !isKnown(pair)))
    assert.equal(text, declared[name!]?.print(declared[name!]?.default));
  const body = Buffer.from(answer.body);
  assert.equal(body.subarray(answer.next!.at! - 17, answer.next!.at!).toString(), '"next_page_url":"');
});

test('CSV holds the same bars, and tells count and next page in headers, or stands wrapped in the envelope (contract 5.2, 5.3)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 3, 0) }]);
  const raw = { interval: '1M', from_date: '2025-03-03', to_date: '2025-03-03', format: 'CSV', limit: '2' };
  const bare = await world.run('historicalBars', raw);
  const wrapped = await world.run('historicalBars', raw, true);
  if (bare.kind !== 'answer' || wrapped.kind !== 'answer') assert.fail();
  assert.equal(bare.contentType, 'text/csv; charset=utf-8; header=present');
  assert.deepEqual(bare.headers, { 'X-Count': '2', 'X-Next-Page-Key': bare.next!.key });
  assert.equal(bare.next!.at, null);
  const csv = Buffer.from(bare.body).toString();
  assert.match(
    csv,
    /^asset_schema,.*\r\nSTOCK,1M,US,,AAPL,2025-03-03T14:30:00\+00:00,.*,0,0,0,0,10,\r\n.*\r\n$/,
  );
  assert.match(wrapped.contentType, /^application\/json/);
  const { result } = JSON.parse(Buffer.from(wrapped.body).toString()) as {
    result: { count: number; data: string };
  };
  assert.deepEqual([result.count, result.data], [2, csv]);
  const last = await world.run('historicalBars', { ...raw, limit: '3' });
  if (last.kind !== 'answer') assert.fail();
  assert.deepEqual([last.headers, last.next], [{ 'X-Count': '3' }, null]);
});

test('an instrument without bars is an empty list (contract 6.3)', async () => {
  const world = await World.create();
  await world.instrument();
  for (const interval of ['1M', '45M', 'DAY', 'MON']) {
    for (const is_eth of ['true', 'false']) {
      assert.deepEqual(await world.latest(interval, { is_eth }), { count: 0, data: [] });
      const { next_page_key, count, data } = await world.history(interval, '2025-01-01', '2025-12-31', {
        is_eth,
      });
      assert.deepEqual([next_page_key, count, data], [null, 0, []]);
    }
  }
});

test('an unknown instrument is refused with up to three near symbols (contract 6.3)', async () => {
  const world = await World.create();
  for (const symbol of ['AAPL', 'AAPLW', 'APLE', 'AAP', 'MSFT', 'XAPL']) await world.instrument({ symbol });
  await world.instrument({ symbol: 'AAPX', asset_schema: 'crypto', country_iso_code: 'GLOBAL' });
  const near = await refusal(world.run('latestBars', { interval: '1M', country_symbol: 'us:aappl' }));
  assert.equal(near.word, 'unknown_instrument');
  assert.equal(near.param, 'country_symbol');
  const named = near.hint!.replace('Near symbols: ', '').split(', ');
  assert.equal(named[0], 'AAPL');
  assert.ok(named.length <= 3 && named.every((symbol) => ['AAPL', 'AAPLW', 'APLE', 'AAP'].includes(symbol)));
  const far = await refusal(world.run('latestBars', { interval: '1M', country_symbol: 'DE:QQQQQQQQ' }));
  assert.equal(far.word, 'unknown_instrument');
});

test('an instrument imported while the service runs is found (contract 4.1)', async () => {
  const world = await World.create();
  assert.equal((await refusal(world.run('latestBars', { interval: '1M' }))).word, 'unknown_instrument');
  const id = await world.instrument();
  assert.equal((await world.latest('1M')).count, 0);
  await world.store(id, 1, { interval: '1M', rows: every(1, DAY_OPEN, 3, 0) });
  assert.equal((await world.latest('1M')).count, 3);
});

test('a damaged block is a fault that names the series, never other bars', async () => {
  const world = await World.create();
  const id = await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 3, 0) }]);
  await world.damage(id * 100);
  await assert.rejects(
    world.run('latestBars', { interval: '1M' }),
    /damaged: bars, stock:US:AAPL 1M, 2025-03-03, imported by run 1:/,
  );
});

for (const [end, lost] of [
  ['first', '2025-03-03'],
  ['last', '2025-03-05'],
] as const)
  test(`a lost ${end} block of a series is a fault, never fewer bars (house, Rules)`, async () => {
    const world = await World.create();
    const dates = ['2025-03-03', '2025-03-04', '2025-03-05'];
    const rows = dates.flatMap((date) => every(1, `${date}T09:30:00-05:00`, 3, 0));
    const id = await world.instrument({}, [{ interval: '1M', rows }]);
    await world.loseBlock(id * 100, parseDay(lost)!);
    for (const interval of ['1M', 'DAY'])
      await assert.rejects(world.history(interval, '2025-03-01', '2025-03-31'), (error) => {
        assert.match(String(error), new RegExp(`stock:US:AAPL 1M, ${lost}: it is lost`));
        return true;
      });
    assert.equal((await world.history('1M', '2025-03-04', '2025-03-04')).count, 3);
  });
