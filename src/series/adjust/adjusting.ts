// Adjusts bars by the corporate actions of their stock: multiplies the bars before each ex-date (contract
// 8.10, 9.4).

import { type Fraction, multiplierBy, productOf } from '../../base/decimal.ts';
import { DAY_MS, formatDay } from '../../base/instant.ts';
import { listedKinds } from '../../contract/corporate-actions.ts';
import { Refusal } from '../../contract/errors.ts';
import { dayCells } from '../../market/bars/cells.ts';
import { type Bars, copyBar } from '../../market/bars/columns.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import { resample } from '../../market/bars/resample.ts';
import { lastOverDay } from '../../market/calendar/bar-end.ts';
import { isPeriod, periodEnd } from '../../market/calendar/period.ts';
import { corporateActions, isOfShares } from '../../store/schema/corporate-actions.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import type { Keep } from '../calendars.ts';
import { RawCloses } from '../closes.ts';
import { Completeness } from '../completeness.ts';
import { daysOf } from '../periods.ts';
import type { StoredInstrument } from '../series.ts';
import type { StreamContext } from '../stream.ts';
import { type Action, asTraded, factorOf, referencePrice, scaleOf, sharesOf } from './factors.ts';

/** Which actions adjust, and which of them have happened. */
export type Adjusting = {
  readonly kind: 'split' | 'dividend' | 'all';
  /** The last ex-date that counts. */
  readonly throughDay: number;
  readonly nowMs: number;
};

/** The change of an ex-date to the bars of the sessions before it. */
type Change = {
  /** The ex-date. */
  readonly day: number;
  readonly price: Fraction;
  /** New shares for one old share. */
  readonly volume: Fraction;
};

const priceColumns = ['open', 'high', 'low', 'close', 'vwap'] as const;

/** The combined changes of an instrument, made from single ones in order of ex-date. */
class Adjustment {
  /** For each ex-date the product of its change and all later ones. */
  readonly #eras: readonly Change[];

  constructor(changes: readonly Change[]) {
    let price: Fraction = { part: 1n, whole: 1n };
    let volume = price;
    const eras = changes.toReversed().map((change): Change => {
      price = productOf(price, change.price);
      volume = productOf(volume, change.volume);
      return { day: change.day, price, volume };
    });
    this.#eras = eras.reverse();
  }

  /**
   * The first ex-date after `firstDay` and not after `lastDay`, label dates of sessions; null without one.
   */
  exDayBetween(firstDay: number, lastDay: number): number | null {
    return this.#eras.find(({ day }) => firstDay < day && day <= lastDay)?.day ?? null;
  }

  /** Adjusts bars in place, ascending. A volume that was adjusted for splits before the import stays. */
  apply({ bars, day: days, splitVolume }: TimedBars): void {
    let from = 0;
    for (const era of this.#eras) {
      let to = from;
      while (to < bars.count && days[to]! < era.day) to++;
      if (to > from) multiply(bars, from, to, era, splitVolume);
      from = to;
    }
  }
}

function multiply(
  bars: Bars,
  from: number,
  to: number,
  { price, volume }: Change,
  splitVolume: Uint8Array | undefined,
): void {
  const [byPrice, byVolume] = [multiplierBy(price), multiplierBy(volume)];
  for (let row = from; row < to; row++) {
    for (const column of priceColumns) bars[column][row] = byPrice(bars[column][row]!);
    if (splitVolume?.[row] !== 1) bars.volume[row] = byVolume(bars.volume[row]!);
  }
}

/** The change by an action; `missing` is the reason why it is less than it should be, null if it is right. */
type ActionChange = Change & { readonly type: string; readonly missing: string | null };

/** Notes about adjusted bars, for headers. */
type AdjustNotes = {
  /** The actions before which they are adjusted by less than they should be, each with the reason. */
  readonly incomplete: readonly string[];
  /** Those of kinds that a list of actions does not show unasked. */
  readonly unlisted: readonly string[];
};

const noNotes: AdjustNotes = { incomplete: [], unlisted: [] };

const isChange = ({ price, volume }: Change): boolean =>
  price.part !== price.whole || volume.part !== volume.whole;

const nameOf = ({ type, day }: ActionChange): string => `${type} ${formatDay(day)}`;

/** The notes about bars from a day on that some changes adjust. */
function notesOf(changes: readonly ActionChange[], fromDay: number): AdjustNotes {
  const after = changes.filter(({ day }) => day > fromDay);
  const unlisted = after.filter((change) => isChange(change) && !isListed(change.type));
  return {
    incomplete: after.flatMap((change) =>
      change.missing === null ? [] : [`${nameOf(change)} (${change.missing})`],
    ),
    unlisted: unlisted.map(nameOf),
  };
}

const isListed = (type: string): boolean => (listedKinds as readonly string[]).includes(type);

