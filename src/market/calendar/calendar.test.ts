// Calendars over any range: order, labels, look-ups, markets without a calendar (contract 3.3, 3.7).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../../base/instant.ts';
import { type Calendar, calendarOf, findMarket } from './calendar.ts';
import { calendarLimits } from './limits.ts';
import { usStock } from './markets/us-stock.ts';
import { dayOfText } from './rules.ts';
import { buildYear, type SegmentScope, scopeKinds, segmentKinds, yearBytes } from './session.ts';
import { zoneOf } from './zone.ts';

const FIRST = dayOfText('2000-01-01');
const END = dayOfText('2031-01-01');

/** Each calendar with the local date that labels its sessions: that of the open or that of the close. */
const calendars: readonly [name: string, calendar: Calendar, labelledBy: 'open' | 'close'][] = [
  ['US_STOCK', calendarOf('stock', 'US'), 'open'],
  ['JP_STOCK', calendarOf('stock', 'JP'), 'open'],
  ['US_FUTURE', calendarOf('future', 'US'), 'close'],
  ['CRYPTO_GLOBAL', calendarOf('crypto', 'GLOBAL'), 'open'],
  ['FOREX_GLOBAL', calendarOf('forex', 'GLOBAL'), 'close'],
  ...['America/New_York', 'America/Sao_Paulo', 'Asia/Beirut', 'Africa/Cairo', 'Australia/Lord_Howe'].map(
    (zone): [string, Calendar, 'open'] => [`no calendar in ${zone}`, calendarOf('stock', 'XX', zone), 'open'],
  ),
];

const localDay = (zone: string): ((ms: number) => number) => {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
  return (ms) => Date.parse(`${format.format(ms)}T00:00:00Z`) / DAY_MS;
};

type Flat = {
  readonly kind: string;
  readonly openMs: number;
  readonly closeMs: number;
  readonly day: number;
};

