// QuantConnect LEAN factor files as corporate actions, map files as instruments, as they are (contract 9.4,
// 9.6, 11).
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { formatDay } from '../../src/base/instant.ts';
import { calendarOf } from '../../src/market/calendar/calendar.ts';
import { parseCsv } from '../csv.ts';
import { fc, times } from '../seed.ts';
import { sharedData } from '../service.ts';
import { rowsOf } from '../stores.ts';
import { zipOf } from '../zip.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const actions = () =>
  rowsOf(
    vendor.url,
    `select symbol, ex_date, action_type, cash_amount, reference_price, split_from, split_to, currency
     from corporate_actions order by ex_date, action_type`,
  ).map(({ ex_date, ...rest }) => [formatDay(ex_date as number), ...Object.values(rest)]);

const FACTORS = 'equity/usa/factor_files/abc.csv';
const asActions = { dataset: 'corporate-actions' };

// Last days with the old factors: Friday 2014-06-06, Thursday 2015-07-02 before a holiday, Monday 2019-08-05,
// Friday 2020-08-28.
const factors = [
  '19980102,0.9653065,0.03571430,1',
  '20140606,0.9653065,0.03571430,645.57',
  '20150702,0.9653065,0.25,125.01',
  '20190805,0.9702505,0.25,100',
  '20200828,0.9799530,0.25,499.23',
  '20210204,0.9799530,1,50',
  '20501231,1,1,0',
].join('\n');

test('a factor file: ex-dates are the next sessions, amounts and shares the simplest that the rounded factors say', async () => {
  const report = await vendor.import(FACTORS, factors, asActions);
  assert.equal(report.preset?.name, 'lean-factors');
  assert.deepEqual([report.rowsRead, report.rowsWritten, report.findings], [5, 5, {}]);
  assert.deepEqual(actions(), [
    ['2014-06-09', 'ABC', 'split', null, 645.57, 1, 7, null],
    // 125.01 x (1 - 0.9653065 / 0.9702505) = 0.63701 within 0.00003, two days after 2015-07-03, when there
    // was no session.
    ['2015-07-06', 'ABC', 'dividend', 0.637, 125.01, null, null, 'USD'],
    // 100 x (1 - 0.9702505 / 0.979953) = 0.99011 within 0.00002.
    ['2019-08-06', 'ABC', 'dividend', 0.9901, 100, null, null, 'USD'],
    ['2020-08-31', 'ABC', 'split', null, 499.23, 1, 4, null],
    ['2021-02-05', 'ABC', 'dividend', 1.00235, 50, null, null, 'USD'],
  ]);
});

test('a day may have both, splits may be of shares put together or of parts, unusable factors are passed over as LEAN does', async () => {
  const lines = [
    '19991231,0,inf,0',
    '20001229,0.5,1e+07,10',
    '20100630,0.98,150,20',
    '20120928,0.98,1.5,10',
    '20501231,1,1,0',
  ];
  await vendor.import(
    'factor_files_20210205.zip',
    zipOf({ name: 'brk.b.csv', bytes: Buffer.from(lines.join('\r\n')) }),
    asActions,
  );
  assert.deepEqual(actions(), [
    ['2010-07-01', 'BRK.B', 'split', null, 20, 100, 1, null],
    ['2012-10-01', 'BRK.B', 'dividend', 0.2, 10, null, null, 'USD'],
    ['2012-10-01', 'BRK.B', 'split', null, 10, 3, 2, null],
  ]);
});

test('without reference prices a dividend has no amount: its row is refused, splits are taken', async () => {
  const report = await vendor.import(
    FACTORS,
    '19980102,0.9,0.5\n20100104,0.9,0.5\n20110103,0.9,1\n20501231,1,1\n',
    asActions,
  );
  assert.deepEqual(actions(), [['2010-01-05', 'ABC', 'split', null, null, 1, 2, null]]);
  assert.deepEqual(
    report.refused.map(({ row, reason }) => [row, reason]),
    [[3, 'is missing: a dividend needs it']],
  );
});

