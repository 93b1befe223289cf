// The TypeScript client against a real service: every method, all pages, columns, refusals (contract 4.1,
// 4.4, 6.2, 6.3, 7.1).
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { Bourse, BourseError, type EndpointName } from '../packages/client/index.ts';
import { fillStore } from './importing.ts';
import { type Server, Workshop } from './service.ts';

const root = join(import.meta.dirname, '..');
const MINUTE_MS = 60_000;
const START_MS = Date.parse('2025-03-03T00:00:00Z');
const RANGE = { from: '2025-03-03', to: '2025-03-10' };

/**
 * Minutes of a market that always trades: more than two pages. Each third has no volume, each second no vwap.
 */
const minutes = Array.from({ length: 2_500 }, (_, at) => ({
  datetime: new Date(START_MS + at * MINUTE_MS).toISOString(),
  open: 100 + at / 8,
  high: 101 + at / 8,
  low: 99 + at / 8,
  close: 100.5 + at / 8,
  volume: at % 3 === 0 ? null : at,
  vwap: at % 2 === 0 ? null : 100.25 + at / 8,
}));
const series = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'COIN', interval: '1M' };

/** Its vwap is above its high. */
const flawed = {
  ...{ asset_schema: 'stock', country_iso_code: 'US', symbol: 'FLAWED', interval: 'DAY' },
  ...{ datetime: '2025-03-03', open: 10, high: 11, low: 9, close: 10, vwap: 12.5 },
};

const stillToCome = {
  country_iso_code: 'US',
  symbol: 'AAPL991218C00150000',
  parent_asset_schema: 'stock',
  underlying_name: 'AAPL',
  option_type: 'call',
  strike_price: 150,
  expiration_date: '2099-12-18',
};

const shop = new Workshop();
let server: Server;
let key = '';
let bourse: Bourse;

before(async () => {
  for (const dataset of [
    'instruments',
    'corporate-actions',
    'news',
    'option-contracts',
    'holidays',
    'economic-events',
  ])
    await shop.must('import', dataset, join(root, `examples/${dataset}.csv`));
  await fillStore(shop.store, shop.folder, Date.now(), [
    ['bars', minutes.map((minute) => ({ ...series, ...minute }))],
    ['bars', [flawed]],
    ['option-contracts', [stillToCome]],
  ]);
  key = await shop.must('keys', 'create', 'client');
  server = await shop.serve();
  bourse = new Bourse({ url: server.url, key });
});
after(() => shop.close());

const bars = (options: Parameters<Bourse['bars']>[3] = RANGE) =>
  bourse.bars('crypto', 'GLOBAL:COIN', '1M', options);

async function collected<T>(all: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of all) items.push(item);
  return items;
}

/** The error that a call ends with. */
async function failed(call: () => Promise<unknown>): Promise<BourseError> {
  const error = await call().then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof BourseError, String(error));
  return error;
}

test('bars of all pages come one by one, each once, in either order, as the file had them (contract 4.1, 4.2)', async () => {
  for (const sort of ['asc', 'desc'] as const) {
    const got: unknown[] = [];
    for await (const { datetime, open, high, low, close, volume, vwap } of bars({ ...RANGE, sort }))
      got.push({ datetime: new Date(datetime).toISOString(), open, high, low, close, volume, vwap });
    assert.deepEqual(got, sort === 'asc' ? minutes : minutes.toReversed());
  }
});

test('pages come as they are on the wire, with the headers of their answers (contract 4.2, 9.12)', async () => {
  const pages = await collected(bars().pages());
  assert.deepEqual(
    pages.map(({ count, next_page_key }) => [count, next_page_key === null]),
    [
      [1_000, false],
      [1_000, false],
      [500, true],
    ],
  );
  for (const { headers, next_page_url } of pages) {
    assert.match(headers.get('X-Data-Version')!, /^\d+$/);
    assert.ok(!next_page_url?.includes(key));
  }
});

