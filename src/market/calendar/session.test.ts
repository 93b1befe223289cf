// One year of sessions from a market's data: breaks, shortened days, changed hours (contract 3.3, 3.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../base/instant.ts';
import type { Clock, HolidayRule, Market } from './market.ts';
import { dayOfText } from './rules.ts';
import { buildYear, clockMinutes, type SegmentScope, type Session, segmentKinds } from './session.ts';
import { zoneOf } from './zone.ts';

const clocks: readonly [clock: Clock, minutes: number][] = [
  ['00:00', 0],
  ['09:30', 570],
  ['24:00', 1440],
  ['-07:00', -420],
  ['-00:30', -30],
];
test('a clock counts minutes from the midnight of the label date, backwards with a minus', () => {
  for (const [clock, minutes] of clocks) assert.equal(clockMinutes(clock), minutes, clock);
});

const shortened = (date: string, part: Partial<HolidayRule>): HolidayRule => ({
  code: 'HOLIDAY_X',
  name: date,
  dates: date,
  source: 'a test',
  ...part,
});

/** A market with a lunch break in a zone without daylight saving; from July its afternoon ends later. */
const lunch: Market = {
  key: 'X',
  assetSchema: 'stock',
  country: 'XX',
  zone: 'Asia/Tokyo',
  sessionTemplate: 'X',
  currency: null,
  exchange: null,
  years: [2024, 2024],
  hours: [
    {
      from: '1900-01-01',
      weekdays: [1, 2, 3, 4, 5],
      segments: [
        ['pre', '08:00', '09:00'],
        ['regular', '09:00', '11:30'],
        ['regular', '12:30', '15:00'],
        ['post', '15:00', '17:00'],
      ],
      source: 'a test',
    },
    {
      from: '2024-07-01',
      weekdays: [1, 2, 3, 4, 5, 6],
      segments: [
        ['regular', '09:00', '11:30'],
        ['regular', '12:30', '15:30'],
      ],
      source: 'a test',
    },
  ],
  codes: {},
  holidays: [
    shortened('2024-01-04', {}),
    shortened('2024-01-05', { close: '14:00' }),
    shortened('2024-01-09', { close: '12:00' }),
    shortened('2024-01-10', { open: '10:00' }),
    shortened('2024-01-11', { open: '12:45' }),
    shortened('2024-01-12', { open: '10:00', close: '11:00' }),
    shortened('2024-01-15', { open: '08:30', close: '15:00' }),
    shortened('2024-01-16', { open: '12:30' }),
  ],
};

const {
  sessions,
  segments: { all: segments },
} = buildYear(lunch, zoneOf(lunch.zone), 2024);

const sessionIn = (found: readonly Session[], date: string): Session | undefined =>
  found.find((session) => session.day === dayOfText(date));
const sessionOn = (date: string): Session | undefined => sessionIn(sessions, date);

/** A local clock time. */
const clock = (ms: number): string => new Date(ms + 9 * 3_600_000).toISOString().slice(11, 16);

/** Local clock hours of a session's segments, as the market's data writes them. */
const hoursOf = (found: readonly Session[], date: string): string =>
  (sessionIn(found, date)?.segments ?? [])
    .map(({ kind, openMs, closeMs }) => `${kind} ${clock(openMs)}-${clock(closeMs)}`)
    .join(', ');

const days: readonly [name: string, date: string, hours: string, template: string | undefined][] = [
  [
    'a whole day has its segments, the break being a gap between two regular ones',
    '2024-01-03',
    'pre 08:00-09:00, regular 09:00-11:30, regular 12:30-15:00, post 15:00-17:00',
    'REGULAR',
  ],
  ['a closed day has no session', '2024-01-04', '', undefined],
  ['a Saturday has no session', '2024-01-06', '', undefined],
  [
    'an early close cuts the afternoon, and the post-market follows it',
    '2024-01-05',
    'pre 08:00-09:00, regular 09:00-11:30, regular 12:30-14:00, post 14:00-16:00',
    'EARLY_CLOSE',
  ],
  [
    'an early close in the break leaves the morning',
    '2024-01-09',
    'pre 08:00-09:00, regular 09:00-11:30, post 12:00-14:00',
    'EARLY_CLOSE',
  ],
  [
    'a late open cuts the morning, and the pre-market meets it',
    '2024-01-10',
    'pre 08:00-10:00, regular 10:00-11:30, regular 12:30-15:00, post 15:00-17:00',
    'LATE_OPEN',
  ],
  [
    'a late open in the afternoon leaves no morning',
    '2024-01-11',
    'pre 08:00-12:45, regular 12:45-15:00, post 15:00-17:00',
    'LATE_OPEN',
  ],
  [
    'a late open and an early close cut both sides',
    '2024-01-12',
    'pre 08:00-10:00, regular 10:00-11:00, post 11:00-13:00',
    'EARLY_CLOSE',
  ],
  [
    'bounds outside the regular hours shorten nothing',
    '2024-01-15',
    'pre 08:00-09:00, regular 09:00-11:30, regular 12:30-15:00, post 15:00-17:00',
    'REGULAR',
  ],
  ['changed hours hold from their date', '2024-07-01', 'regular 09:00-11:30, regular 12:30-15:30', 'REGULAR'],
  [
    'changed weekdays hold from their date',
    '2024-07-06',
    'regular 09:00-11:30, regular 12:30-15:30',
    'REGULAR',
  ],
];
/** Both halves of a day end with an auction, a long one at its end. */
const auctions: Market = {
  ...lunch,
  hours: [
    {
      from: '1900-01-01',
      weekdays: [1, 2, 3, 4, 5],
      segments: [
        ['regular', '09:00', '11:30'],
        ['auction', '11:30', '11:31'],
        ['regular', '12:30', '15:00'],
        ['auction', '15:00', '15:10'],
        ['post', '15:10', '17:00'],
      ],
      source: 'a test',
    },
  ],
  holidays: [
    shortened('2024-01-04', { close: '14:00' }),
    shortened('2024-01-05', { close: '14:00', auction: '14:03' }),
    shortened('2024-01-08', { close: '14:00', auction: '14:00' }),
    shortened('2024-01-09', { close: '11:30' }),
    shortened('2024-01-10', { close: '10:00' }),
    shortened('2024-01-11', { open: '12:30' }),
  ],
};

