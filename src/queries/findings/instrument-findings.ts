// All findings in the series of one instrument (contract 9.10): those in series of minutes, and those in
// series of DAY and above, such as weeks without a bar because their sessions are stored under different
// price bases (contract 3.6).
import { DAY_MS } from '../../base/instant.ts';
import { volumeBasis } from '../../contract/file-words.ts';
import { findingKinds } from '../../contract/findings.ts';
import { type Interval, intervalMinutes, interval as intervalOf } from '../../contract/interval.ts';
import { bucketOf } from '../../market/bars/block.ts';
import { type Bars, indexOfKey, mergeBars } from '../../market/bars/columns.ts';
import { overThroughMs } from '../../market/calendar/bar-end.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import { hoursOf, isPeriod, periodEnd, periodHours } from '../../market/calendar/period.ts';
import { type Action, asTraded } from '../../series/adjust/factors.ts';
import { Completeness } from '../../series/completeness.ts';
import { servedBars } from '../../series/cursor.ts';
import { mixedPeriods } from '../../series/periods.ts';
import { candidates, DAY } from '../../series/plan.ts';
import { coarseness, type Series, type StoredInstrument } from '../../series/series.ts';
import { corporateActions } from '../../store/schema/corporate-actions.ts';
import { isKnown, type KnownMoment } from '../../store/schema/dataset.ts';
import { blockChanges } from '../../store/schema/internal.ts';
import type { Reader } from '../../store/store.ts';
import { dayFindings, findingsInActions, splitFindings } from './action-findings.ts';
import { isolatedWicks, oddValues, vwapMessage } from './bar-values.ts';
import { conflictingImports } from './conflicts.ts';
import { countOf, type Finding, type FindingKind, type Placed, type Spotted } from './finding.ts';
import { dayMismatches, missingMinutes } from './judged-minutes.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import { daysMadeOf, type MinuteSession, MinuteSessions, type OddBars } from './minute-sessions.ts';
import { closedDayFindings, compareSessions, sessionFindings } from './missing-sessions.ts';
import { always, periodBars, piecesOf } from './stored-bars.ts';
import { thresholds } from './thresholds.ts';

/** What is wrong with odd bars, after how many there are. */
const oddWords: Readonly<Record<OddBars['kind'], string>> = {
  closed_day: 'on a date without a session: kept, not served',
  outside_session: 'outside the segments of the session: kept, not served',
  off_grid: 'off the session grid: no bars are derived from them',
  vwap_outside: vwapMessage,
};

const oddFinding = ({ kind, fromMs, toMs, count, value, expected }: OddBars): Placed => ({
  ...{
    kind,
    severity: kind === 'off_grid' ? 'info' : 'warning',
    fromMs,
    toMs,
    value: value ?? count,
    expected: value === null ? 0 : expected,
  },
  message: `${countOf(count, 'bar')} ${kind === 'vwap_outside' ? `of the session: ${oddWords[kind]}` : oddWords[kind]}`,
});

/**
 * The finding that bars are dated by their close; none if too few sessions show it, or if one has a bar at
 * its first open.
 */
function closeLabelled({ shifted, hasFirstOpen }: MinuteSessions): Placed[] {
  const [first, last] = [shifted[0], shifted.at(-1)];
  if (first === undefined || hasFirstOpen || shifted.length < thresholds.labelledSessionsMin) return [];
  return [
    {
      ...{ kind: 'close_labelled', severity: 'warning', value: shifted.length, expected: 0 },
      fromMs: hoursOf(first, true).openMs,
      toMs: hoursOf(last!, true).closeMs,
      message: `in ${countOf(shifted.length, 'session')} all bars lie from one interval after the first open to the close itself, and no session has a bar at its first open: they are dated by their close. Undo their run (bourse undo RUN), and import its file again with --label close`,
    },
  ];
}

/** The bars of a DAY series, by label date. */
type StoredDays = { readonly series: Series; readonly bars: Bars };

function daysOf({ bars }: StoredDays): Parameters<typeof dayMismatches>[1] {
  const days = new Map<number, { high: number; low: number; volume: number }>();
  for (let at = 0; at < bars.count; at++)
    days.set(bars.keyMs[at]! / DAY_MS, {
      high: bars.high[at]!,
      low: bars.low[at]!,
      volume: bars.volume[at]!,
    });
  return days;
}