for (const [name, calendar, labelledBy] of calendars) {
  const sessions = calendar.sessions(FIRST, END);
  const flat: Flat[] = sessions.flatMap(({ day, segments }) =>
    segments.map((segment) => ({ ...segment, day })),
  );
  const found = (fromMs: number, toMs: number, scope: SegmentScope): Flat[] => {
    const { openMs, closeMs, kind, day, late } = calendar.segments(fromMs, toMs, scope);
    return Array.from(openMs, (open, index) => ({
      kind: segmentKinds[kind[index]!]!,
      openMs: open,
      closeMs: closeMs[index]!,
      day: day[index]!,
      late: late[index] === 1,
    }));
  };
  const anyMinute = fc
    .integer({ min: (FIRST + 20) * 1440, max: (END - 20) * 1440 })
    .map((minute) => minute * MINUTE_MS);

  test(`the sessions and segments of ${name} are in order and never overlap (contract 3.3)`, () => {
    for (const [index, session] of sessions.entries())
      if (index > 0 && session.day <= sessions[index - 1]!.day) assert.fail(`label ${session.day}`);
    let closeMs = Number.NEGATIVE_INFINITY;
    for (const segment of flat) {
      if (segment.openMs < closeMs || segment.closeMs <= segment.openMs)
        assert.fail(new Date(segment.openMs).toISOString());
      closeMs = segment.closeMs;
    }
  });

  test(`the sessions of ${name} are labelled by the local date of their ${labelledBy} (contract 3.7)`, () => {
    const dayAt = localDay(calendar.market.zone);
    for (const session of sessions) {
      const ms = labelledBy === 'open' ? session.openMs : session.closeMs;
      if (dayAt(ms) !== session.day) assert.fail(new Date(ms).toISOString());
    }
  });

  test(`the segments of ${name} over a range are those that overlap it (contract 3.3)`, () => {
    fc.assert(
      fc.property(anyMinute, fc.integer({ min: 1, max: 400 * 24 * 60 }), (fromMs, minutes) => {
        const toMs = Math.min(fromMs + minutes * MINUTE_MS, (END - 19) * DAY_MS);
        const expected = flat.filter((segment) => segment.openMs < toMs && segment.closeMs > fromMs);
        for (const scope of ['all', 'day', 'regular'] as const) {
          const kinds: readonly string[] = scopeKinds[scope];
          assert.deepEqual(
            found(fromMs, toMs, scope),
            expected.filter(({ kind }) => kinds.includes(kind)),
          );
        }
      }),
      { numRuns: 20 },
    );
  });

  test(`a minute lies in at most one segment of ${name}, and its label is that session's (contract 3.3)`, () => {
    fc.assert(
      fc.property(anyMinute, (ms) => {
        const around = found(ms, ms + MINUTE_MS, 'all');
        assert.ok(around.length <= 1, new Date(ms).toISOString());
        const session = sessions.find(
          ({ segments }) => ms >= segments[0]!.openMs && ms < segments.at(-1)!.closeMs,
        );
        assert.equal(calendar.labelAt(ms), session?.day ?? null, new Date(ms).toISOString());
        if (around.length === 1) assert.equal(around[0]!.day, session?.day);
      }),
      { numRuns: 60 },
    );
  });

  test(`a segment of ${name} holds its open and not its close (contract 3.2)`, () => {
    for (const segment of flat.slice(1000, 1150)) {
      assert.deepEqual(found(segment.openMs, segment.openMs + 1, 'all'), [segment]);
      assert.deepEqual(found(segment.closeMs - 1, segment.closeMs, 'all'), [segment]);
      assert.deepEqual(found(segment.openMs, segment.openMs, 'all'), []);
      assert.equal(calendar.labelAt(segment.openMs), segment.day);
      assert.equal(calendar.labelAt(segment.closeMs - 1), segment.day);
    }
  });

  test(`the sessions of ${name} by label are those of a range, and the nearest on either side of a day`, () => {
    const anyDay = fc.integer({ min: FIRST + 20, max: END - 20 });
    fc.assert(
      fc.property(anyDay, fc.nat(800), (day, length) => {
        const end = Math.min(day + length, END);
        const expected = sessions.filter((session) => session.day >= day && session.day < end);
        assert.deepEqual(
          calendar.sessions(day, end).map((session) => session.openMs),
          expected.map((session) => session.openMs),
        );
        const before = sessions.findLast((session) => session.day <= day);
        const after = sessions.find((session) => session.day >= day);
        assert.equal(calendar.sessionOnOrBefore(day)?.openMs, before?.openMs);
        assert.equal(calendar.sessionOnOrAfter(day)?.openMs, after?.openMs);
      }),
      { numRuns: 20 },
    );
  });
}

test('31 years of US stocks are built, 252 sessions a year or nearly so (contract 3.4)', () => {
  const { length } = calendarOf('stock', 'US').sessions(FIRST, END);
  assert.ok(length > 31 * 250 && length < 31 * 253, String(length));
});

test("outside a calendar's years the weekly pattern holds without holidays (contract 3.7)", () => {
  const calendar = calendarOf('stock', 'US');
  for (const date of ['1999-12-24', '1999-07-05', '2031-07-04', '2031-12-25', '1900-01-01', '2200-12-25']) {
    const session = calendar.sessionOnOrBefore(dayOfText(date));
    assert.equal(session?.day, dayOfText(date), date);
    assert.equal(session?.template, 'REGULAR');
    assert.equal(session!.closeMs - session!.openMs, 6.5 * HOUR_MS);
  }
});

test('a market without a calendar trades all day in its time zone, through daylight saving (contract 3.7)', () => {
  const calendar = calendarOf('stock', 'XX', 'America/New_York');
  const hours = (date: string): [string, number] => {
    const session = calendar.sessionOnOrBefore(dayOfText(date))!;
    return [new Date(session.openMs).toISOString(), (session.closeMs - session.openMs) / HOUR_MS];
  };
  assert.deepEqual(hours('2024-03-09'), ['2024-03-09T05:00:00.000Z', 24]);
  assert.deepEqual(hours('2024-03-10'), ['2024-03-10T05:00:00.000Z', 23]);
  assert.deepEqual(hours('2024-11-03'), ['2024-11-03T04:00:00.000Z', 25]);
  assert.deepEqual(hours('2024-12-25'), ['2024-12-25T05:00:00.000Z', 24]);
  assert.equal(calendar.hasBeyond('regular'), false);
});

