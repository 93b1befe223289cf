// Bars in process: which stored series serves or derives a bar, and what it is made of (contract 3.3, 3.8,
// 3.10).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BarRecord,
  closes,
  DAY_OPEN,
  days,
  every,
  keyDate,
  opens,
  type Row,
  type Stored,
  World,
  walk,
} from '../../test/bar-world.ts';
import { fc, times } from '../../test/seed.ts';

test('a derived bar has the first open, last close, extremes, summed volume and weighted vwap (contract 3.8)', async () => {
  const world = await World.create();
  const rows: Row[] = [
    { at: '2025-03-03T09:30:00-05:00', open: 10, high: 12, low: 9, close: 11, volume: 0.1, vwap: 10 },
    { at: '2025-03-03T09:34:00-05:00', open: 11, high: 15, low: 11, close: 14, volume: 0.2, vwap: 13 },
  ];
  await world.instrument({}, [{ interval: '1M', rows }]);
  const [bar] = (await world.history('5M', '2025-03-03', '2025-03-03')).data;
  const { open, high, low, close, volume, vwap, close_datetime } = bar!;
  assert.deepEqual([open, high, low, close, volume, vwap], [10, 15, 9, 14, 0.3, 12]);
  assert.equal(close_datetime, '2025-03-03T14:35:00+00:00');
});

test('stored bars win over derived ones, and a hole in them stays a hole (contract 3.8)', async () => {
  const world = await World.create();
  const fives = every(5, DAY_OPEN, 3, 500).filter((row) => row.close !== 501);
  await world.instrument({}, [
    { interval: '5M', rows: fives },
    { interval: '1M', rows: every(1, DAY_OPEN, 15, 100) },
  ]);
  assert.deepEqual(opens(await world.history('5M', '2025-03-03', '2025-03-03')), [
    ['03-03 14:30', 500],
    ['03-03 14:40', 502],
  ]);
  assert.deepEqual(closes(await world.history('15M', '2025-03-03', '2025-03-03')), [502]);
});

for (const sort of ['asc', 'desc']) {
  test(`outside the span of the stored series the next finer one serves, sorted ${sort} (contract 3.8)`, async () => {
    const world = await World.create();
    await world.instrument({}, [
      { interval: '15M', rows: every(15, '2025-03-03T10:00:00-05:00', 2, 1500) },
      { interval: '5M', rows: every(5, '2025-03-03T09:45:00-05:00', 15, 500) },
      { interval: '1M', rows: every(1, DAY_OPEN, 120, 100) },
    ]);
    const expected = [
      ['03-03 14:30', 114],
      ['03-03 14:45', 502],
      ['03-03 15:00', 1500],
      ['03-03 15:15', 1501],
      ['03-03 15:30', 511],
      ['03-03 15:45', 514],
      ['03-03 16:00', 204],
      ['03-03 16:15', 219],
    ];
    const served = await world.history('15M', '2025-03-03', '2025-03-03', { sort });
    assert.deepEqual(opens(served), sort === 'asc' ? expected : expected.reverse());
  });
}

test('a bar that the coarser base fills only in part comes whole from the finer one that reaches it (contract 3.8)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    { interval: '5M', rows: every(5, '2025-03-03T09:40:00-05:00', 4, 500) },
    { interval: '1M', rows: every(1, DAY_OPEN, 60, 100) },
  ]);
  // The 5M series reaches from 09:40 to 10:00: of the 15M bars it fills the second alone.
  assert.deepEqual(opens(await world.history('15M', '2025-03-03', '2025-03-03')), [
    ['03-03 14:30', 114],
    ['03-03 14:45', 503],
    ['03-03 15:00', 144],
    ['03-03 15:15', 159],
  ]);
});

test('without a finer series a bar filled in part is made of what there is (contract 3.8)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '5M', rows: every(5, '2025-03-03T09:40:00-05:00', 2, 500) }]);
  assert.deepEqual(opens(await world.history('15M', '2025-03-03', '2025-03-03')), [
    ['03-03 14:30', 500],
    ['03-03 14:45', 501],
  ]);
});

