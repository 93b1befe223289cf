// What is usual around a bar: medians of windows.
import { thresholds } from './thresholds.ts';

/**
 * The indexes `[from, to)` of up to `size` of `count` items: as many before one as after it, where there are
 * so many.
 */
export function windowAround(
  count: number,
  at: number,
  size: number,
): { readonly from: number; readonly to: number } {
  const from = Math.max(0, Math.min(at - Math.floor(size / 2), count - size));
  return { from, to: Math.min(count, from + size) };
}

/** The median; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The values around a bar of those that are numbers; null where they are too few to say what is usual. */
export function valuesAround(
  count: number,
  at: number,
  valueAt: (index: number) => number,
): readonly number[] | null {
  const { from, to } = windowAround(count, at, thresholds.windowBars);
  const values: number[] = [];
  for (let index = from; index < to; index++) {
    const value = valueAt(index);
    if (Number.isFinite(value)) values.push(value);
  }
  return values.length < thresholds.windowBarsMin ? null : values;
}
