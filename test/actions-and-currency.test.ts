// Corporate actions that contradict themselves, cash in other currencies, and kinds beyond the two (contract
// 8.2, 8.10), from files to answers.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { FIRST_MS } from '../src/base/instant.ts';
import { bulkBars, historicalBars, latestBars } from '../src/contract/bars.ts';
import { corporateActions } from '../src/contract/corporate-actions.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { Refusal } from '../src/contract/errors.ts';
import { findings } from '../src/contract/findings.ts';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport, ImportRequest } from '../src/imports/load/run.ts';
import { calendarOf } from '../src/market/calendar/calendar.ts';
import { QueryRunner } from '../src/queries/index.ts';
import type { Answer } from '../src/queries/query.ts';
import { openStore } from '../src/store/engines.ts';
import { parseCsv } from './csv.ts';
import { stored } from './importing.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const NOW = '2026-06-01T12:00:00Z';
let files = 0;

/** Imports a file of a header and lines. */
function imported(
  dataset: string,
  header: string,
  lines: readonly string[],
  about: Partial<ImportRequest> = {},
): Promise<ImportReport> {
  const path = shop.path(`${++files}.csv`);
  writeFileSync(path, [header, ...lines, ''].join('\n'));
  return stored(shop, path, (store, request) => importFile(store, dataset, { ...request, ...about }));
}

/** Imports closes of days, `2025-03-05 800`, each bar of one price. */
const days = (stock: string, lines: readonly string[], about: Partial<ImportRequest> = {}) =>
  imported(
    'bars',
    'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume',
    lines.map((line) => {
      const [date, price] = line.split(' ');
      return ['stock', ...stock.split(':'), 'DAY', date, price, price, price, price, 100].join();
    }),
    { zone: null, basis: 'raw', completeFromMs: FIRST_MS, completeThroughMs: Date.parse(NOW), ...about },
  );

/**
 * Imports actions of a stock: the first cells are kind and ex-date, the others have the columns of the
 * header.
 */
const acts = (
  stock: string,
  columns: string,
  lines: readonly string[],
  about: Partial<ImportRequest> = {},
): Promise<ImportReport> =>
  imported(
    'corporate-actions',
    `country_iso_code,symbol,action_type,ex_date,${columns}`,
    lines.map((line) => [...stock.split(':'), ...line.split(' ')].join()),
    about,
  );

const endpoints = { corporateActions, historicalBars, latestBars, findings, bulkBars };

async function answer(name: keyof typeof endpoints, raw: Readonly<Record<string, string>>) {
  const texts = new Map(Object.entries(raw));
  const parameters = parseParameters(endpoints[name] as typeof historicalBars, texts);
  const store = await openStore(shop.store, 'read');
  try {
    const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
    return await runner.run({ endpoint: name, parameters, nowMs: Date.parse(NOW), wrapCsv: false });
  } finally {
    await store.close();
  }
}

type Record_ = Readonly<Record<string, string | number | null>>;

function dataOf(given: Answer): readonly Record_[] {
  assert.equal(given.kind, 'answer', given.kind === 'refusal' ? given.facts.message : '');
  const body = Buffer.from(given.kind === 'answer' ? given.body : []).toString();
  return (JSON.parse(body) as { result: { data: Record_[] } }).result.data;
}

const listed = async (stock: string, more: Readonly<Record<string, string>> = {}) =>
  dataOf(await answer('corporateActions', { country_symbol: stock, from_date: '1990-01-01', ...more }));

const factorsOf = async (stock: string): Promise<unknown[]> =>
  (await listed(stock, { extended: 'true' })).map(({ adjustment_factor }) => adjustment_factor);

/** The closes of adjusted days, and the headers that tell what they do not show. */
async function adjusted(stock: string, adjust: string, more: Readonly<Record<string, string>> = {}) {
  const given = await answer('historicalBars', {
    ...{ schema_asset: 'stock', country_symbol: stock, interval: 'DAY', format: 'json', adjust },
    ...{ from_date: '2020-01-01', to_date: '2026-01-01', limit: '1000', ...more },
  });
  const bars = dataOf(given);
  const headers = given.kind === 'answer' ? given.headers : {};
  return {
    closes: bars.map(({ close }) => close),
    volumes: bars.map(({ volume }) => volume),
    incomplete: headers['X-Adjust-Incomplete'],
    by: headers['X-Adjusted-By'],
  };
}

async function found(stock: string, kind?: string): Promise<string[]> {
  const raw = { schema_asset: 'stock', country_symbol: stock, limit: '1000', ...(kind && { kind }) };
  const all = dataOf(await answer('findings', raw));
  // Days of one price repeat each other, and other series of the market go further.
  return all
    .filter(({ kind: one }) => one !== 'stale' && one !== 'behind')
    .map((one) => `${one.kind} ${one.severity} ${String(one.from_datetime).slice(0, 10)}`);
}

const reasonsOf = ({ refused }: ImportReport): string[] =>
  refused.map(({ column, reason }) => `${column}: ${reason}`);

