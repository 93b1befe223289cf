// The rules of bars (contract 11): those that each bar must keep, and what deserves a warning among the
// loaded ones, by their places in time and how far they are apart (contract 3.10).
import { firstWhere } from '../../base/ascending.ts';
import { DAY_MS, formatInstant, MINUTE_MS } from '../../base/instant.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';
import { type Bars, lowerBound } from '../../market/bars/columns.ts';
import { countOffGrid, countOutside, timeOffGrid } from '../../market/bars/grid.ts';
import { CLOSE_SESSIONS_MIN, closesAfter, datedBy } from '../../market/calendar/bar-end.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import type { Segments } from '../../market/calendar/session.ts';
import { firstAfter } from '../../series/future-bars.ts';
import type { OpenSeries } from './open-series.ts';
import type { RowProblem } from './refused-rows.ts';

const prices = ['open', 'high', 'low', 'close'] as const;

/** A double tells so many digits of any decimal apart. */
const SIGNIFICANT_DIGITS = 15;

/** One bar's values; NaN in `volume` and `vwap` is null. */
export type BarValues = Record<(typeof prices)[number] | 'volume' | 'vwap', number>;

/** A price at the digits that it is stored and compared with (contract 3.12, 11). */
const roundedPrice = (price: number): number => Number(price.toPrecision(SIGNIFICANT_DIGITS));

/** True if a price is not below another one; what differs in the last bit is equal. */
const isAtLeast = (price: number, other: number): boolean =>
  price >= other || roundedPrice(price) >= roundedPrice(other);

/** True if a bar keeps every rule: the fast form of `barProblem`. */
export function isSoundBar(
  open: number,
  high: number,
  low: number,
  close: number,
  volume: number,
  vwap: number,
  anySign: boolean,
): boolean {
  return (
    (anySign || low > 0) &&
    isAtLeast(high, open) &&
    isAtLeast(high, close) &&
    isAtLeast(open, low) &&
    isAtLeast(close, low) &&
    high < Number.POSITIVE_INFINITY &&
    low > Number.NEGATIVE_INFINITY &&
    !(volume < 0) &&
    volume !== Number.POSITIVE_INFINITY &&
    Math.abs(vwap) !== Number.POSITIVE_INFINITY
  );
}

/** Why a bar is refused, or null. Prices of futures may be zero and negative: `anySign`. */
export function barProblem(bar: BarValues, anySign: boolean): RowProblem | null {
  for (const column of prices) {
    const value = bar[column];
    if (Number.isNaN(value)) return { column, reason: 'a price is missing' };
    if (!Number.isFinite(value)) return { column, reason: 'a price must be finite' };
    if (!anySign && value <= 0) return { column, reason: 'a price must be positive' };
  }
  if (!isAtLeast(bar.high, Math.max(bar.open, bar.close, bar.low)))
    return { column: 'high', reason: 'is below open, close or low' };
  if (!isAtLeast(Math.min(bar.open, bar.close), bar.low))
    return { column: 'low', reason: 'is above open or close' };
  if (bar.volume < 0) return { column: 'volume', reason: 'volume must not be negative' };
  if (bar.volume === Number.POSITIVE_INFINITY) return { column: 'volume', reason: 'volume must be finite' };
  if (Math.abs(bar.vwap) === Number.POSITIVE_INFINITY)
    return { column: 'vwap', reason: 'vwap must be finite' };
  return null;
}

/** An epoch in seconds up to the year 2200, read as milliseconds, is within so many days. */
const EPOCH_DAYS = 85;

/** Counts the bars of one import that deserve a warning. */
export class BarFindings {
  readonly counts = {
    outsideSessions: 0,
    offGrid: 0,
    mergedDays: 0,
    vwapOutside: 0,
  };
  /** DAY bars of dates on which the market is closed: stored and served. */
  #onClosedDays = 0;
  /** Bars that close after the start of the import: stored, not served until a later import holds them. */
  #unfinished = 0;
  /** Bars of the days around 1970 that a present time gives in the wrong unit. */
  #atEpoch = 0;
  /** Bars that open after now: stored, not served yet; and the open of the first of them. */
  #afterNow = 0;
  #firstAfterMs = Number.POSITIVE_INFINITY;
  readonly #gaps = new Map<Interval, Gaps>();
  readonly #startedMs: number;
  readonly #nowMs: number;
  readonly #runId: number;
  /** The first sessions of each series of which none has a bar at its first open, by label date. */
  readonly #ends = new Map<OpenSeries, Map<number, SessionEnds>>();

