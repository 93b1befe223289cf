// What the areas' oracles have in common.
import assert from 'node:assert/strict';
import type { Texts } from '../answers.ts';
import * as data from '../data.ts';
import type { Came, Expectation, Expected } from '../expect.ts';
import { columnsIn, countryOf, dayOf, instantOf, lowerAscii, nameOf } from '../grammar.ts';

/** What must come of a request whose texts are right one by one. */
export type Oracle = (texts: Texts) => Expectation;
type Param = 'country_symbol' | 'full_symbol';

const DAY_MS = 86_400_000;
/** One of the two is named where a range is the wrong way round. */
export const rangeFaults = ['invalid_parameter from_date', 'invalid_parameter to_date'];

/** Every instrument, in capitals. */
export const known = new Set(data.names.map((name) => name.toUpperCase()));
/** The faults, unless all is right. */
export const unless = (isRight: boolean, ...faults: readonly string[]): readonly string[] =>
  isRight ? [] : faults;
/** What a name calls for. */
export const unknownFaults = (name: string, param: Param): readonly string[] =>
  unless(known.has(name.toUpperCase()), `unknown_instrument ${param}`);

/** Where a name is known there is nothing to tell but what `rest` says. */
export const named = (texts: Texts, rest: Omit<Expectation, 'faults'> = {}): Expectation => ({
  faults: unknownFaults(nameOf(texts), 'country_symbol'),
  ...rest,
});

/** The records have the columns that were asked for, and no others (contract 9.16). True where they were. */
export function haveColumns({ columns }: Texts, records: readonly Came[]): boolean {
  if (columns === undefined) return false;
  for (const record of records) assert.deepEqual(Object.keys(record), columnsIn(columns));
  return true;
}

/** The instant of a record's field, epoch milliseconds, in whichever form it was asked for. */
export function msOf(value: unknown, { timestamps = 'iso' }: Texts): number {
  if (lowerAscii(timestamps) === 'iso') return Date.parse(String(value));
  return Number(value) * (lowerAscii(timestamps) === 'unix' ? 1000 : 1);
}

/** Which way a list goes. */
export const isDescending = ({ sort }: Texts, fallback = 'asc'): boolean =>
  lowerAscii(sort ?? fallback) === 'desc';

/** Records by place, and the other way round. */
export function arranged(list: readonly Expected[], descending: boolean): Expected[] {
  const sorted = list.toSorted((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0));
  return descending ? sorted.reverse() : sorted;
}

/** Whether a day lies in a range of dates (contract 2.2). */
export const isBetween = (day: string, { from_date: from, to_date: to }: Texts): boolean =>
  (from === undefined || dayOf(from) <= day) && (to === undefined || day <= dayOf(to));

/** What the dates of a range call for. */
export const dayRangeFaults = ({ from_date: from, to_date: to }: Texts): readonly string[] =>
  unless(from === undefined || to === undefined || dayOf(from) <= dayOf(to), ...rangeFaults);

/** The last millisecond of a bound; a date alone is a UTC day (contract 2.3). */
const endOf = (text: string): number => instantOf(text) + (text.length === 10 ? DAY_MS - 1 : 0);

/** Whether an instant lies in a range (contract 2.2). */
export const isWithin = (ms: number, { from_date: from, to_date: to }: Texts): boolean =>
  (from === undefined || instantOf(from) <= ms) && (to === undefined || ms <= endOf(to));

/** What the instants of a range call for. */
export const instantRangeFaults = ({ from_date: from, to_date: to }: Texts): readonly string[] =>
  unless(from === undefined || to === undefined || instantOf(from) <= endOf(to), ...rangeFaults);

/** Where the last so many of a list begin. */
export const lastOf = (count: number, limit: number): number => Math.max(0, count - limit);

/** Every instant that the fuzzer asks at lies between the expired and the others. */
export const FAR_YEAR = '2099';

/** Text in the opposite order. */
export const opposite = (text: string): string =>
  `${Array.from(text, (letter) => String.fromCharCode(0xffff - letter.charCodeAt(0))).join('')}\uffff`;

/** A country that ships no codes has those of the data, and no others. */
export const codes =
  (rows: readonly data.Row[], code: string, text: string): Oracle =>
  (texts) => ({
    faults: [],
    check({ entries }) {
      const own = countryOf(texts.country_iso_code!) === 'ZZ' ? rows : [];
      for (const row of own)
        assert.ok(
          own.some((other) => other[code] === row[code] && entries[String(row[code])] === other[text]),
          `${row[code]}: ${JSON.stringify(entries)}`,
        );
      if (own.length > 0)
        assert.deepEqual(
          Object.keys(entries).sort(),
          [...new Set(own.map((row) => String(row[code])))].sort(),
        );
    },
  });
