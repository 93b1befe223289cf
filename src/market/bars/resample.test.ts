// Bars made of finer ones, against a reference that walks every minute with plain objects and exact decimals
// (contract 3.3, 3.4, 3.6, 3.8).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { plainDecimal } from '../../base/decimal.ts';
import { DAY_MS, MINUTE_MS, parseDay } from '../../base/instant.ts';
import { type Calendar, calendarOf } from '../calendar/calendar.ts';
import { type PeriodInterval, periodEnd, periodStart, segmentScope } from '../calendar/period.ts';
import type { Session } from '../calendar/session.ts';
import { dayCells, minuteCells, sessionCells } from './cells.ts';
import { type Bars, emptyBars } from './columns.ts';
import { type TimedBars, timeMinutes, timePeriods } from './grid.ts';
import { resample } from './resample.ts';

type Bar = {
  keyMs: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number | null;
  vwap: number | null;
};
type Served = Bar & { openMs: number; closeMs: number; day: number };

const numberOf = (value: number | null): number => value ?? Number.NaN;
const nullable = (value: number): number | null => (Number.isNaN(value) ? null : value);

function columnsOf(rows: readonly Bar[]): Bars {
  const bars = emptyBars(rows.length);
  bars.count = rows.length;
  for (const [at, row] of rows.entries()) {
    for (const column of ['keyMs', 'open', 'high', 'low', 'close'] as const) bars[column][at] = row[column];
    bars.volume[at] = numberOf(row.volume);
    bars.vwap[at] = numberOf(row.vwap);
  }
  return bars;
}

function rowsOf({ bars, openMs, closeMs, day }: TimedBars): Served[] {
  return Array.from({ length: bars.count }, (_, at) => ({
    keyMs: bars.keyMs[at]!,
    open: bars.open[at]!,
    high: bars.high[at]!,
    low: bars.low[at]!,
    close: bars.close[at]!,
    volume: nullable(bars.volume[at]!),
    vwap: nullable(bars.vwap[at]!),
    openMs: openMs[at]!,
    closeMs: closeMs[at]!,
    day: day[at]!,
  }));
}

/** A decimal as an integer over a power of ten, exactly as it is written. */
type Exact = { readonly units: bigint; readonly decimals: number };

function exact(value: number): Exact {
  const [whole = '', fraction = ''] = plainDecimal(value).split('.');
  return { units: BigInt(whole + fraction), decimals: fraction.length };
}

const raise = (value: Exact, decimals: number): bigint =>
  value.units * 10n ** BigInt(decimals - value.decimals);

function add(a: Exact, b: Exact): Exact {
  const decimals = Math.max(a.decimals, b.decimals);
  return { units: raise(a, decimals) + raise(b, decimals), decimals };
}

const times = (a: Exact, b: Exact): Exact => ({
  units: a.units * b.units,
  decimals: a.decimals + b.decimals,
});

/** a / b of positive numbers, rounded half up: to 10 decimals, below 1 to 15 significant digits. */
function quotient(a: Exact, b: Exact): Exact {
  const top = 2n * a.units * 10n ** BigInt(b.decimals);
  const bottom = 2n * b.units * 10n ** BigInt(a.decimals);
  const hasDigits = (decimals: number): boolean => top * 10n ** BigInt(decimals) >= bottom * 10n ** 14n;
  let decimals = 10;
  if (top < bottom) while (!hasDigits(decimals)) decimals++;
  return { units: (top * 10n ** BigInt(decimals) + bottom / 2n) / bottom, decimals };
}