  /** @param startedMs the start of the import; `nowMs` is the time of its write */
  constructor(startedMs: number, nowMs: number, runId: number) {
    this.#startedMs = startedMs;
    this.#nowMs = nowMs;
    this.#runId = runId;
  }

  /** Counts the bars of a block. One that is opened again is first subtracted: `sign` -1. */
  judge(series: OpenSeries, bars: Bars, sign: 1 | -1): void {
    this.counts.vwapOutside += sign * countVwapOutside(bars);
    this.#atEpoch += sign * (lowerBound(bars, EPOCH_DAYS * DAY_MS) - lowerBound(bars, 0));
    const after = firstAfter(bars, series.interval, series.calendar, this.#nowMs);
    if (after !== null) {
      this.#afterNow += sign * (bars.count - after.index);
      this.#firstAfterMs = Math.min(this.#firstAfterMs, after.openMs);
    }
    const minutes = intervalMinutes(series.interval);
    if (series.interval === 'DAY') {
      const { closed, merged } = countClosed(bars, series.calendar);
      this.#onClosedDays += sign * closed;
      this.counts.mergedDays += sign * merged;
    }
    if (minutes !== null) this.#judgeMinutes(series, bars, minutes, sign);
    this.#unfinished += sign * this.#closingLater(series, bars);
  }

  /** The number of bars that close after the start of the import: closes ascend with keys. */
  #closingLater({ interval, calendar, isOffGrid }: OpenSeries, { count, keyMs }: Bars): number {
    const isLater = (at: number): boolean =>
      closesAfter(calendar, { interval, isOffGrid }, keyMs[at]!, this.#startedMs);
    return count === 0 || !isLater(count - 1) ? 0 : count - firstWhere(count, isLater);
  }

  /** Counts bars by their place in the sessions. */
  #judgeMinutes(series: OpenSeries, bars: Bars, minutes: number, sign: 1 | -1): void {
    const endMs = bars.keyMs[bars.count - 1]! + minutes * MINUTE_MS;
    const segments = series.calendar.segments(bars.keyMs[0]!, endMs, 'all');
    const offGrid = minutes === 1 ? 0 : countOffGrid(bars, segments, minutes);
    this.counts.offGrid += sign * offGrid;
    series.isOffGrid ||= offGrid > 0;
    // A bar off the grid may begin before a session and reach into it.
    const outside =
      offGrid > 0
        ? bars.count - timeOffGrid(bars, segments, minutes, true).bars.count
        : countOutside(bars, segments);
    this.counts.outsideSessions += sign * outside;
    if (!series.isDatedByOpen && series.instrument.asset_schema !== 'option')
      this.#noteEnds(series, bars, segments, sign);
  }