// Ratios of real splits, and the factors that vendors write of them: Apple 2020-08-31 (4:1), Google 2022
// (20:1), General Electric 2021 (1:8), AIG 2009 (1:20); the inverse is what a vendor writes that multiplies
// shares (EODHD, Yahoo).
const factorRows: readonly (readonly [row: string, refusal: RegExp | null])[] = [
  ['split 2020-08-31 1 4 0.25', null],
  ['split 2020-08-31 1 4 0.25000000', null],
  [
    'split 2020-08-31 1 4 4',
    /is 4, but the shares of the row make it 0\.25000000: .* leave adjustment_factor out/,
  ],
  ['split 2020-08-31 1 4 4.0', /is 4\.0, but the shares of the row make it 0\.25000000/],
  ['split 2022-07-18 1 20 20', /is 20, but the shares of the row make it 0\.05000000/],
  ['split 2021-08-02 8 1 8', null],
  ['split 2021-08-02 8 1 0.125', /is 0\.125, but the shares of the row make it 8\.00000000/],
  ['split 2009-07-01 20 1 20.0', null],
  ['split 2014-06-09 1 7 0.14285714', null],
  // Computed by pandas: the last digits of a double are no contradiction.
  ['split 2014-06-09 1 7 0.14285714285714288', null],
  ['split 2014-06-09 1 7 0.14285718', /is 0\.14285718/],
  ['split 2014-06-09 1 7 0.143', null],
  ['split 2014-06-09 1 7 0.1429', null],
  ['split 2014-06-09 1 7 0.1445', /is 0\.1445, but the shares of the row make it 0\.14285714/],
  ['split 2020-08-31 1 4 0.24999999', null],
  ['split 2020-08-31 1 4 0.24999998', /is 0\.24999998/],
  ['split 2020-08-31 3 5 0.50', /is 0\.50, but the shares of the row make it 0\.60000000/],
  ['split 2020-08-31 1 2 1', /is 1, but the shares of the row make it 0\.50000000/],
];

test('a factor that contradicts the split of its row is refused with both values (contract 8.2)', async () => {
  for (const [row, refusal] of factorRows) {
    const report = await acts('US:FACT', 'split_from,split_to,adjustment_factor', [row]);
    const [said = ''] = reasonsOf(report);
    if (refusal === null) assert.equal(said, '', row);
    else assert.match(said, refusal, row);
  }
});

test('however a file rounded the factor of a split, prices and volume are adjusted by its shares (contract 8.2)', async () => {
  // A third of 300 is 100, of 0.33 it would be 99; a stock dividend without shares has the factor alone.
  const rounded = [
    ['split', '1,20,0.1', '0.05000000', 15, 2000],
    ['split', '1,3,0.33', '0.33333333', 100, 300],
    ['split', '1,7,0.14285714', '0.14285714', 42.8571428571, 700],
    ['stock_dividend', '20,21,1.0', '0.95238095', 285.7142857143, 105],
    ['stock_dividend', ',,0.8', '0.80000000', 240, 125],
  ] as const;
  for (const [at, [kind, cells, factor, close, volume]] of rounded.entries()) {
    const stock = `US:ROUND${at}`;
    await days(stock, ['2025-03-04 300', '2025-03-05 300']);
    const report = await acts(stock, 'split_from,split_to,adjustment_factor', [
      `${kind} 2025-03-05 ${cells}`,
    ]);
    assert.deepEqual(reasonsOf(report), [], cells);
    assert.deepEqual(await factorsOf(stock), [factor], cells);
    const { closes, volumes } = await adjusted(stock, 'split');
    assert.deepEqual([closes[0], volumes[0]], [close, volume], cells);
  }
});

const cashRows: readonly (readonly [stock: string, row: string, isRefused: boolean])[] = [
  // Apple 2020-08-07: 0.82 of 455.61 is 0.99820022.
  ['US:A', '0.82 USD 455.61 0.99820022', false],
  ['US:A', '0.82 USD 455.61 0.9982', false],
  ['US:A', '0.82 USD 455.61 0.998', false],
  ['US:A', '0.82 USD 455.61 0.99800000', true],
  ['US:A', '0.82 USD 455.61 0.9000', true],
  ['US:A', '0.82 USD 455.61 1', true],
  ['US:A', '0.82 USD 455.61 1.00000000', true],
  ['US:A', '0.82  455.61 0.99820022', false],
  ['US:A', '0.82  455.61 0.5', true],
  // 12.5 pence of 500 pence, however they are written; 0.125 pounds of 500 pence.
  ['UK:A', '12.5 GBp 500 0.97500000', false],
  ['UK:A', '0.125 GBP 500 0.97500000', false],
  ['UK:A', '0.125  500 0.97500000', false],
  ['UK:A', '12.5 GBX 5 0.97500000', false],
  ['UK:A', '12.5 GBp 500 0.90000000', true],
  // 2 pounds are all of 200 pence, so they are pence, or the price is in pounds: neither is nearly nothing.
  ['UK:A', '2 GBp 200 0.01', true],
  ['UK:A', '2 GBp 200 0.99', false],
  ['UK:A', '2 GBp 200 0.9999', false],
  // Cash that is no less than the price has the factor 1.
  ['US:A', '250 USD 200 0.1', true],
  ['US:A', '200 USD 200 0.01', true],
  ['US:A', '250 USD 200 1.00000000', false],
  // Dollars beside pence cannot be compared.
  ['UK:A', '0.36 USD 800 0.96500000', false],
  ['US:A', '0.36 EUR 800 0.96500000', false],
];

