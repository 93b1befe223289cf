// Bars that open after now: a clock, a time zone or a file is wrong (contract 3.9).

import { DAY_MS } from '../base/instant.ts';
import { type Bars, lowerBound } from '../market/bars/columns.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { isPeriod, type PeriodInterval, periodEnd } from '../market/calendar/period.ts';
import { allRows, rowWith } from '../store/all-rows.ts';
import { series } from '../store/schema/bars.ts';
import { instruments } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';
import { Calendars } from './calendars.ts';

/**
 * A bar of a period opens at most so long after the midnight, in UTC, of the period's first day: holidays may
 * come first.
 */
const LATEST_MS: Readonly<Record<PeriodInterval, number>> = {
  DAY: DAY_MS,
  WEEK: 7 * DAY_MS,
  MON: 31 * DAY_MS,
};

/**
 * When the bar of a key opens. A period without a session, such as a DAY bar of a holiday, counts from
 * midnight in UTC.
 */
function opensMs(interval: string, keyMs: number, calendar: Calendar): number {
  if (!isPeriod(interval)) return keyMs;
  const start = keyMs / DAY_MS;
  const [first] = calendar.sessions(start, periodEnd(interval, start));
  return first?.openMs ?? keyMs;
}

/**
 * The first of ascending bars of one series that opens after `nowMs`: its index and open. Null where none
 * does.
 */
export function firstAfter(
  bars: Bars,
  interval: string,
  calendar: Calendar,
  nowMs: number,
): { readonly index: number; readonly openMs: number } | null {
  const { count, keyMs } = bars;
  if (keyMs[count - 1]! + latestMs(interval) <= nowMs) return null;
  // Bars open in the order of their keys.
  let index = lowerBound(bars, nowMs + 1 - latestMs(interval));
  while (index < count && opensMs(interval, keyMs[index]!, calendar) <= nowMs) index++;
  return index === count ? null : { index, openMs: opensMs(interval, keyMs[index]!, calendar) };
}

const latestMs = (interval: string): number => (isPeriod(interval) ? LATEST_MS[interval] : 0);

/** A series and the open of its last bar. */
type FutureSeries = { readonly name: string; readonly interval: string; readonly openMs: number };

/** Some series, at most `limit`, whose last bar opens after `nowMs`. Reads the row of every series. */
export async function seriesAfter(reader: Reader, nowMs: number, limit: number): Promise<FutureSeries[]> {
  const found: FutureSeries[] = [];
  const calendars = new Calendars();
  for await (const { instrument_id, interval, last_ms: keyMs, bar_count } of allRows(reader, series)) {
    if (bar_count === 0 || keyMs + latestMs(interval) <= nowMs) continue;
    const instrument = await rowWith(reader, instruments, { instrument_id });
    if (instrument === null) continue;
    const openMs = opensMs(interval, keyMs, await calendars.of(reader, instrument));
    if (openMs <= nowMs) continue;
    const { asset_schema, country_iso_code, symbol } = instrument;
    found.push({ name: `${asset_schema}:${country_iso_code}:${symbol}`, interval, openMs });
    if (found.length === limit) break;
  }
  return found;
}
