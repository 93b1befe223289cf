// Places bars in sessions: the cell that a base bar belongs to, and the instants and label date of a bar.
import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { hoursOf, type PeriodInterval, periodHours } from '../calendar/period.ts';
import { REGULAR, type Segments } from '../calendar/session.ts';
import { appendBars, type Bars, concatBars, copyBar, emptyBars, sliceBars } from './columns.ts';

/**
 * Bars as they are served, with their instants and the label date of their session. Arrays have at least
 * `bars.count` elements.
 */
export type TimedBars = {
  readonly bars: Bars;
  readonly openMs: Float64Array;
  readonly closeMs: Float64Array;
  readonly day: Int32Array;
  /**
   * 1 for each bar whose volume was adjusted for splits before the import (contract 9.4); absent where none
   * was.
   */
  readonly splitVolume?: Uint8Array;
};

/** Bars from one index to another (not included), all inside one segment. */
type SegmentRun = { readonly from: number; readonly to: number; readonly segment: number };

/** The bars inside segments; both ascend. */
function runsInSegments({ count, keyMs }: Bars, { openMs, closeMs }: Segments): SegmentRun[] {
  const runs: SegmentRun[] = [];
  let bar = 0;
  for (let segment = 0; segment < openMs.length && bar < count; segment++) {
    const [first, end] = [openMs[segment]!, closeMs[segment]!];
    while (bar < count && keyMs[bar]! < first) bar++;
    const from = bar;
    while (bar < count && keyMs[bar]! < end) bar++;
    if (bar > from) runs.push({ from, to: bar, segment });
  }
  return runs;
}

/** The bars at the first `count` indexes; where these are all bars, `bars` itself. */
function pickBars(bars: Bars, indexes: Int32Array, count: number): Bars {
  if (count === bars.count) return bars;
  const picked = emptyBars(count);
  for (let at = 0; at < count; at++) copyBar(picked, at, bars, indexes[at]!);
  picked.count = count;
  return picked;
}

/** Timed bars whose instants are still to be written: columns of one buffer. */
function untimed(bars: Bars): TimedBars {
  const { count } = bars;
  const buffer = new ArrayBuffer(count * 20);
  return {
    bars,
    openMs: new Float64Array(buffer, 0, count),
    closeMs: new Float64Array(buffer, count * 8, count),
    day: new Int32Array(buffer, count * 16, count),
  };
}

/**
 * Minute bars with instants: they close at their nominal end, cut at the end of the segment (contract 3.2,
 * 3.3). Bars outside every segment are left out.
 */
export function timeMinutes(bars: Bars, segments: Segments, minutes: number): TimedBars {
  const stepMs = minutes * MINUTE_MS;
  const { keyMs } = bars;
  const { openMs, closeMs, day } = untimed(bars);
  const runs = runsInSegments(bars, segments);
  let count = 0;
  for (const { from, to, segment } of runs) {
    const endMs = segments.closeMs[segment]!;
    day.fill(segments.day[segment]!, count, count + to - from);
    for (let bar = from; bar < to; bar++, count++) {
      openMs[count] = keyMs[bar]!;
      closeMs[count] = Math.min(keyMs[bar]! + stepMs, endMs);
    }
  }
  if (count === bars.count) return { bars, openMs, closeMs, day };
  const inside = emptyBars(count);
  for (const { from, to } of runs) appendBars(inside, bars, from, to);
  return { bars: inside, openMs, closeMs, day };
}

/**
 * Bars off the session grid with instants: they close at their nominal end. A bar that overlaps a regular
 * segment is regular, others are extended hours; bars that do neither are left out (contract 3.10).
 * `segments` are those of all hours, through the end of the last bar.
 */
export function timeOffGrid(bars: Bars, segments: Segments, minutes: number, extended: boolean): TimedBars {
  const stepMs = minutes * MINUTE_MS;
  const { openMs, closeMs, day } = untimed(bars);
  const kept = new Int32Array(bars.count);
  let count = 0;
  let segment = 0;
  for (let bar = 0; bar < bars.count; bar++) {
    const at = bars.keyMs[bar]!;
    const isBefore = (index: number, ms: number): boolean =>
      index < segments.openMs.length && segments.openMs[index]! < ms;
    while (isBefore(segment, at) && segments.closeMs[segment]! <= at) segment++;
    const opensInside = isBefore(segment, at + 1);
    let regular = segment;
    while (isBefore(regular, at + stepMs) && segments.kind[regular] !== REGULAR) regular++;
    const isRegular = isBefore(regular, at + stepMs);
    if (!isRegular && !(extended && opensInside)) continue;
    openMs[count] = at;
    closeMs[count] = at + stepMs;
    day[count] = segments.day[opensInside ? segment : regular]!;
    kept[count++] = bar;
  }
  return { bars: pickBars(bars, kept, count), openMs, closeMs, day };
}

