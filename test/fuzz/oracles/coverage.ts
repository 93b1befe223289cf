// Stored series (contract 9.9): every name that has bars has minutes of two days, and five days.
import assert from 'node:assert/strict';
import * as data from '../data.ts';
import { countryOf, intervalOf, lowerAscii, nameOf } from '../grammar.ts';
import {
  arranged,
  dayRangeFaults,
  isBetween,
  isDescending,
  type Oracle,
  unknownFaults,
  unless,
} from './common.ts';

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

/** The sessions that have bars of an interval, and how many each. */
const filled: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  '1M': { '2025-03-03': 60, '2025-03-04': 60 },
  DAY: Object.fromEntries(['03', '04', '05', '06', '07'].map((day) => [`2025-03-${day}`, 1])),
};

/**
 * `GET /…/coverage/{country_symbol}`: no interval above DAY; no bar but those of some days, which are there
 * where the answer reaches.
 */
export const sessionCoverage: Oracle = (texts) => {
  const name = nameOf(texts);
  const interval = texts.interval === undefined ? '1M' : intervalOf(texts.interval);
  const isLong = interval === 'WEEK' || interval === 'MON';
  return {
    mistakes: [...dayRangeFaults(texts), ...unless(!isLong, 'invalid_parameter interval')],
    faults: unknownFaults(name, 'country_symbol'),
    check({ groups: [records = []], hasNext }) {
      const dates = records.map(({ session_date }) => String(session_date));
      const sorted = dates.toSorted();
      assert.deepEqual(dates, isDescending(texts) ? sorted.reverse() : sorted);
      assert.equal(new Set(dates).size, dates.length);
      for (const date of dates) assert.ok(isBetween(date, texts), date);
      const own = data.barNames.some((one) => one.toUpperCase() === name.toUpperCase())
        ? filled[interval!]
        : undefined;
      if (own === undefined) return;
      for (const { session_date, bars, interval: given } of records)
        assert.deepEqual(
          [Number(bars), given],
          [own[String(session_date)] ?? 0, interval],
          String(session_date),
        );
      const isWhole = hasNext === false && (texts.next_page_key ?? '') === '';
      const isIn = (date: string): boolean => dates.includes(date);
      if (isWhole)
        for (const date of Object.keys(own)) assert.equal(isIn(date), isBetween(date, texts), date);
    },
  };
};
