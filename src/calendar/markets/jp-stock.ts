// Japanese stocks: Tokyo Stock Exchange.
import {
  type HolidayRule,
  type HolidayTerms,
  type Market,
  rulesFrom,
  type SegmentHours,
  weekdayHours,
} from '../market.ts';

const act = 'Act on National Holidays (Act No. 178 of 1948)';
const games = 'Act on Special Measures for the Tokyo 2020 Games (Act No. 33 of 2015)';
const succession = 'Act on Holidays for the Accession and the Enthronement (Act No. 99 of 2018)';
const equinoxes =
  'National Astronomical Observatory of Japan, Reki Yoko (calendar outline); later years calculated';
const tradingRules = 'TSE Business Regulations, trading hours and non-business days';

const closed = rulesFrom(act);

/** A holiday by law: one on a Sunday is made up for on the next day that is none (Article 3, paragraph 2). */
const holiday = (code: string, name: string, rule: HolidayTerms, source = act): HolidayRule =>
  closed(code, name, { ...rule, observed: 'sunday-to-weekday' }, source);

const halfDays = `${tradingRules}, until the half days ended with arrowhead in 2009`;
const morningOnly = (name: string, terms: HolidayTerms): HolidayRule =>
  closed('HALF_DAY', name, { ...terms, close: '11:00' }, halfDays);

const sessions = (morningClose: string, afternoonOpen: string, close: string): readonly SegmentHours[] => [
  ['regular', '09:00', morningClose],
  ['regular', afternoonOpen, close],
];

