// Bars in process: days, weeks and months built of sessions, extended hours and auctions (contract 3.4 to
// 3.6, 3.10, 3.13).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closes, dated, days, every, opens, sessionRows, World } from '../../test/bar-world.ts';

test('DAY is derived from regular minutes, first segment to last with is_eth (contract 3.6)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: sessionRows }]);
  const summary = async (is_eth: string) =>
    (await world.history('DAY', '2025-03-03', '2025-03-10', { is_eth })).data.map((bar) => [
      bar.datetime.slice(5, 16),
      bar.close_datetime.slice(5, 16),
      bar.open,
      bar.close,
      bar.volume,
    ]);
  assert.deepEqual(await summary('false'), [
    ['03-03T14:30', '03-03T21:00', 330, 719, 3900],
    ['03-04T14:30', '03-04T21:00', 1330, 1719, 3900],
    ['03-10T13:30', '03-10T20:00', 2330, 2719, 3900],
  ]);
  assert.deepEqual(await summary('true'), [
    ['03-03T09:00', '03-04T01:00', 0, 959, 9600],
    ['03-04T09:00', '03-05T01:00', 1000, 1959, 9600],
    ['03-10T08:00', '03-11T00:00', 2000, 2959, 9600],
  ]);
});

for (const sort of ['asc', 'desc']) {
  test(`with is_eth a session without minutes is its stored bar, with its regular hours, sorted ${sort} (contract 3.6)`, async () => {
    const world = await World.create();
    await world.instrument({}, [
      {
        interval: 'DAY',
        rows: days(['2025-02-28', 1], ['2025-03-03', 2], ['2025-03-05', 3], ['2025-03-10', 4]),
      },
      { interval: '1M', rows: sessionRows },
    ]);
    const expected = [
      ['02-28 14:30', 1],
      ['03-03 09:00', 959],
      ['03-04 09:00', 1959],
      ['03-05 14:30', 3],
      ['03-10 08:00', 2959],
    ];
    const served = opens(await world.history('DAY', '2025-02-01', '2025-03-31', { is_eth: 'true', sort }));
    assert.deepEqual(served, sort === 'asc' ? expected : expected.reverse());
    const regular = closes(await world.history('DAY', '2025-02-01', '2025-03-31', { sort }));
    // The session that the days lack is in the minutes (contract 3.8).
    assert.deepEqual(regular, sort === 'asc' ? [1, 2, 1719, 3, 4] : [4, 3, 1719, 2, 1]);
  });
}

for (const sort of ['asc', 'desc']) {
  test(`WEEK and MON with is_eth are made of extended sessions and stored ones, sorted ${sort} (contract 3.6)`, async () => {
    const world = await World.create();
    const daily = days(
      ['2025-02-28', 1],
      ['2025-03-03', 2],
      ['2025-03-05', 3],
      ['2025-03-12', 4],
      ['2025-03-17', 5],
    );
    await world.instrument({}, [
      { interval: 'DAY', rows: daily },
      { interval: '1M', rows: sessionRows },
    ]);
    const summary = async (interval: string) => {
      const { data } = await world.history(interval, '2025-02-01', '2025-03-31', { is_eth: 'true', sort });
      const rows = data.map((bar) => [bar.datetime.slice(0, 10), bar.open, bar.close, bar.volume]);
      return sort === 'asc' ? rows : rows.reverse();
    };
    assert.deepEqual(await summary('WEEK'), [
      ['2025-02-24', 1, 1, 10],
      ['2025-03-03', 0, 3, 9600 + 9600 + 10],
      ['2025-03-10', 2000, 4, 9600 + 10],
      ['2025-03-17', 5, 5, 10],
    ]);
    assert.deepEqual(await summary('MON'), [
      ['2025-02-03', 1, 1, 10],
      ['2025-03-03', 0, 5, 3 * 9600 + 30],
    ]);
  });
}

test('is_eth changes nothing where the market has no extended hours (contract 3.5)', async () => {
  const world = await World.create();
  const crypto = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD' };
  await world.instrument(crypto, [{ interval: '1M', rows: every(1, '2025-03-03T00:00:00Z', 3000, 0) }]);
  const named = { schema_asset: 'crypto', country_symbol: 'GLOBAL:BTCUSD' };
  for (const interval of ['1M', '60M', 'DAY', 'WEEK']) {
    const bodies = await Promise.all(
      ['true', 'false'].map((is_eth) =>
        world.history(interval, '2025-03-03', '2025-03-05', { ...named, is_eth }),
      ),
    );
    assert.deepEqual(bodies[0]!.data, bodies[1]!.data);
  }
});

