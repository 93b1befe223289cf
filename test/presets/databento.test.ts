// Databento ohlcv as CSV, as it comes (contract 11).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const header = 'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol';
const fields = { asset_schema: 'stock', country_iso_code: 'US' };
const fileOf = (...rows: readonly string[]): string => [header, ...rows, ''].join('\n');

test('decimal prices and ISO times of nanoseconds, packed by Zstandard', async () => {
  const content = fileOf(
    '2025-09-30T13:30:00.000000000Z,33,2,38,254.855000000,255.130000000,254.700000000,255.010000000,120344,AAPL',
  );
  const report = await vendor.import('ohlcv-1m.csv.zst', zstdCompressSync(content), { fields });
  assert.equal(report.preset?.name, 'databento');
  assert.deepEqual(await vendor.served('stock/US:AAPL', '1M'), [
    ['2025-09-30T13:30:00+00:00', 254.855, 255.13, 254.7, 255.01, 120344, null],
  ]);
});

test('fixed-point prices are units of 1e-9, to the last digit, and times nanoseconds', async () => {
  const rows = [
    '1759239000000000000,33,2,38,254855000000,255130000000,254700000000,255010000000,120344,AAPL',
    '1759239060000000000,33,2,38,70000,70000,70000,70000,1,TINY',
  ];
  await vendor.import('x.csv', fileOf(...rows), { fields });
  assert.deepEqual(await vendor.served('stock/US:AAPL', '1M'), [
    ['2025-09-30T13:30:00+00:00', 254.855, 255.13, 254.7, 255.01, 120344, null],
  ]);
  assert.equal((await vendor.served('stock/US:TINY', '1M'))[0]?.[1], 0.00007);
});

test('the price that stands for none is none, not nine billion', async () => {
  const rows = [
    '1759239000000000000,33,2,38,254855000000,255130000000,254700000000,255010000000,1,AAPL',
    '1759239060000000000,33,2,38,254855000000,9223372036854775807,254700000000,255010000000,1,AAPL',
  ];
  const { refused } = await vendor.import('x.csv', fileOf(...rows), { fields });
  assert.deepEqual(refused, [
    { row: 2, column: 'high', reason: 'a price is missing', value: '9223372036854775807' },
  ]);
});

for (const at of ['2025-09-30T00:00:00.000000000Z', '1759190400000000000', '2025-09-30 00:00:00+00:00']) {
  test(`a day that begins ${at} is of its UTC date, not of the evening before in New York`, async () => {
    const row = `${at},35,95,38,254.855,255.13,254.7,255.01,37668000,AAPL`;
    await vendor.import('ohlcv-1d.csv', fileOf(row), { fields });
    assert.deepEqual(
      (await vendor.served('stock/US:AAPL', 'DAY')).map(([date]) => date),
      ['2025-09-30'],
    );
  });
}

test('bars of an hour are 60M; bars of a second are refused with the reason', async () => {
  const row = (rtype: number) => `2025-09-30T13:00:00Z,${rtype},2,38,1.0,2.0,0.5,1.5,10,ESZ5`;
  await vendor.import('h.csv', fileOf(row(34)), { fields: { ...fields, asset_schema: 'future' } });
  assert.equal((await vendor.served('future/US:ESZ5', '60M')).length, 1);
  assert.match(
    await vendor.refusal('s.csv', fileOf(row(32)), { fields }),
    /one second \(rtype 32\).*ohlcv-1m/,
  );
});

test('a record of another type than the first is refused; without symbols they are asked for', async () => {
  const row = (minute: number, rtype: number) =>
    `2025-09-30T13:${minute}:00Z,${rtype},2,38,1.0,2.0,0.5,1.5,10,A`;
  const { refused } = await vendor.import('m.csv', fileOf(row(30, 33), row(31, 34)), { fields });
  assert.deepEqual(refused, [{ row: 2, column: 'rtype', reason: 'is not one of 33', value: '34' }]);
  const without = fileOf(row(30, 33)).replaceAll(/,symbol|,A$/gm, '');
  assert.match(await vendor.refusal('m.csv', without, { fields }), /missing: symbol\. .*--symbol/);
});
