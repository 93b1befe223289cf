// WEEK and MON bars: stored ones, and where there is none those that the DAY bars of their sessions make; and
// which of them are served at a moment (contract 3.6, 3.8, 3.9, 9.4).
import { firstWhere } from '../base/ascending.ts';
import { DAY_MS } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';
import type { Interval } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import { type CellBars, dayCells } from '../market/bars/cells.ts';
import { type Bars, concatBars, copyBar, lowerBound, sliceBars } from '../market/bars/columns.ts';
import { filterTimed, type TimedBars } from '../market/bars/grid.ts';
import { resample } from '../market/bars/resample.ts';
import { sessionOfBar } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import {
  hoursOf,
  type PeriodInterval,
  periodEnd,
  periodHours,
  periodStart,
} from '../market/calendar/period.ts';
import { type Session, usualOf } from '../market/calendar/session.ts';
import { dayParts } from './best-series.ts';
import type { Moment } from './completeness.ts';
import { mapped, type Stream, type StreamRange } from './cursor.ts';
import { within } from './derived.ts';
import { filled, type Gaps } from './filled.ts';
import { keptPeriods, type MadeOf, type PeriodPart, type Share } from './kept-cells.ts';
import { candidates, clamped, DAY, daysIn, divides, storedSeries, wholePeriods } from './plan.ts';
import { coarseness, type Series, type Span, type StoredInstrument } from './series.ts';
import {
  type BarStream,
  finished,
  type PartStream,
  type StreamContext,
  storedStream,
  useSeries,
  withTimes,
} from './stream.ts';

/** DAY bars, and the series of each. */
type Days = { readonly bars: Bars; readonly of: readonly Series[] };

const noSeries: readonly Series[] = [];

/** Days in ascending order as one. */
const joined = (days: readonly Days[]): Days =>
  days.length === 1
    ? days[0]!
    : { bars: concatBars(days.map(({ bars }) => bars)), of: noSeries.concat(...days.map(({ of }) => of)) };

const sliced = ({ bars, of }: Days, from: number, to: number): Days => ({
  bars: sliceBars(bars, from, to),
  of: of.slice(from, to),
});

/** At least so many more days of a stream, as one ascending piece; fewer at its end. */
async function nextDays(parts: PartStream, count: number, descending: boolean): Promise<Days> {
  const days: Days[] = [];
  for (let left = count; left > 0; ) {
    const part = await parts.next(left);
    if (part === null) break;
    const { bars } = part.timed;
    days.push({ bars, of: new Array(bars.count).fill(part.series) });
    left -= bars.count;
  }
  return joined(descending ? days.reverse() : days);
}

/** More days than a period has. */
const DAYS_MAX = 32;

/** The days of one period, from an ascending stream. */
const allDays = (parts: PartStream): Promise<Days> => nextDays(parts, DAYS_MAX, false);

/**
 * The days `from` (included) to `to` (not), of which there is one, of the period that begins on `start`, by
 * series.
 */
function sharesOf({ bars, of }: Days, start: number, from = 0, to = of.length): readonly Share[] {
  const bitOf = (row: number): number => 1 << (bars.keyMs[row]! / DAY_MS - start);
  const first = { series: of[from]!, days: 0 };
  let row = from;
  for (; row < to && of[row] === first.series; row++) first.days |= bitOf(row);
  let shares = [first];
  for (; row < to; row++) {
    const known = shares.find(({ series }) => series === of[row]);
    // An array that grows keeps room for more: these are kept.
    if (known === undefined) shares = [...shares, { series: of[row]!, days: bitOf(row) }];
    else known.days |= bitOf(row);
  }
  return shares;
}

/** The label dates of the first and the last bar of a series. */
export const labelsOf = (calendar: Calendar, { interval, first_ms, last_ms }: Series) => ({
  first: sessionOfBar(calendar, interval, first_ms),
  last: sessionOfBar(calendar, interval, last_ms),
});

/** True if a label date lies between those of the first and the last bar of a series. */
function reaches(calendar: Calendar, series: Series, day: number): boolean {
  const { first, last } = labelsOf(calendar, series);
  return first <= day && day <= last;
}

/** The DAY bars that the weeks and months of an instrument are made of. */
class PeriodDays {
  readonly #context: StreamContext;
  readonly #series: readonly Series[];

  constructor(context: StreamContext, { series }: StoredInstrument) {
    this.#context = { ...context, interval: DAY };
    this.#series = series;
  }

