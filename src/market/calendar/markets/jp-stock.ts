// Japanese stocks: Tokyo Stock Exchange.
import { type Clock, moved, rulesFrom, type SegmentHours, stockMarket, weekdayHours } from '../market.ts';

const act = 'Act on National Holidays (Act No. 178 of 1948)';
const equinoxes =
  'National Astronomical Observatory of Japan, Reki Yoko (calendar outline); later years calculated';
const tradingRules = 'TSE Business Regulations, trading hours and non-business days';
const halfDays = `${tradingRules}, until the half days ended with arrowhead in 2009`;

/** Article 3, paragraph 2 of the act: a holiday on a Sunday is observed on the next day without a holiday. */
const substitute = { observed: 'sunday-to-weekday' } as const;

const closed = rulesFrom(act);
const holiday = rulesFrom(act, substitute);
const betweenHolidays = rulesFrom(`${act}, Article 3, paragraph 3`);
const equinox = rulesFrom(equinoxes, substitute);
const games = 'Act on Special Measures for the Tokyo 2020 Games (Act No. 33 of 2015)';
const forGames2020 = rulesFrom(`${games}, amendment promulgated on 2018-06-20`, {
  ...substitute,
  announced: '2018-06-20',
});
const forGames2021 = rulesFrom(`${games}, amendment promulgated on 2020-12-04`, {
  ...substitute,
  announced: '2020-12-04',
});
const forSuccession = rulesFrom(
  'Act on Holidays for the Accession and the Enthronement (Act No. 99 of 2018), promulgated on 2018-12-14',
  { announced: '2018-12-14' },
);
const exchangeRule = rulesFrom(tradingRules);
const morningOnly = rulesFrom(halfDays, { close: '11:00' });
const notice2006 = rulesFrom('TSE notice of 2006-01-18', { announced: '2006-01-18' });
const notices2005 = rulesFrom('TSE notices of 2005-11-01', { announced: '2005-11-01' });
const notices2020 = rulesFrom('JPX notices of 2020-10-01 and 2020-10-19', { announced: '2020-10-01' });

const vernal = `
  2000-03-20 2001-03-20 2002-03-21 2003-03-21 2004-03-20 2005-03-20 2006-03-21 2007-03-21 2008-03-20
  2009-03-20 2010-03-21 2011-03-21 2012-03-20 2013-03-20 2014-03-21 2015-03-21 2016-03-20 2017-03-20
  2018-03-21 2019-03-21 2020-03-20 2021-03-20 2022-03-21 2023-03-21 2024-03-20 2025-03-20 2026-03-20
  2027-03-21 2028-03-20 2029-03-20 2030-03-20`;
const autumnal = `
  2000-09-23 2001-09-23 2002-09-23 2003-09-23 2004-09-23 2005-09-23 2006-09-23 2007-09-23 2008-09-23
  2009-09-23 2010-09-23 2011-09-23 2012-09-22 2013-09-23 2014-09-23 2015-09-23 2016-09-22 2017-09-23
  2018-09-23 2019-09-23 2020-09-22 2021-09-23 2022-09-23 2023-09-23 2024-09-22 2025-09-23 2026-09-23
  2027-09-23 2028-09-22 2029-09-23 2030-09-23`;

/**
 * One half of a day. It ends with an auction (itayose) of the orders that are left, which prints in the
 * minute of the close: TSE, Guide to TSE Trading Methodology. The Closing Auction since 2024-11-05 has a call
 * of 5 minutes before it. That stays within regular hours: nothing trades in it.
 */
const half = (open: Clock, close: Clock): readonly SegmentHours[] => [
  ['regular', open, close],
  ['auction', close, `${close.slice(0, -1)}1`],
];

const sessions = (morningClose: Clock, afternoonOpen: Clock, close: Clock): readonly SegmentHours[] => [
  ...half('09:00', morningClose),
  ...half(afternoonOpen, close),
];

