// Options: the contract (spec 2.6), the expiration (spec 2.7), their search (spec 4.6) and list (spec 4.7).
import {
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Number as NumberSchema,
  Object as ObjectSchema,
  String as StringSchema,
} from 'typebox';
import { endpoint } from './endpoint.ts';
import { nullable } from './envelope.ts';
import { listLimits } from './limits.ts';
import {
  assetSchema,
  countrySymbol,
  date,
  decimal,
  defaulted,
  limit,
  oneOf,
  optional,
  pageKey,
  path,
  sortBy,
} from './parameter.ts';
import { contractTerms } from './reference.ts';

/** One option contract on the wire (spec 2.6, contract 8.4). */
export const optionContractRecord = ObjectSchema({
  instrument_id: Integer(),
  asset_id: Integer(),
  symbol: StringSchema(),
  country_iso_code: StringSchema(),
  exchange: nullable(StringSchema()),
  underlying_name: StringSchema(),
  calendar_key: nullable(StringSchema()),
  session_template: nullable(StringSchema()),
  status: Enum(['active', 'inactive']),
  parent_schema_instrument_id: StringSchema(),
  parent_asset_schema: StringSchema(),
  daily_minute_count: nullable(Integer()),
  contract_value: NumberSchema(),
  option_exchange: nullable(StringSchema()),
  strike_price: NumberSchema(),
  expiration_date: StringSchema({ format: 'date' }),
  expiration_datetime: StringSchema({ format: 'date-time' }),
  option_type: Enum(['call', 'put']),
  exercise_style: Enum(['american', 'european']),
  trading_codes: nullable(StringSchema()),
  is_indices: BooleanSchema(),
  ...contractTerms,
});

/** One expiration on the wire (spec 2.7). */
export const expirationRecord = ObjectSchema({
  expiration_date: StringSchema({ format: 'date' }),
  expiration_datetime: StringSchema({ format: 'date-time' }),
});

/** Fields that option search sorts by (contract 8.4). */
export const optionSortFields = [
  'strike_price',
  'expiration_date',
  'expiration_datetime',
  'symbol',
  'instrument_id',
  'status',
  'exercise_style',
] as const;

const underlying = {
  schema_asset: path(assetSchema, 'the asset type of the underlying'),
  country_symbol: path(countrySymbol, 'the country and the symbol of the underlying'),
};

export const optionSearch = endpoint({
  path: '/api/v2/option/search/{schema_asset}/{country_symbol}/{option_type}/moneyness/{moneyness}',
  tag: 'options',
  summary: 'Option contracts of one underlying, in or out of the money, grouped by expiration',
  parameters: {
    ...underlying,
    option_type: path(oneOf(['call', 'put']), 'the type of the option'),
    moneyness: path(oneOf(['in_the_money', 'out_of_the_money']), 'the side of the reference price'),
    ref_asset_price: optional(
      decimal,
      'the price of the underlying to compare strikes with; without it, its latest price',
    ),
    strike_price: optional(decimal, 'the strike'),
    expiration_date: optional(date, 'the expiration date'),
    limit: defaulted(
      limit(listLimits.optionSearch),
      listLimits.optionSearch.default,
      'how many contracts to give',
    ),
    sort_by: optional(
      sortBy(optionSortFields, 'strike_price desc,expiration_date'),
      'the order of the contracts; without it the next expiration first, and its strikes nearest to the price',
    ),
    next_page_key: optional(pageKey, 'the key of the next page'),
  },
  record: optionContractRecord,
  shape: 'grouped',
});

export const optionExpirations = endpoint({
  path: '/api/v2/option/expiration_date_list/{schema_asset}/{country_symbol}',
  tag: 'options',
  summary: 'The coming expirations of one underlying, nearest first',
  parameters: underlying,
  record: expirationRecord,
  shape: 'array',
});
