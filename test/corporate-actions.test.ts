// Corporate actions from file to wire: the list (spec 2.4, 4.3), factors (contract 8.2) and imports (contract
// 11).
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { Caller, type Got, type GotPage, type Parameters } from './asking.ts';
import { cellsOf, parseCsv } from './csv.ts';
import { stored } from './importing.ts';
import { LocalServer } from './local-server.ts';
import { sharedData, Workshop } from './service.ts';

const HEADER = 'country_iso_code,symbol,action_type,ex_date';
const ALL = { from_date: '1900-01-01' };

const shop = new Workshop();
let server: LocalServer;
let caller: Caller;
before(async () => {
  await imported(
    'X.csv',
    `${HEADER},cash_amount,split_from,split_to,reference_price,adjustment_factor,currency
US,X,dividend,2024-03-04,0.5,,,100,,usd
US,X,dividend,2024-06-03,1,,,,,USD
US,X,split,2024-06-03,,1,5,,,USD
US,X,dividend,2024-09-02,2.5,,,2,,USD
US,X,split,2024-12-02,,10,1,,,
US,X,dividend,2025-03-03,0.25,,,50,0.9951,USD
`,
  );
  server = await LocalServer.open(shop.store);
  caller = new Caller(server, server.key);
});
after(async () => {
  await server.close();
  shop.close();
});

/** Imports actions in this process, while another one serves. */
async function imported(name: string, text: string): Promise<ImportReport> {
  writeFileSync(shop.path(name), text);
  return stored(shop, shop.path(name), (store, request) =>
    importFile(store, 'corporate-actions', { ...request }),
  );
}

const list = (symbol: string, parameters: Parameters = ALL): Promise<GotPage> =>
  caller.list(`stock/stock_corporate_action/list/US:${symbol}`, parameters);

const short = (action: Got): unknown[] => [action.ex_date, action.action_type, action.adjustment_factor];

test('every field of a dividend and of a split stands in its place (spec 2.4, contract 8.2)', async () => {
  const { data } = await list('X');
  const common = { asset_schema: 'STOCK', country_iso_code: 'US', symbol: 'X', exchange: null };
  const unknown = { declaration_date: null, record_date: null, pay_date: null };
  assert.deepEqual(data[0], {
    ...common,
    action_type: 'dividend',
    ex_date: '2024-03-04',
    ex_date__1: '2024-03-04',
    adjustment_factor: '0.99500000',
    cash_amount: 0.5,
    currency: 'USD',
    ...unknown,
    split_from: null,
    split_to: null,
    reference_price: 100,
  });
  assert.deepEqual(data[2], {
    ...common,
    action_type: 'split',
    ex_date: '2024-06-03',
    ex_date__1: '2024-06-03',
    adjustment_factor: '0.20000000',
    cash_amount: null,
    currency: null,
    ...unknown,
    split_from: 1,
    split_to: 5,
    reference_price: null,
  });
  assert.equal(
    Object.keys(data[0]!).join(),
    'asset_schema,country_iso_code,symbol,exchange,action_type,ex_date,ex_date__1,adjustment_factor,cash_amount,currency,declaration_date,record_date,pay_date,split_from,split_to,reference_price',
  );
});

test('actions come by ex-date, each with its factor: given, worked out, or 1 (contract 4.5, 8.2)', async () => {
  assert.deepEqual((await list('X')).data.map(short), [
    ['2024-03-04', 'dividend', '0.99500000'],
    ['2024-06-03', 'dividend', '1.00000000'],
    ['2024-06-03', 'split', '0.20000000'],
    ['2024-09-02', 'dividend', '1.00000000'],
    ['2024-12-02', 'split', '10.00000000'],
    ['2025-03-03', 'dividend', '0.99510000'],
  ]);
});

test('dates are inclusive, a time counts by its date, action_type is taken in any case (contract 1.6, 2.2)', async () => {
  const dates = async (parameters: Parameters) =>
    (await list('X', parameters)).data.map(({ ex_date }) => ex_date);
  assert.deepEqual(await dates({ from_date: '2024-06-03', to_date: '2024-09-02' }), [
    '2024-06-03',
    '2024-06-03',
    '2024-09-02',
  ]);
  assert.deepEqual(await dates({ from_date: '2024-12-02T23:59:59-11:00', action_type: 'SPLIT' }), [
    '2024-12-02',
  ]);
  assert.deepEqual(await dates({ ...ALL, action_type: 'Split' }), ['2024-06-03', '2024-12-02']);
  assert.deepEqual(await dates({ from_date: '2030-01-01' }), []);
});

