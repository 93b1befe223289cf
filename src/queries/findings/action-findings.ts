// Corporate actions against prices: unrecorded_split and action_without_jump (the jumps of raw prices
// against the recorded splits), and cash that cannot be right (impossible_dividend, dividend_currency,
// factor_mismatch, doubled_dividend).
import { plainDecimal } from '../../base/decimal.ts';
import { DAY_MS, formatDay } from '../../base/instant.ts';
import { type Bars, lowerBound } from '../../market/bars/columns.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import {
  type Action,
  afterSplits,
  dividendFactor,
  doubledDividends,
  factorOf,
  factorText,
  MOVED_DAYS_MAX,
  scaleOf,
  sharesOf,
  UNDATED_DAYS_MAX,
} from '../../series/adjust/factors.ts';
import type { StoredInstrument } from '../../series/series.ts';
import { isOfShares } from '../../store/schema/corporate-actions.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import { percent, rounded, type Spotted } from './finding.ts';
import type { Subject } from './market-facts.ts';
import { median, splitRatios, thresholds, valuesAround } from './thresholds.ts';

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

/** The distance of two prices, by their ratio and the expected one: a natural logarithm. */
const logDistance = (ratio: number, expected: number): number => Math.abs(Math.log(ratio / expected));

/** The most by which a price across a split may differ from it, less for splits that change it by little. */
const logMax = (part: number): number => Math.min(thresholds.splitLogMax, Math.abs(Math.log(part)) / 2);

/** The smallest step of prices that are written with so many decimals as some around a bar have. */
function writtenTick({ close, count }: Bars, at: number): number {
  const decimals = valuesAround(count, at, (index) => plainDecimal(close[index]!).split('.')[1]?.length ?? 0);
  return 10 ** -Math.max(...(decimals ?? [0]));
}

/** True if a jump is unusual: in median absolute deviations of the jumps around it. */
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
    const { reference_price, ex_date } = action;
    const price = reference_price ?? afterSplits(before, ex_date - 1, ex_date, actions);
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
      `the open is ${rounded(jumpAt(bars, at))} of the close before, within ${percent(thresholds.splitShare)} of a split ${name}, the close agrees, and ` +
      `it is more than ${thresholds.splitDeviations} median deviations from usual; ` +
      'no action recorded within one session explains it',
  };
}

/** Jumps of DAY bars of a stock that look like splits, where no action is recorded. */
function unrecordedSplits(bars: Bars, facts: SplitFacts): Spotted[] {
  const found: Spotted[] = [];
  for (let at = 1; at < bars.count; at++) {
    const split = unrecordedAt(bars, at, facts);
    if (split !== null) found.push(split);
  }
  return found;
}

/** Splits across which raw DAY bars do not jump as recorded. */
function actionsWithoutJump(bars: Bars, actions: readonly Action[]): Spotted[] {
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
          `a split to ${rounded(part)} of the price is recorded, but the open is ${rounded(jump)} of the close before: splits of ${percent(thresholds.jumpShare)} ` +
          'and more are judged; the date may be wrong, or the prices already adjusted',
      } as const,
    ];
  });
}

/** The stock, and all its actions, with amounts as traded. */
type CashFacts = {
  readonly instrument: Instrument;
  readonly calendar: Calendar;
  readonly actions: readonly Action[];
};

const onDay = (day: number) => ({ fromKeyMs: day * DAY_MS, toKeyMs: day * DAY_MS });

const isOfCash = ({ action_type, cash_amount }: Action): boolean =>
  !isOfShares(action_type) && cash_amount !== null;

/**
 * The close of raw DAY bars in the session before an ex-date, divided by the splits after it; null where
 * the session has no bar.
 */
function storedClose({ ex_date }: Action, { calendar, actions }: CashFacts, bars: Bars): number | null {
  const at = lowerBound(bars, ex_date * DAY_MS) - 1;
  const session = calendar.sessionOnOrBefore(ex_date - 1)?.day ?? ex_date;
  if (at < 0 || bars.keyMs[at]! < session * DAY_MS || bars.close[at]! <= 0) return null;
  return afterSplits(bars.close[at]!, bars.keyMs[at]! / DAY_MS, ex_date, actions);
}

/** The close before an ex-date: that of the file, else the last one of raw DAY bars; null without both. */
function closeBefore(
  { reference_price, ex_date }: Action,
  actions: readonly Action[],
  bars: Bars,
): number | null {
  const at = lowerBound(bars, ex_date * DAY_MS) - 1;
  return (
    reference_price ??
    (at < 0 ? null : afterSplits(bars.close[at]!, bars.keyMs[at]! / DAY_MS, ex_date, actions))
  );
}

