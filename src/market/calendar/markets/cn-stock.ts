// Stocks of mainland China: Shanghai Stock Exchange; Shenzhen keeps the same days and hours.
import { rulesFrom, stockMarket, weekdayHours } from '../market.ts';

const closed = rulesFrom(
  "General Office of the State Council, yearly notice on holidays; the exchange's yearly notice of closings",
);

const sars = 'SSE notice of 2003-04-29 (longer closing because of SARS)';
const longerMay2003 = rulesFrom(sars, { announced: '2003-04-29' });
// We found no notice of the exchange: it counts as announced on the day after that of the State Council.
const shorterMay2003 = rulesFrom(
  'General Office of the State Council, notice of 2003-04-21 (shorter holidays because of SARS)',
  { announced: '2003-04-22' },
);
const victoryDay = rulesFrom('State Council, notice of 2015-05-13', { announced: '2015-05-13' });
const longerMay2019 = rulesFrom('General Office of the State Council, notice of 2019-03-22', {
  announced: '2019-03-22',
});
const longerSpring2020 = rulesFrom('SSE Announcement [2020] No. 6 of 2020-01-27 (COVID-19)', {
  announced: '2020-01-27',
});

const newYear = `
  2000-01-03 2001-01-01 2002-01-01/2002-01-03 2003-01-01 2004-01-01 2005-01-03 2006-01-02/2006-01-03
  2007-01-01/2007-01-03 2007-12-31/2008-01-01 2009-01-01/2009-01-02 2010-01-01 2011-01-03
  2012-01-02/2012-01-03 2013-01-01/2013-01-03 2014-01-01 2015-01-01/2015-01-02 2016-01-01 2017-01-02
  2018-01-01 2018-12-31/2019-01-01 2020-01-01 2021-01-01 2022-01-03 2023-01-02 2024-01-01 2025-01-01
  2026-01-01/2026-01-02`;
const springFestival = `
  2000-01-31/2000-02-11 2001-01-22/2001-02-02 2002-02-11/2002-02-22 2003-01-30/2003-02-07
  2004-01-19/2004-01-28 2005-02-07/2005-02-15 2006-01-26/2006-02-03 2007-02-19/2007-02-23
  2008-02-06/2008-02-12 2009-01-26/2009-01-30 2010-02-15/2010-02-19 2011-02-02/2011-02-08
  2012-01-23/2012-01-27 2013-02-11/2013-02-15 2014-01-31/2014-02-06 2015-02-18/2015-02-24
  2016-02-08/2016-02-12 2017-01-27/2017-02-02 2018-02-15/2018-02-21 2019-02-04/2019-02-08
  2020-01-24/2020-01-30 2021-02-11/2021-02-17 2022-01-31/2022-02-04 2023-01-23/2023-01-27
  2024-02-09/2024-02-16 2025-01-28/2025-02-04 2026-02-16/2026-02-23`;
const qingming = `
  2008-04-04 2009-04-06 2010-04-05 2011-04-04/2011-04-05 2012-04-02/2012-04-04 2013-04-04/2013-04-05
  2014-04-07 2015-04-06 2016-04-04 2017-04-03/2017-04-04 2018-04-05/2018-04-06 2019-04-05 2020-04-06
  2021-04-05 2022-04-04/2022-04-05 2023-04-05 2024-04-04/2024-04-05 2025-04-04 2026-04-06`;
const labourDay = `
  2000-05-01/2000-05-05 2001-05-01/2001-05-07 2002-05-01/2002-05-07 2003-05-01/2003-05-07
  2004-05-03/2004-05-07 2005-05-02/2005-05-06 2006-05-01/2006-05-05 2007-05-01/2007-05-07
  2008-05-01/2008-05-02 2009-05-01 2010-05-03 2011-05-02 2012-04-30/2012-05-01 2013-04-29/2013-05-01
  2014-05-01/2014-05-02 2015-05-01 2016-05-02 2017-05-01 2018-04-30/2018-05-01 2019-05-01
  2020-05-01/2020-05-05 2021-05-03/2021-05-05 2022-05-02/2022-05-04 2023-05-01/2023-05-03
  2024-05-01/2024-05-03 2025-05-01/2025-05-05 2026-05-01/2026-05-05`;
const dragonBoat = `
  2008-06-09 2009-05-28/2009-05-29 2010-06-14/2010-06-16 2011-06-06 2012-06-22 2013-06-10/2013-06-12
  2014-06-02 2015-06-22 2016-06-09/2016-06-10 2017-05-29/2017-05-30 2018-06-18 2019-06-07
  2020-06-25/2020-06-26 2021-06-14 2022-06-03 2023-06-22/2023-06-23 2024-06-10 2025-06-02 2026-06-19`;
