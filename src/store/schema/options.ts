// Option contracts. A column that no file gave is null, and its value comes from the market when it is read
// (contract 11).
import { symbolAllowed } from '../../contract/identifiers.ts';
import { plainOptionSymbol } from '../../contract/option-symbol.ts';
import { boolean, dataset, day, instant, integer, orNull, real, text } from './dataset.ts';
import {
  anyNumber,
  asText,
  countryField,
  dayRule,
  exchangeRule,
  type Field,
  numberRule,
  optional,
  required,
  symbolRule,
  underlyingSchemaRule,
  wordRule,
} from './field.ts';
import { instrumentFields, isListedOn, tradingColumns } from './reference.ts';

/** Fields that a contract shares with its own instrument. */
export const sharedFields = [
  ...['exchange', 'calendar_key', 'session_template', 'status', 'daily_minute_count', 'is_indices'],
  ...['trading_codes', ...Object.keys(tradingColumns)],
];

const optionTypes: Readonly<Record<string, string>> = { call: 'call', put: 'put', c: 'call', p: 'put' };

/** An active contract is exported without a status: an import would set it as the instrument's status too. */
const status: Field = {
  ...instrumentFields.status!,
  ...asText((row) => (row.status === 'active' ? null : (row.status as string))),
};

export const optionContracts = dataset({
  name: 'option_contracts',
  columns: {
    country_iso_code: text,
    symbol: text,
    /** Asset type and symbol of the underlying, which has the contract's country. */
    parent_asset_schema: text,
    underlying_name: text,
    /** `call` or `put`. */
    option_type: text,
    expiration_date: day,
    /** Null: the close of the last session on or before the date, or its open (contract 8.5). */
    expiration_datetime: orNull(instant),
    strike_price: real,
    /** `american` or `european`. */
    exercise_style: text,
    /** `active` or `inactive`. */
    status: text,
    /** The identifiers of the contract's own instrument, of asset type `option`. */
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
    ...tradingColumns,
  },
  key: ['country_iso_code', 'symbol'],
  // One side of one underlying by expiration, with every column that a search sorts by: it covers the search
  // (spec 4.6).
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
  knownBy: (row, { dayIn }) =>
    isListedOn(row, dayIn(row.parent_asset_schema as string, row.country_iso_code as string)),
  parts: [
    { kind: 'symbol', of: [{ is: 'option' }, 'country_iso_code', 'symbol'] },
    { kind: 'symbol', of: ['parent_asset_schema', 'country_iso_code', 'underlying_name'] },
  ],
  file: {
    fields: {
      // Some files pad the root with spaces to six characters, others have Massive's prefix (contract 1.4,
      // 1.7).
      symbol: required({
        parse: (text) => symbolRule.parse(plainOptionSymbol(text.replaceAll(' ', ''))),
        reason: `must be ${symbolAllowed}, such as SPY250919C00450000`,
      }),
      country_iso_code: countryField,
      parent_asset_schema: required(underlyingSchemaRule('the asset type of the underlying'), {
        flag: '--schema',
      }),
      underlying_name: required(
        { parse: symbolRule.parse, reason: `must be the symbol of the underlying, ${symbolAllowed}` },
        { flag: '--symbol' },
      ),
      strike_price: required(anyNumber),
      expiration_date: required(dayRule),
      option_type: required({
        parse: (text) =>
          Object.hasOwn(optionTypes, text.toLowerCase()) ? optionTypes[text.toLowerCase()] : undefined,
        reason: 'must be call or put',
        words: ['call', 'put'],
      }),
      expiration_datetime: optional({ unit: 'millisecond' }),
      exercise_style: optional(wordRule(['american', 'european'])),
      contract_value: optional(numberRule((number) => number > 0, 'must be a number above 0, such as 100')),
      option_exchange: optional(exchangeRule),
      ...Object.fromEntries(sharedFields.map((field) => [field, instrumentFields[field]!])),
      status,
    },
    time: 'expiration_date',
    subject: ['country_iso_code', 'parent_asset_schema', 'underlying_name'],
    names: [
      {
        assetSchema: { column: 'parent_asset_schema' },
        symbol: 'underlying_name',
        on: ['listing_date', 'expiration_date'],
      },
      { assetSchema: 'option', symbol: 'symbol', isOwn: true },
    ],
    repeated: { column: 'symbol', reason: 'the file has this contract already, with other values' },
    deletion: {
      about: 'Delete option contracts, and their own instruments where nothing else needs them.',
      rows: 'contracts',
      needs: ['--country'],
      flags: {
        '--country': 'its country, such as US',
        '--symbol': 'the underlying',
        '--schema': 'the asset type of the underlying, where several have the symbol',
      },
      selectors: {
        '--contract': {
          column: 'symbol',
          takes: 'symbol',
          about: 'one contract, in place of an underlying',
          isAlone: true,
        },
      },
      examples: [
        '--symbol SPY --country US --to 2024-12-31 --dry-run',
        '--contract SPY250919C00450000 --country US',
      ],
    },
  },
});
