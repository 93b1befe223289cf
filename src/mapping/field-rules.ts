// What cells of fields that several datasets have may hold.
import { parseDay, SECOND_MS } from '../base/instant.ts';
import type { Zone } from '../calendar/zone.ts';
import { parseAssetSchema, parseCountry, parseSymbol, symbolAllowed } from '../contract/identifiers.ts';
import { InstantCell, LocalClock } from './instant-cell.ts';
import { numberOf } from './number-cell.ts';

/** What a cell of a field may hold. */
export type FieldRule = {
  /** The value of a text that is not empty; undefined when it is none. */
  readonly parse: (text: string) => unknown;
  /** What is told of a text that is none: it follows the column's name. */
  readonly reason: string;
};

export const assetSchemaRule: FieldRule = {
  parse: (text) => parseAssetSchema(text) ?? undefined,
  reason: 'must be stock, future, crypto, forex or option',
};

/** The asset type of what is no option itself; `why` follows those that it may be. */
export const underlyingSchemaRule = (why: string): FieldRule => ({
  parse(text) {
    const assetSchema = parseAssetSchema(text);
    return assetSchema === null || assetSchema === 'option' ? undefined : assetSchema;
  },
  reason: `must be stock, future, crypto or forex: ${why}`,
});

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
  reason: 'is blank',
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

export const anyNumberRule = numberRule(() => true, 'must be a number, such as 3.1');

const encoder = new TextEncoder();

/**
 * An instant: with its offset, an epoch, or with a zone a clock reading that it has. `keep` gives what is stored of its epoch
 * milliseconds, undefined where they are refused. The rows of one file are read by one rule: their order tells the readings of a
 * doubled hour apart (contract 2.5).
 */
export function instantRule(
  zone: Zone | null,
  keep: (ms: number) => number | undefined,
  reason: string,
): FieldRule {
  const cell = new InstantCell();
  const clock = zone === null ? null : new LocalClock(zone);
  let beforeMs = Number.NaN;
  return {
    parse(text) {
      const bytes = encoder.encode(text);
      cell.read(bytes, 0, bytes.length);
      const placed = cell.kind === 'local' ? clock?.place(cell.ms, beforeMs) : cell.ms;
      if (cell.kind === 'bad' || cell.kind === 'date' || typeof placed !== 'number') return undefined;
      beforeMs = placed;
      return keep(placed);
    },
    reason,
  };
}

/** An instant as it is served, in whole seconds, of a file whose times may be local. */
export function servedInstantRule(zone: Zone | null): FieldRule {
  const reason =
    zone === null
      ? 'must be an instant with its offset, such as 2025-07-03T12:30:00Z, or an epoch; for local times give --zone'
      : 'must be an instant, or a local time that the zone has, and once: in a doubled hour give the offset';
  return instantRule(zone, (ms) => Math.floor(ms / SECOND_MS) * SECOND_MS, reason);
}
