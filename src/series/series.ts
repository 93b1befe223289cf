// The shape of an instrument's stored series.
import { firstWhere } from '../base/search.ts';
import type { Calendar } from '../calendar/calendar.ts';
import type { Market } from '../calendar/market.ts';
import {
  INTERVAL_MINUTES_MAX,
  type Interval,
  intervalMinutes,
  namedIntervals,
} from '../contract/interval.ts';
import type { series, unfinishedBars } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import type { Instrument } from '../datasets/reference.ts';

/** Neighbouring stored bars by the keys of the first and the last one. */
export type Span = Pick<RowOf<typeof unfinishedBars>, 'first_ms' | 'last_ms'>;

/** One stored series of an instrument. Its first and last key are those of bars that are served. */
export type Series = Omit<RowOf<typeof series>, 'interval'> & {
  readonly interval: Interval;
  /** Bars that are not served, ascending (contract 3.9). */
  readonly unfinished: readonly Span[];
  /** It is what was known of the series or its calendar at a moment (`known-series.ts`): bars that are made of it are not kept. */
  readonly isPart?: true;
};

/** An instrument with its calendar and those of its series that have bars. */
export type StoredInstrument = {
  readonly instrument: Instrument;
  readonly calendar: Calendar;
  readonly series: readonly Series[];
  /** As `marketName` gives it. */
  readonly market: string;
  /** From this instant on all its series are complete; null while it is traded (contract 3.9). */
  readonly endedMs: number | null;
};

/** Minutes, for comparing how coarse series are; DAY, WEEK and MON come after all of them. */
export const coarseness = ({ interval }: { readonly interval: string }): number =>
  intervalMinutes(interval as Interval) ?? INTERVAL_MINUTES_MAX + namedIntervals.indexOf(interval);

/** The market of an instrument, as runs record it: `stock/US_STOCK`; without a known market `stock/BR`. */
export const marketName = (
  { asset_schema, country_iso_code }: Pick<Instrument, 'asset_schema' | 'country_iso_code'>,
  market: Market | null,
): string => `${asset_schema}/${market?.key ?? country_iso_code}`;

/** Whether a stored bar is not served (contract 3.9). */
export function isUnfinished({ unfinished }: Pick<Series, 'unfinished'>, keyMs: number): boolean {
  const next = firstWhere(unfinished.length, (index) => unfinished[index]!.first_ms > keyMs);
  return next > 0 && unfinished[next - 1]!.last_ms >= keyMs;
}
