// Binance public klines, as they come (contract 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { zipOf } from '../zip.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const header =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore';
const first = '1596240000000,12.01,12.2,11.95,12.12,5120,1596243599999,61440,412,2540.00,30702.44,0';

test('rows without a header are told by themselves, symbol and interval by the name of the file', async () => {
  const second = '1596243600000,12.12,12.5,12.1,12.4,0,1596247199999,0,0,0,0,0';
  const report = await vendor.import('ADABKRW-1h-2020-08.csv', `${first}\n${second}\n`);
  assert.deepEqual([report.rowsRead, report.rowsRefused], [2, 0]);
  assert.deepEqual(report.preset?.says, {
    asset_schema: 'crypto',
    country_iso_code: 'GLOBAL',
    symbol: 'ADABKRW',
    interval: '60M',
    prices: 'raw',
  });
  assert.deepEqual(await vendor.served('crypto/GLOBAL:ADABKRW', '60M'), [
    ['2020-08-01T00:00:00+00:00', 12.01, 12.2, 11.95, 12.12, 5120, 12],
    ['2020-08-01T01:00:00+00:00', 12.12, 12.5, 12.1, 12.4, 0, null],
  ]);
});

test('a zip as it is downloaded gives what is in it', async () => {
  const zip = zipOf({ name: 'ADABKRW-1h-2020-08.csv', bytes: Buffer.from(`${first}\n`) });
  const report = await vendor.import('ADABKRW-1h-2020-08.zip', zip);
  assert.deepEqual([report.preset?.says.symbol, report.rowsWritten], ['ADABKRW', 1]);
});

test('a file with a header is the same', async () => {
  await vendor.import('ADABKRW-1h-2020-08.csv', `${header}\n${first}\n`);
  assert.deepEqual(await vendor.served('crypto/GLOBAL:ADABKRW', '60M'), [
    ['2020-08-01T00:00:00+00:00', 12.01, 12.2, 11.95, 12.12, 5120, 12],
  ]);
});

test('microseconds, which spot files have from 2025 on, are told from milliseconds row by row', async () => {
  const rows = [
    '1735689540000,1,2,0.5,1.5,10,1735689599999,12,1,1,1,0',
    '1735689600000000,1,2,0.5,1.5,10,1735689659999999,12,1,1,1,0',
  ];
  await vendor.import('BTCUSDT-1m-2025-01.csv', rows.join('\n'));
  const served = await vendor.served('crypto/GLOBAL:BTCUSDT', '1M');
  assert.deepEqual(
    served.map(([at]) => at),
    ['2024-12-31T23:59:00+00:00', '2025-01-01T00:00:00+00:00'],
  );
});

test('coin-margined futures have contracts in the place of the volume and the coin in that of the quote', async () => {
  const row = '1704067200000,42000,42500,41900,42400,4200,1704067259999,10,5,2100,5,0';
  await vendor.import('BTCUSD_PERP-1m-2024-01-01.csv', `${header}\n${row}\n`);
  assert.deepEqual(await vendor.served('crypto/GLOBAL:BTCUSD_PERP', '1M'), [
    ['2024-01-01T00:00:00+00:00', 42000, 42500, 41900, 42400, 10, 42000],
  ]);
});

test('1mo is a month and 1m a minute', async () => {
  const row = '1704067200000,1,2,0.5,1.5,10,1706745599999,12,1,1,1,0';
  const report = await vendor.import('BTCUSDT-1mo-2024-01.csv', row);
  assert.equal(report.preset?.says.interval, 'MON');
  assert.deepEqual(
    (await vendor.served('crypto/GLOBAL:BTCUSDT', 'MON')).map(([at]) => at),
    ['2024-01-01'],
  );
});

test('bars of a second are refused with the reason; a name that says nothing asks for flags', async () => {
  assert.match(await vendor.refusal('BTCUSDT-1s-2024-01.csv', first), /bars of 1s, which cannot be stored/);
  assert.match(
    await vendor.refusal('klines.csv', first),
    /missing: symbol, interval\. .*--symbol, --interval/,
  );
  const fields = { symbol: 'X', interval: '60M' };
  await vendor.import('klines.csv', first, { fields });
  assert.equal((await vendor.served('crypto/GLOBAL:X', '60M')).length, 1);
});

test('a row that is wrong is refused with the name of its column, and what is no number is never null', async () => {
  const rows = [
    first,
    '1596243600000,abc,12.5,12.1,12.4,5,1596247199999,60,0,0,0,0',
    '1596247200000,12,12.5,11,12.4,5,1596250799999,lots,0,0,0,0',
    '1596250800000,12,12.5,11,12.4,5',
    '1596254400000,12,12.5,11,12.4,5,1596257999999,60,0,0,0,0,9',
  ];
  const report = await vendor.import('ADABKRW-1h-2020-08.csv', `${rows.join('\n')}\n`);
  assert.deepEqual(
    report.refused.map(({ row, column, reason }) => [row, column, reason]),
    [
      [2, 'open', 'is not a number'],
      [3, 'quote_volume', 'is not a number'],
      [4, 'row', 'has fewer cells than the header has columns'],
      [5, 'row', 'has more cells than the header has columns'],
    ],
  );
});

test('the refused rows of a file without a header have one, and are taken when they are mended', async () => {
  const bad = '1596243600000,abc,12.5,12.1,12.4,5,1596247199999,60,0,0,0,0';
  const { rejectedFile } = await vendor.import('ADABKRW-1h-2020-08.csv', `${first}\n${bad}\n`);
  const mended = readFileSync(rejectedFile!, 'utf8').replace('abc', '12.2');
  const report = await vendor.import('ADABKRW-1h-2020-08.rejected.csv', mended, {}, false);
  assert.equal(report.rowsWritten, 1);
  assert.equal((await vendor.served('crypto/GLOBAL:ADABKRW', '60M')).length, 2);
});

test('a month’s file under another one’s name is told of', async () => {
  const report = await vendor.import('ADABKRW-1h-2020-09.csv', first);
  assert.match(report.preset!.doubt!, /its name says 2020-09, and its first bar is of 2020-08-01/);
  assert.equal((await vendor.import('ADABKRW-1h-2020-08.csv', first)).preset?.doubt, null);
});
