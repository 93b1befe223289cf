// All findings in the series of one instrument (contract 9.10).
import { DAY_MS } from '../../base/instant.ts';
import { findingKinds } from '../../contract/findings.ts';
import type { Interval } from '../../contract/interval.ts';
import { overThroughMs } from '../../market/calendar/bar-end.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import { isPeriod, periodHours } from '../../market/calendar/period.ts';
import type { Action } from '../../series/factors.ts';
import { DAY } from '../../series/plan.ts';
import { coarseness, type StoredInstrument } from '../../series/series.ts';
import type { Reader } from '../../store/store.ts';
import { findingsInActions } from './action-findings.ts';
import { conflictingImports } from './conflicts.ts';
import type { Finding, FindingKind, Spotted } from './finding.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import { minuteFindings, type StoredDays } from './minute-findings.ts';
import { actionsOf, mixedBases, periodFindings } from './period-findings.ts';
import { periodBars, runsOf } from './stored-bars.ts';

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
