// US stocks: days, hours and exceptions of the New York Stock Exchange (contract 3.3, 3.4), from its
// published calendars.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDay, weekdayOf } from '../../../base/instant.ts';
import { calendarOf } from '../calendar.ts';
import { dayOfText } from '../rules.ts';
import type { Session } from '../session.ts';

const calendar = calendarOf('stock', 'US');
const yearOf = (year: number): Session[] =>
  calendar.sessions(dayOfText(`${year}-01-01`), dayOfText(`${year + 1}-01-01`));
const sessionOn = (date: string): Session | null => {
  const session = calendar.sessionOnOrBefore(dayOfText(date));
  return session?.day === dayOfText(date) ? session : null;
};
const dates = (text: string): string[] => text.trim().split(/\s+/);
const iso = (ms: number): string => new Date(ms).toISOString().replace(':00.000Z', 'Z');
const segmentsOn = (date: string): string[] =>
  sessionOn(date)?.segments.map(({ kind, openMs, closeMs }) => `${kind} ${iso(openMs)} ${iso(closeMs)}`) ??
  [];

const totals = `
  2000:252 2001:248 2002:252 2003:252 2004:252 2005:252 2006:251 2007:251 2008:253 2009:252 2010:252 2011:252 2012:250
  2013:252 2014:252 2015:252 2016:252 2017:251 2018:251 2019:252 2020:253 2021:252 2022:251 2023:250 2024:252 2025:250
  2026:251 2027:251 2028:251 2029:251 2030:251`;
test('every year from 2000 to 2030 has its number of sessions (contract 3.4)', () => {
  const found = Array.from({ length: 31 }, (_, index) => `${2000 + index}:${yearOf(2000 + index).length}`);
  assert.deepEqual(found, dates(totals));
});

const earlyCloses = `
  2000-07-03 2000-11-24 2001-07-03 2001-11-23 2001-12-24 2002-07-05 2002-11-29 2002-12-24 2003-07-03 2003-11-28
  2003-12-24 2003-12-26 2004-11-26 2005-11-25 2006-07-03 2006-11-24 2007-07-03 2007-11-23 2007-12-24 2008-07-03
  2008-11-28 2008-12-24 2009-11-27 2009-12-24 2010-11-26 2011-11-25 2012-07-03 2012-11-23 2012-12-24 2013-07-03
  2013-11-29 2013-12-24 2014-07-03 2014-11-28 2014-12-24 2015-11-27 2015-12-24 2016-11-25 2017-07-03 2017-11-24
  2018-07-03 2018-11-23 2018-12-24 2019-07-03 2019-11-29 2019-12-24 2020-11-27 2020-12-24 2021-11-26 2022-11-25
  2023-07-03 2023-11-24 2024-07-03 2024-11-29 2024-12-24 2025-07-03 2025-11-28 2025-12-24 2026-11-27 2026-12-24`;
test('the early closes from 2000 to 2026 are those that the exchange had or has announced (contract 3.4)', () => {
  const found = calendar
    .sessions(dayOfText('2000-01-01'), dayOfText('2027-01-01'))
    .filter((session) => session.template === 'EARLY_CLOSE');
  assert.deepEqual(
    found.map((session) => formatDay(session.day)),
    dates(earlyCloses),
  );
});