function impossible(action: Action, scale: number, { actions }: CashFacts, bars: Bars): Spotted[] {
  const { adjustment_factor: factor, cash_amount, ex_date } = action;
  const common = { kind: 'impossible_dividend', severity: 'warning', ...onDay(ex_date) } as const;
  if (factor !== null && factor <= 0)
    return [
      {
        ...common,
        value: factor,
        expected: null,
        message: `the adjustment factor ${rounded(factor)} is not above 0`,
      },
    ];
  const close = closeBefore(action, actions, bars);
  const cash = cash_amount! * scale;
  if (close === null || cash <= thresholds.dividendShare * close) return [];
  const message = `the cash of ${rounded(cash)} is ${percent(cash / close)} of the close before, ${rounded(close)}: more than ${percent(thresholds.dividendShare)}`;
  return [{ ...common, value: cash, expected: thresholds.dividendShare * close, message }];
}

function mismatch(action: Action, scale: number, facts: CashFacts, bars: Bars): Spotted[] {
  const { adjustment_factor: given, cash_amount, ex_date } = action;
  const close = given === null ? null : storedClose(action, facts, bars);
  const computed = close === null ? null : dividendFactor(cash_amount!, close, scale);
  if (computed === null) return [];
  const expected = Number(computed.part) / Number(computed.whole);
  if (Math.abs(given! - expected) <= thresholds.factorShare * (1 - expected)) return [];
  return [
    {
      ...{ kind: 'factor_mismatch', severity: 'warning', ...onDay(ex_date), value: given, expected },
      message: `the factor ${given} of the file differs by more than ${percent(thresholds.factorShare)} of the cash's share from ${factorText(computed)}, computed from its cash and the stored close before it: leave the factor out of the file to use the computed one`,
    },
  ];
}

/** Dividends that cannot be, and factors of files that stored prices contradict. `bars` are raw DAY bars. */
function doubtfulDividends(bars: Bars, facts: CashFacts): Spotted[] {
  return facts.actions.filter(isOfCash).flatMap((action) => {
    const scale = scaleOf(action, facts.instrument);
    if (typeof scale === 'string') return [];
    return [...impossible(action, scale, facts, bars), ...mismatch(action, scale, facts, bars)];
  });
}

const howToGive =
  'give it with bourse import instruments (the column currency), or with --currency GBp when bars are imported';

/** Dividends whose factor is 1, because their cash cannot be compared with the price. */
function foreignDividends({ actions, instrument }: CashFacts): Spotted[] {
  return actions.filter(isOfCash).flatMap((action): Spotted[] => {
    const scale = scaleOf(action, instrument);
    const { currency, ex_date, cash_amount: value, adjustment_factor } = action;
    if (typeof scale === 'number' || adjustment_factor !== null) return [];
    const common = { kind: 'dividend_currency', ...onDay(ex_date), value, expected: null } as const;
    if (scale === 'unproven')
      return [
        {
          ...common,
          severity: 'warning',
          message: `no file gave the currency of the price, and this market quotes in hundredths too: the factor is 1; ${howToGive}`,
        },
      ];
    const price = instrument.currency === null ? "its market's currency" : instrument.currency;
    return [
      {
        ...common,
        severity: 'error',
        message: `the cash is in ${currency}, the price in ${price}: the factor is 1; if the price is in another currency, ${howToGive}`,
      },
    ];
  });
}

/** Dividends that may be stored twice. */
const doubled = (actions: readonly Action[]): Spotted[] =>
  doubledDividends(actions).map(([earlier, { ex_date, cash_amount }]) => ({
    ...{ kind: 'doubled_dividend', severity: 'warning', fromKeyMs: earlier.ex_date * DAY_MS },
    ...{ toKeyMs: ex_date * DAY_MS, value: cash_amount, expected: null },
    message:
      `the dividends of ${formatDay(earlier.ex_date)} and ${formatDay(ex_date)} have equal cash and the same declaration or pay date within ` +
      `${MOVED_DAYS_MAX} days, or neither date within ${UNDATED_DAYS_MAX}: a corrected ex-date may have left the old row`,
  }));

/** The findings about splits in the days of a stock. */
export function splitFindings(
  { stored, series }: Subject,
  bars: Bars,
  actions: readonly Action[],
): Spotted[] {
  const { calendar, instrument } = stored;
  if (instrument.asset_schema !== 'stock') return [];
  return [
    ...unrecordedSplits(bars, { calendar, instrument, actions }),
    ...(series.prices === 'raw' ? actionsWithoutJump(bars, actions) : []),
  ];
}

/** The findings about all its actions in them. */
export function dayFindings(subject: Subject, bars: Bars, actions: readonly Action[]): Spotted[] {
  const { stored, series } = subject;
  return [
    ...splitFindings(subject, bars, actions),
    ...(series.prices === 'raw' ? doubtfulDividends(bars, { ...stored, actions }) : []),
  ];
}

/** The findings in the actions of a stock alone, whichever series its days are made of. */
export const findingsInActions = (
  { instrument, calendar, series }: StoredInstrument,
  actions: readonly Action[],
): Spotted[] => [
  ...doubled(actions),
  ...(series.some(({ prices }) => prices === 'raw')
    ? foreignDividends({ instrument, calendar, actions })
    : []),
];
