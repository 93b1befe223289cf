// The shape of bars in memory: parallel typed arrays, never an array of objects.

/** The value columns of a bar, in the order of the block. */
export const valueColumns = ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const;

/**
 * Bars in ascending order of key. All arrays have at least `count` elements. `keyMs` is the open instant of a minute bar,
 * or the midnight (UTC) of the label date of a DAY bar, of the Monday of a WEEK, of the first of a MON. NaN in `volume` or
 * `vwap` is null.
 */
export type Bars = {
  count: number;
  keyMs: Float64Array;
  open: Float64Array;
  high: Float64Array;
  low: Float64Array;
  close: Float64Array;
  volume: Float64Array;
  vwap: Float64Array;
};

const noValues = new Float64Array(0);

/** No bars, with capacity for some: seven columns of one buffer. */
export function emptyBars(capacity = 0): Bars {
  const buffer = capacity === 0 ? null : new ArrayBuffer(capacity * 7 * 8);
  const column = (index: number): Float64Array =>
    buffer === null ? noValues : new Float64Array(buffer, index * capacity * 8, capacity);
  return {
    count: 0,
    keyMs: column(0),
    open: column(1),
    high: column(2),
    low: column(3),
    close: column(4),
    volume: column(5),
    vwap: column(6),
  };
}

/** The columns of bars: the key and the values. */
export const columns = ['keyMs', ...valueColumns] as const;

/** The bars `from` (included) to `to` (not): views, not copies. */
export function sliceBars(bars: Bars, from: number, to: number): Bars {
  const sliced: Bars = { ...bars, count: Math.max(to - from, 0) };
  for (const column of columns) sliced[column] = bars[column].subarray(from, Math.max(from, to));
  return sliced;
}

/** Appends the bars `from` to `to` of `source`, growing the arrays where they are full. */
export function appendBars(target: Bars, source: Bars, from = 0, to = source.count): void {
  const needed = target.count + to - from;
  reserve(target, needed);
  for (const column of columns) target[column].set(source[column].subarray(from, to), target.count);
  target.count = needed;
}

/** Grows the arrays to at least `capacity` bars. */
export function reserve(bars: Bars, capacity: number): void {
  if (bars.keyMs.length >= capacity) return;
  const grown = emptyBars(Math.max(capacity, bars.keyMs.length * 2, 16));
  for (const column of columns) {
    if (bars.count > 0) grown[column].set(bars[column].subarray(0, bars.count));
    bars[column] = grown[column];
  }
}

/** Copies one bar from `source` to the place `at` of `target`. */
export function copyBar(target: Bars, at: number, source: Bars, from: number): void {
  for (const column of columns) target[column][at] = source[column][from]!;
}

/** Joins bars, in the order given. Where only one part has bars, it is that part. */
export function concatBars(parts: readonly Bars[]): Bars {
  const full = parts.filter(({ count }) => count > 0);
  if (full.length === 1) return full[0]!;
  const joined = emptyBars(full.reduce((sum, part) => sum + part.count, 0));
  for (const part of full) appendBars(joined, part);
  return joined;
}

/** Index of the first bar whose key is at least `keyMs`. */
export function lowerBound(bars: Bars, keyMs: number): number {
  let low = 0;
  let high = bars.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bars.keyMs[middle]! < keyMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the bar with a key, or -1. */
export function indexOfKey(bars: Bars, keyMs: number): number {
  const at = lowerBound(bars, keyMs);
  return at < bars.count && bars.keyMs[at] === keyMs ? at : -1;
}

/** The bars that `holds` is true for, by index: copies. */
export function filterBars(bars: Bars, holds: (index: number) => boolean): Bars {
  const kept = emptyBars();
  for (let index = 0; index < bars.count; index++) {
    if (!holds(index)) continue;
    reserve(kept, kept.count + bars.count - index);
    copyBar(kept, kept.count++, bars, index);
  }
  return kept;
}

/** Whether two bars hold the same values, null being equal to null. */
export function sameBar(a: Bars, i: number, b: Bars, j: number): boolean {
  return valueColumns.every((column) => Object.is(a[column][i], b[column][j]));
}

/** Merges bars by key; where both have a key, `newer` wins. */
export function mergeBars(older: Bars, newer: Bars): Bars {
  const merged = emptyBars(older.count + newer.count);
  let i = 0;
  let j = 0;
  let count = 0;
  while (i < older.count || j < newer.count) {
    const left = i < older.count ? older.keyMs[i]! : Number.POSITIVE_INFINITY;
    const right = j < newer.count ? newer.keyMs[j]! : Number.POSITIVE_INFINITY;
    if (left < right) copyBar(merged, count++, older, i++);
    else {
      if (left === right) i++;
      copyBar(merged, count++, newer, j++);
    }
  }
  merged.count = count;
  return merged;
}
