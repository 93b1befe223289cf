// The sum of many decimals without any rounding in between (contract 3.8).
import { DECIMALS_MAX, MANTISSA_LIMIT, POWERS_OF_TEN, toIntegers } from './decimal.ts';

/**
 * The sum of values as integers over a power of ten; NaN where one is null, negative or no such integer, or
 * the sum is too large.
 */
function scaledSum(values: Float64Array, from: number, to: number, power: number): number {
  let sum = 0;
  for (let index = from; index < to; index++) {
    const value = values[index]!;
    const scaled = Math.round(value * power);
    if ((power === 1 ? scaled : scaled / power) !== value || scaled < 0) return Number.NaN;
    sum += scaled;
  }
  return sum < MANTISSA_LIMIT ? sum : Number.NaN;
}

/** `total / 10^decimals` */
type Scaled = { readonly total: bigint; readonly decimals: number };

function plus(one: Scaled, other: Scaled): Scaled {
  const decimals = Math.max(one.decimals, other.decimals);
  const at = ({ total, decimals: own }: Scaled): bigint => total * 10n ** BigInt(decimals - own);
  return { total: at(one) + at(other), decimals };
}

/** An exact sum of decimals, to which ranges of columns are added. */
export class DecimalSum {
  /** A part of the sum: `#scaled / 10^#decimals`. */
  #scaled = 0;
  #decimals = 0;
  /** The other part, of values that are no scaled integers; null where there are none. */
  #large: Scaled | null = null;
  #isNull = false;

  /** Begins a new sum. */
  clear(): void {
    this.#scaled = 0;
    this.#decimals = 0;
    this.#large = null;
    this.#isNull = false;
  }

  /** Adds the values `from` (included) to `to` (not) of a column. */
  add(values: Float64Array, from: number, to: number): void {
    for (let decimals = this.#decimals; decimals <= DECIMALS_MAX; decimals++) {
      const more = scaledSum(values, from, to, POWERS_OF_TEN[decimals]!);
      const total = this.#scaled * POWERS_OF_TEN[decimals - this.#decimals]! + more;
      if (!(total < MANTISSA_LIMIT)) continue;
      this.#scaled = total;
      this.#decimals = decimals;
      return;
    }
    this.#addLarge(values.subarray(from, to));
  }

  #addLarge(values: Float64Array): void {
    this.#isNull ||= !values.every(Number.isFinite);
    if (this.#isNull) return;
    const { integers, decimals } = toIntegers(values);
    const more = integers.reduce((sum, integer) => sum + integer, 0n);
    const part = { total: more, decimals };
    this.#large = this.#large === null ? part : plus(this.#large, part);
  }

  /** The sum, rounded once; NaN if a value is not finite. */
  get value(): number {
    if (this.#isNull) return Number.NaN;
    if (this.#large === null) return this.#scaled / POWERS_OF_TEN[this.#decimals]!;
    const { total, decimals } = plus(this.#large, { total: BigInt(this.#scaled), decimals: this.#decimals });
    return Number(`${total}e-${decimals}`);
  }
}