test('a factor that contradicts cash and reference price of its row is refused, in one currency (contract 8.2)', async () => {
  for (const [stock, row, isRefused] of cashRows) {
    const columns = 'cash_amount,currency,reference_price,adjustment_factor';
    const report = await acts(stock, columns, [`dividend 2020-08-07 ${row}`]);
    const [said = ''] = reasonsOf(report);
    if (isRefused)
      assert.match(
        said,
        /is [\d.]+, but cash_amount and reference_price .* leave adjustment_factor out/,
        row,
      );
    else assert.equal(said, '', row);
    if (isRefused && row.startsWith('250')) assert.match(said, /make it 1\.00000000/);
  }
});

test('a factor that stored prices contradict by more than 1 % of the cash share is found, whatever came first (contract 8.2, 9.10)', async () => {
  const columns = 'cash_amount,currency,adjustment_factor';
  await acts('US:MIS', columns, [
    'dividend 2025-03-05 1 USD 0.99000000',
    'dividend 2025-03-06 2 USD 0.98018',
    'dividend 2025-03-07 1.5 USD 0.98400000',
    'dividend 2025-03-10 3 USD 0.5',
  ]);
  await days('US:MIS', [
    '2025-03-04 100',
    '2025-03-05 100',
    '2025-03-06 100',
    '2025-03-07 100',
    '2025-03-10 99',
  ]);
  assert.deepEqual(await found('US:MIS'), [
    'factor_mismatch warning 2025-03-07',
    'factor_mismatch warning 2025-03-10',
  ]);
});

/** Cash and price in their currencies, and the factor: by hand. */
const currencies: readonly (readonly [price: string | null, cash: string, factor: string, stock?: string])[] =
  [
    ['GBp', '12.5 GBp', '0.97500000'],
    ['GBX', '12.5 GBp', '0.97500000'],
    ['GBp', '0.125 GBP', '0.97500000'],
    ['GBp', '0.125 gbp', '0.97500000'],
    ['gbx', '12.5 gbx', '0.97500000'],
    ['GBP', '12.5 GBp', '0.99975000'],
    ['GBP', '12.5 GBP', '0.97500000'],
    ['GBp', '12.5 ', '0.97500000'],
    ['GBp', '0.36 USD', '1.00000000'],
    ['USD', '12.5 USD', '0.97500000'],
    [null, '12.5 GBp', '1.00000000'],
    [null, '0.125 GBP', '1.00000000'],
    [null, '12.5 ', '1.00000000'],
    ['ZAc', '12.5 ZAc', '0.97500000', 'ZA'],
    ['ZAC', '0.125 ZAR', '0.97500000', 'ZA'],
    [null, '0.125 ZAR', '1.00000000', 'ZA'],
    ['ILA', '12.5 ILA', '0.97500000', 'IL'],
    ['ILA', '0.125 ILS', '0.97500000', 'IL'],
    [null, '12.5 ILA', '1.00000000', 'IL'],
    [null, '12.5 USD', '0.97500000', 'US'],
    [null, '12.5 usd', '0.97500000', 'US'],
    [null, '12.5 CAD', '1.00000000', 'US'],
    ['CAD', '12.5 CAD', '0.97500000', 'US'],
    [null, '12.5 EUR', '0.97500000', 'DE'],
    // A market that nothing is known of.
    [null, '12.5 BRL', '0.97500000', 'BR'],
  ];

test('cash and price are compared in one currency, minor units included, else the factor is 1 (contract 8.2)', async () => {
  for (const [at, [price, cash, factor, country = 'UK']] of currencies.entries()) {
    const stock = `${country}:CUR${at}`;
    if (price !== null)
      await imported('instruments', 'asset_schema,country_iso_code,symbol,currency', [
        ['stock', ...stock.split(':'), price].join(),
      ]);
    await days(stock, ['2025-03-04 500', '2025-03-05 500', '2025-03-06 490']);
    await acts(stock, 'cash_amount,currency', [`dividend 2025-03-06 ${cash}`]);
    const what = `${country} ${price} ${cash}`;
    assert.deepEqual(await factorsOf(stock), [factor], what);
    const isOne = factor === '1.00000000';
    const { incomplete } = await adjusted(stock, 'all');
    if (isOne) assert.match(incomplete ?? '', /^dividend 2025-03-06 \(.*currency.*\)$/, what);
    else assert.equal(incomplete, undefined, what);
    const severity = price === null && country !== 'US' ? 'warning' : 'error';
    assert.deepEqual(await found(stock), isOne ? [`dividend_currency ${severity} 2025-03-06`] : [], what);
  }
});

