// Stock corporate actions: the record (spec 2.4) and its endpoint (spec 4.3).
import {
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
  countrySymbol,
  date,
  defaulted,
  formats,
  limit,
  oneOf,
  optional,
  pageKey,
  path,
  required,
} from './parameter.ts';

const day = StringSchema({ format: 'date' });

/** One dividend or split on the wire (spec 2.4, contract 8.2). */
export const corporateActionRecord = ObjectSchema({
  asset_schema: StringSchema({ description: 'Asset type in upper case' }),
  country_iso_code: StringSchema(),
  symbol: StringSchema(),
  exchange: nullable(StringSchema()),
  action_type: Enum(['dividend', 'split']),
  ex_date: day,
  ex_date__1: day,
  adjustment_factor: StringSchema({ description: '8 decimals' }),
  cash_amount: nullable(NumberSchema()),
  currency: nullable(StringSchema()),
  declaration_date: nullable(day),
  record_date: nullable(day),
  pay_date: nullable(day),
  split_from: nullable(Integer()),
  split_to: nullable(Integer()),
  reference_price: nullable(NumberSchema()),
});

export const corporateActions = endpoint({
  path: '/api/v2/stock/stock_corporate_action/list/{country_symbol}',
  tag: 'corporate actions',
  summary: 'Dividends and splits of one stock by ex-date',
  parameters: {
    country_symbol: path(countrySymbol, 'the country and the symbol'),
    from_date: required(date, 'the first ex-date to give'),
    to_date: optional(date, 'the last ex-date to give'),
    action_type: optional(oneOf(['dividend', 'split']), 'the kind of action'),
    ...formats('json'),
    limit: defaulted(
      limit(listLimits.corporateActions),
      listLimits.corporateActions.default,
      'how many actions to give',
    ),
    next_page_key: optional(pageKey, 'the key of the next page'),
  },
  record: corporateActionRecord,
  shape: 'paged',
});
