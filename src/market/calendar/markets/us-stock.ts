// US stocks: New York Stock Exchange and Nasdaq, which keep the same days and hours.
import { type HolidayRule, rulesFrom, stockMarket, weekdayHours } from '../market.ts';

const nyseHours = 'NYSE, Holidays and Trading Hours, nyse.com/markets/hours-calendars';
const nyseClosings = 'NYSE, Special Closings since 1885';

const closed = rulesFrom('NYSE Rule 7.2 (Holidays)');
const hurricane = rulesFrom('NYSE notices of 2012-10-28 and 29');

const earlyClose = rulesFrom(nyseHours, { close: '13:00' });

/** A single day, with the date and the source of its announcement. */
const once = (
  code: string,
  name: string,
  terms: { readonly dates: string; readonly announced: string; readonly open?: string },
  source: string,
): HolidayRule => rulesFrom(`${nyseClosings}; ${source}`)(code, name, terms);

const attacks = (dates: string, announced: string, source: string): HolidayRule =>
  once('SEPTEMBER_11', 'September 11 attacks', { dates, announced }, source);

const mourning = (dates: string, announced: string, source: string): HolidayRule =>
  once('NATIONAL_DAY_OF_MOURNING', 'National Day of Mourning', { dates, announced }, source);

/** A late open. We found no announcement: it counts as announced on the day itself. */
const lateOpen = (date: string, open: string, name: string): HolidayRule =>
  rulesFrom(nyseClosings)('LATE_OPEN', name, { dates: date, open, announced: date });

export const usStock = stockMarket('US', {
  zone: 'America/New_York',
  currency: 'USD',
  exchange: null,
  years: [2000, 2030],
  hours: [
    weekdayHours('1900-01-01', `${nyseHours}; extended hours by contract 3.3 and 8.1`, [
      ['pre', '04:00', '09:30'],
      ['regular', '09:30', '16:00'],
      ['post', '16:00', '20:00'],
    ]),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_MLK_DAY: 'Martin Luther King Jr. Day',
    HOLIDAY_PRESIDENTS_DAY: "Presidents' Day",
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_MEMORIAL_DAY: 'Memorial Day',
    HOLIDAY_JUNETEENTH: 'Juneteenth National Independence Day',
    HOLIDAY_INDEPENDENCE_DAY: 'Independence Day, and the shortened day beside it',
    HOLIDAY_LABOR_DAY: 'Labor Day',
    HOLIDAY_THANKSGIVING: 'Thanksgiving Day, and the shortened day after it',
    HOLIDAY_CHRISTMAS_EVE: 'Christmas Eve',
    HOLIDAY_CHRISTMAS: 'Christmas Day, and a shortened day after it',
    HOLIDAY_NATIONAL_DAY_OF_MOURNING: 'National day of mourning for a president',
    HOLIDAY_SEPTEMBER_11: 'The attacks of September 11, 2001',
    HOLIDAY_WEATHER: 'Closed for the weather',
    HOLIDAY_LATE_OPEN: 'Opened late for a single occasion',
  },
  holidays: [
    closed('NEW_YEAR', "New Year's Day", { month: 1, day: 1, observed: 'sunday-to-monday' }),
    closed('MLK_DAY', 'Martin Luther King Jr. Day', { month: 1, weekday: 1, nth: 3, from: '1998-01-01' }),
    closed('PRESIDENTS_DAY', "Presidents' Day", { month: 2, weekday: 1, nth: 3 }),
    closed('GOOD_FRIDAY', 'Good Friday', { easter: -2 }),
    closed('MEMORIAL_DAY', 'Memorial Day', { month: 5, weekday: 1, nth: -1 }),
    closed('JUNETEENTH', 'Juneteenth', {
      month: 6,
      day: 19,
      from: '2022-01-01',
      observed: 'nearest-weekday',
    }),
    closed('INDEPENDENCE_DAY', 'Independence Day', { month: 7, day: 4, observed: 'nearest-weekday' }),
    closed('LABOR_DAY', 'Labor Day', { month: 9, weekday: 1, nth: 1 }),
    closed('THANKSGIVING', 'Thanksgiving Day', { month: 11, weekday: 4, nth: 4 }),
    closed('CHRISTMAS', 'Christmas Day', { month: 12, day: 25, observed: 'nearest-weekday' }),
    attacks('2001-09-11', '2001-09-11', 'called off before the open'),
    attacks('2001-09-12', '2001-09-11', 'NYSE statement of 2001-09-11 (The Globe and Mail, 2001-09-12)'),
    attacks('2001-09-13', '2001-09-12', 'press conference of 2001-09-12 (CNN)'),
    attacks('2001-09-14', '2001-09-13', 'press conference of 2001-09-13 (CNN)'),
    mourning('2004-06-11', '2004-06-07', 'announced on 2004-06-07 (Chicago Tribune, 2004-06-08)'),
    // Nasdaq had said so the day before.
    mourning('2007-01-02', '2006-12-29', 'NYSE news release of 2006-12-29'),
    mourning('2018-12-05', '2018-12-01', 'NYSE notice of 2018-12-01'),
    mourning('2025-01-09', '2024-12-30', 'NYSE notice of 2024-12-30'),
    hurricane('WEATHER', 'Hurricane Sandy', { dates: '2012-10-29', announced: '2012-10-28' }),
    hurricane('WEATHER', 'Hurricane Sandy', { dates: '2012-10-30', announced: '2012-10-29' }),
    earlyClose('INDEPENDENCE_DAY', 'Day before Independence Day', { month: 7, day: 3, weekdays: [1, 2, 4] }),
    earlyClose('INDEPENDENCE_DAY', 'Day before Independence Day', {
      month: 7,
      day: 3,
      weekdays: [3],
      from: '2013-01-01',
    }),
    earlyClose('INDEPENDENCE_DAY', 'Day after Independence Day', {
      month: 7,
      day: 5,
      weekdays: [5],
      to: '2012-12-31',
    }),
    earlyClose('THANKSGIVING', 'Day after Thanksgiving', { month: 11, weekday: 4, nth: 4, plus: 1 }),
    earlyClose('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24, weekdays: [1, 2, 3, 4] }),
    earlyClose('CHRISTMAS', 'Day after Christmas', { dates: '2003-12-26' }),
    once(
      'LATE_OPEN',
      'Reopening after the September 11 attacks',
      { dates: '2001-09-17', open: '09:33', announced: '2001-09-15' },
      'the ceremony by ABC News, 2001-09-15',
    ),
    lateOpen('2001-10-08', '09:31', 'Silence for Operation Enduring Freedom'),
    // About 11:00 was announced; the memorial services took longer.
    lateOpen('2002-09-11', '12:00', 'First anniversary of the September 11 attacks'),
    once(
      'LATE_OPEN',
      'First anniversary of the September 11 attacks',
      { dates: '2002-09-11', open: '11:00', announced: '2002-08-16' },
      'NYSE statement of 2002-08-16 (The Baltimore Sun, 2002-08-17)',
    ),
    lateOpen('2003-03-20', '09:32', 'Silence for Operation Iraqi Freedom'),
    lateOpen('2004-06-07', '09:32', 'Silence for President Reagan'),
    lateOpen('2006-12-27', '09:32', 'Silence for President Ford'),
  ],
});
