// Holiday rules -> days: Easter, weekdays, observances, precedence (contract 3.4, 3.7).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDay, weekdayOf } from '../../base/instant.ts';
import type { HolidayRule, HolidayTerms, Market } from './market.ts';
import { dayOfText, easterDay, holidaysOf } from './rules.ts';

// Dates as churches publish them; the last row holds the computus' exceptions and extremes.
const easters = `
  2000-04-23 2001-04-15 2002-03-31 2003-04-20 2004-04-11 2005-03-27 2006-04-16 2007-04-08 2008-03-23 2009-04-12
  2010-04-04 2011-04-24 2012-04-08 2013-03-31 2014-04-20 2015-04-05 2016-03-27 2017-04-16 2018-04-01 2019-04-21
  2020-04-12 2021-04-04 2022-04-17 2023-04-09 2024-03-31 2025-04-20 2026-04-05 2027-03-28 2028-04-16 2029-04-01
  2030-04-21 1913-03-23 1943-04-25 1954-04-18 1981-04-19 2038-04-25 2049-04-18 2076-04-19`;

test('Easter is on its published date from 2000 to 2030, and in the exceptional years', () => {
  for (const date of easters.trim().split(/\s+/))
    assert.equal(formatDay(easterDay(Number(date.slice(0, 4)))), date);
});

test('Easter is a Sunday from 22 March to 25 April in every year of 1900 to 2200', () => {
  for (let year = 1900; year <= 2200; year++) {
    assert.equal(weekdayOf(easterDay(year)), 7);
    const date = formatDay(easterDay(year)).slice(5);
    assert.ok(date >= '03-22' && date <= '04-25', `${year}-${date}`);
  }
});

test('an impossible date in our own data is a fault', () => {
  assert.throws(() => dayOfText('2025-02-29'), /2025-02-29/);
});

const rule = (part: HolidayTerms, code = 'HOLIDAY_X'): HolidayRule => ({
  code,
  name: code,
  source: 'a test',
  ...part,
});
const marketOf = (
  holidays: readonly HolidayRule[],
  years: readonly [number, number] = [2000, 2030],
): Market => ({
  key: 'X',
  assetSchema: 'stock',
  country: 'XX',
  zone: 'UTC',
  sessionTemplate: 'X',
  currency: null,
  exchange: null,
  years,
  hours: [],
  codes: {},
  holidays,
});
const datesOf = (holidays: readonly HolidayRule[], year: number): string[] =>
  [...holidaysOf(marketOf(holidays), year).keys()].sort((a, b) => a - b).map(formatDay);

const cases: readonly [
  name: string,
  part: Parameters<typeof rule>[0],
  year: number,
  dates: readonly string[],
][] = [
  ['a fixed date', { month: 7, day: 4 }, 2024, ['2024-07-04']],
  ['a fixed date on a Saturday, not observed', { month: 7, day: 4 }, 2026, ['2026-07-04']],
  ['a fixed date moved by days', { month: 12, day: 31, plus: 1 }, 2025, ['2025-01-01']],
  [
    'a Saturday, observed on the nearest weekday',
    { month: 7, day: 4, observed: 'nearest-weekday' },
    2026,
    ['2026-07-03'],
  ],
  [
    'a Sunday, observed on the nearest weekday',
    { month: 7, day: 4, observed: 'nearest-weekday' },
    2027,
    ['2027-07-05'],
  ],
  [
    'a weekday, observed on the nearest weekday',
    { month: 7, day: 4, observed: 'nearest-weekday' },
    2025,
    ['2025-07-04'],
  ],
  ['a Sunday, observed on Monday', { month: 1, day: 1, observed: 'sunday-to-monday' }, 2023, ['2023-01-02']],
  [
    'a Saturday, not moved where only Sundays are',
    { month: 1, day: 1, observed: 'sunday-to-monday' },
    2022,
    ['2022-01-01'],
  ],
  [
    'a New Year observed in the year before it',
    { month: 1, day: 1, observed: 'nearest-weekday' },
    2021,
    ['2021-01-01', '2021-12-31'],
  ],
  [
    'a New Year that is observed in the year before it',
    { month: 1, day: 1, observed: 'nearest-weekday' },
    2022,
    [],
  ],
  ['the third Monday', { month: 1, weekday: 1, nth: 3 }, 2024, ['2024-01-15']],
  ['the first Monday, on the first', { month: 9, weekday: 1, nth: 1 }, 2025, ['2025-09-01']],
  ['the last Monday', { month: 5, weekday: 1, nth: -1 }, 2024, ['2024-05-27']],
  ['the last Monday, on the last', { month: 5, weekday: 1, nth: -1 }, 2027, ['2027-05-31']],
  ['the last Friday of December', { month: 12, weekday: 5, nth: -1 }, 2024, ['2024-12-27']],
  ['the day after the fourth Thursday', { month: 11, weekday: 4, nth: 4, plus: 1 }, 2024, ['2024-11-29']],
  ['two days before Easter', { easter: -2 }, 2024, ['2024-03-29']],
  ['the day after Easter', { easter: 1 }, 2024, ['2024-04-01']],
  [
    'listed dates of the year alone',
    { dates: '2023-05-08 2024-05-08 2024-06-03' },
    2024,
    ['2024-05-08', '2024-06-03'],
  ],
  ['listed dates moved by days', { dates: '2025-01-01', plus: -1 }, 2024, ['2024-12-31']],
  ['only given weekdays', { month: 7, day: 3, weekdays: [1, 2, 4] }, 2024, []],
  ['only given weekdays, on one of them', { month: 7, day: 3, weekdays: [1, 2, 4] }, 2025, ['2025-07-03']],
  ['from a date on', { month: 6, day: 19, from: '2022-01-01' }, 2021, []],
  ['from that very date on', { month: 6, day: 19, from: '2022-06-19' }, 2022, ['2022-06-19']],
  ['to a date', { month: 7, day: 5, to: '2012-12-31' }, 2013, []],
  ['to that very date', { month: 7, day: 5, to: '2013-07-05' }, 2013, ['2013-07-05']],
];
for (const [name, part, year, dates] of cases) {
  test(`${name}: ${year} has ${dates.join(' and ') || 'none'} (contract 3.4)`, () => {
    assert.deepEqual(datesOf([rule(part)], year), dates);
  });
}

