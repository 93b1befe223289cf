// Option contracts: their terms, and what files say of them. What they do not say is null and comes from the market when read (contract 11).
import { boolean, dataset, day, instant, integer, orNull, real, text } from './dataset.ts';

export const optionContracts = dataset({
  name: 'option_contracts',
  columns: {
    country_iso_code: text,
    symbol: text,
    /** Asset type and symbol of the underlying, which is of the contract's country. */
    parent_asset_schema: text,
    underlying_name: text,
    /** `call` or `put`. */
    option_type: text,
    expiration_date: day,
    /** Null: the close of the last session on or before the date (contract 8.5). */
    expiration_datetime: orNull(instant),
    strike_price: real,
    /** `american` or `european`. */
    exercise_style: text,
    /** `active` or `inactive`. */
    status: text,
    /** Those of the contract's own instrument, of asset type `option`. */
    instrument_id: integer,
    asset_id: integer,
    contract_value: real,
    exchange: orNull(text),
    option_exchange: orNull(text),
    calendar_key: orNull(text),
    session_template: orNull(text),
    daily_minute_count: orNull(integer),
    is_indices: orNull(boolean),
    trading_codes: orNull(text),
    contract_type: orNull(text),
    price_precision: orNull(integer),
    quantity_precision: orNull(integer),
    min_initial_open_quantity: orNull(real),
    tick_size: orNull(real),
    lot_size: orNull(real),
    listing_date: orNull(text),
  },
  key: ['country_iso_code', 'symbol'],
  // One side of one underlying, expiration by expiration, with all that a search sorts by: it covers the search (spec 4.6).
  indexes: [
    [
      'country_iso_code',
      'parent_asset_schema',
      'underlying_name',
      'option_type',
      'expiration_date',
      'expiration_datetime',
      'strike_price',
      'symbol',
      'instrument_id',
      'status',
      'exercise_style',
    ],
  ],
});
