// Which series serves what, on random stores: a direct reading of contract 3.5, 3.6 and 3.8 is the oracle.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, dayOf, formatDay, MINUTE_MS } from '../src/base/instant.ts';
import { type Calendar, calendarOf } from '../src/market/calendar/calendar.ts';
import type { Session } from '../src/market/calendar/session.ts';
import { type BarRecord, page, type Row, World, walk } from './bar-world.ts';
import { fc, times } from './seed.ts';

// Three weeks with a holiday and an early close in New York, and the end of a month.
const FIRST_DAY = dayOf(2024, 11, 18);
const DAYS = 21;

const markets = {
  stock: ['stock', 'US'],
  lunch: ['stock', 'HK'],
  auction: ['stock', 'UK'],
  forex: ['forex', 'GLOBAL'],
  crypto: ['crypto', 'GLOBAL'],
} as const;

type Segment = Session['segments'][number];
type Values = {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
};
/** A stored bar of minutes. */
type Minutes = Values & { readonly openMs: number; readonly session: Session; readonly segment: Segment };
/** A stored series of minutes. */
type MinuteSeries = { readonly minutes: number; readonly prices: string; readonly bars: readonly Minutes[] };
/** Stored rows of DAY, WEEK or MON, by the day number of their label or the first day of their period. */
type PeriodRows = ReadonlyMap<number, Values>;

type Store = {
  readonly calendar: Calendar;
  readonly series: readonly MinuteSeries[];
  readonly days: { readonly prices: string; readonly rows: PeriodRows };
  readonly periods: Readonly<Record<'WEEK' | 'MON', PeriodRows>>;
};

/** A bar as the contract has it. */
type Expected = Values & { readonly openMs: number; readonly closeMs: number; readonly day: number };

function folded(bars: readonly Values[]): Values {
  return {
    open: bars[0]!.open,
    high: Math.max(...bars.map(({ high }) => high)),
    low: Math.min(...bars.map(({ low }) => low)),
    close: bars.at(-1)!.close,
    volume: bars.reduce((sum, { volume }) => sum + volume, 0),
  };
}

const endOf = ({ minutes }: MinuteSeries, { openMs, segment }: Minutes): number =>
  Math.min(openMs + minutes * MINUTE_MS, segment.closeMs);

type Hours = { readonly openMs: number; readonly closeMs: number };

/** From the first bar of a series to the last. */
const spanOf = (series: MinuteSeries): Hours => ({
  openMs: series.bars[0]!.openMs,
  closeMs: endOf(series, series.bars.at(-1)!),
});

const isWithin = ({ openMs }: Minutes, hours: Hours): boolean =>
  hours.openMs <= openMs && openMs < hours.closeMs;

/**
 * Of finer series those from the one on that holds all of what `preferred` has of a cell at the edge of its
 * span, and more: "a finer series serves a cell only where it holds all of what the preferred one has there;
 * else the preferred one serves".
 */
function holdingAll(preferred: MinuteSeries, finer: readonly MinuteSeries[], cell: Hours): MinuteSeries[] {
  const span = spanOf(preferred);
  const part = {
    openMs: Math.max(span.openMs, cell.openMs),
    closeMs: Math.min(span.closeMs, cell.closeMs),
  };
  // The span begins or ends outside the cell: it is no cell at its edge on that side.
  const lacksFront = part.openMs > cell.openMs;
  const lacksBack = part.closeMs < cell.closeMs;
  const at = finer.findIndex((other) => {
    const { openMs, closeMs } = spanOf(other);
    const hasMore = (lacksFront && openMs < part.openMs) || (lacksBack && closeMs > part.closeMs);
    const reaches = openMs <= part.openMs && closeMs >= part.closeMs;
    const holdsEach = preferred.bars
      .filter((bar) => isWithin(bar, cell))
      .every((bar) =>
        other.bars.some(
          (one) => bar.openMs <= one.openMs && one.openMs < bar.openMs + preferred.minutes * MINUTE_MS,
        ),
      );
    return hasMore && reaches && holdsEach;
  });
  return at < 0 ? [] : finer.slice(at);
}

const hoursOf = ({ segments, openMs, dayCloseMs }: Session, extended: boolean): Hours =>
  extended
    ? { openMs: segments[0]!.openMs, closeMs: segments.at(-1)!.closeMs }
    : { openMs, closeMs: dayCloseMs };

const isOf = (session: Session) => (bar: Minutes) => bar.session.day === session.day;

