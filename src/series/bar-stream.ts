// The bars of an instrument at any interval: stored, derived, or both over a range (contract 3.6, 3.8, 3.9).
import { type Bars, concatBars, indexOfKey, mergeBars } from '../bars/columns.ts';
import type { TimedBars } from '../bars/grid.ts';
import { DAY_MS } from '../base/instant.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodHours, periodStart } from '../calendar/period.ts';
import type { Interval } from '../contract/interval.ts';
import { CannotAdjust } from './cannot-adjust.ts';
import { Completeness, type Moment } from './completeness.ts';
import type { StreamRange } from './cursor.ts';
import { derivedFrom, derivedStream, wholePeriods } from './derived.ts';
import { offGridStream } from './off-grid.ts';
import { type IsComplete, overlay } from './overlay.ts';
import { candidates, DAY, type Piece, reachOf, splitRange } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import {
  type BarStream,
  checkBasis,
  completed,
  finished,
  type StreamContext,
  sequence,
  storedStream,
  withSplitVolumes,
} from './stream.ts';

function pieceStream(
  context: StreamContext,
  { series, range }: Piece,
  { nowMs, completeness }: Moment,
): BarStream {
  const bars =
    series.interval === context.interval
      ? finished(storedStream(context, series, range), nowMs)
      : completed(context, derivedFrom(context, series, range), series, completeness);
  return checkBasis(context, series, bars);
}

function regularStream(
  context: StreamContext,
  from: readonly Series[],
  range: StreamRange,
  moment: Moment,
): BarStream {
  const pieces = splitRange(context, from, range);
  if (range.descending) pieces.reverse();
  return sequence(pieces.map((piece) => pieceStream(context, piece, moment)));
}

/** Whether bars that are folded into others have volumes that were adjusted for splits before the import (contract 9.4). */
class UsedVolumes {
  readonly #areSplit = new Set<boolean>();

  /** A step that is used. */
  seen(step: TimedBars | null): TimedBars | null {
    if (step !== null) this.#areSplit.add(step.splitVolume !== undefined);
    return step;
  }