test('the finding says how to give the currency, and the flag on bars gives it (contract 8.2, 11)', async () => {
  const lines = ['2025-03-04 500', '2025-03-05 500', '2025-03-06 490'];
  await days('UK:FLAGGED', lines);
  const report = await acts('UK:FLAGGED', 'cash_amount,currency', ['dividend 2025-03-06 12.5 GBp']);
  assert.deepEqual(report.findings, { 'cash in GBp, a hundredth of GBP': 1 });
  const [record] = await listed('UK:FLAGGED');
  assert.equal(record!.currency, 'GBp');
  const asked = { schema_asset: 'stock', country_symbol: 'UK:FLAGGED', kind: 'dividend_currency' };
  const [told] = dataOf(await answer('findings', asked));
  assert.match(String(told!.message), /bourse import instruments .*--currency GBp/);
  const path = shop.path('flagged.csv');
  writeFileSync(
    path,
    [
      'datetime,open,high,low,close,volume',
      ...lines.map((line) => {
        const [date, price] = line.split(' ');
        return [date, price, price, price, price, 100].join();
      }),
      '',
    ].join('\n'),
  );
  const named = ['--schema', 'stock', '--country', 'UK', '--symbol', 'FLAGGED', '--interval', 'DAY'];
  await shop.must('import', 'bars', path, ...named, '--currency', 'GBp');
  assert.deepEqual(await factorsOf('UK:FLAGGED'), ['0.97500000']);
  assert.equal((await adjusted('UK:FLAGGED', 'all')).incomplete, undefined);
  assert.deepEqual(await found('UK:FLAGGED', 'dividend_currency'), []);
  // The same again changes nothing; taken back, the price is in no currency that a file gave.
  await shop.must('import', 'bars', path, ...named, '--currency', 'GBp');
  const given = await imported(
    'bars',
    'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close',
    ['stock,UK,FLAGGED,DAY,2025-03-07,500,500,500,500'],
    { zone: null, currency: 'GBP' },
  );
  assert.deepEqual(await factorsOf('UK:FLAGGED'), ['0.99975000']);
  await shop.must('undo', String(given.runId));
  assert.deepEqual(await factorsOf('UK:FLAGGED'), ['0.97500000']);
  for (const wrong of [
    ['--currency', 'pence'],
    ['--currency', 'GBp', '--preset', 'nobody'],
  ])
    assert.equal((await shop.run('import', 'bars', path, ...named, ...wrong)).status, 2, wrong.join(' '));
  assert.equal((await shop.run('import', 'news', path, '--currency', 'GBp')).status, 2);
});

// Old and new rows of one dividend. The first and the last are those of polygon-io/issues 162 and
// iexg/IEX-API 821 in kind.
const doubles: readonly (readonly [first: string, second: string, isDouble: boolean])[] = [
  ['dividend 2025-03-04 0.50 USD  ', 'dividend 2025-03-05 0.50 USD  ', true],
  ['dividend 2025-03-04 0.50 USD  ', 'dividend 2025-03-10 0.50 USD  ', true],
  // A stock that pays each week.
  ['dividend 2025-03-04 0.50 USD  ', 'dividend 2025-03-11 0.50 USD  ', false],
  ['dividend 2025-03-04 0.50 USD 2025-02-01 ', 'dividend 2025-03-11 0.50 USD 2025-02-01 ', true],
  ['dividend 2025-03-04 0.50 USD  2025-04-15', 'dividend 2025-04-03 0.50 USD  2025-04-15', true],
  ['dividend 2025-03-04 0.50 USD  2025-04-15', 'dividend 2025-04-04 0.50 USD  2025-04-15', false],
  [
    'dividend 2025-03-04 0.50 USD 2025-02-01 2025-04-15',
    'dividend 2025-03-06 0.50 USD 2025-02-02 2025-04-15',
    true,
  ],
  [
    'dividend 2025-03-04 0.50 USD 2025-02-01 2025-04-15',
    'dividend 2025-03-06 0.50 USD 2025-02-02 2025-04-16',
    false,
  ],
  // Realty Income, Main Street: several months' dividends are declared on one day.
  [
    'dividend 2025-03-04 0.50 USD 2025-02-01 2025-03-14',
    'dividend 2025-04-01 0.50 USD 2025-02-01 2025-04-15',
    false,
  ],
  [
    'dividend 2025-03-04 0.50 USD 2025-02-01 2025-03-14',
    'dividend 2025-03-20 0.50 USD 2025-02-01 2025-03-31',
    true,
  ],
  ['dividend 2025-03-04 0.50 USD 2025-02-01 ', 'dividend 2025-03-05 0.51 USD 2025-02-01 ', false],
  ['dividend 2025-03-04 0.50 USD 2025-02-01 ', 'dividend 2025-03-05 0.50 CAD 2025-02-01 ', false],
  ['dividend 2025-03-04 0.50 USD 2025-02-01 ', 'dividend 2025-03-05 0.50  2025-02-01 ', true],
  // Pence and pounds: one amount, and a hundredfold.
  ['dividend 2025-03-04 5 GBp 2025-02-01 ', 'dividend 2025-03-05 0.05 GBP 2025-02-01 ', true],
  ['dividend 2025-03-04 0.0115 GBP 2025-02-01 ', 'dividend 2025-03-05 1.15 GBX 2025-02-01 ', true],
  ['dividend 2025-03-04 5 GBp 2025-02-01 ', 'dividend 2025-03-05 5 GBX 2025-02-01 ', true],
  ['dividend 2025-03-04 5 GBp 2025-02-01 ', 'dividend 2025-03-05 5 GBP 2025-02-01 ', false],
];

