// Massive (Polygon.io) flat files, as they come (contract 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const header = 'ticker,volume,open,close,high,low,window_start,transactions';
/** 2025-04-16 13:30 UTC, the regular open of New York, in nanoseconds. */
const open = 1_744_810_200_000_000_000n;
const minute = 60_000_000_000n;

const fileOf = (...rows: readonly string[]): string => [header, ...rows, ''].join('\n');

test('a file of minutes is read without a word: nanoseconds, and close stands before high and low', async () => {
  const rows = [
    `AAPL,4930,200.29,200.5,200.63,200.11,${open},129`,
    `AAPL,1815.5,200.39,200.61,200.61,200.34,${open + minute},57`,
    `BRK.B,100,520,521,522,519,${open},3`,
  ];
  const report = await vendor.import('2025-04-16.csv.gz', gzipSync(fileOf(...rows)));
  assert.deepEqual([report.rowsWritten, report.rowsRefused, report.ignoredColumns], [3, 0, ['transactions']]);
  assert.deepEqual(report.preset, {
    name: 'massive',
    doubt: null,
    says: { asset_schema: 'stock', country_iso_code: 'US', interval: '1M', prices: 'raw', symbols: 'then' },
  });
  assert.deepEqual(await vendor.served('stock/US:AAPL', '1M'), [
    ['2025-04-16T13:30:00+00:00', 200.29, 200.63, 200.11, 200.5, 4930, null],
    ['2025-04-16T13:31:00+00:00', 200.39, 200.61, 200.34, 200.61, 1815.5, null],
  ]);
  assert.equal((await vendor.served('stock/US:BRK.B', '1M')).length, 1);
});

const prefixed: readonly (readonly [prefix: string, ticker: string, symbol: string])[] = [
  ['O:', 'SPY250417C00500000', 'option/US:SPY250417C00500000'],
  ['X:', 'BTC-USD', 'crypto/GLOBAL:BTC-USD'],
  ['C:', 'EUR-USD', 'forex/GLOBAL:EUR-USD'],
];
for (const [prefix, ticker, symbol] of prefixed) {
  test(`tickers that begin with ${prefix} are of ${symbol.split('/')[0]}`, async () => {
    const row = (at: bigint) => `${prefix}${ticker},1.25,1,2,3,0.5,${at},7`;
    await vendor.import('2025-04-16.csv', fileOf(row(open), row(open + minute)));
    const [first] = await vendor.served(symbol, '1M');
    assert.deepEqual(first, ['2025-04-16T13:30:00+00:00', 1, 3, 0.5, 2, 1.25, null]);
  });
}

test('a row of another asset type than the first is refused, with its ticker as it stands', async () => {
  const rows = [
    `X:BTC-USD,1,1,2,3,0.5,${open},7`,
    `X:ETH-USD,1,1,2,3,0.5,${open + minute},7`,
    `SPY,1,1,2,3,0.5,${open},7`,
  ];
  const report = await vendor.import('2025-04-16.csv', fileOf(...rows));
  assert.equal(report.rowsWritten, 2);
  const [refused] = report.refused;
  assert.deepEqual([refused?.row, refused?.column], [3, 'ticker']);
  assert.match(refused!.reason, /does not begin with X: like the first one/);
});

test('a file of indices has no volume', async () => {
  const rows = [
    'ticker,open,close,high,low,window_start',
    `I:SPX,5400,5410,5420,5390,${open}`,
    `I:SPX,5400,5410,5420,5390,${open + minute}`,
  ];
  await vendor.import('2025-04-16.csv', rows.join('\n'));
  const [first] = await vendor.served('stock/US:SPX', '1M');
  assert.deepEqual(first, ['2025-04-16T13:30:00+00:00', 5400, 5420, 5390, 5410, null, null]);
});

test('a file of days is told by its rows: each ticker once, at midnight of New York', async () => {
  const midnight = BigInt(Date.parse('2025-04-16T04:00:00Z')) * 1_000_000n;
  const rows = [`A,100,1,2,3,0.5,${midnight},5`, `AA,100,1,2,3,0.5,${midnight},5`];
  const report = await vendor.import('2025-04-16.csv.gz', gzipSync(fileOf(...rows)));
  assert.equal(report.preset?.says.interval, 'DAY');
  assert.deepEqual(await vendor.served('stock/US:AA', 'DAY'), [['2025-04-16', 1, 3, 0.5, 2, 100, null]]);
});

test('days of several files in one are days still', async () => {
  const midnight = (date: string) => BigInt(Date.parse(`${date}T04:00:00Z`)) * 1_000_000n;
  const rows = ['2025-04-16', '2025-04-17'].map((date) => `A,100,1,2,3,0.5,${midnight(date)},5`);
  await vendor.import('days.csv', fileOf(...rows));
  assert.deepEqual(
    (await vendor.served('stock/US:A', 'DAY')).map(([date]) => date),
    ['2025-04-16', '2025-04-17'],
  );
});

test('the folder says what one row cannot, and without it the interval is asked for', async () => {
  const row = `AAPL,100,1,2,3,0.5,${open},5`;
  await vendor.import('us_stocks_sip/minute_aggs_v1/2025/04/2025-04-16.csv', fileOf(row));
  assert.equal((await vendor.served('stock/US:AAPL', '1M')).length, 1);
  const message = await vendor.refusal('2025-04-16.csv', fileOf(row));
  assert.match(message, /missing: interval\. .*give it as a flag: --interval/);
  assert.doesNotMatch(message, /--map/);
});

test('the file of refused rows is itself such a file, once it is mended', async () => {
  const rows = [`AAPL,1,1,2,3,0.5,${open},5`, `AAPL,1,1,2,1.5,0.5,${open + minute},5`];
  const { rejectedFile } = await vendor.import('2025-04-17.csv', fileOf(...rows));
  assert.match(rejectedFile!, /2025-04-17\.rejected\.csv$/);
  const mended = readFileSync(rejectedFile!, 'utf8').replace('1,1,2,1.5,0.5', '1,1,2,2.5,0.5');
  const report = await vendor.import('mended.csv', mended, { fields: { interval: '1M' } }, false);
  assert.equal(report.rowsWritten, 1);
  assert.equal((await vendor.served('stock/US:AAPL', '1M'))[1]?.[2], 2.5);
});

test('a header in another order, and seconds instead of nanoseconds, are read by their names and size', async () => {
  const content = `window_start,ticker,open,high,low,close,volume\n${open / 1_000_000_000n},A,1,3,0.5,2,9\n${open / 1_000_000_000n + 60n},A,1,3,0.5,2,9\n`;
  await vendor.import('a.csv', content, { fields: { interval: '1M' } });
  const [first] = await vendor.served('stock/US:A', '1M');
  assert.deepEqual(first, ['2025-04-16T13:30:00+00:00', 1, 3, 0.5, 2, 9, null]);
});

test('yesterday’s file under today’s name is imported by what it holds, and the report says so', async () => {
  const rows = [`AAPL,1,1,2,3,0.5,${open},5`, `AAPL,1,1,2,3,0.5,${open + minute},5`];
  const report = await vendor.import('2025-04-17.csv', fileOf(...rows));
  assert.match(report.preset!.doubt!, /its name says 2025-04-17, and its first bar is of 2025-04-16/);
  assert.equal((await vendor.import('2025-04-16.csv', fileOf(...rows))).preset?.doubt, null);
});
