// The rows of open blocks. While they ascend, they are in short segments of shared arrays: thousands of
// blocks grow at once without garbage.
import {
  type Bars,
  columns,
  copyRun,
  emptyBars,
  lowerBound,
  reserve,
  valueColumns,
} from '../../market/bars/columns.ts';

/** Bars of one segment: its columns follow each other. */
const SEGMENT_BARS = 32;
const SEGMENT_NUMBERS = SEGMENT_BARS * columns.length;

/** Segments that are made at a time: at first those of a small file, at most a MiB or two. */
const SEGMENTS_MIN = 16;
const SEGMENTS_MAX = 1024;

/** Segments that no block uses. */
export class Segments {
  readonly #free: Float64Array[] = [];
  #count = SEGMENTS_MIN;

  take(): Float64Array {
    if (this.#free.length === 0) this.#make();
    return this.#free.pop()!;
  }

  give(segments: readonly Float64Array[]): void {
    for (const segment of segments) this.#free.push(segment);
  }

  #make(): void {
    const all = new Float64Array(this.#count * SEGMENT_NUMBERS);
    for (let at = all.length; at > 0; at -= SEGMENT_NUMBERS)
      this.#free.push(all.subarray(at - SEGMENT_NUMBERS, at));
    this.#count = Math.min(2 * this.#count, SEGMENTS_MAX);
  }
}

/** The rows of one block, ascending. */
export class OpenRows {
  readonly #shared: Segments;
  #segments: Float64Array[] = [];
  #count = 0;
  #lastMs = Number.NEGATIVE_INFINITY;
  /** All rows, once one was inserted among them. */
  #bars: Bars | null;

  /** `bars` are the rows that it has at first, null for none. */
  constructor(shared: Segments, bars: Bars | null) {
    this.#shared = shared;
    this.#bars = bars;
  }

  /**
   * Appends the rows `from` to `to` of value columns, whose keys ascend. False, and nothing appended, where
   * it has later rows.
   */
  append(keys: Float64Array, values: readonly Float64Array[], from: number, to: number): boolean {
    if (this.#bars !== null) return appendRun(this.#bars, keys, values, from, to);
    if (keys[from]! <= this.#lastMs) return false;
    for (let row = from; row < to; ) {
      const at = this.#count % SEGMENT_BARS;
      if (at === 0) this.#segments.push(this.#shared.take());
      const segment = this.#segments[this.#segments.length - 1]!;
      const end = Math.min(to, row + SEGMENT_BARS - at);
      copyRun(segment, at, keys, row, end);
      for (let column = 0; column < values.length; column++)
        copyRun(segment, (column + 1) * SEGMENT_BARS + at, values[column]!, row, end);
      this.#count += end - row;
      row = end;
    }
    this.#lastMs = keys[to - 1]!;
    return true;
  }

  /** Inserts a row. False, and nothing inserted, where the key is there with other values. */
  insert(keyMs: number, values: readonly Float64Array[], row: number): boolean {
    this.#bars ??= this.take(emptyBars());
    const bars = this.#bars;
    const at = lowerBound(bars, keyMs);
    if (at < bars.count && bars.keyMs[at] === keyMs)
      return valueColumns.every((column, index) => Object.is(bars[column][at], values[index]![row]));
    reserve(bars, bars.count + 1);
    for (const column of columns) bars[column].copyWithin(at + 1, at, bars.count);
    bars.keyMs[at] = keyMs;
    for (const [index, column] of valueColumns.entries()) bars[column][at] = values[index]![row]!;
    bars.count++;
    return true;
  }

  /** All rows, in `into` where they were in segments: those are free again. */
  take(into: Bars): Bars {
    if (this.#bars !== null) return this.#bars;
    reserve(into, this.#count);
    for (const [place, column] of columns.entries()) {
      const target = into[column];
      for (let index = 0, at = 0; at < this.#count; index++, at += SEGMENT_BARS) {
        const from = place * SEGMENT_BARS;
        const count = Math.min(SEGMENT_BARS, this.#count - at);
        copyRun(target, at, this.#segments[index]!, from, from + count);
      }
    }
    into.count = this.#count;
    this.#shared.give(this.#segments);
    this.#segments = [];
    return into;
  }
}

/** Appends rows to bars. False, and nothing appended, where they have later ones. */
function appendRun(
  bars: Bars,
  keys: Float64Array,
  values: readonly Float64Array[],
  from: number,
  to: number,
): boolean {
  const at = bars.count;
  if (at > 0 && keys[from]! <= bars.keyMs[at - 1]!) return false;
  reserve(bars, at + to - from);
  copyRun(bars.keyMs, at, keys, from, to);
  for (const [column, name] of valueColumns.entries()) copyRun(bars[name], at, values[column]!, from, to);
  bars.count = at + to - from;
  return true;
}
