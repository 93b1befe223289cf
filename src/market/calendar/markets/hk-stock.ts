// Hong Kong stocks: The Stock Exchange of Hong Kong.
import {
  type HolidayRule,
  type HolidayTerms,
  rulesFrom,
  type SegmentHours,
  stockMarket,
  weekdayHours,
} from '../market.ts';

const ordinance =
  'General Holidays Ordinance (Cap. 149); Hong Kong Observatory, Gregorian-Lunar Calendar Conversion Tables';
const substitution = `${ordinance}, as amended in 2011 (substitution of holidays)`;
const tradingRules = 'Rules of the Exchange, trading hours';
const severeWeather =
  'Rules of the Exchange, trading during typhoons and black rainstorms; signals by the Hong Kong Observatory';

// By the Hong Kong Observatory's Gregorian-Lunar Calendar Conversion Tables.
const lunarNewYear = `
  2000-02-05 2001-01-24 2002-02-12 2003-02-01 2004-01-22 2005-02-09 2006-01-29 2007-02-18 2008-02-07
  2009-01-26 2010-02-14 2011-02-03 2012-01-23 2013-02-10 2014-01-31 2015-02-19 2016-02-08 2017-01-28
  2018-02-16 2019-02-05 2020-01-25 2021-02-12 2022-02-01 2023-01-22 2024-02-10 2025-01-29 2026-02-17
  2027-02-06 2028-01-26 2029-02-13 2030-02-03`;
const chingMing = `
  2000-04-04 2001-04-05 2002-04-05 2003-04-05 2004-04-04 2005-04-05 2006-04-05 2007-04-05 2008-04-04
  2009-04-04 2010-04-05 2011-04-05 2012-04-04 2013-04-04 2014-04-05 2015-04-05 2016-04-04 2017-04-04
  2018-04-05 2019-04-05 2020-04-04 2021-04-04 2022-04-05 2023-04-05 2024-04-04 2025-04-04 2026-04-05
  2027-04-05 2028-04-04 2029-04-04 2030-04-05`;
const buddhasBirthday = `
  2000-05-11 2001-04-30 2002-05-19 2003-05-08 2004-05-26 2005-05-15 2006-05-05 2007-05-24 2008-05-12
  2009-05-02 2010-05-21 2011-05-10 2012-04-28 2013-05-17 2014-05-06 2015-05-25 2016-05-14 2017-05-03
  2018-05-22 2019-05-12 2020-04-30 2021-05-19 2022-05-08 2023-05-26 2024-05-15 2025-05-05 2026-05-24
  2027-05-13 2028-05-02 2029-05-20 2030-05-09`;
const tuenNg = `
  2000-06-06 2001-06-25 2002-06-15 2003-06-04 2004-06-22 2005-06-11 2006-05-31 2007-06-19 2008-06-08
  2009-05-28 2010-06-16 2011-06-06 2012-06-23 2013-06-12 2014-06-02 2015-06-20 2016-06-09 2017-05-30
  2018-06-18 2019-06-07 2020-06-25 2021-06-14 2022-06-03 2023-06-22 2024-06-10 2025-05-31 2026-06-19
  2027-06-09 2028-05-28 2029-06-16 2030-06-05`;
const midAutumn = `
  2000-09-12 2001-10-01 2002-09-21 2003-09-11 2004-09-28 2005-09-18 2006-10-06 2007-09-25 2008-09-14
  2009-10-03 2010-09-22 2011-09-12 2012-09-30 2013-09-19 2014-09-08 2015-09-27 2016-09-15 2017-10-04
  2018-09-24 2019-09-13 2020-10-01 2021-09-21 2022-09-10 2023-09-29 2024-09-17 2025-10-06 2026-09-25
  2027-09-15 2028-10-03 2029-09-22 2030-09-12`;
const chungYeung = `
  2000-10-06 2001-10-25 2002-10-14 2003-10-04 2004-10-22 2005-10-11 2006-10-30 2007-10-19 2008-10-07
  2009-10-26 2010-10-16 2011-10-05 2012-10-23 2013-10-13 2014-10-02 2015-10-21 2016-10-09 2017-10-28
  2018-10-17 2019-10-07 2020-10-25 2021-10-14 2022-10-04 2023-10-23 2024-10-11 2025-10-29 2026-10-18
  2027-10-08 2028-10-26 2029-10-16 2030-10-05`;

/** A general holiday on a Sunday is observed on the next day without a holiday. */
const substitute = { observed: 'sunday-to-weekday' } as const;

const closed = rulesFrom(ordinance);
const holiday = rulesFrom(ordinance, substitute);
const holidaySince2012 = rulesFrom(substitution, substitute);
const victoryDay = rulesFrom('Special Holiday (3 September 2015) Ordinance; announcement of 2015-05-13', {
  announced: '2015-05-13',
});
const mornings = rulesFrom(tradingRules);
const stopped = rulesFrom(severeWeather);

/**
 * One of the first days of the lunar year. For a Sunday the market closed on the day before them until 2011,
 * and closes after them since.
 */
