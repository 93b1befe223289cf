// unrecorded_split and action_without_jump: the jumps of raw prices against the recorded splits.

import { plainDecimal } from '../../base/decimal.ts';
import { DAY_MS } from '../../base/instant.ts';
import type { Bars } from '../../market/bars/columns.ts';
import { lowerBound } from '../../market/bars/columns.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import { type Action, afterSplits, factorOf, scaleOf, sharesOf } from '../../series/factors.ts';
import { isOfShares } from '../../store/schema/corporate-actions.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import type { Spotted } from './finding.ts';
import { splitRatios, thresholds } from './thresholds.ts';
import { median, valuesAround } from './usual.ts';
import { percent, rounded } from './words.ts';

/** The stock and its actions. */
type SplitFacts = {
  readonly calendar: Calendar;
  readonly actions: readonly Action[];
  readonly instrument: Instrument;
};

/** The price after a usual split as a part of that before it, and the name of the split. */
const usualParts = splitRatios.flatMap(([many, few]) => {
  // Prices move by less than half or double on news too.
  const severity = many / few < 2 ? 'warning' : 'error';
  return [
    { part: few / many, name: `${many}:${few}`, severity },
    { part: many / few, name: `${few}:${many}`, severity },
  ] as const;
});

/** The parts between which no jump is near to a split: most jumps are. */
const calm = {
  from:
    Math.max(...usualParts.map(({ part }) => part).filter((part) => part < 1)) * (1 + thresholds.splitShare),
  to:
    Math.min(...usualParts.map(({ part }) => part).filter((part) => part > 1)) * (1 - thresholds.splitShare),
};

/** The split that a jump is near to; undefined where it is near to none. */
function splitNear(jump: number): (typeof usualParts)[number] | undefined {
  if (jump > calm.from && jump < calm.to) return undefined;
  return usualParts.find(({ part }) => Math.abs(jump / part - 1) <= thresholds.splitShare);
}

/** The open of a bar as a part of the close before. */
const jumpAt = ({ open, close }: Bars, at: number): number => open[at]! / close[at - 1]!;

/** How far two prices are apart, by their ratio and the one that it should be: a natural logarithm. */
const logDistance = (ratio: number, expected: number): number => Math.abs(Math.log(ratio / expected));

/** The most by which a price across a split may differ from it, less for splits that change it by little. */
const logMax = (part: number): number => Math.min(thresholds.splitLogMax, Math.abs(Math.log(part)) / 2);

/** The smallest step of prices that are written with so many decimals as some around a bar have. */
function writtenTick({ close, count }: Bars, at: number): number {
  const decimals = valuesAround(count, at, (index) => plainDecimal(close[index]!).split('.')[1]?.length ?? 0);
  return 10 ** -Math.max(...(decimals ?? [0]));
}

/** Whether a jump is far from what is usual: in median absolute deviations of the jumps around it. */
function isUnusual(bars: Bars, at: number): boolean {
  const logs = valuesAround(bars.count, at, (index) =>
    index === 0 ? Number.NaN : Math.log(jumpAt(bars, index)),
  );
  if (logs === null) return false;
  const middle = median(logs);
  const deviation = median(logs.map((log) => Math.abs(log - middle)));
  return Math.abs(Math.log(jumpAt(bars, at)) - middle) > thresholds.splitDeviations * deviation;
}

/** The price after some actions of one day as a part of that before them. */
const partOf = (actions: readonly Action[], before: number, instrument: Instrument): number =>
  actions.reduce((product, action) => {
    const price = action.reference_price ?? afterSplits(before, action.ex_date, actions);
    const { part, whole } = factorOf(action, price, scaleOf(action, instrument));
    return (product * Number(part)) / Number(whole);
  }, 1);

/**
 * True if the actions of one day explain the jump at a bar to about `part` of the close before. The day is
 * one from the session of the bar before to the session after the bar.
 */