test('pages of any size give every action once (contract 4.1, 4.2, 4.5)', async () => {
  const path = 'stock/stock_corporate_action/list/us:x';
  const whole = (await list('X')).data;
  for (const limit of ['1', '2', '3', '5', '6', '1000'])
    assert.deepEqual(await caller.walk(path, { ...ALL, limit }), whole, limit);
  const dividends = whole.filter(({ action_type }) => action_type === 'dividend');
  assert.deepEqual(await caller.walk(path, { ...ALL, limit: '2', action_type: 'dividend' }), dividends);
});

test('a walk misses nothing and repeats nothing while another process imports (contract 4.1)', async () => {
  const day = (index: number) => new Date(Date.UTC(2000, 0, 1 + index * 7)).toISOString().slice(0, 10);
  const rows = (from: number, step: number) =>
    Array.from({ length: 120 }, (_, index) => `US,WALK,dividend,${day(from + index * step)},0.1`);
  const file = (lines: readonly string[]) => `${HEADER},cash_amount\n${lines.join('\n')}\n`;
  await imported('walk.csv', file(rows(0, 4)));
  const known = (await list('WALK', { ...ALL, limit: '1000' })).data.map(({ ex_date }) => ex_date);
  let run = 0;
  const walked = await caller.walk(
    'stock/stock_corporate_action/list/US:WALK',
    { ...ALL, limit: '30' },
    async () => {
      run++;
      await imported(`walk-${run}.csv`, file(rows(run, 4)));
    },
  );
  const dates = walked.map(({ ex_date }) => ex_date);
  assert.ok(run >= 3);
  assert.ok(dates.every((date, index) => index === 0 || dates[index - 1]! < date!));
  assert.equal(new Set(dates).size, dates.length);
  for (const date of known) assert.ok(dates.includes(date), String(date));
});

test('CSV has the rows, the order and the digits of JSON (contract 5.1, 5.2)', async () => {
  const path = 'stock/stock_corporate_action/list/US:X';
  const response = await caller.ask(path, { ...ALL, format: 'CSV', limit: '4' });
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  assert.equal(response.headers.get('x-count'), '4');
  assert.match(response.headers.get('link') ?? '', /rel="next"/);
  const [header, ...rows] = parseCsv(await response.text());
  const { data } = await list('X', { ...ALL, limit: '4' });
  assert.deepEqual(header, Object.keys(data[0]!));
  assert.deepEqual(rows, data.map(cellsOf));
  const none = await caller.ask(path, { from_date: '2030-01-01', format: 'csv' });
  assert.deepEqual(parseCsv(await none.text()), [header]);
});

test("a caller's mistakes are named (contract 2.2, 4.1, 4.4, 6.3)", async () => {
  const path = 'stock/stock_corporate_action/list/US:X';
  const type = await caller.refused(path, { ...ALL, action_type: 'dividends' });
  assert.equal(type.code, 400);
  assert.match(type.message, /action_type must be one of dividend, split/);
  const order = await caller.refused(path, { from_date: '2024-02-01', to_date: '2024-01-01' });
  assert.deepEqual([order.code, order.detail.param], [400, 'from_date']);
  const missing = await caller.refused(path);
  assert.deepEqual([missing.code, missing.detail.param], [400, 'from_date']);
  const unknown = await caller.refused('stock/stock_corporate_action/list/US:XX', ALL);
  assert.deepEqual([unknown.code, unknown.detail.error], [404, 'unknown_instrument']);
  assert.match(unknown.detail.hint ?? '', /^Did you mean US:X/);
  const most = await caller.refused(path, { ...ALL, limit: '1001' });
  assert.match(most.message, /limit must be a whole number from 1 to 1000/);
  const { next_page_key: next } = await list('X', { ...ALL, limit: '1' });
  for (const other of [{ from_date: '1900-01-02' }, { ...ALL, action_type: 'split' }]) {
    const refusal = await caller.refused(path, { ...other, next_page_key: next! });
    assert.deepEqual([refusal.code, refusal.detail.error], [400, 'invalid_page_key']);
  }
});

const bars = (symbol: string, interval: string, ...more: readonly string[]) =>
  ['--schema', 'stock', '--country', 'US', '--symbol', symbol, '--interval', interval, ...more] as const;

