// Option contracts from file to wire: imports, the search and the expirations (spec 2.6, 4.6, 4.7, contract
// 8.4, 8.5, 11).
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LocalServer } from './local-server.ts';
import { sharedData, Workshop } from './service.ts';
import { rowsOf } from './stores.ts';

const shop = new Workshop();
const head =
  'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type';
const chain = [
  head,
  'SPY991217C00450000,US,stock,SPY,450,2099-12-17,call',
  'SPY991217C00460000,US,stock,SPY,460,2099-12-17,call',
  'SPY991217P00450000,us,Stock,spy,450.0,2099-12-17,P',
  'SPY240119C00450000,US,stock,SPY,450,2024-01-19,Call',
];

let server: LocalServer;
let key = '';
before(async () => {
  await imported('chain.csv', chain);
  server = await LocalServer.open(shop.store);
  ({ key } = server);
});
after(async () => {
  await server.close();
  shop.close();
});

async function imported(
  name: string,
  lines: readonly string[],
  ...flags: readonly string[]
): Promise<string> {
  const file = shop.path(name);
  writeFileSync(file, [...lines, ''].join('\n'));
  return shop.must('import', 'option-contracts', file, ...flags);
}

type Contract = Readonly<Record<string, string | number | boolean | null>>;
type Page = {
  readonly count: number;
  readonly next_page_key: string | null;
  readonly next_page_url: string | null;
  readonly expiration_datetimes: readonly string[];
  readonly data: Readonly<Record<string, readonly Contract[]>>;
};
type Query = Readonly<Record<string, string>>;

const ask = (path: string, query: Query = {}): Promise<Response> =>
  server.get(`/api/v2/option/${path}?${new URLSearchParams({ ...query, secret_key: key }).toString()}`);

async function pageAt(response: Promise<Response>): Promise<Page> {
  const got = await response;
  const text = await got.text();
  assert.equal(got.status, 200, text);
  return (JSON.parse(text) as { result: Page }).result;
}

/** `SPY call in`: the search by its words. */
function search(words: string, query: Query = {}): Promise<Response> {
  const [symbol = '', type = '', side = ''] = words.split(' ');
  return ask(`search/stock/US:${symbol}/${type}/moneyness/${side}_the_money`, query);
}

const symbolsOf = ({ data }: Page): unknown[] =>
  Object.values(data).flatMap((group) => group.map((one) => one.symbol));

test('a contract has every field in order, what the file leaves out from its market (spec 2.6, contract 8.4)', async () => {
  const page = await pageAt(search('SPY call in', { ref_asset_price: '455' }));
  assert.deepEqual(Object.keys(page), [
    ...['count', 'next_page_key', 'next_page_url', 'expiration_datetimes', 'data'],
  ]);
  assert.deepEqual(
    [page.count, page.next_page_key, page.next_page_url, page.expiration_datetimes],
    [2, null, null, ['2099-12-17T21:00:00Z', '2024-01-19T21:00:00Z']],
  );
  const [contract] = page.data['2099-12-17T21:00:00Z']!;
  const { instrument_id: id, asset_id: asset, parent_schema_instrument_id: parent, ...rest } = contract!;
  assert.ok(Number.isInteger(id) && Number.isInteger(asset));
  assert.match(String(parent), /^stock_\d+$/);
  assert.deepEqual(rest, {
    symbol: 'SPY991217C00450000',
    country_iso_code: 'US',
    exchange: null,
    underlying_name: 'SPY',
    calendar_key: 'US_STOCK',
    session_template: 'US_STOCK_RTH',
    status: 'active',
    parent_asset_schema: 'stock',
    daily_minute_count: 390,
    contract_value: 100,
    option_exchange: null,
    strike_price: 450,
    expiration_date: '2099-12-17',
    expiration_datetime: '2099-12-17T21:00:00+00:00',
    option_type: 'call',
    exercise_style: 'american',
    trading_codes: null,
    is_indices: false,
    contract_type: null,
    price_precision: null,
    quantity_precision: null,
    min_initial_open_quantity: null,
    tick_size: null,
    lot_size: null,
    listing_date: null,
  });
  const order =
    'instrument_id asset_id symbol country_iso_code exchange underlying_name calendar_key session_template status parent_schema_instrument_id parent_asset_schema daily_minute_count contract_value option_exchange strike_price expiration_date expiration_datetime option_type exercise_style';
  assert.equal(Object.keys(contract!).slice(0, 19).join(' '), order);
});

