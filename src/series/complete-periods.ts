// Which WEEK and MON bars are served at a moment: those of which every session is complete (contract 3.6,
// 3.9).
import { DAY_MS } from '../base/instant.ts';
import { hoursOf, type PeriodInterval, periodEnd } from '../market/calendar/period.ts';
import type { Moment } from './completeness.ts';
import { type MadeOf, type Share, shareOn } from './made-of.ts';
import { labelsOf, reaches } from './period-days.ts';
import { candidates, DAY } from './plan.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import type { Span } from './spans.ts';
import type { StreamContext } from './stream.ts';

/** The longest of some spans; an empty one without any. */
const longest = (spans: readonly Span[]): Span =>
  spans.reduce((best, span) => (span.toMs - span.fromMs > best.toMs - best.fromMs ? span : best), {
    fromMs: 0,
    toMs: 0,
  });

/** Judges bars of periods at a moment. */
export class CompletePeriods {
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
