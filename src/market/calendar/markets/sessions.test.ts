// The sessions of every market, each one of 31 years, are ordered, apart, and at the local clock that the
// hours say (contract 3.3, 3.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/seed.ts';
import { DAY_MS, dateOf, dayOf, formatDay } from '../../../base/instant.ts';
import { sessionTemplates } from '../../../contract/holidays.ts';
import { type Calendar, calendarOf } from '../calendar.ts';
import type { Market } from '../market.ts';
import { type CalendarOverride, withOverrides } from '../overrides.ts';
import { dayOfText } from '../rules.ts';
import type { Session } from '../session.ts';
import { markets } from './index.ts';

const [FIRST, END] = [dayOf(2000, 1, 1), dayOf(2031, 1, 1)];

/** Date and clock of an instant by the platform's own zone data: another path than the calendar's. */
function localOf(zone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return (ms) => format.format(ms);
}

/**
 * Some of a market's sessions: those that are no regular ones, those of the weeks in which any zone changes
 * its clocks, the first ones of hours that changed, and each seventh other one.
 */
const chosen = (market: Market, sessions: readonly Session[]): readonly Session[] =>
  sessions.filter(({ day, template }, at) => {
    const date = formatDay(day).slice(5);
    const isNearChange = /^(?:03-(?:0[89]|1\d|2[5-9]|3)|04-0|10-(?:0[1-7]|2[5-9]|3)|11-0[1-8])/.test(date);
    const isNew = market.hours.some(({ from }) => Math.abs(day - dayOfText(from)) <= 7);
    return template !== 'REGULAR' || (isNearChange && dateOf(day).year % 2 === 0) || isNew || at % 7 === 0;
  });

/** A clock of our data on a label date, as local date and clock. */
function clockOn(day: number, clock: string): string {
  if (clock === '24:00') return `${formatDay(day + 1)} 00:00`;
  if (!clock.startsWith('-')) return `${formatDay(day)} ${clock}`;
  const [hours, minutes] = clock.slice(1).split(':').map(Number);
  return new Date(day * DAY_MS - (hours! * 60 + minutes!) * 60_000)
    .toISOString()
    .slice(0, 16)
    .replace('T', ' ');
}

function checkOrder(sessions: readonly Session[]): void {
  let beforeMs = Number.NEGATIVE_INFINITY;
  let beforeDay = Number.NEGATIVE_INFINITY;
  for (const session of sessions) {
    assert.ok(session.day > beforeDay, formatDay(session.day));
    assert.ok(session.segments.some(({ kind }) => kind === 'regular'));
    for (const { openMs, closeMs } of session.segments) {
      assert.ok(openMs >= beforeMs && closeMs > openMs, `${formatDay(session.day)} overlaps`);
      beforeMs = closeMs;
    }
    beforeDay = session.day;
  }
}

/** What a whole session's segments are by the market's hours. */
const hoursOn = (market: Market, day: number) =>
  (market.hours.findLast(({ from }) => dayOfText(from) <= day) ?? market.hours[0]!).segments;

for (const market of markets) {
  const calendar = calendarOf(market.assetSchema, market.country, null, market.key);
  const sessions = calendar.sessions(FIRST, END);

  test(`${market.key}: sessions and segments are in order and never overlap, from 2000 to 2030`, () => {
    assert.ok(sessions.length > 7_000);
    checkOrder(sessions);
  });

  test(`${market.key}: each session has its hours by the platform's own clock, days of daylight saving included`, () => {
    const local = localOf(market.zone);
    for (const { day, template, segments } of chosen(market, sessions)) {
      const hours = hoursOn(market, day);
      if (template === 'REGULAR') {
        assert.deepEqual(
          segments.map(({ kind, openMs, closeMs }) => [kind, local(openMs), local(closeMs)]),
          hours.map(([kind, open, close]) => [kind, clockOn(day, open), clockOn(day, close)]),
        );
      } else {
        const [first, last] = [clockOn(day, hours[0]![1]), clockOn(day, hours.at(-1)![2])];
        for (const { openMs, closeMs } of segments)
          assert.ok(local(openMs) >= first && local(closeMs) <= last, formatDay(day));
      }
    }
  });

  test(`${market.key}: an instant lies in one segment at the most, as the ranges that bars are read by say too`, () => {
    const all = calendar.segments(FIRST * DAY_MS, END * DAY_MS, 'all');
    for (let index = 1; index < all.openMs.length; index++)
      assert.ok(all.openMs[index]! >= all.closeMs[index - 1]!);
  });
}

const ownDay = fc.record({
  symbol: fc.constantFrom('*', 'X'),
  calendar_date: fc.integer({ min: dayOf(2024, 1, 1), max: dayOf(2024, 12, 31) }),
  priority: fc.integer({ min: 0, max: 3 }),
  name: fc.constant('own'),
  holiday_code: fc.constant('HOLIDAY_OWN'),
  session_template: fc.constantFrom(...sessionTemplates),
  openMinute: fc.integer({ min: 0, max: 1_439 }),
  closeMinute: fc.integer({ min: 0, max: 1_439 }),
});

test("whatever an operator's days are, sessions stay in order, and days without one are as before (contract 8.6)", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...markets.map((_, index) => index)),
      fc.array(ownDay, { maxLength: 20 }),
      (index, drawn) => {
        const { assetSchema, country } = markets[index]!;
        const days: CalendarOverride[] = drawn.map(({ openMinute, closeMinute, ...day }) => ({
          ...day,
          open_timestamp:
            day.session_template === 'LATE_OPEN' ? day.calendar_date * DAY_MS + openMinute * 60_000 : null,
          close_timestamp:
            day.session_template === 'EARLY_CLOSE' ? day.calendar_date * DAY_MS + closeMinute * 60_000 : null,
          announced: null,
        }));
        const base = calendarOf(assetSchema, country);
        const own = withOverrides(base, days, 'X');
        const [from, to] = [dayOf(2024, 1, 1), dayOf(2025, 1, 1)];
        checkOrder(own.sessions(from, to));
        const touched = new Set(days.map((day) => day.calendar_date));
        const untouched = (calendar: Calendar) =>
          calendar.sessions(from, to).filter(({ day }) => !touched.has(day));
        assert.deepEqual(untouched(own), untouched(base));
      },
    ),
    { numRuns: 40 },
  );
});
