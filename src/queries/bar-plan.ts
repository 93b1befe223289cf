// Which stored series serves which part of a range: stored bars win, the rest is derived from the coarsest that fits (contract 3.8).
import { type Bars, concatBars, emptyBars, mergeBars } from '../bars/bars.ts';
import { type Cell, cellAround } from '../bars/grid.ts';
import { DAY_MS } from '../base/instant.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodStart } from '../calendar/period.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import {
  type BarStream,
  baseSource,
  derivedStream,
  finished,
  overlay,
  type StreamContext,
  type StreamRange,
  sequence,
  storedStream,
} from './bar-stream.ts';
import type { Found, Series } from './lookup.ts';

const DAY = intervalOf('DAY');

/** Whether bars of `base` can be folded into bars of `asked` without one straddling two (contract 3.8, 3.10). */
function divides(base: Series, asked: Interval): boolean {
  if (base.off_grid || base.interval === asked) return false;
  const baseMinutes = intervalMinutes(base.interval);
  const askedMinutes = intervalMinutes(asked);
  if (askedMinutes !== null)
    return baseMinutes !== null && baseMinutes < askedMinutes && askedMinutes % baseMinutes === 0;
  return baseMinutes !== null || (base.interval === DAY && asked !== DAY);
}

/** Minutes for comparing how coarse series are. */
const coarseness = (series: Series): number => intervalMinutes(series.interval) ?? 1441;

/** The series that can serve an interval, best first: the stored one, then from coarse to fine. */
function candidates(found: Found, asked: Interval): Series[] {
  const exact = found.series.filter((series) => series.interval === asked);
  const bases = found.series.filter((series) => divides(series, asked));
  return [...exact, ...bases.sort((a, b) => coarseness(b) - coarseness(a))];
}

type Claim = {
  readonly first: Cell;
  readonly last: Cell;
  readonly firstPartial: boolean;
  readonly lastPartial: boolean;
};

/** The cells of the asked interval that a series reaches, and whether it fills the outermost ones. */
function claimOf(context: StreamContext, series: Series): Claim {
  const { calendar, interval, extended } = context;
  const cellOf = (keyMs: number): Cell => {
    if (series.interval === interval) return { keyMs, openMs: keyMs, closeMs: keyMs };
    return cellAround(calendar, interval, series.interval, keyMs, extended);
  };
  const [first, last] = [cellOf(series.first_ms), cellOf(series.last_ms)];
  if (series.interval === interval) return { first, last, firstPartial: false, lastPartial: false };
  // A DAY bar's key is a label: its own hours say from when and to when it reaches.
  const own = (keyMs: number): Cell =>
    cellAround(calendar, series.interval, series.interval, keyMs, extended);
  return {
    first,
    last,
    firstPartial: own(series.first_ms).openMs > first.openMs,
    lastPartial: own(series.last_ms).closeMs < last.closeMs,
  };
}

const reaches = (claim: Claim, cell: Cell): boolean =>
  claim.first.keyMs <= cell.keyMs && cell.keyMs <= claim.last.keyMs;

type Piece = { readonly series: Series; readonly range: StreamRange };

/**
 * Parts a range among candidates: the best takes the cells from its first to its last bar, holes included, the next ones
 * take what lies outside. An outermost cell that the better series fills only in part goes to a finer one that reaches it,
 * whole: one bar never mixes series.
 */
function partRange(context: StreamContext, best: readonly Series[], range: StreamRange): Piece[] {
  const [series, ...finer] = best;
  if (series === undefined || range.fromMs >= range.toMs) return [];
  if (finer.length === 0) return [{ series, range }];
  const claim = claimOf(context, series);
  const finerClaims = finer.map((candidate) => claimOf(context, candidate));
  const yields = (partial: boolean, cell: Cell): boolean =>
    partial && finerClaims.some((other) => reaches(other, cell));
  const from = yields(claim.firstPartial, claim.first) ? claim.first.keyMs + 1 : claim.first.keyMs;
  const to = yields(claim.lastPartial, claim.last) ? claim.last.keyMs : claim.last.keyMs + 1;
  const fromMs = Math.min(Math.max(from, range.fromMs), range.toMs);
  const toMs = Math.max(Math.min(to, range.toMs), fromMs);
  const middle = fromMs < toMs ? [{ series, range: { ...range, fromMs, toMs } }] : [];
  return [
    ...partRange(context, finer, { ...range, toMs: fromMs }),
    ...middle,
    ...partRange(context, finer, { ...range, fromMs: toMs }),
  ];
}