  /** Those of a range, each session from its best series. */
  parts(range: StreamRange): PartStream {
    return dayParts(this.#context, this.#series, range);
  }

  /**
   * The days of a period, all of the price basis of the coarsest of their series; null where a session is to
   * be had on another one only (contract 3.6).
   */
  async ofOneBasis(days: Days, range: StreamRange): Promise<Days | null> {
    if (days.of.every(({ prices }) => prices === days.of[0]!.prices)) return days;
    const [best] = days.of.toSorted((a, b) => coarseness(b) - coarseness(a));
    const same = this.#series.filter(({ prices }) => prices === best!.prices);
    const some = await allDays(dayParts(this.#context, same, range));
    return some.of.length === days.of.length ? some : null;
  }

  /**
   * True if each session has a bar, or lies in the span of a series: then the days hold all of a stored bar
   * of the period.
   */
  hold(sessions: readonly Session[], { bars, of }: Days): boolean {
    const found = new Set(of.map((_, row) => bars.keyMs[row]! / DAY_MS));
    const all = candidates({ series: this.#series }, DAY);
    return sessions.every(
      ({ day }) => found.has(day) || all.some((series) => reaches(this.#context.calendar, series, day)),
    );
  }
}

const noDays: Days = joined([]);

/**
 * WEEK or MON bars of a range, complete or not. What each is made of is added to `madeOf`, by the first day
 * of its period, before it is given.
 */
class FoldedPeriods implements BarStream {
  readonly #context: StreamContext;
  readonly #interval: PeriodInterval;
  readonly #range: StreamRange;
  readonly #days: PeriodDays;
  readonly #parts: PartStream;
  readonly #madeOf: Map<number, MadeOf>;
  /** True if bars of the interval are stored, to which extended hours are compared. */
  readonly #mayYield: boolean;
  /** Days of a period that the next step may add to. */
  #carried = noDays;
  #ended = false;

  constructor(
    context: StreamContext,
    stored: StoredInstrument,
    range: StreamRange,
    madeOf: Map<number, MadeOf>,
  ) {
    this.#context = context;
    this.#interval = context.interval as PeriodInterval;
    this.#range = range;
    this.#days = new PeriodDays(context, stored);
    this.#parts = this.#days.parts(wholePeriods(this.#interval, range));
    this.#madeOf = madeOf;
    this.#mayYield = context.extended && storedSeries(stored, context.interval) !== undefined;
  }

  async next(atLeast: number): Promise<TimedBars | null> {
    const { sessionShare } = usualOf(this.#context.calendar.market);
    const days = Math.ceil((atLeast + 1) * daysIn(this.#interval) * sessionShare);
    const wanted = Math.min(days, limits.barsPerStepMax);
    while (!this.#ended) {
      const found = await this.#whole(wanted);
      const cells = dayCells(found.bars, this.#interval, this.#context.calendar);
      const timed = withTimes(this.#context, resample(cells), false);
      await this.#judge(timed, found, cells);
      const inRange = within(timed, this.#range);
      if (inRange.bars.count > 0) return inRange;
    }
    return null;
  }

  /** The next days of periods that no later ones add to. */
  async #whole(wanted: number): Promise<Days> {
    const { descending } = this.#range;
    const carried = this.#carried;
    const more = await nextDays(this.#parts, wanted, descending);
    const days = carried.of.length === 0 ? more : joined(descending ? [more, carried] : [carried, more]);
    this.#ended = more.of.length < wanted;
    if (this.#ended) return days;
    const { bars } = days;
    const start = periodStart(this.#interval, bars.keyMs[descending ? 0 : bars.count - 1]! / DAY_MS);
    const at = lowerBound(bars, (descending ? periodEnd(this.#interval, start) : start) * DAY_MS);
    const [before, after] = [sliced(days, 0, at), sliced(days, at, bars.count)];
    this.#carried = descending ? before : after;
    return descending ? after : before;
  }

  /** Finds what each bar is made of. Where other days of one price basis make it, it is changed. */
  async #judge(timed: TimedBars, days: Days, { ranges }: CellBars): Promise<void> {
    for (let at = 0, range = 0; at < timed.bars.count; at++) {
      const keyMs = timed.bars.keyMs[at]!;
      const from = ranges.from[range]!;
      while (range < ranges.count && ranges.cellMs[range] === keyMs) range++;
      const to = ranges.to[range - 1]!;
      const start = keyMs / DAY_MS;
      const shares = sharesOf(days, start, from, to);
      const isOfOne = shares.length === 1 && !this.#mayYield;
      this.#madeOf.set(
        start,
        isOfOne
          ? this.#ofOne(timed, at, shares)
          : await this.#ofSeveral(timed, at, sliced(days, from, to), shares),
      );
    }
  }

  #ofOne(timed: TimedBars, at: number, shares: readonly Share[]): MadeOf {
    if (isStored(shares)) this.#asStored(timed, at);
    return { shares, isMixed: false, yields: false };
  }

  async #ofSeveral(
    timed: TimedBars,
    at: number,
    found: Days,
    foundShares: readonly Share[],
  ): Promise<MadeOf> {
    const { calendar } = this.#context;
    const start = timed.bars.keyMs[at]! / DAY_MS;
    const end = periodEnd(this.#interval, start);
    const range = { fromMs: start * DAY_MS, toMs: end * DAY_MS, descending: false };
    const days = await this.#days.ofOneBasis(found, range);
    if (days === null) return { shares: foundShares, isMixed: true, yields: true };
    if (days !== found) copyBar(timed.bars, at, resample(dayCells(days.bars, this.#interval, calendar)), 0);
    const shares = days === found ? foundShares : sharesOf(days, start);
    if (isStored(shares)) this.#asStored(timed, at);
    const isWhole = (): boolean => !isStored(shares) && this.#days.hold(calendar.sessions(start, end), days);
    return { shares, isMixed: false, yields: this.#mayYield && !isWhole() };
  }

  /** Gives a bar that is made of stored days alone their hours: they are regular-hours data. */
  #asStored(timed: TimedBars, at: number): void {
    const { calendar, extended } = this.#context;
    if (!extended) return;
    const hours = periodHours(calendar, this.#interval, timed.bars.keyMs[at]! / DAY_MS, false);
    timed.openMs[at] = hours.openMs;
    timed.closeMs[at] = hours.closeMs;
  }
}

/** True if stored days alone make a bar. */
const isStored = (shares: readonly Share[]): boolean => shares.every(({ series }) => series.interval === DAY);

/** The longest of some spans; an empty one without any. */
const longest = (spans: readonly Span[]): Span =>
  spans.reduce((best, span) => (span.toMs - span.fromMs > best.toMs - best.fromMs ? span : best), {
    fromMs: 0,
    toMs: 0,
  });

/** The share that has a day of a period; undefined where none has. */
const shareOn = (shares: readonly Share[], day: number): Share | undefined =>
  shares.find(({ days }) => ((days >>> day) & 1) === 1);

/** Judges bars of periods at a moment. */
class CompletePeriods {
  readonly #context: StreamContext;
  readonly #moment: Moment;
  /** Every bar that opens and closes in this time is served. */
  readonly certain: Span;

  constructor(context: StreamContext, stored: StoredInstrument, moment: Moment) {
    this.#context = context;
    this.#moment = moment;
    const days = candidates(stored, DAY);
    const isOfOneBasis = days.every(({ prices }) => prices === days[0]!.prices);
    const spans = days.map(({ covered }) => longest(covered));
    this.certain = {
      fromMs: Math.max(...spans.map(({ fromMs }) => fromMs)),
      toMs: isOfOneBasis
        ? Math.min(moment.nowMs, ...spans.map(({ toMs }) => toMs))
        : Number.NEGATIVE_INFINITY,
    };
  }

  /** Whether a bar is served, by the first day of its period and its time. */
  async isServed({ shares, isMixed }: MadeOf, start: number, { fromMs, toMs }: Span): Promise<boolean> {
    const { nowMs, completeness } = this.#moment;
    if (isMixed || toMs > nowMs) return false;
    const isCovered = ({ series }: Share): boolean =>
      series.interval === this.#context.interval || completeness.covers(series, fromMs, toMs);
    return shares.every(isCovered) || this.areComplete(shares, start);
  }

  /**
   * Whether each session of a period has its complete bar, or no later import can be expected to bring one.
   */
  async areComplete(shares: readonly Share[], start: number): Promise<boolean> {
    const { calendar, interval } = this.#context;
    const { completeness } = this.#moment;
    const sessions = calendar.sessions(start, periodEnd(interval as PeriodInterval, start));
    // The last one is the likeliest to be incomplete.
    for (const session of sessions.reverse()) {
      const share = shareOn(shares, session.day - start);
      for (const series of share === undefined ? this.#lacking(session.day, shares) : [share.series]) {
        // Stored days are regular-hours data.
        const extended = this.#context.extended && series.interval !== DAY;
        const { openMs, closeMs } = hoursOf(session, extended);
        if (completeness.covers(series, openMs, closeMs)) continue;
        const bar = { interval: DAY, extended, keyMs: session.day * DAY_MS, closeMs };
        if (!(await completeness.isComplete(series, bar))) return false;
      }
    }
    return true;
  }

  /**
   * Of the series that a period is made of those that have no bar of a session where one would be: the
   * coarsest one around it, that which ends last before it, or all.
   */
  #lacking(day: number, shares: readonly Share[]): Series[] {
    const { calendar } = this.#context;
    if (shares.length === 1) return [shares[0]!.series];
    const coarsest = shares.map(({ series }) => series).sort((a, b) => coarseness(b) - coarseness(a));
    const around = coarsest.find((series) => reaches(calendar, series, day));
    if (around !== undefined) return [around];
    const lastOf = (series: Series): number => labelsOf(calendar, series).last;
    const lastDay = Math.max(...coarsest.map(lastOf));
    return coarsest.filter((series) => day < lastDay || lastOf(series) === lastDay);
  }
}

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

/**
 * The refusal where a bar has volumes of series that were adjusted for splits before the import, and of
 * others.
 */
const twoVolumes = (interval: Interval): Refusal =>
  new Refusal('invalid_parameter', {
    message: `adjust cannot be answered: the ${interval} bars are built from bars with split-adjusted volumes (--volumes split) and from bars with raw ones.`,
    param: 'adjust',
    hint: 'Ask with adjust=none.',
  });

/** Bars that are used, by the series that each is made of. @throws Refusal */
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
    if (others.some((is) => is !== first)) throw twoVolumes(context.interval);
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
