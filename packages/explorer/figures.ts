// Numbers as people read them.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 });

/** A number with all its digits, such as `1,172.59`; a dash for null. */
export const numberText = (value: number | string | null | undefined): string =>
  value === null || value === undefined ? '–' : typeof value === 'number' ? exact.format(value) : value;

/** A count, such as `16,001`. */
export const countText = (value: number): string => whole.format(value);

const formats = new Map<number, Intl.NumberFormat>();

/** A price with so many digits after its point. */
export function priceText(value: number, digits: number): string {
  let format = formats.get(digits);
  if (format === undefined) {
    format = new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formats.set(digits, format);
  }
  return format.format(value);
}

/** Digits after the decimal point of a number as it is written, `2e-11` too. */
function decimalsOf(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e-');
  return (digits.split('.')[1]?.length ?? 0) + Number(exponent);
}

/**
 * The most digits that a vendor writes after the decimal point of a price: those of more are computed, or of
 * coins worth next to nothing.
 */
const WRITTEN_MAX = 8;

/**
 * Digits after the decimal point that prices need, at least 2; of those with very many, the first six digits
 * of the largest.
 */
export function digitsOf(prices: readonly number[]): number {
  const needed = Math.max(2, ...prices.map(decimalsOf));
  if (needed <= WRITTEN_MAX) return needed;
  return Math.max(2, 5 - Math.floor(Math.log10(Math.max(...prices.map(Math.abs)))));
}

/** `+1.25 %`. */
export const changeText = (from: number, to: number): string => {
  const part = ((to - from) / from) * 100;
  return `${part < 0 ? '−' : '+'}${Math.abs(part).toFixed(2)} %`;
};