  /** Notes how the sessions of some bars begin and end. */
  #noteEnds(series: OpenSeries, bars: Bars, { openMs, closeMs, day }: Segments, sign: 1 | -1): void {
    const ends = this.#ends.get(series) ?? new Map<number, SessionEnds>();
    this.#ends.set(series, ends);
    for (let at = 0; at < day.length; at++) {
      const from = lowerBound(bars, openMs[at]!);
      // A bar at the very close belongs to the session unless the next segment opens then.
      const to = lowerBound(bars, closeMs[at]! + (openMs[at + 1] === closeMs[at] ? 0 : 1));
      if (from === to) continue;
      const label = day[at]!;
      const { firstMs, lastMs, count } = ends.get(label) ?? nowhere;
      const noted = {
        firstMs: Math.min(firstMs, bars.keyMs[from]!),
        lastMs: Math.max(lastMs, bars.keyMs[to - 1]!),
        count: count + sign * (to - from),
      };
      if (ends.has(label) || ends.size < SESSIONS_MAX) ends.set(label, noted);
      series.isDatedByOpen ||= datedIn(series, label, noted) === 'open';
    }
    if (series.isDatedByOpen) this.#ends.delete(series);
  }

  /** The bars of series that several sessions show to be dated by their close, and none by their open. */
  #countDatedByClose(): number {
    let bars = 0;
    for (const [series, ends] of this.#ends) {
      const dated = [...ends].filter(([day, one]) => datedIn(series, day, one) === 'close');
      if (dated.length >= CLOSE_SESSIONS_MIN) bars += dated.reduce((sum, [, { count }]) => sum + count, 0);
    }
    return bars;
  }

  /** Measures how far ascending bars of one series are apart, so many of which were not measured before. */
  space(interval: Interval, { keyMs, count }: Bars, added: number): void {
    const gaps = this.#gaps.get(interval) ?? { count: 0, measureMs: 0, leastMs: Number.POSITIVE_INFINITY };
    this.#gaps.set(interval, gaps);
    const usualMs = (intervalMinutes(interval) ?? 0) * MINUTE_MS;
    // Most files show the usual distance at once.
    for (let at = 1; at < count && (usualMs === 0 || gaps.measureMs !== usualMs); at++) {
      const gapMs = keyMs[at]! - keyMs[at - 1]!;
      gaps.measureMs = measureOf(gapMs, gaps.measureMs);
      gaps.leastMs = Math.min(gaps.leastMs, gapMs);
    }
    gaps.count += added;
  }

  /** The warnings beside the counts, each with its number of bars. */
  findings(): Record<string, number> {
    const found: Record<string, number> = {};
    if (this.#afterNow > 0)
      found[
        `opening after now, the first at ${formatInstant(this.#firstAfterMs)}, stored, not served until a later import has them; check --zone, and the clock of this machine`
      ] = this.#afterNow;
    if (this.#unfinished > this.#afterNow)
      found['that close after this import began, not served until a later import has them'] =
        this.#unfinished - this.#afterNow;
    if (this.#onClosedDays > 0)
      found['on days that the market is closed, stored and served'] = this.#onClosedDays;
    const dated = this.#countDatedByClose();
    if (dated > 0)
      found[
        `in sessions without a bar at their first open but with one at their close. Minutes dated by their close look like this: if these are, run bourse undo ${this.#runId} and import this file again with --label close`
      ] = dated;
    if (this.#atEpoch > 0)
      found['of the first weeks of 1970, as epochs in the wrong unit are'] = this.#atEpoch;
    for (const [interval, { count, measureMs, leastMs }] of this.#gaps) {
      const minutes = intervalMinutes(interval);
      const isCoarse = minutes !== null && measureMs > minutes * MINUTE_MS && count >= BARS_OF_MINUTES;
      const isRare = measureMs > 0 && leastMs >= (DAYS_APART[interval] ?? Number.POSITIVE_INFINITY) * DAY_MS;
      if (isCoarse) found[`a multiple of ${measureMs / MINUTE_MS} minutes apart, ${DOUBT}`] = count;
      if (isRare && count >= BARS_OF_DAYS) found[`at least ${leastMs / DAY_MS} days apart, ${DOUBT}`] = count;
    }
    return found;
  }
}

/** The first and the last bar of a session, and how many this import has of it. */
type SessionEnds = { readonly firstMs: number; readonly lastMs: number; readonly count: number };

const nowhere: SessionEnds = {
  firstMs: Number.POSITIVE_INFINITY,
  lastMs: Number.NEGATIVE_INFINITY,
  count: 0,
};

/** So many sessions of a series are looked at: the first ones. */
const SESSIONS_MAX = 20;

const datedIn = ({ calendar, interval }: OpenSeries, day: number, { firstMs, lastMs }: SessionEnds) =>
  datedBy(calendar.sessionOn(day)!, intervalMinutes(interval)! * MINUTE_MS, firstMs, lastMs);

/** The gaps between the bars of one interval: bars of a coarser interval than the one given show by it. */
type Gaps = { count: number; measureMs: number; leastMs: number };

/** So many bars have a common multiple of minutes, or a least distance of days, by more than chance. */
const BARS_OF_MINUTES = 20;
const BARS_OF_DAYS = 4;

/** Any file of several DAY or WEEK bars has two that are fewer days apart. */
const DAYS_APART: Readonly<Record<string, number>> = { DAY: 5, WEEK: 28 };

const DOUBT = 'so that the interval may be wrong (--interval)';

const measureOf = (one: number, other: number): number => (other === 0 ? one : measureOf(other, one % other));

/**
 * Counts the DAY bars of a date without a session, and those of such a date that are merged into the next
 * session (contract 3.10).
 */
function countClosed({ count, keyMs }: Bars, calendar: Calendar): { closed: number; merged: number } {
  let closed = 0;
  let merged = 0;
  for (let index = 0; index < count; index++) {
    const day = keyMs[index]! / DAY_MS;
    if (calendar.labelOfRow(day) !== day) merged++;
    else if (calendar.sessionOn(day) === null) closed++;
  }
  return { closed, merged };
}

const isOutside = (vwap: number, low: number, high: number): boolean =>
  (vwap < low && !isAtLeast(vwap, low)) || (vwap > high && !isAtLeast(high, vwap));

/** Counts the bars that have a vwap outside their low and high (contract 11). */
function countVwapOutside({ count, low, high, vwap }: Bars): number {
  let outside = 0;
  for (let index = 0; index < count; index++)
    if (isOutside(vwap[index]!, low[index]!, high[index]!)) outside++;
  return outside;
}
