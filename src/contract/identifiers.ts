// The grammars of identifiers: asset types, countries, symbols, those of options too, and the shapes made of
// them (spec 2.12, contract 1).

import { parseDay } from '../base/instant.ts';
import { limits } from './limits.ts';

/** A contract, as its symbol names it. */
export type OptionSymbol = {
  readonly root: string;
  /** The day number of its expiration. */
  readonly expirationDay: number;
  readonly optionType: 'call' | 'put';
  readonly strikePrice: number;
};

/**
 * A root of up to six characters, alone or padded with spaces to six, and the prefix of Massive (contract
 * 1.7).
 */
const WRITTEN = /^(?:O:)?([A-Z0-9.]{1,6}) {0,5}(\d{6}[CP]\d{8})$/;

const PARTS = /^([A-Z0-9.]{1,6})(\d\d)(\d\d)(\d\d)([CP])(\d{8})$/;

/** The symbol without padding and prefix; another text as it is. */
export function plainOptionSymbol(text: string): string {
  const [, root, rest] = WRITTEN.exec(upperAscii(text)) ?? [];
  return root === undefined ? text : `${root}${rest}`;
}

/**
 * Parses a symbol without padding and prefix into the terms of its contract; null where it is no symbol of
 * OCC, or has no real date or no strike.
 */
export function parseOptionSymbol(symbol: string): OptionSymbol | null {
  const [, root, year, month, day, type, strike] = PARTS.exec(symbol) ?? [];
  const expirationDay = root === undefined ? null : parseDay(`20${year}-${month}-${day}`);
  const thousandths = Number(strike);
  if (root === undefined || expirationDay === null || thousandths === 0) return null;
  return {
    root,
    expirationDay,
    optionType: type === 'C' ? 'call' : 'put',
    strikePrice: thousandths / 1000,
  };
}

/** The asset types (contract 1.1). */
export const assetSchemas = ['stock', 'future', 'crypto', 'forex', 'option'] as const;
export type AssetSchema = (typeof assetSchemas)[number];

/** One instrument as callers name it; its asset type is a separate path segment. */
export type CountrySymbol = { readonly country: string; readonly symbol: string };

/** One instrument, or with the symbol `*` a whole market. */
export type FullSymbol = CountrySymbol & { readonly assetSchema: AssetSchema };

const SYMBOL = new RegExp(`^[A-Z0-9.\\-_/^=&+$#!@~]{1,${limits.symbolCharactersMax}}$`);

/** The text that an error lists as allowed. */
export const symbolAllowed = `1 to ${limits.symbolCharactersMax} characters of A-Z 0-9 . - _ / ^ = & + $ # ! @ ~`;

/** Changes a-z alone to upper case: other letters stay, and the grammars refuse them (contract 1.3). */
export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/**
 * Two or three words in upper case, as CMS writes `BRK B`, or null: an alias of a symbol, which is none
 * itself (contract 9.21).
 */
export function parseSpacedSymbol(text: string): string | null {
  const upper = upperAscii(text);
  return /^[A-Z0-9]+( [A-Z0-9]+){1,2}$/.test(upper) && upper.length <= limits.symbolCharactersMax
    ? upper
    : null;
}

/** A symbol that is asked for: a space stands for a separator (contract 9.21). */
export const parseAskedSymbol = (text: string): string | null =>
  parseSymbol(text) ?? parseSpacedSymbol(text)?.replaceAll(' ', '.') ?? null;

export function parseAssetSchema(text: string): AssetSchema | null {
  const lower = text.length > 8 ? '' : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return assetSchemas.find((schema) => schema === lower) ?? null;
}

/**
 * A country code in upper case, `GB` as `UK`; null when it is neither two letters nor GLOBAL (contract 1.2).
 */
export function parseCountry(text: string): string | null {
  const upper = upperAscii(text);
  if (upper === 'GB') return 'UK';
  return upper === 'GLOBAL' || /^[A-Z]{2}$/.test(upper) ? upper : null;
}

/** A symbol in upper case, or null (contract 1.3). */
export function parseSymbol(text: string): string | null {
  const upper = upperAscii(text);
  return SYMBOL.test(upper) ? upper : null;
}

/**
 * Massive's prefixes as our countries: `O:` of an option symbol, alone or after `US:`, is US; `X:` and `C:`,
 * of crypto and currencies, are GLOBAL (contract 1.4, 1.7). No country has one letter.
 */
const countryOfPrefix = (text: string): string =>
  text.replace(/^(US:)?O:(?=[A-Z0-9.]+\d{6}[CP]\d{8}$)/i, 'US:').replace(/^[XC]:/i, 'GLOBAL:');

/** `US:AAPL`, or with a prefix of Massive's; the first colon separates country and symbol (contract 1.3). */
export function parseCountrySymbol(sent: string): CountrySymbol | null {
  const text = countryOfPrefix(sent);
  const colon = text.indexOf(':');
  if (colon < 0) return null;
  const country = parseCountry(text.slice(0, colon));
  const symbol = parseAskedSymbol(text.slice(colon + 1));
  return country === null || symbol === null ? null : { country, symbol };
}

/** `stock:US:AAPL`, or `stock:US:*` for the whole market (spec 2.12). */
export function parseFullSymbol(text: string): FullSymbol | null {
  const colon = text.indexOf(':');
  const assetSchema = parseAssetSchema(text.slice(0, Math.max(colon, 0)));
  if (assetSchema === null) return null;
  const rest = countryOfPrefix(text.slice(colon + 1));
  if (!rest.endsWith(':*')) {
    const instrument = parseCountrySymbol(rest);
    return instrument === null ? null : { assetSchema, ...instrument };
  }
  const country = parseCountry(rest.slice(0, -2));
  return country === null ? null : { assetSchema, country, symbol: '*' };
}
