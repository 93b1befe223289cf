// OCC's series search as option contracts, as it comes (contract 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { rowsOf } from '../stores.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const above = [
  'Series Search Results for WDC',
  'Products for this underlying symbol are traded on: CBOE',
  '',
  '\t\tSeries/contract\t\tStrike\t\t\tOpen Interest',
  'ProductSymbol\tyear\tMonth\tDay\tInteger\tDec\tC/P\tCall\tPut\tPosition Limit\t',
];
const fileOf = (...rows: readonly string[]): string => [...above, ...rows, ''].join('\r\n');
const flags = { dataset: 'option-contracts' };

const stored = () =>
  rowsOf(
    vendor.url,
    'select symbol, underlying_name, strike_price, expiration_date, option_type, contract_type from option_contracts order by symbol',
  ).map((row) => Object.values(row));

const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;

test('a strike is a call, a put or both; adjusted roots are marked, flexible contracts left out (contract 8.5)', async () => {
  const content = fileOf(
    'WDC   \t\t2026\t10\t02\t250\t000\tC P \t3\t113\t25000000',
    'WDC   \t\t2026\t10\t09\t574\t700\t  P \t0\t53\t25000000',
    'WDC1  \t\t2026\t10\t16\t425\t000\tC   \t1250\t1250\t25000000',
    '2WDC  \t\t2026\t10\t16\t425\t000\tC P \t1250\t1250\t25000000',
  );
  const report = await vendor.import('series.txt', content, flags);
  assert.deepEqual([report.preset?.name, report.rowsRead, report.rowsRefused], ['occ', 4, 0]);
  assert.deepEqual(Object.values(report.findings), [4, 1]);
  assert.deepEqual(stored(), [
    ['WDC1261016C00425000', 'WDC', 425, day('2026-10-16'), 'call', 'adjusted'],
    ['WDC261002C00250000', 'WDC', 250, day('2026-10-02'), 'call', null],
    ['WDC261002P00250000', 'WDC', 250, day('2026-10-02'), 'put', null],
    ['WDC261009P00574700', 'WDC', 574.7, day('2026-10-09'), 'put', null],
  ]);
});

test('options on indices are exercised at their expiration, but for those of OEX; others at any time', async () => {
  const rows = ['SPX   ', 'SPXW  ', 'OEX   ', 'SPY   '].map(
    (root) => `${root}\t\t2026\t10\t02\t250\t000\tC   \t3\t113\t25000000`,
  );
  await vendor.import('series.txt', fileOf(...rows), flags);
  const styles = rowsOf(
    vendor.url,
    'select symbol, exercise_style, is_indices from option_contracts order by symbol',
  ).map(({ symbol, ...rest }) => [(symbol as string).replace(/2610.*/, ''), ...Object.values(rest)]);
  assert.deepEqual(styles, [
    ['OEX', 'american', 1],
    ['SPX', 'european', 1],
    ['SPXW', 'european', 1],
    ['SPY', 'american', null],
  ]);
});

test('a row that is wrong is refused under its number, and taken when it is mended', async () => {
  const content = fileOf(
    'WDC   \t\t2026\t10\t02\t250\t000\tC   \t3\t113\t25000000',
    'WDC   \t\t2026\t13\t02\t250\t000\tC   \t3\t113\t25000000',
    'WDC   \t\t2026\t10\t02\tx\t000\tC   \t3\t113\t25000000',
  );
  const { rejectedFile, refused } = await vendor.import('series.txt', content, flags);
  assert.deepEqual(
    refused.map(({ row, column }) => [row, column]),
    [
      [2, 'ProductSymbol'],
      [3, 'ProductSymbol'],
    ],
  );
  const mended = readFileSync(rejectedFile!, 'utf8').replace(',13,', ',12,').replace(',x,', ',255,');
  await vendor.import('mended.csv', mended, { ...flags, fields: { underlying_name: 'WDC' } }, false);
  assert.deepEqual(
    stored().map(([symbol]) => symbol),
    ['WDC261002C00250000', 'WDC261002C00255000', 'WDC261202C00250000'],
  );
});
