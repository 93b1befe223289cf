// Counts bars that deserve a warning (contract 3.10, 11).

import { DAY_MS } from '../../base/instant.ts';
import type { Bars } from '../../market/bars/columns.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';

/**
 * Counts the DAY bars of a date without a session, and those of such a date that are merged into the next
 * session (contract 3.10).
 */
export function countClosed({ count, keyMs }: Bars, calendar: Calendar): { closed: number; merged: number } {
  let closed = 0;
  let merged = 0;
  for (let index = 0; index < count; index++) {
    const day = keyMs[index]! / DAY_MS;
    if (calendar.labelOfRow(day) !== day) merged++;
    else if (calendar.sessionOn(day) === null) closed++;
  }
  return { closed, merged };
}

/** Counts the bars that have a vwap outside their low and high (contract 11). */
export function countVwapOutside({ count, low, high, vwap }: Bars): number {
  let outside = 0;
  for (let index = 0; index < count; index++)
    if (vwap[index]! < low[index]! || vwap[index]! > high[index]!) outside++;
  return outside;
}
