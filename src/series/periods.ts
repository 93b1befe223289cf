// WEEK and MON bars: stored ones, and where there is none those that the DAY bars of their sessions make (contract 3.6, 3.8, 3.9, 9.4).
import { type CellBars, dayCells, splitCells } from '../bars/cells.ts';
import { copyBar } from '../bars/columns.ts';
import { concatTimed, filterTimed, sliceTimed, type TimedBars } from '../bars/grid.ts';
import { resample } from '../bars/resample.ts';
import { DAY_MS } from '../base/instant.ts';
import { labelOfBar } from '../calendar/bar-end.ts';
import { hoursOf, type PeriodInterval, periodEnd, periodHours, periodStart } from '../calendar/period.ts';
import type { Session } from '../calendar/session.ts';
import { limits } from '../contract/limits.ts';
import { dayParts } from './best-series.ts';
import { CannotAdjust } from './cannot-adjust.ts';
import type { Moment } from './completeness.ts';
import type { StreamRange } from './cursor.ts';
import { within } from './derived.ts';
import { filled, type Gaps } from './filled.ts';
import { keptStream } from './kept-cells.ts';
import { candidates, clamped, DAY, divides } from './plan.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import {
  type BarStream,
  finished,
  mapped,
  type PartStream,
  type Stream,
  type StreamContext,
  servedParts,
  storedStream,
  useSeries,
  withTimes,
} from './stream.ts';

/** The most days in one bar of a period. */
export const daysIn = (interval: string): number => (interval === 'MON' ? 31 : interval === 'WEEK' ? 7 : 1);

/** A range of keys widened to whole days, weeks or months. */
export function wholePeriods(interval: PeriodInterval, range: StreamRange): StreamRange {
  const startMs = periodStart(interval, Math.ceil(range.fromMs / DAY_MS)) * DAY_MS;
  const endMs = periodEnd(interval, periodStart(interval, Math.ceil(range.toMs / DAY_MS) - 1)) * DAY_MS;
  return { ...range, fromMs: startMs, toMs: endMs };
}

/** DAY bars, and the series of each. */
type Days = { readonly timed: TimedBars; readonly of: readonly Series[] };

const joined = (days: readonly Days[]): Days => ({
  timed: concatTimed(days.map(({ timed }) => timed)),
  of: days.flatMap(({ of }) => of),
});

const sliced = ({ timed, of }: Days, from: number, to: number): Days => ({
  timed: sliceTimed(timed, from, to),
  of: of.slice(from, to),
});

/** The next DAY bars; null at the end. */
async function nextDays(parts: PartStream, atLeast: number): Promise<Days | null> {
  const part = await parts.next(atLeast);
  return part === null ? null : { timed: part.timed, of: new Array(part.timed.bars.count).fill(part.series) };
}

async function allDays(parts: PartStream): Promise<Days> {
  const days: Days[] = [];
  for (let step = await nextDays(parts, 31); step !== null; step = await nextDays(parts, 31)) days.push(step);
  return joined(days);
}

/** What the days of a period are judged with. */
class PeriodDays {
  readonly #context: StreamContext;
  readonly #series: readonly Series[];
  readonly #moment: Moment;

  constructor(context: StreamContext, { series }: StoredInstrument, moment: Moment) {
    this.#context = { ...context, interval: DAY };
    this.#series = series;
    this.#moment = moment;
  }

