// Alpaca's answers with bars, as they come (contract 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const bar = (t: string, c = 198.11) => ({
  t,
  o: 198.36,
  h: 198.9,
  l: 197.8,
  c,
  v: 3120410,
  n: 29180,
  vw: 198.301234,
});
const first = bar('2025-04-16T13:30:00Z');
const second = bar('2025-04-16T13:31:00Z', 198.5);

test('several symbols in one answer', async () => {
  const answer = { bars: { AAPL: [first, second], 'BRK.B': [first] }, next_page_token: null };
  const report = await vendor.import('bars.json', JSON.stringify(answer));
  assert.deepEqual(report.preset, {
    name: 'alpaca',
    doubt: null,
    says: { asset_schema: 'stock', country_iso_code: 'US', interval: '1M', prices: 'raw', symbols: 'now' },
  });
  assert.deepEqual(await vendor.served('stock/US:AAPL', '1M'), [
    ['2025-04-16T13:30:00+00:00', 198.36, 198.9, 197.8, 198.11, 3120410, 198.301234],
    ['2025-04-16T13:31:00+00:00', 198.36, 198.9, 197.8, 198.5, 3120410, 198.301234],
  ]);
  assert.equal((await vendor.served('stock/US:BRK.B', '1M')).length, 1);
});

test('pages of one symbol one after the other, an empty one among them', async () => {
  const pages = [
    { bars: [first], symbol: 'AAPL', next_page_token: 'QUFQTHxN' },
    { bars: [second], symbol: 'AAPL', next_page_token: null },
    { bars: null, symbol: 'AAPL', next_page_token: null },
  ];
  const content = pages.map((page) => JSON.stringify(page)).join('\n');
  await vendor.import('bars.ndjson', content, { fields: { interval: '1M' } });
  assert.deepEqual(
    (await vendor.served('stock/US:AAPL', '1M')).map(([at]) => at),
    ['2025-04-16T13:30:00+00:00', '2025-04-16T13:31:00+00:00'],
  );
});

test('days carry the midnight of New York, and their interval is asked for', async () => {
  const answer = JSON.stringify({ bars: { AAPL: [bar('2025-04-16T04:00:00Z')] }, next_page_token: null });
  assert.match(await vendor.refusal('bars.json', answer), /missing: interval\. .*--interval/);
  await vendor.import('bars.json', answer, { fields: { interval: 'DAY' } });
  assert.equal((await vendor.served('stock/US:AAPL', 'DAY'))[0]?.[0], '2025-04-16');
});

test('pairs are crypto; a bar that is wrong is refused and the others are taken', async () => {
  const answer = {
    bars: { 'BTC/USD': [first, { ...second, h: 1 }, { ...second, o: 'x' }] },
    next_page_token: null,
  };
  const report = await vendor.import('bars.json', JSON.stringify(answer, null, 2));
  assert.equal((await vendor.served('crypto/GLOBAL:BTC/USD', '1M')).length, 1);
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [
      [2, 'h'],
      [3, 'o'],
    ],
  );
});

test('of several asset types in one answer the first is taken, the others are refused', async () => {
  const option = 'AAPL250620C00200000';
  const answer = { bars: { MSFT: [first, second], 'ETH/USD': [first], [option]: [first] } };
  const report = await vendor.import('kinds.json', JSON.stringify(answer));
  assert.deepEqual(
    report.refused.map(({ row, column, reason }) => [row, column, reason]),
    [3, 4].map((row) => [
      row,
      'symbol',
      'is no stock like the first one: put each asset type into its own file',
    ]),
  );
  assert.equal((await vendor.served('stock/US:MSFT', '1M')).length, 2);
  const pairFirst = { bars: { 'ETH/USD': [first, second], MSFT: [first] } };
  assert.equal((await vendor.import('kinds2.json', JSON.stringify(pairFirst))).rowsRefused, 1);
  assert.equal((await vendor.served('crypto/GLOBAL:ETH/USD', '1M')).length, 2);
});

test('refused bars are taken from their own file when they are mended', async () => {
  const answer = { bars: { AAPL: [first, { ...second, h: 1 }] }, next_page_token: null };
  const { rejectedFile } = await vendor.import('bars.json', JSON.stringify(answer));
  const mended = readFileSync(rejectedFile!, 'utf8').replace('198.36,1,', '198.36,199,');
  const fields = { asset_schema: 'stock', country_iso_code: 'US', interval: '1M' };
  await vendor.import('bars.json.rejected.csv', mended, { fields }, false);
  assert.equal((await vendor.served('stock/US:AAPL', '1M'))[1]?.[2], 199);
});
