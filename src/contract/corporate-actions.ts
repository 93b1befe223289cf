// Stock corporate actions: the record (spec 2.4) and its endpoint (spec 4.3).
import {
  anotherTime,
  endpoint,
  extension,
  extraSort,
  formats,
  instrument,
  limit,
  nextPageKey,
  optional,
  required,
} from './endpoint.ts';
import { date, integer, nullable, number, oneOf, record, text } from './fields.ts';
import { parseFlag } from './file-words.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';

/** The kinds that every list has, then those that are listed with `extended=true` alone (contract 8.10). */
export const listedKinds = ['dividend', 'split'] as const;
export const actionKinds = [...listedKinds, 'spinoff', 'stock_dividend', 'special_dividend'] as const;

export type ActionKind = (typeof actionKinds)[number];

/** One corporate action on the wire (spec 2.4, contract 8.2, 8.10). */
const corporateActionRecord = record('CorporateAction', {
  asset_schema: [text('Asset type in upper case'), 'STOCK'],
  country_iso_code: [text('Country of the stock'), 'US'],
  symbol: [text('Symbol of the stock'), 'AAPL'],
  exchange: [nullable(text('MIC, null if unknown')), 'XNAS'],
  action_type: [oneOf(actionKinds, 'Kind of the action'), 'split'],
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

const extendedKind = kind.oneOf(actionKinds);
const listedKind = kind.oneOf<ActionKind>(
  listedKinds,
  (raw) => actionKinds.find((word) => word === raw.toLowerCase()) ?? null,
);

/** Any kind; a word that is none is refused with those that the list would have. */
const askedKind: typeof listedKind = {
  ...listedKind,
  parse: (raw, others) => (parseFlag(others?.get('extended') ?? '') ? extendedKind : listedKind).parse(raw),
};

export const corporateActions = endpoint({
  path: '/api/v2/stock/stock_corporate_action/list/{country_symbol}',
  tag: 'corporate actions',
  summary: 'Dividends and splits of one stock by ex-date',
  parameters: {
    country_symbol: instrument.country_symbol,
    from_date: required(kind.date, 'the first ex-date to return'),
    to_date: optional(kind.date, 'the last ex-date to return'),
    action_type: optional(
      askedKind,
      'the kind of action; with `extended=true` also `spinoff`, `stock_dividend` and `special_dividend`',
    ),
    // Without a default, addresses of pages are as before.
    extended: extension(
      optional(
        kind.flag,
        'whether to list spin-offs and stock dividends too, and special dividends as their own kind instead of as dividends; by default not',
      ),
    ),
    sort: extraSort('the order of the actions by their ex-date'),
    ...formats('json'),
    limit: limit(listLimits.corporateActions, 'actions'),
    ...anotherTime,
    next_page_key: nextPageKey,
  },
  record: corporateActionRecord,
  shape: 'paged',
  refusals: ['unknown_instrument'],
});
