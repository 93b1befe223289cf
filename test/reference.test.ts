// Instrument reference and search from file to wire: records, the market's defaults, the cache, former
// symbols (spec 4.2, contract 8.1, 9.2, 9.6).
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LocalServer } from './local-server.ts';
import { sharedData, Workshop } from './service.ts';
import { rowsOf } from './stores.ts';

const shop = new Workshop();
let server: LocalServer;
let key = '';
let files = 0;
const names = 'asset_schema,country_iso_code,symbol';

before(async () => {
  await imported('instruments', [
    `${names},name,exchange`,
    'stock,US,AAPL,Apple Inc.,XNAS',
    'stock,US,APP,AppLovin Corporation,XNAS',
    'stock,US,APLE,"Apple Hospitality REIT, Inc.",XNYS',
    'stock,US,GM,General Motors Company,XNYS',
    'stock,US,MC.PA,Société Générale d’Épargne,',
    'stock,US,^GSPC,S&P 500,',
    'stock,UK,AAPL,Apple of London plc,XLON',
    'stock,JP,7203,トヨタ自動車 Toyota Motor,',
    'stock,ZZ,X,,',
    'stock,AU,BHP,BHP Group,XASX',
    'forex,GLOBAL,EURUSD,,',
    'crypto,GLOBAL,BTC-USDT,,',
    'future,US,ESU23,,',
    'option,US,SPY250919C00450000,,',
  ]);
  server = await LocalServer.open(shop.store);
  ({ key } = server);
});
after(async () => {
  await server.close();
  shop.close();
});

