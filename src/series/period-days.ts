// The DAY bars of weeks and months, each with the series that it comes from (contract 3.6, 3.8).
import { DAY_MS } from '../base/instant.ts';
import { type Bars, concatBars, sliceBars } from '../market/bars/columns.ts';
import { sessionOfBar } from '../market/calendar/bar-end.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import type { Session } from '../market/calendar/session.ts';
import { dayParts } from './best-series.ts';
import type { StreamRange } from './cursor.ts';
import type { Share } from './kept-cells.ts';
import { candidates, DAY } from './plan.ts';
import { coarseness, type Series, type StoredInstrument } from './series.ts';
import type { PartStream, StreamContext } from './stream.ts';

/** DAY bars, and the series of each. */
export type Days = { readonly bars: Bars; readonly of: readonly Series[] };

const noSeries: readonly Series[] = [];

/** Days in ascending order as one. */
export const joined = (days: readonly Days[]): Days =>
  days.length === 1
    ? days[0]!
    : { bars: concatBars(days.map(({ bars }) => bars)), of: noSeries.concat(...days.map(({ of }) => of)) };

export const sliced = ({ bars, of }: Days, from: number, to: number): Days => ({
  bars: sliceBars(bars, from, to),
  of: of.slice(from, to),
});

/** At least so many more days of a stream, as one ascending piece; fewer at its end. */
export async function nextDays(parts: PartStream, count: number, descending: boolean): Promise<Days> {
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
export const allDays = (parts: PartStream): Promise<Days> => nextDays(parts, DAYS_MAX, false);

/**
 * The days `from` (included) to `to` (not), of which there is one, of the period that begins on `start`, by
 * series.
 */
export function sharesOf({ bars, of }: Days, start: number, from = 0, to = of.length): readonly Share[] {
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
export function reaches(calendar: Calendar, series: Series, day: number): boolean {
  const { first, last } = labelsOf(calendar, series);
  return first <= day && day <= last;
}

/** The DAY bars that the weeks and months of an instrument are made of. */
export class PeriodDays {
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
   * Whether each session has a bar, or lies in the span of a series: then the days hold all of a stored bar
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
