// split_basis: weeks and months without a bar, because their sessions are stored under different price bases
// (contract 3.6).

import { interval as intervalOf } from '../../contract/interval.ts';
import { periodEnd, periodHours } from '../../market/calendar/period.ts';
import { Completeness } from '../../series/completeness.ts';
import { mixedPeriods } from '../../series/periods.ts';
import { candidates, DAY } from '../../series/plan.ts';
import type { StoredInstrument } from '../../series/series.ts';
import type { Reader } from '../../store/store.ts';
import type { Finding } from './finding.ts';
import { always } from './stored-bars.ts';
import { countOf } from './words.ts';

const names = { WEEK: 'week', MON: 'month' } as const;

/**
 * The weeks and months that have closed and are not served because of their bases; neighbours are one
 * finding.
 */
export async function mixedBases(
  reader: Reader,
  stored: StoredInstrument,
  nowMs: number,
): Promise<Finding[]> {
  const { calendar } = stored;
  const bases = [...new Set(candidates(stored, DAY).map(({ prices }) => prices))].sort();
  if (bases.length < 2) return [];
  const moment = { nowMs, completeness: new Completeness(reader, stored, nowMs) };
  const found: Finding[] = [];
  for (const period of ['WEEK', 'MON'] as const) {
    const interval = intervalOf(period);
    const context = { reader, calendar, interval, extended: false, rawOnly: false, onUse: null };
    const spans: { first: number; end: number; count: number; closeMs: number }[] = [];
    for (const start of await mixedPeriods(context, stored, always, moment)) {
      const { closeMs } = periodHours(calendar, period, start, false);
      if (closeMs > nowMs) continue;
      const [end, last] = [periodEnd(period, start), spans.at(-1)];
      if (last?.end === start) Object.assign(last, { end, closeMs, count: last.count + 1 });
      else spans.push({ first: start, end, closeMs, count: 1 });
    }
    for (const { first, closeMs: toMs, count } of spans)
      found.push({
        kind: 'split_basis',
        severity: 'error',
        interval,
        ...{ fromMs: periodHours(calendar, period, first, false).openMs, toMs },
        ...{ value: null, expected: null, runId: null },
        message: `${countOf(count, names[period])} without a bar: the sessions are stored with ${bases.join(' and ')} prices, and not all of them with one basis`,
      });
  }
  return found;
}
