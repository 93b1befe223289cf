// The moment of a request for bars: those that had closed by it are those that have closed by the clock
// (contract 3.9, 4.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/seed.ts';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../base/instant.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import { type Calendar, calendarOf } from '../market/calendar/calendar.ts';
import { isPeriod, type PeriodInterval, periodHours, periodStart } from '../market/calendar/period.ts';
import { barMoment } from './bar-moment.ts';

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
