// The bars of an instrument up to DAY, each cell and session from the series that serves it (contract 3.6,
// 3.8).
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { intervalMinutes } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import { lowerBound } from '../market/bars/columns.ts';
import { type Cell, filterTimed } from '../market/bars/grid.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { hoursOf, isPeriod } from '../market/calendar/period.ts';
import { mapped, type Stream, type StreamRange, servedBars } from './cursor.ts';
import { derivedFrom } from './derived.ts';
import { filled, type Gaps, mergedDays } from './filled.ts';
import { candidates, cutAtSpan, DAY, type Reach, reachOf } from './plan.ts';
import type { Series } from './series.ts';
import { type Part, type PartStream, type StreamContext, storedStream } from './stream.ts';

/** A session may be up to two UTC days away from its label date. */
const SLACK_MS = 2 * DAY_MS;

const nothing: PartStream = { next: async () => null };

/** The bars of one series, stored or derived, with keys in a range. */
export function partsOf(context: StreamContext, series: Series, range: StreamRange): PartStream {
  const ofItsOwn = series.interval === context.interval ? storedStream : derivedFrom;
  return mapped(ofItsOwn(context, series, range), (timed) => ({ series, timed }));
}

/** The bars that `holds` is true for. */
export const filtered = (parts: PartStream, holds: (series: Series, day: number) => boolean): PartStream =>
  mapped(parts, ({ series, timed }) => {
    const some = filterTimed(timed, (row) => holds(series, timed.day[row]!));
    return some.bars.count === 0 ? null : { series, timed: some };
  });

/** One stream after the other. */
function sequence<Step>(streams: readonly Stream<Step>[]): Stream<Step> {
  let at = 0;
  return {
    async next(atLeast) {
      while (at < streams.length) {
        const step = await streams[at]!.next(atLeast);
        if (step !== null) return step;
        at++;
      }
      return null;
    },
  };
}

/** Streams of neighbouring ranges, in the direction. */
const inOrder = (descending: boolean, streams: readonly PartStream[]): PartStream =>
  sequence(descending ? streams.toReversed() : streams);

/** A stream that is made when it is first read. */
function deferred(make: () => Promise<PartStream>): PartStream {
  let made: Promise<PartStream> | undefined;
  return {
    async next(atLeast) {
      made ??= make();
      return (await made).next(atLeast);
    },
  };
}

/** The place behind a session: the next one. */
const nextSession =
  ({ calendar }: Pick<StreamContext, 'calendar'>) =>
  (day: number): number =>
    calendar.sessionOnOrAfter(day + 1)?.day ?? Number.POSITIVE_INFINITY;

/**
 * The label dates of the first session that reaches into a range of keys, and of the day behind the last one.
 */
function sessionsOf({ calendar, interval }: StreamContext, { fromMs, toMs }: StreamRange) {
  const next = nextSession({ calendar });
  if (isPeriod(interval)) return { from: next(Math.ceil(fromMs / DAY_MS) - 1), to: Math.ceil(toMs / DAY_MS) };
  let from = next(calendar.zone.dayAt(fromMs) - 2);
  for (let session = calendar.sessionOn(from); session !== null; session = calendar.sessionOn(from)) {
    if (hoursOf(session, true).closeMs > fromMs) break;
    from = next(from);
  }
  let last = calendar.sessionOnOrBefore(calendar.zone.dayAt(toMs - 1) + 1);
  while (last !== null && hoursOf(last, true).openMs >= toMs) last = calendar.sessionOnOrBefore(last.day - 1);
  return { from, to: (last?.day ?? from - 1) + 1 };
}

/**
 * The keys in a range that bars of the sessions from one label date up to another have; there is such a
 * session.
 */
export function keysOf(
  { calendar, interval }: StreamContext,
  from: number,
  to: number,
  range: StreamRange,
): StreamRange {
  const [fromMs, toMs] = isPeriod(interval)
    ? [from * DAY_MS, to * DAY_MS]
    : [
        hoursOf(calendar.sessionOnOrAfter(from)!, true).openMs,
        hoursOf(calendar.sessionOnOrBefore(to - 1)!, true).closeMs,
      ];
  return { ...range, fromMs: Math.max(fromMs, range.fromMs), toMs: Math.min(toMs, range.toMs) };
}

