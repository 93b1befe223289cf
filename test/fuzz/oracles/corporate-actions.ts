// Corporate actions (contract 4.5, 8.2).

import * as data from '../data.ts';
import { lowerAscii, nameOf } from '../grammar.ts';
import { arranged, dayRangeFaults, isBetween, isDescending, type Oracle, unknownFaults } from './common.ts';

/** `GET …/stock/stock_corporate_action/list/…` */
export const corporateActions: Oracle = (texts) => {
  const name = nameOf({ ...texts, schema_asset: 'stock' });
  const type = texts.action_type && lowerAscii(texts.action_type);
  const list = data.corporateActions
    .filter(([row]) => `stock:${row.country_iso_code}:${row.symbol}`.toUpperCase() === name.toUpperCase())
    .filter(([row]) => type === undefined || row.action_type === type)
    .filter(([{ ex_date }]) => isBetween(String(ex_date), texts))
    .map(([row, adjustment_factor]) => ({
      fields: {
        ...{ cash_amount: null, currency: null, split_from: null, split_to: null, pay_date: null, ...row },
        ...{ asset_schema: 'STOCK', ex_date__1: row.ex_date, adjustment_factor },
      },
      place: String(row.ex_date),
    }));
  return {
    mistakes: dayRangeFaults(texts),
    faults: unknownFaults(name, 'country_symbol'),
    list: arranged(list, isDescending(texts)),
  };
};
