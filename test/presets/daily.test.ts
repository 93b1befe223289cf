// Files of one symbol from Yahoo, EODHD, Stooq and TradingView, as they come (contract 11, contract 9.4).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const us = { asset_schema: 'stock', country_iso_code: 'US' };
const stock = { asset_schema: 'stock' };
const yahoo = 'Date,Open,High,Low,Close,Adj Close,Volume';
const eodhd = 'Date,Open,High,Low,Close,Adjusted_close,Volume';

test('Yahoo: prices are split-adjusted, the adjusted close is not taken, the name is the symbol', async () => {
  const rows = [
    '2020-08-28,126.012497,126.442497,124.577499,124.807503,122.586,187630000',
    '2020-08-31,127.580002,131.000000,126.000000,129.039993,126.742,225702700',
  ];
  const report = await vendor.import('AAPL.csv', [yahoo, ...rows].join('\n'), { fields: us });
  assert.deepEqual(report.preset, {
    name: 'yahoo',
    doubt: null,
    says: { ...us, symbol: 'AAPL', interval: 'DAY', prices: 'split', symbols: 'now' },
  });
  assert.deepEqual(report.ignoredColumns, ['Adj Close']);
  assert.deepEqual((await vendor.served('stock/US:AAPL', 'DAY'))[0], [
    '2020-08-28',
    126.012497,
    126.442497,
    124.577499,
    124.807503,
    187630000,
    null,
  ]);
});

test('Yahoo: a day of null is refused, weeks and months are told by their dates, one row does not tell', async () => {
  const days = ['2020-08-28,1,2,0.5,1.5,1.5,10', '2020-08-31,null,null,null,null,null,null'];
  const { refused } = await vendor.import('AAPL.csv', [yahoo, ...days].join('\n'), { fields: us });
  assert.deepEqual([refused[0]?.row, refused[0]?.reason], [2, 'a price is missing']);
  for (const [dates, interval] of [
    [['2020-08-03', '2020-08-10', '2020-08-17'], 'WEEK'],
    [['2020-06-01', '2020-07-01', '2020-08-01'], 'MON'],
  ] as const) {
    const rows = dates.map((date) => `${date},1,2,0.5,1.5,1.5,10`);
    const report = await vendor.import('VOD.L.csv', [yahoo, ...rows].join('\n'), {
      fields: { asset_schema: 'stock', country_iso_code: 'UK' },
    });
    assert.deepEqual([report.preset?.says.interval, report.preset?.says.symbol], [interval, 'VOD.L']);
  }
  assert.match(
    await vendor.refusal('AAPL.csv', `${yahoo}\n${days[0]}\n`, { fields: us }),
    /missing: interval/,
  );
});

test('EODHD: prices are raw, volumes are adjusted for splits, and the exchange of the name is a country (contract 9.4)', async () => {
  const rows = [
    '2020-08-28,504.05,505.77,498.31,499.23,121.0234,187630000',
    '2020-08-31,127.58,131,126,129.04,125.1,225702700',
  ];
  const report = await vendor.import('AAPL.US.csv', [eodhd, ...rows].join('\n'), { fields: stock });
  assert.deepEqual(report.preset?.says, {
    ...us,
    symbol: 'AAPL',
    interval: 'DAY',
    prices: 'raw',
    volumes: 'split',
    symbols: 'now',
  });
  const bars = await vendor.served('stock/US:AAPL', 'DAY');
  assert.equal(bars[0]?.[4], 499.23);
  const keys = eodhd.toLowerCase().split(',');
  const objects = rows.map((row) =>
    Object.fromEntries(row.split(',').map((cell, at) => [keys[at]!, at === 0 ? cell : Number(cell)])),
  );
  const json = await vendor.import('AAPL.US.json', JSON.stringify(objects), { fields: stock });
  assert.deepEqual(json.preset, report.preset);
  assert.deepEqual(await vendor.served('stock/US:AAPL', 'DAY'), bars);
});

test('EODHD intraday: the epoch is taken, not the text of the exchange’s clock', async () => {
  const rows = [
    '1744810200,-14400,2025-04-16 09:30:00,198.36,198.9,197.8,198.11,3120410',
    '1744810260,-14400,2025-04-16 09:31:00,198.11,198.5,198,198.2,410222',
  ];
  const header = 'Timestamp,Gmtoffset,Datetime,Open,High,Low,Close,Volume';
  await vendor.import('AAPL.US.csv', [header, ...rows].join('\n'), { fields: stock });
  assert.deepEqual((await vendor.served('stock/US:AAPL', '1M'))[0], [
    '2025-04-16T13:30:00+00:00',
    198.36,
    198.9,
    197.8,
    198.11,
    3120410,
    null,
  ]);
  assert.match(
    await vendor.refusal('AAPL.US.csv', [header, rows[0]].join('\n'), { fields: stock }),
    /missing: interval/,
  );
});

