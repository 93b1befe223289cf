// stale and vwap_outside: single bars that cannot be right, or may not be.

import { plainDecimal } from '../../base/decimal.ts';
import type { Bars } from '../../market/bars/columns.ts';
import type { Spotted } from './finding.ts';

/** Whether a bar has the open, high, low, close and volume of the one before. */
function repeats({ open, high, low, close, volume }: Bars, at: number): boolean {
  return volume[at]! > 0 && [open, high, low, close, volume].every((column) => column[at] === column[at - 1]);
}

/** Bars of DAY and above that repeat the one before. */
export function staleBars(bars: Bars): Spotted[] {
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
export const vwapMessage = 'vwap is outside low to high by more than half a unit of its last decimal';

/** Bars of DAY and above whose vwap is outside low to high. */
export function vwapsOutside(bars: Bars): Spotted[] {
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