/** What contract 3.8 says of the bars of one cell, in so many words. */
function fold(rows: readonly Bar[]): Omit<Bar, 'keyMs' | 'vwap'> & { exactVwap: Exact | null } {
  const nothing = { units: 0n, decimals: 0 };
  let volume: Exact | null = nothing;
  let turnover: Exact | null = nothing;
  for (const row of rows) {
    volume = row.volume === null || volume === null ? null : add(volume, exact(row.volume));
    if (row.volume === 0) continue;
    turnover =
      row.volume === null || row.vwap === null || turnover === null
        ? null
        : add(turnover, times(exact(row.vwap), exact(row.volume)));
  }
  return {
    open: rows[0]!.open,
    high: Math.max(...rows.map((row) => row.high)),
    low: Math.min(...rows.map((row) => row.low)),
    close: rows[rows.length - 1]!.close,
    volume: volume === null ? null : Number(`${volume.units}e-${volume.decimals}`),
    exactVwap:
      volume === null || turnover === null || volume.units === 0n ? null : quotient(turnover, volume),
  };
}

type Expected = ReturnType<typeof fold> & { keyMs: number; openMs: number; closeMs: number; day: number };

/** Regular segments, auctions in a DAY and above, all with extended hours (contract 3.5). */
const segmentsOf = (session: Session, extended: boolean, isPeriod: boolean) =>
  session.segments.filter(({ kind }) => extended || kind === 'regular' || (isPeriod && kind === 'auction'));

/** The minutes of bars that lie in one span of time, in order. */
function within(bars: ReadonlyMap<number, Bar>, openMs: number, closeMs: number): Bar[] {
  const found: Bar[] = [];
  for (let at = openMs; at < closeMs; at += MINUTE_MS) {
    const bar = bars.get(at);
    if (bar !== undefined) found.push(bar);
  }
  return found;
}

function expectedMinutes(
  bars: ReadonlyMap<number, Bar>,
  sessions: readonly Session[],
  minutes: number,
  extended: boolean,
): Expected[] {
  const expected: Expected[] = [];
  for (const session of sessions) {
    for (const segment of segmentsOf(session, extended, false)) {
      for (let openMs = segment.openMs; openMs < segment.closeMs; openMs += minutes * MINUTE_MS) {
        const closeMs = Math.min(openMs + minutes * MINUTE_MS, segment.closeMs);
        const inside = within(bars, openMs, closeMs);
        if (inside.length > 0)
          expected.push({ ...fold(inside), keyMs: openMs, openMs, closeMs, day: session.day });
      }
    }
  }
  return expected;
}

/** The bar of a session; none where it has extended hours alone (contract 3.6). */
function expectedDay(bars: ReadonlyMap<number, Bar>, session: Session, extended: boolean): Expected[] {
  const segments = segmentsOf(session, extended, true);
  const inside = segments.flatMap(({ openMs, closeMs }) => within(bars, openMs, closeMs));
  const regular = segments.filter(({ kind }) => !extended || kind === 'regular');
  if (regular.every(({ openMs, closeMs }) => within(bars, openMs, closeMs).length === 0)) return [];
  const [openMs, closeMs] = [segments[0]!.openMs, segments.at(-1)!.closeMs];
  return [{ ...fold(inside), keyMs: session.day * DAY_MS, openMs, closeMs, day: session.day }];
}

const numberOfExact = ({ units, decimals }: Exact): number => Number(`${units}e-${decimals}`);

/** A week or month is made of its days as they are served. */
function expectedPeriods(
  bars: ReadonlyMap<number, Bar>,
  calendar: Calendar,
  sessions: readonly Session[],
  interval: PeriodInterval,
  extended: boolean,
): Expected[] {
  if (interval === 'DAY') return sessions.flatMap((session) => expectedDay(bars, session, extended));
  return [...new Set(sessions.map((session) => periodStart(interval, session.day)))].flatMap((start) => {
    const all = calendar.sessions(start, periodEnd(interval, start));
    const days = all
      .flatMap((session) => expectedDay(bars, session, extended))
      .map(({ exactVwap, ...day }) => ({
        ...day,
        vwap: exactVwap === null ? null : numberOfExact(exactVwap),
      }));
    if (days.length === 0) return [];
    const [first, last] = [segmentsOf(all[0]!, extended, true), segmentsOf(all.at(-1)!, extended, true)];
    const [openMs, closeMs] = [first[0]!.openMs, last.at(-1)!.closeMs];
    return [{ ...fold(days), keyMs: start * DAY_MS, openMs, closeMs, day: all[0]!.day }];
  });
}