test('a market without a calendar leaves no gap, whatever its zone (contract 3.7)', () => {
  for (const zone of [
    'Asia/Beirut',
    'America/Sao_Paulo',
    'America/Havana',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
  ]) {
    const sessions = calendarOf('stock', 'XX', zone).sessions(
      dayOfText('2015-01-01'),
      dayOfText('2025-01-01'),
    );
    assert.equal(sessions.length, 3653);
    for (const [index, session] of sessions.entries())
      if (index > 0 && session.openMs !== sessions[index - 1]!.closeMs)
        assert.fail(`${zone} ${new Date(session.openMs).toISOString()}`);
  }
});

test('a market without a calendar and without a known zone trades UTC days (contract 3.7)', () => {
  for (const zone of [null, 'Mars/Phobos', '']) {
    const session = calendarOf('stock', 'XX', zone).sessionOnOrBefore(dayOfText('2024-03-10'));
    assert.equal(session?.openMs, Date.parse('2024-03-10T00:00:00Z'));
    assert.equal(session?.closeMs, Date.parse('2024-03-11T00:00:00Z'));
  }
});

test("options follow their underlying's market, and a market's own zone wins (contract 3.7)", () => {
  assert.equal(findMarket('option', 'US')?.key, 'US_STOCK');
  assert.equal(calendarOf('option', 'US'), calendarOf('stock', 'US'));
  assert.equal(calendarOf('stock', 'US', 'Asia/Tokyo'), calendarOf('stock', 'US'));
  assert.equal(findMarket('stock', 'XX'), null);
});

test('a calendar key goes before asset type and country, and one that no market has says nothing (contract 3.7)', () => {
  assert.equal(findMarket('future', 'US')?.key, 'US_FUTURE');
  assert.equal(findMarket('future', 'US', 'US_FUTURE_CBOT_GRAIN')?.key, 'US_FUTURE_CBOT_GRAIN');
  assert.equal(findMarket('stock', 'XX', 'JP_STOCK')?.key, 'JP_STOCK');
  for (const unknown of ['', 'us_future', 'CBOT_RICE']) {
    assert.equal(findMarket('future', 'US', unknown)?.key, 'US_FUTURE');
    assert.equal(findMarket('stock', 'XX', unknown), null);
  }
});

test('a date-only bound is a day of the market, of UTC where the country is GLOBAL (contract 2.3)', () => {
  for (const [schema, country, zone] of [
    ['stock', 'US', 'America/New_York'],
    ['future', 'US', 'America/Chicago'],
    ['crypto', 'GLOBAL', 'UTC'],
    ['forex', 'GLOBAL', 'UTC'],
  ] as const)
    assert.equal(calendarOf(schema, country).dateZone.name, zone);
});

test('only US stocks have pre- and post-market, only some other stocks an auction (contract 3.5, 3.13)', () => {
  const having = (scope: SegmentScope) =>
    calendars.filter(([, calendar]) => calendar.hasBeyond(scope)).map(([name]) => name);
  assert.deepEqual([having('day'), having('regular')], [['US_STOCK'], ['US_STOCK', 'JP_STOCK']]);
});

test('a calendar says the same of years that it has forgotten', () => {
  const calendar = calendarOf('stock', 'US');
  const days = (from: number): string =>
    JSON.stringify(calendar.sessions(dayOf(from, 1, 1), dayOf(from + 1, 1, 1)));
  const before = days(1990);
  const more = Math.ceil(
    calendarLimits.yearBytesMax / yearBytes(buildYear(usStock, zoneOf(usStock.zone), 2024)),
  );
  for (const country of ['US', 'GB', 'JP', 'DE', 'FR', 'AU'])
    for (let at = 1980; at < 1980 + more / 4; at++)
      calendarOf('stock', country).sessions(dayOf(at, 1, 1), dayOf(at + 1, 1, 1));
  assert.equal(days(1990), before);
});