test('a limit counts the records of all pages, and a loop may end early', async () => {
  for (const limit of [1, 1_000, 1_500, 9_000])
    assert.equal((await bars({ ...RANGE, limit }).toArray()).length, Math.min(limit, minutes.length));
  for await (const bar of bars()) {
    assert.equal(bar.open, 100);
    break;
  }
  assert.equal((await failed(() => bars({ ...RANGE, limit: 0 }).toArray())).param, 'limit');
});

test('columns have every bar as a number, and a null as NaN', async () => {
  const columns = await bars({ ...RANGE, session_date: true }).columns();
  assert.equal(columns.length, minutes.length);
  const opens = minutes.map((_, at) => START_MS + at * MINUTE_MS);
  assert.deepEqual(columns.datetime, Float64Array.from(opens));
  assert.deepEqual(
    columns.close_datetime,
    Float64Array.from(opens, (open) => open + MINUTE_MS),
  );
  for (const field of ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const)
    assert.deepEqual(
      columns[field],
      Float64Array.from(minutes, (minute) => minute[field] ?? Number.NaN),
    );
  assert.deepEqual(
    columns.session_date,
    minutes.map(({ datetime }) => datetime.slice(0, 10)),
  );
  const forms = [{ timestamps: 'unix' }, { columns: ['close'] }, { tz: 'Asia/Tokyo' }] as const;
  for (const form of forms)
    assert.deepEqual(await bars({ ...RANGE, ...form, session_date: true }).columns(), columns);
  const none = await bars({ from: '2024-01-01', to: '2024-01-02' }).columns();
  assert.deepEqual([none.length, none.open, none.session_date], [0, new Float64Array(), []]);
});

test('a Date is an instant, at both ends of a range (contract 2.2)', async () => {
  const [from, to] = [START_MS + 90_000, START_MS + 3 * MINUTE_MS].map((ms) => new Date(ms));
  const got = await bars({ from: from!, to: to! }).toArray();
  assert.deepEqual(
    got.map(({ open }) => open),
    [minutes[2]!.open, minutes[3]!.open],
  );
});

test('as of a moment, a client gets on every page what could be known by then (contract 9.8)', async () => {
  const as_of = new Date(START_MS + 1_500 * MINUTE_MS);
  const pages = await collected(bars({ ...RANGE, as_of }).pages());
  assert.deepEqual(
    pages.map(({ count }) => count),
    [1_000, 500],
  );
  for (const { headers } of pages) assert.equal(Date.parse(headers.get('X-As-Of')!), as_of.getTime());
  const [newest] = await bourse.latest('crypto', 'GLOBAL:COIN', '1M', {
    limit: 1,
    as_of: as_of.toISOString(),
  });
  assert.equal(newest!.open, minutes[1_499]!.open);
});

const YEARS = { from: '2020-01-01', to: '2035-12-31' };
const wireYears = 'from_date=2020-01-01&to_date=2035-12-31';
const options = { ref_asset_price: 150 };