function pieceStream(context: StreamContext, { series, range }: Piece, nowMs: number): BarStream {
  if (series.interval === context.interval) return finished(storedStream(context, series, range), nowMs);
  const derived = derivedStream(context, {
    source: baseSource(context, series, range),
    base: series.interval,
    range,
  });
  return finished(derived, Math.min(nowMs, series.coveredMs));
}

function regularStream(
  context: StreamContext,
  from: readonly Series[],
  range: StreamRange,
  nowMs: number,
): BarStream {
  const pieces = partRange(context, from, range);
  const ordered = range.descending ? pieces.reverse() : pieces;
  return sequence(ordered.map((piece) => pieceStream(context, piece, nowMs)));
}

/** Adds the stored DAY bars of the periods that the given days lie in, where a day is not among them (contract 3.6). */
function withStoredDays(context: StreamContext, days: Series | undefined): (bars: Bars) => Promise<Bars> {
  const interval = context.interval as PeriodInterval;
  return async (bars) => {
    if (days === undefined || bars.count === 0) return bars;
    const starts = new Set<number>();
    for (let bar = 0; bar < bars.count; bar++) starts.add(periodStart(interval, bars.keyMs[bar]! / DAY_MS));
    const stored: Bars[] = [];
    for (const start of starts) {
      const range = { fromMs: start * DAY_MS, toMs: periodEnd(interval, start) * DAY_MS, descending: false };
      const step = await storedStream({ ...context, interval: DAY, extended: false }, days, range).next(
        Number.POSITIVE_INFINITY,
      );
      if (step !== null) stored.push(step.bars);
    }
    return mergeBars(stored.length === 0 ? emptyBars() : concatBars(stored), bars);
  };
}

/** DAY, WEEK or MON with extended hours: sessions with minute bars come from them, any other is its stored bar (contract 3.6). */
function extendedStream(context: StreamContext, found: Found, range: StreamRange, nowMs: number): BarStream {
  const { descending } = range;
  const interval = context.interval as PeriodInterval;
  const all = candidates(found, context.interval);
  const minutes = all.filter((series) => !isPeriod(series.interval));
  const periods = all.filter((series) => isPeriod(series.interval));
  const regular = {
    stream: regularStream({ ...context, extended: false }, periods, range, nowMs),
    limitMs: nowMs,
  };
  if (minutes.length === 0) return regular.stream;
  const limitMs = Math.min(nowMs, Math.max(...minutes.map((series) => series.coveredMs)));
  const dayContext = { ...context, interval: DAY };
  const dayRange = {
    fromMs: periodStart(interval, Math.ceil(range.fromMs / DAY_MS)) * DAY_MS,
    toMs: periodEnd(interval, periodStart(interval, Math.ceil(range.toMs / DAY_MS) - 1)) * DAY_MS,
    descending,
  };
  const pieces = partRange(dayContext, minutes, dayRange);
  const sessions = sequence(
    (descending ? pieces.reverse() : pieces).map((piece) =>
      derivedStream(dayContext, {
        source: baseSource(dayContext, piece.series, piece.range),
        base: piece.series.interval,
        range: piece.range,
      }),
    ),
  );
  if (interval === 'DAY') return overlay({ stream: sessions, limitMs }, regular, descending);
  const source = { next: async (atLeast: number) => (await sessions.next(atLeast))?.bars ?? null };
  const days = found.series.find((series) => series.interval === DAY);
  const built = derivedStream(context, { source, base: DAY, range, complete: withStoredDays(context, days) });
  return overlay({ stream: built, limitMs }, regular, descending);
}

/** The bars of an instrument at an interval, finished at `nowMs`, from one end of a range of keys to the other. */
export function barStream(
  context: StreamContext,
  found: Found,
  range: StreamRange,
  nowMs: number,
): BarStream {
  if (context.extended && isPeriod(context.interval)) return extendedStream(context, found, range, nowMs);
  return regularStream(context, candidates(found, context.interval), range, nowMs);
}
