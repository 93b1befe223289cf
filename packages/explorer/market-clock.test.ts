// A market's clock over the changes of daylight saving, against what Intl says of each instant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockOf, dateText, dayOf, dayText } from './market-clock.ts';

const HOUR_MS = 3_600_000;

/** The same by another way: the whole text that Intl makes. */
const told = (zone: string, ms: number): string =>
  new Date(ms).toLocaleString('sv-SE', { timeZone: zone }).slice(0, 16);

// Both changes of 2026: of New York, whose days forex has, and of others on other dates, to the other side
// and by half an hour.
for (const [zone, days] of [
  ['America/New_York', ['2026-03-08', '2026-11-01']],
  ['Europe/London', ['2026-03-29', '2026-10-25']],
  ['Australia/Lord_Howe', ['2026-04-05', '2026-10-04']],
  ['Asia/Kolkata', ['2026-06-01']],
  ['UTC', ['2026-03-08']],
] as const)
  test(`each quarter of an hour around the changes of ${zone} has its time, and each noon its instant`, () => {
    const clock = clockOf(zone);
    for (const day of days) {
      for (let ms = Date.parse(day) - 24 * HOUR_MS; ms < Date.parse(day) + 48 * HOUR_MS; ms += HOUR_MS / 4) {
        const local = `${dayOf(clock.localMs(ms))} ${clock.time(ms)}`;
        assert.equal(local, told(zone, ms));
      }
      assert.equal(told(zone, clock.instantMs(day, 12)), `${day} 12:00`);
    }
  });

test('a zone that no browser knows counts as UTC, and dates are written as people do', () => {
  assert.equal(clockOf('Mars/Olympus').zone, 'UTC');
  assert.equal(dateText(Date.parse('2026-03-08T23:59:59Z')), '8 Mar 2026');
  assert.equal(dayText('2026-03-08'), 'Sun, 8 Mar 2026');
  assert.equal(clockOf('America/New_York').name(Date.parse('2026-07-01')), 'EDT');
});