/** Each endpoint: its method, and the request that must have the same records. */
const calls: Readonly<Record<EndpointName, readonly [call: () => PromiseLike<unknown>, path: string]>> = {
  instrumentReference: [() => bourse.reference('stock', 'US:AAPL'), 'stock/reference/US:AAPL'],
  corporateActions: [
    () => bourse.actions('US:AAPL', YEARS).toArray(),
    `stock/stock_corporate_action/list/US:AAPL?${wireYears}&limit=1000`,
  ],
  newsList: [
    () => bourse.news({ ...YEARS, full_symbol: 'stock:US:*', sort: 'desc' }).toArray(),
    `news/list?${wireYears}&full_symbol=stock:US:*&sort=desc&limit=1000`,
  ],
  latestNews: [() => bourse.latestNews({ limit: 3 }), 'news/latest?limit=3'],
  optionSearch: [
    () => bourse.options('stock', 'US:AAPL', 'call', 'in_the_money', options).toArray(),
    'option/search/stock/US:AAPL/call/moneyness/in_the_money?ref_asset_price=150&limit=1000',
  ],
  optionExpirations: [
    () => bourse.expirations('stock', 'US:AAPL'),
    'option/expiration_date_list/stock/US:AAPL',
  ],
  holidayList: [
    () => bourse.holidays('stock:US:*', YEARS).toArray(),
    `holiday/list?full_symbol=stock:US:*&${wireYears}&limit=1000&format=json`,
  ],
  holidayCodes: [() => bourse.holidayCodes('US'), 'holiday/holiday_codes/US'],
  historicalBars: [
    () => bourse.bars('crypto', 'GLOBAL:COIN', '60M', RANGE).toArray(),
    'crypto/bars/GLOBAL:COIN/60M/from/2025-03-03/to/2025-03-10?limit=1000',
  ],
  latestBars: [
    () => bourse.latest('crypto', 'GLOBAL:COIN', '5M', { limit: 7, session_date: true }),
    'crypto/bars/GLOBAL:COIN/5M/latest?limit=7&session_date=true',
  ],
  economicEvents: [
    () => bourse.events({ ...YEARS, country_iso_code: 'US' }).toArray(),
    `economic_calendar/event_list?${wireYears}&country_iso_code=US&limit=1000&format=json`,
  ],
  economicEvent: [
    () => bourse.event({ event_code: 'BUSINESS_CLIMATE_IFO' }),
    'economic_calendar/event?event_code=BUSINESS_CLIMATE_IFO',
  ],
  economicEventCodes: [() => bourse.eventCodes('US'), 'economic_calendar/event_codes/US'],
  instrumentSearch: [
    () => bourse.search('stock', 'micro', { limit: 5 }),
    'stock/reference/search?query=micro&limit=5',
  ],
  latestOfMany: [
    async () =>
      (await bourse.latestOfMany('crypto', ['GLOBAL:COIN', 'GLOBAL:NONE'], '5M', { limit: 3 })).data,
    'crypto/bars/latest?symbols=GLOBAL:COIN,GLOBAL:NONE&interval=5M&limit=3',
  ],
  latestEconomicEvents: [
    () => bourse.latestEvents({ limit: 4, date_type: 'historical' }),
    'economic_calendar/latest_event_list?limit=4&date_type=historical&format=json',
  ],
  seriesCoverage: [() => bourse.coverage('crypto').toArray(), 'crypto/coverage?limit=1000'],
  sessionCoverage: [
    () => bourse.sessions('crypto', 'GLOBAL:COIN', { interval: '1M', sort: 'desc' }).toArray(),
    'crypto/coverage/GLOBAL:COIN?interval=1M&sort=desc&limit=1000',
  ],
  findings: [
    () => bourse.findings('stock', 'US:FLAWED', { severity: 'warning' }).toArray(),
    'stock/findings/US:FLAWED?severity=warning&limit=1000',
  ],
  runs: [() => bourse.runs({ sort: 'desc' }).toArray(), 'server/runs?sort=desc&limit=1000'],
  addressInfo: [() => bourse.addressInfo(), 'server/address_info'],
};

/** The records of a result, whatever its shape. */
function recordsOf(result: unknown): unknown {
  const { data = result } = result as { readonly data?: unknown };
  return typeof result === 'object' && 'expiration_datetimes' in result!
    ? Object.values(data as Readonly<Record<string, unknown[]>>).flat()
    : data;
}

for (const [name, [call, path]] of Object.entries(calls))
  test(`${name} has a method that gives its records, wherever the service has its key (contract 7.1)`, async () => {
    const address = `/api/v2/${path}${path.includes('?') ? '&' : '?'}secret_key=${key}`;
    const answer = await server.get(address);
    const { result } = (await answer.json()) as { result: unknown };
    assert.equal(answer.status, 200);
    const [got, wanted] = [await call(), recordsOf(result)];
    assert.deepEqual(got, wanted);
    assert.ok(Object.keys(got as object).length > 0, 'it is about something');
  });

