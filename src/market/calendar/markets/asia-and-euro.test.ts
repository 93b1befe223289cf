// Markets of Japan, Hong Kong, mainland China, Germany, France and the euro area: their days, hours and
// exceptions (contract 3.3, 3.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDay, weekdayOf } from '../../../base/instant.ts';
import { calendarOf } from '../calendar.ts';
import { dayOfText } from '../rules.ts';
import type { Session } from '../session.ts';
import { hkStock } from './hk-stock.ts';

const words = (text: string): string[] => text.trim().split(/\s+/);
const sessionsOf = (country: string, from: string, to: string): Session[] =>
  calendarOf('stock', country).sessions(dayOfText(from), dayOfText(to));
const sessionOn = (country: string, date: string): Session | undefined =>
  sessionsOf(country, date, formatDay(dayOfText(date) + 1))[0];
const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
/** Regular hours; auctions are those of auctions.test.ts. */
const hoursOn = (country: string, date: string): string =>
  sessionOn(country, date)
    ?.segments.filter(({ kind }) => kind === 'regular')
    .map(({ openMs, closeMs }) => `${clock(openMs)}-${clock(closeMs)}`)
    .join(' ') ?? 'closed';

// Trading days a year as the exchanges' fact books have them; later years by the rules.
const totals: readonly [country: string, counts: string][] = [
  [
    'JP',
    `248 246 246 245 246 245 248 245 245 243 245 245 248 245 244 244 245 247 245 241 242 245 244 246 245 243 242 244
     245 245 245`,
  ],
  [
    'HK',
    `247 243 247 248 249 247 247 246 245 249 249 246 247 244 247 247 245 246 246 246 248 247 246 243 246 246 247 248
     246 246 246`,
  ],
  [
    'CN',
    '239 240 237 241 243 242 241 242 246 244 242 244 243 238 245 244 244 244 243 244 243 243 242 242 242 243 242',
  ],
  [
    'DE',
    `254 253 253 253 257 257 255 252 254 254 256 257 254 253 252 253 255 252 251 251 254 255 257 255 254 253 254 256
     255 253 253`,
  ],
  [
    'FR',
    `253 253 255 255 259 257 255 255 256 256 258 257 256 255 255 256 257 255 255 255 257 258 257 255 256 255 256 258
     255 255 255`,
  ],
  [
    'EU',
    `255 254 255 255 259 257 255 255 256 256 258 257 256 255 255 256 257 255 255 255 257 258 257 255 256 255 256 258
     255 255 255`,
  ],
];
for (const [country, counts] of totals) {
  test(`every year of ${country} from 2000 on has its number of sessions, none on a weekend (contract 3.4)`, () => {
    const found = words(counts).map((_, index) => {
      const sessions = sessionsOf(country, `${2000 + index}-01-01`, `${2001 + index}-01-01`);
      assert.ok(sessions.every(({ day }) => weekdayOf(day) <= 5));
      return String(sessions.length);
    });
    assert.deepEqual(found, words(counts));
  });
}

