// Days, weeks and months made of sessions: their label, open and close (contract 3.6, 3.10).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { DAY_MS, formatDay } from '../../base/instant.ts';
import { Calendar, calendarOf } from './calendar.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodHours, periodStart } from './period.ts';
import { dayOfText } from './rules.ts';

test('DAY, WEEK and MON are made of sessions, minutes are not (contract 3.6)', () => {
  assert.deepEqual(['DAY', 'WEEK', 'MON', '1M', '1440M', 'day', ''].map(isPeriod), [
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a week is Monday to Sunday, a month a calendar month, a day itself (contract 3.6)', () => {
  const anyDay = fc.integer({ min: dayOfText('1900-01-08'), max: dayOfText('2200-11-30') });
  fc.assert(
    fc.property(anyDay, (day) => {
      const date = new Date(day * DAY_MS);
      const monday = day - ((date.getUTCDay() + 6) % 7);
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
      const expected: Readonly<Record<PeriodInterval, [number, number]>> = {
        DAY: [day, day + 1],
        WEEK: [monday, monday + 7],
        MON: [Date.UTC(year, month, 1) / DAY_MS, Date.UTC(year, month + 1, 1) / DAY_MS],
      };
      for (const interval of ['DAY', 'WEEK', 'MON'] as const) {
        const start = periodStart(interval, day);
        assert.deepEqual([start, periodEnd(interval, start)], expected[interval], interval);
      }
    }),
  );
});

const us = calendarOf('stock', 'US');
const periods: readonly [
  name: string,
  calendar: Calendar,
  interval: PeriodInterval,
  date: string,
  extended: boolean,
  label: string,
  open: string,
  close: string,
][] = [
  ['a day', us, 'DAY', '2024-06-03', false, '2024-06-03', '2024-06-03T13:30', '2024-06-03T20:00'],
  ['a day, extended', us, 'DAY', '2024-06-03', true, '2024-06-03', '2024-06-03T08:00', '2024-06-04T00:00'],
  ['an early close', us, 'DAY', '2024-11-29', false, '2024-11-29', '2024-11-29T14:30', '2024-11-29T18:00'],
  [
    'an early close, extended',
    us,
    'DAY',
    '2024-11-29',
    true,
    '2024-11-29',
    '2024-11-29T09:00',
    '2024-11-29T22:00',
  ],
  ['a week', us, 'WEEK', '2024-06-05', false, '2024-06-03', '2024-06-03T13:30', '2024-06-07T20:00'],
  [
    'a week whose Monday is a holiday',
    us,
    'WEEK',
    '2024-05-31',
    false,
    '2024-05-28',
    '2024-05-28T13:30',
    '2024-05-31T20:00',
  ],
  [
    'a week whose Friday is a holiday',
    us,
    'WEEK',
    '2024-03-25',
    false,
    '2024-03-25',
    '2024-03-25T13:30',
    '2024-03-28T20:00',
  ],
  [
    'a week that ends early',
    us,
    'WEEK',
    '2024-12-01',
    false,
    '2024-11-25',
    '2024-11-25T14:30',
    '2024-11-29T18:00',
  ],
  [
    'a week that ends early, extended',
    us,
    'WEEK',
    '2024-11-25',
    true,
    '2024-11-25',
    '2024-11-25T09:00',
    '2024-11-29T22:00',
  ],
  [
    'a week with one session',
    us,
    'WEEK',
    '2001-09-13',
    false,
    '2001-09-10',
    '2001-09-10T13:30',
    '2001-09-10T20:00',
  ],
  [
    'a week over a new year',
    us,
    'WEEK',
    '2025-01-02',
    false,
    '2024-12-30',
    '2024-12-30T14:30',
    '2025-01-03T21:00',
  ],
  [
    'a week into daylight saving',
    us,
    'WEEK',
    '2024-03-08',
    false,
    '2024-03-04',
    '2024-03-04T14:30',
    '2024-03-08T21:00',
  ],
  [
    'a month that begins on a weekend',
    us,
    'MON',
    '2024-06-30',
    false,
    '2024-06-03',
    '2024-06-03T13:30',
    '2024-06-28T20:00',
  ],
  [
    'a month that begins on a holiday',
    us,
    'MON',
    '2025-09-15',
    false,
    '2025-09-02',
    '2025-09-02T13:30',
    '2025-09-30T20:00',
  ],
  [
    'a month through daylight saving',
    us,
    'MON',
    '2024-03-31',
    false,
    '2024-03-01',
    '2024-03-01T14:30',
    '2024-03-28T20:00',
  ],
  ['December', us, 'MON', '2024-12-31', false, '2024-12-02', '2024-12-02T14:30', '2024-12-31T21:00'],
  [
    'a forex week',
    calendarOf('forex', 'GLOBAL'),
    'WEEK',
    '2024-03-13',
    false,
    '2024-03-11',
    '2024-03-10T21:00',
    '2024-03-15T21:00',
  ],
  [
    'a futures week',
    calendarOf('future', 'US'),
    'WEEK',
    '2024-11-06',
    false,
    '2024-11-04',
    '2024-11-03T23:00',
    '2024-11-08T22:00',
  ],
  [
    'a crypto week',
    calendarOf('crypto', 'GLOBAL'),
    'WEEK',
    '2024-03-10',
    false,
    '2024-03-04',
    '2024-03-04T00:00',
    '2024-03-11T00:00',
  ],
  [
    'a crypto month',
    calendarOf('crypto', 'GLOBAL'),
    'MON',
    '2024-02-10',
    false,
    '2024-02-01',
    '2024-02-01T00:00',
    '2024-03-01T00:00',
  ],
];
for (const [name, calendar, interval, date, extended, label, open, close] of periods) {
  test(`${name}, the ${interval} of ${date}, is ${label} from ${open} to ${close} (contract 3.6)`, () => {
    const hours = periodHours(calendar, interval, periodStart(interval, dayOfText(date)), extended);
    assert.deepEqual(
      [formatDay(hours.day), new Date(hours.openMs).toISOString(), new Date(hours.closeMs).toISOString()],
      [label, `${open}:00.000Z`, `${close}:00.000Z`],
    );
  });
}

const forex = calendarOf('forex', 'GLOBAL');
const instants = (hours: { openMs: number; closeMs: number }): string[] =>
  [hours.openMs, hours.closeMs].map((ms) => new Date(ms).toISOString().slice(0, 16));

const closedDates: [name: string, calendar: Calendar, date: string, open: string, close: string][] = [
  ['a Saturday', us, '2024-06-08', '2024-06-08T13:30', '2024-06-08T20:00'],
  ['a Sunday', us, '2024-06-09', '2024-06-09T13:30', '2024-06-09T20:00'],
  ['a holiday after an early close', us, '2024-07-04', '2024-07-04T13:30', '2024-07-04T20:00'],
  ['Christmas', us, '2024-12-25', '2024-12-25T14:30', '2024-12-25T21:00'],
  ['a Saturday before the years of the calendar', us, '1950-06-10', '1950-06-10T13:30', '1950-06-10T20:00'],
  [
    'a holiday with a lunch break',
    calendarOf('stock', 'HK'),
    '2024-12-25',
    '2024-12-25T01:30',
    '2024-12-25T08:00',
  ],
  ['a Saturday of foreign exchange', forex, '2024-06-08', '2024-06-07T21:00', '2024-06-08T21:00'],
];
for (const [name, calendar, date, open, close] of closedDates) {
  test(`a DAY on ${name} keeps its date and has the market's regular hours of that date (contract 3.10)`, () => {
    for (const extended of [false, true]) {
      const hours = periodHours(calendar, 'DAY', dayOfText(date), extended);
      assert.equal(formatDay(hours.day), date);
      assert.deepEqual(instants(hours), [open, close]);
    }
  });
}

test('a DAY on a Sunday whose evening opens the session of Monday has the hours of that session (contract 3.10)', () => {
  const hours = periodHours(forex, 'DAY', dayOfText('2024-06-09'), false);
  assert.deepEqual(instants(hours), ['2024-06-09T21:00', '2024-06-10T21:00']);
  assert.equal(formatDay(hours.day), '2024-06-09');
  const labels: [Calendar, string, string][] = [
    [forex, '2024-06-07', '2024-06-07'],
    [forex, '2024-06-08', '2024-06-08'],
    [forex, '2024-06-09', '2024-06-10'],
    [forex, '2024-06-10', '2024-06-10'],
    [calendarOf('future', 'US'), '2024-06-09', '2024-06-10'],
    [calendarOf('crypto', 'GLOBAL'), '2024-06-09', '2024-06-09'],
    [us, '2024-06-09', '2024-06-09'],
  ];
  for (const [calendar, date, label] of labels)
    assert.equal(formatDay(calendar.labelOfRow(dayOfText(date))), label, `${calendar.market.key} ${date}`);
});

/** A calendar of the US with closed dates of its own. */
const closedOn = (dates: string): Calendar =>
  new Calendar({
    ...us.market,
    holidays: [{ code: 'HOLIDAY_X', name: 'Closed', dates, source: 'a test' }],
  });

test('a WEEK or MON without a session has the regular hours of its own weekdays, and the first of them as label (contract 3.10)', () => {
  const june = closedOn('2024-06-01/2024-06-30');
  const week = periodHours(june, 'WEEK', dayOfText('2024-06-10'), true);
  assert.equal(formatDay(week.day), '2024-06-10');
  assert.deepEqual(instants(week), ['2024-06-10T13:30', '2024-06-14T20:00']);
  // The first of the month is a Saturday, the last a Sunday.
  const month = periodHours(june, 'MON', dayOfText('2024-06-01'), true);
  assert.equal(formatDay(month.day), '2024-06-03');
  assert.deepEqual(instants(month), ['2024-06-03T13:30', '2024-06-28T20:00']);
});

test('no two dates share the open of their DAY, whatever is closed (contract 3.10)', () => {
  const calendars = [
    us,
    calendarOf('stock', 'HK'),
    calendarOf('crypto', 'GLOBAL'),
    closedOn('2024-01-01/2024-03-31'),
  ];
  for (const calendar of calendars) {
    const opens = Array.from(
      { length: 800 },
      (_, at) => periodHours(calendar, 'DAY', dayOfText('2023-06-01') + at, false).openMs,
    );
    assert.deepEqual(
      opens.toSorted((a, b) => a - b),
      opens,
    );
    assert.equal(new Set(opens).size, opens.length, calendar.market.key);
  }
});

test('every session lies in the hours of its own day, week and month (contract 3.6)', () => {
  for (const session of us.sessions(dayOfText('2000-01-01'), dayOfText('2031-01-01')))
    for (const interval of ['DAY', 'WEEK', 'MON'] as const) {
      const start = periodStart(interval, session.day);
      const hours = periodHours(us, interval, start, false);
      const inside = hours.openMs <= session.openMs && session.closeMs <= hours.closeMs;
      if (!inside || hours.day < start || hours.day > session.day)
        assert.fail(`${interval} ${formatDay(start)}`);
    }
});