/**
 * The changes of the actions after a day, in order of ex-date, and the last ex-date of a past split that does
 * not count. Each change is kept by itself: the price before it is looked up once, and only for bars that it
 * adjusts.
 */
async function changesAfter(
  { reader, calendar }: StreamContext,
  stored: StoredInstrument,
  { kind, throughDay, nowMs }: Adjusting,
  fromDay: number,
  keep: Keep,
) {
  const { country_iso_code, symbol, instrument_id } = stored.instrument;
  const all = await keep(`actions|${instrument_id}`, () =>
    reader.group(corporateActions, { country_iso_code, symbol }),
  );
  // Until the next session ends, closes give the same factors.
  const overDay = lastOverDay(calendar, nowMs);
  // The end of an instrument completes its last bars: their closes give other factors from then on.
  const hasEnded = stored.endedMs !== null && stored.endedMs <= nowMs;
  const closes = new RawCloses(reader, stored, () => nowMs);
  const changeOf = async (row: Action): Promise<ActionChange> => {
    const { action_type: type, ex_date: day } = row;
    const action = asTraded(row, all);
    const price = await referencePrice(action, all, closes);
    const { missing, ...factor } = factorOf(action, price, scaleOf(action, stored.instrument));
    return { day, type, missing, price: factor, volume: sharesOf(action) };
  };
  const today = calendar.zone.dayAt(nowMs);
  const changes: ActionChange[] = [];
  let leftOutDay: number | null = null;
  for (const [at, row] of all.entries()) {
    const { action_type: type, ex_date: day } = row;
    if (kind !== 'all' && isOfShares(type) !== (kind === 'split')) continue;
    const { part, whole } = sharesOf(row);
    if (day > throughDay && day <= today && part !== whole) leftOutDay = day;
    if (day > fromDay && day <= throughDay)
      changes.push(await keep(`change|${instrument_id}|${at}|${overDay}|${hasEnded}`, () => changeOf(row)));
  }
  return { changes: changes.filter((change) => isChange(change) || change.missing !== null), leftOutDay };
}

/**
 * The refusal where volumes that were adjusted for splits before the import contain that of `exDay`, which
 * the request leaves out.
 */
const laterSplit = (exDay: number): Refusal =>
  new Refusal('invalid_parameter', {
    message: `adjust_as_of is before the split of ${formatDay(exDay)}, which the volumes of these bars contain: they were adjusted for splits before they were imported (--volumes split).`,
    param: 'adjust_as_of',
    hint: `Use adjust_as_of=${formatDay(exDay)} or later, or adjust=none.`,
  });

/**
 * A volume that was adjusted for splits before the import contains all that have happened.
 * @throws Refusal where one of them does not count
 */
function checkVolumes({ splitVolume, day }: TimedBars, leftOutDay: number | null): void {
  const first = splitVolume?.indexOf(1) ?? -1;
  if (leftOutDay !== null && first >= 0 && day[first]! < leftOutDay) throw laterSplit(leftOutDay);
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

/**
 * The refusal where the bar of the period that begins on `startDay` has sessions on both sides of an ex-date,
 * and no DAY bars are stored to rebuild it from.
 */
function noDays(
  { country_iso_code, symbol }: Instrument,
  interval: string,
  startDay: number,
  exDay: number,
): Refusal {
  const name = `${country_iso_code}:${symbol}`;
  return new Refusal('invalid_parameter', {
    message: `adjust cannot be answered: the ${interval} bar of ${formatDay(startDay)} has sessions before and after the ex-date ${formatDay(exDay)}, and this service does not hold the DAY bars of ${name} to build it from.`,
    param: 'adjust',
    hint: `Import DAY bars of ${name}, or use adjust=none.`,
  });
}

/**
 * Adjusts bars in place, ascending, and gives the notes about them. A WEEK or MON bar that contains an
 * ex-date is rebuilt from adjusted DAY bars. @throws Refusal
 */
export async function adjustBars(
  context: StreamContext,
  stored: StoredInstrument,
  timed: TimedBars,
  adjusting: Adjusting,
  keep: Keep,
): Promise<AdjustNotes> {
  if (timed.bars.count === 0 || stored.instrument.asset_schema !== 'stock') return noNotes;
  const firstDay = timed.day[0]!;
  // A week may have bars of days before its first session.
  const fromDay = isPeriod(context.interval) ? Math.min(firstDay, timed.bars.keyMs[0]! / DAY_MS) : firstDay;
  const { changes, leftOutDay } = await changesAfter(context, stored, adjusting, fromDay, keep);
  checkVolumes(timed, leftOutDay);
  const notes = notesOf(changes, firstDay);
  const real = changes.filter(isChange);
  if (real.length === 0) return notes;
  const adjustment = new Adjustment(real);
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
    if (built === null || built.count === 0) throw noDays(stored.instrument, interval, start, exDay);
    copyBar(timed.bars, row, built, 0);
  }
  return notes;
}
