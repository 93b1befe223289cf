// minute_day_mismatch: the day that minutes come to, against the stored day.
import type { Placed } from './finding.ts';
import type { MinuteSession } from './minute-sessions.ts';
import { thresholds } from './thresholds.ts';
import { median, windowAround } from './usual.ts';
import { percent, rounded } from './words.ts';

/** The values of a stored day that are compared. */
export type StoredDay = { readonly high: number; readonly low: number; readonly volume: number };

type Pair = { readonly session: MinuteSession; readonly day: StoredDay; readonly share: number };

/** What is wrong with a high or low; null where they agree. */
function extremeProblem({ session, day }: Pair) {
  for (const side of ['high', 'low'] as const) {
    const [value, expected] = [session[side], day[side]];
    const share = Math.abs(value / expected - 1);
    if (share > thresholds.extremeShare)
      return {
        ...{ value, expected },
        message: `the ${side} by minutes differs from that of the stored day by ${percent(share)}: more than ${percent(thresholds.extremeShare)}`,
      };
  }
  return null;
}

/** What is wrong with a volume; null where nothing is, or where too few sessions tell the usual share. */
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
      `the volume by minutes is ${rounded(share)} of that of the stored day: outside ${rounded(least)} to ${rounded(most)}, ` +
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
