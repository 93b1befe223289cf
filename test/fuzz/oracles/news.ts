// News (contract 4.6, 8.3).
import type { Texts } from '../answers.ts';
import * as data from '../data.ts';
import type { Expected } from '../expect.ts';
import {
  arranged,
  instantRangeFaults,
  isDescending,
  isWithin,
  lastOf,
  type Oracle,
  unknownFaults,
} from './common.ts';

const news = (texts: Texts): { readonly faults: readonly string[]; readonly list: Expected[] } => {
  const [type, country, symbol] = texts.full_symbol?.toUpperCase().replace(':GB:', ':UK:').split(':') ?? [];
  const list = data.news
    .filter((row) => type === undefined || String(row.asset_name).toUpperCase() === type)
    .filter((row) => country === undefined || row.country_iso_code === country)
    .filter((row) => symbol === undefined || symbol === '*' || row.symbol === symbol)
    .filter(({ published_date: date }) => isWithin(Date.parse(String(date)), texts))
    .map((fields) => ({ fields, place: String(fields.published_date) }));
  const isOne = symbol !== undefined && symbol !== '*';
  return {
    faults: isOne ? unknownFaults(`${type}:${country}:${symbol}`, 'full_symbol') : [],
    list: arranged(list, isDescending(texts)),
  };
};

/** `GET …/news/list` */
export const newsList: Oracle = (texts) => {
  const { faults, list } = news(texts);
  return { mistakes: instantRangeFaults(texts), faults, list };
};

/** `GET …/news/latest` */
export const latestNews: Oracle = (texts) => {
  const found = news(texts);
  const start = isDescending(texts) ? 0 : lastOf(found.list.length, Number(texts.limit ?? 100));
  return { ...found, start };
};
