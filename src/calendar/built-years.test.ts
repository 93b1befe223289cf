// Built years are bounded in bytes: those that were not used lately are built anew.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayOf } from '../base/instant.ts';
import { type BuiltYear, BuiltYears, yearBytes } from './built-years.ts';
import { calendarOf } from './calendar.ts';
import { calendarLimits } from './limits.ts';
import { usStock } from './markets/us-stock.ts';
import { buildYear } from './session.ts';
import { zoneOf } from './zone.ts';

const year = buildYear(usStock, zoneOf(usStock.zone), 2024);

test('above the bound a year goes that was not used since the last look', () => {
  const years = new BuiltYears(3.5 * yearBytes(year));
  const [first, second] = [new Map<number, BuiltYear>(), new Map<number, BuiltYear>()];
  for (const at of [2020, 2021]) years.add(first, at, year);
  years.add(second, 2020, year);
  // This look finds every year used, so the oldest one goes.
  years.add(second, 2021, year);
  assert.deepEqual([[...first.keys()], [...second.keys()]], [[2021], [2020, 2021]]);
  first.get(2021)!.isUsed = true;
  years.add(second, 2022, year);
  assert.deepEqual([[...first.keys()], [...second.keys()]], [[2021], [2021, 2022]]);
  assert.equal(years.bytes, 3 * yearBytes(year));
});

test('a calendar says the same of years that it has forgotten', () => {
  const calendar = calendarOf('stock', 'US');
  const days = (from: number): string =>
    JSON.stringify(calendar.sessions(dayOf(from, 1, 1), dayOf(from + 1, 1, 1)));
  const before = days(1990);
  const more = Math.ceil(calendarLimits.yearBytesMax / yearBytes(year));
  for (const country of ['US', 'GB', 'JP', 'DE', 'FR', 'AU'])
    for (let at = 1980; at < 1980 + more / 4; at++)
      calendarOf('stock', country).sessions(dayOf(at, 1, 1), dayOf(at + 1, 1, 1));
  assert.equal(days(1990), before);
});
