// Numbers as people read them.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 });

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 12 });

/** A number with all its digits, such as `1,172.59`; a dash for null. */
export const numberText = (value: number | string | null | undefined): string =>
  value === null || value === undefined ? '–' : typeof value === 'number' ? exact.format(value) : value;

/** A count, such as `16,001`. */
export const countText = (value: number): string => whole.format(value);

/** A volume, such as `54.89M`. */
export const volumeText = (value: number): string => compact.format(value);

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

/** Digits after the decimal point that prices need, from 2 to 8. */
export const digitsOf = (prices: readonly number[]): number =>
  Math.min(Math.max(2, ...prices.map((price) => String(price).split('.')[1]?.length ?? 0)), 8);

/** `+1.25 %`. */
export const changeText = (from: number, to: number): string => {
  const part = ((to - from) / from) * 100;
  return `${part < 0 ? '−' : '+'}${Math.abs(part).toFixed(2)} %`;
};