/** The bars are as expected, the vwap but for one unit in its last digit. */
function same(actual: readonly Served[], expected: readonly Expected[]): void {
  const plain = expected.map(({ exactVwap, ...rest }) => ({ ...rest, vwap: exactVwap !== null }));
  assert.deepEqual(
    actual.map((row) => ({ ...row, vwap: row.vwap !== null })),
    plain,
  );
  for (const [at, { exactVwap }] of expected.entries()) {
    if (exactVwap === null) continue;
    const found = exact(actual[at]!.vwap!);
    assert.ok(found.decimals <= exactVwap.decimals, `${actual[at]!.vwap} has more digits than it may`);
    const difference = raise(found, exactVwap.decimals) - exactVwap.units;
    assert.ok(difference >= -1n && difference <= 1n, `${actual[at]!.vwap} is ${difference} units off`);
  }
}

const calendars = {
  stock: calendarOf('stock', 'US'),
  forex: calendarOf('forex', 'GLOBAL'),
  crypto: calendarOf('crypto', 'GLOBAL'),
  future: calendarOf('future', 'US'),
  london: calendarOf('stock', 'UK'),
  tokyo: calendarOf('stock', 'JP'),
};

/** Early closes, a late open, a closed week, and both changes of clocks in New York and Chicago. */
const specialDates = [
  '2015-12-22',
  '2012-07-02',
  '2019-11-27',
  '2013-07-01',
  '2002-09-09',
  '2001-09-07',
  '2025-03-07',
  '2025-10-31',
  '2006-03-31',
  '2024-12-30',
];

const startDay = fc.oneof(
  fc.constantFrom(...specialDates).map((date) => parseDay(date)!),
  fc.integer({ min: parseDay('1995-01-01')!, max: parseDay('2035-01-01')! }),
);

/** Mostly prices of shares, sometimes of small coins. */
const price = fc
  .tuple(fc.integer({ min: 1, max: 5_000_000 }), fc.constantFrom(1e4, 1e4, 1e4, 1e4, 1e9, 1e13))
  .map(([units, scale]) => units / scale);

function amounts(decimals: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max }).map((units) => units / 10 ** decimals) },
    { weight: 1, arbitrary: fc.constant(0) },
  );
}

const volumeKinds = fc.constantFrom(
  amounts(0, 100_000_000),
  amounts(8, 10_000_000_000_000),
  amounts(2, 1_000_000_000),
);

/**
 * Minutes of a span of days in clusters, so that cells hold many bars, few, or none, inside and outside
 * segments.
 */
function minutesIn(days: number): fc.Arbitrary<number[]> {
  const cluster = fc.record({
    at: fc.nat(days * 1440 - 1),
    count: fc.integer({ min: 1, max: 25 }),
    gap: fc.constantFrom(1, 1, 1, 2, 7, 61),
  });
  return fc.array(cluster, { minLength: 1, maxLength: 14, size: 'max' }).map((clusters) => {
    const all = clusters.flatMap(({ at, count, gap }) =>
      Array.from({ length: count }, (_, i) => at + i * gap),
    );
    return [...new Set(all)].filter((minute) => minute < days * 1440).sort((a, b) => a - b);
  });
}

function rowsAt(
  minutes: readonly number[],
  startMs: number,
  volume: fc.Arbitrary<number>,
  nulls: boolean,
): fc.Arbitrary<Bar[]> {
  const orNull = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
    nulls ? fc.option(value, { freq: 12 }) : value;
  const values = fc.tuple(price, price, price, price, orNull(volume), orNull(price));
  return fc.array(values, { minLength: minutes.length, maxLength: minutes.length }).map((rows) =>
    rows.map(([a, b, c, d, amount, vwap], at) => ({
      keyMs: startMs + minutes[at]! * MINUTE_MS,
      open: a,
      high: Math.max(a, b, c, d),
      low: Math.min(a, b, c, d),
      close: b,
      volume: amount,
      vwap,
    })),
  );
}