const bases: readonly (readonly [asked: string, base: number])[] = [
  ['60M', 30],
  ['90M', 30],
  ['15M', 5],
  ['10M', 5],
  ['7M', 1],
  ['45M', 5],
  ['1440M', 30],
  ['DAY', 30],
];
for (const [asked, base] of bases) {
  test(`${asked} is derived from ${base}M, the coarsest stored interval that divides it (contract 3.8)`, async () => {
    const world = await World.create();
    const stored = [1, 5, 30].map((minutes) => ({
      interval: `${minutes}M`,
      rows: every(minutes, DAY_OPEN, 390 / minutes, 0).map((row) => ({ ...row, close: minutes })),
    }));
    await world.instrument({}, stored);
    const served = closes(await world.history(asked, '2025-03-03', '2025-03-03'));
    assert.deepEqual([...new Set(served)], [base]);
  });
}

test('whatever coarser series stand beside complete minutes, the same bars are served (contract 3.8)', async () => {
  // Ten sessions around the early close of 2024-11-29: a minute in about seven, all segments, some sessions
  // empty.
  const rows = every(1, '2024-11-21T04:00:00-05:00', 20 * 1440, 0).filter(
    (_, minute) => (minute * 2_654_435_761) % 7 < 1 && Math.floor(minute / 1440) % 5 !== 2,
  );
  const minutes = {
    interval: '1M',
    rows: rows.map((row, at) => ({ ...row, close: 1 + (at % 89), volume: at % 7 })),
  };
  const plain = await World.create();
  await plain.instrument({}, [minutes]);
  const range = ['2024-11-01', '2024-12-31'] as const;
  const whole = async (world: World, interval: string, is_eth: string) => {
    const bars: Omit<BarRecord, 'vwap'>[] = [];
    const raw = { interval, is_eth, limit: '1000', from_date: range[0], to_date: range[1] };
    for (const { vwap: _, ...bar } of (await walk(world, raw)).flat()) bars.push(bar);
    return bars;
  };
  const bounds = fc.tuple(fc.nat(1000), fc.nat(1000));
  const coarser = fc.dictionary(
    fc.constantFrom('3M', '5M', '15M', '30M', '60M', '240M', 'DAY', 'WEEK', 'MON'),
    bounds,
    {
      minKeys: 1,
      maxKeys: 4,
    },
  );
  await fc.assert(
    fc.asyncProperty(coarser, fc.constantFrom('true', 'false'), async (spans, is_eth) => {
      const stored: Stored[] = [minutes];
      for (const [interval, [a, b]] of Object.entries(spans)) {
        const period = !interval.endsWith('M');
        const { data } = await plain.history(interval, ...range, {
          is_eth: String(!period),
          session_date: 'true',
        });
        const [from, to] = [Math.min(a, b) % data.length, Math.max(a, b) % data.length];
        const part = data.slice(Math.min(from, to), Math.max(from, to) + 1);
        const at = ({ session_date, datetime }: BarRecord) =>
          period ? keyDate(interval, session_date!) : datetime;
        stored.push({ interval, rows: part.map((bar) => ({ ...bar, at: at(bar) }) as Row) });
      }
      const world = await World.create();
      await world.instrument({}, stored);
      for (const asked of ['3M', '15M', '45M', '60M', '240M', 'DAY', 'WEEK', 'MON']) {
        // The minutes hold the first and the last week and all months only in part: with extended hours
        // stored bars of these stay.
        const isHeld = ({ datetime }: { datetime?: unknown }): boolean =>
          is_eth === 'false' ||
          (asked !== 'MON' && (asked !== 'WEEK' || /^2024-(11-25|12-02)/.test(String(datetime))));
        assert.deepEqual(
          (await whole(world, asked, is_eth)).filter(isHeld),
          (await whole(plain, asked, is_eth)).filter(isHeld),
          `${asked} ${is_eth}`,
        );
      }
    }),
    { numRuns: times(12) },
  );
});

test('a finer series that reaches no further than the coarser one takes nothing from it (contract 3.8)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    { interval: 'DAY', rows: days(['2025-03-05', 1000]) },
    { interval: '30M', rows: every(30, '2025-03-05T09:30:00-05:00', 13, 300) },
    // Pre- and post-market minutes do not reach further into regular hours.
    { interval: '1M', rows: every(1, '2025-03-05T04:00:00-05:00', 960, 0) },
  ]);
  // Week and month begin before the one session and end after it, in every series alike.
  for (const asked of ['WEEK', 'MON']) assert.deepEqual(closes(await world.latest(asked)), [1000], asked);
});

