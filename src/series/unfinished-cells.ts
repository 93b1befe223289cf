// Whether a derived bar would lack a stored bar that is not finished: then it is not finished either (contract 3.9).
import { dayCells } from '../bars/cells.ts';
import { emptyBars } from '../bars/columns.ts';
import { DAY_MS } from '../base/instant.ts';
import { firstWhere } from '../base/search.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, type PeriodInterval, periodEnd, periodHours, segmentScope } from '../calendar/period.ts';
import type { Interval } from '../contract/interval.ts';
import type { Series, Span } from './series.ts';

/** A bar that is derived, by its key; `extended` says whether it has the extended hours. */
export type DerivedBar = {
  readonly interval: Interval;
  readonly extended: boolean;
  readonly keyMs: number;
  readonly closeMs: number;
};

/** A session may begin up to two days before its label date, in UTC. */
const SLACK_MS = 2 * DAY_MS;

/**
 * Whether a bar of a series that is not finished belongs to a bar that is derived from the series. Of neighbours only the first and the
 * last are known: where one could be between them, it counts as stored.
 */
export function lacksUnfinished(calendar: Calendar, series: Series, bar: DerivedBar): boolean {
  const { interval, unfinished } = series;
  const isIn = isPeriod(interval) ? dayIn : minuteIn;
  const first = firstWhere(unfinished.length, (at) => unfinished[at]!.last_ms >= bar.keyMs - SLACK_MS);
  for (let at = first; at < unfinished.length && unfinished[at]!.first_ms < bar.closeMs; at++)
    if (isIn(calendar, unfinished[at]!, bar)) return true;
  return false;
}

/** Whether one of some bars of minutes is in a derived bar. */
function minuteIn(calendar: Calendar, { first_ms, last_ms }: Span, bar: DerivedBar): boolean {
  const { interval, extended, keyMs, closeMs } = bar;
  const openMs = isPeriod(interval)
    ? periodHours(calendar, interval, keyMs / DAY_MS, extended).openMs
    : keyMs;
  const [fromMs, toMs] = [Math.max(first_ms, openMs), Math.min(last_ms + 1, closeMs)];
  return fromMs < toMs && calendar.segments(fromMs, toMs, segmentScope(interval, extended)).openMs.length > 0;
}

/** Whether one of some DAY rows is in a bar of a week or month, by the label of its session (contract 3.10). */
function dayIn(calendar: Calendar, { first_ms, last_ms }: Span, { interval, keyMs }: DerivedBar): boolean {
  const period = interval as PeriodInterval;
  const labelOf = (ms: number): number => calendar.labelOfRow(ms / DAY_MS);
  const from = Math.max(labelOf(first_ms), keyMs / DAY_MS);
  const to = Math.min(labelOf(last_ms) + 1, periodEnd(period, keyMs / DAY_MS));
  const days = emptyBars(Math.max(0, to - from));
  for (let day = from; day < to; day++) days.keyMs[days.count++] = day * DAY_MS;
  return dayCells(days, period, calendar).ranges.count > 0;
}
