// Base bars -> bars: first open, last close, extremes, exact volume, weighted vwap (contract 3.8).
import { DecimalSum } from '../../base/decimal.ts';
import type { CellBars } from './cells.ts';
import { type Bars, copyBar, emptyBars, reserve } from './columns.ts';

/** A derived vwap has so many decimals, below 1 so many significant digits (contract 3.8). */
const VWAP_DECIMALS = 10;
const SMALL_VWAP_DIGITS = 15;

function roundVwap(value: number): number {
  if (value < 1) return Number(value.toPrecision(SMALL_VWAP_DIGITS));
  const scaled = value * 1e10;
  if (scaled < Number.MAX_SAFE_INTEGER) return Math.round(scaled) / 1e10;
  return Number(value.toFixed(VWAP_DECIMALS));
}

/**
 * Makes bars of base bars, cell by cell: those of a cell are added one range after the other, in ascending
 * order.
 */
export class Fold {
  #bars = emptyBars();
  /**
   * About how many bars are made until the next `take`: as many as until the last one. To make arrays takes
   * as long as some bars.
   */
  #expected: number;
  #isOpen = false;
  #cellMs = 0;
  /** True once a base bar of the open cell makes a bar of it. */
  #makes = false;
  readonly #volume = new DecimalSum();
  /** The sum of `vwap x volume`, and what its roundings lost (Neumaier). */
  #worth = 0;
  #lost = 0;

  constructor(expected = 1) {
    this.#expected = expected;
  }

  /**
   * Adds the base bars `from` (included) to `to` (not) to the cell with a key. Another cell than before ends
   * that one. Where none of its base bars `makes` a bar, the cell has none.
   */
  add(base: Bars, from: number, to: number, cellMs: number, makes = 1): void {
    if (!this.#isOpen || cellMs !== this.#cellMs) this.#begin(base, from, cellMs);
    if (makes === 1) this.#makes = true;
    const { high, low } = base;
    const bars = this.#bars;
    const at = bars.count;
    let highest = bars.high[at]!;
    let lowest = bars.low[at]!;
    for (let index = from; index < to; index++) {
      if (high[index]! > highest) highest = high[index]!;
      if (low[index]! < lowest) lowest = low[index]!;
    }
    bars.high[at] = highest;
    bars.low[at] = lowest;
    bars.close[at] = base.close[to - 1]!;
    this.#volume.add(base.volume, from, to);
    this.#addWorth(base, from, to);
  }

  #begin(base: Bars, from: number, cellMs: number): void {
    this.end();
    this.#isOpen = true;
    this.#cellMs = cellMs;
    this.#makes = false;
    this.#volume.clear();
    this.#worth = 0;
    this.#lost = 0;
    const bars = this.#bars;
    const at = bars.count;
    this.#makeRoom(at + 1);
    bars.keyMs[at] = cellMs;
    bars.open[at] = base.open[from]!;
    bars.high[at] = base.high[from]!;
    bars.low[at] = base.low[from]!;
  }

  #makeRoom(count: number): void {
    if (count > this.#bars.keyMs.length) reserve(this.#bars, Math.max(count, this.#expected));
  }

  #addWorth({ vwap, volume }: Bars, from: number, to: number): void {
    let sum = this.#worth;
    let lost = this.#lost;
    for (let index = from; index < to; index++) {
      const weight = volume[index]!;
      if (weight === 0) continue;
      const term = vwap[index]! * weight;
      const next = sum + term;
      lost += Math.abs(sum) >= Math.abs(term) ? sum - next + term : term - next + sum;
      sum = next;
    }
    this.#worth = sum;
    this.#lost = lost;
  }

  /** Ends the last cell: what is added next is of another one. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (!this.#makes) return;
    const bars = this.#bars;
    const at = bars.count++;
    const volume = this.#volume.value;
    bars.volume[at] = volume;
    // Null without volume, and where a bar with volume has no vwap.
    bars.vwap[at] = roundVwap((this.#worth + this.#lost) / volume);
  }

  /** How many cells have ended since `take`. */
  get count(): number {
    return this.#bars.count;
  }

  /** The bars of the cells that have ended. The last cell stays open. */
  take(): Bars {
    const taken = this.#bars;
    const { count } = taken;
    this.#bars = emptyBars();
    this.#expected = count;
    if (this.#isOpen) {
      this.#makeRoom(1);
      copyBar(this.#bars, 0, taken, count);
    }
    return taken;
  }
}

/** Makes one bar of the base bars of each cell. A null volume among them makes the sum null. */
export function resample({ bars, ranges }: CellBars): Bars {
  const fold = new Fold(ranges.count);
  for (let range = 0; range < ranges.count; range++)
    fold.add(bars, ranges.from[range]!, ranges.to[range]!, ranges.cellMs[range]!, ranges.makes[range]!);
  fold.end();
  return fold.take();
}