const newYearDay = (name: string, plus: number): HolidayRule[] => [
  closed('LUNAR_NEW_YEAR', name, { dates: lunarNewYear, plus, to: '2011-12-31' }),
  holidaySince2012('LUNAR_NEW_YEAR', name, { dates: lunarNewYear, plus, from: '2012-01-01' }),
];

/** A day without an afternoon: it ends when mornings ended in its year. */
const halfDay = (code: string, name: string, terms: HolidayTerms): HolidayRule[] => [
  mornings(code, name, { ...terms, to: '2011-03-06', close: '12:30' }),
  mornings(code, name, { ...terms, from: '2011-03-07', close: '12:00' }),
];

type Storm = { readonly dates: string; readonly open?: string; readonly close?: string };

/**
 * A stop during the day leaves out the closing auction. The exchange decides on the day itself, by the
 * signals at 9:00 and at 12:00, even where the Observatory spoke of them the evening before.
 */
const stormTerms = (terms: Storm): HolidayTerms => ({
  ...terms,
  announced: terms.dates,
  ...(terms.close !== undefined && { auction: terms.close }),
});

/** A day that the weather closed or shortened. */
const weather = (name: string, terms: Storm): HolidayRule => stopped('WEATHER', name, stormTerms(terms));

/** The same, by a notice of that day. */
const noticed = (name: string, terms: Storm, notice = 'HKEX market communication of'): HolidayRule =>
  rulesFrom(`${notice} ${terms.dates}`)('WEATHER', name, stormTerms(terms));

const sessions = (open: string, morningClose: string, afternoonOpen: string): readonly SegmentHours[] => [
  ['regular', open, morningClose],
  ['regular', afternoonOpen, '16:00'],
];

/** The closing auction session. It matches at 16:10 at the latest: at random from 16:08 since 2016. */
const auction: SegmentHours = ['auction', '16:00', '16:11'];

