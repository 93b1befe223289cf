// What the root of a US option says of its contracts: those on indices and those that a corporate action
// adjusted (contract 1.7, 8.5); when contracts expire.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { LocalServer } from './local-server.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const HEAD =
  'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type';
const contract = (symbol: string, underlying: string, date: string, strike = 30): string =>
  `${symbol},US,stock,${underlying},${strike},${date},call`;

let stores = 0;
/** Imports a file of contracts into a store of its own; gives the store and the report. */
async function imported(
  rows: readonly string[],
  { more = '', store = shop.storeUrl(`s${++stores}`) } = {},
): Promise<{ readonly store: string; readonly report: string }> {
  writeFileSync(shop.path('c.csv'), [`${HEAD}${more}`, ...rows, ''].join('\n'));
  return {
    store,
    report: await shop.must('import', 'option-contracts', shop.path('c.csv'), '--store', store),
  };
}

type Wire = Readonly<Record<string, unknown>>;

const ask = async <T = Wire>(store: string, path: string): Promise<T> =>
  (JSON.parse(await shop.must('query', `/api/v2/option/${path}`, '--store', store)) as { result: T }).result;

type Runs = { readonly data: readonly { readonly data_version: number }[] };

/** The imports of a store, the first one first. */
async function runsOf(store: string): Promise<Runs> {
  const text = await shop.must('query', '/api/v2/server/runs?format=json', '--store', store);
  return (JSON.parse(text) as { result: Runs }).result;
}

/** The calls of an underlying, each with the key of its group. */
async function calls(store: string, underlying: string, more = ''): Promise<Wire[]> {
  const path = `search/stock/US:${underlying}/call/moneyness/out_of_the_money?ref_asset_price=1${more}`;
  const { data } = await ask<{ data: Readonly<Record<string, readonly Wire[]>> }>(store, path);
  return Object.entries(data).flatMap(([key, group]) => group.map((one) => ({ ...one, key })));
}
const symbolsOf = (found: readonly Wire[]): unknown[] => found.map(({ symbol }) => symbol);

/**
 * Root, index, style, and the clock of New York at which it settles on its day: Cboe's and Nasdaq's product
 * specifications; tastytrade's table of cash-settled index options (support article 43000435289) says the
 * same of those that both have.
 */
const indices: readonly (readonly [root: string, index: string, style: string, clock: string])[] = [
  ['SPX', 'SPX', 'european', '09:30'],
  ['SPXW', 'SPX', 'european', '16:00'],
  ['VIX', 'VIX', 'european', '09:30'],
  ['VIXW', 'VIX', 'european', '09:30'],
  ['NDX', 'NDX', 'european', '09:30'],
  ['NDXP', 'NDX', 'european', '16:00'],
  ['RUT', 'RUT', 'european', '09:30'],
  ['RUTW', 'RUT', 'european', '16:00'],
  ['DJX', 'DJX', 'european', '09:30'],
  ['XSP', 'XSP', 'european', '16:00'],
  ['OEX', 'OEX', 'american', '16:00'],
  ['XEO', 'OEX', 'european', '16:00'],
  ['MRUT', 'MRUT', 'european', '16:00'],
  ['XND', 'XND', 'european', '16:00'],
  ['RUI', 'RUI', 'european', '09:30'],
  ['RLV', 'RLV', 'european', '09:30'],
];
test('options on indices have the style and the settlement of their root, whichever file names them (contract 8.5)', async () => {
  const rows = indices.map(([root, index]) => contract(`${root}991218C00030000`, index, '2099-12-18'));
  const { store } = await imported([...rows, contract('SPY991218C00030000', 'SPY', '2099-12-18')]);
  for (const [root, index, style, clock] of [...indices, ['SPY', 'SPY', 'american', '16:00'] as const]) {
    const symbol = `${root}991218C00030000`;
    const found = (await calls(store, index)).filter((one) => one.symbol === symbol);
    const at = clock === '09:30' ? '2099-12-18T14:30:00' : '2099-12-18T21:00:00';
    assert.deepEqual(
      found.map((one) => [one.key, one.expiration_datetime, one.exercise_style, one.is_indices]),
      [[`${at}Z`, `${at}+00:00`, style, root !== 'SPY']],
      root,
    );
    assert.equal((await ask(store, `reference/US:${symbol}`)).is_indices, root !== 'SPY', root);
  }
});