type MinuteTools = {
  readonly reader: Reader;
  readonly facts: MarketFacts;
  readonly nowMs: number;
  readonly isActive: boolean;
  readonly actions: readonly Action[];
  /** The DAY series of the instrument; null without one. */
  readonly stored: StoredDays | null;
};

/**
 * The findings in all bars of a series of minutes: by instants, and by sessions. Option contracts trade now
 * and then: nothing is usual in them.
 */
async function minuteFindings(
  { reader, facts, nowMs, isActive, actions, stored: storedDays }: MinuteTools,
  subject: Subject,
): Promise<{ readonly placed: Placed[]; readonly spotted: Spotted[] }> {
  const { stored, series } = subject;
  const read = new MinuteSessions(stored.calendar, intervalMinutes(series.interval)!);
  for await (const piece of piecesOf(servedBars(reader, series, always))) read.add(piece);
  read.end();
  const placed = read.odd.map(oddFinding);
  if (stored.instrument.asset_schema === 'option') return { placed, spotted: [] };
  placed.push(...closeLabelled(read));
  const completeness = new Completeness(reader, stored, nowMs);
  // What is missing before its first bar may be in no file.
  const isFinished = ({ firstMs, closeMs }: MinuteSession): boolean =>
    completeness.covers(series, firstMs, closeMs);
  const others = facts.othersThen(subject);
  placed.push(...(await missingMinutes(read.sessions, isFinished, others)));
  if (storedDays !== null && storedDays.series.prices === series.prices) {
    const withVolumes = volumeBasis(storedDays.series) === volumeBasis(series);
    placed.push(...dayMismatches(read.sessions, daysOf(storedDays), { isFinished, withVolumes }));
  }
  const { days } = read;
  const compared = compareSessions(stored.calendar, days);
  const spotted = await sessionFindings(facts, subject, { days, isActive, ...compared });
  const derived = await derivedDayFindings(subject, read, { actions, storedDays, completeness });
  return { placed, spotted: [...spotted, ...derived] };
}

type DerivedTools = Pick<MinuteTools, 'actions'> & {
  readonly storedDays: StoredDays | null;
  readonly completeness: Completeness;
};

/** The findings in days that are served from a series of minutes, because they are not stored. */
async function derivedDayFindings(
  subject: Subject,
  { sessions }: MinuteSessions,
  { actions, storedDays, completeness }: DerivedTools,
): Promise<Spotted[]> {
  const { stored, series } = subject;
  const finer = candidates(stored, DAY).find(({ interval }) => interval !== DAY);
  const isServed = finer === series && (storedDays === null || storedDays.series.prices === series.prices);
  if (!isServed) return [];
  const complete: MinuteSession[] = [];
  for (const session of sessions) {
    const { day, dayCloseMs: closeMs } = stored.calendar.sessionOn(session.day)!;
    const bar = { interval: DAY, extended: false, keyMs: day * DAY_MS, closeMs };
    if (await completeness.isComplete(series, bar)) complete.push(session);
  }
  const made = daysMadeOf(complete);
  if (storedDays === null) return dayFindings(subject, made, actions);
  const { bars } = storedDays;
  // Those of stored days, and dividends, are found with their series.
  const found = splitFindings(subject, mergeBars(made, bars), actions);
  return found.filter(({ fromKeyMs }) => indexOfKey(bars, fromKeyMs) < 0);
}

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

/**
 * The run that last changed the block of a bar, without those that were undone: the journal has it. Null
 * where no run did.
 */
async function runOf(
  reader: Reader,
  { series_id, interval }: Pick<Series, 'series_id' | 'interval'>,
  keyMs: number,
): Promise<number | null> {
  const [newest] = await reader.rows(blockChanges, {
    where: { series_id, bucket: bucketOf(interval, keyMs) },
    order: [['run_id', 'desc']],
    limit: 1,
  });
  return newest?.run_id ?? null;
}

/** As `runOf`, for many bars of one series: each block is looked up once. */
function runsOf(reader: Reader, series: Series): (keyMs: number) => Promise<number | null> {
  const known = new Map<number, Promise<number | null>>();
  return (keyMs) => {
    const bucket = bucketOf(series.interval, keyMs);
    const run = known.get(bucket) ?? runOf(reader, series, keyMs);
    known.set(bucket, run);
    return run;
  };
}

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
