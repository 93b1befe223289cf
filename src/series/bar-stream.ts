// The bars of an instrument at any interval: stored, derived, or both over a range (contract 3.6, 3.8, 3.9).
import { type Bars, concatBars, mergeBars } from '../bars/columns.ts';
import type { TimedBars } from '../bars/grid.ts';
import { DAY_MS } from '../base/instant.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodStart } from '../calendar/period.ts';
import type { Interval } from '../contract/interval.ts';
import { CannotAdjust } from './cannot-adjust.ts';
import type { StreamRange } from './cursor.ts';
import { derivedFrom, derivedStream, wholePeriods } from './derived.ts';
import { overlay } from './overlay.ts';
import { candidates, DAY, type Piece, reachOf, splitRange } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import {
  type BarStream,
  checkBasis,
  finished,
  type StreamContext,
  sequence,
  storedStream,
  withSplitVolumes,
} from './stream.ts';

function pieceStream(context: StreamContext, { series, range }: Piece, nowMs: number): BarStream {
  if (series.interval === context.interval)
    return checkBasis(context, series, finished(storedStream(context, series, range), nowMs));
  const derived = derivedFrom(context, series, range);
  return checkBasis(context, series, finished(derived, Math.min(nowMs, series.coveredMs)));
}

function regularStream(
  context: StreamContext,
  from: readonly Series[],
  range: StreamRange,
  nowMs: number,
): BarStream {
  const pieces = splitRange(context, from, range);
  if (range.descending) pieces.reverse();
  return sequence(pieces.map((piece) => pieceStream(context, piece, nowMs)));
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

/** Adds stored DAY bars to given days: those of the same weeks or months on other dates (contract 3.6). */
function withStoredDays(
  context: StreamContext,
  days: Series | undefined,
  volumes: UsedVolumes,
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
      if (step !== null) stored.push(step.bars);
    }
    return mergeBars(concatBars(stored), bars);
  };
}

/** For each bar of a period the moment by which it must have closed: every series that it is made of is complete until then (contract 3.9). */
function limitsOf(
  dayContext: StreamContext,
  interval: PeriodInterval,
  pieces: readonly Piece[],
  nowMs: number,
): (keyMs: number) => number {
  const parts = pieces.map(({ series, range }) => {
    const { first, last } = reachOf(dayContext, series);
    return {
      fromMs: Math.max(range.fromMs, first.keyMs),
      toMs: Math.min(range.toMs, last.keyMs + 1),
      coveredMs: series.coveredMs,
    };
  });
  return (keyMs) => {
    const endMs = periodEnd(interval, keyMs / DAY_MS) * DAY_MS;
    const used = parts.filter(({ fromMs, toMs }) => fromMs < toMs && fromMs < endMs && toMs > keyMs);
    return Math.min(nowMs, ...used.map(({ coveredMs }) => coveredMs));
  };
}

/** DAY, WEEK or MON with extended hours: sessions with minute bars come from them, any other is its stored bar (contract 3.6). */
function extendedStream(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  nowMs: number,
): BarStream {
  const { descending } = range;
  const interval = context.interval as PeriodInterval;
  const all = candidates(stored, context.interval);
  const minutes = all.filter((series) => !isPeriod(series.interval));
  const periods = all.filter((series) => isPeriod(series.interval));
  const stream = regularStream({ ...context, extended: false }, periods, range, nowMs);
  if (minutes.length === 0) return stream;
  const regular = { stream, limitOf: () => nowMs };
  const dayContext = { ...context, interval: DAY };
  const pieces = splitRange(dayContext, minutes, wholePeriods(interval, range));
  const limitOf = limitsOf(dayContext, interval, pieces, nowMs);
  // DAY bars of whole sessions, extended hours included.
  const sessions = sequence(
    (descending ? pieces.toReversed() : pieces).map(({ series, range: part }) =>
      checkBasis(dayContext, series, derivedFrom(dayContext, series, part)),
    ),
  );
  if (interval === 'DAY') return overlay({ stream: sessions, limitOf }, regular, descending);
  const volumes = new UsedVolumes();
  const source = {
    next: async (atLeast: number) => volumes.seen(await sessions.next(atLeast))?.bars ?? null,
  };
  const days = stored.series.find((series) => series.interval === DAY);
  const built = derivedStream(context, source, DAY, range, withStoredDays(context, days, volumes));
  return overlay({ stream: volumes.marked(context.interval, built), limitOf }, regular, descending);
}

/** The bars of an instrument at an interval, finished at `nowMs`, from one end of a range of keys to the other. */
export function barStream(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  nowMs: number,
): BarStream {
  if (context.extended && isPeriod(context.interval)) return extendedStream(context, stored, range, nowMs);
  return regularStream(context, candidates(stored, context.interval), range, nowMs);
}