const stooq = '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>';

test('Stooq: days of the database, US by the end of the ticker', async () => {
  const rows = [
    'AAPL.US,D,20200828,000000,123.6,124,122.2,122.4,187630000,0',
    'AAPL.US,D,20200831,000000,125,128.5,123.6,126.6,225702700,0',
  ];
  const report = await vendor.import('aapl.us.txt', [stooq, ...rows].join('\n'), { fields: stock });
  assert.deepEqual(report.preset?.says, { ...us, prices: 'all' });
  assert.deepEqual(await vendor.served('stock/US:AAPL', 'DAY'), [
    ['2020-08-28', 123.6, 124, 122.2, 122.4, 187630000, null],
    ['2020-08-31', 125, 128.5, 123.6, 126.6, 225702700, null],
  ]);
});

test('Stooq: minutes ask for their zone, and a date that is none is refused with its form', async () => {
  const rows = [
    'AAPL.US,5,20250416,153000,198.3,198.9,197.8,198.1,120,0',
    'AAPL.US,5,20251316,153500,198.3,198.9,197.8,198.1,120,0',
  ];
  const content = [stooq, ...rows].join('\n');
  assert.match(
    await vendor.refusal('aapl.us.txt', content, { fields: stock }),
    /no offset: name their zone.*--zone/,
  );
  const { refused } = await vendor.import('aapl.us.txt', content, { fields: stock, zone: 'Europe/Warsaw' });
  assert.deepEqual(refused, [
    { row: 2, column: '<DATE>', reason: 'is not of the form %Y%m%d %H%M%S', value: '20251316 153500' },
  ]);
  assert.equal((await vendor.served('stock/US:AAPL', '5M'))[0]?.[0], '2025-04-16T13:30:00+00:00');
});

test('Stooq’s page: English and Polish headers, symbol and interval by the name of the file', async () => {
  const row = '2020-08-31,125,128.5,123.6,126.6,225702700';
  for (const header of [
    'Date,Open,High,Low,Close,Volume',
    'Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie,Wolumen',
  ]) {
    await vendor.import('aapl_us_d.csv', `${header}\n${row}\n`, { fields: stock });
    assert.equal((await vendor.served('stock/US:AAPL', 'DAY'))[0]?.[4], 126.6);
  }
  const message = await vendor.refusal('prices.csv', `Date,Open,High,Low,Close,Volume\n${row}\n`, {
    fields: us,
  });
  assert.match(message, /It may be a file of the preset stooq-page: add --preset stooq-page/);
  await vendor.import('prices.csv', `Date,Open,High,Low,Close,Volume\n${row}\n`, {
    preset: 'stooq-page',
    fields: { ...us, symbol: 'X', interval: 'DAY' },
  });
  assert.equal((await vendor.served('stock/US:X', 'DAY')).length, 1);
});

test('TradingView: minutes by UNIX time, days by date, studies passed over', async () => {
  const minutes =
    'time,open,high,low,close,Volume,Volume MA\n1744810200,198.36,198.9,197.8,198.11,3120410,1\n';
  const report = await vendor.import('BATS_AAPL, 1.csv', minutes, { fields: us });
  assert.deepEqual(report.ignoredColumns, ['Volume MA']);
  assert.deepEqual(await vendor.served('stock/US:AAPL', '1M'), [
    ['2025-04-16T13:30:00+00:00', 198.36, 198.9, 197.8, 198.11, 3120410, null],
  ]);
  // The epoch of a day is the open of its session.
  for (const at of ['2025-04-16', '1744810200', '2025-04-16T09:30:00-04:00']) {
    await vendor.import('BATS_AAPL, 1D.csv', `time,open,high,low,close\n${at},1,2,0.5,1.5\n`, { fields: us });
    assert.equal((await vendor.served('stock/US:AAPL', 'DAY'))[0]?.[0], '2025-04-16');
  }
});

test('the preset of another vendor is refused, naming the one that would fit', async () => {
  const content = `${eodhd}\n2020-08-28,504.05,505.77,498.31,499.23,121.0234,187630000\n`;
  assert.match(
    await vendor.refusal('A.csv', content, { preset: 'yahoo', fields: us }),
    /A\.csv: is not a file of the preset yahoo; it is a file of the preset eodhd: add --preset eodhd/,
  );
  assert.match(
    await vendor.refusal('A.csv', 'a,b\n1,2\n', { preset: 'yahoo', fields: us }),
    /not a file of the preset yahoo; its files begin: Date,Open/,
  );
  assert.match(
    await vendor.refusal('A.csv', content, { preset: 'none', fields: us }),
    /columns missing: datetime/,
  );
});