/** Random bars of a market's span, sometimes with nulls. */
function scene(daysMax: number) {
  return fc
    .record({
      market: fc.constantFrom(...(Object.keys(calendars) as (keyof typeof calendars)[])),
      start: startDay,
      days: fc.integer({ min: 1, max: daysMax }),
      volume: volumeKinds,
      nulls: fc.boolean(),
      extended: fc.boolean(),
    })
    .chain((shape) =>
      minutesIn(shape.days)
        .chain((minutes) => rowsAt(minutes, shape.start * DAY_MS, shape.volume, shape.nulls))
        .map((rows) => ({ ...shape, calendar: calendars[shape.market], rows })),
    );
}

type Scene = { calendar: Calendar; start: number; days: number; extended: boolean };

/** Sessions around a scene's span: labels may lie a day beside the UTC dates. */
const sessionsOf = ({ calendar, start, days }: Scene): Session[] =>
  calendar.sessions(start - 2, start + days + 2);

const segmentsAround = ({ calendar, start, days, extended }: Scene, interval = '1M') =>
  calendar.segments(start * DAY_MS, (start + days) * DAY_MS, segmentScope(interval, extended));

const anyMinutes = fc.oneof(
  fc.constantFrom(1, 3, 5, 10, 15, 30, 60, 120, 240, 1440),
  fc.integer({ min: 1, max: 1440 }),
);

test('bars of any minutes are those of a walk over every minute of every segment (contract 3.1, 3.3, 3.4, 3.5, 3.8)', () => {
  fc.assert(
    fc.property(scene(9), anyMinutes, (drawn, minutes) => {
      const segments = segmentsAround(drawn);
      const derived = resample(minuteCells(columnsOf(drawn.rows), segments, minutes, 1));
      const byKey = new Map(drawn.rows.map((row) => [row.keyMs, row]));
      same(
        rowsOf(timeMinutes(derived, segments, minutes)),
        expectedMinutes(byKey, sessionsOf(drawn), minutes, drawn.extended),
      );
    }),
    { numRuns: 100 },
  );
});

test('DAY, WEEK and MON are made of whole sessions and have their hours (contract 3.6, 3.8)', () => {
  const interval = fc.constantFrom<PeriodInterval>('DAY', 'WEEK', 'MON');
  fc.assert(
    fc.property(scene(45), interval, (drawn, asked) => {
      const { calendar, extended } = drawn;
      const days = resample(sessionCells(columnsOf(drawn.rows), segmentsAround(drawn, 'DAY'), extended));
      const made = asked === 'DAY' ? days : resample(dayCells(days, asked, calendar));
      const byKey = new Map(drawn.rows.map((row) => [row.keyMs, row]));
      same(
        rowsOf(timePeriods(made, calendar, asked, extended)),
        expectedPeriods(byKey, calendar, sessionsOf(drawn), asked, extended),
      );
    }),
    { numRuns: 60 },
  );
});

test('regular bars are the same with and without extended hours (contract 3.3)', () => {
  fc.assert(
    fc.property(scene(6), anyMinutes, (drawn, minutes) => {
      const [regular, extended] = [false, true].map((eth) => {
        const segments = segmentsAround({ ...drawn, extended: eth });
        const bars = resample(minuteCells(columnsOf(drawn.rows), segments, minutes, 1));
        return rowsOf(timeMinutes(bars, segments, minutes));
      }) as [Served[], Served[]];
      const keys = new Set(regular.map((row) => row.keyMs));
      assert.deepEqual(
        extended.filter((row) => keys.has(row.keyMs)),
        regular,
      );
    }),
    { numRuns: 60 },
  );
});

