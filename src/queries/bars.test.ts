// Bars in process: their fields, formats and refusals, from a real store through the query runner (contract
// 2, 3, 5, 6).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_OPEN, every, refusal, World } from '../../test/bar-world.ts';
import { fc } from '../../test/seed.ts';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS, parseDay } from '../base/instant.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import { type Calendar, calendarOf } from '../market/calendar/calendar.ts';
import { isPeriod, type PeriodInterval, periodHours, periodStart } from '../market/calendar/period.ts';
import { barMoment } from './bars.ts';

test('a bar has the fields of spec 2.10 in order, in upper case, null where nothing is known', async () => {
  const world = await World.create();
  const row = { at: DAY_OPEN, open: 1.5, high: 2.25, low: 1, close: 2, volume: 0.5 };
  await world.instrument({}, [{ interval: '1M', rows: [row] }]);
  const { data } = await world.history('1m', '2025-03-03', '2025-03-03', { session_date: 'true' });
  assert.equal(
    JSON.stringify(data),
    '[{"asset_schema":"STOCK","interval":"1M","country_iso_code":"US","exchange":null,"symbol":"AAPL",' +
      '"datetime":"2025-03-03T14:30:00+00:00","close_datetime":"2025-03-03T14:31:00+00:00",' +
      '"session_date":"2025-03-03","open":1.5,"high":2.25,"low":1,"close":2,"volume":0.5,"vwap":null}]',
  );
});

test('session_date is given only where asked for, and is the label where UTC has the day before (contract 3.7, 9.5)', async () => {
  const world = await World.create();
  const forex = { asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: 'EURUSD', exchange: 'GLOBAL' };
  await world.instrument(forex, [{ interval: '1M', rows: every(1, '2025-03-02T17:00:00-05:00', 1, 1) }]);
  const named = { schema_asset: 'forex', country_symbol: 'global:eurusd' };
  const [bare] = (await world.latest('1M', named)).data;
  const [dated] = (await world.latest('1M', { ...named, session_date: 'yes' })).data;
  assert.equal(bare!.datetime, '2025-03-02T22:00:00+00:00');
  assert.ok(!('session_date' in bare!));
  assert.equal(dated!.session_date, '2025-03-03');
});

test('CSV holds the same bars, with count and next page in headers or in the envelope (contract 5.2, 5.3)', async () => {
  const world = await World.create();
  await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 3, 0) }]);
  const raw = { interval: '1M', from_date: '2025-03-03', to_date: '2025-03-03', format: 'CSV', limit: '2' };
  const bare = await world.run('historicalBars', raw);
  const wrapped = await world.run('historicalBars', raw, true);
  if (bare.kind !== 'answer' || wrapped.kind !== 'answer') assert.fail();
  assert.equal(bare.contentType, 'text/csv; charset=utf-8; header=present');
  assert.deepEqual(bare.headers, { 'X-Count': '2', 'X-Next-Page-Key': bare.next!.key });
  assert.equal(bare.next!.at, null);
  const csv = Buffer.from(bare.body).toString();
  assert.match(
    csv,
    /^asset_schema,.*\r\nSTOCK,1M,US,,AAPL,2025-03-03T14:30:00\+00:00,.*,0,0,0,0,10,\r\n.*\r\n$/,
  );
  assert.match(wrapped.contentType, /^application\/json/);
  const { result } = JSON.parse(Buffer.from(wrapped.body).toString()) as {
    result: { count: number; data: string };
  };
  assert.deepEqual([result.count, result.data], [2, csv]);
  const last = await world.run('historicalBars', { ...raw, limit: '3' });
  if (last.kind !== 'answer') assert.fail();
  assert.deepEqual([last.headers, last.next], [{ 'X-Count': '3' }, null]);
});

