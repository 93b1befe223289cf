// Doubles as the decimals they were written as: scale, digits and exact sums, up to 15 significant digits (contract 3.12).

/** Powers of ten 10^0 .. 10^15: each an exact double. */
export const POWERS_OF_TEN: readonly number[] = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** The most decimals that a scaled integer may carry. */
export const DECIMALS_MAX = 15;

/** Scaled integers stay below this, so that they have at most 15 digits and scaling them back is exact. */
export const MANTISSA_LIMIT = 1e15;

/** Whether `value` is exactly an integer of at most 15 digits divided by 10^decimals. -0 is not: its sign would be lost. */
export function isScaled(value: number, decimals: number): boolean {
  const power = POWERS_OF_TEN[decimals]!;
  const mantissa = Math.round(value * power);
  return (
    mantissa / power === value &&
    mantissa < MANTISSA_LIMIT &&
    mantissa > -MANTISSA_LIMIT &&
    (mantissa !== 0 || !Object.is(value, -0))
  );
}

/**
 * The fewest decimals at which every value of the column is a scaled integer of at most 15 digits; NaN (null) is passed
 * over. -1 when there is none: such a column holds doubles that no short decimal writes.
 */
export function decimalsOf(values: Float64Array, count: number): number {
  let decimals = 0;
  // A value that fits a scale need not fit a finer one: it may have too many digits then.
  for (let index = 0; index < count; index++) {
    if (Number.isNaN(values[index]!) || isScaled(values[index]!, decimals)) continue;
    if (++decimals > DECIMALS_MAX) return -1;
    index = -1;
  }
  return decimals;
}

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

/** The sum of decimals without any rounding in between: of the values `from` (included) to `to` (not) of a column. NaN if one is. */
export function exactSum(values: Float64Array, from: number, to: number): number {
  for (let index = from; index < to; index++) if (!Number.isFinite(values[index]!)) return Number.NaN;
  const { integers, decimals } = toIntegers(values.subarray(from, to));
  let total = 0n;
  for (const integer of integers) total += integer;
  return Number(`${total}e-${decimals}`);
}

/** Finite decimals as integers over one power of ten: `integers[i] / 10^decimals`, exactly. */
export function toIntegers(values: Iterable<number>): {
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

/** `dividend / divisor` as text of so many decimals, at least one, half rounded up; neither is negative. */
export function quotientText(dividend: bigint, divisor: bigint, decimals: number): string {
  const scaled = (2n * dividend * 10n ** BigInt(decimals) + divisor) / (2n * divisor);
  const digits = String(scaled).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
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

/** `to - from` without any rounding in between. Infinite where no double is as large. */
export function exactDifference(from: number, to: number): number {
  return exactSum(Float64Array.of(to, -from), 0, 2);
}

/**
 * `(to - from) / |from| x 100`, rounded once, halves away from zero, to so many decimals. NaN where `from` is 0, infinite
 * where no double is as large.
 */
export function exactPercentChange(from: number, to: number, decimals: number): number {
  const [start, end] = toIntegers([from, to]).integers as [bigint, bigint];
  if (start === 0n) return Number.NaN;
  const percents = (end - start) * 100n * 10n ** BigInt(decimals);
  return Number(`${roundedQuotient(percents, start < 0n ? -start : start)}e-${decimals}`);
}
