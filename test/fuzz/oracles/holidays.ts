// Holidays (contract 4.5, 8.6).
import assert from 'node:assert/strict';
import type { Texts } from '../answers.ts';
import * as data from '../data.ts';
import type { Good } from '../expect.ts';
import {
  arranged,
  codes,
  dayRangeFaults,
  isBetween,
  isDescending,
  type Oracle,
  unknownFaults,
} from './common.ts';

/** The days of ZZ stocks: of each date the row of the highest priority, where it closes anything. */
function ownDays(symbol: string): data.Row[] {
  const rows = data.holidays.filter((row) => row.symbol === '*' || row.symbol === symbol);
  const best = new Map<unknown, data.Row>();
  for (const row of rows.toSorted((a, b) => Number(a.priority) - Number(b.priority)))
    best.set(row.calendar_date, row);
  return [...best.values()].filter((row) => row.session_template !== 'REGULAR');
}

/** What can be told of the days of any market: their range, their code, their order. */
const checkDays =
  (texts: Texts, code: string | undefined) =>
  ({ groups: [records] }: Good): void => {
    const dates = records!.map((record) => String(record.calendar_date));
    for (const date of dates) assert.ok(isBetween(date, texts), `${date} is out of range`);
    const sorted = [...new Set(dates)].sort();
    assert.deepEqual(dates, isDescending(texts) ? sorted.reverse() : sorted);
    for (const record of records!) if (code !== undefined) assert.equal(record.holiday_code, code);
  };

/** `GET …/holiday/list` */
export const holidayList: Oracle = (texts) => {
  const [type, country, symbol] = texts.full_symbol!.toUpperCase().replace(':GB:', ':UK:').split(':') as [
    string,
    string,
    string,
  ];
  const code = texts.holiday_code?.toUpperCase();
  const isOwn = type === 'STOCK' && country === 'ZZ';
  const rows = isOwn ? ownDays(symbol) : [];
  const list = rows
    .filter((row) => code === undefined || row.holiday_code === code)
    .filter((row) => isBetween(String(row.calendar_date), texts))
    .map((fields) => ({ fields, place: String(fields.calendar_date) }));
  return {
    mistakes: dayRangeFaults(texts),
    faults: symbol === '*' ? [] : unknownFaults(`${type}:${country}:${symbol}`, 'full_symbol'),
    check: checkDays(texts, code),
    // Of other markets the calendar's own tests know the days; where there is none, there are none.
    ...(isOwn || country === 'GLOBAL' ? { list: arranged(list, isDescending(texts)) } : {}),
  };
};

/** `GET …/holiday/holiday_codes/…` */
export const holidayCodes: Oracle = (texts) => {
  const { check, ...rest } = codes(data.holidays, 'holiday_code', 'name')(texts);
  return {
    ...rest,
    check(good) {
      check!(good);
      for (const code of Object.keys(good.entries)) assert.match(code, /^HOLIDAY_/);
    },
  };
};