test('columns may be any of a bar, the date of the session too, and local times change with the clocks (contract 9.16)', async () => {
  const world = await World.create();
  const rows = ['2025-03-07', '2025-03-10'].flatMap((day) => every(1, `${day}T15:00:00Z`, 1, 1));
  await world.instrument({}, [{ interval: '1M', rows }]);
  const asked = { columns: 'Close,SESSION_DATE,datetime', tz: 'america/new_york' };
  const { data } = await world.history('1M', '2025-03-07', '2025-03-10', asked);
  assert.equal(
    JSON.stringify(data),
    '[{"close":1,"session_date":"2025-03-07","datetime":"2025-03-07T10:00:00-05:00"},' +
      '{"close":1,"session_date":"2025-03-10","datetime":"2025-03-10T11:00:00-04:00"}]',
  );
  const answer = await world.run('latestBars', {
    interval: '1M',
    limit: '1',
    format: 'csv',
    timestamps: 'UNIX_MS',
  });
  if (answer.kind !== 'answer') assert.fail();
  assert.match(Buffer.from(answer.body).toString(), /\r\nSTOCK,1M,US,,AAPL,1741618800000,1741618860000,1,/);
});

test('an instrument without bars is an empty list (contract 6.3)', async () => {
  const world = await World.create();
  await world.instrument();
  for (const interval of ['1M', '45M', 'DAY', 'MON']) {
    for (const is_eth of ['true', 'false']) {
      assert.deepEqual(await world.latest(interval, { is_eth }), { count: 0, data: [] });
      const { next_page_key, count, data } = await world.history(interval, '2025-01-01', '2025-12-31', {
        is_eth,
      });
      assert.deepEqual([next_page_key, count, data], [null, 0, []]);
    }
  }
});

test('an unknown instrument is refused with up to three near symbols (contract 6.3)', async () => {
  const world = await World.create();
  for (const symbol of ['AAPL', 'AAPLW', 'APLE', 'AAP', 'MSFT', 'XAPL']) await world.instrument({ symbol });
  await world.instrument({ symbol: 'AAPX', asset_schema: 'crypto', country_iso_code: 'GLOBAL' });
  const near = await refusal(world.run('latestBars', { interval: '1M', country_symbol: 'us:aappl' }));
  assert.equal(near.word, 'unknown_instrument');
  assert.equal(near.param, 'country_symbol');
  assert.equal(near.message, 'US:AAPPL is not stored.');
  const named = Array.from(near.hint!.matchAll(/\bUS:(\w+)/g), ([, symbol]) => symbol!);
  assert.equal(near.hint, `Did you mean ${named.map((symbol) => `US:${symbol}`).join(' or ')}?`);
  assert.equal(named[0], 'AAPL');
  assert.ok(named.length <= 3 && named.every((symbol) => ['AAPL', 'AAPLW', 'APLE', 'AAP'].includes(symbol)));
  const far = await refusal(world.run('latestBars', { interval: '1M', country_symbol: 'DE:QQQQQQQQ' }));
  assert.equal(far.word, 'unknown_instrument');
});

test('an instrument imported while the service runs is found (contract 4.1)', async () => {
  const world = await World.create();
  assert.equal((await refusal(world.run('latestBars', { interval: '1M' }))).word, 'unknown_instrument');
  const id = await world.instrument();
  assert.equal((await world.latest('1M')).count, 0);
  await world.store(id, 1, { interval: '1M', rows: every(1, DAY_OPEN, 3, 0) });
  assert.equal((await world.latest('1M')).count, 3);
});

test('a damaged block is a fault that names the series, never other bars', async () => {
  const world = await World.create();
  const id = await world.instrument({}, [{ interval: '1M', rows: every(1, DAY_OPEN, 3, 0) }]);
  await world.damage(id * 100);
  await assert.rejects(
    world.run('latestBars', { interval: '1M' }),
    /damaged: bars, stock:US:AAPL 1M, 2025-03-03, imported by run 100:/,
  );
});