function isRecorded(
  { calendar, actions, instrument }: SplitFacts,
  bars: Bars,
  at: number,
  part: number,
): boolean {
  const [dayBefore, day] = [bars.keyMs[at - 1]! / DAY_MS, bars.keyMs[at]! / DAY_MS];
  const last = calendar.sessionOnOrAfter(day + 1)?.day ?? day;
  const near = actions.filter(({ ex_date }) => ex_date >= dayBefore && ex_date <= last);
  return Map.groupBy(near, ({ ex_date }) => ex_date)
    .values()
    .some(
      (some) => logDistance(jumpAt(bars, at), partOf(some, bars.close[at - 1]!, instrument)) <= logMax(part),
    );
}

function unrecordedAt(bars: Bars, at: number, facts: SplitFacts): Spotted | null {
  const before = bars.close[at - 1]!;
  const near = splitNear(jumpAt(bars, at));
  if (near === undefined || before <= 0) return null;
  const { part, name, severity } = near;
  if (logDistance(bars.close[at]! / before, part) > logMax(part) || !isUnusual(bars, at)) return null;
  const tick = facts.instrument.tick_size ?? writtenTick(bars, at);
  if (before < thresholds.splitTicks * tick) return null;
  const [dayBefore, day] = [bars.keyMs[at - 1]! / DAY_MS, bars.keyMs[at]! / DAY_MS];
  const isBroken = facts.calendar.sessions(dayBefore + 1, day).length > thresholds.breakSessions;
  if (isBroken || isRecorded(facts, bars, at, part)) return null;
  const keyMs = bars.keyMs[at]!;
  return {
    ...{ kind: 'unrecorded_split', severity },
    ...{ fromKeyMs: keyMs, toKeyMs: keyMs, value: bars.open[at]!, expected: before },
    message:
      `open is ${rounded(jumpAt(bars, at))} of the close before, within ${percent(thresholds.splitShare)} of a split ${name}, the close agrees, and ` +
      `it is more than ${thresholds.splitDeviations} median deviations from usual; ` +
      'no action that is recorded within a session of it explains it',
  };
}

/** Jumps of DAY bars of a stock that look like splits, where no action is recorded. */
export function unrecordedSplits(bars: Bars, facts: SplitFacts): Spotted[] {
  const found: Spotted[] = [];
  for (let at = 1; at < bars.count; at++) {
    const split = unrecordedAt(bars, at, facts);
    if (split !== null) found.push(split);
  }
  return found;
}

/** Splits across which raw DAY bars do not jump as recorded. */
export function actionsWithoutJump(bars: Bars, actions: readonly Action[]): Spotted[] {
  const splits = Map.groupBy(
    actions.filter(({ action_type }) => isOfShares(action_type)),
    ({ ex_date }) => ex_date,
  );
  return [...splits].flatMap(([day, some]) => {
    const part = some
      .map(sharesOf)
      .reduce((product, shares) => (product * Number(shares.whole)) / Number(shares.part), 1);
    const at = lowerBound(bars, day * DAY_MS);
    if (Math.max(part, 1 / part) < 1 + thresholds.jumpShare || at === 0 || at === bars.count) return [];
    const slackMs = thresholds.jumpDays * DAY_MS;
    if (bars.keyMs[at]! - day * DAY_MS > slackMs || day * DAY_MS - bars.keyMs[at - 1]! > slackMs) return [];
    const jump = jumpAt(bars, at);
    // A jump across prices of zero and below is no number.
    if (!(logDistance(jump, part) > logMax(part))) return [];
    return [
      {
        kind: 'action_without_jump',
        severity: 'warning',
        ...{ fromKeyMs: bars.keyMs[at]!, toKeyMs: bars.keyMs[at]!, value: jump, expected: part },
        message:
          `a split to ${rounded(part)} of the price is recorded, open is ${rounded(jump)} of the close before: splits of ${percent(thresholds.jumpShare)} ` +
          'and more are judged; the date may be wrong, or the prices already adjusted',
      } as const,
    ];
  });
}