test('contracts under other symbols beside those of an index change the settlement of none (contract 8.5)', async () => {
  const [open, close] = ['2099-12-18T14:30:00Z', '2099-12-18T21:00:00Z'];
  const given = [
    ['SPX991218C00030000', open],
    ['SPXW991218C00030000', close],
  ] as const;
  // Flexible contracts, an adjusted root, free names.
  const odd = [
    '2SPX991218C00010000',
    '1SPXW991218P00010000',
    'AB1991218C00020000',
    '0-FREE',
    'A-FREE',
    'ZZ-FREE',
  ];
  for (const [index, beside] of [...odd.map((one) => ['SPX', [one]] as const), ['^SPX', odd] as const]) {
    const rows = [...given.map(([symbol]) => symbol), ...beside].map((symbol) => {
      const row = contract(symbol, index, '2099-12-18', 20);
      return symbol.includes('P0') ? row.replace(/call$/, 'put') : row;
    });
    const { store } = await imported(rows);
    const shown = await calls(store, encodeURIComponent(index));
    for (const [symbol, key] of given)
      assert.equal(shown.find((one) => one.symbol === symbol)?.key, key, `${symbol} beside ${beside.join()}`);
    for (const symbol of beside.filter((one) => one.includes('SPX') && one.includes('C0')))
      assert.equal(shown.find((one) => one.symbol === symbol)?.key, close, symbol);
    const list = await ask<readonly Wire[]>(
      store,
      `expiration_date_list/stock/US:${encodeURIComponent(index)}`,
    );
    assert.deepEqual(
      list.map((one) => one.expiration_datetime),
      [open, close].map((at) => at.replace('Z', '+00:00')),
      beside.join(),
    );
  }
});

test('what a file says of options on indices counts: style, index, instant; an empty cell says nothing (contract 8.5)', async () => {
  const { store } = await imported(
    [
      `${contract('SPX991218C00030000', 'SPX', '2099-12-18')},american,false,2099-12-18T21:15:00Z`,
      `${contract('SPX991218C00040000', 'SPX', '2099-12-18', 40)},,,`,
    ],
    { more: ',exercise_style,is_indices,expiration_datetime' },
  );
  assert.deepEqual(
    (await calls(store, 'SPX')).map((one) => [one.key, one.exercise_style, one.is_indices]),
    [
      ['2099-12-18T14:30:00Z', 'european', true],
      ['2099-12-18T21:15:00Z', 'american', false],
    ],
  );
  const list = await ask<readonly Wire[]>(store, 'expiration_date_list/stock/US:SPX');
  assert.deepEqual(
    list.map((one) => one.expiration_datetime),
    ['2099-12-18T14:30:00+00:00', '2099-12-18T21:15:00+00:00'],
  );
});

/**
 * Adjusted roots of OCC's memorandum 39341 (NLY1, INFO1) and of reports about vendors (polygon-io/issues 193,
 * tastyware/tastytrade 257), then made ones.
 */
const adjusted: readonly (readonly [root: string, underlying: string, isAdjusted: boolean])[] = [
  ['NLY1', 'NLY', true],
  ['INFO1', 'INFO', true],
  ['SDS1', 'SDS', true],
  ['BABA2', 'BABA', true],
  ['BRKB1', 'BRK.B', true],
  ['META1', 'META', true],
  ['FB1', 'META', true],
  // A stock whose own symbol ends in a digit, another root, a flexible contract.
  ['ZZ9', 'ZZ9', false],
  ['QQ1', 'WW', false],
  ['2SPY', 'SPY', false],
];
test('a root of letters and a digit is an adjusted one where its letters are the root of the underlying (contract 8.5)', async () => {
  const store = shop.storeUrl('adjusted');
  writeFileSync(
    shop.path('i.csv'),
    'asset_schema,country_iso_code,symbol,former_symbols\nstock,US,META,FB:2012-05-18..2022-06-08\n',
  );
  await shop.must('import', 'instruments', shop.path('i.csv'), '--store', store);
  const rows = adjusted.map(([root, underlying]) =>
    contract(`${root}991218C00030000`, underlying, '2099-12-18'),
  );
  const { report } = await imported(rows, { store });
  assert.match(report, / 10 new.*\n(.*\n)*.*adjusted by a corporate action.*adjusted=true: 7 rows/);
  for (const [root, underlying, isAdjusted] of adjusted) {
    const symbol = `${root}991218C00030000`;
    assert.equal(symbolsOf(await calls(store, underlying)).includes(symbol), !isAdjusted, root);
    const [one] = (await calls(store, underlying, '&adjusted=true')).filter(
      (found) => found.symbol === symbol,
    );
    assert.equal(one!.contract_type, isAdjusted ? 'adjusted' : null, root);
    const own = await ask(store, `reference/US:${symbol}`);
    assert.deepEqual([own.symbol, own.contract_type], [symbol, isAdjusted ? 'adjusted' : null], root);
  }
});

