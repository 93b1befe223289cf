// Digits of numbers and dates as bytes, four at a time from tables; and one column of numbers as decimal
// text: scaled to integers together, then written row by row.
import { MANTISSA_LIMIT, POWERS_OF_TEN, plainDecimal } from '../../base/decimal.ts';
import { dateOf } from '../../base/instant.ts';
import { Constant } from './sink.ts';

const encoder = new TextEncoder();
const POINT = 46;
const GROUP = 10_000;
const TWO_GROUPS = GROUP * GROUP;

/** Digits of a group. */
const GROUP_DIGITS = 4;

/** The most groups of decimals that `writeFraction` writes. */
const FRACTION_GROUPS_MAX = 3;

function groupWords(textOf: (group: number) => string): Int32Array {
  const text = Array.from({ length: GROUP }, (_, group) => textOf(group)).join('');
  return new Int32Array(encoder.encode(text).buffer);
}

/**
 * Four digits of every number below 10,000 as one word: with zeros in front, and without (then followed by
 * zeros).
 */
const paddedGroups = groupWords((group) => String(group).padStart(GROUP_DIGITS, '0'));
const leadingGroups = groupWords((group) => String(group).padEnd(GROUP_DIGITS, '0'));

/** How many of such a number's four digits are left without trailing zeros. */
const significant = Uint8Array.from(
  { length: GROUP },
  (_, group) =>
    String(group)
      .padStart(GROUP_DIGITS, '0')
      .replace(/(?<!0)0+$/, '').length,
);

/** Digits of a number below 10,000. */
const groupDigits = (group: number): number => (group < 100 ? (group < 10 ? 1 : 2) : group < 1000 ? 3 : 4);

/** Writes a whole number from 0 to below 10^15; the place after it. Up to three bytes more are written. */
function writeWhole(view: DataView, at: number, value: number): number {
  if (value < TWO_GROUPS) return writeSmall(view, at, value | 0);
  const high = Math.floor(value / TWO_GROUPS);
  const low = (value - high * TWO_GROUPS) | 0;
  const middle = (low / GROUP) | 0;
  const end = writeSmall(view, at, high | 0);
  view.setInt32(end, paddedGroups[middle]!, true);
  view.setInt32(end + GROUP_DIGITS, paddedGroups[low - middle * GROUP]!, true);
  return end + 2 * GROUP_DIGITS;
}

/** The same for a number below 2^31. */
function writeSmall(view: DataView, at: number, value: number): number {
  if (value < GROUP) {
    view.setInt32(at, leadingGroups[value]!, true);
    return at + groupDigits(value);
  }
  const high = (value / GROUP) | 0;
  const end = writeSmall(view, at, high);
  view.setInt32(end, paddedGroups[value - high * GROUP]!, true);
  return end + GROUP_DIGITS;
}

/**
 * Writes a point and decimals without trailing zeros, at least one: `digits` over 10^(4 x groups), which is
 * not 0; the place after them.
 */
function writeFraction(view: DataView, at: number, digits: number, groups: number): number {
  view.setInt8(at, POINT);
  if (groups <= 2) return writeSmallFraction(view, at, digits | 0, groups);
  const high = Math.floor(digits / TWO_GROUPS);
  const low = (digits - high * TWO_GROUPS) | 0;
  if (low === 0) return writeLast(view, at + 1, high | 0);
  view.setInt32(at + 1, paddedGroups[high]!, true);
  return writeLastTwo(view, at + 1 + GROUP_DIGITS, low);
}

/** The same for at most two groups. */
function writeSmallFraction(view: DataView, at: number, digits: number, groups: number): number {
  view.setInt8(at, POINT);
  return groups === 1 ? writeLast(view, at + 1, digits) : writeLastTwo(view, at + 1, digits);
}

function writeLast(view: DataView, at: number, group: number): number {
  view.setInt32(at, paddedGroups[group]!, true);
  return at + significant[group]!;
}

function writeLastTwo(view: DataView, at: number, digits: number): number {
  const high = (digits / GROUP) | 0;
  const low = digits - high * GROUP;
  if (low === 0) return writeLast(view, at, high);
  view.setInt32(at, paddedGroups[high]!, true);
  return writeLast(view, at + GROUP_DIGITS, low);
}

/** Two digits of every number below 100, in the order of bytes of `setInt16`. */
const pairs = new Int16Array(
  encoder.encode(Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0')).join('')).buffer,
);

/** Writes two digits. */
export function writePair(view: DataView, at: number, value: number): void {
  view.setInt16(at, pairs[value]!, true);
}

/** Writes the digits of a date over `YYYY-MM-DD`. */
export function writeDate(view: DataView, at: number, day: number): void {
  const { year, month, day: ofMonth } = dateOf(day);
  view.setInt32(at, paddedGroups[year]!, true);
  writePair(view, at + 5, month);
  writePair(view, at + 8, ofMonth);
}

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