async function importedBars(name: string, lines: readonly string[], flags: readonly string[]): Promise<void> {
  const file = shop.path(name);
  writeFileSync(file, ['datetime,open,high,low,close', ...lines, ''].join('\n'));
  await shop.must('import', 'bars', file, ...flags);
}

const dividends = (symbol: string, dates: readonly string[]) =>
  `${HEADER},cash_amount\n${dates.map((date) => `US,${symbol},dividend,${date},1`).join('\n')}\n`;

const priced = async (symbol: string): Promise<unknown[]> =>
  (await list(symbol)).data.map((action) => [
    action.ex_date,
    action.reference_price,
    action.adjustment_factor,
  ]);

test('without a price in the file the raw close before the ex-date is taken, where bars tell it (contract 8.2)', async () => {
  // Friday, and the Wednesday after: Monday and Tuesday have no bar. Behind the last one nothing is known but
  // the next session.
  await importedBars('d.csv', ['2024-03-01,9,11,8,10', '2024-03-06,19,21,18,20'], bars('D', 'DAY'));
  const dates = ['2024-03-01', '2024-03-02', '2024-03-04', '2024-03-06', '2024-03-07', '2024-03-08'];
  await imported('d-actions.csv', dividends('D', dates));
  assert.deepEqual(await priced('D'), [
    ['2024-03-01', null, '1.00000000'],
    ['2024-03-02', 10, '0.90000000'],
    ['2024-03-04', 10, '0.90000000'],
    ['2024-03-06', 10, '0.90000000'],
    ['2024-03-07', 20, '0.95000000'],
    ['2024-03-08', null, '1.00000000'],
  ]);
});

test('a close is derived from minutes of regular hours where there is no DAY bar (contract 3.8, 8.2)', async () => {
  const minutes = ['2024-03-04T20:59:00Z,4,4,4,4', '2024-03-04T21:30:00Z,5,5,5,5'];
  await importedBars('m.csv', minutes, bars('M', '1M'));
  await imported('m-actions.csv', dividends('M', ['2024-03-05']));
  assert.deepEqual(await priced('M'), [['2024-03-05', 4, '0.75000000']]);
});

test('prices that were adjusted already give no factor (contract 8.2, 9.4)', async () => {
  await importedBars('a.csv', ['2024-03-04,4,4,4,4'], bars('A', 'DAY', '--prices', 'split'));
  await imported('a-actions.csv', dividends('A', ['2024-03-05']));
  assert.deepEqual(await priced('A'), [['2024-03-05', null, '1.00000000']]);
});

test('a file can be imported twice, corrected and taken back, its new instruments too (contract 8.9, 10, 11)', async () => {
  const file = (cash: string) =>
    `${HEADER},cash_amount,reference_price\nUS,ONE,DIVIDEND,2024-01-02,${cash},10\n`;
  const first = await imported('one.csv', file('1'));
  assert.deepEqual([first.rowsWritten, first.newInstruments], [1, 1]);
  const again = await imported('one.csv', file('1'));
  assert.deepEqual([again.rowsWritten, again.rowsUnchanged, again.newInstruments], [0, 1, 0]);
  const second = await imported('two.csv', file('2'));
  const factor = async () => (await list('ONE')).data.map((action) => action.adjustment_factor);
  assert.deepEqual(await factor(), ['0.80000000']);
  await shop.must('undo', String(second.runId));
  assert.deepEqual(await factor(), ['0.90000000']);
  // The second import had the same rows: they are its own now.
  await shop.must('undo', String(first.runId));
  assert.deepEqual(await factor(), ['0.90000000']);
  await shop.must('undo', String(again.runId));
  assert.equal((await caller.refused('stock/stock_corporate_action/list/US:ONE', ALL)).code, 404);
});

test('actions are served though the import that made their instrument was taken back (contract 6.3)', async () => {
  const instruments = shop.path('kept.csv');
  writeFileSync(instruments, 'asset_schema,country_iso_code,symbol\nstock,US,KEPT\n');
  const made = await shop.must('import', 'instruments', instruments);
  await imported('kept-actions.csv', dividends('KEPT', ['2024-01-02']));
  await shop.must('undo', /run (\d+)/.exec(made)![1]!);
  assert.equal((await list('KEPT')).count, 1);
});

