// Which calendar an instrument follows: that of its key, with the overrides of its market (contract 3.7,
// 8.6).
import type { AssetSchema } from '../contract/identifiers.ts';
import { type Calendar, calendarOf, findMarket, marketOfKey } from '../market/calendar/calendar.ts';
import type { Market } from '../market/calendar/market.ts';
import { type CalendarOverride, withOverrides } from '../market/calendar/overrides.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { holidays } from '../store/schema/holidays.ts';
import { type Instrument, instruments } from '../store/schema/reference.ts';
import type { RowReader } from '../store/store.ts';

/** All overrides of a market, those of single instruments included, by symbol, date and priority. */
export const readOverrides = (
  reader: RowReader,
  assetSchema: string,
  country: string,
): Promise<RowOf<typeof holidays>[]> =>
  reader.group(holidays, { country_iso_code: country, asset_name: assetSchema });

/** The fields that decide which calendar an instrument follows. */
export type CalendarOwner = Pick<
  Instrument,
  | 'asset_schema'
  | 'country_iso_code'
  | 'symbol'
  | 'time_zone'
  | 'calendar_key'
  | 'parent_schema_instrument_id'
>;

/** The underlying of an option, by `stock_100862`; null where no instrument has that identifier. */
async function underlyingOf(reader: RowReader, { parent_schema_instrument_id: parent }: CalendarOwner) {
  const [, schema, id] = /^([a-z]+)_(\d{1,15})$/.exec(parent ?? '') ?? [];
  if (id === undefined) return null;
  const [found] = await reader.group(instruments, { instrument_id: Number(id) });
  return found?.asset_schema === schema ? found : null;
}

/**
 * The calendar key that an instrument follows: its own, or for an option that of its underlying. Null means
 * the default market.
 */
async function keyOf(reader: RowReader, owner: CalendarOwner): Promise<string | null> {
  if (owner.asset_schema !== 'option' || marketOfKey(owner.calendar_key) !== null) return owner.calendar_key;
  return (await underlyingOf(reader, owner))?.calendar_key ?? null;
}

/** The market that an instrument follows; null without one. */
export async function marketOf(reader: RowReader, owner: CalendarOwner): Promise<Market | null> {
  const { asset_schema, country_iso_code } = owner;
  return findMarket(asset_schema as AssetSchema, country_iso_code, await keyOf(reader, owner));
}

/** Gives what `make` makes of a name; it may keep the value until what that was read from is changed. */
export type Keep = <T>(name: string, make: () => Promise<T>) => Promise<T>;

/** Keeps every value until `forget`. */
export class KeptValues {
  readonly #values = new Map<string, Promise<unknown>>();

  readonly keep: Keep = <T>(name: string, make: () => Promise<T>): Promise<T> => {
    const known = this.#values.get(name) ?? make();
    this.#values.set(name, known);
    return known as Promise<T>;
  };

  forget(): void {
    this.#values.clear();
  }
}

/** The calendars of instruments. The overrides of a market are read once, or as `keep` says. */
export class Calendars {
  readonly #keep: Keep;

  constructor(keep: Keep = new KeptValues().keep) {
    this.#keep = keep;
  }

  /** All overrides of an asset type and country, those of single instruments included. */
  overrides(reader: RowReader, assetSchema: string, country: string): Promise<readonly CalendarOverride[]> {
    const read = () => readOverrides(reader, assetSchema, country);
    return this.#keep(`overrides|${assetSchema}:${country}`, read);
  }

  /** The calendar that an instrument follows. */
  async of(reader: RowReader, owner: CalendarOwner): Promise<Calendar> {
    return (await this.read(reader, owner)).calendar;
  }

  /**
   * As `of`, with the market, all its overrides and their asset type, and its calendar without the overrides
   * of single instruments. An option has the overrides of the market that it follows.
   */
  async read(reader: RowReader, owner: CalendarOwner) {
    const { asset_schema, country_iso_code: country, symbol, time_zone: zone } = owner;
    const market = await marketOf(reader, owner);
    const assetSchema = asset_schema === 'option' ? (market?.assetSchema ?? 'stock') : asset_schema;
    const overrides = await this.overrides(reader, assetSchema, country);
    const base = calendarOf(asset_schema as AssetSchema, country, zone, market?.key ?? null);
    const [calendar, marketCalendar] = [symbol, '*'].map((name) => withOverrides(base, overrides, name));
    return { market, assetSchema, overrides, calendar: calendar!, marketCalendar: marketCalendar! };
  }
}