const whole: readonly [name: string, date: string, segments: readonly string[]][] = [
  [
    'in winter',
    '2024-01-03',
    [
      'pre 2024-01-03T09:00Z 2024-01-03T14:30Z',
      'regular 2024-01-03T14:30Z 2024-01-03T21:00Z',
      'post 2024-01-03T21:00Z 2024-01-04T01:00Z',
    ],
  ],
  [
    'on the Friday before daylight saving',
    '2024-03-08',
    [
      'pre 2024-03-08T09:00Z 2024-03-08T14:30Z',
      'regular 2024-03-08T14:30Z 2024-03-08T21:00Z',
      'post 2024-03-08T21:00Z 2024-03-09T01:00Z',
    ],
  ],
  [
    'on the Monday after daylight saving began',
    '2024-03-11',
    [
      'pre 2024-03-11T08:00Z 2024-03-11T13:30Z',
      'regular 2024-03-11T13:30Z 2024-03-11T20:00Z',
      'post 2024-03-11T20:00Z 2024-03-12T00:00Z',
    ],
  ],
  [
    'on the Friday before standard time',
    '2024-11-01',
    [
      'pre 2024-11-01T08:00Z 2024-11-01T13:30Z',
      'regular 2024-11-01T13:30Z 2024-11-01T20:00Z',
      'post 2024-11-01T20:00Z 2024-11-02T00:00Z',
    ],
  ],
  [
    'on the Monday after standard time began',
    '2024-11-04',
    [
      'pre 2024-11-04T09:00Z 2024-11-04T14:30Z',
      'regular 2024-11-04T14:30Z 2024-11-04T21:00Z',
      'post 2024-11-04T21:00Z 2024-11-05T01:00Z',
    ],
  ],
  [
    'under the daylight saving of before 2007',
    '2006-03-31',
    [
      'pre 2006-03-31T09:00Z 2006-03-31T14:30Z',
      'regular 2006-03-31T14:30Z 2006-03-31T21:00Z',
      'post 2006-03-31T21:00Z 2006-04-01T01:00Z',
    ],
  ],
];
for (const [name, date, segments] of whole) {
  test(`${date}, ${name}, is 04:00, 09:30, 16:00, 20:00 New York (contract 3.3, 8.1)`, () => {
    assert.deepEqual(segmentsOn(date), segments);
    assert.equal(sessionOn(date)?.template, 'REGULAR');
  });
}

test('an early close ends at 13:00, with a post-market from 13:00 to 17:00 (contract 3.4)', () => {
  assert.deepEqual(segmentsOn('2024-11-29'), [
    'pre 2024-11-29T09:00Z 2024-11-29T14:30Z',
    'regular 2024-11-29T14:30Z 2024-11-29T18:00Z',
    'post 2024-11-29T18:00Z 2024-11-29T22:00Z',
  ]);
  assert.deepEqual(segmentsOn('2024-07-03'), [
    'pre 2024-07-03T08:00Z 2024-07-03T13:30Z',
    'regular 2024-07-03T13:30Z 2024-07-03T17:00Z',
    'post 2024-07-03T17:00Z 2024-07-03T21:00Z',
  ]);
});

const lateOpens: readonly [date: string, open: string, close: string][] = [
  ['2001-09-17', '2001-09-17T13:33Z', '2001-09-17T20:00Z'],
  ['2001-10-08', '2001-10-08T13:31Z', '2001-10-08T20:00Z'],
  ['2002-09-11', '2002-09-11T16:00Z', '2002-09-11T20:00Z'],
  ['2003-03-20', '2003-03-20T14:32Z', '2003-03-20T21:00Z'],
  ['2004-06-07', '2004-06-07T13:32Z', '2004-06-07T20:00Z'],
  ['2006-12-27', '2006-12-27T14:32Z', '2006-12-27T21:00Z'],
];
for (const [date, open, close] of lateOpens) {
  test(`${date} opened late, at ${open}, and the pre-market ran until then (contract 3.4)`, () => {
    const session = sessionOn(date);
    assert.equal(session?.template, 'LATE_OPEN');
    assert.deepEqual([iso(session!.openMs), iso(session!.closeMs)], [open, close]);
    assert.deepEqual(
      session?.segments.map((segment) => segment.kind),
      ['pre', 'regular', 'post'],
    );
    assert.equal(iso(session!.segments[0]!.closeMs), open);
  });
}

const oneOff = `
  2001-09-11 2001-09-12 2001-09-13 2001-09-14 2004-06-11 2007-01-02 2012-10-29 2012-10-30 2018-12-05 2025-01-09`;
test('the one-off closings are closed, and the days around them are not (contract 3.4)', () => {
  for (const date of dates(oneOff)) assert.equal(sessionOn(date), null, date);
  for (const date of dates('2001-09-10 2001-09-17 2004-06-10 2007-01-03 2012-10-31 2018-12-04 2025-01-10'))
    assert.notEqual(sessionOn(date), null, date);
});

const kept = `
  1999-12-31 2004-12-31 2005-01-03 2005-06-01 2010-12-31 2011-01-03 2021-06-18 2021-12-31 2022-01-03 2020-11-11 2023-10-09`;
test('days that other American calendars close are open here, such as the eve of a Saturday New Year (contract 3.4)', () => {
  for (const date of dates(kept)) assert.equal(sessionOn(date)?.template, 'REGULAR', date);
});

test('no session falls on a weekend (contract 3.4)', () => {
  for (let year = 2000; year <= 2030; year++)
    for (const { day } of yearOf(year)) if (weekdayOf(day) > 5) assert.fail(formatDay(day));
});
