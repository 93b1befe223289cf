// From when the days were known that nobody knew in advance, market by market, by notices and the press of
// the time (contract 9.8).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, formatDay } from '../../../base/instant.ts';
import { calendarOf } from '../calendar.ts';
import { holidaysIn } from '../holiday-list.ts';
import { dayOfText } from '../rules.ts';
import { markets } from './index.ts';

/**
 * What a day was before its announcement, and from it on: `open`, `CLOSED`, `LATE_OPEN 12:00`; hours are
 * local.
 */
const announcements: readonly [
  country: string,
  announced: string,
  days: string,
  before: string,
  after: string,
][] = [
  ['US', '2001-09-11', '2001-09-11 2001-09-12', 'open', 'CLOSED'],
  ['US', '2001-09-12', '2001-09-13', 'open', 'CLOSED'],
  ['US', '2001-09-13', '2001-09-14', 'open', 'CLOSED'],
  ['US', '2001-09-15', '2001-09-17', 'open', 'LATE_OPEN 09:33'],
  ['US', '2001-10-08', '2001-10-08', 'open', 'LATE_OPEN 09:31'],
  ['US', '2002-08-16', '2002-09-11', 'open', 'LATE_OPEN 11:00'],
  ['US', '2002-09-11', '2002-09-11', 'LATE_OPEN 11:00', 'LATE_OPEN 12:00'],
  ['US', '2003-03-20', '2003-03-20', 'open', 'LATE_OPEN 09:32'],
  ['US', '2004-06-07', '2004-06-07', 'open', 'LATE_OPEN 09:32'],
  ['US', '2004-06-07', '2004-06-11', 'open', 'CLOSED'],
  ['US', '2006-12-27', '2006-12-27', 'open', 'LATE_OPEN 09:32'],
  ['US', '2006-12-29', '2007-01-02', 'open', 'CLOSED'],
  ['US', '2012-10-28', '2012-10-29', 'open', 'CLOSED'],
  ['US', '2012-10-29', '2012-10-30', 'open', 'CLOSED'],
  ['US', '2018-12-01', '2018-12-05', 'open', 'CLOSED'],
  ['US', '2024-12-30', '2025-01-09', 'open', 'CLOSED'],
  ['CA', '2001-09-11', '2001-09-11', 'open', 'CLOSED'],
  ['CA', '2001-09-12', '2001-09-12', 'open', 'CLOSED'],
  ['UK', '2000-11-23', '2002-06-03 2002-06-04', 'open', 'CLOSED'],
  ['UK', '2000-11-23', '2002-05-27', 'CLOSED', 'open'],
  ['UK', '2010-01-05', '2012-06-04 2012-06-05', 'open', 'CLOSED'],
  ['UK', '2010-01-05', '2012-05-28', 'CLOSED', 'open'],
  ['UK', '2010-11-23', '2011-04-29', 'open', 'CLOSED'],
  ['UK', '2019-06-07', '2020-05-08', 'open', 'CLOSED'],
  ['UK', '2019-06-07', '2020-05-04', 'CLOSED', 'open'],
  ['UK', '2020-11-12', '2022-06-02 2022-06-03', 'open', 'CLOSED'],
  ['UK', '2020-11-12', '2022-05-30', 'CLOSED', 'open'],
  ['UK', '2022-09-10', '2022-09-19', 'open', 'CLOSED'],
  ['UK', '2022-11-06', '2023-05-08', 'open', 'CLOSED'],
  ['AU', '2022-09-13', '2022-09-22', 'open', 'CLOSED'],
  ['DE', '2000-09-28', '2000-10-03', 'open', 'CLOSED'],
  ['DE', '2018-07-17', '2018-10-03', 'open', 'CLOSED'],
  ['JP', '2005-11-01', '2005-11-01', 'open', 'LATE_OPEN 13:30'],
  ['JP', '2006-01-18', '2006-01-18', 'open', 'EARLY_CLOSE 14:40'],
  ['JP', '2018-06-20', '2020-07-23 2020-07-24 2020-08-10', 'open', 'CLOSED'],
  ['JP', '2018-06-20', '2020-07-20 2020-08-11 2020-10-12', 'CLOSED', 'open'],
  ['JP', '2018-12-14', '2019-04-30 2019-05-01 2019-05-02 2019-10-22', 'open', 'CLOSED'],
  ['JP', '2020-10-01', '2020-10-01', 'open', 'CLOSED'],
  ['JP', '2020-12-04', '2021-07-22 2021-07-23 2021-08-09', 'open', 'CLOSED'],
  ['JP', '2020-12-04', '2021-07-19 2021-08-11 2021-10-11', 'CLOSED', 'open'],
  ['HK', '2015-05-13', '2015-09-03', 'open', 'CLOSED'],
  ['CN', '2003-04-22', '2003-05-06 2003-05-07', 'CLOSED', 'open'],
  ['CN', '2003-04-29', '2003-05-06 2003-05-07 2003-05-08 2003-05-09', 'open', 'CLOSED'],
  ['CN', '2015-05-13', '2015-09-03 2015-09-04', 'open', 'CLOSED'],
  ['CN', '2019-03-22', '2019-05-02 2019-05-03', 'open', 'CLOSED'],
  ['CN', '2020-01-27', '2020-01-31', 'open', 'CLOSED'],
];