test('bars in bulk come as the bytes that the service sends, in each format (contract 9.11)', async () => {
  const asked = { ...RANGE, symbols: ['COIN'], session_date: true };
  for (const format of ['csv', 'arrow', 'parquet'] as const) {
    const stream = await bourse.bulk('crypto', 'GLOBAL', '1M', { ...asked, format });
    const query = `symbols=COIN&session_date=true&format=${format}&secret_key=${key}`;
    const path = `/api/v2/crypto/bulk/bars/GLOBAL/1M/from/${RANGE.from}/to/${RANGE.to}?${query}`;
    const plain = await server.get(path);
    assert.equal(plain.status, 200);
    const wanted = Buffer.from(await plain.arrayBuffer());
    assert.ok(wanted.length > 1_000);
    const got = await buffer(stream);
    const other = got.findIndex((byte, at) => byte !== wanted[at]);
    assert.ok(got.equals(wanted), `${format}: byte ${other} of ${got.length} differs, of ${wanted.length}`);
  }
  const unknown = await failed(() =>
    bourse.bulk('crypto', 'GLOBAL', '1M', { ...RANGE, format: 'csv', symbols: ['COIM'] }),
  );
  assert.deepEqual([unknown.error, unknown.status], ['unknown_instrument', 404]);
});

test('pages of options have their contracts by expiration (contract 8.4)', async () => {
  const [page] = await collected(
    bourse.options('stock', 'US:AAPL', 'put', 'out_of_the_money', { ...options, limit: 9 }).pages(),
  );
  assert.ok(page!.count > 0 && page!.count <= 9);
  assert.deepEqual(Object.keys(page!.data), page!.expiration_datetimes);
  assert.equal(Object.values(page!.data).flat().length, page!.count);
});

test('a refusal has its word, status, parameter, hint and request (contract 6.2, 6.3)', async () => {
  const unknown = await failed(() => bourse.latest('crypto', 'GLOBAL:COIM', '1M'));
  assert.deepEqual([unknown.error, unknown.status], ['unknown_instrument', 404]);
  assert.match(unknown.hint!, /COIN/);
  assert.ok(unknown.requestId!.length > 0);
  const wrong = await failed(() => bars({ from: '2025-03-03', to: 'soon' }).toArray());
  assert.deepEqual([wrong.error, wrong.status, wrong.param], ['invalid_parameter', 400, 'to_date']);
  const none = await failed(() => bourse.event({ event_code: 'NO_SUCH_EVENT' }));
  assert.deepEqual([none.error, none.status], ['no_data', 404]);
});

test('an unknown key is an error that does not have it, nor has the client (contract 7.4)', async () => {
  const other = 'never-issued-never-issued-never-issued-00000';
  const stranger = new Bourse({ url: server.url, key: other });
  const error = await failed(() => stranger.holidayCodes('US'));
  assert.deepEqual([error.error, error.status], ['invalid_key', 401]);
  const rows = stranger.news(YEARS);
  for (const thing of [error, stranger, rows])
    for (const text of [JSON.stringify(thing), inspect(thing, { showHidden: true, depth: 9 })])
      assert.ok(!text.includes(other), text);
  assert.ok(!`${String(error)} ${error.stack}`.includes(other));
});

test('a parameter that the service does not know is an error, not an answer to another question (contract 4.4)', async () => {
  const mistyped = { ...RANGE, adjst: 'all' };
  const error = await failed(() => bars(mistyped).toArray());
  assert.deepEqual([error.error, error.status, error.param], ['ignored_parameter', 200, 'adjst']);
  assert.match(error.message, /adjst \(adjust\?\)/);
});