export const jpStock: Market = {
  key: 'JP_STOCK',
  assetSchema: 'stock',
  country: 'JP',
  zone: 'Asia/Tokyo',
  sessionTemplate: 'JP_STOCK_RTH',
  currency: 'JPY',
  exchange: 'XTKS',
  years: [2000, 2030],
  hours: [
    weekdayHours('1991-04-30', tradingRules, sessions('11:00', '12:30', '15:00')),
    weekdayHours(
      '2006-01-19',
      'TSE notice of 2006-01-18: afternoons begin late while orders exceed what the system holds',
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
    HOLIDAY_HALF_DAY: 'Mornings alone on the first and the last trading day of a year',
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
    closed('NEW_YEAR', "New Year's Day", { when: { month: 1, day: 1 } }),
    closed('NEW_YEAR', 'Second day of the year', { when: { month: 1, day: 2 } }, tradingRules),
    closed('NEW_YEAR', 'Third day of the year', { when: { month: 1, day: 3 } }, tradingRules),
    closed('YEAR_END', 'Last day of the year', { when: { month: 12, day: 31 } }, tradingRules),
    closed('COMING_OF_AGE_DAY', 'Coming of Age Day', { when: { month: 1, weekday: 1, nth: 2 } }),
    closed('MARINE_DAY', 'Marine Day', {
      when: { month: 7, weekday: 1, nth: 3 },
      from: '2003-01-01',
      to: '2019-12-31',
    }),
    closed('MARINE_DAY', 'Marine Day', { when: { dates: ['2020-07-23', '2021-07-22'] } }, games),
    closed('MARINE_DAY', 'Marine Day', { when: { month: 7, weekday: 1, nth: 3 }, from: '2022-01-01' }),
    closed('RESPECT_FOR_THE_AGED_DAY', 'Respect for the Aged Day', {
      when: { month: 9, weekday: 1, nth: 3 },
      from: '2003-01-01',
    }),
    closed('SPORTS_DAY', 'Health and Sports Day', {
      when: { month: 10, weekday: 1, nth: 2 },
      to: '2019-12-31',
    }),
    closed('SPORTS_DAY', 'Sports Day', { when: { dates: ['2020-07-24', '2021-07-23'] } }, games),
    closed('SPORTS_DAY', 'Sports Day', { when: { month: 10, weekday: 1, nth: 2 }, from: '2022-01-01' }),
    closed(
      'CITIZENS_HOLIDAY',
      "Citizens' holiday",
      { when: { month: 5, day: 4 }, to: '2006-12-31' },
      `${act}, Article 3, paragraph 3`,
    ),
    closed(
      'CITIZENS_HOLIDAY',
      "Citizens' holiday",
      { when: { dates: ['2009-09-22', '2015-09-22', '2019-04-30', '2019-05-02', '2026-09-22'] } },
      `${act}, Article 3, paragraph 3`,
    ),
    closed('IMPERIAL_SUCCESSION', 'Accession to the throne', { when: { dates: ['2019-05-01'] } }, succession),
    closed(
      'IMPERIAL_SUCCESSION',
      'Ceremony of enthronement',
      { when: { dates: ['2019-10-22'] } },
      succession,
    ),
    closed(
      'SYSTEM_FAILURE',
      'Failure of the trading system',
      { when: { dates: ['2020-10-01'] } },
      'JPX notices of 2020-10-01 and 2020-10-19',
    ),
    closed(
      'SYSTEM_FAILURE',
      'Failure of the trading system',
      { when: { dates: ['2005-11-01'] }, open: '13:30' },
      'TSE notices of 2005-11-01',
    ),
    closed(
      'SYSTEM_FAILURE',
      'More trades than the system holds',
      { when: { dates: ['2006-01-18'] }, close: '14:40' },
      'TSE notice of 2006-01-18',
    ),
    morningOnly('Last trading day of the year', {
      when: { month: 12, day: 30 },
      observed: 'weekend-to-friday',
      to: '2008-12-31',
    }),
    holiday('FOUNDATION_DAY', 'National Foundation Day', { when: { month: 2, day: 11 } }),
    holiday('EMPEROR_BIRTHDAY', "Emperor's birthday", {
      when: { month: 2, day: 23 },
      from: '2020-01-01',
    }),
    holiday(
      'VERNAL_EQUINOX',
      'Vernal Equinox Day',
      {
        when: {
          dates: [
            ...['2000-03-20', '2001-03-20', '2002-03-21', '2003-03-21', '2004-03-20', '2005-03-20'],
            ...['2006-03-21', '2007-03-21', '2008-03-20', '2009-03-20', '2010-03-21', '2011-03-21'],
            ...['2012-03-20', '2013-03-20', '2014-03-21', '2015-03-21', '2016-03-20', '2017-03-20'],
            ...['2018-03-21', '2019-03-21', '2020-03-20', '2021-03-20', '2022-03-21', '2023-03-21'],
            ...['2024-03-20', '2025-03-20', '2026-03-20', '2027-03-21', '2028-03-20', '2029-03-20'],
            '2030-03-20',
          ],
        },
      },
      equinoxes,
    ),
    holiday('GREENERY_DAY', 'Greenery Day', { when: { month: 4, day: 29 }, to: '2006-12-31' }),
    holiday('SHOWA_DAY', 'Showa Day', { when: { month: 4, day: 29 }, from: '2007-01-01' }),
    holiday('CONSTITUTION_DAY', 'Constitution Memorial Day', { when: { month: 5, day: 3 } }),
    holiday('GREENERY_DAY', 'Greenery Day', { when: { month: 5, day: 4 }, from: '2007-01-01' }),
    holiday('CHILDREN_DAY', "Children's Day", { when: { month: 5, day: 5 } }),
    holiday('MARINE_DAY', 'Marine Day', { when: { month: 7, day: 20 }, to: '2002-12-31' }),
    holiday('MOUNTAIN_DAY', 'Mountain Day', {
      when: { month: 8, day: 11 },
      from: '2016-01-01',
      to: '2019-12-31',
    }),
    holiday('MOUNTAIN_DAY', 'Mountain Day', { when: { dates: ['2020-08-10', '2021-08-08'] } }, games),
    holiday('MOUNTAIN_DAY', 'Mountain Day', { when: { month: 8, day: 11 }, from: '2022-01-01' }),
    holiday('RESPECT_FOR_THE_AGED_DAY', 'Respect for the Aged Day', {
      when: { month: 9, day: 15 },
      to: '2002-12-31',
    }),
    holiday(
      'AUTUMNAL_EQUINOX',
      'Autumnal Equinox Day',
      {
        when: {
          dates: [
            ...['2000-09-23', '2001-09-23', '2002-09-23', '2003-09-23', '2004-09-23', '2005-09-23'],
            ...['2006-09-23', '2007-09-23', '2008-09-23', '2009-09-23', '2010-09-23', '2011-09-23'],
            ...['2012-09-22', '2013-09-23', '2014-09-23', '2015-09-23', '2016-09-22', '2017-09-23'],
            ...['2018-09-23', '2019-09-23', '2020-09-22', '2021-09-23', '2022-09-23', '2023-09-23'],
            ...['2024-09-22', '2025-09-23', '2026-09-23', '2027-09-23', '2028-09-22', '2029-09-23'],
            '2030-09-23',
          ],
        },
      },
      equinoxes,
    ),
    holiday('CULTURE_DAY', 'Culture Day', { when: { month: 11, day: 3 } }),
    holiday('LABOR_THANKSGIVING_DAY', 'Labor Thanksgiving Day', { when: { month: 11, day: 23 } }),
    holiday('EMPEROR_BIRTHDAY', "Emperor's birthday", {
      when: { month: 12, day: 23 },
      to: '2018-12-31',
    }),
    morningOnly('First trading day of the year', {
      when: { month: 1, day: 4 },
      observed: 'weekend-to-weekday',
      to: '2009-12-31',
    }),
  ],
};