test('months of minutes are folded whole, however many steps they are read in (contract 3.6, 3.8)', async () => {
  const world = await World.create();
  const crypto = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD' };
  await world.instrument(crypto, [{ interval: '1M', rows: every(1, '2025-01-01T00:00:00Z', 90 * 1440, 0) }]);
  const named = { schema_asset: 'crypto', country_symbol: 'GLOBAL:BTCUSD' };
  const expected = [31, 28, 31].map((length) => length * 14_400);
  for (const sort of ['asc', 'desc']) {
    const { data } = await world.history('MON', '2025-01-01', '2025-12-31', { ...named, sort });
    const volumes = data.map((bar) => bar.volume);
    assert.deepEqual(sort === 'asc' ? volumes : volumes.reverse(), expected);
  }
});

test('a series off the session grid is served at its own interval as imported, and never derived from (contract 3.10)', async () => {
  const world = await World.create();
  const hours = [
    ...every(60, '2025-03-03T10:00:00-05:00', 6, 60),
    ...every(60, '2025-03-03T15:30:00-05:00', 1, 66),
  ];
  await world.instrument({}, [{ interval: '60M', rows: hours }]);
  const { data } = await world.history('60M', '2025-03-03', '2025-03-03');
  assert.deepEqual(
    data.map((bar) => `${bar.datetime.slice(11, 16)}-${bar.close_datetime.slice(11, 16)}`),
    // The end is the nominal one, though the session ends before it.
    ['15:00-16:00', '16:00-17:00', '17:00-18:00', '18:00-19:00', '19:00-20:00', '20:00-21:00', '20:30-21:30'],
  );
  for (const asked of ['120M', 'DAY', 'WEEK', 'MON']) {
    for (const is_eth of ['true', 'false']) assert.equal((await world.latest(asked, { is_eth })).count, 0);
  }
});

test('intraday bars outside every asked segment are not served (contract 3.5, 3.10)', async () => {
  const world = await World.create();
  const at = ['03:59', '04:00', '09:29', '09:30', '15:59', '16:00', '19:59', '20:00'];
  const rows = at.map((clock, close) => ({ at: `2025-03-03T${clock}:00-05:00`, close }));
  await world.instrument({}, [
    { interval: '1M', rows: [...rows, { at: '2025-03-08T12:00:00-05:00', close: 9 }] },
  ]);
  assert.deepEqual(closes(await world.latest('1M')), [3, 4]);
  assert.deepEqual(closes(await world.latest('1M', { is_eth: 'true' })), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(closes(await world.latest('30M', { is_eth: '1' })), [1, 2, 3, 4, 5, 6]);
});

test('a bar never mixes segments, and an early close cuts the bar that meets it (contract 3.3, 3.4)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, '2024-11-29T09:00:00-05:00', 300, 0) }]);
  const hours = async (is_eth: string): Promise<string[]> =>
    (await world.history('60M', '2024-11-29', '2024-11-29', { is_eth })).data.map(
      (bar) => `${bar.datetime.slice(11, 16)}-${bar.close_datetime.slice(11, 16)}`,
    );
  const regular = ['14:30-15:30', '15:30-16:30', '16:30-17:30', '17:30-18:00'];
  assert.deepEqual(await hours('false'), regular);
  assert.deepEqual(await hours('true'), ['14:00-14:30', ...regular, '18:00-19:00']);
});

test('a week is not served before its close_datetime, although its last session is over and stored (contract 3.9)', async () => {
  const world = await World.create();
  const mondayToThursday = ['2025-03-03', '2025-03-04', '2025-03-05', '2025-03-06'];
  await world.instrument({}, [
    { interval: 'DAY', rows: days(...[...mondayToThursday, '2025-03-07'].map((date) => [date, 1] as const)) },
    { interval: '1M', rows: mondayToThursday.flatMap((date) => every(1, `${date}T04:00:00-05:00`, 960, 2)) },
  ]);
  const closesAt = async (now: string, is_eth: string): Promise<string[]> => {
    world.nowMs = Date.parse(now);
    return (await world.latest('WEEK', { is_eth })).data.map((record) => record.close_datetime);
  };
  for (let asking = 0; asking < 2; asking++) {
    assert.deepEqual(await closesAt('2025-03-07T18:00:00-05:00', 'true'), []);
    assert.deepEqual(await closesAt('2025-03-07T18:00:00-05:00', 'false'), ['2025-03-07T21:00:00+00:00']);
    assert.deepEqual(await closesAt('2025-03-07T20:00:00-05:00', 'true'), ['2025-03-08T01:00:00+00:00']);
  }
});
