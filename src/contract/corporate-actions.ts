// Stock corporate actions: the record (spec 2.4) and its endpoint (spec 4.3).
import { Enum, Object as ObjectSchema, String as StringSchema } from 'typebox';
import { endpoint } from './endpoint.ts';
import { integer, nullable, number, text } from './fields.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';
import { formats, limit, nextPageKey, optional, path, required } from './parameter.ts';

const day = (description: string) => StringSchema({ format: 'date', description });

/** One dividend or split on the wire (spec 2.4, contract 8.2). */
export const corporateActionRecord = ObjectSchema(
  {
    asset_schema: text('Asset type in upper case'),
    country_iso_code: text('Country of the stock'),
    symbol: text('Symbol of the stock'),
    exchange: nullable(text('MIC, null where unknown')),
    action_type: Enum(['dividend', 'split'], { description: 'Kind of the action' }),
    ex_date: day('First date on which the stock trades without the dividend or after the split'),
    ex_date__1: day('Same as `ex_date`'),
    adjustment_factor: text('Multiplier for earlier prices, 8 decimals'),
    cash_amount: nullable(number('Cash per share as traded that day; null for splits')),
    currency: nullable(text('Currency of the cash; null for splits')),
    declaration_date: nullable(day('Date of the announcement')),
    record_date: nullable(day('Date that decides which holders are paid')),
    pay_date: nullable(day('Date of payment')),
    split_from: nullable(integer('Shares before the split; null for dividends')),
    split_to: nullable(integer('Shares after the split; null for dividends')),
    reference_price: nullable(number('Raw close before the ex-date')),
  },
  {
    title: 'CorporateAction',
    examples: [
      {
        asset_schema: 'STOCK',
        country_iso_code: 'US',
        symbol: 'AAPL',
        exchange: 'XNAS',
        action_type: 'split',
        ex_date: '2020-08-31',
        ex_date__1: '2020-08-31',
        adjustment_factor: '0.25000000',
        cash_amount: null,
        currency: null,
        declaration_date: null,
        record_date: null,
        pay_date: null,
        split_from: 1,
        split_to: 4,
        reference_price: null,
      },
    ],
  },
);

export const corporateActions = endpoint({
  path: '/api/v2/stock/stock_corporate_action/list/{country_symbol}',
  tag: 'corporate actions',
  summary: 'Dividends and splits of one stock by ex-date',
  parameters: {
    country_symbol: path(kind.countrySymbol, 'the country and the symbol'),
    from_date: required(kind.date, 'the first ex-date to return'),
    to_date: optional(kind.date, 'the last ex-date to return'),
    action_type: optional(kind.oneOf(['dividend', 'split']), 'the kind of action'),
    ...formats('json'),
    limit: limit(listLimits.corporateActions, 'actions'),
    next_page_key: nextPageKey,
  },
  record: corporateActionRecord,
  shape: 'paged',
  refusals: ['unknown_instrument'],
});
