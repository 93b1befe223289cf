// WEEK and MON bars: stored ones, and where there is none those that the DAY bars of their sessions make
// (contract 3.6, 3.8, 3.9, 9.4).

import { DAY_MS } from '../base/instant.ts';
import { firstWhere } from '../base/search.ts';
import { limits } from '../contract/limits.ts';
import { filterTimed, type TimedBars } from '../market/bars/grid.ts';
import { type PeriodInterval, periodEnd, periodStart } from '../market/calendar/period.ts';
import { CannotAdjust } from './cannot-adjust.ts';
import { CompletePeriods } from './complete-periods.ts';
import type { Moment } from './completeness.ts';
import type { StreamRange } from './cursor.ts';
import { filled, type Gaps } from './filled.ts';
import { FoldedPeriods } from './folded-periods.ts';
import { keptPeriods, type PeriodPart } from './kept-cells.ts';
import type { MadeOf } from './made-of.ts';
import { allDays, PeriodDays, sharesOf } from './period-days.ts';
import { clamped, DAY, divides, storedSeries } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import { mapped, type Stream } from './steps.ts';
import {
  type BarStream,
  finished,
  type StreamContext,
  storedStream,
  useSeries,
  withTimes,
} from './stream.ts';

/** The bars for which `holds` is true of what they are made of. */
const chosen = (parts: Stream<PeriodPart>, holds: (madeOf: MadeOf) => boolean): Stream<PeriodPart> =>
  mapped(parts, (part) => {
    const timed = filterTimed(part.timed, (row) => holds(part.madeOf(part.timed.bars.keyMs[row]! / DAY_MS)));
    return timed.bars.count === 0 ? null : { ...part, timed };
  });

/** The stored bars of a range that have closed. */
function storedPeriods(
  context: StreamContext,
  series: Series,
  range: StreamRange,
  nowMs: number,
): Stream<PeriodPart> {
  const madeOf: MadeOf = { shares: [{ series, days: 0 }], isMixed: false, yields: false };
  return mapped(storedStream({ ...context, extended: false }, series, range), (step) => {
    const timed = finished(step, nowMs);
    return timed.bars.count === 0 ? null : { timed, madeOf: () => madeOf };
  });
}

/**
 * WEEK or MON bars of a range, served or not: the stored ones, and where there is none those made of DAY
 * bars. With extended hours those made of DAY bars come first, where a session is derived from minutes and
 * they hold all that the stored one has.
 */
function periodParts(
  context: StreamContext,
  stored: StoredInstrument,
  asked: StreamRange,
  nowMs: number,
): Stream<PeriodPart> {
  const range = clamped(stored, asked);
  const made = (some: StreamRange): Stream<PeriodPart> =>
    keptPeriods(
      context,
      stored,
      some,
      (missing, madeOf) => new FoldedPeriods(context, stored, missing, madeOf),
    );
  const series = storedSeries(stored, context.interval);
  if (series === undefined) return made(range);
  const imported = (some: StreamRange) => storedPeriods(context, series, some, nowMs);
  const gaps = (some: StreamRange, fill: (gap: StreamRange) => Stream<PeriodPart>): Gaps<PeriodPart> => {
    const interval = context.interval as PeriodInterval;
    const after = (place: number): number => periodEnd(interval, place);
    const first = Math.ceil(some.fromMs / DAY_MS);
    const start = periodStart(interval, first);
    return {
      from: start < first ? after(start) : start,
      to: Math.ceil(some.toMs / DAY_MS),
      descending: some.descending,
      placeOf: ({ bars }, row) => bars.keyMs[row]! / DAY_MS,
      after,
      fill: (from, to) => fill({ ...some, fromMs: from * DAY_MS, toMs: Math.min(to * DAY_MS, some.toMs) }),
    };
  };
  if (!context.extended) return filled(imported(range), gaps(range, made));
  const whole = chosen(made(range), ({ yields }) => !yields);
  const rest = (gap: StreamRange) => chosen(made(gap), ({ yields }) => yields);
  return filled(
    whole,
    gaps(range, (gap) => filled(imported(gap), gaps(gap, rest))),
  );
}

