// Which stored series serves which part of a range: stored bars win, the rest is derived from the coarsest that fits (contract 3.8).
import { type Bars, concatBars, emptyBars, mergeBars } from '../bars/bars.ts';
import { type Cell, cellAround, type TimedBars } from '../bars/grid.ts';
import { DAY_MS } from '../base/instant.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodStart } from '../calendar/period.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../contract/interval.ts';
import {
  type BarStream,
  baseSource,
  concatTimed,
  derivedStream,
  finished,
  ofBasis,
  overlay,
  type StreamContext,
  type StreamRange,
  sequence,
  storedStream,
} from './bar-stream.ts';
import type { Found, Series } from './lookup.ts';

const DAY = intervalOf('DAY');

/** Days of a month. */
const DAYS_MAX = 31;

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

/** The outermost cells of the asked interval that a series reaches, and from when to when it reaches. */
type Claim = {
  readonly first: Cell;
  readonly last: Cell;
  readonly fromMs: number;
  readonly toMs: number;
};

function claimOf(context: StreamContext, series: Series): Claim {
  const { calendar, interval, extended } = context;
  const { first_ms: firstMs, last_ms: lastMs } = series;
  if (series.interval === interval) {
    const cellOf = (keyMs: number): Cell => ({ keyMs, openMs: keyMs, closeMs: keyMs });
    return { first: cellOf(firstMs), last: cellOf(lastMs), fromMs: firstMs, toMs: lastMs };
  }
  const around = (asked: Interval, keyMs: number): Cell =>
    cellAround(calendar, asked, series.interval, keyMs, extended);
  // A DAY bar's key is a label: its own hours say from when and to when it reaches.
  let fromMs = around(series.interval, firstMs).openMs;
  let toMs = around(series.interval, lastMs).closeMs;
  if (isPeriod(interval)) {
    // Bars outside the hours that are asked for reach no further than the hours of their session.
    fromMs = Math.max(fromMs, around(DAY, firstMs).openMs);
    toMs = Math.min(toMs, around(DAY, lastMs).closeMs);
  }
  return { first: around(interval, firstMs), last: around(interval, lastMs), fromMs, toMs };
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
  const firstYields =
    claim.fromMs > claim.first.openMs &&
    finerClaims.some((other) => reaches(other, claim.first) && other.fromMs < claim.fromMs);
  const lastYields =
    claim.toMs < claim.last.closeMs &&
    finerClaims.some((other) => reaches(other, claim.last) && other.toMs > claim.toMs);
  const from = firstYields ? claim.first.keyMs + 1 : claim.first.keyMs;
  const to = lastYields ? claim.last.keyMs : claim.last.keyMs + 1;
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
  if (series.interval === context.interval)
    return ofBasis(context, series, finished(storedStream(context, series, range), nowMs));
  const derived = derivedStream(context, {
    source: baseSource(context, series, range),
    base: series.interval,
    range,
  });
  return ofBasis(context, series, finished(derived, Math.min(nowMs, series.coveredMs)));
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
      const inDays = storedStream({ ...context, interval: DAY, extended: false }, days, range);
      const step = await ofBasis(context, days, inDays).next(Number.POSITIVE_INFINITY);
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
    limitOf: () => nowMs,
  };
  if (minutes.length === 0) return regular.stream;
  const dayContext = { ...context, interval: DAY };
  const dayRange = {
    fromMs: periodStart(interval, Math.ceil(range.fromMs / DAY_MS)) * DAY_MS,
    toMs: periodEnd(interval, periodStart(interval, Math.ceil(range.toMs / DAY_MS) - 1)) * DAY_MS,
    descending,
  };
  const pieces = partRange(dayContext, minutes, dayRange);
  // Every series that a bar is made of must have been imported to the bar's end (contract 3.9).
  const parts = pieces.map(({ series, range: part }) => {
    const { first, last } = claimOf(dayContext, series);
    return {
      fromMs: Math.max(part.fromMs, first.keyMs),
      toMs: Math.min(part.toMs, last.keyMs + 1),
      coveredMs: series.coveredMs,
    };
  });
  const limitOf = (keyMs: number): number => {
    const endMs = periodEnd(interval, keyMs / DAY_MS) * DAY_MS;
    const used = parts.filter(({ fromMs, toMs }) => fromMs < toMs && fromMs < endMs && toMs > keyMs);
    return Math.min(nowMs, ...used.map(({ coveredMs }) => coveredMs));
  };
  const sessions = sequence(
    (descending ? pieces.toReversed() : pieces).map(({ series, range: part }) =>
      ofBasis(
        context,
        series,
        derivedStream(dayContext, {
          source: baseSource(dayContext, series, part),
          base: series.interval,
          range: part,
        }),
      ),
    ),
  );
  if (interval === 'DAY') return overlay({ stream: sessions, limitOf }, regular, descending);
  const source = { next: async (atLeast: number) => (await sessions.next(atLeast))?.bars ?? null };
  const days = found.series.find((series) => series.interval === DAY);
  const built = derivedStream(context, { source, base: DAY, range, complete: withStoredDays(context, days) });
  return overlay({ stream: built, limitOf }, regular, descending);
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

/** A WEEK or MON bar: the label dates of its first and its last session, its days' midnights, and its close. */
export type BuiltPeriod = {
  readonly interval: 'WEEK' | 'MON';
  readonly firstDay: number;
  readonly lastDay: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly closeMs: number;
};

/** Whether a bar of a period was imported: then it has all sessions, whatever days there are. */
const isImported = ({ series }: Found, { interval, fromMs }: BuiltPeriod): boolean =>
  series.some((one) => one.interval === interval && one.first_ms <= fromMs && fromMs <= one.last_ms);

/** Whether series of days, or such as give some, reach from the first session of a period to its last. */
function reachThrough(
  context: StreamContext,
  series: readonly Series[],
  { firstDay, lastDay }: BuiltPeriod,
): boolean {
  const days = series.filter((one) => one.interval === DAY || divides(one, DAY));
  const claims = days.map((one) => claimOf({ ...context, interval: DAY }, one));
  return (
    claims.some(({ first }) => first.keyMs <= firstDay * DAY_MS) &&
    claims.some(({ last }) => last.keyMs >= lastDay * DAY_MS)
  );
}

/** The DAY bars that a WEEK or MON bar is built from (contract 3.8, 9.4); null where they were not imported to its end, or reach not as far as a bar that was. */
export async function daysOf(
  context: StreamContext,
  found: Found,
  period: BuiltPeriod,
  nowMs: number,
): Promise<TimedBars | null> {
  const { fromMs, toMs, closeMs } = period;
  const whole = { ...found, series: found.series.filter(({ coveredMs }) => coveredMs >= closeMs) };
  const bases = candidates(whole, context.interval).filter(({ interval }) => interval !== context.interval);
  // Regular bars are of one series, those of extended hours of minutes and days (contract 3.6).
  const [piece] = partRange(context, bases, { fromMs, toMs: fromMs + 1, descending: false });
  const series = context.extended ? whole.series : piece === undefined ? [] : [piece.series];
  if (isImported(found, period) && !reachThrough(context, series, period)) return null;
  const range = { fromMs, toMs, descending: false };
  const days = barStream({ ...context, interval: DAY }, { ...whole, series }, range, nowMs);
  const steps: TimedBars[] = [];
  for (;;) {
    const step = await days.next(DAYS_MAX);
    if (step === null) return steps.length === 0 ? null : concatTimed(steps);
    steps.push(step);
  }
}
