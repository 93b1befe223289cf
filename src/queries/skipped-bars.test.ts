// Requests that most stored bars are no answer to: bars outside the hours, on closed days, not finished or
// not known yet. What they read is counted (contract 3.5, 3.9, 3.10, 9.8).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type FileRow, fillStore } from '../../test/importing.ts';
import { alterStore, changedByte, TestFolder } from '../../test/stores.ts';
import { historicalBars, latestBars } from '../contract/bars.ts';
import { parseParameters } from '../contract/endpoint.ts';
import { openStore } from '../store/engines.ts';
import type { BlockRead, Reader, Store, StoredBlock } from '../store/store.ts';
import { QueryRunner } from './index.ts';
import { type LaneBounds, TooDear } from './query.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const FIRST_MS = Date.parse('2025-01-06T00:00:00Z');
/**
 * Mondays to Fridays of eight weeks of New York's winter: its session is 14:30 to 21:00 in UTC. Three of them
 * are closed.
 */
const DAYS = Array.from({ length: 56 }, (_, day) => FIRST_MS + day * DAY_MS).filter((ms) => {
  const weekday = new Date(ms).getUTCDay();
  return weekday > 0 && weekday < 6;
});
const LATER_MS = Date.parse('2025-04-01T00:00:00Z');
const OPEN = 14 * 60 + 30;
/** Minutes before the open that have a bar. */
const EARLY = 120;
/** Sessions of which the first minutes are there. */
const HALVES = 8;

const temporary = new TestFolder();
const url = temporary.storeUrl();
const named = { asset_schema: 'stock', country_iso_code: 'US', interval: '1M' };

const at = (dayMs: number, minute: number): string => new Date(dayMs + minute * MINUTE_MS).toISOString();

const row = (symbol: string, datetime: string): FileRow => ({
  ...{ ...named, symbol, datetime, open: 2, high: 3, low: 1, close: 2.5, volume: 10 },
});

const rows = (symbol: string, days: readonly number[], from: number, count: number): FileRow[] =>
  days.flatMap((dayMs) =>
    Array.from({ length: count }, (_, minute) => row(symbol, at(dayMs, from + minute))),
  );

const [first, last] = [DAYS[0]!, DAYS.at(-1)!];
const ENDS = [at(first, OPEN), at(first, OPEN + 1), at(last, OPEN), at(last, OPEN + 1)];

let store: Store;
before(async () => {
  const fill = (nowMs: number, bars: readonly FileRow[]) =>
    fillStore(url, temporary.folder, nowMs, [['bars', bars]]);
  await fill(LATER_MS, [
    ...rows('ENDS', DAYS, OPEN - EARLY, EARLY),
    ...ENDS.map((datetime) => row('ENDS', datetime)),
    ...rows('NONE', DAYS, OPEN - EARLY, EARLY),
    ...rows('LAST', DAYS, OPEN - EARLY, EARLY),
    row('LAST', at(last, OPEN)),
    ...rows('THEN', DAYS, OPEN, 120),
  ]);
  // A file of bars that close after it was read.
  await fill(first + OPEN * MINUTE_MS + MINUTE_MS, rows('AHEAD', DAYS, OPEN, EARLY));
  // Files that end in the midst of their session.
  for (const dayMs of DAYS.slice(-HALVES))
    await fill(dayMs + 16 * 60 * MINUTE_MS, rows('HALF', [dayMs], OPEN, 90));
  store = await openStore(url, 'read');
});
after(async () => {
  await store.close();
  temporary.close();
});

/** What was read: calls for blocks, blocks, and how often one was decoded. */
type Work = { reads: number; blocks: number; decoded: number };

/** The store, whose reads are counted. */
function counting(work: Work): Store {
  const readerOf = (reader: Reader): Reader => {
    const blocks = async (read: BlockRead): Promise<StoredBlock[]> => {
      const found = await reader.blocks(read);
      work.reads++;
      work.blocks += found.length;
      return found.map((block) => ({
        bucket: block.bucket,
        runId: block.runId,
        get bytes() {
          work.decoded++;
          return block.bytes;
        },
      }));
    };
    return replacing(reader, 'blocks', blocks);
  };
  const snapshot = <T>(read: (reader: Reader) => Promise<T>): Promise<T> =>
    store.snapshot((reader) => read(readerOf(reader)));
  return replacing(store, 'snapshot', snapshot);
}

/** An object with another method. */
const replacing = <T extends object>(of: T, method: keyof T, other: unknown): T =>
  new Proxy(of, {
    get(target, name) {
      const value: unknown = name === method ? other : Reflect.get(target, name, target);
      return typeof value === 'function' && value !== other ? value.bind(target) : value;
    },
  });

type Asked = Readonly<Record<string, string>>;

/** Asks for the bars of a symbol in all hours of the market but those before and after its session. */
async function ask(runner: QueryRunner, symbol: string, asked: Asked, isLatest = false) {
  const all = { from_date: '2025-01-01', to_date: '2025-03-31', limit: '1' };
  const raw = { interval: '1M', ...(isLatest ? { limit: '1' } : all), ...asked };
  const texts = new Map(Object.entries({ schema_asset: 'stock', country_symbol: `US:${symbol}`, ...raw }));
  const answer = await runner.run({
    endpoint: isLatest ? 'latestBars' : 'historicalBars',
    parameters: parseParameters(isLatest ? latestBars : historicalBars, texts),
    nowMs: LATER_MS,
    wrapCsv: false,
  });
  assert.equal(answer.kind, 'answer', JSON.stringify(answer));
  const { result } = JSON.parse(Buffer.from((answer as { body: Uint8Array }).body).toString());
  const opens = (result.data as { datetime: string }[]).map(({ datetime }) =>
    new Date(datetime).toISOString(),
  );
  return { opens, pageKey: (result.next_page_key ?? null) as string | null };
}