/** The weather in Hong Kong: the exchange decided on the day itself. */
const weather = `
  2001-07-06 2001-07-25 2002-09-11 2003-09-02 2004-07-16 2007-08-10 2008-06-25 2008-08-06 2008-08-22 2009-09-15 2011-09-29
  2012-07-24 2013-05-22 2013-08-14 2013-09-23 2014-09-16 2016-08-02 2016-10-21 2017-08-23 2019-07-31 2020-08-19 2020-10-13
  2021-06-28 2021-10-13 2022-08-25 2022-11-02 2023-07-17 2023-09-01 2023-09-08 2023-10-09 2024-09-06`;

const datesOf = (text: string): string[] => text.trim().split(/\s+/);

/** What was known of a day at the beginning of a date of the market, or some milliseconds later. */
function known(country: string, date: string, day: string, laterMs = 0): string {
  const whole = calendarOf('stock', country);
  const calendar = whole.knownAt(whole.zone.instantOf(dayOfText(date), 0) + laterMs);
  const [found] = holidaysIn(calendar, dayOfText(day), dayOfText(day)).toArray();
  const session = calendar.sessionOn(dayOfText(day));
  assert.equal(session === null, found?.template === 'CLOSED', `${country} ${day}`);
  if (found === undefined) return 'open';
  if (found.template === 'CLOSED') return 'CLOSED';
  const ms = found.template === 'LATE_OPEN' ? session!.openMs : session!.closeMs;
  return `${found.template} ${new Date(ms + whole.zone.offsetAt(ms)).toISOString().slice(11, 16)}`;
}

for (const [country, announced, days, before, after] of announcements)
  test(`${country} ${days} ${before} until ${announced}, then ${after} (contract 9.8)`, () => {
    for (const day of datesOf(days)) {
      assert.deepEqual([known(country, announced, day, -1), known(country, announced, day)], [before, after]);
    }
  });

test('the weather of Hong Kong is known from the day itself (contract 9.8)', () => {
  const hk = calendarOf('stock', 'HK');
  for (const date of datesOf(weather)) {
    assert.equal(known('HK', date, date, -1), 'open', date);
    assert.notEqual(known('HK', date, date), 'open', date);
  }
  const listed = holidaysIn(hk, dayOfText('2000-01-01'), dayOfText('2030-12-31'))
    .filter(({ rule }) => rule.code === 'HOLIDAY_WEATHER')
    .map(({ day }) => formatDay(day))
    .toArray();
  assert.deepEqual(listed, datesOf(weather), 'each has its test');
});

/** Codes of days that nobody knows in advance. */
const unforeseen =
  /^HOLIDAY_(WEATHER|SEPTEMBER_11|LATE_OPEN|NATIONAL_DAY_OF_MOURNING|SYSTEM_FAILURE|STATE_FUNERAL|ROYAL_WEDDING|JUBILEE|CORONATION|VICTORY_DAY|IMPERIAL_SUCCESSION)$/;

for (const market of markets)
  test(`${market.key}: unforeseen days have an announcement, and none is after its day (contract 9.8)`, () => {
    for (const { code, announced, source } of market.holidays)
      if (unforeseen.test(code)) assert.notEqual(announced, undefined, `${code}, ${source}`);
    const calendar = calendarOf(market.assetSchema, market.country, null, market.key);
    for (let year = 1999; year <= 2031; year++)
      for (const [day, { announced, code }] of calendar.holidays(year))
        assert.ok(announced === undefined || dayOfText(announced) <= day, `${code} ${formatDay(day)}`);
    for (const { announced, regular, ...rule } of market.holidays)
      if (regular && announced !== undefined && 'dates' in rule)
        for (const date of datesOf(rule.dates)) assert.ok(announced <= date, `${rule.code} ${date}`);
  });

test('days up to a date are the same before later announcements; what is not announced is as the weekday is (contract 9.8)', () => {
  for (const { assetSchema, country, key, holidays } of markets) {
    const whole = calendarOf(assetSchema, country, null, key);
    const stages = [...new Set(holidays.flatMap(({ announced }) => announced ?? []))].sort();
    for (const stage of stages) {
      const ms = whole.zone.instantOf(dayOfText(stage), 0) - 1;
      const calendar = whole.knownAt(ms);
      assert.equal(whole.knownAt(ms - DAY_MS + 1), calendar, 'one calendar between two announcements');
      const [from, to] = [dayOfText(stage) - 400, dayOfText(stage)];
      assert.deepEqual(calendar.sessions(from, to), whole.sessions(from, to), `${key} before ${stage}`);
      for (const rule of calendar.market.holidays)
        assert.ok(rule.announced === undefined || rule.announced < stage, rule.code);
    }
    const end = whole.zone.instantOf(dayOfText('2031-01-01'), 0);
    assert.equal(whole.knownAt(end), whole, `${key}: everything is announced in the end`);
  }
});