test('two contracts of one strike are told apart, and the answer says how many it leaves out (contract 8.5)', async () => {
  const { store } = await imported([
    contract('ZQA990115C00030000', 'ZQA', '2099-01-15'),
    contract('ZQA1990115C00030000', 'ZQA', '2099-01-15'),
    contract('ZQA1990417C00030000', 'ZQA', '2099-04-17'),
  ]);
  const dates = async (more: string): Promise<unknown[]> =>
    (await ask<readonly Wire[]>(store, `expiration_date_list/stock/US:ZQA${more}`)).map(
      (one) => one.expiration_date,
    );
  assert.deepEqual(await dates(''), ['2099-01-15']);
  assert.deepEqual(await dates('?adjusted=true'), ['2099-01-15', '2099-04-17']);
  const server = await LocalServer.open(store);
  try {
    const search = `/api/v2/option/search/stock/US:ZQA/call/moneyness/out_of_the_money?ref_asset_price=1&secret_key=${server.key}`;
    const told = async (more: string): Promise<string | null> =>
      (await server.get(search + more)).headers.get('X-Adjusted-Contracts');
    assert.equal(await told(''), '2');
    assert.equal(await told('&expiration_date=2099-01-15&format=csv'), '1');
    assert.equal(await told('&strike_price=31'), null);
    assert.equal(await told('&adjusted=true'), null);
  } finally {
    await server.close();
  }
});

test('as of a moment and of a version, adjusted contracts are those of then (contract 8.5, 9.8, 9.12)', async () => {
  const rows = [
    `${contract('ZQB301220C00030000', 'ZQB', '2030-12-20')},2020-01-02`,
    `${contract('ZQB1301220C00030000', 'ZQB', '2030-12-20')},2022-01-03`,
  ];
  const { store } = await imported(rows.slice(0, 1), { more: ',listing_date' });
  const { data } = await runsOf(store);
  await imported(rows.slice(1), { more: ',listing_date', store });
  const counts = async (more: string): Promise<number[]> => [
    (await calls(store, 'ZQB', more)).length,
    (await calls(store, 'ZQB', `${more}&adjusted=true`)).length,
  ];
  assert.deepEqual(await counts(''), [1, 2]);
  assert.deepEqual(await counts('&as_of=2022-06-01T00:00:00Z'), [1, 2]);
  assert.deepEqual(await counts('&as_of=2021-06-01T00:00:00Z'), [1, 1]);
  assert.deepEqual(await counts(`&data_version=${data[0]!.data_version}`), [1, 1]);
});

test('an earlier version has both instants of an index as they were (contract 8.5, 9.12)', async () => {
  const rows = (strike: number): string[] =>
    ['SPX', 'SPXW'].map((root) => contract(`${root}991218C00030000`, 'SPX', '2099-12-18', strike));
  const { store } = await imported(rows(30));
  const { data } = await runsOf(store);
  await imported([...rows(31), contract('SPX991218C00040000', 'SPX', '2099-12-18', 40)], { store });
  const found = async (more: string): Promise<unknown[]> =>
    (await calls(store, 'SPX', more)).map((one) => [one.key, one.strike_price]);
  const [open, close] = ['2099-12-18T14:30:00Z', '2099-12-18T21:00:00Z'];
  assert.deepEqual(await found(''), [
    [open, 31],
    [open, 40],
    [close, 31],
  ]);
  assert.deepEqual(await found(`&data_version=${data[0]!.data_version}`), [
    [open, 30],
    [close, 30],
  ]);
});

test("Massive's prefix is understood, in any case, and padded roots (contract 1.4, 1.7)", async () => {
  const { store } = await imported([
    contract('O:ZQE990115C00030000', 'ZQE', '2099-01-15'),
    contract('o:zqe990115c00040000', 'ZQE', '2099-01-15', 40),
    contract('ZQE   990115C00050000', 'ZQE', '2099-01-15', 50),
  ]);
  assert.deepEqual(
    symbolsOf(await calls(store, 'ZQE')),
    ['30', '40', '50'].map((strike) => `ZQE990115C000${strike}000`),
  );
  assert.equal((await ask(store, 'reference/O:ZQE990115C00030000')).symbol, 'ZQE990115C00030000');
});

test('a Saturday expiration is found by its own date and by the Friday of its instant (contract 8.5)', async () => {
  const { store } = await imported([contract('SAT140118C00500000', 'SATX', '2014-01-18', 500)]);
  for (const [date, count] of [
    ['2014-01-16', 0],
    ['2014-01-17', 1],
    ['2014-01-18', 1],
    ['2014-01-19', 0],
  ] as const)
    assert.equal((await calls(store, 'SATX', `&expiration_date=${date}`)).length, count, date);
});

test('at the very instant of its expiration a contract has expired, as of that instant too (contract 8.5, 9.8)', async () => {
  const { store } = await imported([
    contract('ZQF250620C00030000', 'ZQF', '2025-06-20'),
    contract('ZQF250718C00030000', 'ZQF', '2025-07-18'),
  ]);
  const at = async (instant: string): Promise<unknown[]> => [
    (await ask<readonly Wire[]>(store, `expiration_date_list/stock/US:ZQF?as_of=${instant}`)).length,
    ...symbolsOf(await calls(store, 'ZQF', `&as_of=${instant}`)),
  ];
  const [june, july] = ['ZQF250620C00030000', 'ZQF250718C00030000'];
  assert.deepEqual(await at('2025-06-20T19:59:59Z'), [2, june, july]);
  assert.deepEqual(await at('2025-06-20T20:00:00Z'), [1, july, june]);
});
