// Australian stocks: the cash market of the Australian Securities Exchange. Regular hours end at 16:00; the
// closing auction follows.
import { type HolidayRule, rulesFrom, type SegmentHours, stockMarket, weekdayHours } from '../market.ts';

const closed = rulesFrom('ASX, Cash market trading calendar');
const calendar2022 = rulesFrom('ASX, Cash market trading calendar 2022');
const calendars2010 = rulesFrom('ASX, trading calendars 2010 and 2011');
const notice2022 = rulesFrom('ASX, market notice of 2022-09-13', { announced: '2022-09-13' });

const hours = 'ASX, Cash market trading hours: normal trading and closing single price auction';

const auctionUntil = (end: string): readonly SegmentHours[] => [
  ['regular', '10:00', '16:00'],
  ['auction', '16:00', end],
];

/**
 * The last trading day before Christmas or New Year: whole before 2010, and in 2022. The auction of 2025
 * printed within 30 seconds after 14:10 and was traded at to 14:21:30; for earlier years we found the close
 * at 14:10 alone.
 */
const lastTradingDay = (code: string, name: string, day: number, regular: string): HolidayRule[] => [
  calendar2022(code, name, { dates: regular, regular: true }),
  closed(code, name, {
    month: 12,
    day,
    observed: 'weekend-to-friday',
    from: '2010-01-01',
    close: '14:10',
    auction: '14:22',
  }),
];

export const auStock = stockMarket('AU', {
  zone: 'Australia/Sydney',
  currency: 'AUD',
  exchange: 'XASX',
  years: [2000, 2030],
  hours: [
    // Auctions printed from 16:05 to 16:06, at the ends of months to 16:11, at times of 2001 and 2006 to
    // 16:16: the longest covers all.
    weekdayHours('1900-01-01', `${hours}; press and research of 2001 to 2006`, auctionUntil('16:16')),
    // By 2012 they printed from 16:10 to 16:12; we did not find since when.
    weekdayHours('2012-01-01', hours, auctionUntil('16:12')),
    weekdayHours(
      '2025-06-23',
      'ASX, Cash market trading hours from 2025-06-23: Post Close Trading Session to 16:21:30',
      auctionUntil('16:22'),
    ),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_AUSTRALIA_DAY: 'Australia Day',
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_EASTER_MONDAY: 'Easter Monday',
    HOLIDAY_ANZAC_DAY: 'Anzac Day',
    HOLIDAY_SOVEREIGNS_BIRTHDAY: "The King's or the Queen's Birthday",
    HOLIDAY_CHRISTMAS_EVE: 'The last trading day before Christmas, shortened',
    HOLIDAY_CHRISTMAS: 'Christmas Day',
    HOLIDAY_BOXING_DAY: 'Boxing Day',
    HOLIDAY_NEW_YEAR_EVE: 'The last trading day of the year, shortened',
    HOLIDAY_NATIONAL_DAY_OF_MOURNING: 'National day of mourning for the sovereign',
  },
  holidays: [
    closed('GOOD_FRIDAY', 'Good Friday', { easter: -2 }),
    closed('EASTER_MONDAY', 'Easter Monday', { easter: 1 }),
    closed('ANZAC_DAY', 'Anzac Day', { month: 4, day: 25 }),
    calendars2010('ANZAC_DAY', 'Additional day for Anzac Day', { dates: '2010-04-26 2011-04-26' }),
    closed('SOVEREIGNS_BIRTHDAY', "Queen's Birthday", { month: 6, weekday: 1, nth: 2, to: '2022-12-31' }),
    closed('SOVEREIGNS_BIRTHDAY', "King's Birthday", { month: 6, weekday: 1, nth: 2, from: '2023-01-01' }),
    notice2022('NATIONAL_DAY_OF_MOURNING', 'National Day of Mourning for Queen Elizabeth II', {
      dates: '2022-09-22',
    }),
    ...lastTradingDay('CHRISTMAS_EVE', 'Last trading day before Christmas', 24, '2022-12-23'),
    ...lastTradingDay('NEW_YEAR_EVE', 'Last trading day of the year', 31, '2022-12-30'),
    closed('NEW_YEAR', "New Year's Day", { month: 1, day: 1, observed: 'weekend-to-weekday' }),
    closed('AUSTRALIA_DAY', 'Australia Day', { month: 1, day: 26, observed: 'weekend-to-weekday' }),
    closed('CHRISTMAS', 'Christmas Day', { month: 12, day: 25, observed: 'weekend-to-weekday' }),
    closed('BOXING_DAY', 'Boxing Day', { month: 12, day: 26, observed: 'weekend-to-weekday' }),
  ],
});
