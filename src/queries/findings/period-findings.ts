// The findings in series of DAY and above; and split_basis: weeks and months without a bar, because their
// sessions are stored under different price bases (contract 3.6).
import { DAY_MS } from '../../base/instant.ts';
import { interval as intervalOf } from '../../contract/interval.ts';
import type { Bars } from '../../market/bars/columns.ts';
import { periodEnd, periodHours } from '../../market/calendar/period.ts';
import { Completeness } from '../../series/completeness.ts';
import { type Action, asTraded } from '../../series/factors.ts';
import { mixedPeriods } from '../../series/periods.ts';
import { candidates, DAY } from '../../series/plan.ts';
import type { StoredInstrument } from '../../series/series.ts';
import { corporateActions } from '../../store/schema/corporate-actions.ts';
import { isKnown, type KnownMoment } from '../../store/schema/dataset.ts';
import type { Reader } from '../../store/store.ts';
import { dayFindings } from './action-findings.ts';
import { isolatedWicks, oddValues } from './bar-values.ts';
import { countOf, type Finding, type Spotted } from './finding.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import { closedDayFindings, compareSessions, sessionFindings } from './missing-sessions.ts';
import { always } from './stored-bars.ts';
import { thresholds } from './thresholds.ts';

/** Wicks that fewer than some other series of the market have at once. */
async function lonelyWicks(facts: MarketFacts, subject: Subject, bars: Bars): Promise<Spotted[]> {
  const found: Spotted[] = [];
  for (const wick of isolatedWicks(bars))
    if ((await facts.othersWithWick(subject, wick)) + 1 < thresholds.wickInstruments) found.push(wick);
  return found;
}

const labelsOf = (bars: Bars): Int32Array =>
  Int32Array.from(bars.keyMs.subarray(0, bars.count), (keyMs) => keyMs / DAY_MS);

/** The actions of an instrument that count, with amounts as traded: only stocks have any. */
export async function actionsOf(
  reader: Reader,
  { asset_schema, country_iso_code, symbol }: Subject['stored']['instrument'],
  moment: KnownMoment,
): Promise<readonly Action[]> {
  if (asset_schema !== 'stock') return [];
  const all = await reader.group(corporateActions, { country_iso_code, symbol });
  const known = all.filter((action) => isKnown(corporateActions, action, moment));
  return known.map((action) => asTraded(action, all));
}

/**
 * The findings in all bars of a series of DAY and above. Option contracts trade now and then: nothing is
 * usual in them.
 */
export async function periodFindings(
  facts: MarketFacts,
  subject: Subject,
  bars: Bars,
  { actions, isActive }: { readonly actions: readonly Action[]; readonly isActive: boolean },
): Promise<Spotted[]> {
  const { stored, series } = subject;
  const { instrument } = stored;
  const found = oddValues(bars);
  if (instrument.asset_schema !== 'option') found.push(...(await lonelyWicks(facts, subject, bars)));
  if (series.interval !== 'DAY') return found;
  const days = labelsOf(bars);
  const { closedDays, ...compared } = compareSessions(stored.calendar, days);
  found.push(...closedDayFindings(closedDays), ...dayFindings(subject, bars, actions));
  if (instrument.asset_schema !== 'option')
    found.push(...(await sessionFindings(facts, subject, { days, isActive, ...compared })));
  return found;
}

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