test('a dividend whose ex-date was corrected is found beside the old one, and its import names it (contract 8.2, 9.10)', async () => {
  const columns = 'cash_amount,currency,declaration_date,pay_date';
  for (const [at, [first, second, isDouble]] of doubles.entries())
    for (const isOneFile of [false, true]) {
      const stock = `US:DBL${at}${isOneFile}`.toUpperCase();
      if (!isOneFile) await acts(stock, columns, [first]);
      const { findings: all } = await acts(stock, columns, isOneFile ? [first, second] : [second]);
      const told = Object.keys(all).filter((words) => words.includes('doubled_dividend'));
      const [day] = first.split(' ').slice(1);
      assert.deepEqual(await found(stock), isDouble ? [`doubled_dividend warning ${day}`] : [], first);
      assert.equal(told.length, isDouble ? 1 : 0, first);
      if (isDouble) assert.ok(told[0]!.includes(`${stock} ${day} and `), told[0]);
    }
});

test('a split on the day of a dividend divides the price that the cash is taken from (contract 8.2)', async () => {
  // The close is 100; after 2 for 1 a share is 50, and 1 of it is 0.98.
  await days('US:SAME', ['2025-03-04 99', '2025-03-05 100', '2025-03-06 49']);
  await acts('US:SAME', 'cash_amount,split_from,split_to', [
    'dividend 2025-03-06 1  ',
    'split 2025-03-06  1 2',
  ]);
  const [dividend] = await listed('US:SAME');
  assert.deepEqual([dividend!.adjustment_factor, dividend!.reference_price], ['0.98000000', 50]);
  assert.deepEqual((await adjusted('US:SAME', 'all')).closes, [48.51, 49, 49]);
});

test('bars that a dividend without a price before it should adjust say so (contract 8.2, 9.4)', async () => {
  await days('US:GAP', ['2025-03-03 100', '2025-03-06 99']);
  await acts('US:GAP', 'cash_amount', [
    'dividend 2025-03-03 1',
    'dividend 2025-03-06 1',
    'dividend 2025-03-07 1',
  ]);
  await days('US:GAP', ['2025-03-04 100'], {
    nowMs: () => Date.parse('2025-03-04T15:00:00Z'),
    completeFromMs: null,
    completeThroughMs: null,
  });
  const told = 'dividend 2025-03-06 (no close before it)';
  assert.equal((await adjusted('US:GAP', 'all')).incomplete, told);
  assert.equal((await adjusted('US:GAP', 'dividend')).incomplete, told);
  assert.equal((await adjusted('US:GAP', 'split')).incomplete, undefined);
  assert.equal((await adjusted('US:GAP', 'none')).incomplete, undefined);
  // Of what is no earlier than the ex-date nothing is missing.
  assert.equal((await adjusted('US:GAP', 'all', { from_date: '2025-03-06' })).incomplete, undefined);
  const latest = {
    schema_asset: 'stock',
    country_symbol: 'US:GAP',
    interval: 'DAY',
    limit: '9',
    adjust: 'all',
  };
  const given = await answer('latestBars', latest);
  assert.equal(given.kind === 'answer' && given.headers['X-Adjust-Incomplete'], told);
  const bulk = await answer('bulkBars', {
    ...{ schema_asset: 'stock', country_iso_code: 'US', interval: 'DAY', symbols: 'GAP', format: 'csv' },
    ...{ from_date: '2025-03-01', to_date: '2025-03-31', adjust: 'all' },
  });
  assert.deepEqual(bulk.kind === 'answer' && bulk.adjusted?.incomplete, { first: [`GAP ${told}`], count: 1 });
});

const ratios: readonly (readonly [ratio: string, from: number, to: number, factor: string])[] = [
  ['4', 1, 4, '0.25000000'],
  ['0.05', 20, 1, '20.00000000'],
  ['1.075', 40, 43, '0.93023256'],
  ['0.333333', 3, 1, '3.00000000'],
  ['1.5', 2, 3, '0.66666667'],
  ['7.0', 1, 7, '0.14285714'],
  ['0.0125', 80, 1, '80.00000000'],
];

