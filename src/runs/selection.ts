// Which stored bars and rows are between two bounds of a command.
import {
  DAY_MS,
  END_DAY,
  endOf,
  FIRST_DAY,
  type ParsedInstant,
  startOf,
  type TimeKind,
} from '../base/instant.ts';
import type { Interval } from '../contract/interval.ts';
import { bucketOf } from '../market/bars/block.ts';
import { barRange, inOrder } from '../market/calendar/bar-range.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { isPeriod, periodHours } from '../market/calendar/period.ts';
import type { series as seriesDataset } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { RequestProblem } from './request-problem.ts';

/** Inclusive bounds as in a request for bars (contract 2.2, 2.3); null: the first, the last. */
export type BarBounds = { readonly from: ParsedInstant | null; readonly to: ParsedInstant | null };

const WRONG_ORDER = '--from is after --to: swap them';

/**
 * Chosen bars of a series: their first and last bucket, the range of keys that was asked for, and a test of a
 * key.
 */
export type Selected = {
  readonly fromBucket: number;
  readonly toBucket: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly holds: (keyMs: number) => boolean;
};

/**
 * The bars of a series between two bounds. Null where there are none.
 * @throws RequestProblem where `from` is after `to`
 */
export function selectBars(
  row: Pick<RowOf<typeof seriesDataset>, 'interval' | 'first_ms' | 'last_ms'>,
  calendar: Calendar,
  bounds: BarBounds,
): Selected | null {
  const interval = row.interval as Interval;
  const from = bounds.from ?? { kind: 'date', day: FIRST_DAY };
  const to = bounds.to ?? { kind: 'date', day: END_DAY - 1 };
  if (!inOrder(interval, calendar, from, to)) throw new RequestProblem(WRONG_ORDER);
  const { fromMs, toMs, holds } = barRange(interval, calendar, from, to);
  const firstMs = Math.max(fromMs, row.first_ms);
  const lastMs = Math.min(toMs - 1, row.last_ms);
  if (firstMs > lastMs) return null;
  return {
    fromBucket: bucketOf(interval, firstMs),
    toBucket: bucketOf(interval, lastMs),
    ...{ fromMs, toMs },
    holds: (keyMs) => {
      if (keyMs < fromMs || keyMs >= toMs) return false;
      if (holds === null || !isPeriod(interval)) return true;
      const { openMs, day } = periodHours(calendar, interval, keyMs / DAY_MS, false);
      return holds(openMs, day);
    },
  };
}

type Bound = ParsedInstant | null | undefined;

/** Two inclusive bounds as a half-open range. @throws RequestProblem where `from` is after `to` */
export function rangeOf(from: Bound, to: Bound, kind: TimeKind): { from?: number; to?: number } {
  const range = { ...(from && { from: startOf(from, kind) }), ...(to && { to: endOf(to, kind) }) };
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to)
    throw new RequestProblem(WRONG_ORDER);
  return range;
}
