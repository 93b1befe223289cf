// Bars as they are asked for by adjust and adjust_as_of: times the factors of dividends and splits (contract 9.4).
import { NO_FACTOR } from '../bars/adjust.ts';
import { Adjustment, type Change } from '../bars/adjustment.ts';
import { copyBar } from '../bars/bars.ts';
import { dayCells, type TimedBars } from '../bars/grid.ts';
import { resample } from '../bars/resample.ts';
import type { Fraction } from '../base/decimal.ts';
import { DAY_MS, END_DAY, FIRST_DAY, formatDay } from '../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isPeriod, periodEnd } from '../calendar/period.ts';
import { Refusal } from '../contract/errors.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import { type BuiltPeriod, daysOf } from './bar-plan.ts';
import type { StreamContext } from './bar-stream.ts';
import { RawCloses } from './closes.ts';
import { type Action, factorOf, referencePrice } from './factors.ts';
import type { Found } from './lookup.ts';
import type { QueryContext } from './query.ts';

/** Which actions adjust, and which of them have happened. */
export type Adjusting = {
  readonly kind: 'split' | 'dividend' | 'all';
  /** The last ex-date that counts. */
  readonly asOfDay: number;
  readonly nowMs: number;
};

/** More than any stock has. */
const ACTIONS_MAX = 2 * (END_DAY - FIRST_DAY);

/** The label of the newest session that is over at a moment: until the next is, closes tell the same factors. */
function lastOverDay(calendar: Calendar, nowMs: number): number {
  let session = calendar.sessionOnOrBefore(calendar.zone.dayAt(nowMs) + 1);
  while (session !== null && session.closeMs > nowMs) session = calendar.sessionOnOrBefore(session.day - 1);
  return session?.day ?? FIRST_DAY;
}

const changesNothing = ({ part, whole }: Fraction): boolean => part === whole;

async function changeOf(action: Action, closes: RawCloses): Promise<Change> {
  const price = factorOf(action, await referencePrice(action, closes));
  const { action_type: type, ex_date: day, split_from: from, split_to: to } = action;
  return { day, price, volume: type === 'split' ? { part: BigInt(to!), whole: BigInt(from!) } : NO_FACTOR };
}

/** What the actions of a stock change, by ex-date. */
async function readChanges(
  { reader }: QueryContext,
  found: Found,
  { kind, nowMs }: Adjusting,
): Promise<Change[]> {
  const { country_iso_code, symbol } = found.instrument;
  const actions = await reader.rows(corporateActions, {
    where: { country_iso_code, symbol, ...(kind === 'all' ? {} : { action_type: kind }) },
    order: [
      ['ex_date', 'asc'],
      ['occurrence', 'asc'],
      ['action_type', 'asc'],
    ],
    limit: ACTIONS_MAX,
  });
  const closes = new RawCloses(reader, found, nowMs);
  const changes: Change[] = [];
  for (const action of actions) changes.push(await changeOf(action, closes));
  return changes.filter(({ price, volume }) => !changesNothing(price) || !changesNothing(volume));
}

async function adjustmentOf(
  context: QueryContext,
  found: Found,
  adjusting: Adjusting,
): Promise<Adjustment | null> {
  const { instrument, calendar } = found;
  if (instrument.asset_schema !== 'stock') return null;
  const overDay = lastOverDay(calendar, adjusting.nowMs);
  const name = `changes|${instrument.instrument_id}|${adjusting.kind}|${overDay}`;
  const kept = await context.lookup.kept(context.reader, name, () => readChanges(context, found, adjusting));
  const changes = kept.value.filter(({ day }) => day <= adjusting.asOfDay);
  return changes.length === 0 ? null : new Adjustment(changes);
}

/** A WEEK or MON bar with sessions before and after an ex-date. */
type Parted = { readonly row: number; readonly period: BuiltPeriod; readonly exDay: number };

function* partedRows({ calendar, interval }: StreamContext, timed: TimedBars, adjustment: Adjustment) {
  if (!isPeriod(interval) || interval === 'DAY') return;
  for (let row = 0; row < timed.bars.count; row++) {
    const fromMs = timed.bars.keyMs[row]!;
    const endDay = periodEnd(interval, fromMs / DAY_MS);
    const lastDay = calendar.sessionOnOrBefore(endDay - 1)?.day ?? endDay - 1;
    const exDay = adjustment.parting(timed.day[row]!, lastDay);
    const firstDay = timed.day[row]!;
    const period = {
      interval,
      firstDay,
      lastDay,
      fromMs,
      toMs: endDay * DAY_MS,
      closeMs: timed.closeMs[row]!,
    };
    if (exDay !== null) yield { row, period, exDay } satisfies Parted;
  }
}

function noDays({ instrument }: Found, { period, exDay }: Parted): Refusal {
  const { interval, fromMs } = period;
  const name = `${instrument.country_iso_code}:${instrument.symbol}`;
  const start = formatDay(fromMs / DAY_MS);
  return new Refusal('invalid_parameter', {
    message: `adjust cannot be answered: the ${interval} bar of ${start} has sessions before and after the ex-date ${formatDay(exDay)}, and this service does not hold the DAY bars of ${name} to build it from.`,
    param: 'adjust',
    hint: `Import DAY bars of ${name}, or ask with adjust=none.`,
  });
}

/**
 * Adjusts bars in place. A WEEK or MON bar that an ex-date parts is built anew, from adjusted DAY bars. @throws Refusal
 * `invalid_parameter` where there are none.
 */
export async function adjustBars(
  context: QueryContext,
  stream: StreamContext,
  found: Found,
  timed: TimedBars,
  adjusting: Adjusting,
): Promise<void> {
  const adjustment = await adjustmentOf(context, found, adjusting);
  if (adjustment === null) return;
  const parted = [...partedRows(stream, timed, adjustment)];
  adjustment.apply(timed.bars, timed.day);
  for (const one of parted) {
    const days = await daysOf(stream, found, one.period, adjusting.nowMs);
    if (days === null) throw noDays(found, one);
    adjustment.apply(days.bars, days.day);
    copyBar(timed.bars, one.row, resample(dayCells(days.bars, one.period.interval)), 0);
  }
}