const secret = new Uint8Array(32).fill(7);
const counted = (lane?: LaneBounds) => {
  const work: Work = { reads: 0, blocks: 0, decoded: 0 };
  return { work, runner: new QueryRunner(counting(work), secret, lane) };
};

const latest = true;
const cases: readonly [
  what: string,
  symbol: string,
  asked: Asked,
  opens: readonly string[],
  isLatest?: true,
][] = [
  ['the first bar of a session behind eight weeks before sessions', 'LAST', {}, [at(last, OPEN)]],
  ['no bar of a session', 'NONE', {}, []],
  ['no bar of a session, the newest first', 'NONE', { sort: 'desc' }, []],
  ['the latest of none', 'NONE', {}, [], latest],
  ['made of none', 'NONE', { interval: '5M' }, []],
  ['hours made of none', 'NONE', { interval: '60M' }, []],
  ['days made of none', 'NONE', { interval: 'DAY' }, []],
  ['days made of none, with extended hours', 'NONE', { interval: 'DAY', is_eth: 'true' }, []],
  ['weeks made of none', 'NONE', { interval: 'WEEK', sort: 'desc' }, []],
  ['adjusted', 'LAST', { adjust: 'all' }, [at(last, OPEN)]],
  ['as of a moment', 'ENDS', { as_of: at(last, OPEN), from_date: '2025-01-07' }, []],
  ['the latest as of a moment', 'ENDS', { as_of: at(last, OPEN) }, [ENDS[1]!], latest],
  [
    'the newest that was known at a moment',
    'THEN',
    { as_of: at(last, OPEN + 3) },
    [at(last, OPEN + 2)],
    latest,
  ],
  ['days that are not complete', 'HALF', { interval: 'DAY' }, []],
  ['bars that are not finished', 'AHEAD', { from_date: '2025-01-07' }, []],
  ['the latest before bars that are not finished', 'AHEAD', {}, [at(first, OPEN)], latest],
];

for (const [what, symbol, asked, opens, isLatest] of cases)
  test(`${what}: a request for one bar reads each block once, many at a time (contract 3.5, 3.9)`, async () => {
    const { runner, work } = counted();
    assert.deepEqual((await ask(runner, symbol, asked, isLatest)).opens, opens);
    assert.ok(work.decoded <= 4 * DAYS.length, `${work.decoded} times were ${DAYS.length} blocks decoded`);
    assert.ok(work.reads <= DAYS.length / 2, `${work.reads} reads of ${work.blocks} blocks`);
  });

test('a warm thread has made charts of the first series: its caller reads nothing', async () => {
  const { runner, work } = counted();
  await runner.warmUp(LATER_MS);
  const { reads } = work;
  assert.ok(reads > 0);
  const bars = await ask(runner, 'ENDS', { interval: '60M', limit: '100' }, latest);
  assert.ok(bars.opens.length > 0);
  assert.equal(work.reads, reads);
});

test('pages of one bar are those of one page, in both orders (contract 4.1)', async () => {
  const { runner, work } = counted();
  for (const sort of ['asc', 'desc']) {
    const opens: string[] = [];
    for (let key: string | null = ''; key !== null; ) {
      const page = await ask(runner, 'ENDS', { sort, next_page_key: key });
      opens.push(...page.opens);
      key = page.pageKey;
    }
    assert.deepEqual(opens, sort === 'asc' ? ENDS : ENDS.toReversed());
  }
  assert.ok(work.decoded <= 16 * DAYS.length, `${work.decoded} times`);
});

test('a request that skips more bars than its lane allows is left to the other lane, however few it gives (contract 6.3)', async () => {
  const lane = { baseBarsMax: 1_000, charactersMax: 1e6 };
  for (const [symbol, asked, isLatest] of [
    ['NONE', {}],
    ['NONE', { sort: 'desc' }],
    ['NONE', { interval: '5M' }],
    ['NONE', {}, latest],
    ['LAST', {}],
    ['HALF', { interval: 'DAY' }],
  ] as const) {
    const { runner, work } = counted(lane);
    await assert.rejects(ask(runner, symbol, asked, isLatest), TooDear);
    assert.ok(work.blocks < DAYS.length, `${work.blocks} blocks`);
  }
  for (const [symbol, asked] of [
    ['ENDS', { limit: '2', to_date: '2025-01-06' }],
    ['NONE', { is_eth: 'true', limit: '1000' }],
  ] as const)
    await ask(counted(lane).runner, symbol, asked);
});

test('a damaged block behind the bars of an answer is no fault, however much was skipped before them (contract 10)', async () => {
  const bucket = (dayMs: number): number => dayMs / DAY_MS;
  alterStore(
    url,
    `update bar_blocks set bytes = ${changedByte(41, 0xee)} where bucket = ${bucket(DAYS[1]!)} and series_id = (select series_id from series join instruments using (instrument_id) where symbol = 'ENDS')`,
  );
  const { runner } = counted();
  assert.deepEqual((await ask(runner, 'ENDS', { to_date: '2025-01-08' })).opens, [ENDS[0]]);
  await assert.rejects(ask(runner, 'ENDS', { limit: '2', to_date: '2025-01-08' }), /damaged|DamagedData/);
});