const auctionDays: readonly [name: string, date: string, hours: string][] = [
  [
    'a whole day has an auction after each half, and the post-market after the last one',
    '2024-01-03',
    'regular 09:00-11:30, auction 11:30-11:31, regular 12:30-15:00, auction 15:00-15:10, post 15:10-17:00',
  ],
  [
    'the closing auction moves with an early close, at its length',
    '2024-01-04',
    'regular 09:00-11:30, auction 11:30-11:31, regular 12:30-14:00, auction 14:00-14:10, post 14:10-16:00',
  ],
  [
    'an early close may have an auction of its own length',
    '2024-01-05',
    'regular 09:00-11:30, auction 11:30-11:31, regular 12:30-14:00, auction 14:00-14:03, post 14:10-16:00',
  ],
  [
    'an auction that ends at the early close is none',
    '2024-01-08',
    'regular 09:00-11:30, auction 11:30-11:31, regular 12:30-14:00, post 14:10-16:00',
  ],
  [
    'a day without an afternoon has the closing auction after its morning',
    '2024-01-09',
    'regular 09:00-11:30, auction 11:30-11:40, post 11:40-13:30',
  ],
  [
    'a shortened morning has only the closing auction',
    '2024-01-10',
    'regular 09:00-10:00, auction 10:00-10:10, post 10:10-12:00',
  ],
  [
    'a day without a morning has no auction of the morning',
    '2024-01-11',
    'regular 12:30-15:00, auction 15:00-15:10, post 15:10-17:00',
  ],
];
const auctionYear = buildYear(auctions, zoneOf(auctions.zone), 2024);
for (const [name, date, hours] of auctionDays) {
  test(`${name}: ${date} (contract 3.13)`, () => {
    assert.equal(hoursOf(auctionYear.sessions, date), hours);
  });
}

test('the regular hours of a session end before its auction, its day with it, and each scope has its segments (contract 3.13)', () => {
  const session = sessionIn(auctionYear.sessions, '2024-01-03')!;
  assert.deepEqual([session.openMs, session.closeMs, session.dayCloseMs].map(clock), [
    '09:00',
    '15:00',
    '15:10',
  ]);
  const kindsOf = (scope: SegmentScope): (string | undefined)[] => {
    const { day, kind } = auctionYear.segments[scope];
    return [...kind].filter((_, at) => day[at] === session.day).map((index) => segmentKinds[index]);
  };
  assert.deepEqual(kindsOf('regular'), ['regular', 'regular']);
  assert.deepEqual(kindsOf('day'), ['regular', 'auction', 'regular', 'auction']);
  assert.deepEqual(kindsOf('all'), ['regular', 'auction', 'regular', 'auction', 'post']);
});

test('only a segment that begins later than on other days is late (contract 3.8)', () => {
  const lateOn = (date: string) => sessionOn(date)?.segments.map(({ late }) => late);
  assert.deepEqual(lateOn('2024-01-10'), [false, true, false, false]);
  assert.deepEqual(lateOn('2024-01-16'), [false, false, false]);
});

for (const [name, date, hours, template] of days) {
  test(`${name}: ${date} (contract 3.3, 3.4)`, () => {
    assert.equal(hoursOf(sessions, date), hours);
    assert.equal(sessionOn(date)?.template, template);
  });
}

test('a session runs from its first regular open to its last regular close, and names what shortens it', () => {
  const session = sessionOn('2024-01-05');
  assert.equal(session?.openMs, Date.parse('2024-01-05T00:00:00Z'));
  assert.equal(session?.closeMs, Date.parse('2024-01-05T05:00:00Z'));
  assert.equal(session?.holiday?.name, '2024-01-05');
  assert.equal(sessionOn('2024-01-03')?.holiday, null);
});

test('the segments of a year are those of its sessions, in order, with their labels', () => {
  const flat = sessions.flatMap((session) =>
    session.segments.map((segment) => ({ ...segment, day: session.day })),
  );
  assert.deepEqual(
    Array.from(segments.openMs, (openMs, index) => ({
      kind: segmentKinds[segments.kind[index]!],
      openMs,
      closeMs: segments.closeMs[index],
      day: segments.day[index],
      late: segments.late[index] === 1,
    })),
    flat,
  );
});

test('the sessions of a year are labelled by days of that year alone, also where they begin in the one before', () => {
  const night: Market = {
    ...lunch,
    hours: [
      {
        from: '1900-01-01',
        weekdays: [1, 2, 3, 4, 5, 6, 7],
        segments: [['regular', '-07:00', '17:00']],
        source: 'a test',
      },
    ],
    holidays: [],
  };
  const built = buildYear(night, zoneOf('UTC'), 2024).sessions;
  assert.equal(built.length, 366);
  assert.equal(built[0]?.day, dayOfText('2024-01-01'));
  assert.equal(built[0]?.openMs, Date.parse('2023-12-31T17:00:00Z'));
  assert.equal(built.at(-1)?.closeMs, dayOfText('2024-12-31') * DAY_MS + 17 * 3_600_000);
});
