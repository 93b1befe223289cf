// The bars of an instrument at any interval: stored, derived, or both over a range (contract 3.6, 3.8, 3.9).
import { isPeriod } from '../market/calendar/period.ts';
import { bestParts, dayParts } from './best-series.ts';
import { Completeness } from './completeness.ts';
import type { StreamRange } from './cursor.ts';
import { offGridParts } from './off-grid.ts';
import { periodStream } from './periods.ts';
import { candidates, clamped, DAY } from './plan.ts';
import type { StoredInstrument } from './series.ts';
import { mapped } from './steps.ts';
import { type BarStream, type PartStream, type StreamContext, servedParts } from './stream.ts';

/** The bars of an interval up to DAY, each from the series that serves it, finished or not. */
export function barParts(context: StreamContext, stored: StoredInstrument, range: StreamRange): PartStream {
  const held = clamped(stored, range);
  if (context.interval === DAY) return dayParts(context, stored.series, held);
  const best = candidates(stored, context.interval);
  const [series, ...finer] = best;
  return series?.isOffGrid ? offGridParts(context, series, finer, held) : bestParts(context, best, held);
}

/**
 * The bars of an instrument at an interval, finished at `nowMs`, from one end of a range of keys to the
 * other.
 */
export function barStream(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  nowMs: number,
): BarStream {
  const moment = { nowMs, completeness: new Completeness(context.reader, stored, nowMs) };
  if (isPeriod(context.interval) && context.interval !== DAY)
    return periodStream(context, stored, range, moment);
  return mapped(servedParts(context, barParts(context, stored, range), moment), ({ timed }) => timed);
}
