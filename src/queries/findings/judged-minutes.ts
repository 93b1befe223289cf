// Sessions by their minutes: short_session and gap (what is missing of an instrument that trades nearly
// every minute), and minute_day_mismatch (the day that minutes come to, against the stored day).
import { MINUTE_MS } from '../../base/instant.ts';
import { type Placed, percent, rounded } from './finding.ts';
import type { Hole, MinuteSession } from './minute-sessions.ts';
import { median, thresholds, windowAround } from './thresholds.ts';

/** The sessions around one of them, without it; null where they are too few. */
function sessionsAround(sessions: readonly MinuteSession[], at: number): readonly MinuteSession[] | null {
  const { from, to } = windowAround(sessions.length, at, thresholds.aroundSessions + 1);
  const around = sessions.slice(from, to).filter((session) => session !== sessions[at]);
  return around.length < thresholds.aroundSessionsMin ? null : around;
}

/** Whether sessions have bars in most of their minutes. */
function areDense(sessions: readonly MinuteSession[]): boolean {
  const covered = sessions.reduce((sum, { coveredMs }) => sum + coveredMs, 0);
  const whole = sessions.reduce((sum, { regularMs }) => sum + regularMs, 0);
  return covered >= thresholds.denseShare * whole;
}

const minutesOf = ({ fromMs, toMs }: Hole): number => (toMs - fromMs) / MINUTE_MS;

/** The time that a session lacks at its ends, where that is more than a few minutes. */
function edgesOf({
  openMs,
  firstMs,
  lastMs,
  closeMs,
}: MinuteSession): (Hole & { readonly isEnd: boolean })[] {
  const edges = [
    { fromMs: openMs, toMs: firstMs, isEnd: false },
    { fromMs: lastMs, toMs: closeMs, isEnd: true },
  ];
  return edges.filter((edge) => minutesOf(edge) > thresholds.edgeMinutes);
}

/** Whether a session has bars in most minutes between its first and its last, and enough of them. */
function isDenseUntilStop({ firstMs, lastMs, coveredMs }: MinuteSession): boolean {
  const spanMs = lastMs - firstMs;
  return spanMs >= thresholds.stopMinutes * MINUTE_MS && coveredMs >= thresholds.denseShare * spanMs;
}

/** Of some time in which a series has no bar, what other series of its market have. */
export type OthersThen = {
  /** Whether one of its source has bars. */
  readonly goOn: (hole: Hole) => Promise<boolean>;
  /** Whether none of those that traded in the session has a bar. */
  readonly pause: (hole: Hole, session: Hole) => Promise<boolean>;
};

const density = `bars in at least ${percent(thresholds.denseShare)} of the minutes`;

/** Sessions that begin late or end early, of those that are finished. */
async function shortSessions(
  sessions: readonly MinuteSession[],
  isFinished: (session: MinuteSession) => boolean,
  { goOn }: Pick<OthersThen, 'goOn'>,
): Promise<Placed[]> {
  const found: Placed[] = [];
  for (const [at, session] of sessions.entries()) {
    if (!isFinished(session)) continue;
    for (const { isEnd, ...edge } of edgesOf(session)) {
      const around = sessionsAround(sessions, at);
      const isUsual = around !== null && areDense(around);
      if (!isUsual && !(isEnd && isDenseUntilStop(session) && (await goOn(edge)))) continue;
      const [end, why] = isEnd ? ['end', 'before it closes'] : ['begin', 'after it opens'];
      found.push({
        kind: 'short_session',
        severity: 'warning',
        ...{ fromMs: edge.fromMs, toMs: edge.toMs, value: minutesOf(edge), expected: thresholds.edgeMinutes },
        message:
          `the minutes of the session ${end} ${minutesOf(edge)} minutes ${why}, more than ${thresholds.edgeMinutes}, ` +
          (isUsual
            ? `on an instrument with ${density} of up to ${thresholds.aroundSessions} sessions around`
            : 'while others of the market and source continue'),
      });
    }
  }
  return found;
}

