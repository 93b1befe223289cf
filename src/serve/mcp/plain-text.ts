// Texts of the data as an assistant gets them: visible characters on one line, and no more of them than fit.
import { cutToTokens } from './tokens.ts';

/**
 * A text without control characters and without those that show nothing (bidirectional overrides, zero-width
 * and tag characters): with them a text can hide instructions from the person who reads along. Every white
 * space is a space.
 */
export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cf}/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/** A visible text, cut where it has more tokens; it then ends by saying how many characters follow. */
export function shortened(text: string, tokensMax: number): string {
  const whole = visible(text);
  const shown = cutToTokens(whole, tokensMax);
  return shown.length === whole.length ? whole : `${shown}… [${whole.length - shown.length} characters more]`;
}