test('bars derived by way of a coarser base are those derived at once, vwap but for its rounding (contract 3.8)', () => {
  const steps = fc
    .tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 24 }))
    .map(([base, times]) => [base, base * times] as const);
  fc.assert(
    fc.property(scene(9), steps, (drawn, [base, asked]) => {
      const segments = segmentsAround(drawn);
      const derive = (bars: Bars, minutes: number, from: number): Bars =>
        resample(minuteCells(bars, segments, minutes, from));
      const minutes = columnsOf(drawn.rows);
      const direct = rowsOf(timeMinutes(derive(minutes, asked, 1), segments, asked));
      const stepped = rowsOf(timeMinutes(derive(derive(minutes, base, 1), asked, base), segments, asked));
      const bare = (rows: Served[]) => rows.map((row) => ({ ...row, vwap: row.vwap !== null }));
      assert.deepEqual(bare(stepped), bare(direct));
      for (const [at, { vwap }] of direct.entries()) {
        if (vwap !== null) assert.ok(Math.abs(vwap - stepped[at]!.vwap!) < 5e-10);
      }
    }),
    { numRuns: 100 },
  );
});

/** Bars of consecutive minutes from the open of a regular session. */
function minutesFrom(open: string, rows: readonly Partial<Bar>[]): Bar[] {
  const plain = { open: 10, high: 10, low: 10, close: 10, volume: 1, vwap: 10 };
  return rows.map((row, at) => ({ ...plain, keyMs: Date.parse(open) + at * MINUTE_MS, ...row }));
}

function foldAll(rows: readonly Bar[]): { volume: number | null; vwap: number | null } {
  const from = rows[0]!.keyMs;
  const segments = calendars.crypto.segments(from, from + DAY_MS, 'regular');
  const bars = resample(minuteCells(columnsOf(rows), segments, 1440, 1));
  assert.equal(bars.count, 1);
  return { volume: nullable(bars.volume[0]!), vwap: nullable(bars.vwap[0]!) };
}

const foldCases: readonly {
  name: string;
  rows: readonly Partial<Bar>[];
  volume: number | null;
  vwap: number | null;
}[] = [
  {
    name: 'volumes add up as decimals',
    rows: [{ volume: 13832.668771 }, { volume: 0.000001 }, { volume: 0.1 }, { volume: 0.2 }],
    volume: 13832.968772,
    vwap: 10,
  },
  {
    name: 'volumes of eight decimals add up to the last one',
    rows: [{ volume: 0.00000001 }, { volume: 1234567.12345678 }, { volume: 0.00000001 }],
    volume: 1234567.1234568,
    vwap: 10,
  },
  {
    name: 'great volumes of few decimals and small ones of many add up exactly',
    rows: [{ volume: 80_000_000.1 }, { volume: 0.00000001 }],
    volume: 80000000.10000001,
    vwap: 10,
  },
  {
    name: 'volumes beyond 2^53 units add up exactly',
    rows: [{ volume: 999_999_999_999_999 }, { volume: 0.5 }],
    volume: 999999999999999.5,
    vwap: 10,
  },
  {
    name: 'a volume that is null makes the sum null',
    rows: [{}, { volume: null }],
    volume: null,
    vwap: null,
  },
  {
    name: 'a vwap of billionths keeps its digits',
    rows: [
      { vwap: 2.234e-9, volume: 1_000 },
      { vwap: 2.236e-9, volume: 1_000 },
    ],
    volume: 2_000,
    vwap: 2.235e-9,
  },
  {
    name: 'a vwap of less than ten decimals can write is not 0',
    rows: [
      { vwap: 2.1e-11, volume: 1_000 },
      { vwap: 2.3e-11, volume: 1_000 },
    ],
    volume: 2_000,
    vwap: 2.2e-11,
  },
  {
    name: 'a vwap below 1 has 15 significant digits',
    rows: [{ vwap: 0.1 }, { vwap: 0.2 }, { vwap: 0.2 }],
    volume: 3,
    vwap: 0.166666666666667,
  },
  {
    name: 'a bar with volume and without vwap makes the vwap null',
    rows: [{}, { vwap: null }],
    volume: 2,
    vwap: null,
  },
  {
    name: 'a bar without volume needs no vwap',
    rows: [{ vwap: 10.5 }, { volume: 0, vwap: null }],
    volume: 1,
    vwap: 10.5,
  },
  {
    name: 'no volume at all is a volume of 0 and no vwap',
    rows: [{ volume: 0 }, { volume: 0 }],
    volume: 0,
    vwap: null,
  },
  {
    name: 'the vwap is weighted by volume and has ten decimals',
    rows: [
      { volume: 1, vwap: 10 },
      { volume: 2, vwap: 11 },
    ],
    volume: 3,
    vwap: 10.6666666667,
  },
];

