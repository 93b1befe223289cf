// Parses the number in a cell.
import { POWERS_OF_TEN } from './decimal.ts';

const [MINUS, POINT, ZERO, NINE] = [0x2d, 0x2e, 0x30, 0x39];

/**
 * So many digits are exact as a whole number, and dividing that by a power of ten rounds once, as reading the
 * text does.
 */
const EXACT_DIGITS = 15;

const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/** A cell's number; null when the text is not a number. Empty and missing cells are NaN. */
export function numberOf(text: string | null): number | null {
  if (text === null || text === '') return Number.NaN;
  return NUMBER.test(text) ? Number(text) : null;
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
