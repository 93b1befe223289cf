// Bars at the prices and in the shares of a later day: each times the factors of the ex-dates after it (contract 9.4).
import { type Fraction, multiplierBy } from '../base/decimal.ts';
import type { Bars } from './bars.ts';

/** What an ex-date does to the bars of the sessions before it. */
export type Change = {
  /** The ex-date. */
  readonly day: number;
  readonly price: Fraction;
  /** Shares of after for one of before. */
  readonly volume: Fraction;
};

/** The bars before one ex-date and not before the one ahead of it. */
type Era = {
  readonly endDay: number;
  readonly price: (value: number) => number;
  readonly volume: (value: number) => number;
};

const product = (a: Fraction, b: Fraction): Fraction => ({ part: a.part * b.part, whole: a.whole * b.whole });

const priceColumns = ['open', 'high', 'low', 'close', 'vwap'] as const;

/** The changes of an instrument, whose ex-dates ascend, one after the other. */
export class Adjustment {
  /** Ascending. */
  readonly #eras: readonly Era[];

  constructor(changes: readonly Change[]) {
    let price: Fraction = { part: 1n, whole: 1n };
    let volume = price;
    const eras = changes.toReversed().map((change): Era => {
      price = product(price, change.price);
      volume = product(volume, change.volume);
      return { endDay: change.day, price: multiplierBy(price), volume: multiplierBy(volume) };
    });
    this.#eras = eras.reverse();
  }

  /** An ex-date after the first of two label dates and not after the last: it parts their sessions. Null where none does. */
  parting(firstDay: number, lastDay: number): number | null {
    return this.#eras.find(({ endDay }) => firstDay < endDay && endDay <= lastDay)?.endDay ?? null;
  }

  /** Adjusts bars in place, by the label dates of their sessions. */
  apply(bars: Bars, days: Int32Array): void {
    for (let row = 0; row < bars.count; row++) {
      const era = this.#eras.find(({ endDay }) => days[row]! < endDay);
      if (era === undefined) continue;
      for (const column of priceColumns) bars[column][row] = era.price(bars[column][row]!);
      bars.volume[row] = era.volume(bars.volume[row]!);
    }
  }
}