const hours: readonly [country: string, date: string, name: string, utc: string][] = [
  ['JP', '2005-03-01', 'the long break', '00:00-02:00 03:30-06:00'],
  ['JP', '2006-01-19', 'late afternoons, the first day', '00:00-02:00 04:00-06:00'],
  ['JP', '2006-04-21', 'late afternoons, the last day', '00:00-02:00 04:00-06:00'],
  ['JP', '2006-04-24', 'the long break again', '00:00-02:00 03:30-06:00'],
  ['JP', '2011-11-18', 'the long break, the last day', '00:00-02:00 03:30-06:00'],
  ['JP', '2011-11-21', 'the hour of break, the first day', '00:00-02:30 03:30-06:00'],
  ['JP', '2024-11-01', 'the close at 15:00, the last day', '00:00-02:30 03:30-06:00'],
  ['JP', '2024-11-05', 'the close at 15:30, the first day', '00:00-02:30 03:30-06:30'],
  ['JP', '2008-12-30', 'the last half day of a year', '00:00-02:00'],
  ['JP', '2009-01-05', 'the last half day of a new year', '00:00-02:00'],
  ['JP', '2009-12-30', 'a last day of the year that is whole', '00:00-02:00 03:30-06:00'],
  ['JP', '2003-01-06', 'a first day of the year after a weekend', '00:00-02:00'],
  ['JP', '2000-12-29', 'a last day of the year before a weekend', '00:00-02:00'],
  ['JP', '2005-11-01', 'the failure of 2005', '04:30-06:00'],
  ['JP', '2006-01-18', 'the stop of 2006', '00:00-02:00 03:30-05:40'],
  ['JP', '2020-10-01', 'the failure of 2020', 'closed'],
  ['HK', '2011-03-04', 'the open at 10:00, the last day', '02:00-04:30 06:30-08:00'],
  ['HK', '2011-03-07', 'the open at 9:30, the first day', '01:30-04:00 05:30-08:00'],
  ['HK', '2012-03-02', 'the break of ninety minutes, the last day', '01:30-04:00 05:30-08:00'],
  ['HK', '2012-03-05', 'the hour of break, the first day', '01:30-04:00 05:00-08:00'],
  ['HK', '2010-12-24', 'a Christmas Eve with the old hours', '02:00-04:30'],
  ['HK', '2012-12-24', 'a Christmas Eve with the new hours', '01:30-04:00'],
  ['HK', '2008-02-06', "a Lunar New Year's Eve with the old hours", '02:00-04:30'],
  ['HK', '2026-02-16', "a Lunar New Year's Eve with the new hours", '01:30-04:00'],
  ['HK', '2003-01-31', "a Lunar New Year's Eve that makes up for a Sunday", 'closed'],
  ['HK', '2008-06-25', 'a morning lost to a typhoon with the old hours', '06:30-08:00'],
  ['HK', '2007-08-10', 'a typhoon after the break', '02:00-04:30 06:30-06:45'],
  ['HK', '2004-07-16', 'a typhoon before noon', '02:00-04:00'],
  ['HK', '2021-06-28', 'a morning lost to a black rainstorm', '05:30-08:00'],
  ['HK', '2023-10-09', 'more than a morning lost', '06:00-08:00'],
  ['HK', '2022-11-02', 'a typhoon in the afternoon', '01:30-04:00 05:00-05:55'],
  ['HK', '2023-09-08', 'a day lost to a black rainstorm', 'closed'],
  ['HK', '2024-11-14', 'a typhoon that no longer stops trading', '01:30-04:00 05:00-08:00'],
  ['CN', '2024-01-02', 'the break', '01:30-03:30 05:00-07:00'],
  ['CN', '2024-02-09', "a Lunar New Year's Eve", 'closed'],
  ['CN', '2020-02-03', 'the first day after the longer Spring Festival of 2020', '01:30-03:30 05:00-07:00'],
  ['DE', '2000-06-01', 'the close at 17:30, the last day', '07:00-15:30'],
  ['DE', '2000-06-02', 'the close at 20:00, the first day', '07:00-18:00'],
  ['DE', '2003-10-31', 'the close at 20:00, the last day', '08:00-19:00'],
  ['DE', '2003-11-03', 'the close at 17:30 again', '08:00-16:30'],
  ['DE', '2000-10-03', 'ten years of unity', 'closed'],
  ['DE', '2023-10-03', 'unity in other years', '07:00-15:30'],
  ['DE', '2017-10-31', 'the Reformation', 'closed'],
  ['DE', '2018-12-28', 'a last day of the year before a weekend', '08:00-13:00'],
  ['FR', '2000-03-31', 'the close at 17:00, the last day', '07:00-15:00'],
  ['FR', '2000-04-03', 'the close at 17:30, the first day', '07:00-15:30'],
  ['FR', '2000-07-14', 'the last Bastille Day on a weekday', 'closed'],
  ['FR', '2001-12-31', 'the last New Year Eve that was closed', 'closed'],
  ['FR', '2024-12-31', "a New Year's Eve", '08:00-13:05'],
  ['EU', '2001-04-30', 'the birthday of the Queen, no closing day of TARGET', '07:00-15:30'],
  ['EU', '2001-12-31', 'the day before euro cash', 'closed'],
  ['EU', '2024-12-24', 'a Christmas Eve', '08:00-13:05'],
];
for (const [country, date, name, utc] of hours) {
  test(`${country} on ${date}, ${name}: ${utc} (contract 3.3, 3.4)`, () => {
    assert.equal(hoursOn(country, date), utc);
  });
}

