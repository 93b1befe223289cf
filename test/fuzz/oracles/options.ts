// Options (contract 8.4, 8.5).
import type { Texts } from '../answers.ts';
import * as data from '../data.ts';
import type { Expected } from '../expect.ts';
import { dayOf, lowerAscii, nameOf, sortTerms } from '../grammar.ts';
import {
  arranged,
  FAR_YEAR,
  isDescending,
  named,
  type Oracle,
  opposite,
  unknownFaults,
  unless,
} from './common.ts';

const priced = new Set<string>(data.barNames.map((name) => name.toUpperCase()));
/** Texts of equal length are in the order of their numbers. */
const numberPlace = (number: number): string => (number + 1e6).toFixed(6).padStart(20, '0');
const isExpired = (instant: string): boolean => instant < FAR_YEAR;

/** The place of a contract by one field; null where the data does not tell. */
function placeBy(field: string, row: data.Row, instant: string): string | null {
  if (field === 'expiration_datetime') return instant;
  if (field === 'instrument_id') return null;
  return field === 'strike_price' ? numberPlace(Number(row.strike_price)) : String(row[field]);
}

function contractPlace(
  row: data.Row,
  instant: string,
  price: number | null,
  sortBy: string | undefined,
): string {
  if (sortBy === undefined) {
    const time = isExpired(instant) ? `1${opposite(instant)}` : `0${instant}`;
    const strike = Number(row.strike_price);
    if (price === null) return [time, numberPlace(strike), row.option_type, row.symbol].join(' ');
    return [time, numberPlace(Math.abs(strike - price)), numberPlace(strike), row.symbol].join(' ');
  }
  const places: string[] = [];
  for (const { field, isDescending: isBackwards } of sortTerms(sortBy)) {
    const place = placeBy(field, row, instant);
    if (place === null) break;
    places.push(isBackwards ? opposite(place) : place);
  }
  return places.join('\0');
}

function optionList(texts: Texts, price: number): Expected[] {
  const { option_type, moneyness, strike_price, expiration_date, sort_by } = texts;
  const { strike_from: low, strike_to: high, expiration_from: from, expiration_to: to } = texts;
  const type = lowerAscii(option_type!);
  const side = lowerAscii(moneyness!);
  const isBelow = (row: data.Row): boolean => (row.option_type === 'call') === (side === 'in_the_money');
  const isOnSide = (row: data.Row): boolean =>
    side === 'any' || (isBelow(row) ? Number(row.strike_price) < price : Number(row.strike_price) > price);
  const list = data.optionContracts
    .filter(
      ([row]) =>
        `${row.parent_asset_schema}:${row.country_iso_code}:${row.underlying_name}`.toUpperCase() ===
        nameOf(texts).toUpperCase(),
    )
    .filter(([row]) => type === 'any' || row.option_type === type)
    .filter(([row]) => isOnSide(row))
    .filter(([row]) => low === undefined || Number(row.strike_price) >= Number(low))
    .filter(([row]) => high === undefined || Number(row.strike_price) <= Number(high))
    .filter(([row]) => from === undefined || String(row.expiration_date) >= dayOf(from))
    .filter(([row]) => to === undefined || String(row.expiration_date) <= dayOf(to))
    .filter(([row]) => strike_price === undefined || Number(row.strike_price) === Number(strike_price))
    .filter(([row]) => expiration_date === undefined || row.expiration_date === dayOf(expiration_date))
    .map(([row, instant]) => ({
      fields: { ...row, expiration_datetime: instant.replace('Z', '+00:00') },
      place: contractPlace(row, instant, [type, side].includes('any') ? null : price, sort_by),
    }));
  return arranged(list, isDescending(texts));
}

/** `GET …/option/search/…` */
export const optionSearch: Oracle = (texts) => {
  const given = texts.ref_asset_price;
  const isAny = lowerAscii(texts.moneyness!) === 'any';
  const hasPrice = isAny || given !== undefined || priced.has(nameOf(texts).toUpperCase());
  const { strike_from: low, strike_to: high, expiration_from: from, expiration_to: to } = texts;
  const isPossible = given === undefined || Number(given) > 0 || lowerAscii(texts.schema_asset!) === 'future';
  return {
    mistakes: [
      ...unless(isPossible, 'invalid_parameter ref_asset_price'),
      ...unless(!(Number(low) > Number(high)), 'invalid_parameter strike_from'),
      ...unless(!from || !to || dayOf(from) <= dayOf(to), 'invalid_parameter expiration_from'),
    ],
    faults: [
      ...unknownFaults(nameOf(texts), 'country_symbol'),
      ...unless(hasPrice, 'no_data ref_asset_price'),
    ],
    list: optionList(texts, Number(given ?? data.CLOSE)),
  };
};

/** `GET …/option/expiration_date_list/…` */
export const optionExpirations: Oracle = (texts) => {
  const coming = data.optionContracts
    .filter(
      ([row, instant]) =>
        `${row.parent_asset_schema}:${row.country_iso_code}:${row.underlying_name}`.toUpperCase() ===
          nameOf(texts).toUpperCase() && !isExpired(instant),
    )
    .map(([row, instant]) => `${row.expiration_date} ${instant}`);
  const list = [...new Set(coming)].map((one) => {
    const [expiration_date, instant] = one.split(' ') as [string, string];
    return {
      fields: { expiration_date, expiration_datetime: instant.replace('Z', '+00:00') },
      place: instant,
    };
  });
  return named(texts, { list: arranged(list, isDescending(texts)) });
};
