// Finds an instrument with its series and its calendar; cached until what they were read from is changed
// (docs/decisions/0029).
import { distance } from 'fastest-levenshtein';
import { formatDay } from '../base/instant.ts';
import { SizedCache } from '../base/sized-cache.ts';
import { Refusal } from '../contract/errors.ts';
import type { AssetSchema, CountrySymbol } from '../contract/identifiers.ts';
import { limits } from '../contract/limits.ts';
import { Calendars } from '../series/calendars.ts';
import { readStored } from '../series/read-stored.ts';
import type { StoredInstrument } from '../series/series.ts';
import {
  type FormerBearer,
  formerBearers,
  instrumentNamed,
  symbolsLike,
  type Term,
} from '../store/instrument-terms.ts';
import { barsOf, type Depending, KnownChanges, type TrackedReader } from '../store/known-changes.ts';
import { type Instrument, instruments } from '../store/schema/reference.ts';
import type { DataState, Reader } from '../store/store.ts';
import { queryLimits } from './limits.ts';

/** An instrument with what a query needs of it. */
export type Found = StoredInstrument;

/** Calendar days, both included. */
export type DayRange = { readonly from: number; readonly to: number };

/** On how many of some days a former bearer had its symbol. */
export function hadWithin({ fromDay, toDay }: FormerBearer, { from, to }: DayRange): 'all' | 'some' | 'none' {
  if (fromDay <= from && to <= toDay) return 'all';
  return fromDay <= to && from <= toDay ? 'some' : 'none';
}

/**
 * The former bearer that a symbol names on some days: the one that had it on all of them, else on any where
 * nobody has it now.
 */
export function chosenBearer<B extends FormerBearer>(
  former: readonly B[],
  isBorneNow: boolean,
  days: DayRange,
): B | undefined {
  const whole = former.find((one) => hadWithin(one, days) === 'all');
  const part = former.find((one) => hadWithin(one, days) === 'some');
  return whole ?? (isBorneNow ? undefined : part);
}

/** Symbols of one beginning that are compared for a hint. */
const NEIGHBOURS_MAX = 64;

/** Most characters of the shared beginning of near symbols: bounds the number of reads. */
const NEAR_BEGINNING_MAX = 6;

/** Edits by which a symbol may differ and still be named in a hint. */
const DISTANCE_MAX = 2;

/** A value that is asked for by its name, as `cached` is given it. */
type Asked<T> = {
  readonly reader: TrackedReader;
  readonly name: string;
  readonly make: () => Promise<T>;
  readonly isStill?: (value: T) => boolean;
  /** Whether `make` uses nothing but the name and what it reads itself. */
  readonly isOfNameAlone?: boolean;
};

/** A value, the state that it was read from, and the parts that it depends on. */
type Kept = Depending<unknown> & DataState;

/**
 * The look-ups of one query thread. Each value is kept with the version that it was read from: snapshots of
 * several versions may be open at once, and each gets what is right in its own.
 */
export class Lookup {
  readonly #changes = new KnownChanges();
  readonly #found: SizedCache<Kept>;
  readonly #cached: SizedCache<Kept>;

  /** `part` of the room of a query thread. */
  constructor(part = 1) {
    this.#found = new SizedCache(part * queryLimits.instrumentBytesMax);
    this.#cached = new SizedCache(part * queryLimits.valueBytesMax);
  }

  /** Bytes of what it has cached, without calendars. */
  get bytes(): number {
    return this.#found.bytes + this.#cached.bytes;
  }

  /**
   * The calendars of the state that is being read: a holiday makes them forget the overrides of its market
   * alone.
   */
  calendars(reader: TrackedReader): Calendars {
    return new Calendars((name, make) => this.ofName(reader, name, make));
  }