  /** The DAY bars of a range, each session from its best series. */
  parts(range: StreamRange): PartStream {
    return dayParts(this.#context, this.#series, range);
  }

  /**
   * The days of a period, all of the price basis of the coarsest of their series; null where a session is to be had on another one only
   * (contract 3.6).
   */
  async ofOneBasis(days: Days, range: StreamRange): Promise<Days | null> {
    if (days.of.every(({ prices }) => prices === days.of[0]!.prices)) return days;
    const [best] = days.of.toSorted((a, b) => coarseness(b) - coarseness(a));
    const same = this.#series.filter(({ prices }) => prices === best!.prices);
    const some = await allDays(dayParts(this.#context, same, range));
    return some.of.length === days.of.length ? some : null;
  }

  /** Whether each session has its complete bar, or no later import can be expected to bring one (contract 3.9). */
  async areComplete(sessions: readonly Session[], { timed, of }: Days): Promise<boolean> {
    const rows = new Map(of.map((_, row) => [timed.day[row]!, row]));
    for (const session of sessions) {
      const row = rows.get(session.day);
      const from = row === undefined ? this.#lacking(session.day, new Set(of)) : [of[row]!];
      for (const series of from)
        if (!(await this.#isComplete(series, session, row !== undefined))) return false;
    }
    return true;
  }

  /** Whether a series is complete through a session, of which it has a bar or not. */
  async #isComplete(series: Series, session: Session, hasBar: boolean): Promise<boolean> {
    const { nowMs, completeness } = this.#moment;
    const isStored = series.interval === DAY;
    // Stored days are regular-hours data.
    const extended = this.#context.extended && !isStored;
    const { closeMs } = hoursOf(session, extended);
    if (isStored && hasBar) return closeMs <= nowMs;
    return completeness.isComplete(series, { interval: DAY, extended, keyMs: session.day * DAY_MS, closeMs });
  }

  /**
   * Of the series that a period is made of those that have no bar of a session where one would be: the coarsest one around it, that which
   * ends last before it, or all.
   */
  #lacking(day: number, used: ReadonlySet<Series>): Series[] {
    const coarsest = [...used].sort((a, b) => coarseness(b) - coarseness(a));
    const around = coarsest.find((series) => this.#reaches(series, day));
    if (around !== undefined) return [around];
    const lastDay = Math.max(...coarsest.map((series) => this.#labelOf(series, series.last_ms)));
    return coarsest.filter((series) => day < lastDay || this.#labelOf(series, series.last_ms) === lastDay);
  }

  /** Whether each session has a bar, or lies in the span of a series: then the days hold all of a stored bar of the period. */
  hold(sessions: readonly Session[], { timed, of }: Days): boolean {
    const found = new Set(of.map((_, row) => timed.day[row]!));
    const all = candidates({ series: this.#series }, DAY);
    return sessions.every(({ day }) => found.has(day) || all.some((series) => this.#reaches(series, day)));
  }

  #reaches(series: Series, day: number): boolean {
    return this.#labelOf(series, series.first_ms) <= day && day <= this.#labelOf(series, series.last_ms);
  }

  #labelOf({ interval }: Series, keyMs: number): number {
    const { calendar } = this.#context;
    return interval === DAY ? calendar.labelOfRow(keyMs / DAY_MS) : labelOfBar(calendar, interval, keyMs);
  }
}

/** What is known of a bar of a period. */
type Judged = {
  /** Whether it is complete, and of one price basis. */
  readonly isServed: boolean;
  /** Whether a session is to be had on another price basis only. */
  readonly isMixed: boolean;
  /** Whether a stored bar is better, as without extended hours: it lacks them, or does not hold all that the stored one has. */
  readonly yields: boolean;
  /** The series that it is made of; any of them as often as may be. */
  readonly of: readonly Series[];
};

/** WEEK or MON bars in order, and what is known of each by its key. */
type PeriodPart = { readonly timed: TimedBars; readonly judged: (keyMs: number) => Judged };

/** WEEK or MON bars of a range, made of the DAY bars of their sessions. */
class FoldedPeriods implements Stream<PeriodPart> {
  readonly #context: StreamContext;
  readonly #interval: PeriodInterval;
  readonly #range: StreamRange;
  readonly #days: PeriodDays;
  readonly #moment: Moment;
  readonly #parts: PartStream;
  /** Whether bars of the interval are stored, to which extended hours are compared. */
  readonly #mayYield: boolean;
  /** Days of a period that the next step may add to. */
  #carried: Days = joined([]);
  #ended = false;
  #lastPlain: Judged | null = null;

  constructor(context: StreamContext, stored: StoredInstrument, range: StreamRange, moment: Moment) {
    this.#context = context;
    this.#interval = context.interval as PeriodInterval;
    this.#range = range;
    this.#moment = moment;
    this.#days = new PeriodDays(context, stored, moment);
    this.#parts = this.#days.parts(wholePeriods(this.#interval, range));
    this.#mayYield = context.extended && storedSeries(context, stored) !== undefined;
  }

  async next(atLeast: number): Promise<PeriodPart | null> {
    while (!this.#ended) {
      const wanted = Math.min((atLeast + 1) * daysIn(this.#interval), limits.barsPerStepMax);
      const step = await nextDays(this.#parts, wanted);
      this.#ended = step === null;
      const { days, cells } = this.#whole(step);
      const part = await this.#folded(days, cells);
      if (part.timed.bars.count > 0) return part;
    }
    return null;
  }

  /** The days of periods that no later step adds to, and their cells. */
  #whole(step: Days | null): { days: Days; cells: CellBars } {
    const { descending } = this.#range;
    const carried = this.#carried;
    if (step === null) return { days: carried, cells: this.#cellsOf(carried) };
    const days = carried.of.length === 0 ? step : joined(descending ? [step, carried] : [carried, step]);
    const { whole, rest } = splitCells(this.#cellsOf(days), descending);
    const count = days.of.length;
    this.#carried = descending ? sliced(days, 0, rest.count) : sliced(days, count - rest.count, count);
    return {
      days: descending ? sliced(days, rest.count, count) : sliced(days, 0, count - rest.count),
      cells: whole,
    };
  }

  #cellsOf({ timed }: Days): CellBars {
    return dayCells(timed.bars, this.#interval, this.#context.calendar);
  }

  async #folded(days: Days, cells: CellBars): Promise<PeriodPart> {
    const { ranges } = cells;
    const timed = withTimes(this.#context, resample(cells), false);
    const judged = new Map<number, Judged>();
    for (let at = 0, range = 0; at < timed.bars.count; at++) {
      const keyMs = timed.bars.keyMs[at]!;
      const from = ranges.from[range]!;
      while (range < ranges.count && ranges.cellMs[range] === keyMs) range++;
      const to = ranges.to[range - 1]!;
      const isPlain = this.#isPlain(days.of, from, to, timed, at);
      judged.set(
        keyMs,
        isPlain ? this.#plain(days.of[from]!) : await this.#judge(timed, at, sliced(days, from, to)),
      );
    }
    return { timed: within(timed, this.#range), judged: (keyMs) => judged.get(keyMs)! };
  }

  /** Whether the bar of a row is made of the days of one series, which is complete through it: most are. */
  #isPlain(of: readonly Series[], from: number, to: number, timed: TimedBars, at: number): boolean {
    const first = of[from]!;
    if (this.#mayYield || first.unfinished.length > 0) return false;
    for (let row = from + 1; row < to; row++) if (of[row] !== first) return false;
    if (first.interval === DAY) this.#asStored(timed, at);
    return timed.closeMs[at]! <= this.#moment.completeness.throughMs(first);
  }

  /** Gives a bar that is made of stored days alone their hours: they are regular-hours data. */
  #asStored(timed: TimedBars, at: number): void {
    const { calendar, extended } = this.#context;
    if (!extended) return;
    const hours = periodHours(calendar, this.#interval, timed.bars.keyMs[at]! / DAY_MS, false);
    timed.openMs[at] = hours.openMs;
    timed.closeMs[at] = hours.closeMs;
  }

  #plain(series: Series): Judged {
    if (this.#lastPlain?.of[0] !== series)
      this.#lastPlain = { isServed: true, isMixed: false, yields: false, of: [series] };
    return this.#lastPlain;
  }

  /** Judges the bar at a row by its days. Where other ones of one price basis make it, it is changed. */
  async #judge(timed: TimedBars, at: number, made: Days): Promise<Judged> {
    const { calendar } = this.#context;
    const start = timed.bars.keyMs[at]! / DAY_MS;
    const end = periodEnd(this.#interval, start);
    const range = { fromMs: start * DAY_MS, toMs: end * DAY_MS, descending: false };
    const days = await this.#days.ofOneBasis(made, range);
    if (days === null) return { isServed: false, isMixed: true, yields: true, of: made.of };
    if (days !== made)
      copyBar(timed.bars, at, resample(dayCells(days.timed.bars, this.#interval, calendar)), 0);
    const isDerived = days.of.some(({ interval }) => interval !== DAY);
    if (!isDerived) this.#asStored(timed, at);
    const sessions = calendar.sessions(start, end);
    return {
      isServed: await this.#days.areComplete(sessions, days),
      isMixed: false,
      yields: this.#mayYield && !(isDerived && this.#days.hold(sessions, days)),
      of: days.of,
    };
  }
}

/** The stored series of an interval. */
const storedSeries = ({ interval }: StreamContext, { series }: StoredInstrument): Series | undefined =>
  series.find((one) => one.interval === interval);

/** The bars for which `holds` is true of what is known of them. */
const chosen = (parts: Stream<PeriodPart>, holds: (judged: Judged) => boolean): Stream<PeriodPart> =>
  mapped(parts, (part) => {
    const timed = filterTimed(part.timed, (row) => holds(part.judged(part.timed.bars.keyMs[row]!)));
    return timed.bars.count === 0 ? null : { ...part, timed };
  });

/** The stored bars of a range. */
function storedPeriods(
  context: StreamContext,
  series: Series,
  range: StreamRange,
  nowMs: number,
): Stream<PeriodPart> {
  const judged: Judged = { isServed: true, isMixed: false, yields: false, of: [series] };
  return mapped(storedStream({ ...context, extended: false }, series, range), (step) => {
    const timed = finished(step, nowMs);
    return timed.bars.count === 0 ? null : { timed, judged: () => judged };
  });
}

/**
 * WEEK or MON bars of a range, served or not: the stored ones, and where there is none those made of DAY bars. With extended hours those
 * made of DAY bars come first, where a session is derived from minutes and they hold all that the stored one has.
 */
function periodParts(
  context: StreamContext,
  stored: StoredInstrument,
  asked: StreamRange,
  moment: Moment,
): Stream<PeriodPart> {
  const range = clamped(stored, asked);
  const made = (some: StreamRange): Stream<PeriodPart> => new FoldedPeriods(context, stored, some, moment);
  const series = storedSeries(context, stored);
  if (series === undefined) return made(range);
  const imported = (some: StreamRange) => storedPeriods(context, series, some, moment.nowMs);
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
  const [series, ...others] = candidates(stored, DAY);
  const isOfOne = others.length === 0 && storedSeries(context, stored) === undefined;
  if (series !== undefined && isOfOne && !series.isPart) {
    // What is made of one series is kept with it; what is complete of it is decided as for all that is derived from it.
    const kept = keptStream(asked, series, clamped(stored, range), (missing) =>
      mapped(new FoldedPeriods(asked, stored, missing, moment), ({ timed }) => timed),
    );
    const made = mapped(kept, (timed) => ({ series, timed }));
    return mapped(servedParts(asked, made, moment), ({ timed }) => timed);
  }
  const parts = chosen(periodParts(asked, stored, range, moment), ({ isServed }) => isServed);
  return mapped(parts, ({ timed, judged }) =>
    markUsed(context, timed, (row) => judged(timed.bars.keyMs[row]!).of),
  );
}

/** Bars that are used, by the series that each is made of. @throws CannotAdjust */
function markUsed(
  context: StreamContext,
  timed: TimedBars,
  of: (row: number) => readonly Series[],
): TimedBars {
  const known = new Map<readonly Series[], boolean>();
  const isSplit = (series: readonly Series[]): boolean => {
    const areSplit = new Set(series.map((one) => useSeries(context, one)));
    if (areSplit.size > 1) throw new CannotAdjust({ kind: 'two-volumes', interval: context.interval });
    return areSplit.has(true);
  };
  const splitVolume = new Uint8Array(timed.bars.count);
  for (let row = 0; row < timed.bars.count; row++) {
    const series = of(row);
    if (!known.has(series)) known.set(series, isSplit(series));
    if (known.get(series)!) splitVolume[row] = 1;
  }
  return splitVolume.includes(1) ? { ...timed, splitVolume } : timed;
}

/**
 * The DAY bars that the bar of a period is built from anew (contract 9.4); null where they are not complete, or hold less of it than its
 * stored bar.
 */
export async function daysOf(
  context: StreamContext,
  stored: StoredInstrument,
  start: number,
  moment: Moment,
): Promise<TimedBars | null> {
  const end = periodEnd(context.interval as PeriodInterval, start);
  const range = { fromMs: start * DAY_MS, toMs: end * DAY_MS, descending: false };
  const days = new PeriodDays(context, stored, moment);
  const found = await days.ofOneBasis(await allDays(days.parts(range)), range);
  if (found === null || found.of.length === 0) return null;
  const sessions = context.calendar.sessions(start, end);
  const series = storedSeries(context, stored);
  const isStored = series !== undefined && (await storedStream(context, series, range).next(1)) !== null;
  if (isStored && !days.hold(sessions, found)) return null;
  if (!(await days.areComplete(sessions, found))) return null;
  return markUsed(context, found.timed, (row) => [found.of[row]!]);
}

/** The first days of the WEEK or MON bars that are not served because a session is to be had on another price basis only. */
export async function mixedPeriods(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  moment: Moment,
): Promise<number[]> {
  const parts = chosen(periodParts(context, stored, range, moment), ({ isMixed }) => isMixed);
  const starts: number[] = [];
  for (let part = await parts.next(1); part !== null; part = await parts.next(limits.barsPerStepMax))
    for (let row = 0; row < part.timed.bars.count; row++) starts.push(part.timed.bars.keyMs[row]! / DAY_MS);
  return starts;
}
