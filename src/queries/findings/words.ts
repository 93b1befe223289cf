// Numbers in messages.
import { plainDecimal } from '../../base/decimal.ts';

/** A share as percent: `12.3 %`. */
export const percent = (share: number): string => `${rounded(share * 100)} %`;

/** A number with at most four significant digits. */
export const rounded = (value: number): string => plainDecimal(Number(value.toPrecision(4)));

/** `1 session`, `3 sessions`. */
export const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