/** The gaps of a stream of a range, by sessions. */
export const sessionGaps = (
  context: StreamContext,
  range: StreamRange,
  fill: Gaps<Part>['fill'],
): Gaps<Part> => ({
  ...sessionsOf(context, range),
  descending: range.descending,
  placeOf: ({ day }, row) => day[row]!,
  after: nextSession(context),
  fill,
});

/**
 * The bars of a range from the first of some series that has them: inside its span each session of which it
 * has something, whole cells at its edges where no finer series has these better; the next ones serve all
 * else (contract 3.8).
 */
export function bestParts(
  context: StreamContext,
  [best, ...finer]: readonly Series[],
  range: StreamRange,
): PartStream {
  if (best === undefined || range.fromMs >= range.toMs) return nothing;
  if (!reachInto(finer, range)) return partsOf(context, best, range);
  const reach = reachOf(context, best);
  const { before, inside, after } = cutAtSpan(reach, range);
  return inOrder(range.descending, [
    bestParts(context, finer, before),
    deferred(async () => insideSpan(context, best, finer, reach, inside)),
    bestParts(context, finer, after),
  ]);
}

/** Whether any of some series may have bars in a range of keys. */
const reachInto = (series: readonly Series[], { fromMs, toMs }: StreamRange): boolean =>
  series.some(({ first_ms, last_ms }) => first_ms < toMs + SLACK_MS && last_ms >= fromMs - SLACK_MS);

async function insideSpan(
  context: StreamContext,
  best: Series,
  finer: readonly Series[],
  reach: Reach,
  range: StreamRange,
): Promise<PartStream> {
  const streams: PartStream[] = [];
  let { fromMs } = range;
  for (const cell of partialCells(reach)) {
    const { keyMs } = cell;
    if (keyMs < fromMs || keyMs >= range.toMs) continue;
    // Bars of extended hours alone make no day: then the next series are preferred.
    const own = partsOf(context, best, { ...range, fromMs: keyMs, toMs: keyMs + 1 });
    if ((await own.next(1)) === null) continue;
    const holding = await holdingAll(context, best, finer, reach, cell);
    if (holding.length === 0) continue;
    streams.push(
      withSessions(context, best, finer, { ...range, fromMs, toMs: keyMs }),
      bestParts(context, holding, { ...range, fromMs: keyMs, toMs: keyMs + 1 }),
    );
    fromMs = keyMs + 1;
  }
  streams.push(withSessions(context, best, finer, { ...range, fromMs }));
  return inOrder(range.descending, streams);
}

/** The first and the last cell of a series, where it has only a part of them. */
function partialCells({ first, last, fromMs, toMs }: Reach): Cell[] {
  const isFirstPartial = fromMs > first.openMs;
  const isLastPartial = toMs < last.closeMs;
  if (first.keyMs === last.keyMs) return isFirstPartial || isLastPartial ? [first] : [];
  return [...(isFirstPartial ? [first] : []), ...(isLastPartial ? [last] : [])];
}

/**
 * Of some finer series those from the first on that has all of what a series has of a partial cell, and more
 * (contract 3.8).
 */
async function holdingAll(
  context: StreamContext,
  best: Series,
  finer: readonly Series[],
  { fromMs, toMs }: Reach,
  cell: Cell,
): Promise<readonly Series[]> {
  for (const [at, series] of finer.entries()) {
    const other = reachOf(context, series);
    const [partFromMs, partToMs] = [Math.max(fromMs, cell.openMs), Math.min(toMs, cell.closeMs)];
    const hasMore =
      (partFromMs > cell.openMs && other.fromMs < partFromMs) ||
      (partToMs < cell.closeMs && other.toMs > partToMs);
    if (!hasMore || other.fromMs > partFromMs || other.toMs < partToMs) continue;
    if (await isBesideAll(context, best, series, cell)) return finer.slice(at);
  }
  return [];
}

