// Bars whose symbols are those of OCC make the option contracts that the symbols name (contract 1.4, 1.7,
// 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';
import { rowsOf } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());

let stores = 0;
/** Imports a file of bars into a store of its own, or another one, and gives that store. */
async function imported(symbols: readonly string[], store = shop.storeUrl(`s${++stores}`)): Promise<string> {
  const rows = symbols.map((symbol) => `2025-02-03T14:30:00Z,${symbol},1,2,0.5,1.5,10`);
  writeFileSync(
    shop.path('bars.csv'),
    ['datetime,symbol,open,high,low,close,volume', ...rows, ''].join('\n'),
  );
  const flags = ['--schema', 'option', '--country', 'US', '--interval', '1M', '--store', store];
  await shop.must('import', 'bars', 'bars.csv', ...flags);
  return store;
}

const contracts = (store: string): unknown[][] =>
  rowsOf(
    store,
    'select symbol, underlying_name, option_type, expiration_date, strike_price, exercise_style from option_contracts order by symbol',
  ).map((row) => Object.values(row));
const instruments = (store: string): unknown[][] =>
  rowsOf(store, 'select asset_schema, symbol, underlying_name from instruments order by symbol').map((row) =>
    Object.values(row),
  );
const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;

test('each way to write a symbol of OCC makes one contract, its instrument and its underlying (contract 1.4, 1.7)', async () => {
  const symbols = [
    'SPY   250919C00450000',
    'O:SPY250919P00450500',
    'SPXW250919C06000000',
    'spy250919c00000005',
  ];
  const store = await imported(symbols);
  assert.deepEqual(contracts(store), [
    ['SPXW250919C06000000', 'SPX', 'call', day('2025-09-19'), 6000, 'european'],
    ['SPY250919C00000005', 'SPY', 'call', day('2025-09-19'), 0.005, 'american'],
    ['SPY250919C00450000', 'SPY', 'call', day('2025-09-19'), 450, 'american'],
    ['SPY250919P00450500', 'SPY', 'put', day('2025-09-19'), 450.5, 'american'],
  ]);
  assert.deepEqual(instruments(store), [
    ['stock', 'SPX', null],
    ['option', 'SPXW250919C06000000', 'SPX'],
    ['stock', 'SPY', null],
    ['option', 'SPY250919C00000005', 'SPY'],
    ['option', 'SPY250919C00450000', 'SPY'],
    ['option', 'SPY250919P00450500', 'SPY'],
  ]);
});

test('they are found by the search, and are those that a file of contracts makes (contract 8.4, 11)', async () => {
  const store = await imported(['KO250919C00070000']);
  const path = '/api/v2/option/search/stock/US:KO/call/moneyness/in_the_money?ref_asset_price=80';
  const found = await shop.must('query', path, '--store', store);
  const other = shop.storeUrl('file');
  const header =
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type';
  writeFileSync(shop.path('chain.csv'), `${header}\nKO250919C00070000,US,stock,KO,70,2025-09-19,call\n`);
  await shop.must('import', 'option-contracts', 'chain.csv', '--store', other);
  const expected = await shop.must('query', path, '--store', other);
  const bare = (text: string): string => text.replaceAll(/"(instrument|asset)_id":\d+|stock_\d+/g, '');
  assert.equal(bare(found), bare(expected));
  assert.match(found, /KO250919C00070000/);
});

test('the contract of an adjusted root is of the underlying, and marked; searches have it where they ask for it (contract 8.5)', async () => {
  const store = await imported(['WDC1250919C00450000', 'BRKB2250919C00450000', 'WDC250919C00460000']);
  assert.deepEqual(
    rowsOf(store, 'select symbol, underlying_name, contract_type from option_contracts order by symbol').map(
      (row) => Object.values(row),
    ),
    [
      ['BRKB2250919C00450000', 'BRKB', 'adjusted'],
      ['WDC1250919C00450000', 'WDC', 'adjusted'],
      ['WDC250919C00460000', 'WDC', null],
    ],
  );
  const search =
    '/api/v2/option/search/stock/US:WDC/call/moneyness/in_the_money?ref_asset_price=999&format=csv';
  const asked = (more: string): Promise<string> => shop.must('query', `${search}${more}`, '--store', store);
  assert.doesNotMatch(await asked(''), /WDC1/);
  assert.match(await asked('&adjusted=true'), /WDC1250919C00450000/);
  const own = await shop.must('query', '/api/v2/option/reference/US:WDC1250919C00450000', '--store', store);
  assert.match(own, /"underlying_name":"WDC".*"contract_type":"adjusted"/);
});