test('files of other markets, and bars of days, are not taken for factor files', async () => {
  const text = '20200102,0.9,1,10\n20501231,1,1,0\n';
  assert.match(
    await vendor.refusal('equity/india/factor_files/abc.csv', text, asActions),
    /can be imported for the market usa only, not for india/,
  );
  assert.match(
    await vendor.refusal(
      'equity/usa/daily/spy.csv',
      '20131001 00:00,1680400,1689900,1680300,1688700,131243195\n',
      {
        ...asActions,
        preset: 'lean-factors',
      },
    ),
    /is not a file of the preset lean-factors; it is a file of the preset lean:/,
  );
});

const splits = [
  '1:2',
  '2:3',
  '1:3',
  '1:4',
  '1:5',
  '4:5',
  '1:7',
  '1:10',
  '1:20',
  '20:21',
  '2:1',
  '5:1',
  '10:1',
  '35:1',
];

test('chains of splits come back from factors that are rounded to eight decimals, with false zeros and without', async () => {
  const chain = fc.array(fc.constantFrom(...splits), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(chain, fc.boolean(), async (said, hasZeros) => {
      const rows: string[] = [];
      let factor = 1;
      for (const [index, split] of [...said].reverse().entries()) {
        const [from, to] = split.split(':').map(Number) as [number, number];
        factor *= from / to;
        fc.pre(factor > 0.002 && factor < 100_000);
        const text = hasZeros ? `${factor.toFixed(7)}0` : factor.toFixed(8);
        rows.unshift(`${2020 - index}0102,1,${text},10`);
      }
      await vendor.import(FACTORS, [...rows, '20501231,1,1,0'].join('\n'), asActions);
      assert.deepEqual(
        actions().map((action) => action.slice(5, 7).join(':')),
        said,
      );
    }),
    { numRuns: times(15) },
  );
});

test('factors that are off by more than their rounding give the few shares that were meant; what stays odd is told', async () => {
  const lines = ['20090326,1,3.0003,10', '20100104,1,1,10', '20110103,1,1,10', '20501231,1,1,0'];
  await vendor.import(FACTORS, lines.join('\n'), asActions);
  assert.deepEqual(
    actions().map((action) => action.slice(5, 7)),
    [[3, 1]],
  );
  const { preset } = await vendor.import(
    FACTORS,
    '20160330,1,2797.200,0.16\n20160915,1,80,0.07\n20501231,1,1,0',
    asActions,
  );
  assert.match(JSON.stringify(preset), /6993 to 200 on 2016-03-31\): are they right\?/);
});

test('a file without dividends and splits is no fault, and has nothing', async () => {
  const report = await vendor.import(FACTORS, '20120518,1,1,1\n20501231,1,1,0', asActions);
  assert.deepEqual([report.rowsRead, report.rowsRefused, actions()], [0, 0, []]);
});

test('rows may come in any order, and the last without an end; a file may be longer than its sample', async () => {
  const days = Array.from({ length: 460 }, (_, index) => formatDay(12_000 + index).replaceAll('-', ''));
  const rows = days.map((day, index) => `${day},${(0.5 + index / 1000).toFixed(7)},1.00000000,100.1234`);
  const whole = [...rows, '20501231,1,1,0'].reverse().join('\n');
  const report = await vendor.import(FACTORS, whole, asActions);
  assert.deepEqual([report.rowsRead, report.rowsRefused, actions().length], [460, 0, 460]);
  const many = Array.from({ length: 5000 }, (_, index) => formatDay(4_000 + index).replaceAll('-', ''));
  const long = many.map((day, index) => `${day},${(0.1 + index / 10_000).toFixed(7)},1.00000000,100.1234`);
  const read = await vendor.import(FACTORS, [...long, '20501231,1,1,0'].join('\n'), asActions);
  assert.deepEqual([read.rowsRead, read.rowsRefused], [5000, 0]);
});

test('what is no date, or is there twice, is told, and nothing of the file is taken', async () => {
  const end = '20501231,1,1,0\n';
  assert.match(
    await vendor.refusal(FACTORS, `20101399,0.9,1,10\n${end}`, asActions),
    /20101399 is not a date/,
  );
  const twice = `20100104,0.9,0.5,10\n20100104,0.95,0.5,10\n${end}`;
  assert.match(await vendor.refusal(FACTORS, twice, asActions), /has two rows of 20100104/);
});