test('strikes equal to the price belong to neither side (spec 4.6 rules 1 and 2, contract 8.4)', async () => {
  const strikes = async (words: string): Promise<unknown[]> =>
    Object.values((await pageAt(search(words, { ref_asset_price: '450' }))).data)
      .flat()
      .map((one) => one.strike_price);
  assert.deepEqual(await strikes('SPY call in'), []);
  assert.deepEqual(await strikes('SPY call out_of'), [460]);
  assert.deepEqual(await strikes('SPY put in'), []);
  assert.deepEqual(await strikes('SPY put out_of'), []);
});

test('the next page’s address works as it is, groups go on across pages (spec 4.6 rule 4, contract 4.3, 8.4)', async () => {
  const first = await pageAt(
    search('SPY call in', {
      ref_asset_price: '500',
      limit: '1',
      sort_by: 'Strike_Price DESC, expiration_date',
    }),
  );
  assert.match(first.next_page_url!, /sort_by=strike_price%20desc%2Cexpiration_date%20asc&.*next_page_key=/);
  assert.match(first.next_page_url!, /ref_asset_price=500&limit=1&/);
  const second = await pageAt(server.get(first.next_page_url!));
  const third = await pageAt(server.get(second.next_page_url!));
  assert.deepEqual([first, second, third].flatMap(symbolsOf), [
    'SPY991217C00460000',
    'SPY240119C00450000',
    'SPY991217C00450000',
  ]);
  assert.deepEqual(third.expiration_datetimes, first.expiration_datetimes);
});

test('a page key belongs to its filters and its order (contract 4.1)', async () => {
  const query = { ref_asset_price: '500', limit: '1' };
  const { next_page_key } = await pageAt(search('SPY call in', query));
  const others: readonly (readonly [words: string, query: Query])[] = [
    ['SPY put out_of', query],
    ['SPY call out_of', query],
    ['SPY call in', { limit: '1' }],
    ['SPY call in', { ...query, ref_asset_price: '500.01' }],
    ['SPY call in', { ...query, strike_price: '450' }],
    ['SPY call in', { ...query, expiration_date: '2099-12-17' }],
    ['SPY call in', { ...query, sort_by: 'symbol' }],
  ];
  for (const [words, other] of others) {
    const response = await search(words, { ...other, next_page_key: next_page_key! });
    assert.match(await response.text(), /"error":"invalid_page_key"/, JSON.stringify(other));
  }
  assert.equal(
    (await search('SPY call in', { ...query, limit: '7', next_page_key: next_page_key! })).status,
    200,
  );
});

