// Doubles as the decimals that they represent: scale and digits, up to 15 significant digits (contract 3.12).

/** Powers of ten 10^0 .. 10^15: each an exact double. */
export const POWERS_OF_TEN: readonly number[] = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** The most decimals that a scaled integer may carry. */
export const DECIMALS_MAX = 15;

/** Scaled integers stay below this, so that they have at most 15 digits and scaling them back is exact. */
export const MANTISSA_LIMIT = 1e15;

/** The plain decimal text of a finite double, shortest that reads back the same, without an exponent. */
export function plainDecimal(value: number): string {
  const text = String(value);
  const exponentAt = text.indexOf('e');
  if (exponentAt < 0) return text;
  const sign = value < 0 ? '-' : '';
  const [whole = '', fraction = ''] = text.slice(sign.length, exponentAt).split('.');
  const exponent = Number(text.slice(exponentAt + 1));
  const digits = whole + fraction;
  const pointAt = whole.length + exponent;
  if (pointAt <= 0) return `${sign}0.${'0'.repeat(-pointAt)}${digits}`;
  return `${sign}${digits.padEnd(pointAt, '0')}`;
}

/** Finite decimals as integers over one power of ten: `integers[i] / 10^decimals`, exactly. */
function toIntegers(values: Iterable<number>): {
  readonly integers: readonly bigint[];
  readonly decimals: number;
} {
  let decimals = 0;
  const texts = Array.from(values, plainDecimal);
  for (const text of texts) {
    const point = text.indexOf('.');
    if (point >= 0) decimals = Math.max(decimals, text.length - point - 1);
  }
  return { integers: texts.map((text) => toScaled(text, decimals)), decimals };
}

function toScaled(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Quotient of integers, halves away from zero; `divisor` is positive. */
function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const magnitude = dividend < 0n ? -dividend : dividend;
  const quotient = (2n * magnitude + divisor) / (2n * divisor);
  return dividend < 0n ? -quotient : quotient;
}

/** A positive rational number, exactly. */
export type Fraction = { readonly part: bigint; readonly whole: bigint };

/** The quotient of two positive decimals. */
export function fractionOf(part: number, whole: number): Fraction {
  const [dividend, divisor] = toIntegers([part, whole]).integers as [bigint, bigint];
  return { part: dividend, whole: divisor };
}

/** The simplest fraction of whole numbers between two bounds above 0: its part and its whole. */
export function simplestWithin(low: number, high: number): readonly [part: number, whole: number] {
  const least = Math.floor(low);
  if (least === low) return [least, 1];
  if (least + 1 <= high) return [least + 1, 1];
  const [whole, part] = simplestWithin(1 / (high - least), 1 / (low - least));
  return [least * whole + part, whole];
}

export const productOf = (a: Fraction, b: Fraction): Fraction => ({
  part: a.part * b.part,
  whole: a.whole * b.whole,
});

/** Decimals of a product, within the bounds of its significant digits. */
const PRODUCT_DECIMALS = 10;

/** The bounds of a product's significant digits; the lower one only for rounded products. */
const PRODUCT_DIGITS_MAX = 15;
const PRODUCT_DIGITS_MIN = 10;

const HEX_DIGITS_OF_DOUBLE = 12;

/** The decimal logarithm of a positive integer of any length. */
function log10Of(integer: bigint): number {
  const digits = integer.toString(16);
  const rest = Math.max(digits.length - HEX_DIGITS_OF_DOUBLE, 0);
  return Math.log10(Number.parseInt(digits.slice(0, HEX_DIGITS_OF_DOUBLE), 16)) + rest * Math.log10(16);
}

/**
 * Products, in units of their last decimal, that doubles give to within a hundredth; the errors of the
 * factors make half of it.
 */
const ROUGH_MIN = 1e9;
const ROUGH_MAX = 1e13;
const ROUGH_ERROR = 0.01;

/** A fraction as a double: exact to its last bit or two, where it is not tiny. */
const doubleOf = ({ part, whole }: Fraction): number => Number((part << 128n) / whole) / 2 ** 128;

/**
 * Multiplies decimals by a fraction, exactly, and rounds once, halves away from zero: to 10 decimals, but to
 * no more than 15 significant digits and to no fewer than 10. NaN where the product is no double.
 */
export function multiplierBy(fraction: Fraction): (value: number) => number {
  const exact = exactMultiplierBy(fraction);
  const factor = doubleOf(fraction);
  const isInteger = fraction.whole === 1n;
  return (value) => {
    const product = value * factor;
    if (isInteger && Number.isInteger(value) && Math.abs(product) < MANTISSA_LIMIT) return product;
    const rough = product * 10 ** PRODUCT_DECIMALS;
    const size = Math.abs(rough);
    const isSure = Math.abs(size - Math.floor(size) - 0.5) > ROUGH_ERROR;
    if (isSure && size > ROUGH_MIN && size < ROUGH_MAX) return Math.round(rough) / 10 ** PRODUCT_DECIMALS;
    return exact(value);
  };
}

