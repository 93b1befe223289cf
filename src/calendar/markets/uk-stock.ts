// UK stocks: the London Stock Exchange, which closes on the bank holidays of England and Wales.
import { type HolidayRule, type HolidayTerms, type Market, rulesFrom, weekdayHours } from '../market.ts';

const lseDays = 'London Stock Exchange, Business Days';
const bankHolidays = 'Banking and Financial Dealings Act 1971, schedule 1';
const proclamation = 'Royal Proclamation under the Banking and Financial Dealings Act 1971, section 1';

const closed = rulesFrom(bankHolidays);

const proclaimed = (code: string, name: string, ...dates: string[]): HolidayRule =>
  closed(code, name, { when: { dates } }, proclamation);

const moved = (code: string, name: string, ...dates: string[]): HolidayRule =>
  closed(code, name, { when: { dates }, regular: true }, proclamation);

const earlyClose = (code: string, name: string, terms: HolidayTerms): HolidayRule =>
  closed(code, name, { ...terms, close: '12:30' }, lseDays);

export const ukStock: Market = {
  key: 'UK_STOCK',
  assetSchema: 'stock',
  country: 'UK',
  zone: 'Europe/London',
  sessionTemplate: 'UK_STOCK_RTH',
  currency: 'GBP',
  exchange: 'XLON',
  years: [2000, 2030],
  hours: [
    weekdayHours(
      '1900-01-01',
      'London Stock Exchange, Millennium Exchange Business Parameters: continuous trading of SETS',
      [['regular', '08:00', '16:30']],
    ),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_EASTER_MONDAY: 'Easter Monday',
    HOLIDAY_EARLY_MAY_BANK_HOLIDAY: 'Early May bank holiday',
    HOLIDAY_SPRING_BANK_HOLIDAY: 'Spring bank holiday',
    HOLIDAY_SUMMER_BANK_HOLIDAY: 'Summer bank holiday',
    HOLIDAY_CHRISTMAS_EVE: 'Christmas Eve, or the last weekday before it, shortened',
    HOLIDAY_CHRISTMAS: 'Christmas Day',
    HOLIDAY_BOXING_DAY: 'Boxing Day',
    HOLIDAY_NEW_YEAR_EVE: "New Year's Eve, or the last weekday before it, shortened",
    HOLIDAY_JUBILEE: 'Jubilee of the sovereign',
    HOLIDAY_ROYAL_WEDDING: 'Royal wedding',
    HOLIDAY_STATE_FUNERAL: 'State funeral of the sovereign',
    HOLIDAY_CORONATION: 'Coronation of the sovereign',
  },
  holidays: [
    moved('EARLY_MAY_BANK_HOLIDAY', 'Early May bank holiday, moved to VE Day', '2020-05-04'),
    moved(
      'SPRING_BANK_HOLIDAY',
      'Spring bank holiday, moved to a jubilee',
      '2002-05-27',
      '2012-05-28',
      '2022-05-30',
    ),
    closed('GOOD_FRIDAY', 'Good Friday', { when: { easter: -2 } }, 'Holiday by common law'),
    closed('EASTER_MONDAY', 'Easter Monday', { when: { easter: 1 } }),
    closed(
      'EARLY_MAY_BANK_HOLIDAY',
      'Early May bank holiday',
      { when: { month: 5, weekday: 1, nth: 1 } },
      proclamation,
    ),
    proclaimed('EARLY_MAY_BANK_HOLIDAY', 'Early May bank holiday, on VE Day', '2020-05-08'),
    closed('SPRING_BANK_HOLIDAY', 'Spring bank holiday', { when: { month: 5, weekday: 1, nth: -1 } }),
    proclaimed(
      'SPRING_BANK_HOLIDAY',
      'Spring bank holiday, beside a jubilee',
      '2002-06-04',
      '2012-06-04',
      '2022-06-02',
    ),
    closed('SUMMER_BANK_HOLIDAY', 'Summer bank holiday', { when: { month: 8, weekday: 1, nth: -1 } }),
    proclaimed('JUBILEE', 'Golden Jubilee of Queen Elizabeth II', '2002-06-03'),
    proclaimed('JUBILEE', 'Diamond Jubilee of Queen Elizabeth II', '2012-06-05'),
    proclaimed('JUBILEE', 'Platinum Jubilee of Queen Elizabeth II', '2022-06-03'),
    proclaimed('ROYAL_WEDDING', 'Wedding of Prince William and Catherine Middleton', '2011-04-29'),
    proclaimed('STATE_FUNERAL', 'State funeral of Queen Elizabeth II', '2022-09-19'),
    proclaimed('CORONATION', 'Coronation of King Charles III', '2023-05-08'),
    earlyClose('CHRISTMAS_EVE', 'Christmas Eve', {
      when: { month: 12, day: 24 },
      observed: 'weekend-to-friday',
    }),
    earlyClose('NEW_YEAR_EVE', "New Year's Eve", {
      when: { month: 12, day: 31 },
      observed: 'weekend-to-friday',
    }),
    closed(
      'NEW_YEAR',
      "New Year's Day",
      { when: { month: 1, day: 1 }, observed: 'weekend-to-weekday' },
      proclamation,
    ),
    closed(
      'CHRISTMAS',
      'Christmas Day',
      { when: { month: 12, day: 25 }, observed: 'weekend-to-weekday' },
      `Holiday by common law; ${bankHolidays}`,
    ),
    closed('BOXING_DAY', 'Boxing Day', { when: { month: 12, day: 26 }, observed: 'weekend-to-weekday' }),
  ],
};
