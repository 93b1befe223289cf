// Instruments: what files say of them. What they do not say is null here and comes from the market when read (contract 11).
import { boolean, dataset, integer, json, orNull, type RowOf, real, text } from './dataset.ts';

export const instruments = dataset({
  name: 'instruments',
  columns: {
    asset_schema: text,
    country_iso_code: text,
    symbol: text,
    instrument_id: integer,
    asset_id: integer,
    name: orNull(text),
    exchange: orNull(text),
    currency: orNull(text),
    time_zone: orNull(text),
    open_time: orNull(text),
    close_time: orNull(text),
    trading_hours: orNull(json),
    status: orNull(text),
    calendar_key: orNull(text),
    session_template: orNull(text),
    support_dst: orNull(boolean),
    support_week_trading: orNull(boolean),
    underlying_name: orNull(text),
    is_indices: orNull(boolean),
    daily_minute_count: orNull(integer),
    contract_value: orNull(text),
    description: orNull(text),
    asset_subtype: orNull(text),
    industry: orNull(text),
    trading_codes: orNull(text),
    parent_schema_instrument_id: orNull(text),
    contract_type: orNull(text),
    price_precision: orNull(integer),
    quantity_precision: orNull(integer),
    min_initial_open_quantity: orNull(real),
    tick_size: orNull(real),
    lot_size: orNull(real),
    listing_date: orNull(text),
    base_currency: orNull(text),
    quote_currency: orNull(text),
    /** `FormerSymbol[]` (contract 9.6). */
    former_symbols: orNull(json),
  },
  key: ['asset_schema', 'country_iso_code', 'symbol'],
  indexes: [['instrument_id']],
});

/** A stored instrument. */
export type Instrument = RowOf<typeof instruments>;

/** A symbol that an instrument had, with its first and last day. */
export type FormerSymbol = {
  readonly symbol: string;
  readonly from_day: number;
  readonly to_day: number;
};

/** What instruments are found by; made from their rows alone, and never written but with them (`store/instrument-terms.ts`). */
export const instrumentTerms = dataset({
  name: 'instrument_terms',
  columns: {
    asset_schema: text,
    country_iso_code: text,
    /** `symbol`, `former` or `name`. */
    kind: text,
    /** A symbol; of a name its folded words, beginning with each of them in turn. */
    term: text,
    symbol: text,
  },
  key: ['asset_schema', 'country_iso_code', 'kind', 'term', 'symbol'],
  indexes: [['asset_schema', 'kind', 'term', 'country_iso_code', 'symbol']],
});
