// Which keys the bars of a session have in a stored series.
import { DAY_MS } from '../base/instant.ts';
import type { Interval } from '../contract/interval.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { hoursOf, isPeriod } from '../market/calendar/period.ts';
import type { Session } from '../market/calendar/session.ts';
import type { Span } from './spans.ts';

/**
 * The keys that bars of an interval up to DAY have in a session, extended hours and the row of its evening
 * included.
 */
export function keysInSession(calendar: Calendar, interval: Interval, session: Session): Span {
  if (!isPeriod(interval)) {
    const { openMs: fromMs, closeMs: toMs } = hoursOf(session, true);
    return { fromMs, toMs };
  }
  const evening = calendar.labelOfRow(session.day - 1) === session.day ? 1 : 0;
  return { fromMs: (session.day - evening) * DAY_MS, toMs: (session.day + 1) * DAY_MS };
}
