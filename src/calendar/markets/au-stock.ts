// Australian stocks: the cash market of the Australian Securities Exchange, whose regular hours end at 16:00, before the closing auction.
import { type HolidayRule, type Market, rulesFrom, weekdayHours } from '../market.ts';

const asxDays = 'ASX, Cash market trading calendar';

const closed = rulesFrom(asxDays);

/** The last trading day before Christmas or New Year: whole before 2010, and in 2022. */
const lastTradingDay = (code: string, name: string, day: number, regular: string): HolidayRule[] => [
  closed(code, name, { when: { dates: [regular] }, regular: true }, 'ASX, Cash market trading calendar 2022'),
  closed(code, name, {
    when: { month: 12, day },
    observed: 'weekend-to-friday',
    from: '2010-01-01',
    close: '14:10',
  }),
];

export const auStock: Market = {
  key: 'AU_STOCK',
  assetSchema: 'stock',
  country: 'AU',
  zone: 'Australia/Sydney',
  sessionTemplate: 'AU_STOCK_RTH',
  currency: 'AUD',
  exchange: 'XASX',
  years: [2000, 2030],
  hours: [
    weekdayHours('1900-01-01', 'ASX, Cash market trading hours: normal trading', [
      ['regular', '10:00', '16:00'],
    ]),
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
    closed('GOOD_FRIDAY', 'Good Friday', { when: { easter: -2 } }),
    closed('EASTER_MONDAY', 'Easter Monday', { when: { easter: 1 } }),
    closed('ANZAC_DAY', 'Anzac Day', { when: { month: 4, day: 25 } }),
    closed(
      'ANZAC_DAY',
      'Additional day for Anzac Day',
      { when: { dates: ['2010-04-26', '2011-04-26'] } },
      'ASX, trading calendars 2010 and 2011',
    ),
    closed('SOVEREIGNS_BIRTHDAY', "Queen's Birthday", {
      when: { month: 6, weekday: 1, nth: 2 },
      to: '2022-12-31',
    }),
    closed('SOVEREIGNS_BIRTHDAY', "King's Birthday", {
      when: { month: 6, weekday: 1, nth: 2 },
      from: '2023-01-01',
    }),
    closed(
      'NATIONAL_DAY_OF_MOURNING',
      'National Day of Mourning for Queen Elizabeth II',
      { when: { dates: ['2022-09-22'] } },
      'ASX, market notice of September 2022',
    ),
    ...lastTradingDay('CHRISTMAS_EVE', 'Last trading day before Christmas', 24, '2022-12-23'),
    ...lastTradingDay('NEW_YEAR_EVE', 'Last trading day of the year', 31, '2022-12-30'),
    closed('NEW_YEAR', "New Year's Day", { when: { month: 1, day: 1 }, observed: 'weekend-to-weekday' }),
    closed('AUSTRALIA_DAY', 'Australia Day', {
      when: { month: 1, day: 26 },
      observed: 'weekend-to-weekday',
    }),
    closed('CHRISTMAS', 'Christmas Day', { when: { month: 12, day: 25 }, observed: 'weekend-to-weekday' }),
    closed('BOXING_DAY', 'Boxing Day', { when: { month: 12, day: 26 }, observed: 'weekend-to-weekday' }),
  ],
};
