// Dividends and splits of stocks: what files say of them. A factor that they do not say is worked out when it is read (contract 8.2).
import { dataset, day, integer, orNull, real, text } from './dataset.ts';

export const corporateActions = dataset({
  name: 'corporate_actions',
  columns: {
    country_iso_code: text,
    symbol: text,
    ex_date: day,
    /** `dividend` or `split`. */
    action_type: text,
    /** Which one of its kind and day it is, from 1 (docs/decisions/0018). */
    occurrence: integer,
    exchange: orNull(text),
    adjustment_factor: orNull(real),
    cash_amount: orNull(real),
    currency: orNull(text),
    declaration_date: orNull(day),
    record_date: orNull(day),
    pay_date: orNull(day),
    split_from: orNull(integer),
    split_to: orNull(integer),
    /** The raw close before the ex-date. */
    reference_price: orNull(real),
  },
  // The kind stands last: an order whose middle is told to be equal is one that SQLite sorts.
  key: ['country_iso_code', 'symbol', 'ex_date', 'occurrence', 'action_type'],
});
