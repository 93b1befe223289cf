// One column of numbers as decimal text: scaled to integers together, then written row by row.
import { MANTISSA_LIMIT, POWERS_OF_TEN, plainDecimal } from '../../base/decimal.ts';
import {
  FRACTION_GROUPS_MAX,
  GROUP_DIGITS,
  writeFraction,
  writeSmall,
  writeSmallFraction,
  writeWhole,
} from './digits.ts';
import { Constant } from './sink.ts';

/**
 * The most decimals of numbers that are written from small integers, and of others that are written from
 * integers.
 */
const SMALL_DECIMALS_MAX = 2 * GROUP_DIGITS;
const SCALED_DECIMALS_MAX = FRACTION_GROUPS_MAX * GROUP_DIGITS;

/** The most bytes of a decimal: 308 digits before the point or 324 after it, a sign and two more. */
const DECIMAL_BYTES_MAX = 330;

/** Stands for a number that is no small integer over the power of its column. */
const OTHER = -1;

/** A number times a power of ten as an integer from 0 to below 2^31; another integer where it is none. */
const smallInteger = (value: number, power: number): number => (value * power + 0.5) | 0;

/** How many decimals make a small integer of a number, from more than `least` on; undefined where none do. */
function smallDecimalsOf(value: number, least: number): number | undefined {
  const finest = POWERS_OF_TEN[SMALL_DECIMALS_MAX]!;
  if (Math.round(value * finest) / finest !== value) return undefined;
  for (let decimals = least + 1; decimals <= SMALL_DECIMALS_MAX; decimals++) {
    const power = POWERS_OF_TEN[decimals]!;
    if (smallInteger(value, power) / power === value) return decimals;
  }
  return undefined;
}

/**
 * How many decimals make an integer of at most 15 digits of a number; undefined where none do. `hint` is
 * tried first.
 */
function decimalsOf(value: number, hint: number): number | undefined {
  for (const start of [hint, 0])
    for (let decimals = start; decimals <= SCALED_DECIMALS_MAX; decimals++) {
      const power = POWERS_OF_TEN[decimals]!;
      const integer = Math.round(value * power);
      if (Math.abs(integer) >= MANTISSA_LIMIT) break;
      if (integer / power === value) return decimals;
    }
  return undefined;
}

/**
 * A field of numbers in rows: the text before each, and what is written for null. A column is used for one
 * answer after the other.
 */
export class NumberColumn {
  readonly #before: Constant;
  readonly #none: Constant;
  #values: Float64Array = new Float64Array(0);
  /** The values times `#power`. */
  #integers = new Int32Array(0);
  #power = 1;
  #groups = 0;
  /** Turns decimals over `#power` into whole groups of digits. */
  #toGroups = 1;
  /** The decimals of the last number that is no small integer. */
  #otherDecimals = 0;

  constructor(before: string, none: string) {
    this.#before = new Constant(before);
    this.#none = new Constant(none);
  }

  /** The most bytes of one number with the text before it. */
  get bytesMax(): number {
    return this.#before.length + DECIMAL_BYTES_MAX;
  }

  /** Takes the first `count` values, finite or NaN for null, for `write`. */
  begin(values: Float64Array, count: number): void {
    this.#values = values;
    if (this.#integers.length < count) this.#integers = new Int32Array(count);
    let decimals = 0;
    for (let more = this.#scale(count, 0); more > decimals; more = this.#scale(count, more)) decimals = more;
    this.#groups = Math.ceil(decimals / GROUP_DIGITS);
    this.#power = POWERS_OF_TEN[decimals]!;
    this.#toGroups = POWERS_OF_TEN[this.#groups * GROUP_DIGITS - decimals]!;
  }

  /** Scales the values by so many decimals; returns more where a value needs them. */
  #scale(count: number, decimals: number): number {
    const [values, integers, power] = [this.#values, this.#integers, POWERS_OF_TEN[decimals]!];
    for (let row = 0; row < count; row++) {
      const value = values[row]!;
      const integer = smallInteger(value, power);
      integers[row] = integer;
      if (integer / power === value) continue;
      integers[row] = OTHER;
      const needed = Number.isNaN(value) ? undefined : smallDecimalsOf(value, decimals);
      if (needed !== undefined) return needed;
    }
    return decimals;
  }

  /**
   * Writes the number of a row as the shortest plain decimal that reads back the same, after the text before
   * it; the place behind it. That is at most `bytesMax` bytes.
   */
  write(view: DataView, at: number, row: number): number {
    const from = this.#before.write(view, at);
    const integer = this.#integers[row]!;
    if (integer < 0) return this.#writeOther(view, from, this.#values[row]!);
    // A division of integers is slow; the value has its whole part already.
    const whole = this.#values[row]! | 0;
    const end = writeSmall(view, from, whole);
    const fraction = integer - Math.imul(whole, this.#power);
    if (fraction === 0) return end;
    return writeSmallFraction(view, end, Math.imul(fraction, this.#toGroups), this.#groups);
  }

  /** Writes a number that is negative, large, or no integer over a power of ten; or null. */
  #writeOther(view: DataView, at: number, value: number): number {
    if (Number.isNaN(value)) return this.#none.write(view, at);
    const decimals = decimalsOf(value, this.#otherDecimals);
    if (decimals === undefined) return writeAscii(view, at, plainDecimal(value));
    this.#otherDecimals = decimals;
    const power = POWERS_OF_TEN[decimals]!;
    const size = Math.abs(value);
    const whole = Math.floor(size);
    const end = writeWhole(view, value < 0 ? writeAscii(view, at, '-') : at, whole);
    const fraction = Math.round(size * power) - whole * power;
    if (fraction === 0) return end;
    const groups = Math.ceil(decimals / GROUP_DIGITS);
    return writeFraction(view, end, fraction * POWERS_OF_TEN[groups * GROUP_DIGITS - decimals]!, groups);
  }
}

function writeAscii(view: DataView, at: number, text: string): number {
  for (let index = 0; index < text.length; index++) view.setInt8(at + index, text.charCodeAt(index));
  return at + text.length;
}
