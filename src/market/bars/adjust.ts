// The factors by which dividends and splits adjust earlier prices, computed in exact decimals, and bars
// multiplied by them (contract 8.2, 9.4).
import { type Fraction, fractionOf, multiplierBy, productOf } from '../../base/decimal.ts';
import type { Bars } from './columns.ts';
import type { TimedBars } from './grid.ts';

/** The change of an ex-date to the bars of the sessions before it. */
export type Change = {
  /** The ex-date. */
  readonly day: number;
  readonly price: Fraction;
  /** New shares for one old share. */
  readonly volume: Fraction;
};

const priceColumns = ['open', 'high', 'low', 'close', 'vwap'] as const;

/** The combined changes of an instrument, made from single ones in order of ex-date. */
export class Adjustment {
  /** For each ex-date the product of its change and all later ones. */
  readonly #eras: readonly Change[];

  constructor(changes: readonly Change[]) {
    let price: Fraction = { part: 1n, whole: 1n };
    let volume = price;
    const eras = changes.toReversed().map((change): Change => {
      price = productOf(price, change.price);
      volume = productOf(volume, change.volume);
      return { day: change.day, price, volume };
    });
    this.#eras = eras.reverse();
  }

  /**
   * The first ex-date after `firstDay` and not after `lastDay`, label dates of sessions; null without one.
   */
  exDayBetween(firstDay: number, lastDay: number): number | null {
    return this.#eras.find(({ day }) => firstDay < day && day <= lastDay)?.day ?? null;
  }

  /** Adjusts bars in place, ascending. A volume that was adjusted for splits before the import stays. */
  apply({ bars, day: days, splitVolume }: TimedBars): void {
    let from = 0;
    for (const era of this.#eras) {
      let to = from;
      while (to < bars.count && days[to]! < era.day) to++;
      if (to > from) multiply(bars, from, to, era, splitVolume);
      from = to;
    }
  }
}

function multiply(
  bars: Bars,
  from: number,
  to: number,
  { price, volume }: Change,
  splitVolume: Uint8Array | undefined,
): void {
  const [byPrice, byVolume] = [multiplierBy(price), multiplierBy(volume)];
  for (let row = from; row < to; row++) {
    for (const column of priceColumns) bars[column][row] = byPrice(bars[column][row]!);
    if (splitVolume?.[row] !== 1) bars.volume[row] = byVolume(bars.volume[row]!);
  }
}

/** Decimals of a factor's text. */
export const FACTOR_DECIMALS = 8;

/** The factor that changes nothing, for actions whose factor cannot be computed. */
export const NO_FACTOR: Fraction = { part: 1n, whole: 1n };

/**
 * The factor of a cash dividend: `1 - cash x scale / referencePrice`, where the reference price is the raw
 * close before the ex-date, and the scale brings the cash into its unit. All are positive. Null where the
 * dividend is at least that close.
 */
export function dividendFactor(cash: number, referencePrice: number, scale = 1): Fraction | null {
  const share = fractionOf(cash, referencePrice);
  const { part: paid, whole: price } = scale === 1 ? share : productOf(share, fractionOf(scale, 1));
  return paid >= price ? null : { part: price - paid, whole: price };
}

/** `dividend / divisor` as text of so many decimals, at least one, half rounded up; neither is negative. */
function quotientText(dividend: bigint, divisor: bigint, decimals: number): string {
  const scaled = (2n * dividend * 10n ** BigInt(decimals) + divisor) / (2n * divisor);
  const digits = String(scaled).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** A factor as text of 8 decimals, half rounded up. */
export const factorText = ({ part, whole }: Fraction): string => quotientText(part, whole, FACTOR_DECIMALS);
