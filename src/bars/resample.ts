// Base bars -> bars: first open, last close, extremes, exact volume, weighted vwap (contract 3.8).
import { decimalsOf, exactSum, MANTISSA_LIMIT, POWERS_OF_TEN } from '../base/decimal.ts';
import { type Bars, emptyBars } from './columns.ts';
import type { CellBars } from './grid.ts';

/** Sums of scaled integers are exact up to this one. */
const EXACT_INTEGER_MAX = Number.MAX_SAFE_INTEGER;

/** A derived vwap has at most this many decimals (contract 3.8). */
const VWAP_DECIMALS = 10;

function roundVwap(value: number): number {
  const scaled = value * 1e10;
  if (Math.abs(scaled) < EXACT_INTEGER_MAX) return Math.round(scaled) / 1e10;
  return Number(value.toFixed(VWAP_DECIMALS));
}

/** Sum of `vwap x volume` over sum of volume, with compensated summation (Neumaier); null without volume, or where a bar with volume has no vwap. */
function weightedVwap(base: Bars, from: number, to: number, volume: number): number {
  let sum = 0;
  let lost = 0;
  for (let index = from; index < to; index++) {
    const weight = base.volume[index]!;
    if (weight === 0) continue;
    const term = base.vwap[index]! * weight;
    const next = sum + term;
    lost += Math.abs(sum) >= Math.abs(term) ? sum - next + term : term - next + sum;
    sum = next;
  }
  return roundVwap((sum + lost) / volume);
}

/** Makes one bar of the base bars of each cell. A null volume among them makes the sum null. */
export function resample({ bars: base, cellMs }: CellBars): Bars {
  const folded = emptyBars(base.count);
  const decimals = decimalsOf(base.volume, base.count);
  const power = decimals < 0 ? Number.NaN : POWERS_OF_TEN[decimals]!;
  let from = 0;
  while (from < base.count) {
    const cell = cellMs[from]!;
    let to = from;
    let high = Number.NEGATIVE_INFINITY;
    let low = Number.POSITIVE_INFINITY;
    let volume = 0;
    for (; to < base.count && cellMs[to] === cell; to++) {
      high = Math.max(high, base.high[to]!);
      low = Math.min(low, base.low[to]!);
      volume += Math.round(base.volume[to]! * power);
    }
    const at = folded.count++;
    folded.keyMs[at] = cell;
    folded.open[at] = base.open[from]!;
    folded.high[at] = high;
    folded.low[at] = low;
    folded.close[at] = base.close[to - 1]!;
    folded.volume[at] = volume < MANTISSA_LIMIT ? volume / power : exactSum(base.volume, from, to);
    folded.vwap[at] = weightedVwap(base, from, to, folded.volume[at]!);
    from = to;
  }
  return folded;
}
