// identity_break, missing_session, behind and closed_day: the sessions of a series beside those of its
// calendar.

import { firstWhere } from '../../base/ascending.ts';
import { DAY_MS } from '../../base/instant.ts';
import { intervalMinutes } from '../../contract/interval.ts';
import { labelOfBar } from '../../market/calendar/bar-end.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import { countOf, percent, type Spotted } from './finding.ts';
import type { MarketFacts, Subject } from './market-facts.ts';
import { thresholds, windowAround } from './thresholds.ts';

/** Sessions between two that a series has, by label date, ascending. */
type Hole = readonly number[];

/** The label dates that a series has beside those of its calendar. */
type Compared = {
  /** The sessions between two bars, without a bar. */
  readonly holes: readonly Hole[];
  /** Dates with a bar and without a session. */
  readonly closedDays: readonly number[];
  /** The label dates of the sessions from the first bar to the last one, ascending. */
  readonly sessions: readonly number[];
};

/** Compares label dates of bars, ascending, with the sessions of a calendar. */
export function compareSessions(calendar: Calendar, days: ArrayLike<number>): Compared {
  const holes: Hole[] = [];
  const closedDays: number[] = [];
  const sessions: number[] = [];
  if (days.length === 0) return { holes, closedDays, sessions };
  let hole: number[] = [];
  let at = 0;
  const meet = (day: number): void => {
    for (; at < days.length && days[at]! < day; at++) {
      closedDays.push(days[at]!);
      endHole();
    }
  };
  const endHole = (): void => {
    if (hole.length > 0) holes.push(hole);
    hole = [];
  };
  for (const { day } of calendar.sessions(days[0]!, days[days.length - 1]! + 1)) {
    meet(day);
    sessions.push(day);
    if (days[at] !== day) hole.push(day);
    else {
      endHole();
      at++;
    }
  }
  meet(Number.POSITIVE_INFINITY);
  return { holes, closedDays, sessions };
}

const keysOf = (days: Hole) => ({ fromKeyMs: days[0]! * DAY_MS, toKeyMs: days.at(-1)! * DAY_MS });

const identityBreak = (hole: Hole): Spotted => ({
  kind: 'identity_break',
  severity: 'info',
  ...{ ...keysOf(hole), value: hole.length, expected: 0 },
  message: `${hole.length} sessions are missing, more than ${thresholds.breakSessions}: a reused or renamed symbol, a suspension, or files that were not imported`,
});

const missingSession = (days: Hole): Spotted => ({
  kind: 'missing_session',
  severity: 'warning',
  ...{ ...keysOf(days), value: days.length, expected: 0 },
  message:
    `${countOf(days.length, 'session')} without a bar, at most ${thresholds.breakSessions}, but other series of the market and source have bars on them; ` +
    `this series trades on at least ${percent(thresholds.tradedShare)} of up to ${thresholds.aroundSessions} sessions around`,
});

/**
 * Whether a series trades on most sessions around a hole; `sessions` are all from its first bar to its last
 * one.
 */
function isUsual(sessions: readonly number[], missing: ReadonlySet<number>, hole: Hole): boolean {
  const from = firstWhere(sessions.length, (at) => sessions[at]! >= hole[0]!);
  const others = [...sessions.slice(0, from), ...sessions.slice(from + hole.length)];
  const window = windowAround(others.length, from, thresholds.aroundSessions);
  const around = others.slice(window.from, window.to);
  return around.filter((day) => !missing.has(day)).length >= thresholds.tradedShare * around.length;
}

/**
 * Finds the sessions that are missing between those of a series. `isMissed` says whether others have bars on
 * a session, and the instrument has none.
 */
async function missingSessions(
  { holes, sessions }: Pick<Compared, 'holes' | 'sessions'>,
  isMissed: (day: number) => Promise<boolean>,
): Promise<Spotted[]> {
  const found: Spotted[] = [];
  const missing = new Set(holes.flat());
  for (const hole of holes) {
    if (hole.length > thresholds.breakSessions) {
      found.push(identityBreak(hole));
      continue;
    }
    if (!isUsual(sessions, missing, hole)) continue;
    let run: number[] = [];
    for (const day of [...hole, null]) {
      if (day !== null && (await isMissed(day))) run.push(day);
      else if (run.length > 0) {
        found.push(missingSession(run));
        run = [];
      }
    }
  }
  return found;
}

/** DAY bars on dates without a session. */
export const closedDayFindings = (closedDays: readonly number[]): Spotted[] =>
  closedDays.map((day) => ({
    kind: 'closed_day',
    severity: 'warning',
    ...{ ...keysOf([day]), value: 1, expected: 0 },
    message: 'the calendar has no session on this date',
  }));

/** True if a series of an active instrument ends before a session that half of its market's series reach. */
function behind(calendar: Calendar, newestDay: number, reachedDay: number | null): Spotted[] {
  if (reachedDay === null) return [];
  const missing = calendar.sessions(newestDay + 1, reachedDay + 1).map(({ day }) => day);
  if (missing.length === 0) return [];
  const years = Math.floor((reachedDay - newestDay) / 365);
  const long = `${missing.length.toLocaleString('en-US')} session${missing.length === 1 ? '' : 's'}`;
  return [
    {
      kind: 'behind',
      severity: 'warning',
      ...{ ...keysOf(missing), value: missing.length, expected: 0 },
      message: `this series stops ${long}${years > 0 ? ` (${countOf(years, 'year')})` : ''} before most others of its market`,
    },
  ];
}

/**
 * True if finer bars of the instrument go on after the last session of a series: its later bars are derived
 * from these.
 */
function isContinued({ stored, series }: Subject, newestDay: number): boolean {
  const minutes = intervalMinutes(series.interval) ?? Number.POSITIVE_INFINITY;
  return stored.series.some((other) => {
    const otherMinutes = intervalMinutes(other.interval);
    if (otherMinutes === null || otherMinutes >= minutes) return false;
    return labelOfBar(stored.calendar, other.interval, other.last_ms) > newestDay;
  });
}

/** The sessions that a series lacks, by the label dates that it has. */
export async function sessionFindings(
  facts: MarketFacts,
  subject: Subject,
  { days, isActive, ...compared }: SessionDays,
): Promise<Spotted[]> {
  const missing = await missingSessions(compared, (day) => facts.isMissed(subject, day));
  const newestDay = days[days.length - 1];
  if (!isActive || newestDay === undefined || isContinued(subject, newestDay)) return missing;
  return [...missing, ...behind(subject.stored.calendar, newestDay, await facts.reachedDay(subject))];
}

/** The label dates of a series, ascending, and those of its calendar between them. */
type SessionDays = Pick<Compared, 'holes' | 'sessions'> & {
  readonly days: ArrayLike<number>;
  readonly isActive: boolean;
};