test('a split may be one number, which is stored as the fraction that it is (contract 8.2, 11)', async () => {
  for (const [at, [ratio, from, to, factor]] of ratios.entries()) {
    await acts(`US:RAT${at}`, 'split_ratio', [`split 2025-03-06 ${ratio}`]);
    const [split] = await listed(`US:RAT${at}`);
    assert.deepEqual(
      [split!.split_from, split!.split_to, split!.adjustment_factor],
      [from, to, factor],
      ratio,
    );
  }
  const half = await acts('US:RATX', 'split_from,split_to,split_ratio', ['split 2025-03-06 1  4']);
  assert.deepEqual(reasonsOf(half), ['split_to: is missing: a split needs it']);
  const both = await acts('US:RATX', 'split_from,split_to,split_ratio', [
    'split 2025-03-06 1 4 4',
    'split 2025-03-07 1 4 0.25',
  ]);
  assert.match(reasonsOf(both).join(), /^split_ratio: is 1 to 4, but split_from 1 and split_to 4 are not/);
  for (const wrong of ['0', '-2', 'two', 'NaN'])
    assert.equal((await acts('US:RATX', 'split_ratio', [`split 2025-03-06 ${wrong}`])).rowsRefused, 1, wrong);
});

test('amounts that are split-adjusted already are made those of the day, whichever file comes first (contract 8.2, 11)', async () => {
  // Apple: 0.82 of 455.61 in August 2020, then 4 for 1; vendors write 0.205.
  const about = { basis: 'split', nowMs: () => Date.parse('2021-01-04T00:00:00Z') } as const;
  const dividends = ['dividend 2020-08-07 0.205', 'dividend 2020-11-06 0.205'];
  const bars = [
    '2020-08-05 440.25',
    '2020-08-06 455.61',
    '2020-08-07 444.45',
    '2020-11-05 119.03',
    '2020-11-06 118.69',
  ];
  const expected = ['0.99820022 0.82 455.61', '0.25000000 null null', '0.99827775 0.205 119.03'];
  for (const isSplitFirst of [true, false]) {
    const stock = `US:ADJ${isSplitFirst ? 1 : 2}`;
    const split = () => acts(stock, 'split_from,split_to', ['split 2020-08-31 1 4']);
    if (isSplitFirst) await split();
    await acts(stock, 'cash_amount', dividends, about);
    if (!isSplitFirst) await split();
    await days(stock, bars);
    // A split after the file is in none of its amounts.
    await acts(stock, 'split_from,split_to', ['split 2025-03-06 1 2']);
    const all = (await listed(stock, { to_date: '2020-12-31' })).map(
      ({ adjustment_factor, cash_amount, reference_price }) =>
        `${adjustment_factor} ${cash_amount} ${reference_price}`,
    );
    assert.deepEqual(all, expected);
    // The same file a year later changes nothing.
    const later = { ...about, nowMs: () => Date.parse('2026-01-04T00:00:00Z') };
    assert.deepEqual((await acts(stock, 'cash_amount', dividends, later)).rowsWritten, 0);
  }
  const path = shop.path('split.csv');
  writeFileSync(path, 'action_type,ex_date,cash_amount\ndividend,2020-08-07,0.205\n');
  const named = ['--country', 'US', '--symbol', 'CLI'];
  assert.equal((await shop.run('import', 'corporate-actions', path, ...named, '--prices', 'all')).status, 2);
  // A mapping file may say it too.
  const map = shop.path('all.json');
  const columns = { action_type: 'action_type', ex_date: 'ex_date', cash_amount: 'cash_amount' };
  writeFileSync(map, JSON.stringify({ columns, prices: 'all' }));
  const refused = await shop.run('import', 'corporate-actions', path, ...named, '--map', map);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /adjusted for splits \(--prices split\), never for dividends/);
  await shop.must('import', 'corporate-actions', path, ...named, '--prices', 'split');
  await acts('US:CLI', 'split_ratio', ['split 2020-08-31 4']);
  assert.equal((await listed('US:CLI'))[0]!.cash_amount, 0.82);
  const out = shop.path('cli.csv');
  await shop.must('export', 'corporate-actions', '--country', 'US', '--symbol', 'CLI', '--out', out);
  await shop.must('delete', 'corporate-actions', '--country', 'US', '--symbol', 'CLI');
  await shop.must('import', 'corporate-actions', out);
  assert.equal((await listed('US:CLI'))[0]!.cash_amount, 0.82);
});