export const jpStock = stockMarket('JP', {
  zone: 'Asia/Tokyo',
  currency: 'JPY',
  exchange: 'XTKS',
  years: [2000, 2030],
  hours: [
    weekdayHours('1991-04-30', tradingRules, sessions('11:00', '12:30', '15:00')),
    weekdayHours(
      '2006-01-19',
      'TSE notice of 2006-01-18: afternoons begin late while orders exceed the capacity of the system',
      sessions('11:00', '13:00', '15:00'),
    ),
    weekdayHours('2006-04-24', 'TSE notice of 2006-04-20', sessions('11:00', '12:30', '15:00')),
    weekdayHours(
      '2011-11-21',
      'TSE notice of 2011-06-21: mornings end half an hour later',
      sessions('11:30', '12:30', '15:00'),
    ),
    weekdayHours(
      '2024-11-05',
      'JPX notice of 2023-04-21 (arrowhead 4.0): the close is half an hour later',
      sessions('11:30', '12:30', '15:30'),
    ),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day, and the two days after it",
    HOLIDAY_YEAR_END: 'The last day of the year',
    HOLIDAY_HALF_DAY: 'Only mornings on the first and the last trading day of a year',
    HOLIDAY_COMING_OF_AGE_DAY: 'Coming of Age Day',
    HOLIDAY_FOUNDATION_DAY: 'National Foundation Day',
    HOLIDAY_EMPEROR_BIRTHDAY: "The Emperor's birthday",
    HOLIDAY_VERNAL_EQUINOX: 'Vernal Equinox Day',
    HOLIDAY_SHOWA_DAY: 'Showa Day',
    HOLIDAY_CONSTITUTION_DAY: 'Constitution Memorial Day',
    HOLIDAY_GREENERY_DAY: 'Greenery Day',
    HOLIDAY_CHILDREN_DAY: "Children's Day",
    HOLIDAY_MARINE_DAY: 'Marine Day',
    HOLIDAY_MOUNTAIN_DAY: 'Mountain Day',
    HOLIDAY_RESPECT_FOR_THE_AGED_DAY: 'Respect for the Aged Day',
    HOLIDAY_AUTUMNAL_EQUINOX: 'Autumnal Equinox Day',
    HOLIDAY_SPORTS_DAY: 'Sports Day, until 2019 Health and Sports Day',
    HOLIDAY_CULTURE_DAY: 'Culture Day',
    HOLIDAY_LABOR_THANKSGIVING_DAY: 'Labor Thanksgiving Day',
    HOLIDAY_CITIZENS_HOLIDAY: 'A day between two holidays',
    HOLIDAY_IMPERIAL_SUCCESSION: 'Accession and enthronement of the Emperor in 2019',
    HOLIDAY_SYSTEM_FAILURE: 'Stopped by a failure or the limits of the trading system',
  },
  holidays: [
    closed('NEW_YEAR', "New Year's Day", { month: 1, day: 1 }),
    exchangeRule('NEW_YEAR', 'Second day of the year', { month: 1, day: 2 }),
    exchangeRule('NEW_YEAR', 'Third day of the year', { month: 1, day: 3 }),
    exchangeRule('YEAR_END', 'Last day of the year', { month: 12, day: 31 }),
    closed('COMING_OF_AGE_DAY', 'Coming of Age Day', { month: 1, weekday: 1, nth: 2 }),
    ...moved(forGames2020, 'MARINE_DAY', 'Marine Day', '2020-07-20', '2020-07-23'),
    ...moved(forGames2021, 'MARINE_DAY', 'Marine Day', '2021-07-19', '2021-07-22'),
    closed('MARINE_DAY', 'Marine Day', { month: 7, weekday: 1, nth: 3, from: '2003-01-01' }),
    closed('RESPECT_FOR_THE_AGED_DAY', 'Respect for the Aged Day', {
      month: 9,
      weekday: 1,
      nth: 3,
      from: '2003-01-01',
    }),
    closed('SPORTS_DAY', 'Health and Sports Day', { month: 10, weekday: 1, nth: 2, to: '2019-12-31' }),
    ...moved(forGames2020, 'SPORTS_DAY', 'Sports Day', '2020-10-12', '2020-07-24'),
    ...moved(forGames2021, 'SPORTS_DAY', 'Sports Day', '2021-10-11', '2021-07-23'),
    closed('SPORTS_DAY', 'Sports Day', { month: 10, weekday: 1, nth: 2, from: '2020-01-01' }),
    betweenHolidays('CITIZENS_HOLIDAY', "Citizens' holiday", { month: 5, day: 4, to: '2006-12-31' }),
    betweenHolidays('CITIZENS_HOLIDAY', "Citizens' holiday", { dates: '2009-09-22 2015-09-22 2026-09-22' }),
    forSuccession('CITIZENS_HOLIDAY', "Citizens' holiday", { dates: '2019-04-30 2019-05-02' }),
    forSuccession('IMPERIAL_SUCCESSION', 'Accession to the throne', { dates: '2019-05-01' }),
    forSuccession('IMPERIAL_SUCCESSION', 'Ceremony of enthronement', { dates: '2019-10-22' }),
    notices2020('SYSTEM_FAILURE', 'Failure of the trading system', { dates: '2020-10-01' }),
    notices2005('SYSTEM_FAILURE', 'Failure of the trading system', { dates: '2005-11-01', open: '13:30' }),
    notice2006('SYSTEM_FAILURE', 'More trades than the system holds', {
      dates: '2006-01-18',
      close: '14:40',
    }),
    morningOnly('HALF_DAY', 'Last trading day of the year', {
      month: 12,
      day: 30,
      observed: 'weekend-to-friday',
      to: '2008-12-31',
    }),
    holiday('FOUNDATION_DAY', 'National Foundation Day', { month: 2, day: 11 }),
    holiday('EMPEROR_BIRTHDAY', "Emperor's birthday", { month: 2, day: 23, from: '2020-01-01' }),
    equinox('VERNAL_EQUINOX', 'Vernal Equinox Day', { dates: vernal }),
    holiday('GREENERY_DAY', 'Greenery Day', { month: 4, day: 29, to: '2006-12-31' }),
    holiday('SHOWA_DAY', 'Showa Day', { month: 4, day: 29, from: '2007-01-01' }),
    holiday('CONSTITUTION_DAY', 'Constitution Memorial Day', { month: 5, day: 3 }),
    holiday('GREENERY_DAY', 'Greenery Day', { month: 5, day: 4, from: '2007-01-01' }),
    holiday('CHILDREN_DAY', "Children's Day", { month: 5, day: 5 }),
    holiday('MARINE_DAY', 'Marine Day', { month: 7, day: 20, to: '2002-12-31' }),
    ...moved(forGames2020, 'MOUNTAIN_DAY', 'Mountain Day', '2020-08-11', '2020-08-10'),
    ...moved(forGames2021, 'MOUNTAIN_DAY', 'Mountain Day', '2021-08-11', '2021-08-08'),
    holiday('MOUNTAIN_DAY', 'Mountain Day', { month: 8, day: 11, from: '2016-01-01' }),
    holiday('RESPECT_FOR_THE_AGED_DAY', 'Respect for the Aged Day', { month: 9, day: 15, to: '2002-12-31' }),
    equinox('AUTUMNAL_EQUINOX', 'Autumnal Equinox Day', { dates: autumnal }),
    holiday('CULTURE_DAY', 'Culture Day', { month: 11, day: 3 }),
    holiday('LABOR_THANKSGIVING_DAY', 'Labor Thanksgiving Day', { month: 11, day: 23 }),
    holiday('EMPEROR_BIRTHDAY', "Emperor's birthday", { month: 12, day: 23, to: '2018-12-31' }),
    morningOnly('HALF_DAY', 'First trading day of the year', {
      month: 1,
      day: 4,
      observed: 'weekend-to-weekday',
      to: '2009-12-31',
    }),
  ],
});