function exactMultiplierBy({ part, whole }: Fraction): (value: number) => number {
  const shift = log10Of(part) - log10Of(whole);
  return (value) => {
    if (value === 0 || !Number.isFinite(value)) return value;
    const { integers, decimals } = toIntegers([value]);
    const dividend = integers[0]! * part;
    const divisor = whole * 10n ** BigInt(decimals);
    // At most the product's magnitude, so that the product has at most one digit too many.
    const magnitude = Math.floor(Math.log10(Math.abs(value)) + shift - 1e-9);
    const wanted = Math.max(PRODUCT_DECIMALS, PRODUCT_DIGITS_MIN - 1 - magnitude);
    const places = Math.min(wanted, PRODUCT_DIGITS_MAX - 1 - magnitude);
    const mantissa = scaledQuotient(dividend, divisor, places);
    const fits = mantissa < MANTISSA_LIMIT && mantissa > -MANTISSA_LIMIT;
    const product = fits
      ? decimalOf(mantissa, places)
      : decimalOf(scaledQuotient(dividend, divisor, places - 1), places - 1);
    return Number.isFinite(product) ? product : Number.NaN;
  };
}

/** `dividend / divisor` in units of 10^-places. */
function scaledQuotient(dividend: bigint, divisor: bigint, places: number): bigint {
  if (places < 0) return roundedQuotient(dividend, divisor * 10n ** BigInt(-places));
  return roundedQuotient(dividend * 10n ** BigInt(places), divisor);
}

/** The double nearest to `mantissa / 10^places`. */
function decimalOf(mantissa: bigint, places: number): number {
  const power = POWERS_OF_TEN[places];
  return power === undefined ? Number(`${mantissa}e${-places}`) : Number(mantissa) / power;
}

/** `to - from` without any rounding in between. Infinite where no double is as large. */
export function exactDifference(from: number, to: number): number {
  const { integers, decimals } = toIntegers([to, from]);
  return Number(`${integers[0]! - integers[1]!}e-${decimals}`);
}

/**
 * `(to - from) / |from| x 100`, rounded once, halves away from zero, to so many decimals. NaN where `from` is
 * 0, infinite where no double is as large.
 */
export function exactPercentChange(from: number, to: number, decimals: number): number {
  const [start, end] = toIntegers([from, to]).integers as [bigint, bigint];
  if (start === 0n) return Number.NaN;
  const percents = (end - start) * 100n * 10n ** BigInt(decimals);
  return Number(`${roundedQuotient(percents, start < 0n ? -start : start)}e-${decimals}`);
}

const [MINUS, POINT, ZERO, NINE] = [0x2d, 0x2e, 0x30, 0x39];

/**
 * So many digits are exact as a whole number, and dividing that by a power of ten rounds once, as reading the
 * text does.
 */
const EXACT_DIGITS = 15;

const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/**
 * A cell's number; null when the text is not a number. Empty and missing cells are NaN: `NA`, as R writes it,
 * is a symbol or a country elsewhere.
 */
export function numberOf(text: string | null): number | null {
  if (text === null || text === '' || text === 'NA') return Number.NaN;
  return NUMBER.test(text) ? Number(text) : null;
}

/** Texts that programs write for a missing value. `NAN` in capitals is a symbol of a stock. */
export const missingWords: ReadonlySet<string> = new Set([
  ...['NaN', 'nan', 'N/A', 'n/a', '#N/A', '<NA>', 'NaT'],
  ...['null', 'NULL', 'None', '-', '--'],
]);

/**
 * A cell without the blanks around it; empty where it stands for a missing value. A required one may be the
 * symbol `NULL`.
 */
export function cellText(text: string, isRequired = false): string {
  const trimmed = text.trim();
  return missingWords.has(trimmed) && !(isRequired && trimmed === 'NULL') ? '' : trimmed;
}

/**
 * The number of a cell of few digits, from its bytes: NaN where it is written in another way, or is none.
 * Much faster than by its text.
 */
export function plainNumber(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS;
  let [whole, digits, decimals] = [0, 0, -1];
  for (let at = isNegative ? start + 1 : start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= ZERO && byte <= NINE) {
      whole = whole * 10 + (byte - ZERO);
      digits++;
      if (decimals >= 0) decimals++;
    } else if (byte === POINT && decimals < 0) decimals = 0;
    else return Number.NaN;
  }
  if (digits === 0 || digits > EXACT_DIGITS) return Number.NaN;
  const value = decimals > 0 ? whole / POWERS_OF_TEN[decimals]! : whole;
  return isNegative ? -value : value;
}

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

/**
 * A sum of decimals without any rounding in between (contract 3.8), to which ranges of columns are added.
 */
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