/** The bars of minutes that a session's DAY bar is made of, and their series. */
function minutesOf(all: readonly MinuteSeries[], session: Session, extended: boolean) {
  for (const [at, series] of all.entries()) {
    const inside = series.bars
      .filter(isOf(session))
      .filter(({ segment }) => extended || segment.kind === 'regular' || segment.kind === 'auction');
    const makesDay = extended ? inside.some(({ segment }) => segment.kind === 'regular') : inside.length > 0;
    if (!makesDay) continue;
    const better = holdingAll(series, all.slice(at + 1), hoursOf(session, extended));
    const isEdge = [series.bars[0]!, series.bars.at(-1)!].some(isOf(session));
    if (isEdge && better.length > 0) return minutesOf(better, session, extended);
    return { series, inside };
  }
  return null;
}

type Day = Expected & { readonly isStored: boolean; readonly coarseness: number; readonly prices: string };

/** The DAY bar of a session. */
function dayBar({ series, days }: Store, session: Session, extended: boolean): Day | null {
  const row = days.rows.get(session.day);
  const stored =
    row === undefined
      ? null
      : {
          ...row,
          ...hoursOf(session, false),
          day: session.day,
          isStored: true,
          coarseness: 2_000,
          prices: days.prices,
        };
  if (stored !== null && !extended) return stored;
  const made = minutesOf(series, session, extended);
  if (made === null) return stored;
  const span = spanOf(made.series);
  const holdsRegular = span.openMs <= session.openMs && span.closeMs >= session.closeMs;
  if (stored !== null && !holdsRegular) return stored;
  const { minutes: coarseness, prices } = made.series;
  return {
    ...folded(made.inside),
    ...hoursOf(session, extended),
    day: session.day,
    isStored: false,
    coarseness,
    prices,
  };
}

const mondayOf = (day: number): number => day - ((new Date(day * DAY_MS).getUTCDay() + 6) % 7);
const monthOf = (day: number): number => {
  const date = new Date(day * DAY_MS);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY_MS;
};
const startOf = { WEEK: mondayOf, MON: monthOf } as const;

/** The bar of a week or month with some sessions. */
function periodBar(
  store: Store,
  interval: 'WEEK' | 'MON',
  sessions: readonly Session[],
  extended: boolean,
): Expected | null {
  const [first, last] = [sessions[0]!, sessions.at(-1)!];
  const row = store.periods[interval].get(startOf[interval](first.day));
  const hours = (isEth: boolean) => ({
    openMs: hoursOf(first, isEth).openMs,
    closeMs: hoursOf(last, isEth).closeMs,
    day: first.day,
  });
  const stored = row === undefined ? null : { ...row, ...hours(false) };
  if (stored !== null && !extended) return stored;
  const daysOf = (from: Store): Day[] =>
    sessions.map((session) => dayBar(from, session, extended)).filter((day) => day !== null);
  let days = daysOf(store);
  if (days.length === 0) return stored;
  if (new Set(days.map(({ prices }) => prices)).size > 1) {
    // All of the price basis of the coarsest series; where a session is to be had on another one only, there
    // is no bar.
    const { prices } = days.toSorted((a, b) => b.coarseness - a.coarseness)[0]!;
    const same = daysOf({
      ...store,
      series: store.series.filter((one) => one.prices === prices),
      days: store.days.prices === prices ? store.days : { prices, rows: new Map() },
    });
    if (same.length < days.length) return stored;
    days = same;
  }
  const isDerived = days.some(({ isStored }) => !isStored);
  const spans = store.series.map(({ bars }) => [bars[0]!.session.day, bars.at(-1)!.session.day]);
  const labels = [...store.days.rows.keys()];
  if (labels.length > 0) spans.push([Math.min(...labels), Math.max(...labels)]);
  const holdsAll = sessions.every(
    ({ day }) =>
      days.some((one) => one.day === day) || spans.some(([from, to]) => from! <= day && day <= to!),
  );
  if (stored !== null && !(isDerived && holdsAll)) return stored;
  return { ...folded(days), ...hours(extended && isDerived) };
}

/** The bar of a cell of minutes from the first of some series that serves it. */
function cellBar(
  [series, ...finer]: readonly MinuteSeries[],
  minutes: number,
  cell: Hours,
  session: Session,
): Values | null {
  if (series === undefined) return null;
  const { bars } = series;
  const cellOf = ({ openMs, segment }: Minutes): Hours => {
    const stepMs = minutes * MINUTE_MS;
    const from = segment.openMs + Math.floor((openMs - segment.openMs) / stepMs) * stepMs;
    return { openMs: from, closeMs: Math.min(from + stepMs, segment.closeMs) };
  };
  const [first, last] = [cellOf(bars[0]!), cellOf(bars.at(-1)!)];
  const isOutside = cell.closeMs <= first.openMs || cell.openMs > last.openMs;
  if (isOutside || !bars.some(isOf(session))) return cellBar(finer, minutes, cell, session);
  if ([first, last].some(({ openMs }) => openMs === cell.openMs) && series.minutes < minutes) {
    const better = holdingAll(series, finer, cell);
    if (better.length > 0) return cellBar(better, minutes, cell, session);
  }
  const inside = bars.filter((bar) => isWithin(bar, cell));
  return inside.length === 0 ? null : folded(inside);
}