for (const [end, lost] of [
  ['first', '2025-03-03'],
  ['last', '2025-03-05'],
] as const)
  test(`a lost ${end} block of a series is a fault, never fewer bars (house, Rules)`, async () => {
    const world = await World.create();
    const dates = ['2025-03-03', '2025-03-04', '2025-03-05'];
    const rows = dates.flatMap((date) => every(1, `${date}T09:30:00-05:00`, 3, 0));
    const id = await world.instrument({}, [{ interval: '1M', rows }]);
    await world.loseBlock(id * 100, parseDay(lost)!);
    for (const interval of ['1M', 'DAY'])
      await assert.rejects(world.history(interval, '2025-03-01', '2025-03-31'), (error) => {
        assert.match(String(error), new RegExp(`stock:US:AAPL 1M, ${lost}: it is lost`));
        return true;
      });
    assert.equal((await world.history('1M', '2025-03-04', '2025-03-04')).count, 3);
  });

const calendars = {
  stock: calendarOf('stock', 'US'),
  lunch: calendarOf('stock', 'JP'),
  forex: calendarOf('forex', 'GLOBAL'),
  crypto: calendarOf('crypto', 'GLOBAL'),
  future: calendarOf('future', 'US'),
};
const FIRST_MS = dayOf(2023, 1, 1) * DAY_MS;
const LAST_MS = dayOf(2025, 1, 1) * DAY_MS;

/** The latest close that a bar with a key before the end of a range may have. */
function lastClose(calendar: Calendar, interval: Interval, toMs: number): number {
  if (!isPeriod(interval)) return (Math.ceil(toMs / MINUTE_MS) - 1 + intervalMinutes(interval)!) * MINUTE_MS;
  const start = periodStart(interval, Math.ceil(toMs / DAY_MS) - 1);
  return periodHours(calendar, interval as PeriodInterval, start, true).closeMs;
}

const drawn = fc.record({
  market: fc.constantFrom(...(Object.keys(calendars) as (keyof typeof calendars)[])),
  interval: fc.constantFrom('1M', '60M', '1440M', 'DAY', 'WEEK', 'MON'),
  toMs: fc.integer({ min: FIRST_MS, max: LAST_MS }),
  sinceMs: fc.integer({ min: -40 * DAY_MS, max: 90 * DAY_MS }),
  endsIn: fc.option(fc.integer({ min: -60, max: 60 })),
  isAdjusted: fc.boolean(),
});

test('bars of a range that have closed by its moment are those that have closed by the clock, as long as it is good', () => {
  fc.assert(
    fc.property(drawn, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (scene, share) => {
      const { toMs, sinceMs, endsIn, isAdjusted } = scene;
      const [calendar, interval] = [calendars[scene.market], intervalOf(scene.interval)];
      const clockMs = toMs + sinceMs;
      const endedMs = endsIn === null ? null : Math.floor(clockMs / HOUR_MS + endsIn) * HOUR_MS;
      const asked = { interval, toMs, endedMs, isAdjusted };
      const moment = barMoment({ ...asked, nowMs: clockMs });
      assert.ok(moment.goodUntilMs > clockMs);
      const untilMs = Math.min(moment.goodUntilMs, clockMs + 400 * DAY_MS);
      const laterMs = Math.min(untilMs - 1, clockMs + Math.floor(share * (untilMs - clockMs)));
      // The same request has the same moment for so long: its page key, which has the moment, is the same
      // too.
      assert.equal(barMoment({ ...asked, nowMs: laterMs }).nowMs, moment.nowMs);
      const closesMs = lastClose(calendar, interval, toMs);
      for (const nowMs of [clockMs, laterMs]) {
        // Bars close at whole minutes. Those of the range close until then at the latest.
        for (
          let ms = Math.floor(nowMs / MINUTE_MS - 2) * MINUTE_MS;
          ms <= nowMs + 2 * MINUTE_MS;
          ms += MINUTE_MS
        )
          if (ms <= closesMs) assert.equal(ms <= moment.nowMs, ms <= nowMs, `a bar that closes at ${ms}`);
        assert.equal(closesMs <= moment.nowMs, closesMs <= nowMs);
        assert.equal(
          endedMs !== null && endedMs <= moment.nowMs,
          endedMs !== null && endedMs <= nowMs,
          'has ended',
        );
      }
    }),
    { numRuns: 3_000 },
  );
});
