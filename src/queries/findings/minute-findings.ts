// The findings in series of minute bars.

import { DAY_MS } from '../../base/instant.ts';
import { volumeBasis } from '../../contract/file-words.ts';
import { intervalMinutes } from '../../contract/interval.ts';
import { type Bars, indexOfKey, mergeBars } from '../../market/bars/columns.ts';
import { hoursOf } from '../../market/calendar/period.ts';
import type { Action } from '../../series/adjust/factors.ts';
import { Completeness } from '../../series/completeness.ts';
import { servedBars } from '../../series/cursor.ts';
import { candidates, DAY } from '../../series/plan.ts';
import type { Series } from '../../series/series.ts';
import type { Reader } from '../../store/store.ts';
import { dayFindings, splitFindings } from './action-findings.ts';
import { vwapMessage } from './bar-values.ts';
import { countOf, type Placed, type Spotted } from './finding.ts';
import { dayMismatches, missingMinutes } from './judged-minutes.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import { daysMadeOf, type MinuteSession, MinuteSessions, type OddBars } from './minute-sessions.ts';
import { compareSessions, sessionFindings } from './missing-sessions.ts';
import { always, piecesOf } from './stored-bars.ts';
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
export type StoredDays = { readonly series: Series; readonly bars: Bars };

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
export async function minuteFindings(
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