/** All bars of an interval, in order. */
function expectedOf(store: Store, interval: string, isEth: boolean): Expected[] {
  const { calendar } = store;
  const sessions = calendar.sessions(FIRST_DAY - 40, FIRST_DAY + DAYS + 40);
  // Where a market has no other hours, is_eth changes nothing.
  const hasOthers = sessions.some(({ segments }) =>
    segments.some(({ kind }) => kind !== 'regular' && (kind !== 'auction' || interval.endsWith('M'))),
  );
  const extended = isEth && hasOthers;
  if (interval === 'DAY')
    return sessions.map((session) => dayBar(store, session, extended)).filter((bar) => bar !== null);
  if (interval === 'WEEK' || interval === 'MON')
    return [...Map.groupBy(sessions, ({ day }) => startOf[interval](day)).values()]
      .map((group) => periodBar(store, interval, group, extended))
      .filter((bar) => bar !== null);
  const minutes = Number(interval.slice(0, -1));
  const candidates = store.series.filter((series) => minutes % series.minutes === 0);
  return sessions.flatMap((session) =>
    session.segments.flatMap((segment) => {
      if (!extended && segment.kind !== 'regular') return [];
      const bars: Expected[] = [];
      for (let openMs = segment.openMs; openMs < segment.closeMs; openMs += minutes * MINUTE_MS) {
        const cell = { openMs, closeMs: Math.min(openMs + minutes * MINUTE_MS, segment.closeMs) };
        const bar = cellBar(candidates, minutes, cell, session);
        if (bar !== null) bars.push({ ...bar, ...cell, day: session.day });
      }
      return bars;
    }),
  );
}

// Random stores.

const percent = fc.noBias(fc.nat(100));
/** Stretches of a grid: where each begins, how long it is, and every how many-th bar is there. */
const stretches = fc.array(fc.tuple(percent, fc.constantFrom(3, 15, 40, 100), fc.constantFrom(1, 1, 3, 17)), {
  minLength: 1,
  maxLength: 3,
});
const series = fc.record({ stretches, prices: fc.constantFrom('raw', 'raw', 'raw', 'raw', 'split') });

function places(count: number, some: readonly (readonly [number, number, number])[]): number[] {
  const found = new Set<number>();
  for (const [from, length, step] of some)
    for (
      let at = Math.floor((from / 100) * count);
      at < Math.min(count, ((from + length) / 100) * count);
      at += step
    )
      found.add(at);
  return [...found].sort((a, b) => a - b);
}

const MINUTES = [240, 60, 30, 10] as const;

type Drawn = { readonly stretches: readonly [number, number, number][]; readonly prices: string };
type Scene = {
  readonly market: keyof typeof markets;
  readonly minutes: readonly (Drawn | null)[];
  readonly days: Drawn | null;
  readonly weeks: Drawn['stretches'] | null;
  readonly months: Drawn['stretches'] | null;
  readonly sort: 'asc' | 'desc';
  readonly pages: number;
};

const scenes: fc.Arbitrary<Scene> = fc.record({
  market: fc.constantFrom(...(Object.keys(markets) as (keyof typeof markets)[])),
  minutes: fc.tuple(...MINUTES.map(() => fc.option(series, { freq: 2 }))),
  days: fc.option(series, { freq: 3 }),
  weeks: fc.option(stretches, { freq: 2 }),
  months: fc.option(stretches, { freq: 2 }),
  sort: fc.constantFrom('asc', 'desc'),
  pages: fc.integer({ min: 1, max: 4 }),
});

const valuesOf = (of: number, place: number): Values => {
  const open = 1_000 * of + ((place * 37) % 500);
  return { open, high: open + 3, low: open - 2, close: open + 1, volume: 1 + ((place * 29) % 97) };
};

const rowsOf = (rows: PeriodRows): Row[] =>
  [...rows].map(([day, values]) => ({ at: formatDay(day), ...values }));

