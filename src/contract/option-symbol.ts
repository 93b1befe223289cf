// Option symbols of OCC: root, expiration, type and strike (contract 1.4).
import { parseDay } from '../base/instant.ts';
import { upperAscii } from './identifiers.ts';

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