test('an amount that the factors do not tell, and a factor that is no number, give no dividend', async () => {
  const tiny = '20100104,0.0000123,1,3.5\n20110103,0.0000124,1,3.5\n20501231,1,1,0\n';
  const rising = '20100104,1.05,0.5,100\n20110103,1,0.5,0\n20501231,1,1,0\n';
  const endless = `20100104,1,${'9'.repeat(401)},10\n20501231,1,1,0\n`;
  const reasons = (await vendor.import(FACTORS, tiny, asActions)).refused.map(({ reason }) => reason);
  assert.deepEqual(reasons.slice(0, 1), ['is missing: a dividend needs it']);
  const report = await vendor.import(FACTORS, rising, asActions);
  assert.deepEqual(
    report.refused.map(({ row, reason }) => [row, reason]),
    [[1, 'is missing: a dividend needs it']],
  );
  assert.deepEqual(actions(), [['2011-01-04', 'ABC', 'split', null, null, 1, 2, null]]);
  assert.equal((await vendor.import(FACTORS, endless, asActions)).rowsRead, 0);
});

const apple = join(sharedData, 'corporate-actions/AAPL.csv');

test('the factors of AAPL give the actions that others worked out of them', {
  skip: existsSync(apple) ? false : `no ${apple}`,
}, async () => {
  const [head, ...rows] = parseCsv(readFileSync(apple, 'utf8'));
  const cell = (row: readonly (string | null)[], name: string): string => row[head!.indexOf(name)] ?? '';
  const calendar = calendarOf('stock', 'US');
  const lastBefore = (date: string): string => {
    const day = Date.parse(date) / 86_400_000;
    return formatDay(calendar.sessions(day - 10, day).at(-1)!.day).replaceAll('-', '');
  };
  const lines = rows.map((row) =>
    [
      lastBefore(cell(row, 'ex_date')),
      ...['price_factor_before', 'split_factor_before', 'reference_price_prev_close'].map((name) =>
        cell(row, name),
      ),
    ].join(),
  );
  await vendor.import('equity/usa/factor_files/aapl.csv', [...lines, '20501231,1,1,0'].join('\n'), asActions);
  const expected = rows.map((row) => [
    cell(row, 'ex_date'),
    'AAPL',
    cell(row, 'action_type'),
    Number(cell(row, 'cash_amount_rounded')) || null,
    Number(cell(row, 'split_from')) || null,
    Number(cell(row, 'split_to')) || null,
  ]);
  assert.deepEqual(
    actions().map(([date, symbol, type, cash, , from, to]) => [
      date,
      symbol,
      type,
      cash === null ? null : Number((cash as number).toFixed(3)),
      from,
      to,
    ]),
    expected,
  );
});

const instruments = () =>
  rowsOf(
    vendor.url,
    'select symbol, exchange, status, listing_date, delisting_date, former_symbols from instruments order by symbol',
  ).map(({ former_symbols: former, ...rest }) => [
    ...Object.values(rest),
    ...(
      JSON.parse((former as string | null) ?? '[]') as { symbol: string; from_day: number; to_day: number }[]
    ).map(({ symbol, from_day, to_day }) => `${symbol}:${formatDay(from_day)}..${formatDay(to_day)}`),
  ]);

const asInstruments = { dataset: 'instruments' };

test('a map file: the last ticker is the symbol, those before are former ones, each until its date', async () => {
  const report = await vendor.import(
    'equity/usa/map_files/xyz.csv',
    '20120518,old,Q\n20220608,old,Q\n20230104,mid,Q\n20501231,xyz,N\n',
    asInstruments,
  );
  assert.equal(report.preset?.name, 'lean-map');
  assert.deepEqual([report.rowsRead, report.rowsWritten, report.findings], [1, 1, {}]);
  assert.deepEqual(instruments(), [
    ['XYZ', 'XNYS', 'active', '2012-05-18', null, 'OLD:2012-05-18..2022-06-08', 'MID:2022-06-09..2023-01-04'],
  ]);
});

