// Which WEEK and MON bars are served at a moment: those of which every session is complete (contract 3.6, 3.9).
import { DAY_MS } from '../base/instant.ts';
import { hoursOf, type PeriodInterval, periodEnd } from '../calendar/period.ts';
import type { Moment } from './completeness.ts';
import { type MadeOf, type Share, shareOn } from './made-of.ts';
import { labelsOf, reaches } from './period-days.ts';
import { candidates, DAY } from './plan.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

/** A session may be up to two UTC days away from its label date. */
const SLACK_MS = 2 * DAY_MS;

/** Judges bars of periods at a moment. */
export class CompletePeriods {
  readonly #context: StreamContext;
  readonly #moment: Moment;
  /** Through when every bar that is made of a series is complete, whatever it is. */
  readonly #throughMs = new Map<Series, number>();
  /** Every bar that closes up to this instant is served. */
  readonly allThroughMs: number;

  constructor(context: StreamContext, stored: StoredInstrument, moment: Moment) {
    this.#context = context;
    this.#moment = moment;
    const days = candidates(stored, DAY);
    const isOfOneBasis = days.every(({ prices }) => prices === days[0]!.prices);
    this.allThroughMs = isOfOneBasis
      ? Math.min(...days.map((series) => this.#plainThroughMs(series)))
      : Number.NEGATIVE_INFINITY;
  }

  #plainThroughMs(series: Series): number {
    const known = this.#throughMs.get(series);
    if (known !== undefined) return known;
    const { nowMs, completeness } = this.#moment;
    const unfinishedMs = series.unfinished[0]?.first_ms ?? Number.POSITIVE_INFINITY;
    const throughMs =
      series.interval === this.#context.interval
        ? nowMs
        : Math.min(completeness.throughMs(series), unfinishedMs - SLACK_MS);
    this.#throughMs.set(series, throughMs);
    return throughMs;
  }

  /** Whether a bar is certainly served, by its close: each series that it is made of is complete through it. */
  isPlain({ shares, isMixed }: MadeOf, closeMs: number): boolean {
    return !isMixed && shares.every(({ series }) => closeMs <= this.#plainThroughMs(series));
  }

  /** Whether a bar is served, by the first day of its period and its close. */
  async isServed({ shares, isMixed }: MadeOf, start: number, closeMs: number): Promise<boolean> {
    return !isMixed && closeMs <= this.#moment.nowMs && this.areComplete(shares, start);
  }

  /** Whether each session of a period has its complete bar, or no later import can be expected to bring one. */
  async areComplete(shares: readonly Share[], start: number): Promise<boolean> {
    const { calendar, interval } = this.#context;
    const { nowMs, completeness } = this.#moment;
    const sessions = calendar.sessions(start, periodEnd(interval as PeriodInterval, start));
    // The last one is the likeliest to be incomplete.
    for (const session of sessions.reverse()) {
      const share = shareOn(shares, session.day - start);
      for (const series of share === undefined ? this.#lacking(session.day, shares) : [share.series]) {
        const isStored = series.interval === DAY;
        // Stored days are regular-hours data.
        const extended = this.#context.extended && !isStored;
        const { closeMs } = hoursOf(session, extended);
        const hasStored = isStored && share !== undefined;
        if (closeMs <= (hasStored ? nowMs : this.#plainThroughMs(series))) continue;
        const bar = { interval: DAY, extended, keyMs: session.day * DAY_MS, closeMs };
        if (hasStored || !(await completeness.isComplete(series, bar))) return false;
      }
    }
    return true;
  }

  /**
   * Of the series that a period is made of those that have no bar of a session where one would be: the coarsest one around it, that which
   * ends last before it, or all.
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