/** DAY, WEEK or MON bars with the instants of the calendar (contract 3.6, 3.10). */
export function timePeriods(
  bars: Bars,
  calendar: Calendar,
  interval: PeriodInterval,
  extended: boolean,
): TimedBars {
  const timed = untimed(bars);
  const { count, keyMs } = bars;
  // To walk along the sessions of many days is faster than to look each of them up.
  const sessions =
    interval === 'DAY' && count > 1
      ? calendar.sessions(keyMs[0]! / DAY_MS, keyMs[count - 1]! / DAY_MS + 1)
      : [];
  for (let bar = 0, at = 0; bar < count; bar++) {
    const start = keyMs[bar]! / DAY_MS;
    while (at < sessions.length && sessions[at]!.day < start) at++;
    const session = sessions[at];
    const hours =
      session?.day === start ? hoursOf(session, extended) : periodHours(calendar, interval, start, extended);
    timed.openMs[bar] = hours.openMs;
    timed.closeMs[bar] = hours.closeMs;
    timed.day[bar] = 'day' in hours ? hours.day : start;
  }
  return timed;
}

/** A part of timed bars: views, not copies; where the part is all of them, the bars themselves. */
export function sliceTimed(timed: TimedBars, from: number, to: number): TimedBars {
  if (from === 0 && to === timed.bars.count) return timed;
  return {
    bars: sliceBars(timed.bars, from, to),
    openMs: timed.openMs.subarray(from, to),
    closeMs: timed.closeMs.subarray(from, to),
    day: timed.day.subarray(from, to),
    ...(timed.splitVolume && { splitVolume: timed.splitVolume.subarray(from, to) }),
  };
}

/** The bars that `holds` is true for, by index; all of them where it is true for all. */
export function filterTimed(timed: TimedBars, holds: (index: number) => boolean): TimedBars {
  const stretches: TimedBars[] = [];
  let from = 0;
  for (let index = 0; index <= timed.bars.count; index++) {
    if (index < timed.bars.count && holds(index)) continue;
    if (index === timed.bars.count && from === 0) return timed;
    if (from < index) stretches.push(sliceTimed(timed, from, index));
    from = index + 1;
  }
  return stretches.length === 1 ? stretches[0]! : concatTimed(stretches);
}

/** Joins timed bars, in the order given. Where only one part has bars, it is that part. */
export function concatTimed(all: readonly TimedBars[]): TimedBars {
  const parts = all.filter(({ bars }) => bars.count > 0);
  if (parts.length === 1) return parts[0]!;
  const timed = untimed(concatBars(parts.map((part) => part.bars)));
  const splitVolume = parts.some((part) => part.splitVolume) ? new Uint8Array(timed.bars.count) : undefined;
  let at = 0;
  for (const part of parts) {
    const { count } = part.bars;
    if (part.splitVolume) splitVolume!.set(part.splitVolume.subarray(0, count), at);
    timed.openMs.set(part.openMs.subarray(0, count), at);
    timed.closeMs.set(part.closeMs.subarray(0, count), at);
    timed.day.set(part.day.subarray(0, count), at);
    at += count;
  }
  return splitVolume ? { ...timed, splitVolume } : timed;
}

/** One bar of an interval: its key and its nominal hours. */
export type Cell = { readonly keyMs: number; readonly openMs: number; readonly closeMs: number };

/**
 * Counts the bars that open inside a segment, but off the grid of their interval there (contract 3.10).
 * Segments that opened late do not count, and neither do bars that reach into one: they may be on the usual
 * grid.
 */
export function countOffGrid(bars: Bars, segments: Segments, minutes: number): number {
  const stepMs = minutes * MINUTE_MS;
  let count = 0;
  const { openMs, late } = segments;
  for (const { from, to, segment } of runsInSegments(bars, segments)) {
    if (late[segment] !== 0) continue;
    const lateMs = late[segment + 1] === 1 ? openMs[segment + 1]! : Number.POSITIVE_INFINITY;
    for (let bar = from; bar < to; bar++) {
      const at = bars.keyMs[bar]!;
      if ((at - openMs[segment]!) % stepMs !== 0 && at + stepMs <= lateMs) count++;
    }
  }
  return count;
}

/** Counts the bars that open outside every segment: they are stored, but not served (contract 3.10). */
export function countOutside(bars: Bars, segments: Segments): number {
  return runsInSegments(bars, segments).reduce((left, { from, to }) => left - (to - from), bars.count);
}
