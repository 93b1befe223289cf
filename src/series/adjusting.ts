// Adjusts bars by the dividends and splits of their stock (contract 9.4).
import { NO_FACTOR } from '../bars/adjust.ts';
import { Adjustment, type Change } from '../bars/adjustment.ts';
import { dayCells } from '../bars/cells.ts';
import { copyBar } from '../bars/columns.ts';
import type { TimedBars } from '../bars/grid.ts';
import { resample } from '../bars/resample.ts';
import { DAY_MS } from '../base/instant.ts';
import { lastOverDay } from '../calendar/bar-end.ts';
import { isPeriod, periodEnd } from '../calendar/period.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import type { Keep } from './calendars.ts';
import { CannotAdjust } from './cannot-adjust.ts';
import { RawCloses } from './closes.ts';
import { Completeness } from './completeness.ts';
import { type Action, factorOf, referencePrice } from './factors.ts';
import { daysOf } from './periods.ts';
import type { StoredInstrument } from './series.ts';
import type { StreamContext } from './stream.ts';

/** Which actions adjust, and which of them have happened. */
export type Adjusting = {
  readonly kind: 'split' | 'dividend' | 'all';
  /** The last ex-date that counts. */
  readonly asOfDay: number;
  readonly nowMs: number;
};

async function changeOf(action: Action, closes: RawCloses): Promise<Change> {
  const price = factorOf(action, await referencePrice(action, closes));
  const { action_type: type, ex_date: day, split_from: from, split_to: to } = action;
  return { day, price, volume: type === 'split' ? { part: BigInt(to!), whole: BigInt(from!) } : NO_FACTOR };
}

/** What the actions of a stock change, by ex-date. */
async function readChanges(
  { reader }: StreamContext,
  stored: StoredInstrument,
  { kind, nowMs }: Adjusting,
): Promise<Change[]> {
  const { country_iso_code, symbol } = stored.instrument;
  const actions = await reader.group(corporateActions, { country_iso_code, symbol });
  const closes = new RawCloses(reader, stored, nowMs);
  const changes: Change[] = [];
  for (const action of actions)
    if (kind === 'all' || action.action_type === kind) changes.push(await changeOf(action, closes));
  return changes.filter(({ price, volume }) => price.part !== price.whole || volume.part !== volume.whole);
}

/**
 * How bars of a stock are adjusted, and the last ex-date of a split that has happened and does not count; each null where there is none.
 */
async function adjustmentOf(
  context: StreamContext,
  stored: StoredInstrument,
  adjusting: Adjusting,
  keep: Keep,
): Promise<{ readonly adjustment: Adjustment | null; readonly leftOutDay: number | null }> {
  const { instrument, calendar } = stored;
  if (instrument.asset_schema !== 'stock') return { adjustment: null, leftOutDay: null };
  // Until the next session ends, closes give the same factors.
  const overDay = lastOverDay(calendar, adjusting.nowMs);
  // The end of an instrument completes its last bars: their closes give other factors from then on.
  const hasEnded = stored.endedMs !== null && stored.endedMs <= adjusting.nowMs;
  const name = `changes|${instrument.instrument_id}|${adjusting.kind}|${overDay}|${hasEnded}`;
  const all = await keep(name, () => readChanges(context, stored, adjusting));
  const changes = all.filter(({ day }) => day <= adjusting.asOfDay);
  const today = calendar.zone.dayAt(adjusting.nowMs);
  const leftOut = all.findLast(
    ({ day, volume }) => day > adjusting.asOfDay && day <= today && volume.part !== volume.whole,
  );
  return {
    adjustment: changes.length === 0 ? null : new Adjustment(changes),
    leftOutDay: leftOut?.day ?? null,
  };
}

/**
 * A volume that was adjusted for splits before the import contains all that have happened.
 * @throws CannotAdjust where one of them does not count
 */
function checkVolumes({ splitVolume, day }: TimedBars, leftOutDay: number | null): void {
  const first = splitVolume?.indexOf(1) ?? -1;
  if (leftOutDay !== null && first >= 0 && day[first]! < leftOutDay)
    throw new CannotAdjust({ kind: 'later-split', exDay: leftOutDay });
}

/** The rows of WEEK or MON bars with sessions before and after an ex-date. */
function* splitBars({ calendar, interval }: StreamContext, timed: TimedBars, adjustment: Adjustment) {
  if (!isPeriod(interval) || interval === 'DAY') return;
  for (let row = 0; row < timed.bars.count; row++) {
    const start = timed.bars.keyMs[row]! / DAY_MS;
    const endDay = periodEnd(interval, start);
    const lastDay = calendar.sessionOnOrBefore(endDay - 1)?.day ?? endDay - 1;
    const exDay = adjustment.exDayBetween(timed.day[row]!, lastDay);
    if (exDay !== null) yield { row, exDay, interval, start };
  }
}

/** Adjusts bars in place. A WEEK or MON bar that contains an ex-date is built anew from adjusted DAY bars. @throws CannotAdjust */
export async function adjustBars(
  context: StreamContext,
  stored: StoredInstrument,
  timed: TimedBars,
  adjusting: Adjusting,
  keep: Keep,
): Promise<void> {
  const { adjustment, leftOutDay } = await adjustmentOf(context, stored, adjusting, keep);
  checkVolumes(timed, leftOutDay);
  if (adjustment === null) return;
  const split = [...splitBars(context, timed, adjustment)];
  adjustment.apply(timed);
  const { nowMs } = adjusting;
  const moment = { nowMs, completeness: new Completeness(context.reader, stored, nowMs) };
  for (const { row, interval, start, exDay } of split) {
    const days = await daysOf(context, stored, start, moment);
    if (days !== null) {
      checkVolumes(days, leftOutDay);
      adjustment.apply(days);
    }
    const built = days === null ? null : resample(dayCells(days.bars, interval, context.calendar));
    if (built === null || built.count === 0)
      throw new CannotAdjust({ kind: 'no-days', interval, startDay: start, exDay });
    copyBar(timed.bars, row, built, 0);
  }
}