test('what names no contract makes none: flexible contracts, days that do not exist, other symbols (contract 1.4)', async () => {
  const store = await imported([
    '2SPX250919C00450000',
    'SPY250231C00450000',
    'SPY250919C00000000',
    'MYOPTION',
  ]);
  assert.deepEqual(contracts(store), []);
  assert.equal(instruments(store).length, 4);
});

test('a contract that the store has stays as it is; a class of shares is found by its separator (contract 11)', async () => {
  const store = shop.storeUrl('kept');
  const header =
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type';
  writeFileSync(
    shop.path('own.csv'),
    `${header},contract_value\nBRKB250919C00450000,US,stock,BRK.B,450,2025-09-19,call,10\n`,
  );
  await shop.must('import', 'option-contracts', 'own.csv', '--store', store);
  await imported(['BRKB250919C00450000', 'BRKB250919P00450000'], store);
  const rows = rowsOf(
    store,
    'select symbol, underlying_name, contract_value from option_contracts order by symbol',
  );
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ['BRKB250919C00450000', 'BRK.B', 10],
      ['BRKB250919P00450000', 'BRK.B', 100],
    ],
  );
});

test('a class of shares that comes after its options is told, with the undos by which they become one stock (contract 9.21)', async () => {
  const store = shop.storeUrl('later');
  const options = () => imported(['BRKB250919C00450000', 'FB250919P00450000'], store);
  const write = (file: string, lines: readonly string[]): void =>
    writeFileSync(shop.path(file), [...lines, ''].join('\n'));
  write('options.csv', [
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type',
    'BRKB250919P00450000,US,stock,BRKB,450,2025-09-19,put',
  ]);
  const add = (dataset: string, file: string, ...flags: string[]): Promise<string> =>
    shop.must('import', dataset, file, ...flags, '--store', store);
  await options();
  await add('option-contracts', 'options.csv');
  const stock = ['--schema', 'stock', '--country', 'US'];
  const days = [...stock, '--interval', 'DAY'];
  const told =
    'stored as BRK.B, while options name it BRKB, by their root: if these are one stock, undo the runs that named BRKB (bourse undo 1, bourse undo 2) and import it again: 1 row';
  const files: readonly (readonly [
    dataset: string,
    header: string,
    row: string,
    flags: readonly string[],
  ])[] = [
    ['instruments', 'name,symbol', 'Berkshire Hathaway,BRK.B', stock],
    [
      'corporate-actions',
      'action_type,ex_date,cash_amount,symbol',
      'dividend,2025-02-03,1,BRK.B',
      stock.slice(2),
    ],
    [
      ...(['news', 'published_date,title,publisher_url,asset_name,country_iso_code,symbol'] as const),
      ...(['2025-02-03T10:00:00Z,News,https://example.com/1,stock,US,BRK.B', []] as const),
    ],
    ['bars', 'datetime,open,high,low,close,symbol', '2025-02-03,1,2,0.5,1.5,BRK.B', days],
  ];
  for (const [dataset, header, row, flags] of files) {
    write('class.csv', [header, row]);
    const report = await add(dataset, 'class.csv', ...flags);
    assert.ok(report.includes(told), `${dataset}: ${report}`);
    const [, run] = /\(run (\d+)/.exec(report)!;
    if (dataset !== 'bars') await shop.must('undo', run!, '--store', store);
  }
  // What is stored has its name.
  write('more.csv', ['datetime,open,high,low,close,symbol', '2025-02-04,1,2,0.5,1.5,BRK.B']);
  assert.doesNotMatch(await add('bars', 'more.csv', ...days), /by their root/);
  for (const run of ['1', '2']) await shop.must('undo', run, '--store', store);
  await options();
  const underlyings = 'select symbol, underlying_name from option_contracts order by symbol';
  assert.deepEqual(
    rowsOf(store, underlyings).map((row) => Object.values(row)),
    [
      ['BRKB250919C00450000', 'BRK.B'],
      ['FB250919P00450000', 'FB'],
    ],
  );
  // A stock that another file names is no root, and neither is one with bars.
  write('named.csv', ['name,symbol', 'Facebook,FB']);
  await add('instruments', 'named.csv', ...stock);
  write('other.csv', ['datetime,open,high,low,close,symbol', '2025-02-03,1,2,0.5,1.5,F.B']);
  assert.doesNotMatch(await add('bars', 'other.csv', ...days), /by their root/);
});

test('a root joins the one stock that it is without its separator; where two fit, its rows are refused with both names (contract 9.21)', async () => {
  const files: readonly (readonly [
    name: string,
    dataset: string,
    of: (root: string) => readonly string[],
  ])[] = [
    [
      'chain.csv',
      'option-contracts',
      (root) => [
        'contractSymbol,lastTradeDate,strike,lastPrice,contractSize,currency',
        `${root}990116C00300000,2025-10-01 19:59:59+00:00,300.0,1,REGULAR,USD`,
      ],
    ],
    [
      'occ.txt',
      'option-contracts',
      (root) => [
        `Series Search Results for ${root}`,
        'ProductSymbol\tyear\tMonth\tDay\tInteger\tDec\tC/P\tCall\tPut\tPosition Limit',
        `${root}\t\t2099\t01\t16\t300\t000\tC   \t3\t113\t25000000`,
      ],
    ],
    [
      'bars.csv',
      'bars',
      (root) => [
        'datetime,symbol,open,high,low,close,volume',
        `2025-02-03T14:30:00Z,${root.padEnd(6)}990116C00300000,1,2,0.5,1.5,10`,
      ],
    ],
  ];
  for (const [file, dataset, of] of files) {
    const store = shop.storeUrl(`root-${file}`);
    const stocks = ['BRK.B', 'BRK.A', 'AB.CD', 'ABC/D', 'F.B', 'FB', 'BFX-A'];
    writeFileSync(
      shop.path('i.csv'),
      ['asset_schema,country_iso_code,symbol', ...stocks.map((symbol) => `stock,US,${symbol}`), ''].join(
        '\n',
      ),
    );
    await shop.must('import', 'instruments', 'i.csv', '--store', store);
    const flags = dataset === 'bars' ? ['--schema', 'option', '--country', 'US', '--interval', '1M'] : [];
    for (const [root, underlying] of [
      ['BRKB', 'BRK.B'],
      ['BRKB1', 'BRK.B'],
      ['BFXA', 'BFX-A'],
      ['FB', 'FB'],
      ['NEWB', 'NEWB'],
      ['ABCD', null],
    ] as const) {
      writeFileSync(shop.path(file), `${of(root).join('\n')}\n`);
      const done = await shop.run('import', dataset, file, ...flags, '--store', store);
      const rows = rowsOf(store, 'select symbol, underlying_name from option_contracts');
      const found = rows.find(({ symbol }) => symbol === `${root}990116C00300000`)?.underlying_name ?? null;
      assert.deepEqual([root, found, done.status], [root, underlying, underlying === null ? 1 : 0]);
      if (underlying === null)
        assert.match(done.stdout + done.stderr, /may be AB\.CD or ABC\/D of the store/, file);
    }
    assert.equal(instruments(store).filter(([schema]) => schema === 'stock').length, stocks.length + 1);
    const path = '/api/v2/option/search/stock/US:BRK.B/call/moneyness/in_the_money?ref_asset_price=999';
    assert.match(await shop.must('query', path, '--store', store), /"symbol":"BRKB990116C00300000"/);
  }
});

test('an undo takes the contracts back, and leaves an underlying that another run needs (contract 11)', async () => {
  const store = await imported(['KO250919C00070000']);
  await imported(['KO250919P00070000'], store);
  await shop.must('undo', '1', '--store', store);
  assert.deepEqual(
    contracts(store).map(([symbol]) => symbol),
    ['KO250919P00070000'],
  );
  assert.deepEqual(
    instruments(store).map(([, symbol]) => symbol),
    ['KO', 'KO250919P00070000'],
  );
  await shop.must('undo', '2', '--store', store);
  assert.deepEqual([contracts(store), instruments(store)], [[], []]);
});

test('an option that the store knows without its contract gets it with its first bars (contract 11)', async () => {
  const store = shop.storeUrl('known');
  writeFileSync(shop.path('own.csv'), 'asset_schema,country_iso_code,symbol\noption,US,KO250919C00070000\n');
  await shop.must('import', 'instruments', 'own.csv', '--store', store);
  await imported(['KO250919C00070000'], store);
  assert.equal(contracts(store).length, 1);
  await shop.must('undo', '2', '--store', store);
  assert.deepEqual([contracts(store), instruments(store)], [[], [['option', 'KO250919C00070000', null]]]);
});
