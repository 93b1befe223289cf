// The shape of bars in memory: parallel typed arrays, never an array of objects.

/** The value columns of a bar, in the order of the block. */
export const valueColumns = ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const;

/** The name of a value column. */
export type ValueColumn = (typeof valueColumns)[number];

/**
 * Bars in ascending order of key. All arrays have at least `count` elements. `keyMs` is the open instant of a
 * minute bar, or the midnight (UTC) of the label date of a DAY bar, of the Monday of a WEEK, of the first of
 * a MON. NaN in `volume` or `vwap` is null.
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
  copyBars(target, target.count, source, from, to);
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
  copyBars(target, at, source, from, from + 1);
}

/**
 * Copies the bars `from` to `to` of `source` to the place `at` of `target`. Columns by their names take ten
 * times as long.
 */
function copyBars(target: Bars, at: number, source: Bars, from: number, to: number): void {
  copyRun(target.keyMs, at, source.keyMs, from, to);
  copyRun(target.open, at, source.open, from, to);
  copyRun(target.high, at, source.high, from, to);
  copyRun(target.low, at, source.low, from, to);
  copyRun(target.close, at, source.close, from, to);
  copyRun(target.volume, at, source.volume, from, to);
  copyRun(target.vwap, at, source.vwap, from, to);
}

/** Runs shorter than this are copied faster one by one. */
const SHORT_RUN = 32;

/** Copies the numbers `from` to `to` of `source` to the place `at` of `target`. */
export function copyRun(
  target: Float64Array,
  at: number,
  source: Float64Array,
  from: number,
  to: number,
): void {
  if (to - from > SHORT_RUN) target.set(source.subarray(from, to), at);
  else for (let index = from; index < to; index++) target[at + index - from] = source[index]!;
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

/** The bars that `holds` is true for, by index: copies. It is asked once for each, in order. */
export function filterBars(bars: Bars, holds: (index: number) => boolean): Bars {
  const kept = emptyBars();
  for (let from = 0, to = 0; from < bars.count; from = to + 1) {
    for (to = from; to < bars.count && holds(to); ) to++;
    if (to === from) continue;
    reserve(kept, kept.count + bars.count - from);
    appendBars(kept, bars, from, to);
  }
  return kept;
}

/** True if two bars hold the same values, null being equal to null. */
export function sameBar(a: Bars, i: number, b: Bars, j: number): boolean {
  return (
    Object.is(a.open[i], b.open[j]) &&
    Object.is(a.high[i], b.high[j]) &&
    Object.is(a.low[i], b.low[j]) &&
    Object.is(a.close[i], b.close[j]) &&
    Object.is(a.volume[i], b.volume[j]) &&
    Object.is(a.vwap[i], b.vwap[j])
  );
}

/** Merges bars by key; where both have a key, `newer` wins. */
export function mergeBars(older: Bars, newer: Bars): Bars {
  const merged = emptyBars(older.count + newer.count);
  let i = 0;
  let j = 0;
  while (i < older.count && j < newer.count) {
    const from = i;
    while (i < older.count && older.keyMs[i]! < newer.keyMs[j]!) i++;
    appendBars(merged, older, from, i);
    const start = j;
    const nextMs = i < older.count ? older.keyMs[i]! : Number.POSITIVE_INFINITY;
    while (j < newer.count && newer.keyMs[j]! <= nextMs) j++;
    appendBars(merged, newer, start, j);
    if (j > start && newer.keyMs[j - 1] === nextMs) i++;
  }
  appendBars(merged, older, i);
  appendBars(merged, newer, j);
  return merged;
}
