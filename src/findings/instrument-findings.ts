// All findings in the series of one instrument (contract 9.10).
import { DAY_MS } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, periodHours } from '../calendar/period.ts';
import { findingKinds } from '../contract/findings.ts';
import type { Interval } from '../contract/interval.ts';
import { coarseness, type StoredInstrument } from '../series/series.ts';
import type { Reader } from '../store/store.ts';
import { conflictingImports } from './conflicts.ts';
import type { Finding, FindingKind, Spotted } from './finding.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import { minuteFindings } from './minute-findings.ts';
import { actionsOf, periodFindings } from './period-findings.ts';
import { periodBars, runOf } from './stored-bars.ts';

/** With what findings are found. `onBars` is told how many bars are about to be read. */
export type FindingTools = {
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
  reader: Reader,
  { stored: { calendar }, series }: Subject,
  { fromKeyMs, toKeyMs, ...said }: Spotted,
): Promise<Finding> {
  const { interval } = series;
  const runId = withoutBar.has(said.kind) ? null : await runOf(reader, series, fromKeyMs);
  return { ...said, interval, ...spanOf(calendar, interval, fromKeyMs, toKeyMs), runId };
}

/** Every finding in the stored bars of an instrument that are served, and in its corporate actions, in their order. @throws DamagedData */
export async function findingsOf(
  { reader, facts, nowMs, onBars }: FindingTools,
  stored: StoredInstrument,
): Promise<Finding[]> {
  const actions = await actionsOf(reader, stored.instrument);
  const isActive = stored.endedMs === null || stored.endedMs > nowMs;
  const context = { reader, calendar: stored.calendar };
  const found: Finding[] = [];
  const days = stored.series.find(({ interval }) => interval === 'DAY');
  const storedDays = days === undefined ? null : { series: days, bars: await periodBars(context, days) };
  for (const series of stored.series) {
    const { interval } = series;
    const subject = { stored, series };
    onBars(series.bar_count);
    found.push(...(await conflictingImports(reader, subject)));
    if (isPeriod(interval)) {
      const bars = series === days ? storedDays!.bars : await periodBars(context, series);
      for (const spotted of await periodFindings(facts, subject, bars, { actions, isActive }))
        found.push(await located(reader, subject, spotted));
      continue;
    }
    const tools = { reader, facts, nowMs, isActive, stored: storedDays };
    const { placed, spotted } = await minuteFindings(tools, subject);
    for (const one of spotted) found.push(await located(reader, subject, one));
    for (const one of placed)
      found.push({
        ...one,
        interval,
        runId: one.kind === 'gap' ? null : await runOf(reader, series, one.fromMs),
      });
  }
  return found.sort((a, b) => comparePlaces(findingOrder(a), findingOrder(b)));
}
