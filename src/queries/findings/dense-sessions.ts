// short_session and gap: what is missing in the sessions of an instrument that trades nearly every minute.
import { MINUTE_MS } from '../../base/instant.ts';
import type { Placed } from './finding.ts';
import type { Hole, MinuteSession } from './minute-sessions.ts';
import { thresholds } from './thresholds.ts';
import { median, windowAround } from './usual.ts';
import { percent, rounded } from './words.ts';

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
export async function shortSessions(
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
            : 'while others of the market and source go on'),
      });
    }
  }
  return found;
}

/** Holes in sessions of a dense instrument that are much longer than is usual. */
export async function gaps(
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
