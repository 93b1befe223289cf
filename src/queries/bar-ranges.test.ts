// Bars in process: the bounds of requests (contract 2, 3.6).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dated, days, every, opens, refusal, sessionRows, World } from '../../test/bar-world.ts';

type RangeCase = readonly [
  interval: string,
  from: string,
  to: string,
  eth: boolean,
  first: string,
  last: string,
  count: number,
];
const intradayRanges: readonly RangeCase[] = [
  ['1M', '2025-03-03', '2025-03-03', false, '03-03 14:30', '03-03 20:59', 390],
  ['1M', '2025-03-03', '2025-03-03', true, '03-03 09:00', '03-04 00:59', 960],
  ['1M', '2025-03-04', '2025-03-09', true, '03-04 09:00', '03-05 00:59', 960],
  ['1M', '2025-03-10', '2025-03-10', true, '03-10 08:00', '03-10 23:59', 960],
  ['1M', '2025-03-03T14:30:00Z', '2025-03-03T14:35:00Z', false, '03-03 14:30', '03-03 14:35', 6],
  ['1M', '2025-03-03T14:30:00.001Z', '2025-03-03T14:34:59.999Z', false, '03-03 14:31', '03-03 14:34', 4],
  [
    '1M',
    '2025-03-03T14:30:00.000001Z',
    '2025-03-03T14:34:00.000001Z',
    false,
    '03-03 14:31',
    '03-03 14:34',
    4,
  ],
  ['1M', '2025-03-03T14:30:00.000000001Z', '2025-03-03T14:34:00Z', false, '03-03 14:31', '03-03 14:34', 4],
  ['1M', '2025-03-03 09:30:00-05:00', '2025-03-03 15:35:00 01:00', false, '03-03 14:30', '03-03 14:35', 6],
  ['1M', '2025-03-04T00:00:00', '2025-03-04 00:02:00', true, '03-04 00:00', '03-04 00:02', 3],
  ['60M', '2025-03-03T14:31:00', '2025-03-03T16:30:00', false, '03-03 15:30', '03-03 16:30', 2],
  ['60M', '2025-03-03', '2025-03-03', false, '03-03 14:30', '03-03 20:30', 7],
  ['240M', '2025-03-03T18:30:00Z', '2025-03-03T18:30:00Z', false, '03-03 18:30', '03-03 18:30', 1],
];

test('bounds of intraday bars are inclusive on the open, and dates are those of the market (contract 2.1, 2.2, 2.3)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: sessionRows }]);
  for (const [interval, from, to, eth, first, last, count] of intradayRanges) {
    for (const sort of ['asc', 'desc']) {
      const found = opens(await world.history(interval, from, to, { is_eth: String(eth), sort }));
      const ends = [found[0]?.[0], found.at(-1)?.[0]];
      assert.deepEqual(
        [...(sort === 'asc' ? ends : ends.reverse()), found.length],
        [first, last, count],
        `${interval} ${from} ${to} ${sort}`,
      );
    }
  }
});

test('a date alone is a UTC date for GLOBAL markets (contract 2.3)', async () => {
  const world = await World.create();
  const forex = { asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: 'EURUSD' };
  await world.instrument(forex, [{ interval: '60M', rows: every(60, '2025-03-03T17:00:00-05:00', 72, 0) }]);
  const found = opens(
    await world.history('60M', '2025-03-04', '2025-03-04', {
      schema_asset: 'forex',
      country_symbol: 'GLOBAL:EURUSD',
    }),
  );
  assert.deepEqual([found[0]![0], found.at(-1)![0], found.length], ['03-04 00:00', '03-04 23:00', 24]);
});

/** Sessions of two months; 2025-02-17 was Presidents' Day, so that week is labelled by its Tuesday. */
const dailyRows = days(
  ['2025-01-31', 131],
  ['2025-02-03', 203],
  ['2025-02-14', 214],
  ['2025-02-18', 218],
  ['2025-02-21', 221],
  ['2025-02-28', 228],
  ['2025-03-03', 303],
);

