// Derived bars of a real store, for any base interval, range, order and page size: a direct reading of
// contract 3.3 to 3.9 is the oracle.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, dayOf, formatDay, MINUTE_MS } from '../src/base/instant.ts';
import { type Calendar, calendarOf } from '../src/market/calendar/calendar.ts';
import type { Session } from '../src/market/calendar/session.ts';
import { type BarRecord, type Row, World, walk } from './bar-world.ts';
import { fc, times } from './seed.ts';

const FIRST_DAY = dayOf(2025, 2, 24);
const DAYS = 25;

// Of each market no day of these weeks is a holiday; daylight saving begins in two of them.
const markets = {
  stock: ['stock', 'US'],
  lunch: ['stock', 'HK'],
  auction: ['stock', 'UK'],
  forex: ['forex', 'GLOBAL'],
  crypto: ['crypto', 'GLOBAL'],
} as const;

/** A base bar: what it is stored by, the session that it is of, and its values. */
type BaseBar = Row & { readonly keyMs: number; readonly session: Session };

/** A bar as the contract has it. */
type Derived = {
  readonly openMs: number;
  readonly closeMs: number;
  readonly label: number;
  readonly of: BaseBar[];
};

/** All keys at which a market may have bars of an interval: in every segment, from its open on. */
function gridOf(calendar: Calendar, minutes: number): { keyMs: number; session: Session }[] {
  return calendar.sessions(FIRST_DAY, FIRST_DAY + DAYS).flatMap((session) => {
    if (minutes === 0) return [{ keyMs: session.day * DAY_MS, session }];
    return session.segments.flatMap(({ openMs, closeMs }) =>
      Array.from({ length: Math.ceil((closeMs - openMs) / (minutes * MINUTE_MS)) }, (_, at) => ({
        keyMs: openMs + at * minutes * MINUTE_MS,
        session,
      })),
    );
  });
}

/**
 * Bars at some places of a grid. Volumes have cents, which doubles do not sum exactly; some bars have no
 * vwap.
 */
function barsAt(grid: ReturnType<typeof gridOf>, places: readonly number[], gap: number): BaseBar[] {
  return places.map((place) => {
    const price = 100 + ((place * 37) % 113) / 8;
    const values = { open: price, high: price + 0.5, low: price - 0.25, close: price + 0.125 };
    const vwap = place % gap === gap - 1 ? {} : { vwap: price };
    const { keyMs, session } = grid[place]!;
    const at = new Date(keyMs).toISOString();
    return { at, keyMs, session, ...values, volume: (1 + ((place * 29) % 997)) / 100, ...vwap };
  });
}

const monday = (day: number): number => day - ((new Date(day * DAY_MS).getUTCDay() + 6) % 7);
const monthOf = (day: number): string => formatDay(day).slice(0, 7);

const periods = new WeakMap<Session, Map<string, Session[]>>();

/** The sessions of the day, week or month that a session is in. */
function periodOf(calendar: Calendar, asked: string, session: Session): Session[] {
  const { day } = session;
  const known = periods.get(session) ?? new Map<string, Session[]>();
  periods.set(session, known);
  const found = known.get(asked);
  if (found !== undefined) return found;
  const sessions = calendar
    .sessions(day - 40, day + 40)
    .filter((one) =>
      asked === 'DAY'
        ? one.day === day
        : asked === 'WEEK'
          ? monday(one.day) === monday(day)
          : monthOf(one.day) === monthOf(day),
    );
  known.set(asked, sessions);
  return sessions;
}