test('where two rules fall on a date the first wins', () => {
  const first = rule({ month: 7, day: 4, observed: 'nearest-weekday' }, 'HOLIDAY_FIRST');
  const second = rule({ month: 7, day: 3, close: '13:00' }, 'HOLIDAY_SECOND');
  const on = (holidays: readonly HolidayRule[]): string | undefined =>
    holidaysOf(marketOf(holidays), 2026).get(dayOfText('2026-07-03'))?.code;
  assert.equal(on([first, second]), 'HOLIDAY_FIRST');
  assert.equal(on([second, first]), 'HOLIDAY_SECOND');
});

const christmas = rule({ month: 12, day: 25, observed: 'weekend-to-weekday' }, 'HOLIDAY_CHRISTMAS');
const boxing = rule({ month: 12, day: 26, observed: 'weekend-to-weekday' }, 'HOLIDAY_BOXING_DAY');
// As gov.uk/bank-holidays has them.
const substitutes: readonly [year: number, days: Readonly<Record<string, string>>][] = [
  [2020, { '2020-12-25': 'HOLIDAY_CHRISTMAS', '2020-12-28': 'HOLIDAY_BOXING_DAY' }],
  [2021, { '2021-12-27': 'HOLIDAY_CHRISTMAS', '2021-12-28': 'HOLIDAY_BOXING_DAY' }],
  [2022, { '2022-12-26': 'HOLIDAY_BOXING_DAY', '2022-12-27': 'HOLIDAY_CHRISTMAS' }],
  [2024, { '2024-12-25': 'HOLIDAY_CHRISTMAS', '2024-12-26': 'HOLIDAY_BOXING_DAY' }],
];
for (const [year, days] of substitutes) {
  test(`two holidays that meet a weekend in ${year} are made up for on free weekdays (contract 3.4)`, () => {
    const found = holidaysOf(marketOf([christmas, boxing]), year);
    assert.deepEqual(Object.fromEntries([...found].map(([day, { code }]) => [formatDay(day), code])), days);
  });
}

test('of a date that only a Sunday moves a Saturday falls away with the weekend', () => {
  const part = { month: 5, day: 3, observed: 'sunday-to-weekday' } as const;
  const next = { month: 5, day: 4 } as const;
  assert.deepEqual(datesOf([rule(part), rule(next)], 2026), ['2026-05-04', '2026-05-05']);
  assert.deepEqual(datesOf([rule(part)], 2025), ['2025-05-03']);
});

test('what is observed on the Friday before a weekend', () => {
  const part = { month: 12, day: 24, observed: 'weekend-to-friday', close: '12:30' } as const;
  assert.deepEqual(
    [2022, 2023, 2024].flatMap((year) => datesOf([rule(part)], year)),
    ['2022-12-23', '2023-12-22', '2024-12-24'],
  );
});

test('calendar overrides come first, cancel other days, and apply in every year (contract 8.6)', () => {
  const market = {
    ...marketOf([rule({ month: 7, day: 4 })]),
    overrides: [
      rule({ dates: '2024-07-04 2040-01-03', regular: true }),
      rule({ dates: '2024-07-05 2040-01-02' }, 'HOLIDAY_OWN'),
    ],
  };
  const days = (year: number): string[] => [...holidaysOf(market, year).keys()].map(formatDay);
  assert.deepEqual(days(2024), ['2024-07-05']);
  assert.deepEqual(days(2025), ['2025-07-04']);
  assert.deepEqual(days(2040), ['2040-01-02']);
});

test('a calendar override and a substitute day do not move each other (contract 8.6)', () => {
  const own = (part: Partial<HolidayRule>): string[] => {
    const day = rule({ dates: '2021-12-27', ...part }, 'HOLIDAY_OWN');
    const found = holidaysOf({ ...marketOf([christmas, boxing]), overrides: [day] }, 2021);
    return [...found].sort(([a], [b]) => a - b).map(([on, { code }]) => `${formatDay(on)} ${code}`);
  };
  assert.deepEqual(own({ regular: true }), ['2021-12-28 HOLIDAY_BOXING_DAY']);
  assert.deepEqual(own({}), ['2021-12-27 HOLIDAY_OWN', '2021-12-28 HOLIDAY_BOXING_DAY']);
  assert.deepEqual(own({ close: '12:30' }), ['2021-12-27 HOLIDAY_OWN', '2021-12-28 HOLIDAY_BOXING_DAY']);
});

test("outside the market's years no rule applies (contract 3.7)", () => {
  const holidays = [rule({ month: 7, day: 4 })];
  for (const [year, count] of [
    [1999, 0],
    [2000, 1],
    [2030, 1],
    [2031, 0],
  ] as const)
    assert.equal(holidaysOf(marketOf(holidays), year).size, count, String(year));
});
