// All findings in the series of one instrument (contract 9.10), with those in series of DAY and above, such
// as weeks without a bar because their sessions are stored under different price bases (contract 3.6).
import { DAY_MS } from '../../base/instant.ts';
import { findingKinds } from '../../contract/findings.ts';
import { type Interval, interval as intervalOf } from '../../contract/interval.ts';
import type { Bars } from '../../market/bars/columns.ts';
import { overThroughMs } from '../../market/calendar/bar-end.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import { isPeriod, periodEnd, periodHours } from '../../market/calendar/period.ts';
import { type Action, asTraded } from '../../series/adjust/factors.ts';
import { Completeness } from '../../series/completeness.ts';
import { mixedPeriods } from '../../series/periods.ts';
import { candidates, DAY } from '../../series/plan.ts';
import { coarseness, type StoredInstrument } from '../../series/series.ts';
import { corporateActions } from '../../store/schema/corporate-actions.ts';
import { isKnown, type KnownMoment } from '../../store/schema/dataset.ts';
import type { Reader } from '../../store/store.ts';
import { dayFindings, findingsInActions } from './action-findings.ts';
import { isolatedWicks, oddValues } from './bar-values.ts';
import { conflictingImports } from './conflicts.ts';
import { countOf, type Finding, type FindingKind, type Spotted } from './finding.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import { minuteFindings, type StoredDays } from './minute-findings.ts';
import { closedDayFindings, compareSessions, sessionFindings } from './missing-sessions.ts';
import { always, periodBars, runsOf } from './stored-bars.ts';
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
async function actionsOf(
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
async function periodFindings(
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
async function mixedBases(reader: Reader, stored: StoredInstrument, nowMs: number): Promise<Finding[]> {
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

/** The findings in the actions of a stock alone: of its days. */
const actionFindings = (stored: StoredInstrument, actions: readonly Action[]): Finding[] =>
  findingsInActions(stored, actions).map(({ fromKeyMs, toKeyMs, ...said }) => ({
    ...said,
    ...{ interval: DAY, runId: null },
    ...spanOf(stored.calendar, DAY, fromKeyMs, toKeyMs),
  }));

/** Tools to find findings. `onBars` is called before bars are read, with their number. */
type FindingTools = {
  readonly reader: Reader;
  readonly facts: MarketFacts;
  readonly nowMs: number;
  readonly onBars: (count: number) => void;
};

/** Kinds about sessions or actions: no bar is stored for them. */
const withoutBar: ReadonlySet<FindingKind> = new Set([
  'identity_break',
  'missing_session',
  'behind',
  'impossible_dividend',
  'dividend_currency',
  'factor_mismatch',
  'doubled_dividend',
]);

/** The order of findings: by their beginning, then the finer interval, the kind, the end, the value. */
export const findingOrder = ({ fromMs, interval, kind, toMs, value }: Finding): readonly number[] => [
  fromMs,
  coarseness({ interval }),
  findingKinds.indexOf(kind),
  toMs,
  value ?? 0,
];

/** Compares places in that order. */
export function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** From the open of a first bar or session to the close of a last one. */
function spanOf(calendar: Calendar, interval: Interval, fromKeyMs: number, toKeyMs: number) {
  const unit = isPeriod(interval) ? interval : 'DAY';
  return {
    fromMs: periodHours(calendar, unit, fromKeyMs / DAY_MS, false).openMs,
    toMs: periodHours(calendar, unit, toKeyMs / DAY_MS, false).closeMs,
  };
}

/** A finding with its place in time and its run. */
async function located(
  { stored: { calendar }, series: { interval } }: Subject,
  { fromKeyMs, toKeyMs, ...said }: Spotted,
  runAt: (keyMs: number) => Promise<number | null>,
): Promise<Finding> {
  const runId = withoutBar.has(said.kind) ? null : await runAt(fromKeyMs);
  return { ...said, interval, ...spanOf(calendar, interval, fromKeyMs, toKeyMs), runId };
}

/** What the series of an instrument are judged with. */
type OfInstrument = {
  readonly actions: readonly Action[];
  readonly isActive: boolean;
  readonly stored: StoredDays | null;
};

/** The findings in one series. */
async function seriesFindings(
  { reader, facts, nowMs }: FindingTools,
  subject: Subject,
  of: OfInstrument,
): Promise<Finding[]> {
  const { stored, series } = subject;
  const { interval } = series;
  const runAt = runsOf(reader, series);
  const throughMs = overThroughMs(stored.calendar, facts.moment.ms);
  const found = await conflictingImports(reader, subject, throughMs);
  const add = async (some: readonly Spotted[]): Promise<void> => {
    for (const spotted of some) found.push(await located(subject, spotted, runAt));
  };
  if (isPeriod(interval)) {
    const context = { reader, calendar: stored.calendar };
    const bars = series === of.stored?.series ? of.stored.bars : await periodBars(context, series);
    await add(await periodFindings(facts, subject, bars, of));
    return found;
  }
  const { placed, spotted } = await minuteFindings({ reader, facts, nowMs, ...of }, subject);
  await add(spotted);
  for (const one of placed)
    found.push({ ...one, interval, runId: one.kind === 'gap' ? null : await runAt(one.fromMs) });
  return found;
}

/**
 * Every finding in the stored bars of an instrument that are served, and in its corporate actions, in their
 * order. As of a moment the series are those of sessions that were over then. @throws DamagedData
 */
export async function findingsOf(tools: FindingTools, stored: StoredInstrument): Promise<Finding[]> {
  const { reader, nowMs, onBars, facts } = tools;
  const { moment } = facts;
  for (const { bar_count } of stored.series) onBars(bar_count);
  const days = stored.series.find(({ interval }) => interval === 'DAY');
  const context = { reader, calendar: stored.calendar };
  const of: OfInstrument = {
    actions: await actionsOf(reader, stored.instrument, moment),
    isActive: stored.endedMs === null || stored.endedMs > nowMs,
    stored: days === undefined ? null : { series: days, bars: await periodBars(context, days) },
  };
  const found = [...(await mixedBases(reader, stored, nowMs)), ...actionFindings(stored, of.actions)];
  for (const series of stored.series) found.push(...(await seriesFindings(tools, { stored, series }, of)));
  // A declared action is still to come.
  const over = found.filter(({ toMs }) => toMs <= moment.ms);
  return over.sort((a, b) => comparePlaces(findingOrder(a), findingOrder(b)));
}