for (const { name, rows, volume, vwap } of foldCases) {
  test(`${name} (contract 3.8)`, () => {
    assert.deepEqual(foldAll(minutesFrom('2025-01-01T00:00:00Z', rows)), { volume, vwap });
  });
}

test('volumes of up to fifteen digits add up to the double nearest to their exact sum (contract 3.8, 3.12)', () => {
  const volume = fc
    .integer({ min: 1, max: 15 })
    .chain((digits) => fc.tuple(fc.nat(10 ** digits - 1), fc.integer({ min: 0, max: 8 })))
    .map(([units, decimals]) => ({ volume: units / 10 ** decimals }));
  fc.assert(
    fc.property(fc.array(volume, { minLength: 1, maxLength: 12 }), (volumes) => {
      const rows = minutesFrom('2025-01-01T00:00:00Z', volumes);
      assert.equal(foldAll(rows).volume, fold(rows).volume);
    }),
    { numRuns: 500 },
  );
});

test('a bar that meets the early close ends at the close: 60M of 2015-12-24 in New York (contract 3.3, 3.4)', () => {
  // One trade a quarter of an hour, 04:00 to 18:45; NYSE closed at 13:00 that day, the post-market at 17:00.
  // UTC-5.
  const start = Date.parse('2015-12-24T09:00:00Z');
  const rows = Array.from({ length: 60 }, (_, quarter) => ({
    keyMs: start + quarter * 15 * MINUTE_MS,
    open: 100 + quarter,
    high: 100.5 + quarter,
    low: 99.5 + quarter,
    close: 100.25 + quarter,
    volume: 10,
    vwap: 100 + quarter,
  }));
  const hours = (
    extended: boolean,
  ): [open: string, close: string, first: number, last: number, volume: number][] => {
    const segments = calendars.stock.segments(start, start + DAY_MS, extended ? 'all' : 'regular');
    const bars = resample(minuteCells(columnsOf(rows), segments, 60, 1));
    return rowsOf(timeMinutes(bars, segments, 60)).map((row) => [
      new Date(row.openMs).toISOString().slice(11, 16),
      new Date(row.closeMs).toISOString().slice(11, 16),
      row.open,
      row.close,
      row.volume!,
    ]);
  };
  const regular = [
    ['14:30', '15:30', 122, 125.25, 40],
    ['15:30', '16:30', 126, 129.25, 40],
    ['16:30', '17:30', 130, 133.25, 40],
    ['17:30', '18:00', 134, 135.25, 20],
  ];
  assert.deepEqual(hours(false), regular);
  assert.deepEqual(hours(true), [
    ['09:00', '10:00', 100, 103.25, 40],
    ['10:00', '11:00', 104, 107.25, 40],
    ['11:00', '12:00', 108, 111.25, 40],
    ['12:00', '13:00', 112, 115.25, 40],
    ['13:00', '14:00', 116, 119.25, 40],
    ['14:00', '14:30', 120, 121.25, 20],
    ...regular,
    ['18:00', '19:00', 136, 139.25, 40],
    ['19:00', '20:00', 140, 143.25, 40],
    ['20:00', '21:00', 144, 147.25, 40],
    ['21:00', '22:00', 148, 151.25, 40],
  ]);
});
