// HistData and Dukascopy, as they come (contract 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const histdata = [
  '20120201 000000;1.306600;1.306600;1.306560;1.306560;0',
  '20120702 000100;1.306570;1.306570;1.306470;1.306560;0',
];

test('HistData: its clock is five hours behind UTC in winter and in summer', async () => {
  const report = await vendor.import('DAT_ASCII_EURUSD_M1_2012.csv', `${histdata.join('\n')}\n`);
  assert.deepEqual(report.preset?.says, {
    asset_schema: 'forex',
    country_iso_code: 'GLOBAL',
    symbol: 'EURUSD',
    interval: '1M',
    zone: 'Etc/GMT+5',
    prices: 'raw',
  });
  assert.deepEqual(await vendor.served('forex/GLOBAL:EURUSD', '1M'), [
    ['2012-02-01T05:00:00+00:00', 1.3066, 1.3066, 1.30656, 1.30656, 0, null],
    ['2012-07-02T05:01:00+00:00', 1.30657, 1.30657, 1.30647, 1.30656, 0, null],
  ]);
});

test('HistData: a flag says that the clock is another', async () => {
  await vendor.import('DAT_ASCII_EURUSD_M1_2012.csv', histdata.join('\n'), { zone: 'America/New_York' });
  assert.deepEqual(
    (await vendor.served('forex/GLOBAL:EURUSD', '1M')).map(([at]) => at),
    ['2012-02-01T05:00:00+00:00', '2012-07-02T04:01:00+00:00'],
  );
});

test('HistData: refused rows have a header and commas, and are taken when they are mended', async () => {
  const bad = '20120201 000200;1.306600;1.2;1.306560;1.306560;0';
  const { rejectedFile, refused } = await vendor.import(
    'DAT_ASCII_EURUSD_M1_201202.csv',
    `${histdata[0]}\n${bad}\n`,
  );
  assert.deepEqual([refused[0]?.row, refused[0]?.column], [2, 'high']);
  const mended = readFileSync(rejectedFile!, 'utf8').replace(',1.2,', ',1.31,');
  await vendor.import('DAT_ASCII_EURUSD_M1_201202.rejected.csv', mended, {}, false);
  assert.deepEqual(
    (await vendor.served('forex/GLOBAL:EURUSD', '1M')).map(([at]) => at),
    ['2012-02-01T05:00:00+00:00', '2012-02-01T05:02:00+00:00'],
  );
});

test('rows like those of HistData with volumes are of other programs, whose clock is another', async () => {
  const rows = [
    '20240314 133000;5175.25;5176;5175;5175.5;1234',
    '20240314 133100;5175.5;5176;5175;5175.75;0',
  ];
  const content = `${rows.join('\n')}\n`;
  const fields = { asset_schema: 'future', country_iso_code: 'US', symbol: 'ESM24', interval: '1M' };
  const refusal = await vendor.refusal('ES 06-24.Last.txt', content, { fields });
  assert.match(refusal, /may be a file of the preset histdata: add --preset histdata/);
  const flags = { fields, preset: 'histdata', zone: 'UTC' };
  assert.equal((await vendor.import('ES 06-24.Last.txt', content, flags)).rowsNew, 2);
  const [first] = await vendor.served('future/US:ESM24', '1M');
  assert.equal(first?.[0], '2024-03-14T13:30:00+00:00');
});

const gmt = 'Gmt time,Open,High,Low,Close,Volume';

test('Dukascopy: the day stands before the month, the time is UTC', async () => {
  const row = '03.02.2020 13:30:00.000,1.11718,1.11725,1.11701,1.11711,93.5';
  await vendor.import('EURUSD_Candlestick_1_M_BID_01.02.2020-29.02.2020.csv', `${gmt}\n${row}\n`);
  assert.deepEqual(await vendor.served('forex/GLOBAL:EURUSD', '1M'), [
    ['2020-02-03T13:30:00+00:00', 1.11718, 1.11725, 1.11701, 1.11711, 93.5, null],
  ]);
});

test('Dukascopy: hours and days by the name of the file; a day that begins at another hour is refused', async () => {
  const row = (at: string) => `${at},1.11718,1.11725,1.11701,1.11711,93.5`;
  const hours = await vendor.import(
    'XAUUSD_Candlestick_1_Hour_ASK_01.02.2020-29.02.2020.csv',
    `${gmt}\n${row('03.02.2020 13:00:00.000')}\n`,
  );
  assert.equal(hours.preset?.says.interval, '60M');
  const days = [row('03.02.2020 00:00:00.000'), row('04.02.2020 22:00:00.000')];
  const { refused } = await vendor.import(
    'EURUSD_Candlestick_1_D_BID_01.02.2020-29.02.2020.csv',
    [gmt, ...days].join('\n'),
  );
  assert.deepEqual(
    (await vendor.served('forex/GLOBAL:EURUSD', 'DAY')).map(([at]) => at),
    ['2020-02-03'],
  );
  assert.deepEqual([refused[0]?.row, refused[0]?.column], [2, 'Gmt time']);
});

test('dukascopy-node: milliseconds, days by their UTC date', async () => {
  const row = (ms: number) => `${ms},1.11718,1.11725,1.11701,1.11711,93.5`;
  const header = 'timestamp,open,high,low,close,volume';
  await vendor.import(
    'eurusd-m1-bid-2020-02-03-2020-02-04.csv',
    `${header}\n${row(Date.parse('2020-02-03T13:30:00Z'))}\n`,
  );
  assert.equal((await vendor.served('forex/GLOBAL:EURUSD', '1M'))[0]?.[0], '2020-02-03T13:30:00+00:00');
  await vendor.import(
    'eurusd-d1-bid-2020-02-03-2020-02-04.csv',
    `${header}\n${row(Date.parse('2020-02-03T00:00:00Z'))}\n`,
  );
  assert.equal((await vendor.served('forex/GLOBAL:EURUSD', 'DAY'))[0]?.[0], '2020-02-03');
});