  /** The bars that are made of the used ones. @throws CannotAdjust where those have both kinds of volumes */
  marked(interval: Interval, stream: BarStream): BarStream {
    return {
      next: async (atLeast) => {
        const step = await stream.next(atLeast);
        if (step !== null && this.#areSplit.size > 1)
          throw new CannotAdjust({ kind: 'two-volumes', interval });
        return step !== null && this.#areSplit.has(true) ? withSplitVolumes(step) : step;
      },
    };
  }
}

/**
 * Adds stored DAY bars to given days: those of the same weeks or months on other dates (contract 3.6). `filled` gets the first days of
 * the periods that such bars are added to.
 */
function withStoredDays(
  context: StreamContext,
  days: Series | undefined,
  volumes: UsedVolumes,
  filled: Set<number>,
): (bars: Bars) => Promise<Bars> {
  const interval = context.interval as PeriodInterval;
  return async (bars) => {
    if (days === undefined || bars.count === 0) return bars;
    const starts = new Set<number>();
    for (let bar = 0; bar < bars.count; bar++) starts.add(periodStart(interval, bars.keyMs[bar]! / DAY_MS));
    const stored: Bars[] = [];
    for (const start of starts) {
      const range = { fromMs: start * DAY_MS, toMs: periodEnd(interval, start) * DAY_MS, descending: false };
      const inDays = storedStream({ ...context, interval: DAY, extended: false }, days, range);
      const step = volumes.seen(await checkBasis(context, days, inDays).next(Number.POSITIVE_INFINITY));
      if (step === null) continue;
      stored.push(step.bars);
      const { count, keyMs } = step.bars;
      if (keyMs.subarray(0, count).some((key) => indexOfKey(bars, key) < 0)) filled.add(start);
    }
    return mergeBars(concatBars(stored), bars);
  };
}

/** Whether a bar of a period is complete: every series of minutes that it is made of is (contract 3.9). */
function completeWhereParts(
  context: StreamContext,
  pieces: readonly Piece[],
  { completeness }: Moment,
): IsComplete {
  const { interval, extended } = context;
  const parts = pieces.map(({ series, range }) => {
    const { first, last } = reachOf({ ...context, interval: DAY }, series);
    const fromMs = Math.max(range.fromMs, first.keyMs);
    return { series, fromMs, toMs: Math.min(range.toMs, last.keyMs + 1) };
  });
  return async (keyMs, closeMs) => {
    const endMs = periodEnd(interval as PeriodInterval, keyMs / DAY_MS) * DAY_MS;
    const bar = { interval, extended, keyMs, closeMs };
    for (const { series, fromMs, toMs } of parts) {
      const isUsed = fromMs < toMs && fromMs < endMs && toMs > keyMs;
      if (isUsed && !(await completeness.isComplete(series, bar))) return false;
    }
    return true;
  };
}

/** DAY, WEEK or MON with extended hours: sessions with minute bars come from them, any other is its stored bar (contract 3.6). */
function extendedStream(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  moment: Moment,
): BarStream {
  const { descending } = range;
  const interval = context.interval as PeriodInterval;
  const all = candidates(stored, context.interval);
  const minutes = all.filter((series) => !isPeriod(series.interval));
  const periods = all.filter((series) => isPeriod(series.interval));
  const stream = regularStream({ ...context, extended: false }, periods, range, moment);
  if (minutes.length === 0) return stream;
  const { nowMs } = moment;
  // A session that a minute bar lies in is not served by its stored bar, finished or not.
  const regular = { stream, isComplete: async () => true };
  const dayContext = { ...context, interval: DAY };
  const pieces = splitRange(dayContext, minutes, wholePeriods(interval, range));
  const partsComplete = completeWhereParts(context, pieces, moment);
  const isComplete: IsComplete = async (keyMs, closeMs) => closeMs <= nowMs && partsComplete(keyMs, closeMs);
  // DAY bars of whole sessions, extended hours included.
  const sessions = sequence(
    (descending ? pieces.toReversed() : pieces).map(({ series, range: part }) =>
      checkBasis(dayContext, series, derivedFrom(dayContext, series, part)),
    ),
  );
  if (interval === 'DAY') return overlay({ stream: sessions, isComplete }, regular, descending);
  const volumes = new UsedVolumes();
  const source = {
    next: async (atLeast: number) => volumes.seen(await sessions.next(atLeast))?.bars ?? null,
  };
  const days = stored.series.find((series) => series.interval === DAY);
  const filled = new Set<number>();
  const built = derivedStream(context, source, DAY, range, withStoredDays(context, days, volumes, filled));
  const daysComplete: IsComplete = async (keyMs) => {
    const start = keyMs / DAY_MS;
    if (days === undefined || !filled.has(start)) return true;
    const { closeMs } = periodHours(context.calendar, interval, start, false);
    const regularDays = { interval: context.interval, extended: false, keyMs, closeMs };
    return moment.completeness.isComplete(days, regularDays);
  };
  const upper = {
    stream: volumes.marked(context.interval, built),
    isComplete: async (keyMs: number, closeMs: number) =>
      (await isComplete(keyMs, closeMs)) && daysComplete(keyMs, closeMs),
  };
  return overlay(upper, regular, descending);
}

/** The bars of an instrument at an interval, finished at `nowMs`, from one end of a range of keys to the other. */
export function barStream(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  nowMs: number,
): BarStream {
  const moment = { nowMs, completeness: new Completeness(context.reader, stored, nowMs) };
  if (context.extended && isPeriod(context.interval)) return extendedStream(context, stored, range, moment);
  const best = candidates(stored, context.interval);
  const [series, ...finer] = best;
  if (series?.off_grid) return offGridStream(context, series, finer, range, moment);
  return regularStream(context, best, range, moment);
}