/** WEEK or MON bars of an instrument, finished and complete at a moment. */
export function periodStream(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  moment: Moment,
): BarStream {
  const hasMinutes = stored.series.some((series) => divides(series, DAY));
  const asked = { ...context, extended: context.extended && hasMinutes };
  const complete = new CompletePeriods(asked, stored, moment);
  return mapped(periodParts(asked, stored, range, moment.nowMs), async (part) => {
    const { bars, openMs, closeMs } = part.timed;
    const hidden = new Set<number>();
    // Most are served for certain.
    const from = firstWhere(bars.count, (at) => openMs[at]! >= complete.certain.fromMs);
    const to = firstWhere(bars.count, (at) => closeMs[at]! > complete.certain.toMs);
    for (let row = 0; row < bars.count; row++) {
      if (row === from && from < to) row = to;
      if (row === bars.count) break;
      const start = bars.keyMs[row]! / DAY_MS;
      const madeOf = part.madeOf(start);
      const span = { fromMs: openMs[row]!, toMs: closeMs[row]! };
      if (!(await complete.isServed(madeOf, start, span))) hidden.add(row);
    }
    const timed = hidden.size === 0 ? part.timed : filterTimed(part.timed, (at) => !hidden.has(at));
    if (timed.bars.count === 0) return null;
    return markUsed(context, timed, (at) => part.madeOf(timed.bars.keyMs[at]! / DAY_MS).shares);
  });
}

/** Bars that are used, by the series that each is made of. @throws CannotAdjust */
function markUsed(
  context: StreamContext,
  timed: TimedBars,
  of: (row: number) => readonly { readonly series: Series }[],
): TimedBars {
  if (!context.rawOnly && context.onUse === null) return timed;
  const known = new Map<Series, boolean>();
  const isSplit = (series: Series): boolean => {
    const is = known.get(series) ?? useSeries(context, series);
    known.set(series, is);
    return is;
  };
  const splitVolume = new Uint8Array(timed.bars.count);
  for (let row = 0; row < timed.bars.count; row++) {
    const [first, ...others] = of(row).map(({ series }) => isSplit(series));
    if (others.some((is) => is !== first))
      throw new CannotAdjust({ kind: 'two-volumes', interval: context.interval });
    if (first) splitVolume[row] = 1;
  }
  return splitVolume.includes(1) ? { ...timed, splitVolume } : timed;
}

/**
 * The DAY bars that the bar of a period is built from anew (contract 9.4); null where they are not complete,
 * or hold less of it than its stored bar.
 */
export async function daysOf(
  context: StreamContext,
  stored: StoredInstrument,
  start: number,
  moment: Moment,
): Promise<TimedBars | null> {
  const end = periodEnd(context.interval as PeriodInterval, start);
  const range = { fromMs: start * DAY_MS, toMs: end * DAY_MS, descending: false };
  const days = new PeriodDays(context, stored);
  const found = await days.ofOneBasis(await allDays(days.parts(range)), range);
  if (found === null || found.of.length === 0) return null;
  const series = storedSeries(stored, context.interval);
  const isStored = series !== undefined && (await storedStream(context, series, range).next(1)) !== null;
  if (isStored && !days.hold(context.calendar.sessions(start, end), found)) return null;
  const complete = new CompletePeriods(context, stored, moment);
  if (!(await complete.areComplete(sharesOf(found, start), start))) return null;
  const timed = withTimes({ ...context, interval: DAY }, found.bars, false);
  return markUsed(context, timed, (row) => [{ series: found.of[row]! }]);
}

/**
 * The first days of the WEEK or MON bars that are not served because a session is to be had on another price
 * basis only.
 */
export async function mixedPeriods(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  { nowMs }: Moment,
): Promise<number[]> {
  const parts = chosen(periodParts(context, stored, range, nowMs), ({ isMixed }) => isMixed);
  const starts: number[] = [];
  for (let part = await parts.next(1); part !== null; part = await parts.next(limits.barsPerStepMax))
    for (let row = 0; row < part.timed.bars.count; row++) starts.push(part.timed.bars.keyMs[row]! / DAY_MS);
  return starts;
}