// Closed weekdays of stretches where holidays meet, as the exchanges announced them.
const closings: readonly [country: string, from: string, to: string, dates: string][] = [
  ['JP', '2003-04-28', '2003-05-10', '2003-04-29 2003-05-05'],
  ['JP', '2008-05-01', '2008-05-10', '2008-05-05 2008-05-06'],
  ['JP', '2009-05-01', '2009-05-10', '2009-05-04 2009-05-05 2009-05-06'],
  ['JP', '2009-09-18', '2009-09-26', '2009-09-21 2009-09-22 2009-09-23'],
  ['JP', '2019-04-26', '2019-05-10', '2019-04-29 2019-04-30 2019-05-01 2019-05-02 2019-05-03 2019-05-06'],
  ['JP', '2019-12-01', '2019-12-31', ''],
  ['JP', '2020-07-01', '2020-08-31', '2020-07-23 2020-07-24 2020-08-10'],
  ['JP', '2021-07-01', '2021-08-31', '2021-07-22 2021-07-23 2021-08-09'],
  ['JP', '2026-09-14', '2026-09-30', '2026-09-21 2026-09-22 2026-09-23'],
  ['HK', '2000-02-01', '2000-02-12', '2000-02-04 2000-02-07'],
  ['HK', '2006-01-23', '2006-02-04', '2006-01-30 2006-01-31'],
  ['HK', '2010-04-01', '2010-04-10', '2010-04-02 2010-04-05 2010-04-06'],
  ['HK', '2012-09-28', '2012-10-06', '2012-10-01 2012-10-02'],
  ['HK', '2013-02-07', '2013-02-16', '2013-02-11 2013-02-12 2013-02-13'],
  ['HK', '2015-04-01', '2015-04-10', '2015-04-03 2015-04-06 2015-04-07'],
  ['HK', '2021-04-01', '2021-04-10', '2021-04-02 2021-04-05 2021-04-06'],
  ['HK', '2022-09-01', '2022-09-30', '2022-09-12'],
  ['HK', '2022-12-23', '2023-01-04', '2022-12-26 2022-12-27 2023-01-02'],
  ['HK', '2026-04-01', '2026-04-10', '2026-04-03 2026-04-06 2026-04-07'],
  ['DE', '2007-05-25', '2007-06-01', '2007-05-28'],
  ['DE', '2021-05-20', '2021-05-28', '2021-05-24'],
  ['DE', '2022-06-01', '2022-06-10', ''],
];
for (const [country, from, to, dates] of closings) {
  test(`${country} from ${from} to ${to} is closed on ${dates || 'no weekday'} (contract 3.4)`, () => {
    const found: string[] = [];
    for (let day = dayOfText(from); day < dayOfText(to); day++) {
      if (weekdayOf(day) < 6 && sessionOn(country, formatDay(day)) === undefined) found.push(formatDay(day));
    }
    assert.deepEqual(found, dates === '' ? [] : words(dates));
  });
}

const lunar: readonly [code: string, name: string, monthAndDay: string][] = [
  ['LUNAR_NEW_YEAR', "Lunar New Year's Day", '1/1'],
  ['BUDDHA_BIRTHDAY', 'Birthday of the Buddha', '4/8'],
  ['TUEN_NG', 'Tuen Ng Festival', '5/5'],
  ['MID_AUTUMN', 'Day after the Mid-Autumn Festival', '8/15'],
  ['CHUNG_YEUNG', 'Chung Yeung Festival', '9/9'],
];
test("the lunar dates of Hong Kong are those of the platform's own Chinese calendar (contract 3.4)", () => {
  const format = new Intl.DateTimeFormat('en-u-ca-chinese', {
    timeZone: 'UTC',
    month: 'numeric',
    day: 'numeric',
  });
  const monthAndDayOf = (date: string): string =>
    format
      .formatToParts(Date.parse(date))
      .filter(({ type }) => type === 'month' || type === 'day')
      .map(({ value }) => value)
      .join('/');
  for (const [code, name, monthAndDay] of lunar) {
    const rule = hkStock.holidays.find((found) => found.code === `HOLIDAY_${code}` && found.name === name);
    assert.ok(rule !== undefined && 'dates' in rule, code);
    const dates = rule.dates.trim().split(/\s+/);
    assert.equal(dates.length, 31, code);
    // The new moons of 2027-02-06 15:56 and 2030-02-02 16:07 UTC lie at midnight in China, where the platform
    // errs by a day.
    for (const date of dates.filter((found) => found !== '2027-02-06' && found !== '2030-02-03'))
      assert.equal(monthAndDayOf(date), monthAndDay, date);
  }
});
