// Single bars that cannot be right, or may not be: stale, vwap_outside, and isolated_wick (a high or low
// far beyond its own bar and both neighbours, such as a false print).
import { plainDecimal } from '../../base/decimal.ts';
import type { Bars } from '../../market/bars/columns.ts';
import { percent, rounded, type Spotted } from './finding.ts';
import { median, thresholds, valuesAround } from './thresholds.ts';

/** Whether a bar has the open, high, low, close and volume of the one before. */
function repeats({ open, high, low, close, volume }: Bars, at: number): boolean {
  return volume[at]! > 0 && [open, high, low, close, volume].every((column) => column[at] === column[at - 1]);
}

/** Bars of DAY and above that repeat the one before. */
function staleBars(bars: Bars): Spotted[] {
  const found: Spotted[] = [];
  for (let at = 1; at < bars.count; at++) {
    if (!repeats(bars, at)) continue;
    const keyMs = bars.keyMs[at]!;
    found.push({
      kind: 'stale',
      severity: 'info',
      ...{ fromKeyMs: keyMs, toKeyMs: keyMs, value: bars.volume[at]!, expected: null },
      message: 'open, high, low, close and volume are those of the bar before, with a volume above 0',
    });
  }
  return found;
}

/** The bound that a vwap is beyond by more than half a unit of its last decimal; null where it is not. */
export function vwapBound({ high, low, vwap }: Bars, at: number): number | null {
  const value = vwap[at]!;
  const bound = value > high[at]! ? high[at]! : value < low[at]! ? low[at]! : Number.NaN;
  if (Number.isNaN(bound)) return null;
  const decimals = plainDecimal(value).split('.')[1]?.length ?? 0;
  return Math.abs(value - bound) > 0.5 * 10 ** -decimals ? bound : null;
}

/** The message of vwaps that are outside their bars. */
export const vwapMessage =
  'vwap is below the low or above the high by more than half a unit of its last decimal';

/** Bars of DAY and above whose vwap is outside low to high. */
function vwapsOutside(bars: Bars): Spotted[] {
  const found: Spotted[] = [];
  for (let at = 0; at < bars.count; at++) {
    const expected = vwapBound(bars, at);
    if (expected === null) continue;
    const keyMs = bars.keyMs[at]!;
    found.push({
      kind: 'vwap_outside',
      severity: 'warning',
      ...{ fromKeyMs: keyMs, toKeyMs: keyMs, value: bars.vwap[at]!, expected },
      message: vwapMessage,
    });
  }
  return found;
}

/** Bars of DAY and above with values that are odd in themselves. */
export const oddValues = (bars: Bars): Spotted[] => [...staleBars(bars), ...vwapsOutside(bars)];

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