test('a ticker that an instrument has again is a former one for the days before (contract 9.6)', async () => {
  await vendor.import(
    'equity/usa/map_files/xyz.csv',
    '20120518,xyz,N\n20151231,xyz,N\n20190628,mid,N\n20501231,xyz,N\n',
    asInstruments,
  );
  assert.deepEqual(instruments(), [
    ['XYZ', 'XNYS', 'active', '2012-05-18', null, 'XYZ:2012-05-18..2015-12-31', 'MID:2016-01-01..2019-06-28'],
  ]);
});

test('one that has ended is inactive since its last date; a ticker that another has now is a former one (contract 3.9)', async () => {
  await vendor.import('equity/usa/map_files/tap.a.csv', '20050210,tap.a\n20210104,tap.a\n', asInstruments);
  await vendor.import('equity/usa/map_files/twx.1.csv', '19980102,twx\n20010111,twx\n', asInstruments, false);
  await vendor.import(
    'equity/usa/map_files/twx.csv',
    '19980102,aol\n20031015,aol\n20501231,twx\n',
    asInstruments,
    false,
  );
  assert.deepEqual(instruments(), [
    ['TAP.A', null, 'inactive', '2005-02-10', '2021-01-04'],
    ['TWX', null, 'active', null, null, 'AOL:1998-01-02..2003-10-15'],
    ['TWX.1', null, 'inactive', null, '2001-01-11', 'TWX:1998-01-02..2001-01-11'],
  ]);
});

test('a ticker that a later company takes is that company, without the delisting of the one before (contract 3.9)', async () => {
  const name = 'equity/usa/map_files/xyz.csv';
  await vendor.import(name, '20050210,xyz,N\n20180615,xyz,N\n', asInstruments);
  const report = await vendor.import(name, '20260105,xyz,Q\n20501231,xyz,Q\n', asInstruments, false);
  assert.equal(report.rowsRefused, 0);
  assert.deepEqual(instruments(), [['XYZ', 'XNAS', 'active', '2026-01-05', null]]);
});

const timeWarner = join(sharedData, 'lean/equity/usa/map_files/twx.csv');

test("LEAN's own map file of Time Warner: delisted on 2018-06-15 (contract 3.9)", {
  skip: existsSync(timeWarner) ? false : `no ${timeWarner}`,
}, async () => {
  await vendor.import('equity/usa/map_files/twx.csv', readFileSync(timeWarner), asInstruments);
  assert.deepEqual(instruments(), [
    ['TWX', 'XNYS', 'inactive', null, '2018-06-15', 'AOL:1998-01-02..2003-10-15'],
  ]);
});

test('actions of the time before an instrument had its ticker are its own, not of the one that had it then', async () => {
  await vendor.import('equity/usa/map_files/twx.1.csv', '19980102,twx\n20010111,twx\n', asInstruments);
  await vendor.import(
    'equity/usa/map_files/twx.csv',
    '19980102,aol\n20031015,aol\n20501231,twx\n',
    asInstruments,
    false,
  );
  const factors = '19980102,1,0.25,1\n19991119,1,0.25,150\n20501231,1,1,0\n';
  await vendor.import('equity/usa/factor_files/twx.csv', factors, asActions, false);
  assert.deepEqual(actions(), [['1999-11-22', 'TWX', 'split', null, 150, 1, 4, null]]);
});

test('bars of an old ticker lie with the instrument that had it', async () => {
  await vendor.import(
    'equity/usa/map_files/xyz.csv',
    '20120518,old,Q\n20220608,old,Q\n20501231,xyz,Q\n',
    asInstruments,
  );
  await vendor.import(
    'equity/usa/daily/old.csv',
    '20131001 00:00,1680400,1689900,1680300,1688700,100\n',
    {},
    false,
  );
  assert.deepEqual(await vendor.served('stock/US:XYZ', 'DAY'), [
    ['2013-10-01', 168.04, 168.99, 168.03, 168.87, 100, null],
  ]);
});
