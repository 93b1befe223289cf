// What cells of fields that several datasets have may hold.
import { parseDay } from '../base/instant.ts';
import { parseCountry, parseSymbol, symbolAllowed } from '../contract/identifiers.ts';
import { numberOf } from './check.ts';
import type { FieldRule } from './rows.ts';

export const countryRule: FieldRule = {
  parse: (text) => parseCountry(text) ?? undefined,
  reason: 'must be a two-letter code such as US, or GLOBAL',
};

export const symbolRule: FieldRule = {
  parse: (text) => parseSymbol(text) ?? undefined,
  reason: `must be ${symbolAllowed}`,
};

/** A day number. */
export const dayRule: FieldRule = {
  parse: (text) => parseDay(text) ?? undefined,
  reason: 'must be a date YYYY-MM-DD',
};

export const exchangeRule: FieldRule = { parse: (text) => text.toUpperCase(), reason: '' };

export const currencyRule: FieldRule = {
  parse: (text) => (/^[A-Za-z]{3}$/.test(text) ? text.toUpperCase() : undefined),
  reason: 'must be a currency code of three letters, such as USD',
};

/** Text as it stands; spaces alone are none. */
export const textRule: FieldRule = {
  parse: (text) => (text.trim() === '' ? undefined : text),
  reason: 'is missing',
};

/** One of a few words, in any letter case. */
export function wordRule(words: readonly string[]): FieldRule {
  return {
    parse: (text) => words.find((word) => word === text.toLowerCase()),
    reason: `must be one of ${words.join(', ')}`,
  };
}

/** A finite number that `holds`. */
export function numberRule(holds: (number: number) => boolean, reason: string): FieldRule {
  return {
    parse(text) {
      const number = numberOf(text);
      return number !== null && Number.isFinite(number) && holds(number) ? number : undefined;
    },
    reason,
  };
}