// London was at UTC in March 2025: regular hours 08:00 to 16:30, the auction to 16:52.
const london = { country_iso_code: 'UK', symbol: 'VOD' };
const ofLondon = { country_symbol: 'UK:VOD' };

test('an auction counts once in DAY and above, and adds nothing to regular bars of minutes (contract 3.5, 3.13)', async () => {
  const minutes = [
    ...every(1, '2025-03-03T08:00:00Z', 510, 1),
    { at: '2025-03-03T16:35:00Z', close: 900, volume: 5000 },
    { at: '2025-03-03T16:52:00Z', close: 999, volume: 1 },
  ];
  const world = await World.create();
  await world.instrument(london, [{ interval: '1M', rows: minutes }]);
  const both = (interval: string) =>
    Promise.all(
      ['false', 'true'].map(
        async (is_eth) =>
          (await world.history(interval, '2025-03-01', '2025-03-31', { ...ofLondon, is_eth })).data,
      ),
    );
  for (const interval of ['1M', '5M', '45M', '60M', '240M']) {
    const [regular, extended] = await both(interval);
    const auction = extended!.slice(regular!.length);
    assert.equal(JSON.stringify(extended!.slice(0, regular!.length)), JSON.stringify(regular));
    assert.deepEqual(
      auction.map(({ close, volume }) => [close, volume]),
      [[900, 5000]],
      interval,
    );
  }
  for (const interval of ['DAY', 'WEEK', 'MON']) {
    const [regular, extended] = await both(interval);
    assert.deepEqual(extended, regular);
    assert.deepEqual(
      regular!.map(({ open, high, low, close, volume }) => [open, high, low, close, volume]),
      [[1, 900, 1, 900, 510 * 10 + 5000]],
      interval,
    );
  }
});

test('a stored DAY wins over minutes where only an auction follows regular hours, whatever is_eth (contract 3.5, 3.8)', async () => {
  const world = await World.create();
  await world.instrument(london, [
    { interval: '1M', rows: every(1, '2025-03-03T08:00:00Z', 510, 1) },
    { interval: 'DAY', rows: days(['2025-03-03', 7]) },
  ]);
  for (const is_eth of ['false', 'true']) {
    const { data } = await world.history('DAY', '2025-03-03', '2025-03-03', { ...ofLondon, is_eth });
    assert.deepEqual(
      data.map(({ datetime, close_datetime, close }) => [datetime, close_datetime, close]),
      [['2025-03-03T08:00:00+00:00', '2025-03-03T16:52:00+00:00', 7]],
    );
  }
});

test('a DAY is served from the end of its auction on, not before (contract 3.9, 3.13)', async () => {
  const world = await World.create();
  await world.instrument(london, [{ interval: '1M', rows: every(1, '2025-03-03T08:00:00Z', 510, 1) }]);
  for (const [now, count] of [
    ['2025-03-03T16:51:59Z', 0],
    ['2025-03-03T16:52:00Z', 1],
  ] as const) {
    world.nowMs = Date.parse(now);
    assert.equal((await world.latest('DAY', ofLondon)).count, count, now);
  }
});

test('a stored WEEK is labelled by the first session and closes with the last, traded or not (contract 3.6)', async () => {
  const world = await World.create();
  // Stored under the Monday, which was Presidents' Day; MON under the first of the month, a Saturday.
  await world.instrument({}, [
    { interval: 'WEEK', rows: days(['2025-02-17', 1]) },
    { interval: 'MON', rows: days(['2025-02-01', 2]) },
  ]);
  const [week] = (await world.latest('WEEK', { session_date: 'true' })).data;
  assert.deepEqual(
    [week!.session_date, week!.datetime, week!.close_datetime],
    ['2025-02-18', dated('2025-02-18'), '2025-02-21T21:00:00+00:00'],
  );
  const [month] = (await world.latest('MON', { session_date: 'true' })).data;
  assert.deepEqual(
    [month!.session_date, month!.datetime, month!.close_datetime],
    ['2025-02-03', dated('2025-02-03'), '2025-02-28T21:00:00+00:00'],
  );
});

test('DAY bars get their instants from the calendar: daylight saving, early close (contract 3.4, 3.10)', async () => {
  const world = await World.create();
  await world.instrument({}, [
    { interval: 'DAY', rows: days(['2024-11-29', 1], ['2025-03-07', 2], ['2025-03-10', 3]) },
  ]);
  assert.deepEqual(
    (await world.latest('DAY')).data.map((bar) => [
      bar.datetime.slice(0, 16),
      bar.close_datetime.slice(0, 16),
    ]),
    [
      ['2024-11-29T14:30', '2024-11-29T18:00'],
      ['2025-03-07T14:30', '2025-03-07T21:00'],
      ['2025-03-10T13:30', '2025-03-10T20:00'],
    ],
  );
});