const labelRanges: readonly (readonly [interval: string, from: string, to: string, labels: string[]])[] = [
  ['DAY', '2025-02-14', '2025-02-18', ['2025-02-14', '2025-02-18']],
  ['DAY', '2025-02-14 00:00:00', '2025-02-18 00:00:00', ['2025-02-14', '2025-02-18']],
  ['DAY', '2025-02-14T00:00:00', '2025-02-18T00:00:00', ['2025-02-14', '2025-02-18']],
  ['DAY', '2025-02-14', '2025-02-14', ['2025-02-14']],
  ['DAY', '2025-02-14', '2025-02-14 00:00:00', ['2025-02-14']],
  ['DAY', '2025-02-14 00:00:00', '2025-02-14', ['2025-02-14']],
  ['DAY', '2025-02-14 00:00:00', '2025-02-14 00:00:00', ['2025-02-14']],
  // With an offset, or at another time, a bound is an instant and is compared with the open at 14:30.
  ['DAY', '2025-02-14T00:00:00Z', '2025-02-18T00:00:00Z', ['2025-02-14']],
  ['DAY', '2025-02-14T14:30:00Z', '2025-02-18T14:30:00Z', ['2025-02-14', '2025-02-18']],
  ['DAY', '2025-02-14T14:30:01Z', '2025-02-18T14:29:59', []],
  ['DAY', '2025-02-14T14:30:00.000001Z', '2025-02-14T14:30:00.000001Z', []],
  ['30M', '2025-02-14T14:30:00.000001Z', '2025-02-14T14:30:00.000001Z', []],
  ['DAY', '2025-02-14T09:30:00-05:00', '2025-02-18', ['2025-02-14', '2025-02-18']],
  ['WEEK', '2025-02-18', '2025-02-18', ['2025-02-18']],
  ['WEEK', '2025-02-17', '2025-02-17', []],
  ['WEEK', '2025-02-10', '2025-02-23', ['2025-02-10', '2025-02-18']],
  ['WEEK', '2025-02-18 00:00:00', '2025-02-24 00:00:00', ['2025-02-18', '2025-02-24']],
  ['WEEK', '2025-02-18T14:30:00Z', '2025-02-24T14:29:59Z', ['2025-02-18']],
  ['MON', '2025-02-03', '2025-02-03', ['2025-02-03']],
  ['MON', '2025-02-01', '2025-02-02', []],
  ['MON', '2025-01-01', '2025-02-28', ['2025-01-02', '2025-02-03']],
  ['MON', '2025-01-02T14:30:00Z', '2025-02-03T14:30:00Z', ['2025-01-02', '2025-02-03']],
  ['MON', '2025-01-02T14:30:01Z', '2025-02-03T14:29:59Z', []],
];

for (const [interval, from, to, labels] of labelRanges) {
  test(`${interval} from ${from} to ${to} is ${labels.join(', ') || 'nothing'} (contract 2.2, 2.3, 3.6)`, async () => {
    const world = await World.create();
    await world.instrument({}, [{ interval: 'DAY', rows: dailyRows }]);
    for (const sort of ['asc', 'desc']) {
      const found = (await world.history(interval, from, to, { sort })).data.map((bar) => bar.datetime);
      assert.deepEqual(sort === 'asc' ? found : found.reverse(), labels.map(dated));
    }
  });
}

const wrongOrders: readonly (readonly [interval: string, from: string, to: string])[] = [
  ['1M', '2025-03-04', '2025-03-03'],
  ['1M', '2025-03-03T14:31:00Z', '2025-03-03T14:30:00Z'],
  ['1M', '2025-03-03', '2025-03-03T04:59:59Z'],
  ['DAY', '2025-03-04', '2025-03-03'],
  ['DAY', '2025-03-04 00:00:00', '2025-03-03'],
  ['MON', '2025-03-04 00:00:00', '2025-03-03 00:00:00'],
];
for (const [interval, from, to] of wrongOrders) {
  test(`${interval} from ${from} to ${to} is refused: from lies after to (contract 2.2)`, async () => {
    const world = await World.create();
    await world.instrument();
    const raw = { interval, from_date: from, to_date: to };
    const { word, param } = await refusal(world.run('historicalBars', raw));
    assert.deepEqual([word, param], ['invalid_parameter', 'from_date']);
  });
}

test('a range that ends before it begins is refused as such where the symbol is unknown too (contract 6.4)', async () => {
  const world = await World.create();
  await world.instrument();
  for (const [interval, from, to] of wrongOrders) {
    const raw = { country_symbol: 'US:NONE', interval, from_date: from, to_date: to };
    const { word, param } = await refusal(world.run('historicalBars', raw));
    assert.deepEqual([word, param], ['invalid_parameter', 'from_date'], `${interval} from ${from} to ${to}`);
  }
  const inOrder = {
    country_symbol: 'US:NONE',
    interval: 'DAY',
    from_date: '2025-03-03',
    to_date: '2025-03-03',
  };
  assert.equal((await refusal(world.run('historicalBars', inOrder))).word, 'unknown_instrument');
});