export const hkStock = stockMarket('HK', {
  zone: 'Asia/Hong_Kong',
  currency: 'HKD',
  exchange: 'XHKG',
  years: [2000, 2030],
  hours: [
    weekdayHours('2000-01-01', tradingRules, sessions('10:00', '12:30', '14:30')),
    weekdayHours('2008-05-26', 'HKEx news releases of 2007-10-31 and 2008-05-19 (closing auction session)', [
      ...sessions('10:00', '12:30', '14:30'),
      auction,
    ]),
    weekdayHours(
      '2009-03-23',
      'HKEx news release of 2009-03-12 (closing auction session suspended)',
      sessions('10:00', '12:30', '14:30'),
    ),
    weekdayHours(
      '2011-03-07',
      'HKEx news releases of 2010-11-23 and 2011-01-24 (new trading hours, first phase)',
      sessions('09:30', '12:00', '13:30'),
    ),
    weekdayHours(
      '2012-03-05',
      'HKEx news release of 2012-03-01 (new trading hours, second phase)',
      sessions('09:30', '12:00', '13:00'),
    ),
    weekdayHours('2016-07-25', 'HKEX, Closing Auction Session, first phase from 2016-07-25', [
      ...sessions('09:30', '12:00', '13:00'),
      auction,
    ]),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: 'The first day of January',
    HOLIDAY_LUNAR_NEW_YEAR: 'The first three days of the lunar year, and their substitutes',
    HOLIDAY_CHING_MING: 'Ching Ming Festival',
    HOLIDAY_GOOD_FRIDAY: 'Good Friday',
    HOLIDAY_EASTER_MONDAY: 'Easter Monday',
    HOLIDAY_BUDDHA_BIRTHDAY: 'The Birthday of the Buddha',
    HOLIDAY_LABOUR_DAY: 'Labour Day',
    HOLIDAY_TUEN_NG: 'Tuen Ng (Dragon Boat) Festival',
    HOLIDAY_ESTABLISHMENT_DAY: 'Hong Kong Special Administrative Region Establishment Day',
    HOLIDAY_MID_AUTUMN: 'The day after the Mid-Autumn Festival',
    HOLIDAY_NATIONAL_DAY: 'National Day',
    HOLIDAY_CHUNG_YEUNG: 'Chung Yeung Festival',
    HOLIDAY_CHRISTMAS: 'Christmas Day, and the first weekday after it',
    HOLIDAY_VICTORY_DAY: 'Seventy years after the victory over Japan',
    HOLIDAY_CHRISTMAS_EVE: 'Christmas Eve',
    HOLIDAY_NEW_YEAR_EVE: 'The last day of December',
    HOLIDAY_LUNAR_NEW_YEAR_EVE: 'The last day of the lunar year',
    HOLIDAY_WEATHER: 'Stopped by a typhoon or a black rainstorm',
  },
  holidays: [
    closed('GOOD_FRIDAY', 'Good Friday', { easter: -2 }),
    closed('EASTER_MONDAY', 'Easter Monday', { easter: 1 }),
    closed('LUNAR_NEW_YEAR', "Day before Lunar New Year's Day, for the second day, a Sunday", {
      dates: '2000-02-04 2003-01-31',
    }),
    closed('CHING_MING', 'Day after Ching Ming and Easter Monday', { dates: '2010-04-06' }),
    closed('MID_AUTUMN', 'Second day after the Mid-Autumn Festival, for National Day', {
      dates: '2012-10-02',
    }),
    closed('MID_AUTUMN', 'Day after the Mid-Autumn Festival', {
      dates: midAutumn,
      plus: 1,
      to: '2011-12-31',
    }),
    victoryDay('VICTORY_DAY', 'Seventieth anniversary of the victory over Japan', { dates: '2015-09-03' }),
    weather('Typhoon Utor', { dates: '2001-07-06' }),
    weather('Typhoon Yutu', { dates: '2001-07-25' }),
    weather('Severe Tropical Storm Kammuri', { dates: '2008-08-06' }),
    weather('Typhoon Nuri', { dates: '2008-08-22' }),
    weather('Typhoon Nesat', { dates: '2011-09-29' }),
    weather('Typhoon Utor', { dates: '2013-08-14' }),
    weather('Typhoon Nida', { dates: '2016-08-02' }),
    weather('Typhoon Haima', { dates: '2016-10-21' }),
    weather('Typhoon Hato', { dates: '2017-08-23' }),
    noticed('Tropical Storm Nangka', { dates: '2020-10-13' }),
    noticed('Typhoon Kompasu', { dates: '2021-10-13' }),
    noticed('Typhoon Talim', { dates: '2023-07-17' }),
    noticed('Super Typhoon Saola', { dates: '2023-09-01' }),
    noticed('Black rainstorm', { dates: '2023-09-08' }),
    noticed('Super Typhoon Yagi', { dates: '2024-09-06' }),
    noticed('Typhoon Fengshen', { dates: '2008-06-25', open: '14:30' }, 'HKEx news release of'),
    weather('Typhoon Koppu', { dates: '2009-09-15', open: '14:30' }),
    weather('Typhoon Vicente', { dates: '2012-07-24', open: '13:00' }),
    weather('Black rainstorm', { dates: '2013-05-22', open: '13:00' }),
    noticed('Typhoon Usagi', { dates: '2013-09-23', open: '13:00' }, 'HKEx market communication of'),
    noticed('Typhoon Kalmaegi', { dates: '2014-09-16', open: '13:00' }, 'HKEx market communication of'),
    noticed('Typhoon Higos', { dates: '2020-08-19', open: '13:30' }),
    noticed('Black rainstorm', { dates: '2021-06-28', open: '13:30' }, 'HKEX market communications of'),
    noticed('Severe Tropical Storm Ma-on', { dates: '2022-08-25', open: '13:00' }),
    noticed('Typhoon Koinu', { dates: '2023-10-09', open: '14:00' }),
    weather('Severe Tropical Storm Hagupit', { dates: '2002-09-11', close: '12:30' }),
    weather('Typhoon Dujuan', { dates: '2003-09-02', close: '12:30' }),
    weather('Tropical Storm Kompasu', { dates: '2004-07-16', close: '12:00' }),
    weather('Tropical Storm Pabuk', { dates: '2007-08-10', close: '14:45' }),
    noticed('Severe Tropical Storm Wipha', { dates: '2019-07-31', close: '13:55' }),
    noticed('Severe Tropical Storm Nalgae', { dates: '2022-11-02', close: '13:55' }),
    ...halfDay('LUNAR_NEW_YEAR_EVE', "Lunar New Year's Eve", { dates: lunarNewYear, plus: -1 }),
    ...halfDay('CHRISTMAS_EVE', 'Christmas Eve', { month: 12, day: 24 }),
    ...halfDay('NEW_YEAR_EVE', "New Year's Eve", { month: 12, day: 31 }),
    holiday('NEW_YEAR', 'The first day of January', { month: 1, day: 1 }),
    ...newYearDay("Lunar New Year's Day", 0),
    ...newYearDay('Second day of the lunar year', 1),
    ...newYearDay('Third day of the lunar year', 2),
    holiday('CHING_MING', 'Ching Ming Festival', { dates: chingMing }),
    holiday('BUDDHA_BIRTHDAY', 'Birthday of the Buddha', { dates: buddhasBirthday }),
    holiday('LABOUR_DAY', 'Labour Day', { month: 5, day: 1 }),
    holiday('TUEN_NG', 'Tuen Ng Festival', { dates: tuenNg }),
    holiday('ESTABLISHMENT_DAY', 'Establishment Day', { month: 7, day: 1 }),
    holiday('NATIONAL_DAY', 'National Day', { month: 10, day: 1 }),
    holidaySince2012('MID_AUTUMN', 'Day after the Mid-Autumn Festival', {
      dates: midAutumn,
      plus: 1,
      from: '2012-01-01',
    }),
    holiday('CHUNG_YEUNG', 'Chung Yeung Festival', { dates: chungYeung }),
    holiday('CHRISTMAS', 'Christmas Day', { month: 12, day: 25 }),
    holiday('CHRISTMAS', 'First weekday after Christmas Day', { month: 12, day: 26 }),
  ],
});
