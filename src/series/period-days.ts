// The DAY bars of one week or month, from which its bar can be built anew (contract 3.8, 9.4).
import { concatTimed, type TimedBars } from '../bars/grid.ts';
import { DAY_MS } from '../base/instant.ts';
import { barStream } from './bar-stream.ts';
import { Completeness } from './completeness.ts';
import { candidates, DAY, divides, reachOf, splitRange } from './plan.ts';
import type { Series, StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

/** Days of a month. */
const DAYS_MAX = 31;

/** A WEEK or MON bar: the label dates of its first and last session, the midnights between which its days are, and its close. */
export type BuiltPeriod = {
  readonly interval: 'WEEK' | 'MON';
  readonly firstDay: number;
  readonly lastDay: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly closeMs: number;
};

/** Whether the bar of a period was imported: then it covers all sessions, whatever DAY bars are stored. */
const isImported = ({ series }: StoredInstrument, { interval, fromMs }: BuiltPeriod): boolean =>
  series.some((one) => one.interval === interval && one.first_ms <= fromMs && fromMs <= one.last_ms);

/** Whether series that have or give DAY bars reach from the first session of a period to its last. */
function reachThrough(
  context: StreamContext,
  series: readonly Series[],
  { firstDay, lastDay }: BuiltPeriod,
): boolean {
  const days = series.filter((one) => one.interval === DAY || divides(one, DAY));
  const reaches = days.map((one) => reachOf({ ...context, interval: DAY }, one));
  return (
    reaches.some(({ first }) => first.keyMs <= firstDay * DAY_MS) &&
    reaches.some(({ last }) => last.keyMs >= lastDay * DAY_MS)
  );
}

/**
 * The DAY bars that a WEEK or MON bar is built from; null where they are not complete through its end, or cover less of it than its
 * imported bar.
 */
export async function daysOf(
  context: StreamContext,
  found: StoredInstrument,
  period: BuiltPeriod,
  nowMs: number,
): Promise<TimedBars | null> {
  const { fromMs, toMs, closeMs } = period;
  const { interval, extended } = context;
  const bar = { interval, extended, keyMs: fromMs, closeMs };
  const completeness = new Completeness(context.reader, found, nowMs);
  const complete: Series[] = [];
  for (const one of found.series) if (await completeness.isComplete(one, bar)) complete.push(one);
  const whole = { ...found, series: complete };
  const bases = candidates(whole, interval).filter((one) => one.interval !== interval);
  // Regular bars come from one series, those of extended hours from minutes and days (contract 3.6).
  const [piece] = splitRange(context, bases, { fromMs, toMs: fromMs + 1, descending: false });
  const series = context.extended ? whole.series : piece === undefined ? [] : [piece.series];
  if (isImported(found, period) && !reachThrough(context, series, period)) return null;
  const range = { fromMs, toMs, descending: false };
  const days = barStream({ ...context, interval: DAY }, { ...whole, series }, range, nowMs);
  const steps: TimedBars[] = [];
  for (;;) {
    const step = await days.next(DAYS_MAX);
    if (step === null) return steps.length === 0 ? null : concatTimed(steps);
    steps.push(step);
  }
}
