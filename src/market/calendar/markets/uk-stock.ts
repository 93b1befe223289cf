// UK stocks: the London Stock Exchange, which closes on the bank holidays of England and Wales.
import { moved, rulesFrom, stockMarket, weekdayHours } from '../market.ts';

const bankHolidays = 'Banking and Financial Dealings Act 1971, schedule 1';

const closed = rulesFrom(bankHolidays);
const christmas = rulesFrom(`Holiday by common law; ${bankHolidays}`);
const commonLaw = rulesFrom('Holiday by common law');
const proclamation = 'Royal Proclamation under the Banking and Financial Dealings Act 1971, section 1';
const yearly = rulesFrom(`${proclamation}, each year`);

/** Holidays that a proclamation adds or moves once. The government announces it before. */
const proclaimed = (announced: string, announcement: string) =>
  rulesFrom(`${proclamation}; ${announcement} of ${announced}`, { announced });
const goldenJubilee = proclaimed('2000-11-23', 'written answer of the Prime Minister');
const diamondJubilee = proclaimed('2010-01-05', 'statement of Lord Mandelson in the House of Lords');
const royalWedding = proclaimed('2010-11-23', "announcement of the Prime Minister's Office");
const victoryDay = proclaimed('2019-06-07', 'news release of the Department for Business');
const platinumJubilee = proclaimed('2020-11-12', 'news release of the Department for Culture');
const stateFuneral = proclaimed('2022-09-10', 'Accession Council');
const coronation = proclaimed('2022-11-06', "news release of the Prime Minister's Office");

const besideJubilee = ['SPRING_BANK_HOLIDAY', 'Spring bank holiday, beside a jubilee'] as const;

const earlyClose = rulesFrom('London Stock Exchange, Business Days', { close: '12:30' });

export const ukStock = stockMarket('UK', {
  zone: 'Europe/London',
  currency: 'GBP',
  exchange: 'XLON',
  years: [2000, 2030],
  hours: [
    weekdayHours(
      '1900-01-01',
      'London Stock Exchange, Millennium Exchange Business Parameters: continuous trading of SETS',
      [['regular', '08:00', '16:30']],
    ),
    // The auction began on some day of May 2000. Its call of 5 minutes can be extended three times by 5
    // minutes, and each call ends within 30 seconds at random: the latest print is at 16:52. The trading at
    // the closing price, to 16:40 since 2012, is within it.
    weekdayHours(
      '2000-05-01',
      'London Stock Exchange, notice N55/00 (closing auctions since May 2000), service announcement Live7501 (extensions), Millennium Exchange Business Parameters',
      [
        ['regular', '08:00', '16:30'],
        ['auction', '16:30', '16:52'],
      ],
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
    ...moved(
      victoryDay,
      'EARLY_MAY_BANK_HOLIDAY',
      'Early May bank holiday, on VE Day',
      '2020-05-04',
      '2020-05-08',
    ),
    ...moved(goldenJubilee, ...besideJubilee, '2002-05-27', '2002-06-04'),
    ...moved(diamondJubilee, ...besideJubilee, '2012-05-28', '2012-06-04'),
    ...moved(platinumJubilee, ...besideJubilee, '2022-05-30', '2022-06-02'),
    commonLaw('GOOD_FRIDAY', 'Good Friday', { easter: -2 }),
    closed('EASTER_MONDAY', 'Easter Monday', { easter: 1 }),
    yearly('EARLY_MAY_BANK_HOLIDAY', 'Early May bank holiday', { month: 5, weekday: 1, nth: 1 }),
    closed('SPRING_BANK_HOLIDAY', 'Spring bank holiday', { month: 5, weekday: 1, nth: -1 }),
    closed('SUMMER_BANK_HOLIDAY', 'Summer bank holiday', { month: 8, weekday: 1, nth: -1 }),
    goldenJubilee('JUBILEE', 'Golden Jubilee of Queen Elizabeth II', { dates: '2002-06-03' }),
    diamondJubilee('JUBILEE', 'Diamond Jubilee of Queen Elizabeth II', { dates: '2012-06-05' }),
    platinumJubilee('JUBILEE', 'Platinum Jubilee of Queen Elizabeth II', { dates: '2022-06-03' }),
    royalWedding('ROYAL_WEDDING', 'Wedding of Prince William and Catherine Middleton', {
      dates: '2011-04-29',
    }),
    stateFuneral('STATE_FUNERAL', 'State funeral of Queen Elizabeth II', { dates: '2022-09-19' }),
    coronation('CORONATION', 'Coronation of King Charles III', { dates: '2023-05-08' }),
    earlyClose('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24, observed: 'weekend-to-friday' }),
    earlyClose('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31, observed: 'weekend-to-friday' }),
    yearly('NEW_YEAR', "New Year's Day", { month: 1, day: 1, observed: 'weekend-to-weekday' }),
    christmas('CHRISTMAS', 'Christmas Day', { month: 12, day: 25, observed: 'weekend-to-weekday' }),
    closed('BOXING_DAY', 'Boxing Day', { month: 12, day: 26, observed: 'weekend-to-weekday' }),
  ],
});
