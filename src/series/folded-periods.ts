// WEEK and MON bars that the DAY bars of their sessions make (contract 3.6, 3.8).
import { DAY_MS } from '../base/instant.ts';
import { limits } from '../contract/limits.ts';
import { type CellBars, dayCells } from '../market/bars/cells.ts';
import { copyBar, lowerBound } from '../market/bars/columns.ts';
import type { TimedBars } from '../market/bars/grid.ts';
import { resample } from '../market/bars/resample.ts';
import { type PeriodInterval, periodEnd, periodHours, periodStart } from '../market/calendar/period.ts';
import { usualOf } from '../market/calendar/trading-hours.ts';
import type { StreamRange } from './cursor.ts';
import { within } from './derived.ts';
import type { MadeOf, Share } from './kept-cells.ts';
import { type Days, joined, nextDays, PeriodDays, sharesOf, sliced } from './period-days.ts';
import { DAY, daysIn, storedSeries, wholePeriods } from './plan.ts';
import type { StoredInstrument } from './series.ts';
import { type BarStream, type PartStream, type StreamContext, withTimes } from './stream.ts';

const noDays: Days = joined([]);

/**
 * WEEK or MON bars of a range, complete or not. What each is made of is added to `madeOf`, by the first day
 * of its period, before it is given.
 */
export class FoldedPeriods implements BarStream {
  readonly #context: StreamContext;
  readonly #interval: PeriodInterval;
  readonly #range: StreamRange;
  readonly #days: PeriodDays;
  readonly #parts: PartStream;
  readonly #madeOf: Map<number, MadeOf>;
  /** Whether bars of the interval are stored, to which extended hours are compared. */
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

/** Whether stored days alone make a bar. */
const isStored = (shares: readonly Share[]): boolean => shares.every(({ series }) => series.interval === DAY);
