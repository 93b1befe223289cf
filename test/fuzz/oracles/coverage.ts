// Stored series (contract 9.9): every name that has bars has minutes of two days, and five days.
import * as data from '../data.ts';
import { countryOf, intervalOf, lowerAscii } from '../grammar.ts';
import { arranged, isDescending, type Oracle } from './common.ts';

const minutes = {
  ...{ interval: '1M', bars: 120, price_basis: 'raw', runs: 1 },
  ...{ first_datetime: '2025-03-03T14:30:00+00:00', last_datetime: '2025-03-04T15:29:00+00:00' },
};
const days = { interval: 'DAY', bars: 5, price_basis: 'raw', runs: 1 };

const upperAscii = (text: string): string => text.replace(/[a-z]/g, (letter) => letter.toUpperCase());

/** `GET /…/coverage` */
export const seriesCoverage: Oracle = (texts) => {
  const type = lowerAscii(texts.schema_asset!);
  const beginning = texts.query === undefined ? '' : upperAscii(texts.query.trim());
  const isNothing = texts.query !== undefined && beginning === '';
  const interval = texts.interval === undefined ? null : intervalOf(texts.interval);
  const list = data.barNames.flatMap((name) => {
    const [other, country_iso_code, symbol] = name.split(':') as [string, string, string];
    if (other !== type || isNothing || !symbol.startsWith(beginning)) return [];
    if (texts.country_iso_code !== undefined && countryOf(texts.country_iso_code) !== country_iso_code)
      return [];
    const named = { asset_schema: other.toUpperCase(), country_iso_code, symbol };
    return [minutes, days]
      .map((fields, at) => ({
        fields: { ...named, ...fields },
        place: `${symbol}\0${country_iso_code}\0${at}`,
      }))
      .filter(({ fields }) => interval === null || fields.interval === interval);
  });
  return { faults: [], list: arranged(list, isDescending(texts)) };
};