test('a dividend no smaller than the price before it is kept, adjusts nothing and is told (contract 8.2)', async () => {
  const text = `${HEADER},cash_amount,reference_price\nUS,ODD,dividend,2024-01-02,3,3\nUS,ODD,dividend,2024-01-03,1,3\n`;
  writeFileSync(shop.path('odd.csv'), text);
  const report = await shop.must('import', 'corporate-actions', shop.path('odd.csv'));
  assert.match(report, /dividends no smaller than the price before them, which adjust nothing: 1 row/);
  assert.deepEqual((await list('ODD')).data.map(short), [
    ['2024-01-02', 'dividend', '1.00000000'],
    ['2024-01-03', 'dividend', '0.66666667'],
  ]);
});

const cashOf = async (symbol: string, parameters: Parameters = ALL): Promise<unknown[]> =>
  (await list(symbol, parameters)).data.map(({ ex_date, cash_amount }) => `${ex_date} ${cash_amount}`);

test('a regular and a special dividend of one day are both kept, told apart by their order (contract 11)', async () => {
  const rows = (...cash: readonly string[]) =>
    [`${HEADER},cash_amount`, ...cash.map((amount) => `US,TWO,dividend,2024-02-09,${amount}`), ''].join('\n');
  const first = await imported('two.csv', rows('0.5', '15', '0.5', '15'));
  assert.deepEqual([first.rowsRefused, first.rowsWritten, first.rowsUnchanged], [0, 2, 2]);
  const both = ['2024-02-09 0.5', '2024-02-09 15'];
  assert.deepEqual(await cashOf('TWO'), both);
  const walked = await caller.walk('stock/stock_corporate_action/list/US:TWO', { ...ALL, limit: '1' });
  assert.deepEqual(
    walked.map(({ cash_amount }) => cash_amount),
    [0.5, 15],
  );
  assert.equal((await imported('two.csv', rows('0.5', '15'))).rowsWritten, 0);
  const corrected = await imported('two.csv', rows('0.51', '15'));
  assert.deepEqual(await cashOf('TWO'), ['2024-02-09 0.51', '2024-02-09 15']);
  await shop.must('undo', String(corrected.runId));
  assert.deepEqual(await cashOf('TWO'), both);
  const told = await shop.must('import', 'corporate-actions', shop.path('two.csv'));
  assert.match(told, /actions beside another one of the same stock, kind and day: 1 row$/m);
});

test('a file of special dividends alone, and two splits of one day, say which one each is (contract 11)', async () => {
  const file = (cells: string, occurrence: string) =>
    `${HEADER},cash_amount,split_from,split_to,occurrence\nUS,SPEC,${cells},${occurrence}\n`;
  await imported('regular.csv', file('dividend,2024-02-09,0.5,,', ''));
  await imported('special.csv', file('dividend,2024-02-09,15,,', '2'));
  assert.deepEqual(await cashOf('SPEC'), ['2024-02-09 0.5', '2024-02-09 15']);
  await imported('reverse.csv', file('split,2024-03-01,,100,1', '1'));
  await imported('forward.csv', file('split,2024-03-01,,1,100', '2'));
  const splits = (await list('SPEC', { ...ALL, action_type: 'split' })).data;
  assert.deepEqual(
    splits.map(({ adjustment_factor }) => adjustment_factor),
    ['100.00000000', '0.01000000'],
  );
  const refused = await imported('bad.csv', file('dividend,2024-02-09,1,,', '0'));
  assert.match(refused.refused[0]!.reason, /must be a whole number from 1 to 99/);
});

const refusals: readonly (readonly [cells: string, problem: RegExp])[] = [
  ['US,R,dividend,2024-01-02,,,,,,', /cash_amount: is missing: a dividend needs it/],
  ['US,R,split,2024-01-02,,1,,,,', /split_to: is missing: a split needs it/],
  ['US,R,split,2024-01-02,1,1,2,,,', /cash_amount: must be empty on a split/],
  ['US,R,dividend,2024-01-02,1,1,2,,,', /split_from: must be empty on a dividend/],
  ['US,R,merger,2024-01-02,1,,,,,', /action_type: must be one of dividend, split/],
  ['US,R,dividend,2024-02-30,1,,,,,', /ex_date: must be a date/],
  ['US,R,dividend,2024-01-02,0,,,,,', /cash_amount: must be a positive number/],
  ['US,R,dividend,2024-01-02,-1,,,,,', /cash_amount: must be a positive number/],
  ['US,R,dividend,2024-01-02,1e999,,,,,', /cash_amount: must be a positive number/],
  ['US,R,dividend,2024-01-02,a lot,,,,,', /cash_amount: must be a positive number/],
  ['US,R,split,2024-01-02,,1,1.05,,,', /split_to: must be a whole number of shares/],
  ['US,R,split,2024-01-02,,0,5,,,', /split_from: must be a whole number of shares/],
  ['US,R,dividend,2024-01-02,1,,,0,,', /reference_price: must be a positive number/],
  ['US,R,dividend,2024-01-02,1,,,,dollars,', /currency: must be a currency code/],
  ['US,R,dividend,2024-01-02,1,,,,,soon', /pay_date: must be a date/],
  ['USA,R,dividend,2024-01-02,1,,,,,', /country_iso_code: must be a two-letter code/],
  ['US,R R,dividend,2024-01-02,1,,,,,', /symbol: must be 1 to 40/],
  ['US,R,dividend,2024-01-03,1,,,,,', /^$/],
  ['US,R,dividend,2024-01-03,1,,,,,', /^$/],
  ['US,R,split,2024-01-04,,1,2,,,', /^$/],
  ['US,R,split,2024-01-04,,1,3,,,', /ex_date: the file has an action of this kind and day already/],
  ['US,R,split,2024-01-04,,1,2,,,', /^$/],
];

