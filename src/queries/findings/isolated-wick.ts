// isolated_wick: a high or low far beyond its own bar and both neighbours, such as a false print.
import type { Bars } from '../../market/bars/columns.ts';
import type { Spotted } from './finding.ts';
import { thresholds } from './thresholds.ts';
import { median, valuesAround } from './usual.ts';
import { percent, rounded } from './words.ts';

type Side = 'high' | 'low';

/** A wick of one series: `keyMs` and `side` say whether others have it at once. */
export type Wick = Spotted & { readonly keyMs: number; readonly side: Side };

/** The extreme that a high or low is beyond, and by which part of the price; not beyond it: 0 or less. */
function beyond(
  bars: Bars,
  at: number,
  side: Side,
): { readonly value: number; readonly expected: number; readonly share: number } {
  const { open, close } = bars;
  const column = bars[side];
  const extreme = side === 'high' ? Math.max : Math.min;
  const value = column[at]!;
  const expected = extreme(open[at]!, close[at]!, column[at - 1]!, column[at + 1]!);
  const share = side === 'high' ? value / expected - 1 : 1 - value / expected;
  return { value, expected, share: value > 0 && expected > 0 ? share : Number.NaN };
}

function wickAt(bars: Bars, at: number, side: Side): Wick | null {
  const { value, expected, share } = beyond(bars, at, side);
  // Also where there is no share: prices of zero and below.
  if (!(share > thresholds.wickShare)) return null;
  const ranges = valuesAround(bars.count, at, (index) => Math.log(bars.high[index]! / bars.low[index]!));
  if (ranges === null) return null;
  const usual = median(ranges);
  if (Math.abs(Math.log(value / expected)) <= thresholds.wickRanges * usual) return null;
  const keyMs = bars.keyMs[at]!;
  return {
    kind: 'isolated_wick',
    severity: share >= thresholds.wickErrorShare ? 'error' : 'warning',
    ...{ keyMs, side, fromKeyMs: keyMs, toKeyMs: keyMs, value, expected },
    message:
      `the ${side} is ${percent(share)} beyond open, close and both neighbouring bars: more than ${percent(thresholds.wickShare)} and ` +
      `more than ${thresholds.wickRanges} x the usual range of a bar, ${rounded(usual)} (log)`,
  };
}

/**
 * The wicks of bars of DAY and above, whoever else has them. The first and the last bar have one neighbour,
 * and are not judged.
 */
export function isolatedWicks(bars: Bars): Wick[] {
  const found: Wick[] = [];
  for (let at = 1; at < bars.count - 1; at++)
    for (const side of ['high', 'low'] as const) {
      const wick = wickAt(bars, at, side);
      if (wick !== null) found.push(wick);
    }
  return found;
}
