// Two lanes of queries: nobody waits for a request that reads many bars or long texts, and it is answered as
// it would be alone (contract 6.4).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, mock, type TestContext, test } from 'node:test';
import { fillStore, importSeries } from '../../../test/importing.ts';
import { TestFolder } from '../../../test/stores.ts';
import { formatInstant, MINUTE_MS } from '../../base/instant.ts';
import { type Endpoint, parseParameters } from '../../contract/endpoint.ts';
import { contract } from '../../contract/index.ts';
import type { Answer, LaneBounds, QueryRequest } from '../../queries/query.ts';
import { openStore } from '../../store/engines.ts';
import { AdmissionControl } from './overload.ts';
import { QueryLanes } from './query-lanes.ts';
import { QueryQueue } from './query-queue.ts';

const SESSIONS = 20;
const SESSION_MINUTES = 390;
const OPEN_MS = Date.parse('2025-02-03T14:30:00Z');
const DAY_MS = 86_400_000;

const temporary = new TestFolder();
const storeUrl = temporary.storeUrl();
const store = await openStore(storeUrl, 'write');

async function importFile(name: string, rows: readonly string[], interval: string, symbol: string) {
  const path = join(temporary.folder, name);
  writeFileSync(path, ['datetime,open,high,low,close', ...rows, ''].join('\n'));
  const named = { asset_schema: 'stock', country_iso_code: 'US', symbol, interval };
  await importSeries(store, path, named);
}

/** Weekdays from a Monday on. */
const days = Array.from({ length: SESSIONS }, (_, session) => session + 2 * Math.floor(session / 5));
const minutes = days.flatMap((day) =>
  Array.from({ length: SESSION_MINUTES }, (_, minute) => {
    const ms = OPEN_MS + day * DAY_MS + minute * MINUTE_MS;
    return `${formatInstant(ms)},${100 + minute / 100},${101 + minute / 100},99,${100 + minute / 100}`;
  }),
);
await importFile('minutes.csv', minutes, '1M', 'MIN');
await importFile('also.csv', minutes, '1M', 'BOTH');
const old = '1990-01-02T15:00:00Z,1,1,1,1';
await importFile('stray.csv', [old, ...minutes], '1M', 'STRAY');
const dayRows = days.map((day) => `${formatInstant(OPEN_MS + day * DAY_MS).slice(0, 10)},1,3,0.5,2`);
await importFile('days.csv', dayRows, 'DAY', 'BOTH');
await store.close();
const nowMs = Date.parse('2025-06-01T00:00:00Z');
const NEWS = 200;
const news = Array.from({ length: NEWS }, (_, index) => ({
  published_date: formatInstant(OPEN_MS + index * MINUTE_MS),
  title: `Item ${index}`,
  publisher_url: `https://news.example.com/${index}`,
  text_content: 'x'.repeat(1_000),
}));
await fillStore(storeUrl, temporary.folder, nowMs, [['news', news]]);

// On a slow machine it would refuse some of these requests.
mock.method(AdmissionControl.prototype, 'admits', () => true);
mock.method(AdmissionControl.prototype, 'isTooLate', () => false);

const opened: QueryLanes[] = [];
after(async () => {
  for (const lanes of opened) await lanes.close();
  temporary.close();
});

const setup = { storeUrl, pageKeySecret: new Uint8Array(32).fill(7) };

/** Lanes, the first of which has these bounds. */
function openLanes(bounds: Partial<LaneBounds> = {}): QueryLanes {
  const lanes = new QueryLanes(setup, bounds);
  opened.push(lanes);
  return lanes;
}

const here = (): boolean => false;

function bars(interval: string, rest: Readonly<Record<string, string>> = {}): QueryRequest {
  const { symbol = 'MIN', ...others } = rest;
  const range = { from_date: '2025-01-01', to_date: '2025-05-01', limit: '1000' };
  const raw = { schema_asset: 'stock', country_symbol: `US:${symbol}`, interval, ...range, ...others };
  const parameters = parseParameters(contract.historicalBars, new Map(Object.entries(raw)));
  return { endpoint: 'historicalBars', parameters, nowMs, wrapCsv: false };
}

function newsList(limit: number, rest: Readonly<Record<string, string>> = {}): QueryRequest {
  const range = { from_date: '2025-01-01', to_date: '2025-05-01', limit: String(limit) };
  const parameters = parseParameters(contract.newsList, new Map(Object.entries({ ...range, ...rest })));
  return { endpoint: 'newsList', parameters, nowMs, wrapCsv: false };
}

function latestNews(limit: number): QueryRequest {
  const parameters = parseParameters(contract.latestNews, new Map([['limit', String(limit)]]));
  return { endpoint: 'latestNews', parameters, nowMs, wrapCsv: false };
}

/** The body as text; its memory is used again after `release`. */
function textOf(answer: Answer): string {
  if (answer.kind === 'refusal') return JSON.stringify(answer);
  const text = Buffer.from(answer.body).toString();
  answer.release?.();
  return text;
}