/** A random store as the oracle sees it; null where nothing is in it. */
function storeOf(scene: Scene): Store | null {
  const [asset_schema, country] = markets[scene.market];
  const calendar = calendarOf(asset_schema, country);
  const sessions = calendar.sessions(FIRST_DAY, FIRST_DAY + DAYS);
  const found: MinuteSeries[] = [];
  for (const [index, minutes] of MINUTES.entries()) {
    const drawn = scene.minutes[index];
    if (drawn == null) continue;
    const grid = sessions.flatMap((session) =>
      session.segments.flatMap((segment) =>
        Array.from(
          { length: Math.ceil((segment.closeMs - segment.openMs) / (minutes * MINUTE_MS)) },
          (_, at) => ({
            ...{ openMs: segment.openMs + at * minutes * MINUTE_MS, session, segment },
          }),
        ),
      ),
    );
    const bars = places(grid.length, drawn.stretches).map((place) => ({
      ...grid[place]!,
      ...valuesOf(minutes / 10, place),
    }));
    if (bars.length > 0) found.push({ minutes, prices: drawn.prices, bars });
  }
  const rows = (starts: readonly number[], drawn: Scene['weeks'], of: number): PeriodRows =>
    new Map(places(starts.length, drawn ?? []).map((place) => [starts[place]!, valuesOf(of, place)]));
  const labels = sessions.map(({ day }) => day);
  const days = {
    prices: scene.days?.prices ?? 'raw',
    rows: rows(labels, scene.days?.stretches ?? null, 50),
  };
  const periods = {
    WEEK: rows([...new Set(labels.map(mondayOf))], scene.weeks, 60),
    MON: rows([...new Set(labels.map(monthOf))], scene.months, 70),
  };
  const isEmpty = found.length + days.rows.size + periods.WEEK.size + periods.MON.size === 0;
  return isEmpty ? null : { calendar, series: found, days, periods };
}

const text = (ms: number): string => new Date(ms).toISOString().replace('.000Z', '+00:00');

const served = ({ datetime, close_datetime, session_date, open, high, low, close, volume }: BarRecord) =>
  `${datetime} ${close_datetime} ${session_date} ${open} ${high} ${low} ${close} ${volume}`;
const wanted = ({ openMs, closeMs, day, open, high, low, close, volume }: Expected) =>
  `${text(openMs)} ${text(closeMs)} ${formatDay(day)} ${open} ${high} ${low} ${close} ${volume}`;

/** Random stores. */
const RUNS = times(20);

test('each bar is served from the series that a direct reading says, whatever is stored of each (contract 3.5, 3.6, 3.8, 3.11)', async () => {
  const world = await World.create();
  let symbols = 0;
  const compared = { bars: 0, cases: 0 };
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const store = storeOf(scene);
      if (store === null) return;
      const [asset_schema, country_iso_code] = markets[scene.market];
      const symbol = `S${++symbols}`;
      const stored = [
        ...store.series.map(({ minutes, prices, bars }) => ({
          ...{ interval: `${minutes}M`, prices },
          rows: bars.map(({ openMs, open, high, low, close, volume }) => ({
            at: new Date(openMs).toISOString(),
            ...{ open, high, low, close, volume },
          })),
        })),
        { interval: 'DAY', prices: store.days.prices, rows: rowsOf(store.days.rows) },
        { interval: 'WEEK', rows: rowsOf(store.periods.WEEK) },
        { interval: 'MON', rows: rowsOf(store.periods.MON) },
      ].filter(({ rows }) => rows.length > 0) as Parameters<World['instrument']>[1];
      await world.instrument({ asset_schema, country_iso_code, symbol }, stored);
      const named = { schema_asset: asset_schema, country_symbol: `${country_iso_code}:${symbol}` };
      for (const interval of ['30M', '120M', '240M', 'DAY', 'WEEK', 'MON'])
        for (const isEth of [false, true]) {
          const expected: string[] = expectedOf(store, interval, isEth).map(wanted);
          const asked = { ...named, interval, is_eth: String(isEth), session_date: 'true' };
          const pages = await walk(world, {
            ...{ ...asked, from_date: '2024-10-01', to_date: '2025-01-31', sort: scene.sort },
            limit: String(Math.min(1_000, Math.max(1, Math.ceil(expected.length / scene.pages)))),
          });
          const found = scene.sort === 'asc' ? pages.flat() : pages.flat().reverse();
          assert.deepEqual(found.map(served), expected, `${interval} ${isEth}`);
          const latest = page(await world.run('latestBars', { ...asked, limit: '3' }));
          assert.deepEqual(latest.data.map(served), expected.slice(-3), `latest ${interval} ${isEth}`);
          compared.bars += expected.length;
          compared.cases++;
        }
    }),
    { numRuns: RUNS },
  );
  assert.ok(
    compared.bars > 5 * compared.cases,
    `${compared.bars} bars in ${compared.cases} cases show little`,
  );
});