test('kinds beyond the two are listed where they are asked for, and adjust by what they are (contract 8.10)', async () => {
  await days('US:KIND', [
    '2025-03-03 100',
    '2025-03-04 100',
    '2025-03-05 100',
    '2025-03-06 100',
    '2025-03-07 100',
    '2025-03-10 100',
  ]);
  await acts('US:KIND', 'cash_amount,split_ratio,adjustment_factor', [
    'spinoff 2025-03-04   0.8',
    'stock_dividend 2025-03-05  1.25 ',
    'special_dividend 2025-03-06 10  ',
    'dividend 2025-03-07 5  ',
    'split 2025-03-10  2 ',
  ]);
  const kinds = async (more: Readonly<Record<string, string>>) =>
    (await listed('US:KIND', more)).map(
      ({ action_type, ex_date }) => `${action_type} ${String(ex_date).slice(8)}`,
    );
  assert.deepEqual(await kinds({}), ['dividend 06', 'dividend 07', 'split 10']);
  assert.deepEqual(await kinds({ action_type: 'dividend' }), ['dividend 06', 'dividend 07']);
  assert.deepEqual(await kinds({ extended: 'true' }), [
    ...['spinoff 04', 'stock_dividend 05', 'special_dividend 06', 'dividend 07', 'split 10'],
  ]);
  assert.deepEqual(await kinds({ extended: 'true', action_type: 'dividend' }), ['dividend 07']);
  assert.deepEqual(await kinds({ extended: 'true', action_type: 'SPINOFF' }), ['spinoff 04']);
  const refused = await answer('corporateActions', {
    country_symbol: 'US:KIND',
    from_date: '2025-01-01',
    action_type: 'spinoff',
  });
  assert.equal(refused.kind === 'refusal' && refused.word, 'invalid_parameter');
  const plain = ['dividend', 'split'];
  const extra = ['spinoff', 'stock_dividend', 'special_dividend'];
  for (const [more, allowed] of [
    [[], plain],
    [[['extended', 'false']], plain],
    [[['extended', 'YES']], [...plain, ...extra]],
  ] as const)
    assert.throws(
      () =>
        parseParameters(
          corporateActions,
          new Map([
            ['country_symbol', 'US:KIND'],
            ['from_date', '2025-01-01'],
            ['action_type', 'merger'],
            ...more,
          ]),
        ),
      (error) => {
        assert.ok(error instanceof Refusal);
        assert.deepEqual(error.facts.allowed, allowed);
        assert.equal(error.facts.message, `action_type must be one of ${allowed.join(', ')}.`);
        return true;
      },
    );
  assert.deepEqual(await factorsOf('US:KIND'), [
    '0.80000000',
    '0.80000000',
    '0.90000000',
    '0.95000000',
    '0.50000000',
  ]);
  const split = await adjusted('US:KIND', 'split');
  assert.deepEqual(split.closes, [40, 40, 50, 50, 50, 100]);
  assert.deepEqual(split.volumes, [250, 250, 200, 200, 200, 100]);
  assert.equal(split.by, 'stock_dividend 2025-03-05');
  const dividend = await adjusted('US:KIND', 'dividend');
  assert.deepEqual(dividend.closes, [68.4, 85.5, 85.5, 95, 100, 100]);
  assert.deepEqual(dividend.volumes, [100, 100, 100, 100, 100, 100]);
  assert.equal(dividend.by, 'spinoff 2025-03-04, special_dividend 2025-03-06');
  const all = await adjusted('US:KIND', 'all');
  assert.deepEqual(all.closes, [27.36, 34.2, 42.75, 47.5, 50, 100]);
  assert.equal(all.by, 'spinoff 2025-03-04, stock_dividend 2025-03-05, special_dividend 2025-03-06');
  // What adjusts none of the bars is not named.
  assert.equal((await adjusted('US:KIND', 'all', { from_date: '2025-03-06' })).by, undefined);
  assert.equal((await adjusted('US:KIND', 'none')).by, undefined);
});

const kindRows: readonly (readonly [row: string, refusal: RegExp | null])[] = [
  ['spinoff 2025-03-04   0.8', null],
  ['spinoff 2025-03-04 3  ', null],
  ['spinoff 2025-03-04   ', /cash_amount: is missing: a spinoff needs it/],
  ['spinoff 2025-03-04 3 2 ', /split_ratio: must be empty on a spinoff/],
  ['stock_dividend 2025-03-04   0.9', null],
  ['stock_dividend 2025-03-04  1.05 ', null],
  [
    'stock_dividend 2025-03-04  0.05 ',
    /split_ratio: turns 20 shares into 1, but a stock dividend adds shares: 5 % more is 1.05/,
  ],
  ['stock_dividend 2025-03-04 1 1.05 ', /cash_amount: must be empty on a stock_dividend/],
  [
    'stock_dividend 2025-03-04  1.05 0.5',
    /adjustment_factor: is 0.5, but the shares of the row make it 0.95238095/,
  ],
  ['special_dividend 2025-03-04 1  ', null],
  ['dividend 2025-03-04   0.9', /cash_amount: is missing: a dividend needs it/],
];

test('each kind needs what makes its factor (contract 8.10, 11)', async () => {
  for (const [row, refusal] of kindRows) {
    const [said = ''] = reasonsOf(await acts('US:NEEDS', 'cash_amount,split_ratio,adjustment_factor', [row]));
    if (refusal === null) assert.equal(said, '', row);
    else assert.match(said, refusal, row);
  }
});

