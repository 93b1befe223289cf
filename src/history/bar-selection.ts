// Which stored bars of a series lie between two bounds of a command.
import { bucketOf } from '../bars/bucket.ts';
import { DAY_MS, END_DAY, FIRST_DAY, type ParsedInstant } from '../base/instant.ts';
import { type BarRange, barRange, inOrder } from '../calendar/bar-range.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, periodHours } from '../calendar/period.ts';
import type { Interval } from '../contract/interval.ts';
import type { series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { RequestProblem } from './request-problem.ts';

type Series = Pick<RowOf<typeof seriesDataset>, 'interval' | 'first_ms' | 'last_ms'>;

/** Inclusive bounds as those of a request for bars (contract 2.2, 2.3); null: from the first, to the last. */
export type BarBounds = { readonly from: ParsedInstant | null; readonly to: ParsedInstant | null };

/** The blocks that may have bars between the bounds, first and last included, and whether a bar is one of them, by its key. */
export type SelectedBars = {
  readonly fromBucket: number;
  readonly toBucket: number;
  readonly holds: (keyMs: number) => boolean;
};

const FIRST: ParsedInstant = { kind: 'date', day: FIRST_DAY };
const LAST: ParsedInstant = { kind: 'date', day: END_DAY - 1 };

/** The bars of a series between two bounds; null where it has none. @throws RequestProblem where the bounds are the wrong way round */
export function selectBars(row: Series, calendar: Calendar, bounds: BarBounds): SelectedBars | null {
  const range = rangeOf(row, calendar, bounds);
  const firstMs = Math.max(range.fromMs, row.first_ms);
  const lastMs = Math.min(range.toMs - 1, row.last_ms);
  if (firstMs > lastMs) return null;
  const interval = row.interval as Interval;
  return {
    fromBucket: bucketOf(interval, firstMs),
    toBucket: bucketOf(interval, lastMs),
    holds: holdsKey(row, calendar, range),
  };
}

function rangeOf({ interval }: Series, calendar: Calendar, { from, to }: BarBounds): BarRange {
  const [first, last] = [from ?? FIRST, to ?? LAST];
  if (!inOrder(interval, calendar, first, last))
    throw new RequestProblem('--from lies after --to: exchange the two');
  return barRange(interval, calendar, first, last);
}

function holdsKey({ interval }: Series, calendar: Calendar, range: BarRange): (keyMs: number) => boolean {
  const { fromMs, toMs, holds } = range;
  return (keyMs) => {
    if (keyMs < fromMs || keyMs >= toMs) return false;
    if (holds === null || !isPeriod(interval)) return true;
    const { openMs, day } = periodHours(calendar, interval, keyMs / DAY_MS, false);
    return holds(openMs, day);
  };
}
