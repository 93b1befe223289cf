// The rules that one bar must keep (contract 11).
import type { RowProblem } from '../read/file-problem.ts';

const prices = ['open', 'high', 'low', 'close'] as const;

/** One bar's values; NaN in `volume` and `vwap` is null. */
export type BarValues = Record<(typeof prices)[number] | 'volume' | 'vwap', number>;

/** True if a bar keeps every rule: the fast form of `barProblem`. */
export function isSoundBar(
  open: number,
  high: number,
  low: number,
  close: number,
  volume: number,
  vwap: number,
  anySign: boolean,
): boolean {
  return (
    (anySign || low > 0) &&
    high >= open &&
    high >= close &&
    low <= open &&
    low <= close &&
    high < Number.POSITIVE_INFINITY &&
    low > Number.NEGATIVE_INFINITY &&
    !(volume < 0) &&
    volume !== Number.POSITIVE_INFINITY &&
    Math.abs(vwap) !== Number.POSITIVE_INFINITY
  );
}

/** Why a bar is refused, or null. Prices of futures may be zero and negative: `anySign`. */
export function barProblem(bar: BarValues, anySign: boolean): RowProblem | null {
  for (const column of prices) {
    const value = bar[column];
    if (Number.isNaN(value)) return { column, reason: 'a price is missing' };
    if (!Number.isFinite(value)) return { column, reason: 'a price must be finite' };
    if (!anySign && value <= 0) return { column, reason: 'a price must be positive' };
  }
  if (bar.high < Math.max(bar.open, bar.close, bar.low))
    return { column: 'high', reason: 'is below open, close or low' };
  if (bar.low > Math.min(bar.open, bar.close)) return { column: 'low', reason: 'is above open or close' };
  if (bar.volume < 0) return { column: 'volume', reason: 'volume must not be negative' };
  if (bar.volume === Number.POSITIVE_INFINITY) return { column: 'volume', reason: 'volume must be finite' };
  if (Math.abs(bar.vwap) === Number.POSITIVE_INFINITY)
    return { column: 'vwap', reason: 'vwap must be finite' };
  return null;
}