/** Whether a finer series has a bar within each one that a series has of a cell. */
async function isBesideAll(
  { reader }: StreamContext,
  series: Series,
  finer: Series,
  { openMs: fromMs, closeMs: toMs }: Cell,
): Promise<boolean> {
  const stepMs = intervalMinutes(series.interval)! * MINUTE_MS;
  const range = { fromMs, toMs, descending: false };
  const bars = await servedBars(reader, series, range).next(limits.barsPerStepMax);
  const others = await servedBars(reader, finer, range).next(limits.barsPerStepMax);
  if (bars === null || others === null) return bars === null;
  for (let bar = 0; bar < bars.count; bar++) {
    const at = lowerBound(others, bars.keyMs[bar]!);
    if (at === others.count || others.keyMs[at]! >= bars.keyMs[bar]! + stepMs) return false;
  }
  return true;
}

/** The bars of a series; sessions of which it has nothing are served from finer ones (contract 3.8). */
function withSessions(
  context: StreamContext,
  series: Series,
  finer: readonly Series[],
  range: StreamRange,
): PartStream {
  if (range.fromMs >= range.toMs) return nothing;
  const own = partsOf(context, series, range);
  if (!reachInto(finer, range)) return own;
  return filled(
    own,
    sessionGaps(context, range, async (from, to) => {
      const keys = keysOf(context, from, to, range);
      if (!reachInto(finer, keys)) return nothing;
      const lacking = await lackingRanges(context, series, from, to);
      return inOrder(
        range.descending,
        lacking.map(([first, end]) => bestParts(context, finer, keysOf(context, first, end, range))),
      );
    }),
  );
}

/**
 * Of the sessions between two label dates, of which a series has no bar in the asked hours and range, those
 * of which it has none at all: whichever part of a session is asked for, it is served from the same series.
 */
async function lackingRanges(
  { reader, calendar, interval }: StreamContext,
  series: Series,
  from: number,
  to: number,
): Promise<[from: number, to: number][]> {
  if (isPeriod(interval)) return [[from, to]];
  const sessions = calendar.sessions(from, to);
  const [first, last] = [hoursOf(sessions[0]!, true), hoursOf(sessions.at(-1)!, true)];
  const range = { fromMs: first.openMs, toMs: last.closeMs, descending: false };
  const days = new Set<number | null>();
  const bars = servedBars(reader, series, range);
  for (let step = await bars.next(limits.barsPerStepMax); step !== null; ) {
    for (let bar = 0; bar < step.count; bar++) days.add(calendar.labelAt(step.keyMs[bar]!));
    step = await bars.next(limits.barsPerStepMax);
  }
  const ranges: [number, number][] = [];
  for (const { day } of sessions) {
    if (days.has(day)) continue;
    const before = ranges.at(-1);
    if (before !== undefined && nextSession({ calendar })(before[1] - 1) === day) before[1] = day + 1;
    else ranges.push([day, day + 1]);
  }
  return ranges;
}

/** Whether the span of a series of minutes holds the whole regular session of a label date. */
function holdsSession(calendar: Calendar, { interval, first_ms, last_ms }: Series, day: number): boolean {
  const session = calendar.sessionOn(day)!;
  return first_ms <= session.openMs && last_ms + intervalMinutes(interval)! * MINUTE_MS >= session.closeMs;
}

/**
 * DAY bars of some series. With extended hours a session is derived from bars of minutes where regular ones
 * are in it, and no DAY bar is stored for it or their span holds its regular hours; any other session is its
 * stored bar (contract 3.6).
 */
export function dayParts(context: StreamContext, series: readonly Series[], range: StreamRange): PartStream {
  const all = candidates({ series }, DAY);
  const [days, minutes] = [
    all.find(({ interval }) => interval === DAY),
    all.filter(({ interval }) => interval !== DAY),
  ];
  const regular = { ...context, extended: false };
  if (!context.extended || minutes.length === 0) return bestParts(regular, all, range);
  const intraday = (some: StreamRange): PartStream => bestParts(context, minutes, some);
  if (days === undefined) return intraday(range);
  const isHeld = (one: Series, day: number): boolean => holdsSession(context.calendar, one, day);
  // A stored bar of a date without a session is a bar too.
  const whole = filtered(intraday(range), isHeld);
  const stored = mergedDays(whole, partsOf(regular, days, range), range.descending);
  return filled(
    stored,
    sessionGaps(context, range, (from, to) =>
      filtered(intraday(keysOf(context, from, to, range)), (one, day) => !isHeld(one, day)),
    ),
  );
}