test('each row that cannot be is refused with its column and its reason (contract 11)', async () => {
  const header = `${HEADER},cash_amount,split_from,split_to,reference_price,currency,pay_date`;
  const text = [header, ...refusals.map(([cells]) => cells), ''].join('\n');
  const report = await imported('refused.csv', text);
  refusals.forEach(([cells, problem], index) => {
    const refused = report.refused.find(({ row }) => row === index + 1);
    assert.match(refused === undefined ? '' : `${refused.column}: ${refused.reason}`, problem, cells);
  });
  assert.equal((await list('R')).count, 2);
});

test('flags give what is the same in every row; those of other datasets are wrong usage (contract 11)', async () => {
  const file = shop.path('flags.csv');
  writeFileSync(file, 'action_type,ex_date,split_from,split_to\nsplit,2024-01-02,1,2\n');
  const named = ['--schema', 'stock', '--country', 'us', '--symbol', 'flag', '--exchange', 'xnas'];
  await shop.must('import', 'corporate-actions', file, ...named);
  assert.equal((await list('FLAG')).data[0]?.exchange, 'XNAS');
  for (const wrong of [
    [...named, '--schema', 'crypto'],
    [...named, '--zone', 'UTC'],
    [...named, '--interval', 'DAY'],
  ])
    assert.equal((await shop.run('import', 'corporate-actions', file, ...wrong)).status, 2, wrong.join(' '));
});

test('NDJSON, JSON and packed files give the same actions as CSV (contract 11)', async () => {
  const action = { country_iso_code: 'US', action_type: 'dividend', ex_date: '2024-01-02', cash_amount: 0.1 };
  await imported('n.ndjson', `${JSON.stringify({ ...action, symbol: 'N' })}\n`);
  await imported('n.json', JSON.stringify([{ ...action, symbol: 'J' }]));
  const [{ symbol: _, ...first }] = (await list('N')).data as [Got];
  const [{ symbol: __, ...second }] = (await list('J')).data as [Got];
  assert.deepEqual(first, second);
  assert.equal(first.cash_amount, 0.1);
});

const shared = join(sharedData, 'corporate-actions/AAPL.csv');
const skip = existsSync(shared) ? false : `${shared} is not there`;
test('twenty years of AAPL through a map: splits, dividends and factors in order (spec 2.4, contract 8.2)', {
  skip,
}, async () => {
  const map = shop.path('map.json');
  const columns = { cash_amount: 'cash_amount_rounded', reference_price: 'reference_price_prev_close' };
  writeFileSync(map, JSON.stringify({ columns }));
  await shop.must('import', 'corporate-actions', shared, '--map', map);
  const { data } = await list('AAPL', { ...ALL, limit: '1000' });
  assert.equal(data.length, 39);
  const splits = data.filter(({ action_type }) => action_type === 'split');
  assert.deepEqual(
    splits.map(({ adjustment_factor }) => adjustment_factor),
    ['0.50000000', '0.50000000', '0.14285714', '0.25000000'],
  );
  const dates = data.map(({ ex_date }) => ex_date);
  assert.ok(dates.every((date, index) => index === 0 || dates[index - 1]! < date!));
  const path = 'stock/stock_corporate_action/list/US:AAPL';
  const [, ...rows] = parseCsv(await (await caller.ask(path, { ...ALL, format: 'csv' })).text());
  assert.deepEqual(rows, data.map(cellsOf));
  assert.deepEqual(await caller.walk(path, { ...ALL, limit: '7' }), data);
});