/** So many that a hundred items of news are above them. */
const BOUNDS: LaneBounds = { baseBarsMax: 7_000, charactersMax: 100_000 };

const cheap: readonly [what: string, request: QueryRequest][] = [
  ['stored minutes', bars('1M')],
  ['a session of minutes as a day', bars('DAY', { limit: '1' })],
  ['hours of two sessions', bars('60M', { limit: '13' })],
  ['a week of minutes', bars('WEEK', { from_date: '2025-02-03', to_date: '2025-02-04' })],
  ['stored days beside minutes', bars('DAY', { symbol: 'BOTH' })],
  ['weeks of stored days', bars('WEEK', { symbol: 'BOTH' })],
  ['a symbol that is not there', bars('DAY', { symbol: 'NONE' })],
  ['a short page of news', newsList(90)],
  ['some of the latest news', latestNews(90)],
];
/**
 * Lanes with these bounds, and lanes for which all of these requests are cheap: most tests share their
 * threads.
 */
const [bounded, wide] = [openLanes(BOUNDS), openLanes()];

/** The queues that a request was submitted to, one after the other, and its answer. */
async function laneOf(t: TestContext, lanes: QueryLanes, request: QueryRequest) {
  const submitted = t.mock.method(QueryQueue.prototype, 'submit');
  const text = textOf(await lanes.submit(request, here));
  submitted.mock.restore();
  return { queues: submitted.mock.calls.map((call) => call.this), text };
}

for (const [what, request] of cheap) {
  test(`${what}: answered in the first lane`, async (t) => {
    assert.equal((await laneOf(t, bounded, request)).queues.length, 1);
    assert.equal(bounded.threads, 1);
  });
}

const dear: readonly [what: string, request: QueryRequest][] = [
  ['days of minutes', bars('DAY')],
  ['days of minutes, the newest first', bars('DAY', { sort: 'desc', limit: '10' })],
  ['weeks of minutes', bars('WEEK', { limit: '3' })],
  ['a month of minutes', bars('MON', { limit: '1' })],
  [
    'days with extended hours, of minutes beside stored days',
    bars('DAY', { symbol: 'BOTH', is_eth: 'true' }),
  ],
  ['hours of all sessions', bars('60M')],
  ['days of minutes that follow one of long before', bars('DAY', { symbol: 'STRAY' })],
  ['a long page of news', newsList(150)],
  ['a long page of news as CSV, the newest first', newsList(150, { sort: 'desc', format: 'csv' })],
  ['much of the latest news', latestNews(150)],
];
for (const [what, request] of dear) {
  test(`${what}: answered in the second lane, with the same bytes`, async (t) => {
    const { queues, text } = await laneOf(t, bounded, request);
    assert.equal(new Set(queues).size, 2);
    assert.equal(bounded.threads, 2);
    assert.equal(text, textOf(await wide.submit(request, here)));
    assert.equal(wide.threads, 1, 'by default all of this is cheap');
  });
}

for (const endpoint of ['seriesCoverage', 'sessionCoverage', 'findings'] as const)
  test(`${endpoint}: asked of the second lane alone`, async (t) => {
    const declared: Endpoint = contract[endpoint];
    const raw = Object.entries(declared.parameters).filter(([, { required }]) => required);
    const given = new Map(raw.map(([name, { example }]) => [name, example]));
    const parameters = parseParameters(declared, given.set('country_symbol', 'US:MIN'));
    const { queues, text } = await laneOf(t, bounded, { endpoint, parameters, nowMs, wrapCsv: false });
    const ordinary = await laneOf(t, bounded, bars('1M'));
    assert.equal(queues.length, 1);
    assert.notEqual(queues[0], ordinary.queues[0]);
    assert.match(text, /"status":"ok"/);
  });

test('an ordinary request does not wait for the dear ones before it', async (t) => {
  const answered = Promise.withResolvers<void>();
  const submit = Reflect.get(QueryQueue.prototype, 'submit') as QueryQueue['submit'];
  const seen = new Set<QueryQueue>();
  t.mock.method(
    QueryQueue.prototype,
    'submit',
    async function (this: QueryQueue, ...asked: Parameters<QueryQueue['submit']>) {
      seen.add(this);
      // The second lane is as slow as can be.
      if (this !== [...seen][0]) await answered.promise;
      return submit.apply(this, asked);
    },
  );
  const asked = dear.map(([, request]) => bounded.submit(request, here));
  textOf(await bounded.submit(bars('1M', { limit: '1' }), here));
  answered.resolve();
  for (const answer of await Promise.all(asked)) assert.notEqual(textOf(answer), '');
});

test('a close answers what was admitted, in both lanes', async () => {
  const lanes = openLanes(BOUNDS);
  await lanes.submit(bars('WEEK'), here);
  const asked = [lanes.submit(bars('1M'), here), lanes.submit(bars('WEEK'), here)];
  const closed = lanes.close();
  for (const answer of await Promise.all(asked)) assert.equal(answer.kind, 'answer');
  await closed;
});
