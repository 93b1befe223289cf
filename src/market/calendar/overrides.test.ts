// Days of an operator's own over a market's: which one holds, and what it leaves of the session (contract
// 3.4, 8.6).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Calendar, calendarOf } from './calendar.ts';
import { type CalendarOverride, withOverrides } from './overrides.ts';
import { dayOfText } from './rules.ts';

const us = calendarOf('stock', 'US');
const uk = calendarOf('stock', 'UK');

const ownDay = (date: string, part: Partial<CalendarOverride>): CalendarOverride => ({
  symbol: '*',
  calendar_date: dayOfText(date),
  priority: 1,
  name: 'own',
  holiday_code: 'HOLIDAY_OWN',
  session_template: 'EARLY_CLOSE',
  open_timestamp: null,
  close_timestamp: null,
  announced: null,
  ...part,
});

const at = (text: string): number => Date.parse(text);

/** What a session is and its segments in UTC, `pre 14:30-21:00, …`. */
function told(calendar: Calendar, date: string): string {
  const day = dayOfText(date);
  const [session] = calendar.sessions(day, day + 1);
  if (session === undefined) return 'none';
  const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
  const segments = session.segments.map(
    ({ kind, openMs, closeMs }) => `${kind} ${clock(openMs)}-${clock(closeMs)}`,
  );
  return `${session.template}: ${segments.join(', ')}`;
}

const days: readonly [name: string, date: string, part: Partial<CalendarOverride>, told: string][] = [
  [
    'an early close at the usual hour has the post-market of all early closes',
    '2027-02-03',
    { close_timestamp: at('2027-02-03T18:00Z') },
    'EARLY_CLOSE: pre 09:00-14:30, regular 14:30-18:00, post 18:00-22:00',
  ],
  [
    'an early close at another hour keeps the post-market, at its length',
    '2027-02-03',
    { close_timestamp: at('2027-02-03T19:00Z') },
    'EARLY_CLOSE: pre 09:00-14:30, regular 14:30-19:00, post 19:00-23:00',
  ],
  [
    "a late open that gives the session's own close too, as the list does, is a late open",
    '2027-02-03',
    {
      session_template: 'LATE_OPEN',
      open_timestamp: at('2027-02-03T17:00Z'),
      close_timestamp: at('2027-02-03T21:00Z'),
    },
    'LATE_OPEN: pre 09:00-17:00, regular 17:00-21:00, post 21:00-01:00',
  ],
  [
    'an open before the usual one moves nothing',
    '2027-02-03',
    { open_timestamp: at('2027-02-03T14:00Z'), close_timestamp: at('2027-02-03T18:00Z') },
    'EARLY_CLOSE: pre 09:00-14:30, regular 14:30-18:00, post 18:00-22:00',
  ],
  [
    'a later end comes in place of an early close that ships',
    '2027-11-26',
    { close_timestamp: at('2027-11-26T19:00Z') },
    'EARLY_CLOSE: pre 09:00-14:30, regular 14:30-19:00, post 19:00-23:00',
  ],
  [
    'half a day comes in place of a closing that ships',
    '2027-12-24',
    { close_timestamp: at('2027-12-24T18:00Z') },
    'EARLY_CLOSE: pre 09:00-14:30, regular 14:30-18:00, post 18:00-22:00',
  ],
  ['a closing closes', '2027-02-03', { session_template: 'CLOSED' }, 'none'],
  [
    'REGULAR makes a closing that ships a whole day',
    '2027-12-24',
    { session_template: 'REGULAR' },
    'REGULAR: pre 09:00-14:30, regular 14:30-21:00, post 21:00-01:00',
  ],
];
for (const [name, date, part, expected] of days) {
  test(`${name}: ${date} (contract 3.4, 8.6)`, () => {
    assert.equal(told(withOverrides(us, [ownDay(date, part)], 'X'), date), expected);
  });
}

const auctionDays: readonly [name: string, date: string, part: Partial<CalendarOverride>, told: string][] = [
  [
    'an early close takes the auction with it, at its length',
    '2027-02-03',
    { close_timestamp: at('2027-02-03T14:00Z') },
    'EARLY_CLOSE: regular 08:00-14:00, auction 14:00-14:22',
  ],
  [
    'a late open leaves the auction',
    '2027-02-03',
    { session_template: 'LATE_OPEN', open_timestamp: at('2027-02-03T10:00Z') },
    'LATE_OPEN: regular 10:00-16:30, auction 16:30-16:52',
  ],
  [
    'REGULAR makes an early close that ships a whole day with its auction',
    '2027-12-24',
    { session_template: 'REGULAR' },
    'REGULAR: regular 08:00-16:30, auction 16:30-16:52',
  ],
];
for (const [name, date, part, expected] of auctionDays) {
  test(`${name}: ${date} in London (contract 3.13, 8.6)`, () => {
    assert.equal(told(withOverrides(uk, [ownDay(date, part)], 'X'), date), expected);
  });
}

const closed = (symbol: string, priority: number): CalendarOverride =>
  ownDay('2027-02-03', { symbol, priority, name: `${symbol} ${priority}`, session_template: 'CLOSED' });
const winners: readonly [
  name: string,
  days: readonly CalendarOverride[],
  symbol: string,
  held: string | undefined,
][] = [
  ['the highest priority holds', [closed('*', 1), closed('*', 3), closed('*', 2)], 'X', '* 3'],
  [
    'of equal priority the override of the instrument wins',
    [closed('*', 1), closed('X', 1), closed('*', 1)],
    'X',
    'X 1',
  ],
  [
    "the market's day holds over the instrument's by its priority",
    [closed('X', 1), closed('*', 2)],
    'X',
    '* 2',
  ],
  ['the day of another instrument does not hold', [closed('Y', 9)], 'X', undefined],
  ['the market as a whole has no day of an instrument', [closed('Y', 9)], '*', undefined],
];
for (const [name, own, symbol, held] of winners) {
  test(`${name} (contract 8.6)`, () => {
    assert.equal(withOverrides(us, own, symbol).holidays(2027).get(dayOfText('2027-02-03'))?.name, held);
  });
}

test('instruments without days of their own share a calendar, and a market without any has the one that ships', () => {
  const day = closed('*', 1);
  assert.equal(withOverrides(us, [day, closed('Z', 1)], 'X'), withOverrides(us, [day], 'Y'));
  assert.equal(withOverrides(us, [closed('Z', 1)], 'X'), us);
});

test('a day of a country without a market holds in each of its time zones (contract 3.7, 8.6)', () => {
  const noon = [ownDay('2027-02-03', { close_timestamp: at('2027-02-03T12:00Z') })];
  const inZone = (zone: string): string =>
    told(withOverrides(calendarOf('stock', 'BR', zone), noon, 'X'), '2027-02-03');
  assert.equal(inZone('America/Sao_Paulo'), 'EARLY_CLOSE: regular 03:00-12:00');
  assert.equal(inZone('America/Manaus'), 'EARLY_CLOSE: regular 04:00-12:00');
});

test('years in which an operator has no day are not built again for each instrument', () => {
  const own = withOverrides(us, [closed('X', 1)], 'X');
  const [from, to] = [dayOfText('2020-01-02'), dayOfText('2020-01-03')];
  assert.equal(own.sessions(from, to)[0], us.sessions(from, to)[0]);
});