test('of what is still to come at a moment the shares are known, and no price (contract 8.10, 9.8)', async () => {
  await days('US:AHEAD', ['2025-03-03 100', '2025-03-04 100', '2025-03-05 100', '2025-03-06 100']);
  await acts('US:AHEAD', 'cash_amount,split_ratio,adjustment_factor,declaration_date', [
    'spinoff 2025-03-06   0.8 2025-02-03',
    'special_dividend 2025-03-06 10   2025-02-03',
    'stock_dividend 2025-03-06  1.25  2025-02-03',
    'spinoff 2025-03-05 20   ',
  ]);
  const at = (as_of: string) => listed('US:AHEAD', { extended: 'true', as_of });
  const short = (all: readonly Record_[]) =>
    all.map(({ action_type, adjustment_factor }) => `${action_type} ${adjustment_factor}`);
  assert.deepEqual(short(await at('2025-03-04T12:00:00Z')), [
    ...['special_dividend 1.00000000', 'spinoff 1.00000000', 'stock_dividend 0.80000000'],
  ]);
  // 100 of the day before are 80 after the shares of the day.
  assert.deepEqual(short(await at('2025-03-06T12:00:00Z')), [
    ...[
      'spinoff 0.80000000',
      'special_dividend 0.87500000',
      'spinoff 0.80000000',
      'stock_dividend 0.80000000',
    ],
  ]);
  const then = await adjusted('US:AHEAD', 'all', { as_of: '2025-03-05T12:00:00Z', to_date: '2025-03-05' });
  assert.deepEqual([then.closes, then.by], [[80, 80], 'spinoff 2025-03-05']);
});

test('dividends are judged by days that minutes make, too (contract 8.2, 9.10)', async () => {
  const minutes = ['2025-03-04', '2025-03-05', '2025-03-06'].flatMap((day) =>
    ['14:30', '20:59'].map((time) => `stock,US,MIN,1M,${day}T${time}:00Z,100,100,100,100,5`),
  );
  await imported(
    'bars',
    'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume',
    minutes,
    { zone: null },
  );
  await acts('US:MIN', 'cash_amount,currency,adjustment_factor', [
    'dividend 2025-03-05 1 USD 0.99',
    'dividend 2025-03-06 2 USD 0.9',
    'dividend 2025-03-07 3 CAD ',
    'dividend 2025-03-10 60 USD ',
  ]);
  assert.deepEqual(await found('US:MIN'), [
    'factor_mismatch warning 2025-03-06',
    'dividend_currency error 2025-03-07',
    'impossible_dividend warning 2025-03-10',
  ]);
});

test('a session of which minutes are a part only makes no day, and tells nothing of factors and splits (contract 3.8, 9.10)', async () => {
  const header = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume';
  const minute = (time: string, price: number) =>
    `stock,US,PART,1M,${time}:00Z,${[price, price, price, price].join()},5`;
  const whole = (day: string) => ['14:30', '20:59'].map((time) => minute(`${day}T${time}`, 100));
  // Half the price until 11:00, when the file was written.
  const half = ['2025-02-25T14:30', '2025-02-25T16:00'].map((time) => minute(time, 50));
  const sessions = (from: string, to: string) =>
    calendarOf('stock', 'US')
      .sessions(Date.parse(from) / 86_400_000, Date.parse(to) / 86_400_000)
      .flatMap(({ day }) => whole(new Date(day * 86_400_000).toISOString().slice(0, 10)));
  const nowMs = () => Date.parse('2025-02-25T16:01:30Z');
  await imported('bars', header, [...sessions('2025-02-03', '2025-02-25'), ...half], { zone: null, nowMs });
  await imported('bars', header, sessions('2025-02-26', '2025-03-20'), { zone: null });
  const days = await adjusted('US:PART', 'none');
  assert.ok(days.closes.length > 25 && days.closes.every((close) => close === 100), days.closes.join());
  await acts('US:PART', 'cash_amount,currency,adjustment_factor', ['dividend 2025-02-26 2 USD 0.98']);
  const told = await found('US:PART');
  assert.deepEqual(
    told.filter((one) => /^(factor_mismatch|unrecorded_split)/.test(one)),
    [],
  );
});

test('a page of a list with kinds of its own goes on where it ended, and CSV has the same records (contract 4.1, 8.10)', async () => {
  const all = await listed('US:KIND', { extended: 'true' });
  const walked: Record_[] = [];
  let key: string | undefined;
  do {
    const given = await answer('corporateActions', {
      ...{ country_symbol: 'US:KIND', from_date: '1990-01-01', extended: 'true', limit: '2' },
      ...(key !== undefined && { next_page_key: key }),
    });
    walked.push(...dataOf(given));
    key = given.kind === 'answer' ? given.next?.key : undefined;
  } while (key !== undefined);
  assert.deepEqual(walked, all);
  // An address without it is as it was before there were such kinds.
  const plain = await answer('corporateActions', {
    ...{ country_symbol: 'US:KIND', from_date: '1990-01-01', limit: '2' },
  });
  assert.equal(
    plain.kind === 'answer' && plain.next!.address,
    '/api/v2/stock/stock_corporate_action/list/US:KIND?from_date=1990-01-01&sort=asc&format=json&csv_safe=false&limit=2',
  );
  const asCsv = await answer('corporateActions', {
    country_symbol: 'US:KIND',
    from_date: '1990-01-01',
    format: 'csv',
    extended: 'true',
  });
  const [header, ...rows] = parseCsv(Buffer.from(asCsv.kind === 'answer' ? asCsv.body : []).toString());
  assert.equal(rows.length, all.length);
  assert.deepEqual(header, Object.keys(all[0]!));
});