/** Holes in sessions of a dense instrument that are much longer than is usual. */
async function gaps(
  sessions: readonly MinuteSession[],
  isFinished: (session: MinuteSession) => boolean,
  { pause }: Pick<OthersThen, 'pause'>,
): Promise<Placed[]> {
  const found: Placed[] = [];
  for (const [at, session] of sessions.entries()) {
    if (!isFinished(session)) continue;
    if (session.holes.length === 0) continue;
    const around = sessionsAround(sessions, at);
    if (around === null || !areDense(around)) continue;
    const usual = median(around.map(({ longestMs }) => longestMs)) / MINUTE_MS;
    for (const hole of session.holes) {
      if (minutesOf(hole) <= thresholds.gapTimes * usual) continue;
      const isOfMarket = await pause(hole, { fromMs: session.openMs, toMs: session.closeMs });
      found.push({
        kind: 'gap',
        severity: 'info',
        ...{ ...hole, value: minutesOf(hole), expected: usual, isOfMarket },
        message:
          `${minutesOf(hole)} minutes without a bar inside the session${isOfMarket ? ', of the whole market at once' : ''}: at least ${thresholds.gapMinutes}, and more than ` +
          `${thresholds.gapTimes} x the usual longest hole of a session, ${rounded(usual)} minutes, on an instrument with ${density}`,
      });
    }
  }
  return found;
}

/** The minutes that finished sessions lack, of an instrument that trades nearly every minute. */
export const missingMinutes = async (
  ...of: readonly [
    sessions: readonly MinuteSession[],
    isFinished: (session: MinuteSession) => boolean,
    others: OthersThen,
  ]
): Promise<Placed[]> => [...(await shortSessions(...of)), ...(await gaps(...of))];

/** The values of a stored day that are compared. */
type StoredDay = { readonly high: number; readonly low: number; readonly volume: number };

type Pair = { readonly session: MinuteSession; readonly day: StoredDay; readonly share: number };

/** The problem of a high or low; null where they agree. */
function extremeProblem({ session, day }: Pair) {
  for (const side of ['high', 'low'] as const) {
    const [value, expected] = [session[side], day[side]];
    const share = Math.abs(value / expected - 1);
    if (share > thresholds.extremeShare)
      return {
        ...{ value, expected },
        message: `the ${side} of the minutes differs from that of the stored day by ${percent(share)}: more than ${percent(thresholds.extremeShare)}`,
      };
  }
  return null;
}

/** The problem of a volume; null where there is none, or too few sessions show the usual share. */
function volumeProblem(pairs: readonly Pair[], at: number) {
  const { session, day, share } = pairs[at]!;
  const { from, to } = windowAround(pairs.length, at, thresholds.mismatchSessions);
  const shares = pairs.slice(from, to).flatMap((pair) => (Number.isFinite(pair.share) ? pair.share : []));
  if (!Number.isFinite(share) || shares.length < thresholds.mismatchSessionsMin) return null;
  const usual = median(shares);
  const least = thresholds.volumeShareMin * usual;
  // Days with more auctions than usual on both sides of it are real; more volume than the day itself has is
  // not.
  const most = thresholds.volumeShareMax * Math.max(1, usual);
  if (share >= least && share <= most) return null;
  return {
    ...{ value: session.volume, expected: day.volume * usual },
    message:
      `the volume of the minutes is ${rounded(share)} times the volume of the stored day: outside ${rounded(least)} to ${rounded(most)}, ` +
      `${thresholds.volumeShareMin} to ${thresholds.volumeShareMax} x the usual share ${rounded(usual)} of ${shares.length} sessions`,
  };
}

/**
 * Finished sessions whose minutes do not come to the stored day. Volumes are compared where both have one
 * basis.
 */
export function dayMismatches(
  sessions: readonly MinuteSession[],
  days: ReadonlyMap<number, StoredDay>,
  {
    isFinished,
    withVolumes,
  }: { readonly isFinished: (session: MinuteSession) => boolean; readonly withVolumes: boolean },
): Placed[] {
  const pairs = sessions.flatMap((session): Pair[] => {
    const day = days.get(session.day);
    if (day === undefined || !isFinished(session)) return [];
    return [
      { session, day, share: withVolumes && day.volume > 0 ? session.volume / day.volume : Number.NaN },
    ];
  });
  return pairs.flatMap((pair, at) => {
    const problem = extremeProblem(pair) ?? volumeProblem(pairs, at);
    if (problem === null) return [];
    const { openMs, closeMs } = pair.session;
    return [
      {
        kind: 'minute_day_mismatch',
        severity: 'warning',
        fromMs: openMs,
        toMs: closeMs,
        ...problem,
      } as const,
    ];
  });
}