  /**
   * The value of a name: the cached one (`isCached`), unless what it depends on has changed or `isStill` says
   * no; else what `make` gives. It depends on all that the request has read so far too, because `make` may
   * use that. Null is not cached.
   */
  cached<T>(
    reader: TrackedReader,
    name: string,
    make: () => Promise<T>,
    isStill?: (value: T) => boolean,
  ): Promise<{ readonly value: T; readonly isCached: boolean }> {
    return this.#keep(this.#cached, { reader, name, make, ...(isStill && { isStill }) });
  }

  /**
   * The value of a name as `cached` gives it, where `make` uses nothing but the name and what it reads
   * itself: it depends on that alone.
   */
  async ofName<T>(reader: TrackedReader, name: string, make: () => Promise<T>): Promise<T> {
    return (await this.#keep(this.#cached, { reader, name, make, isOfNameAlone: true })).value;
  }

  /** Whether all that a request has read so far is the same in another state of the store. */
  async isAsIn(reader: TrackedReader, state: DataState): Promise<boolean> {
    const version = await this.#changes.follow(reader);
    return version !== null && this.#changes.isSame(reader.noted, { id: reader.id, version }, state);
  }

  async #keep<T>(
    cache: SizedCache<Kept>,
    { reader, name, make, isStill = () => true, isOfNameAlone = false }: Asked<T>,
  ): Promise<{ readonly value: T; readonly isCached: boolean }> {
    const version = await this.#changes.follow(reader);
    const { id } = reader;
    const kept = cache.get(name);
    if (kept !== undefined && version !== null && this.#changes.isSame(kept.parts, kept, { id, version })) {
      const value = kept.value as T;
      if (isStill(value)) {
        reader.note(kept.parts);
        return { value, isCached: true };
      }
    }
    const before = isOfNameAlone ? [] : reader.noted;
    const { value, parts } = await reader.noting(make);
    // A snapshot of an older version may go on beside newer ones.
    const present = cache.get(name);
    const isOlder = version === null || (present?.id === id && present.version > version);
    if (value === null || isOlder) return { value, isCached: false };
    cache.set(name, { value, parts: [...before, ...parts], id, version });
    return { value, isCached: false };
  }

  /**
   * The instrument of a name, as `instrumentOrNull` finds it. @throws Refusal `unknown_instrument` with near
   * symbols.
   */
  async instrument(
    reader: TrackedReader,
    assetSchema: AssetSchema,
    named: CountrySymbol,
    days: DayRange | null = null,
  ): Promise<Found> {
    const found = await this.instrumentOrNull(reader, assetSchema, named, days);
    if (found === null) throw await unknownInstrument(reader, assetSchema, named);
    return found;
  }

  /**
   * The instrument of a name, null where none has it. With days, it is the one that had the symbol on all of
   * them, else the one that has it now, else the last one that had it on any of them (contract 9.6).
   */
  async instrumentOrNull(
    reader: TrackedReader,
    assetSchema: AssetSchema,
    named: CountrySymbol,
    days: DayRange | null,
  ): Promise<Found | null> {
    const now = await this.#find(reader, assetSchema, named);
    // Who had the symbol before matters only to requests about days.
    if (days === null) return now;
    const before = chosenBearer(await this.former(reader, assetSchema, named), now !== null, days);
    if (before === undefined) return now;
    return this.#find(reader, assetSchema, { country: named.country, symbol: before.symbol });
  }

  /** The instruments that had a symbol before, the latest first. */
  async former(
    reader: TrackedReader,
    assetSchema: AssetSchema,
    named: CountrySymbol,
  ): Promise<readonly FormerBearer[]> {
    const name = `former|${assetSchema}:${named.country}:${named.symbol}`;
    return this.ofName(reader, name, () => formerBearers(reader, nameOf(assetSchema, named)));
  }

  /** The present and former symbols like one that nothing bears (contract 9.21). */
  async alike(
    reader: TrackedReader,
    assetSchema: AssetSchema,
    named: CountrySymbol,
  ): Promise<readonly Term[]> {
    const name = `alike|${assetSchema}:${named.country}:${named.symbol}`;
    return this.ofName(reader, name, () => symbolsLike(reader, nameOf(assetSchema, named)));
  }