const midAutumn = `
  2008-09-15 2010-09-22/2010-09-24 2011-09-12 2013-09-19/2013-09-20 2014-09-08 2016-09-15/2016-09-16
  2018-09-24 2019-09-13 2021-09-20/2021-09-21 2022-09-12 2023-09-29 2024-09-16/2024-09-17 2026-09-25`;
const nationalDay = `
  2000-10-02/2000-10-06 2001-10-01/2001-10-05 2002-09-30/2002-10-07 2003-10-01/2003-10-07
  2004-10-01/2004-10-07 2005-10-03/2005-10-07 2006-10-02/2006-10-06 2007-10-01/2007-10-05
  2008-09-29/2008-10-03 2009-10-01/2009-10-08 2010-10-01/2010-10-07 2011-10-03/2011-10-07
  2012-10-01/2012-10-05 2013-10-01/2013-10-07 2014-10-01/2014-10-07 2015-10-01/2015-10-07
  2016-10-03/2016-10-07 2017-10-02/2017-10-06 2018-10-01/2018-10-05 2019-10-01/2019-10-07
  2020-10-01/2020-10-08 2021-10-01/2021-10-07 2022-10-03/2022-10-07 2023-10-02/2023-10-06
  2024-10-01/2024-10-07 2025-10-01/2025-10-08 2026-10-01/2026-10-07`;

export const cnStock = stockMarket('CN', {
  zone: 'Asia/Shanghai',
  currency: 'CNY',
  exchange: 'XSHG',
  // The list of the year after is announced late in the year.
  years: [2000, 2026],
  hours: [
    weekdayHours('2000-01-01', 'SSE Trading Rules, trading hours', [
      ['regular', '09:30', '11:30'],
      ['regular', '13:00', '15:00'],
    ]),
    // The call of the closing auction, from 14:57, stays within regular hours: nothing trades in it. Its
    // trades print at 15:00.
    weekdayHours(
      '2006-07-01',
      'SZSE Trading Rules of 2006-05-15: closing call auction from 2006-07-01; SSE news release: the same from 2018-08-20',
      [
        ['regular', '09:30', '11:30'],
        ['regular', '13:00', '15:00'],
        ['auction', '15:00', '15:01'],
      ],
    ),
  ],
  codes: {
    HOLIDAY_NEW_YEAR: "New Year's Day",
    HOLIDAY_SPRING_FESTIVAL: 'Spring Festival (the lunar New Year)',
    HOLIDAY_QINGMING: 'Qingming Festival',
    HOLIDAY_LABOUR_DAY: 'Labour Day',
    HOLIDAY_DRAGON_BOAT: 'Dragon Boat Festival',
    HOLIDAY_VICTORY_DAY: 'Seventy years after the victory over Japan',
    HOLIDAY_MID_AUTUMN: 'Mid-Autumn Festival',
    HOLIDAY_NATIONAL_DAY: 'National Day, and the Mid-Autumn Festival where the two are one holiday',
  },
  holidays: [
    closed('NEW_YEAR', "New Year's Day", { dates: newYear }),
    closed('SPRING_FESTIVAL', 'Spring Festival', { dates: springFestival }),
    longerSpring2020('SPRING_FESTIVAL', 'Spring Festival', { dates: '2020-01-31' }),
    longerMay2003('LABOUR_DAY', 'Labour Day', { dates: '2003-05-06/2003-05-09' }),
    shorterMay2003('LABOUR_DAY', 'Labour Day', { dates: '2003-05-06 2003-05-07', regular: true }),
    longerMay2019('LABOUR_DAY', 'Labour Day', { dates: '2019-05-02 2019-05-03' }),
    closed('QINGMING', 'Qingming Festival', { dates: qingming }),
    closed('LABOUR_DAY', 'Labour Day', { dates: labourDay }),
    closed('DRAGON_BOAT', 'Dragon Boat Festival', { dates: dragonBoat }),
    victoryDay('VICTORY_DAY', 'Seventieth anniversary of the victory over Japan', {
      dates: '2015-09-03/2015-09-04',
    }),
    closed('MID_AUTUMN', 'Mid-Autumn Festival', { dates: midAutumn }),
    closed('NATIONAL_DAY', 'National Day', { dates: nationalDay }),
  ],
});
