// Stock corporate actions: the record (spec 2.4) and its endpoint (spec 4.3).
import { endpoint } from './endpoint.ts';
import { date, integer, nullable, number, oneOf, record, text } from './fields.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';
import {
  asOf,
  atVersion,
  extraSort,
  formats,
  instrument,
  limit,
  nextPageKey,
  optional,
  required,
} from './parameter.ts';

/** One dividend or split on the wire (spec 2.4, contract 8.2). */
export const corporateActionRecord = record('CorporateAction', {
  asset_schema: [text('Asset type in upper case'), 'STOCK'],
  country_iso_code: [text('Country of the stock'), 'US'],
  symbol: [text('Symbol of the stock'), 'AAPL'],
  exchange: [nullable(text('MIC, null where unknown')), 'XNAS'],
  action_type: [oneOf(['dividend', 'split'], 'Kind of the action'), 'split'],
  ex_date: [
    date('First date on which the stock trades without the dividend or after the split'),
    '2020-08-31',
  ],
  ex_date__1: [date('Same as `ex_date`'), '2020-08-31'],
  adjustment_factor: [text('Multiplier for earlier prices, 8 decimals'), '0.25000000'],
  cash_amount: [nullable(number('Cash per share as traded that day; null for splits')), null],
  currency: [nullable(text('Currency of the cash; null for splits')), null],
  declaration_date: [nullable(date('Date of the announcement')), null],
  record_date: [nullable(date('Date that decides which holders are paid')), null],
  pay_date: [nullable(date('Date of payment')), null],
  split_from: [nullable(integer('Shares before the split; null for dividends')), 1],
  split_to: [nullable(integer('Shares after the split; null for dividends')), 4],
  reference_price: [nullable(number('Raw close before the ex-date')), null],
});

export const corporateActions = endpoint({
  path: '/api/v2/stock/stock_corporate_action/list/{country_symbol}',
  tag: 'corporate actions',
  summary: 'Dividends and splits of one stock by ex-date',
  parameters: {
    country_symbol: instrument.country_symbol,
    from_date: required(kind.date, 'the first ex-date to return'),
    to_date: optional(kind.date, 'the last ex-date to return'),
    action_type: optional(kind.oneOf(['dividend', 'split']), 'the kind of action'),
    sort: extraSort('the order of the actions by their ex-date'),
    ...formats('json'),
    limit: limit(listLimits.corporateActions, 'actions'),
    ...asOf,
    ...atVersion,
    next_page_key: nextPageKey,
  },
  record: corporateActionRecord,
  shape: 'paged',
  refusals: ['unknown_instrument'],
});