  /**
   * What `make` makes of an instrument; kept like those that are found by name. It uses nothing but the name
   * and what it looks up itself.
   */
  async found(reader: TrackedReader, name: string, make: () => Promise<Found>): Promise<Found> {
    return (await this.#keep(this.#found, { reader, name, make, isOfNameAlone: true })).value;
  }

  /** The instrument that has a name now, or null. */
  async #find(reader: TrackedReader, assetSchema: AssetSchema, named: CountrySymbol): Promise<Found | null> {
    const name = `${assetSchema}:${named.country}:${named.symbol}`;
    const make = async (): Promise<Found | null> => {
      const instrument = await findInstrument(reader, assetSchema, named);
      if (instrument === null) return null;
      const found = await readStored(reader, this.calendars(reader), instrument);
      // Derived bars are kept with it and its series (`series/kept-cells.ts`).
      reader.note(found.series.map(({ series_id }) => barsOf(series_id)));
      return found;
    };
    return (await this.#keep(this.#found, { reader, name, make, isOfNameAlone: true })).value;
  }
}

/** The columns that name an instrument. */
const nameOf = (assetSchema: AssetSchema, { country, symbol }: CountrySymbol) => ({
  asset_schema: assetSchema,
  country_iso_code: country,
  symbol,
});

/** The row of an instrument that has a name now; null where none has. */
export const findInstrument = (
  reader: Reader,
  assetSchema: AssetSchema,
  named: CountrySymbol,
): Promise<Instrument | null> => instrumentNamed(reader, nameOf(assetSchema, named));

/** Symbols that begin like the requested one, the nearest first. */
async function nearSymbols(
  reader: Reader,
  assetSchema: AssetSchema,
  { country, symbol }: CountrySymbol,
): Promise<string[]> {
  // One that fits alone is the instrument's: these are several.
  const alike = await symbolsLike(reader, nameOf(assetSchema, { country, symbol }));
  const near = new Set(alike.slice(0, limits.nearSymbolsMax).map(({ term }) => term));
  for (let length = Math.min(symbol.length, NEAR_BEGINNING_MAX); length > 0; length--) {
    const beginning = symbol.slice(0, length);
    const rows = await reader.rows(instruments, {
      where: { asset_schema: assetSchema, country_iso_code: country },
      range: { from: beginning, to: `${beginning}\u{10ffff}` },
      order: [['symbol', 'asc']],
      limit: NEIGHBOURS_MAX,
    });
    for (const row of rows) if (distance(row.symbol, symbol) <= DISTANCE_MAX) near.add(row.symbol);
    if (near.size >= limits.nearSymbolsMax) break;
  }
  return [...near].sort((a, b) => distance(a, symbol) - distance(b, symbol)).slice(0, limits.nearSymbolsMax);
}

/** The refusal of a symbol that no dataset names, with near symbols (contract 6.3). */
export async function unknownInstrument(
  reader: Reader,
  assetSchema: AssetSchema,
  named: CountrySymbol,
  param: 'country_symbol' | 'full_symbol' | 'symbols' = 'country_symbol',
): Promise<Refusal> {
  const [former] = await formerBearers(reader, nameOf(assetSchema, named));
  const near = former === undefined ? await nearSymbols(reader, assetSchema, named) : [];
  const market = `${param === 'full_symbol' ? `${assetSchema}:` : ''}${named.country}`;
  const name = `${market}:${named.symbol}`;
  let hint = `Check the country, the symbol and the asset type (${assetSchema}).`;
  if (former !== undefined)
    hint = `${named.symbol} was the symbol of ${former.symbol} from ${formatDay(former.fromDay)} to ${formatDay(former.toDay)}.`;
  else if (near.length > 0)
    hint = `Did you mean ${near.map((symbol) => `${market}:${symbol}`).join(' or ')}?`;
  const message = `${name} is not stored.`;
  return new Refusal('unknown_instrument', { message, param, got: name, hint });
}