const wrong: readonly (readonly [path: string, query: Query, status: number, problem: RegExp])[] = [
  [
    'search/stock/US:SPY/call/moneyness/at_the_money',
    {},
    400,
    /moneyness must be one of in_the_money, out_of_the_money/,
  ],
  ['search/stock/US:SPY/calls/moneyness/in_the_money', {}, 400, /option_type must be one of call, put/],
  ['search/bond/US:SPY/call/moneyness/in_the_money', {}, 400, /schema_asset must be one of/],
  [
    'search/stock/US:SPY/call/moneyness/in_the_money',
    { sort_by: 'price' },
    400,
    /sort_by must name fields of strike_price, .*"allowed":\["strike_price"/,
  ],
  [
    'search/stock/US:SPY/call/moneyness/in_the_money',
    { sort_by: 'symbol; drop table' },
    400,
    /"param":"sort_by"/,
  ],
  [
    'search/stock/US:SPY/call/moneyness/in_the_money',
    { sort_by: 'symbol,,status' },
    400,
    /"param":"sort_by"/,
  ],
  ['search/stock/US:SPY/call/moneyness/in_the_money', { sort_by: 'symbol down' }, 400, /"param":"sort_by"/],
  ['search/stock/US:SPY/call/moneyness/in_the_money', { sort_by: '__proto__' }, 400, /"param":"sort_by"/],
  [
    'search/stock/US:SPY/call/moneyness/in_the_money',
    { strike_price: 'high' },
    400,
    /strike_price must be a decimal number/,
  ],
  [
    'search/stock/US:SPY/call/moneyness/in_the_money',
    { ref_asset_price: '1e99' },
    400,
    /ref_asset_price must be a decimal number/,
  ],
  [
    'search/stock/US:SPY/call/moneyness/in_the_money',
    { ref_asset_price: '' },
    400,
    /ref_asset_price is empty/,
  ],
  [
    'search/stock/US:SPY/call/moneyness/in_the_money',
    { expiration_date: '2025-02-30' },
    400,
    /expiration_date must be a real date/,
  ],
  [
    'search/stock/US:SPY/call/moneyness/in_the_money',
    { limit: '1001' },
    400,
    /limit must be a whole number from 1 to 1000/,
  ],
  ['search/stock/US:SPX/call/moneyness/in_the_money', {}, 404, /unknown_instrument.*Did you mean US:SPY/],
  ['search/stock/US:SPY/call/moneyness/in_the_money', {}, 404, /"error":"no_data","param":"ref_asset_price"/],
  ['expiration_date_list/stock/US:SPX', {}, 404, /unknown_instrument.*Did you mean US:SPY/],
  ['expiration_date_list/stock/SPY', {}, 400, /country_symbol must be a country and a symbol/],
];
for (const [path, query, status, problem] of wrong) {
  test(`${path}?${new URLSearchParams(query).toString()} is a ${status} that says why (contract 4.4, 6.3)`, async () => {
    const response = await ask(path, query);
    assert.equal(response.status, status);
    assert.match(await response.text(), problem);
  });
}

test('an underlying without contracts has none, at any price that it can have: an empty list, no error (contract 6.3)', async () => {
  const file = shop.path('qqq.csv');
  writeFileSync(file, 'asset_schema,country_iso_code,symbol\nstock,US,QQQ\n');
  await shop.must('import', 'instruments', file);
  const page = await pageAt(search('QQQ call in', { ref_asset_price: '0.01' }));
  assert.deepEqual(page, {
    count: 0,
    next_page_key: null,
    next_page_url: null,
    expiration_datetimes: [],
    data: {},
  });
  const list = (await (await ask('expiration_date_list/stock/US:QQQ')).json()) as { result: unknown };
  assert.deepEqual(list.result, []);
});

test('a contract is an instrument: its bars are asked for, and none is no error (contract 6.3, 8.9)', async () => {
  const path = '/api/v2/option/bars/US:SPY991217C00450000/DAY/latest';
  const { result } = (await (await server.get(`${path}?secret_key=${key}`)).json()) as { result: Page };
  assert.equal(result.count, 0);
});

test('an operator’s early close moves the expirations that no file gives (contract 8.5, 8.6)', async () => {
  const list = async (): Promise<unknown> => {
    const { result } = (await (await ask('expiration_date_list/stock/US:SPY')).json()) as { result: unknown };
    return result;
  };
  const at = (time: string) => [
    { expiration_date: '2099-12-17', expiration_datetime: `2099-12-17T${time}+00:00` },
  ];
  assert.deepEqual(await list(), at('21:00:00'));
  const file = shop.path('early.csv');
  const day = 'Half,HOLIDAY_OWN,2099-12-17,stock,US,*,EARLY_CLOSE,2099-12-17T18:00:00Z';
  writeFileSync(
    file,
    `name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template,close_timestamp\n${day}\n`,
  );
  await shop.must('import', 'holidays', file);
  // Connections fall on either worker.
  for (const answer of await Promise.all(Array.from({ length: 10 }, list)))
    assert.deepEqual(answer, at('18:00:00'));
});

test('every optional field of a file goes to the contract, and to the instrument that it is (contract 11)', async () => {
  const given: Readonly<Record<string, string>> = {
    ...{ exchange: 'xcbo', calendar_key: 'OWN', session_template: 'OWN_RTH', status: 'inactive' },
    ...{ daily_minute_count: '405', contract_value: '10.5', option_exchange: 'opra', is_indices: 'true' },
    ...{ expiration_datetime: '2098-12-18T14:30:00+01:00', exercise_style: 'European', trading_codes: 'A;B' },
    ...{ contract_type: 'weekly, "mini"', price_precision: '2', quantity_precision: '0', tick_size: '0.05' },
    ...{ min_initial_open_quantity: '1', lot_size: '1', listing_date: '2090-01-02' },
  };
  const cells = Object.values(given).map((cell) => `"${cell.replaceAll('"', '""')}"`);
  const row = `SPX  981218P05000000,GLOBAL,future,ES,-5,2098-12-18,put,${cells.join()}`;
  await imported('full.csv', [`${head},${Object.keys(given).join()}`, row]);
  const path = 'search/future/GLOBAL:ES/put/moneyness/out_of_the_money';
  const page = await pageAt(ask(path, { ref_asset_price: '0' }));
  const [contract] = page.data['2098-12-18T13:30:00Z']!;
  const expected = {
    ...given,
    symbol: 'SPX981218P05000000',
    strike_price: -5,
    expiration_datetime: '2098-12-18T13:30:00+00:00',
    ...{ exchange: 'XCBO', option_exchange: 'OPRA', exercise_style: 'european', is_indices: true },
    ...{ daily_minute_count: 405, contract_value: 10.5, price_precision: 2, quantity_precision: 0 },
    ...{ tick_size: 0.05, min_initial_open_quantity: 1, lot_size: 1 },
  };
  for (const [field, value] of Object.entries(expected)) assert.equal(contract![field], value, field);
  const [instrument] = rowsOf(
    shop.store,
    "select * from instruments where asset_schema = 'option' and symbol = 'SPX981218P05000000'",
  );
  assert.deepEqual(
    ['instrument_id', 'underlying_name', 'parent_schema_instrument_id', 'status', 'exchange'].map(
      (field) => instrument![field],
    ),
    ['instrument_id', 'underlying_name', 'parent_schema_instrument_id', 'status', 'exchange'].map(
      (field) => contract![field],
    ),
  );
  assert.equal(instrument!.contract_value, '10.5');
});

test('what is the same for the whole file is given by flags, which name the underlying (contract 11)', async () => {
  const report = await imported(
    'flags.csv',
    ['symbol,strike_price,expiration_date,option_type', 'BTC-1,100000,2099-06-25,call'],
    ...['--schema', 'crypto', '--country', 'GLOBAL', '--symbol', 'BTCUSD'],
  );
  assert.match(report, / 1 new.*\n {2}2 new instruments/);
  const { data } = await pageAt(
    ask('search/crypto/GLOBAL:BTCUSD/call/moneyness/out_of_the_money', { ref_asset_price: '1' }),
  );
  assert.deepEqual(
    Object.keys(data),
    ['2099-06-26T00:00:00Z'],
    'the day of a market that never closes ends at midnight',
  );
});

test('importing twice changes nothing, a corrected row replaces, an undoing brings back (contract 10, 11)', async () => {
  const name = (strike: number) => [head, `TWO990618C00010000,US,stock,TWO,${strike},2099-06-18,call`];
  const strikes = async () => {
    const response = await ask('search/stock/US:TWO/call/moneyness/out_of_the_money', {
      ref_asset_price: '1',
    });
    if (response.status === 404) return 'unknown';
    const { result } = (await response.json()) as { result: Page };
    return Object.values(result.data)
      .flat()
      .map(({ strike_price, instrument_id }) => [strike_price, instrument_id]);
  };
  const runOf = (report: string): string => /run (\d+)/.exec(report)![1]!;
  const first = await imported('two.csv', name(10));
  assert.match(first, / 1 new, 0 replaced, 0 unchanged.*\n {2}2 new instruments/);
  const [[, id]] = (await strikes()) as [[number, number]];
  const again = await imported('two.csv', name(10));
  assert.match(again, / 0 new, 0 replaced, 1 unchanged/);
  const second = await imported('two.csv', name(11));
  assert.deepEqual(await strikes(), [[11, id]]);
  // The later runs need the instruments that the first one made, and the second has its row.
  assert.match(await shop.must('undo', runOf(first)), /3 rows kept/);
  assert.deepEqual(await strikes(), [[11, id]]);
  assert.match(await shop.must('undo', runOf(second)), /1 row restored/);
  assert.deepEqual(await strikes(), [[10, id]]);
  assert.match(await shop.must('undo', runOf(again)), /3 rows removed/);
  assert.equal(await strikes(), 'unknown');
  await imported('two.csv', name(12));
  const [[strike]] = (await strikes()) as [[number]];
  assert.equal(strike, 12);
  const corrected = await imported('two.csv', name(13));
  assert.match(await shop.must('undo', runOf(corrected)), /undone\n {2}1 row restored$/);
});

test('an underlying that bars have made outlives the undoing of their import while contracts name it (contract 10)', async () => {
  const file = shop.path('bars.csv');
  writeFileSync(file, 'datetime,open,high,low,close\n2025-03-03,1,2,0.5,1.5\n');
  const named = '--schema stock --country US --symbol BAR --interval DAY'.split(' ');
  const bars = await shop.must('import', 'bars', file, ...named);
  const contracts = await imported('bar.csv', [head, 'BAR1,US,stock,BAR,1,2099-06-18,call']);
  const status = async () => (await search('BAR call in', { ref_asset_price: '5' })).status;
  await shop.must('undo', /run (\d+)/.exec(bars)![1]!);
  assert.equal(await status(), 200);
  await shop.must('undo', /run (\d+)/.exec(contracts)![1]!);
  assert.equal(await status(), 404);
});

test('local expirations of a file are read by --zone (contract 2.5, 11)', async () => {
  const rows = [
    `${head},expiration_datetime`,
    'ZON1,US,stock,ZON,1,2098-12-18,call,2098-12-18 15:15:00',
    'ZON2,US,stock,ZON,2,2098-07-18,call,2098-07-18T15:15:00',
  ];
  writeFileSync(shop.path('zoned.csv'), rows.join('\n'));
  const bare = await shop.run('import', 'option-contracts', shop.path('zoned.csv'), '--dry-run');
  assert.match(bare.stdout, /expiration_datetime: .*for local times give --zone/);
  await shop.must('import', 'option-contracts', shop.path('zoned.csv'), '--zone', 'America/Chicago');
  assert.deepEqual(
    rowsOf(
      shop.store,
      "select expiration_datetime as ms from option_contracts where underlying_name = 'ZON' order by symbol",
    ).map(({ ms }) => new Date(Number(ms)).toISOString()),
    ['2098-12-18T21:15:00.000Z', '2098-07-18T20:15:00.000Z'],
  );
});

test('an instrument that contracts name is not deleted (contract 10)', async () => {
  for (const [schema, symbol] of [
    ['stock', 'SPY'],
    ['option', 'SPY991217C00450000'],
  ] as const) {
    const named = ['--schema', schema, '--country', 'US', '--symbol', symbol];
    const { status, stderr } = await shop.run('delete', 'instruments', ...named);
    assert.equal(status, 2, stderr);
    assert.match(
      stderr,
      /is used by option-contracts: delete them first, by bourse delete option-contracts --/,
    );
  }
});

const refusals: readonly (readonly [cells: string, problem: RegExp])[] = [
  [',US,stock,SPY,450,2099-12-17,call', /symbol: is missing/],
  ['S,USA,stock,SPY,450,2099-12-17,call', /country_iso_code: must be a two-letter code/],
  ['S,US,option,SPY,450,2099-12-17,call', /parent_asset_schema: must be stock, future, crypto or forex/],
  ['S,US,stock,,450,2099-12-17,call', /underlying_name: is missing/],
  ['S,US,stock,SPY,high,2099-12-17,call', /strike_price: must be a number/],
  ['S,US,stock,SPY,nan,2099-12-17,call', /strike_price: is missing/],
  ['S,US,stock,SPY,1e999,2099-12-17,call', /strike_price: must be a number/],
  ['S,US,stock,SPY,0,2099-12-17,call', /strike_price: a strike must be positive, not 0/],
  ['S,US,stock,SPY,450,2099-02-30,call', /expiration_date: must be a date/],
  ['S,US,stock,SPY,450,2099-12-17,constructor', /option_type: must be call or put/],
  [
    'SPY991217C00440000,US,stock,SPY,440,2099-12-17,put',
    /option_type: is put, and SPY991217C00440000 says otherwise/,
  ],
  [
    'ONE,US,stock,SPY,450,2099-12-17,call,2099-12-17T21:00:00',
    /expiration_datetime: must be an instant with its offset/,
  ],
  ['ONE,US,stock,SPY,450,2099-12-17,call,,asian', /exercise_style: must be one of american, european/],
  ['ONE,US,stock,SPY,450,2099-12-17,call,,,0', /contract_value: must be a number above 0/],
];
test('each row that cannot be is refused with its column and its reason (contract 11)', async () => {
  const file = shop.path('refused.csv');
  const lines = refusals.map(([cells]) => cells + ','.repeat(9 - (cells.match(/,/g)?.length ?? 0)));
  writeFileSync(file, [`${head},expiration_datetime,exercise_style,contract_value`, ...lines, ''].join('\n'));
  const { status, stdout } = await shop.run('import', 'option-contracts', file);
  assert.equal(status, 1);
  const told = stdout.split('\n').filter((line) => line.includes('data row'));
  refusals.forEach(([cells, problem], index) => {
    const row = told.find((line) => line.startsWith(`  data row ${index + 1},`));
    assert.match(row ?? '', problem, cells);
  });
  assert.match(stdout, /nothing was stored/);
});

test('a contract that the file has twice with other values is refused the second time (contract 11)', async () => {
  const file = shop.path('twice.csv');
  const row = 'TWICE,US,stock,SPY,1,2099-12-17,call';
  writeFileSync(file, `${head}\n${row}\n${row}\n${row.replace(',1,', ',2,')}\n`);
  const { status, stdout } = await shop.run('import', 'option-contracts', file);
  assert.equal(status, 1);
  assert.match(stdout, /3 rows read, 1 new, 0 replaced, 1 unchanged, 1 refused/);
  assert.match(stdout, /the file has this contract already, with other values/);
});

test('walks during imports repeat no contract and miss none that was there; expirations follow (contract 4.1, 8.5)', async () => {
  const linesOf = (month: string, count: number): string[] =>
    Array.from(
      { length: count },
      (_, index) => `W${month}${index},US,stock,WALK,${index + 1},2099-${month}-15,call`,
    );
  await imported('walk.csv', [head, ...linesOf('01', 40), ...linesOf('03', 40)]);
  const query = { ref_asset_price: '9999', limit: '7' };
  const before = (await walk(search('WALK call in', query))).map(({ symbol }) => symbol);
  assert.equal(before.length, 80);
  writeFileSync(shop.path('more.csv'), [head, ...linesOf('02', 1500), ''].join('\n'));
  let isDone = false;
  const done = shop.must('import', 'option-contracts', shop.path('more.csv')).finally(() => {
    isDone = true;
  });
  const expirations = async (): Promise<number> => {
    const response = await ask('expiration_date_list/stock/US:WALK');
    return ((await response.json()) as { result: unknown[] }).result.length;
  };
  assert.equal(await expirations(), 2);
  const old = new Set(before);
  while (!isDone) {
    const walked = (await walk(search('WALK call in', query))).map(({ symbol }) => symbol);
    assert.equal(new Set(walked).size, walked.length, 'none twice');
    assert.deepEqual(
      walked.filter((symbol) => old.has(symbol)),
      before,
    );
  }
  await done;
  assert.equal(await expirations(), 3, 'what was cached is gone with the commit');
});

const shared = join(sharedData, 'options/TWX_2014-06-05.csv');
const answers = join(sharedData, 'answers/TWX_2014-06-05.moneyness.csv');
const skip = existsSync(shared) ? false : `${shared} is not there`;
test('a real chain: counts, expirations and strikes of every side are those worked out by others (spec 4.6, contract 8.4)', {
  skip,
}, async () => {
  const map = {
    columns: { symbol: 'occ_symbol', underlying_name: 'underlying' },
    values: { parent_asset_schema: 'stock', country_iso_code: 'US' },
  };
  writeFileSync(shop.path('map.json'), JSON.stringify(map));
  assert.match(
    await shop.must('import', 'option-contracts', shared, '--map', shop.path('map.json')),
    /184 new/,
  );
  const [header = '', ...lines] = readFileSync(answers, 'utf8').trim().split(/\r?\n/);
  for (const line of lines) {
    const row = new Map(header.split(',').map((column, index) => [column, line.split(',').at(index)!]));
    // The source's own text may hold commas, which stand before these.
    const cells = line.split(',').slice(-7);
    const [type = '', moneyness = '', ...expected] = cells;
    const side = moneyness.replace('_the_money', '');
    const found = await walk(
      search(`TWX ${type} ${side}`, { ref_asset_price: row.get('ref_asset_price')!, limit: '10' }),
    );
    const strikes = found.map((one) => Number(one.strike_price));
    const dates = new Set(found.map((one) => one.expiration_date));
    assert.deepEqual(
      [found.length, dates.size, Math.min(...strikes), Math.max(...strikes)],
      expected.slice(0, 4).map(Number),
      line,
    );
    assert.equal(new Set(found.map((one) => one.symbol)).size, found.length, 'none twice');
  }
});

/** Every contract of a walk by the addresses of the pages. */
async function walk(first: Promise<Response>): Promise<Contract[]> {
  const found: Contract[] = [];
  let page = await pageAt(first);
  for (;;) {
    const contracts = Object.values(page.data).flat();
    assert.equal(contracts.length, page.count);
    found.push(...contracts);
    if (page.next_page_url === null) return found;
    page = await pageAt(server.get(page.next_page_url));
  }
}