/** Imports lines as a file; the run's number. */
async function imported(dataset: string, lines: readonly string[], ...flags: string[]): Promise<string> {
  const file = shop.path(`file-${++files}.csv`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  const told = await shop.must('import', dataset, file, '--json', ...flags);
  return String((JSON.parse(told) as { readonly runId: number }).runId);
}

type Record = Readonly<globalThis.Record<string, unknown>>;
type Envelope<T> = { code: number; reference: string | null; result: T; detail: Record };

async function ask<T>(path: string, query: Readonly<globalThis.Record<string, string>> = {}) {
  const text = new URLSearchParams({ ...query, secret_key: key }).toString();
  const response = await server.get(`/api/v2/${path}?${text}`);
  return (await response.json()) as Envelope<T>;
}

async function reference(schema: string, symbol: string): Promise<Record> {
  const { code, result } = await ask<Record>(`${schema}/reference/${symbol}`);
  assert.equal(code, 200, symbol);
  return result;
}

async function search(
  query: string,
  more: Readonly<globalThis.Record<string, string>> = {},
  schema = 'stock',
): Promise<string[]> {
  const { code, result } = await ask<{ count: number; data: Record[] }>(`${schema}/reference/search`, {
    query,
    ...more,
  });
  assert.equal(code, 200, query);
  assert.equal(result.count, result.data.length);
  return result.data.map((record) => `${String(record.country_iso_code)}:${String(record.symbol)}`);
}

test('a US stock has every field of the specification, in its order, null if unknown (spec 2.3, contract 8.1)', async () => {
  const record = await reference('Stock', 'us:aapl');
  const { instrument_id: id, asset_id: assetId, ...rest } = record;
  assert.ok(Number.isSafeInteger(id) && Number.isSafeInteger(assetId));
  assert.deepEqual(rest, {
    asset_schema: 'stock',
    symbol: 'AAPL',
    name: 'Apple Inc.',
    exchange: 'XNAS',
    country_iso_code: 'US',
    currency: 'USD',
    time_zone: 'America/New_York',
    open_time: '09:30:00',
    close_time: '16:00:00',
    trading_hours: {
      regular_trading: ['09:30:00-16:00:00'],
      pre_market_trading: ['04:00:00-09:30:00'],
      post_market_trading: ['16:00:00-20:00:00'],
    },
    status: 'active',
    calendar_key: 'US_STOCK',
    session_template: 'US_STOCK_RTH',
    support_dst: true,
    support_week_trading: false,
    underlying_name: null,
    is_indices: false,
    daily_minute_count: 390,
    contract_value: '1',
    description: null,
    asset_subtype: null,
    industry: null,
    trading_codes: null,
    parent_schema_instrument_id: null,
    contract_type: null,
    price_precision: null,
    quantity_precision: null,
    min_initial_open_quantity: null,
    tick_size: null,
    lot_size: null,
    listing_date: null,
  });
  const order =
    'asset_schema,symbol,name,exchange,country_iso_code,currency,time_zone,open_time,close_time,trading_hours,status,calendar_key,session_template,support_dst,support_week_trading,underlying_name,instrument_id,asset_id,is_indices,daily_minute_count,contract_value,description';
  assert.ok(Object.keys(record).join().startsWith(order));
  assert.equal(
    Object.keys(rest.trading_hours as object).join(),
    'regular_trading,pre_market_trading,post_market_trading',
  );
});

const defaults: readonly (readonly [schema: string, symbol: string, expected: Record])[] = [
  [
    'forex',
    'GLOBAL:EURUSD',
    {
      ...{ time_zone: 'America/New_York', open_time: '17:00:00', close_time: '17:00:00', exchange: 'GLOBAL' },
      ...{ trading_hours: { regular_trading: ['17:00:00-17:00:00'] }, daily_minute_count: 1440 },
      ...{ calendar_key: 'FOREX_GLOBAL', support_dst: true, support_week_trading: false },
      ...{ base_currency: 'EUR', quote_currency: 'USD', currency: 'USD' },
    },
  ],
  [
    'crypto',
    'GLOBAL:BTC-USDT',
    {
      ...{ time_zone: 'UTC', open_time: '00:00:00', close_time: '23:59:59', exchange: 'GLOBAL' },
      ...{ trading_hours: { regular_trading: ['00:00:00-23:59:59'] }, daily_minute_count: 1440 },
      ...{ calendar_key: 'CRYPTO_GLOBAL', support_dst: false, support_week_trading: true },
      ...{ base_currency: 'BTC', quote_currency: 'USDT', currency: 'USDT' },
    },
  ],
  [
    'stock',
    'JP:7203',
    {
      ...{ time_zone: 'Asia/Tokyo', open_time: '09:00:00', close_time: '15:30:00', currency: 'JPY' },
      trading_hours: {
        regular_trading: ['09:00:00-11:30:00', '12:30:00-15:30:00'],
        pre_market_trading: [],
        post_market_trading: [],
      },
      ...{ daily_minute_count: 330, calendar_key: 'JP_STOCK', exchange: 'XTKS', support_dst: false },
    },
  ],
  [
    'future',
    'US:ESU23',
    {
      ...{ time_zone: 'America/Chicago', open_time: '17:00:00', close_time: '16:00:00' },
      ...{ trading_hours: { regular_trading: ['17:00:00-16:00:00'] }, daily_minute_count: 1380 },
      ...{ calendar_key: 'US_FUTURE', contract_value: null },
    },
  ],
  [
    'option',
    'US:SPY250919C00450000',
    {
      ...{ trading_hours: { regular_trading: ['09:30:00-16:00:00'] }, daily_minute_count: 390 },
      ...{ calendar_key: 'US_STOCK', contract_value: '100', currency: 'USD' },
    },
  ],
  [
    'stock',
    'ZZ:X',
    {
      ...{ time_zone: 'UTC', open_time: null, close_time: null, currency: null, exchange: null },
      trading_hours: { regular_trading: [], pre_market_trading: [], post_market_trading: [] },
      ...{ daily_minute_count: null, calendar_key: null, session_template: null, status: 'active' },
    },
  ],
];

for (const [schema, symbol, expected] of defaults) {
  test(`what no file says of ${schema} ${symbol} comes from its market (contract 8.1, 11)`, async () => {
    const record = await reference(schema, symbol);
    for (const [field, value] of Object.entries(expected)) assert.deepEqual(record[field], value, field);
    const isPair = schema === 'forex' || schema === 'crypto';
    assert.equal('base_currency' in record, isPair);
    assert.equal('quote_currency' in record, isPair);
  });
}

test('a delisting date is not in the record; after it the status is inactive, where no file says it (spec 2.3, contract 3.9)', async () => {
  await imported('instruments', [
    `${names},status,delisting_date`,
    'stock,US,GONE,,2018-06-15',
    'stock,US,TOBEGONE,,2199-12-31',
    'stock,US,SAIDSO,active,2018-06-15',
  ]);
  const fields = Object.keys(await reference('stock', 'US:AAPL')).join();
  const statusOf = async (symbol: string) => {
    const record = await reference('stock', `US:${symbol}`);
    assert.equal(Object.keys(record).join(), fields);
    return record.status;
  };
  assert.deepEqual(
    [await statusOf('GONE'), await statusOf('TOBEGONE'), await statusOf('SAIDSO')],
    ['inactive', 'active', 'active'],
  );
});

test('what a file says wins, and hours that it gives make open, close and minutes (contract 8.1, 11)', async () => {
  await imported(
    'instruments',
    [
      `${names},trading_hours,time_zone,status,currency,price_precision,contract_value`,
      'stock,US,OWN,"{""regular_trading"":[""10:00:00-12:00:00"",""13:00:00-15:30:00""]}",Asia/Tokyo,inactive,JPY,2,10',
      'crypto,GLOBAL,WETHXYZ,,,,,,',
    ].map((line) => line.replace(/,,,,,,$/, ',,,,,')),
  );
  const record = await reference('stock', 'US:OWN');
  assert.deepEqual(
    [record.open_time, record.close_time, record.daily_minute_count, record.time_zone, record.support_dst],
    ['10:00:00', '15:30:00', 270, 'Asia/Tokyo', false],
  );
  assert.deepEqual([record.status, record.currency, record.contract_value], ['inactive', 'JPY', '10']);
  assert.deepEqual(record.trading_hours, {
    regular_trading: ['10:00:00-12:00:00', '13:00:00-15:30:00'],
    pre_market_trading: [],
    post_market_trading: [],
  });
  const { base_currency: base, quote_currency: quote } = await reference('crypto', 'GLOBAL:WETHXYZ');
  assert.deepEqual([base, quote], [null, null]);
});

test('a record is cached until anything is committed, and then new at once (spec 2.1, contract 8.1)', async () => {
  const one = () => ask<Record>('stock/reference/AU:BHP');
  await imported('instruments', [`${names},name`, 'stock,AU,OTHER,Other']);
  assert.deepEqual([(await one()).reference, (await one()).reference], [null, 'cached']);
  const run = await imported('instruments', [`${names},name`, 'stock,AU,BHP,BHP Group Limited']);
  const fresh = await one();
  assert.deepEqual([fresh.reference, fresh.result.name], [null, 'BHP Group Limited']);
  const kept = await one();
  assert.deepEqual([kept.reference, kept.result], ['cached', fresh.result]);
  await shop.must('undo', run);
  const back = await one();
  assert.deepEqual([back.reference, back.result.name], [null, 'BHP Group']);
});

test('an unknown symbol is a 404 with near ones (contract 6.3)', async () => {
  const { code, detail } = await ask('stock/reference/US:AAPLE');
  assert.deepEqual([code, detail.error, detail.param], [404, 'unknown_instrument', 'country_symbol']);
  assert.match(String(detail.hint), /AAPL/);
  assert.equal((await ask('forex/reference/US:AAPL')).code, 404);
});

const searches: readonly (readonly [
  query: string,
  found: string[],
  more?: globalThis.Record<string, string>,
])[] = [
  // The symbol begins so, in order; then names that have the word, once each.
  ['AP', ['US:APLE', 'US:APP', 'US:AAPL', 'UK:AAPL']],
  ['ap', ['US:APLE', 'US:APP'], { limit: '2' }],
  ['aapl', ['UK:AAPL', 'US:AAPL']],
  ['aapl', ['US:AAPL'], { country_iso_code: 'us' }],
  ['aapl', [], { country_iso_code: 'DE' }],
  ['apple', ['US:APLE', 'US:AAPL', 'UK:AAPL']],
  ['motors', ['US:GM']],
  ['general mot', ['US:GM']],
  ['company general', ['US:GM']],
  ['comp mot', ['US:GM']],
  ['general electric', []],
  ['societe generale', ['US:MC.PA']],
  ['ÉPARGNE', ['US:MC.PA']],
  ['s&p 5', ['US:^GSPC']],
  ['^gs', ['US:^GSPC']],
  ['トヨタ', ['JP:7203']],
  ['72', ['JP:7203']],
  ['eur', []],
  ['*', []],
  ['%', []],
  ['_', []],
  ['" or 1=1 --', []],
];

for (const [query, found, more = {}] of searches) {
  test(`searching ${query} ${JSON.stringify(more)} gives ${found.join(' ') || 'nothing'} (contract 9.2)`, async () => {
    assert.deepEqual(await search(query, more), found);
  });
}

test('what is found are whole reference records of one asset type (contract 9.2)', async () => {
  const { result } = await ask<{ data: Record[] }>('stock/reference/search', { query: 'general motors' });
  assert.deepEqual(result.data, [await reference('stock', 'US:GM')]);
  assert.deepEqual(Object.keys(result), ['count', 'data']);
  assert.deepEqual(await search('eur', {}, 'forex'), ['GLOBAL:EURUSD']);
});

test('a search without a text, or for more than 100, is a 400 (contract 4.4, 9.2)', async () => {
  assert.equal((await ask('stock/reference/search')).detail.param, 'query');
  assert.equal((await ask('stock/reference/search', { query: '' })).detail.param, 'query');
  assert.equal((await ask('stock/reference/search', { query: 'a'.repeat(101) })).code, 400);
  assert.equal((await ask('stock/reference/search', { query: 'a', limit: '101' })).detail.param, 'limit');
});

test('a search follows what is imported, renamed, deleted and taken back (contract 9.2, 10)', async () => {
  const run = await imported('instruments', [`${names},name`, 'stock,US,NEWCO,Brand New Things']);
  assert.deepEqual(await search('things'), ['US:NEWCO']);
  const rename = await imported('instruments', [`${names},name`, 'stock,US,NEWCO,Old Wares']);
  assert.deepEqual([await search('things'), await search('wares')], [[], ['US:NEWCO']]);
  await shop.must('undo', run);
  assert.deepEqual([await search('things'), await search('wares')], [[], ['US:NEWCO']]);
  await shop.must('undo', rename);
  assert.deepEqual([await search('newco'), await search('wares')], [[], []]);
  await imported('instruments', [`${names},name`, 'stock,US,NEWCO,Old Wares']);
  await shop.must('delete', 'instruments', '--country', 'US', '--symbol', 'NEWCO');
  assert.deepEqual([await search('newco'), await search('wares')], [[], []]);
});

const barsHead = 'symbol,datetime,open,high,low,close';
const barFlags = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY'];
const bar = (symbol: string, day: string, price: number): string =>
  `${symbol},${day},${price},${price},${price},${price}`;

async function bars(symbol: string, from: string, to: string): Promise<unknown[]> {
  const { code, result } = await ask<{ data: Record[] }>(`stock/bars/US:${symbol}/DAY/from/${from}/to/${to}`);
  return code === 200 ? result.data.map((one) => [one.symbol, one.close]) : [code];
}

test('a former symbol finds the instrument within its dates, and rows under it attach by date (contract 9.6)', async () => {
  await imported('instruments', [
    `${names},name,former_symbols`,
    'stock,US,META,Meta Platforms,FB:2012-05-18..2022-06-08',
  ]);
  await imported(
    'bars',
    [
      barsHead,
      ...[bar('FB', '2012-05-17', 9), bar('FB', '2012-05-18', 1), bar('FB', '2022-06-08', 2)],
      ...[bar('META', '2022-06-09', 3), bar('FB', '2022-06-09', 8)],
    ],
    ...barFlags,
  );
  assert.deepEqual(await bars('META', '2012-01-01', '2022-12-31'), [
    ['META', 1],
    ['META', 2],
    ['META', 3],
  ]);
  assert.deepEqual(await bars('FB', '2012-05-18', '2012-05-18'), [['META', 1]]);
  assert.deepEqual(await bars('FB', '2013-01-01', '2022-06-08'), [['META', 2]]);
  assert.deepEqual(await bars('FB', '2012-01-01', '2022-12-31'), [
    ['FB', 9],
    ['FB', 8],
  ]);
  assert.deepEqual(await search('FB'), ['US:FB', 'US:META']);
});

test('a former symbol that nobody has now is found by a range that meets its dates, and told of otherwise (contract 9.6)', async () => {
  await imported('instruments', [
    `${names},former_symbols`,
    'stock,US,NEWA,OLDA:2010-01-01..2015-12-31 OLDER:2000-01-03..2009-12-31',
  ]);
  const run = await imported(
    'bars',
    [barsHead, bar('OLDA', '2015-06-01', 5), bar('OLDER', '2009-06-01', 4)],
    ...barFlags,
  );
  assert.deepEqual(await bars('NEWA', '2000-01-01', '2020-01-01'), [
    ['NEWA', 4],
    ['NEWA', 5],
  ]);
  assert.deepEqual(await bars('OLDA', '2015-01-01', '2020-01-01'), [['NEWA', 5]]);
  assert.deepEqual(await bars('OLDA', '2016-01-01', '2020-01-01'), [404]);
  const { code, detail } = await ask('stock/reference/US:OLDA');
  assert.equal(code, 404);
  assert.match(String(detail.hint), /OLDA was the symbol of NEWA from 2010-01-01 to 2015-12-31/);
  await shop.must('undo', run);
  assert.deepEqual(await bars('NEWA', '2000-01-01', '2020-01-01'), []);
});

test('a range in which a symbol had several bearers is answered with one, and the header names the others (contract 9.6)', async () => {
  await imported('instruments', [
    `${names},former_symbols`,
    ...['stock,US,NEWC,OLDC:2010-01-04..2015-06-10', 'stock,US,OLDC,'],
    'stock,US,NEWD,OLDD:2010-01-04..2012-12-31',
    'stock,US,NEWE,OLDD:2013-01-02..2015-06-10',
    'stock,US,OLDG,OLDG:2010-01-04..2012-12-31 MIDG:2013-01-02..2015-06-10',
  ]);
  await imported(
    'bars',
    [
      barsHead,
      ...['2015-06-08', '2015-06-09', '2015-06-10'].map((day) => bar('NEWC', day, 1)),
      ...['2015-06-11', '2015-06-12', '2015-06-30'].map((day) => bar('OLDC', day, 2)),
      ...[bar('NEWD', '2012-12-31', 3), bar('NEWE', '2013-01-02', 4), bar('NEWE', '2015-06-12', 5)],
      bar('OLDG', '2015-06-11', 6),
    ],
    ...barFlags,
    ...['--symbols', 'now'],
  );
  const told = async (path: string, query: Readonly<globalThis.Record<string, string>> = {}) => {
    const text = new URLSearchParams({ ...query, format: 'csv', secret_key: key }).toString();
    const response = await server.get(`/api/v2/${path}?${text}`);
    const [header = '', ...lines] = (await response.text()).trimEnd().split('\r\n');
    const at = header.split(',').indexOf('symbol');
    const exposed = response.headers.get('Access-Control-Expose-Headers') ?? '';
    assert.ok(exposed.includes('X-Symbol-History'));
    return [response.headers.get('X-Symbol-History'), ...lines.map((line) => line.split(',')[at])];
  };
  const one = 'OLDC was NEWC from 2010-01-04 to 2015-06-10; this answer has OLDC';
  const range = (symbol: string, interval: string, from: string, to: string) =>
    told(`stock/bars/US:${symbol}/${interval}/from/${from}/to/${to}`);
  const june = ['2015-06-08', '2015-06-12'] as const;
  assert.deepEqual(await range('OLDC', 'DAY', ...june), [one, 'OLDC', 'OLDC']);
  assert.deepEqual(await range('OLDC', 'WEEK', '2015-06-01', '2015-06-14'), [one, 'OLDC']);
  assert.deepEqual(await range('OLDC', 'MON', '2015-06-01', '2015-06-30'), [one, 'OLDC']);
  assert.deepEqual(await range('OLDC', 'DAY', '2015-06-08', '2015-06-10'), [null, 'NEWC', 'NEWC', 'NEWC']);
  assert.deepEqual(await range('OLDC', 'DAY', '2015-06-11', '2015-06-12'), [null, 'OLDC', 'OLDC']);
  assert.deepEqual(await range('NEWC', 'DAY', ...june), [null, 'NEWC', 'NEWC', 'NEWC']);
  const both =
    'OLDD was NEWE from 2013-01-02 to 2015-06-10, NEWD from 2010-01-04 to 2012-12-31; this answer has NEWE';
  assert.deepEqual(await range('OLDD', 'DAY', '2012-01-01', '2014-12-31'), [both, 'NEWE']);
  const part = 'OLDD was NEWE from 2013-01-02 to 2015-06-10; this answer has NEWE';
  assert.deepEqual(await range('OLDD', 'DAY', '2015-01-01', '2015-12-31'), [part, 'NEWE']);
  // An instrument that has its old symbol again is no other one.
  assert.deepEqual(await range('OLDG', 'DAY', '2012-01-01', '2015-12-31'), [null, 'OLDG']);
  const dates = { from_date: june[0], to_date: june[1] };
  assert.deepEqual(await told('stock/stock_corporate_action/list/US:OLDC', dates), [one]);
  assert.deepEqual(await told('news/list', { full_symbol: 'stock:US:OLDC', ...dates }), [one]);
  assert.deepEqual(await told('news/list', { full_symbol: 'stock:US:*', ...dates }), [null]);
});

test('the dates of a former symbol are those of the market, whatever the offset of a bound (contract 2.3, 9.6)', async () => {
  await imported('instruments', [
    `${names},former_symbols`,
    'stock,US,NEWF,OLDF:2015-06-08..2015-06-10',
    'stock,US,OLDF,',
  ]);
  await imported(
    'bars',
    [barsHead, bar('NEWF', '2015-06-10', 1), bar('OLDF', '2015-06-11', 2)],
    ...barFlags,
    '--symbols',
    'now',
  );
  // 00:00 in UTC is 20:00 of the day before in New York.
  assert.deepEqual(await bars('OLDF', '2015-06-09T00:00:00Z', '2015-06-11T00:00:00Z'), [['NEWF', 1]]);
  assert.deepEqual(await bars('OLDF', '2015-06-10T00:00:00Z', '2015-06-11T03:59:59+00:00'), [['NEWF', 1]]);
  assert.deepEqual(await bars('OLDF', '2015-06-11T04:00:00Z', '2015-06-12T00:00:00Z'), [['OLDF', 2]]);
  // Midnight without an offset is a session's date, as clients write dates out.
  assert.deepEqual(await bars('OLDF', '2015-06-10T00:00:00', '2015-06-10 00:00:00'), [['NEWF', 1]]);
  assert.deepEqual(await bars('OLDF', '2015-06-11T00:00:00', '2015-06-11 00:00:00'), [['OLDF', 2]]);
});

test('an old symbol finds actions and news of a range within its dates (contract 9.6)', async () => {
  await imported('instruments', [`${names},former_symbols`, 'stock,US,NEWS2,OLDS2:2010-01-04..2015-12-31']);
  const now = ['--symbols', 'now'];
  await imported(
    'corporate-actions',
    ['country_iso_code,symbol,action_type,ex_date,cash_amount', 'US,NEWS2,dividend,2015-06-01,1'],
    ...now,
  );
  await imported(
    'news',
    [
      'published_date,title,publisher_url,asset_name,country_iso_code,symbol',
      '2015-06-01T12:00:00Z,Old,https://example.com/,stock,US,NEWS2',
    ],
    ...now,
  );
  type Dates = { readonly from_date: string; readonly to_date: string };
  const actions = (dates: Dates) => ask('stock/stock_corporate_action/list/US:OLDS2', dates);
  const news = (dates: Dates) => ask('news/list', { full_symbol: 'stock:US:OLDS2', ...dates });
  const within = { from_date: '2015-01-01', to_date: '2015-12-31' };
  for (const { code, result } of [await actions(within), await news(within)]) {
    assert.equal(code, 200);
    assert.deepEqual(
      (result as { data: { symbol: string }[] }).data.map(({ symbol }) => symbol),
      ['NEWS2'],
    );
  }
  const after = { from_date: '2016-01-01', to_date: '2016-12-31' };
  for (const { code } of [await actions(after), await news(after)]) assert.equal(code, 404);
});

test('actions, news, contracts and days of their own under a former symbol attach by date (contract 9.6)', async () => {
  await imported('instruments', [`${names},former_symbols`, 'stock,US,NEWROW,OLDROW:2010-01-04..2015-12-31']);
  const runs = [
    await imported('corporate-actions', [
      'country_iso_code,symbol,action_type,ex_date,cash_amount',
      ...['2010-01-03', '2010-01-04', '2015-12-31', '2016-01-01'].map((day) => `US,OLDROW,dividend,${day},1`),
    ]),
    // Evening in New York is the next day in UTC.
    await imported('news', [
      'published_date,title,publisher_url,asset_name,country_iso_code,symbol',
      ...['2010-01-04T04:59:59Z', '2010-01-04T05:00:00Z', '2016-01-01T04:59:59Z', '2016-01-01T05:00:00Z'].map(
        (instant) => `${instant},${instant},https://example.com/,stock,US,OLDROW`,
      ),
    ]),
    await imported('option-contracts', [
      'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type,listing_date',
      'OLDROW151218C00010000,US,stock,OLDROW,10,2015-12-18,call,',
      'OLDROW160115C00010000,US,stock,OLDROW,10,2016-01-15,call,2015-06-01',
      'OLDROW160219C00010000,US,stock,OLDROW,10,2016-02-19,call,',
    ]),
    await imported('holidays', [
      'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template',
      'Halt,HOLIDAY_HALT,2015-06-01,stock,US,OLDROW,CLOSED',
    ]),
  ];
  const url = shop.store;
  const dayOf = (date: string): number => Date.parse(date) / 86_400_000;
  const of = (table: string, column: string, what: string) =>
    rowsOf(
      url,
      `select ${column} as name, ${what} as what from ${table} where ${column} like '%ROW' order by what`,
    ).map(({ name, what: said }) => `${String(name)} ${String(said)}`);
  assert.deepEqual(of('corporate_actions', 'symbol', 'ex_date'), [
    `OLDROW ${dayOf('2010-01-03')}`,
    `NEWROW ${dayOf('2010-01-04')}`,
    `NEWROW ${dayOf('2015-12-31')}`,
    `OLDROW ${dayOf('2016-01-01')}`,
  ]);
  assert.deepEqual(of('news', 'symbol', 'title'), [
    'OLDROW 2010-01-04T04:59:59Z',
    'NEWROW 2010-01-04T05:00:00Z',
    'NEWROW 2016-01-01T04:59:59Z',
    'OLDROW 2016-01-01T05:00:00Z',
  ]);
  assert.deepEqual(of('option_contracts', 'underlying_name', 'symbol'), [
    'NEWROW OLDROW151218C00010000',
    'NEWROW OLDROW160115C00010000',
    'OLDROW OLDROW160219C00010000',
  ]);
  assert.deepEqual(of('holidays', 'symbol', 'name'), ['NEWROW Halt']);
  const [parent] = rowsOf(
    url,
    `select i.instrument_id as id, o.parent_schema_instrument_id as parent from instruments i, instruments o
      where i.symbol = 'NEWROW' and o.symbol = 'OLDROW160115C00010000'`,
  );
  assert.equal(parent!.parent, `stock_${String(parent!.id)}`);
  for (const run of runs.toReversed()) await shop.must('undo', run);
  assert.deepEqual(of('instruments', 'symbol', "''"), ['NEWROW ']);
});

const constituents = join(sharedData, 'reference/sp500_constituents.csv');

test('a list of constituents is found by symbol and name (contract 9.2, 11)', {
  skip: existsSync(constituents) ? false : `no ${constituents}`,
}, async () => {
  const map = shop.path('map.json');
  const columns = { symbol: 'Symbol', name: 'Security', industry: 'GICS Sector' };
  const values = { asset_schema: 'stock', country_iso_code: 'US' };
  writeFileSync(map, JSON.stringify({ columns, values }));
  await shop.must('import', 'instruments', constituents, '--map', map);
  assert.ok((await search('berkshire')).includes('US:BRK.B'));
  assert.ok((await search('brk')).includes('US:BRK.B'));
  assert.deepEqual((await search('microsoft'))[0], 'US:MSFT');
  assert.equal((await reference('stock', 'US:MSFT')).industry, 'Information Technology');
});
