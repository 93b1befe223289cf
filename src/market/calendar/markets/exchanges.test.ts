// London, Toronto, Sydney, Zurich: their days and hours from 2000 to 2030, by the exchanges' notices and
// schedules worked out by others (contract 3.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDay } from '../../../base/instant.ts';
import { calendarOf } from '../calendar.ts';
import { dayOfText } from '../rules.ts';
import type { Session } from '../session.ts';

const iso = (ms: number): string => new Date(ms).toISOString().replace(':00.000Z', 'Z');
const words = (text: string): string[] => text.trim().split(/\s+/).filter(Boolean);

const sessionsOf = (country: string, from: string, to: string): Session[] =>
  calendarOf('stock', country).sessions(dayOfText(from), dayOfText(to));
const sessionOn = (country: string, date: string): Session | undefined =>
  calendarOf('stock', country).sessions(dayOfText(date), dayOfText(date) + 1)[0];
/** Open and close of each regular segment. */
const hoursOn = (country: string, date: string): string =>
  (sessionOn(country, date)?.segments ?? [])
    .filter(({ kind }) => kind === 'regular')
    .map(({ openMs, closeMs }) => `${iso(openMs)} ${iso(closeMs)}`)
    .join(' ');

type Facts = {
  /** Sessions of each year from 2000 to 2030. */
  readonly totals: string;
  /** Every early close from 2000 to 2026. */
  readonly earlyCloses: string;
  /** Weekdays closed for a single occasion, or for a holiday that moved. */
  readonly closed: string;
  /** Weekdays that a careless rule would close or shorten. */
  readonly open: string;
  /** Hours in UTC around changes of the clock. */
  readonly hours: readonly [date: string, hours: string][];
};