/** The bar that a base bar belongs to; null where it counts for none. */
function placeOf(
  calendar: Calendar,
  scene: Scene,
  bar: Pick<BaseBar, 'keyMs' | 'session'>,
): Omit<Derived, 'of'> | null {
  const { asked, extended, base } = scene;
  const { session, keyMs } = bar;
  const minutes = asked.endsWith('M') ? Number(asked.slice(0, -1)) : null;
  const segment = session.segments.find(({ openMs, closeMs }) => openMs <= keyMs && keyMs < closeMs);
  if (minutes !== null) {
    if (!extended && segment!.kind !== 'regular') return null;
    const stepMs = minutes * MINUTE_MS;
    const openMs = segment!.openMs + Math.floor((keyMs - segment!.openMs) / stepMs) * stepMs;
    return { openMs, closeMs: Math.min(openMs + stepMs, segment!.closeMs), label: session.day };
  }
  if (base > 0 && !extended && segment!.kind !== 'regular' && segment!.kind !== 'auction') return null;
  const period = periodOf(calendar, asked, session);
  const [first, last] = [period[0]!, period.at(-1)!];
  const [openMs, closeMs] = extended
    ? [first.segments[0]!.openMs, last.segments.at(-1)!.closeMs]
    : [first.openMs, last.dayCloseMs];
  return { openMs, closeMs, label: first.day };
}

/** The sum of volumes in cents, and of each times its price in thousandths. */
function sumsOf(bars: readonly BaseBar[]): { volume: number; vwap: number | null } {
  const cents = (bar: BaseBar): bigint => BigInt(Math.round(bar.volume! * 100));
  const volume = bars.reduce((sum, bar) => sum + cents(bar), 0n);
  const paid = bars.reduce((sum, bar) => sum + cents(bar) * BigInt(Math.round((bar.vwap ?? 0) * 1_000)), 0n);
  const isKnown = bars.every(({ vwap }) => vwap !== undefined);
  return { volume: Number(volume) / 100, vwap: isKnown ? Number(paid) / Number(volume) / 1_000 : null };
}

type Scene = {
  readonly market: keyof typeof markets;
  readonly base: number;
  readonly asked: string;
  readonly extended: boolean;
};

/** What a direct reading of the contract serves between two instants, both included. */
function expectedOf(
  calendar: Calendar,
  scene: Scene,
  bars: readonly BaseBar[],
  { completeMs, fromMs, toMs }: { completeMs: number; fromMs: number; toMs: number },
): Derived[] {
  const found = new Map<number, Derived>();
  for (const bar of bars) {
    const place = placeOf(calendar, scene, bar);
    if (place === null || place.closeMs > completeMs || place.openMs < fromMs || place.openMs > toMs)
      continue;
    const known = found.get(place.openMs) ?? { ...place, of: [] };
    known.of.push(bar);
    found.set(place.openMs, known);
  }
  return [...found.values()].sort((a, b) => a.openMs - b.openMs);
}

function requireEqual(served: BarRecord, { openMs, closeMs, label, of }: Derived): void {
  const { volume, vwap } = sumsOf(of);
  const text = (ms: number): string => new Date(ms).toISOString().replace('.000Z', '+00:00');
  const [high, low] = [Math.max(...of.map((bar) => bar.high!)), Math.min(...of.map((bar) => bar.low!))];
  assert.deepEqual(
    [served.datetime, served.close_datetime, served.session_date],
    [text(openMs), text(closeMs), formatDay(label)],
  );
  assert.deepEqual(
    [served.open, served.high, served.low, served.close, served.volume],
    [of[0]!.open, high, low, of.at(-1)!.close, volume],
  );
  if (vwap === null || served.vwap === null) assert.equal(served.vwap, vwap);
  else assert.ok(Math.abs(served.vwap - vwap) < 1e-9, `${served.vwap} is not ${vwap}`);
}

/** Base intervals in minutes, 0 for DAY, and what is derived from each. */
const askedOf: Readonly<Record<number, readonly string[]>> = {
  1: ['2M', '7M', '60M', '240M', '1440M', 'DAY', 'WEEK', 'MON'],
  5: ['10M', '15M', '60M', '45M', '1440M', 'DAY', 'WEEK', 'MON'],
  15: ['30M', '60M', '240M', 'DAY', 'WEEK', 'MON'],
  60: ['120M', '240M', 'DAY', 'WEEK', 'MON'],
  0: ['WEEK', 'MON'],
};

const percent = fc.noBias(fc.nat(100));

