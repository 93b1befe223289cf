// The year of an event's period, by its label and its release (contract 8.7).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventPeriod } from './economic.ts';

const released = (label: string, at: string): number | null =>
  eventPeriod(label, Date.parse(at))?.year ?? null;

/** Releases as statistical offices made or scheduled them, and the year that their table is about. */
const releases: readonly (readonly [label: string, release: string, year: number | null])[] = [
  // au Jibun Bank PMI, US employment and GDP: released after the period.
  ['Dec', '2024-01-04T00:30:00Z', 2023],
  ['Dec', '2024-12-16T00:30:00Z', 2024],
  ['Jul', '2024-08-02T12:30:00Z', 2024],
  ['Q3', '2024-12-31T00:30:00Z', 2024],
  ['Q3', '2025-01-06T00:30:00Z', 2024],
  ['Q4', '2025-01-30T13:30:00Z', 2024],
  ['4Q', '2025-03-27T12:30:00Z', 2024],
  // The US shutdown of 2025 put figures off for weeks.
  ['Nov', '2025-12-05T13:30:00Z', 2025],
  ['Nov', '2026-01-09T13:30:00Z', 2025],
  // GfK's consumer climate is of the month to come; so are schedules of auctions.
  ['Jan', '2025-12-20T07:00:00Z', 2026],
  ['January', '2025-12-23T07:00:00Z', 2026],
  // At most 45 days ahead.
  ['Jan', '2025-11-17T23:59:59Z', 2026],
  ['Jan', '2025-11-16T23:59:59Z', 2025],
  ['Feb', '2025-12-18T00:00:00Z', 2026],
  ['Feb', '2025-12-17T00:00:00Z', 2025],
  ['Mar', '2024-01-16T00:00:00Z', 2024],
  ['Mar', '2024-01-15T00:00:00Z', 2023],
  ['H1', '2024-07-25T07:00:00Z', 2024],
  ['H2', '2025-02-25T07:00:00Z', 2024],
  ['2H', '2024-06-20T07:00:00Z', 2024],
  ['(Sep)', '2024-10-10T12:30:00Z', 2024],
  ['sept.', '2024-10-10T12:30:00Z', 2024],
  ['MAY', '2024-06-07T12:30:00Z', 2024],
  ['June', '2024-07-05T12:30:00Z', 2024],
  // A year in the label is its year, whenever it comes out.
  ['2023', '2025-03-01T00:00:00Z', 2023],
  ['Dec 2023', '2024-12-16T00:30:00Z', 2023],
  ['2023Q4', '2025-01-30T13:30:00Z', 2023],
  ['FY2024/25', '2025-05-08T06:00:00Z', 2024],
  ['202312', '2025-01-04T00:30:00Z', 2023],
  ['2023-12-31', '2025-01-04T00:30:00Z', 2023],
  // Any other label says nothing: a week, an estimate, a day that looks like a year.
  ['Nov 19', '2024-11-21T13:30:00Z', null],
  ['Week 32', '2024-08-15T12:30:00Z', null],
  ['Prelim', '2024-08-15T12:30:00Z', null],
  ['Decision', '2024-08-15T12:30:00Z', null],
  ['Q5', '2024-08-15T12:30:00Z', null],
  ['H3', '2024-08-15T12:30:00Z', null],
  ['12', '2024-08-15T12:30:00Z', null],
  ['1234567', '2024-08-15T12:30:00Z', null],
  ['2500', '2024-08-15T12:30:00Z', null],
];

for (const [label, release, year] of releases) {
  test(`${label}, released ${release}, is of ${year ?? 'a period that nothing tells'} (contract 8.7)`, () => {
    assert.equal(released(label, release), year);
  });
}

test('a month, quarter or half is of the year whose beginning is nearest, at most 45 days ahead (contract 8.7)', () => {
  const begins: Readonly<Record<string, string>> = {
    ...{ Jan: '01', Feb: '02', Mar: '03', Apr: '04', May: '05', Jun: '06' },
    ...{ Jul: '07', Aug: '08', Sep: '09', Oct: '10', Nov: '11', Dec: '12' },
    ...{ Q1: '01', Q2: '04', Q3: '07', Q4: '10', H1: '01', H2: '07' },
  };
  const dayMs = 86_400_000;
  for (let ms = Date.parse('2023-01-01T12:00:00Z'); ms < Date.parse('2025-01-01T00:00:00Z'); ms += dayMs)
    for (const [label, month] of Object.entries(begins)) {
      const distances = [2021, 2022, 2023, 2024, 2025, 2026].flatMap((year) => {
        const ahead = (Date.parse(`${year}-${month}-01T00:00:00Z`) - ms) / dayMs;
        return ahead > 45 ? [] : [[Math.abs(ahead), year] as const];
      });
      const [, nearest] = distances.sort(([a], [b]) => a - b)[0]!;
      assert.equal(eventPeriod(label, ms)?.year, nearest, `${label} ${new Date(ms).toISOString()}`);
    }
});

test('nothing is no period', () => {
  assert.equal(eventPeriod(undefined, 0), null);
  assert.equal(eventPeriod(null, 0), null);
  assert.equal(eventPeriod('', 0), null);
});
