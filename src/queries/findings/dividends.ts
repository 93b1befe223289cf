// Cash that cannot be right: impossible_dividend, dividend_currency, factor_mismatch and doubled_dividend.

import { DAY_MS, formatDay } from '../../base/instant.ts';
import { dividendFactor, factorText } from '../../market/bars/adjust.ts';
import { type Bars, lowerBound } from '../../market/bars/columns.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import { doubledDividends, MOVED_DAYS_MAX, UNDATED_DAYS_MAX } from '../../series/doubled-dividends.ts';
import { type Action, afterSplits, scaleOf } from '../../series/factors.ts';
import { isOfShares } from '../../store/schema/corporate-actions.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import type { Spotted } from './finding.ts';
import { thresholds } from './thresholds.ts';
import { percent, rounded } from './words.ts';

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
 * The close of raw DAY bars in the session before an ex-date, divided by the splits of the day; null where
 * the session has no bar.
 */
function storedClose({ ex_date }: Action, { calendar, actions }: CashFacts, bars: Bars): number | null {
  const at = lowerBound(bars, ex_date * DAY_MS) - 1;
  const session = calendar.sessionOnOrBefore(ex_date - 1)?.day ?? ex_date;
  if (at < 0 || bars.keyMs[at]! < session * DAY_MS || bars.close[at]! <= 0) return null;
  return afterSplits(bars.close[at]!, ex_date, actions);
}

/** The close before an ex-date: that of the file, else the last one of raw DAY bars; null without both. */
function closeBefore(
  { reference_price, ex_date }: Action,
  actions: readonly Action[],
  bars: Bars,
): number | null {
  const at = lowerBound(bars, ex_date * DAY_MS) - 1;
  return reference_price ?? (at < 0 ? null : afterSplits(bars.close[at]!, ex_date, actions));
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
  const message = `cash of ${rounded(cash)} is ${percent(cash / close)} of the close before, ${rounded(close)}: more than ${percent(thresholds.dividendShare)}`;
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
      message: `the factor ${given} of the file is not that of its cash and the stored close before, ${factorText(computed)}, to ${percent(thresholds.factorShare)} of the cash's share: without a factor in the file it is computed`,
    },
  ];
}

/** Dividends that cannot be, and factors of files that stored prices contradict. `bars` are raw DAY bars. */
export function doubtfulDividends(bars: Bars, facts: CashFacts): Spotted[] {
  return facts.actions.filter(isOfCash).flatMap((action) => {
    const scale = scaleOf(action, facts.instrument);
    if (typeof scale === 'string') return [];
    return [...impossible(action, scale, facts, bars), ...mismatch(action, scale, facts, bars)];
  });
}

const howToGive =
  'give it with bourse import instruments (the column currency), or with --currency GBp when bars are imported';

/** Dividends whose factor is 1, because their cash cannot be compared with the price. */
export function foreignDividends({ actions, instrument }: CashFacts): Spotted[] {
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
export const doubled = (actions: readonly Action[]): Spotted[] =>
  doubledDividends(actions).map(([earlier, { ex_date, cash_amount }]) => ({
    ...{ kind: 'doubled_dividend', severity: 'warning', fromKeyMs: earlier.ex_date * DAY_MS },
    ...{ toKeyMs: ex_date * DAY_MS, value: cash_amount, expected: null },
    message:
      `the dividends of ${formatDay(earlier.ex_date)} and ${formatDay(ex_date)} have equal cash and the same declaration or pay date within ` +
      `${MOVED_DAYS_MAX} days, or neither date within ${UNDATED_DAYS_MAX}: a corrected ex-date may have left the old row`,
  }));