const scenes = fc.constantFrom(...Object.keys(askedOf).map(Number)).chain((base) =>
  fc.record({
    base: fc.constant(base),
    market: fc.constantFrom(...(Object.keys(markets) as (keyof typeof markets)[])),
    asked: fc.constantFrom(...askedOf[base]!),
    extended: base === 0 ? fc.constant(false) : fc.boolean(),
    /**
     * Stretches of the grid: where each begins and ends, in percent of it, and every how many-th bar is
     * there.
     */
    stretches: fc.array(fc.tuple(percent, percent, fc.constantFrom(1, 3, 31)), {
      minLength: 1,
      maxLength: 5,
    }),
    gap: fc.constantFrom(13, 100_000),
    isUnfinished: fc.boolean(),
    /** Whether another import completed the series through the last session without holding its bars. */
    isCompleted: fc.boolean(),
    range: fc.noBias(
      fc.tuple(fc.integer({ min: -24, max: DAYS * 12 }), fc.integer({ min: 1, max: DAYS * 24 })),
    ),
    sort: fc.constantFrom('asc', 'desc'),
    pages: fc.integer({ min: 1, max: 6 }),
  }),
);

test('derived bars are those of a direct reading, in any range, order and page size (contract 3.3 to 3.9, 4.2)', async () => {
  const world = await World.create();
  let symbols = 0;
  const served = { bars: 0, cases: 0 };
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const [asset_schema, country_iso_code] = markets[scene.market];
      const calendar = calendarOf(asset_schema, country_iso_code);
      const grid = gridOf(calendar, scene.base);
      const places = new Set<number>([Math.floor(grid.length / 2)]);
      for (const [from, length, step] of scene.stretches)
        for (
          let at = Math.floor((from / 100) * grid.length);
          at < Math.min(1, (from + length) / 100) * grid.length;
          at += step
        )
          places.add(at);
      const bars = barsAt(
        grid,
        [...places].sort((a, b) => a - b),
        scene.gap,
      );
      const last = bars.at(-1)!.session;
      const before = calendar.sessions(last.day - 10, last.day).at(-1)!;
      // The last session is one of an import at its midday: its bars are stored and finished by nothing.
      const completeMs =
        scene.isUnfinished && !scene.isCompleted
          ? before.segments.at(-1)!.closeMs
          : Date.parse('2025-12-31T00:00:00Z');
      const named = { asset_schema, country_iso_code, symbol: `S${++symbols}` };
      const interval = scene.base === 0 ? 'DAY' : `${scene.base}M`;
      const id = await world.instrument(named, [
        { interval, rows: bars, finished: new Date(completeMs).toISOString() },
      ]);
      const ofLast = bars.filter(({ session }) => session === last);
      if (scene.isUnfinished) await world.leaveUnfinished(id * 100, ofLast[0]!.keyMs, ofLast.at(-1)!.keyMs);

      const [fromHour, hours] = scene.range;
      const fromMs = FIRST_DAY * DAY_MS + fromHour * 60 * MINUTE_MS;
      const toMs = fromMs + hours * 60 * MINUTE_MS;
      const fed = scene.isUnfinished ? bars.filter(({ session }) => session !== last) : bars;
      // A bar that is not finished is as good as not stored.
      const expected = expectedOf(calendar, scene, fed, { completeMs, fromMs, toMs });
      const pages = await walk(world, {
        ...{ schema_asset: asset_schema, country_symbol: `${country_iso_code}:${named.symbol}` },
        ...{ interval: scene.asked, is_eth: String(scene.extended), sort: scene.sort, session_date: 'true' },
        ...{ from_date: new Date(fromMs).toISOString(), to_date: new Date(toMs).toISOString() },
        limit: String(Math.min(1_000, Math.max(1, Math.ceil(expected.length / scene.pages)))),
      });
      const found = scene.sort === 'asc' ? pages.flat() : pages.flat().reverse();
      assert.equal(found.length, expected.length);
      for (const [at, one] of expected.entries()) requireEqual(found[at]!, one);
      served.cases++;
      served.bars += found.length;
    }),
    { numRuns: times(60) },
  );
  assert.ok(served.bars > 5 * served.cases, `${served.bars} bars in ${served.cases} cases show little`);
});