const facts: Readonly<Record<string, Facts>> = {
  UK: {
    totals: `
      252 253 252 253 254 252 252 253 254 253 253 251 252 253 253 253 253 252 253 253 254 253 250 251 254 253 253 253 252
      253 253`,
    earlyCloses: `
      2000-12-22 2000-12-29 2001-12-24 2001-12-31 2002-12-24 2002-12-31 2003-12-24 2003-12-31 2004-12-24 2004-12-31
      2005-12-23 2005-12-30 2006-12-22 2006-12-29 2007-12-24 2007-12-31 2008-12-24 2008-12-31 2009-12-24 2009-12-31
      2010-12-24 2010-12-31 2011-12-23 2011-12-30 2012-12-24 2012-12-31 2013-12-24 2013-12-31 2014-12-24 2014-12-31
      2015-12-24 2015-12-31 2016-12-23 2016-12-30 2017-12-22 2017-12-29 2018-12-24 2018-12-31 2019-12-24 2019-12-31
      2020-12-24 2020-12-31 2021-12-24 2021-12-31 2022-12-23 2022-12-30 2023-12-22 2023-12-29 2024-12-24 2024-12-31
      2025-12-24 2025-12-31 2026-12-24 2026-12-31`,
    closed: `
      2000-01-03 2002-06-03 2002-06-04 2004-12-27 2004-12-28 2005-12-26 2005-12-27 2010-12-27 2010-12-28 2011-01-03
      2011-04-29 2012-06-04 2012-06-05 2020-05-08 2021-12-27 2021-12-28 2022-06-02 2022-06-03 2022-09-19 2022-12-26
      2022-12-27 2023-05-08`,
    open: '2002-05-27 2012-05-28 2020-05-04 2022-05-30 2022-12-28 2024-01-02 2024-05-01',
    hours: [
      ['2024-03-28', '2024-03-28T08:00Z 2024-03-28T16:30Z'],
      ['2024-04-02', '2024-04-02T07:00Z 2024-04-02T15:30Z'],
      ['2024-10-25', '2024-10-25T07:00Z 2024-10-25T15:30Z'],
      ['2024-10-28', '2024-10-28T08:00Z 2024-10-28T16:30Z'],
      ['2024-12-24', '2024-12-24T08:00Z 2024-12-24T12:30Z'],
    ],
  },
  CA: {
    totals: `
      251 250 252 252 253 251 251 252 252 251 251 250 251 251 251 251 251 250 251 251 252 251 250 250 252 251 251 251 250
      251 251`,
    earlyCloses: `
      2010-12-24 2012-12-24 2013-12-24 2014-12-24 2015-12-24 2018-12-24 2019-12-24 2020-12-24 2021-12-24 2024-12-24
      2025-12-24 2026-12-24`,
    closed: `
      2000-01-03 2001-09-11 2001-09-12 2000-05-22 2004-12-27 2004-12-28 2005-12-26 2005-12-27 2006-07-03 2007-07-02
      2008-02-18 2010-05-24 2011-05-23 2012-01-02 2017-07-03 2021-12-27 2021-12-28 2022-01-03 2022-12-26 2022-12-27`,
    open: '2001-09-10 2001-09-13 2007-02-19 2009-12-24 2011-12-23 2016-12-23 2021-09-30 2022-09-19 2024-11-11',
    hours: [
      ['2006-03-31', '2006-03-31T14:30Z 2006-03-31T21:00Z'],
      ['2006-04-03', '2006-04-03T13:30Z 2006-04-03T20:00Z'],
      ['2024-03-08', '2024-03-08T14:30Z 2024-03-08T21:00Z'],
      ['2024-03-11', '2024-03-11T13:30Z 2024-03-11T20:00Z'],
      ['2024-12-24', '2024-12-24T14:30Z 2024-12-24T18:00Z'],
    ],
  },
  AU: {
    totals: `
      252 253 253 253 255 252 252 253 254 254 253 252 253 253 253 254 253 252 253 253 255 254 251 252 254 253 254 254 252
      253 253`,
    earlyCloses: `
      2010-12-24 2010-12-31 2011-12-23 2011-12-30 2012-12-24 2012-12-31 2013-12-24 2013-12-31 2014-12-24 2014-12-31
      2015-12-24 2015-12-31 2016-12-23 2016-12-30 2017-12-22 2017-12-29 2018-12-24 2018-12-31 2019-12-24 2019-12-31
      2020-12-24 2020-12-31 2021-12-24 2021-12-31 2023-12-22 2023-12-29 2024-12-24 2024-12-31 2025-12-24 2025-12-31
      2026-12-24 2026-12-31`,
    closed: `
      2000-01-03 2000-04-25 2002-01-28 2003-01-27 2008-01-28 2010-04-26 2011-04-25 2011-04-26 2011-12-26 2011-12-27
      2017-01-02 2021-12-27 2021-12-28 2022-01-03 2022-09-22 2022-12-26 2022-12-27`,
    open: `
      2004-04-26 2009-04-27 2009-12-24 2009-12-31 2015-04-27 2020-04-27 2021-04-26 2022-12-23 2022-12-30 2026-04-27`,
    hours: [
      // Summer time began early for the Olympic Games of 2000 and ended late for the Commonwealth Games of
      // 2006.
      ['2000-08-28', '2000-08-27T23:00Z 2000-08-28T05:00Z'],
      ['2006-03-31', '2006-03-30T23:00Z 2006-03-31T05:00Z'],
      ['2006-04-03', '2006-04-03T00:00Z 2006-04-03T06:00Z'],
      ['2024-04-05', '2024-04-04T23:00Z 2024-04-05T05:00Z'],
      ['2024-04-08', '2024-04-08T00:00Z 2024-04-08T06:00Z'],
      ['2024-10-07', '2024-10-06T23:00Z 2024-10-07T05:00Z'],
      ['2024-12-24', '2024-12-23T23:00Z 2024-12-24T03:10Z'],
    ],
  },
  CH: {
    totals: `
      252 249 249 249 254 254 251 249 251 251 254 254 250 249 249 251 254 251 249 249 252 254 254 251 250 249 251 254 252
      249 249`,
    earlyCloses: '',
    closed:
      '2000-06-01 2000-06-12 2003-01-02 2008-05-01 2019-12-24 2019-12-31 2023-01-02 2024-08-01 2030-12-31',
    open: '2000-01-03 2011-12-27 2016-01-04 2020-12-28 2021-12-27 2022-01-03 2022-12-23 2022-12-30 2023-06-08',
    hours: [
      ['2024-03-28', '2024-03-28T08:00Z 2024-03-28T16:30Z'],
      ['2024-04-02', '2024-04-02T07:00Z 2024-04-02T15:30Z'],
      ['2024-10-28', '2024-10-28T08:00Z 2024-10-28T16:30Z'],
      ['2024-12-30', '2024-12-30T08:00Z 2024-12-30T16:30Z'],
    ],
  },
};

for (const [country, { totals, earlyCloses, closed, open, hours }] of Object.entries(facts)) {
  test(`${country} has its number of sessions in every year from 2000 to 2030 (contract 3.4)`, () => {
    const found = Array.from(
      { length: 31 },
      (_, index) => sessionsOf(country, `${2000 + index}-01-01`, `${2001 + index}-01-01`).length,
    );
    assert.deepEqual(found.map(String), words(totals));
  });

  test(`${country} closes early from 2000 to 2026 where the exchange did or will, and never opens late (contract 3.4)`, () => {
    const shortened = sessionsOf(country, '2000-01-01', '2027-01-01').filter(
      ({ template }) => template !== 'REGULAR',
    );
    assert.ok(shortened.every(({ template }) => template === 'EARLY_CLOSE'));
    assert.deepEqual(
      shortened.map(({ day }) => formatDay(day)),
      words(earlyCloses),
    );
  });

  test(`${country} is closed for single occasions and moved holidays, and whole on the days beside them (contract 3.4)`, () => {
    for (const date of words(closed)) assert.equal(sessionOn(country, date), undefined, date);
    for (const date of words(open)) assert.equal(sessionOn(country, date)?.template, 'REGULAR', date);
  });

  test(`${country} opens and closes at the same local time on both sides of a change of the clock (contract 3.3)`, () => {
    for (const [date, expected] of hours) assert.equal(hoursOn(country, date), expected);
  });
}
