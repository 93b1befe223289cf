// impossible_dividend: more cash than a price can lose.
import { type Bars, lowerBound } from '../bars/columns.ts';
import { DAY_MS } from '../base/instant.ts';
import type { Action } from '../series/factors.ts';
import type { Spotted } from './finding.ts';
import { thresholds } from './thresholds.ts';
import { percent, rounded } from './words.ts';

/** The close before an ex-date: that of the file, else of raw DAY bars; null without both. */
function closeBefore({ reference_price, ex_date }: Action, bars: Bars): number | null {
  const at = lowerBound(bars, ex_date * DAY_MS) - 1;
  return reference_price ?? (at < 0 ? null : bars.close[at]!);
}

/** Dividends that cannot be: a factor that is not positive, or cash above half the close before. `bars` are raw DAY bars. */
export function impossibleDividends(bars: Bars, actions: readonly Action[]): Spotted[] {
  return actions.flatMap((action): Spotted[] => {
    const { action_type, cash_amount: cash, adjustment_factor: factor, ex_date } = action;
    if (action_type !== 'dividend') return [];
    const place = { fromKeyMs: ex_date * DAY_MS, toKeyMs: ex_date * DAY_MS };
    const common = { kind: 'impossible_dividend', severity: 'warning', ...place } as const;
    if (factor !== null && factor <= 0)
      return [
        {
          ...common,
          value: factor,
          expected: null,
          message: `the adjustment factor ${rounded(factor)} is not above 0`,
        },
      ];
    const close = closeBefore(action, bars);
    if (cash === null || close === null || cash <= thresholds.dividendShare * close) return [];
    const message = `cash of ${rounded(cash)} is ${percent(cash / close)} of the close before, ${rounded(close)}: more than ${percent(thresholds.dividendShare)}`;
    return [{ ...common, value: cash, expected: thresholds.dividendShare * close, message }];
  });
}
