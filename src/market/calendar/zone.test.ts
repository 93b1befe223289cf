// Time zones: offsets and local readings (contract 2.5, 3.4), against the platform's own local fields.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { DAY_MS, HOUR_MS } from '../../base/instant.ts';
import { findZone, zoneOf } from './zone.ts';

const names = [
  'UTC',
  'America/New_York',
  'America/Chicago',
  'America/Sao_Paulo',
  'Europe/London',
  'Europe/Berlin',
  'Europe/Zurich',
  'Africa/Casablanca',
  'Africa/Cairo',
  'Asia/Beirut',
  'Asia/Kolkata',
  'Asia/Hong_Kong',
  'Asia/Shanghai',
  'Asia/Tokyo',
  'Australia/Sydney',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];

/**
 * Local time minus UTC by the local clock's fields: another path than the offset's name, which the source
 * reads.
 */
function offsetByFields(name: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (ms) => {
    const field: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(ms)) field[type] = Number(value);
    return Date.UTC(field.year!, field.month! - 1, field.day, field.hour, field.minute, field.second) - ms;
  };
}

/** No zone changes its offset twice within this time. */
const STEP_MS = 12 * HOUR_MS;

const anySecond = fc
  .integer({ min: Date.UTC(1900, 0, 2) / 1000, max: Date.UTC(2200, 11, 30) / 1000 })
  .map((second) => second * 1000);

for (const name of names) {
  const zone = zoneOf(name);
  const expected = offsetByFields(name);

  test(`the offset of ${name} is the platform's at any second of 1900 to 2200 (contract 3.4)`, () => {
    fc.assert(
      fc.property(anySecond, (ms) => {
        assert.equal(zone.offsetAt(ms), expected(ms), new Date(ms).toISOString());
        assert.equal(zone.dayAt(ms), Math.floor((ms + expected(ms)) / DAY_MS));
      }),
      { numRuns: 100 },
    );
  });

  test(`the offset of ${name} is the platform's throughout 2011 and 2024, and changes at the same half hour (contract 3.4)`, () => {
    const check = (ms: number): void => {
      if (zone.offsetAt(ms) !== expected(ms)) assert.fail(new Date(ms).toISOString());
    };
    for (const year of [2011, 2024])
      for (let ms = Date.UTC(year, 0, 1); ms < Date.UTC(year + 1, 0, 1); ms += STEP_MS) {
        check(ms);
        if (expected(ms) === expected(ms + STEP_MS)) continue;
        for (let at = ms; at < ms + STEP_MS; at += HOUR_MS / 2) check(at);
      }
  });

  test(`what the clock of ${name} shows is read back as the instant, or as two of which it is one (contract 2.5)`, () => {
    fc.assert(
      fc.property(anySecond, (ms) => {
        const reading = zone.read(ms + zone.offsetAt(ms));
        assert.notEqual(reading.kind, 'none');
        if (reading.kind === 'one') assert.deepEqual([reading.ms, reading.laterMs], [ms, ms]);
        else {
          assert.ok(reading.ms < reading.laterMs);
          assert.ok(reading.ms === ms || reading.laterMs === ms);
        }
      }),
      { numRuns: 50 },
    );
  });
}

const transitions: readonly [name: string, at: string, before: number, after: number][] = [
  ['America/New_York', '2024-03-10T07:00:00Z', -5, -4],
  ['America/New_York', '2024-11-03T06:00:00Z', -4, -5],
  ['America/New_York', '2006-04-02T07:00:00Z', -5, -4],
  ['America/Chicago', '2024-03-10T08:00:00Z', -6, -5],
  ['Europe/London', '2024-03-31T01:00:00Z', 0, 1],
  ['Europe/London', '2024-10-27T01:00:00Z', 1, 0],
  ['Australia/Sydney', '2024-10-05T16:00:00Z', 10, 11],
  ['Australia/Lord_Howe', '2024-04-06T15:00:00Z', 11, 10.5],
  ['Australia/Lord_Howe', '2024-10-05T15:30:00Z', 10.5, 11],
  ['Asia/Beirut', '2024-03-30T22:00:00Z', 2, 3],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', -10, 14],
];
for (const [name, at, before, after] of transitions) {
  test(`the clock of ${name} goes from ${before} to ${after} hours at ${at} exactly (contract 3.4)`, () => {
    const ms = Date.parse(at);
    const zone = zoneOf(name);
    assert.equal(zone.offsetAt(ms - 1), before * HOUR_MS);
    assert.equal(zone.offsetAt(ms), after * HOUR_MS);
  });
}

const readings: readonly [name: string, local: string, instants: readonly string[]][] = [
  ['America/New_York', '2024-03-10T01:59:59', ['2024-03-10T06:59:59Z']],
  ['America/New_York', '2024-03-10T02:00:00', []],
  ['America/New_York', '2024-03-10T02:59:59', []],
  ['America/New_York', '2024-03-10T03:00:00', ['2024-03-10T07:00:00Z']],
  ['America/New_York', '2024-11-03T00:59:59', ['2024-11-03T04:59:59Z']],
  ['America/New_York', '2024-11-03T01:00:00', ['2024-11-03T05:00:00Z', '2024-11-03T06:00:00Z']],
  ['America/New_York', '2024-11-03T01:59:59', ['2024-11-03T05:59:59Z', '2024-11-03T06:59:59Z']],
  ['America/New_York', '2024-11-03T02:00:00', ['2024-11-03T07:00:00Z']],
  ['Europe/London', '2024-10-27T01:30:00', ['2024-10-27T00:30:00Z', '2024-10-27T01:30:00Z']],
  ['Europe/London', '2024-03-31T01:30:00', []],
  ['Australia/Lord_Howe', '2024-04-07T01:45:00', ['2024-04-06T14:45:00Z', '2024-04-06T15:15:00Z']],
  ['Australia/Lord_Howe', '2024-10-06T02:15:00', []],
  ['America/Sao_Paulo', '2018-02-17T23:30:00', ['2018-02-18T01:30:00Z', '2018-02-18T02:30:00Z']],
  ['America/Sao_Paulo', '2018-02-18T00:00:00', ['2018-02-18T03:00:00Z']],
  ['Pacific/Apia', '2011-12-30T12:00:00', []],
  ['Pacific/Apia', '2011-12-29T23:59:59', ['2011-12-30T09:59:59Z']],
  ['Pacific/Apia', '2011-12-31T00:00:00', ['2011-12-30T10:00:00Z']],
  ['Asia/Kolkata', '2024-03-10T02:30:00', ['2024-03-09T21:00:00Z']],
  ['UTC', '2024-03-10T02:30:00', ['2024-03-10T02:30:00Z']],
];
for (const [name, local, instants] of readings) {
  test(`${local} in ${name} is ${instants.join(' and ') || 'skipped'} (contract 2.5)`, () => {
    const reading = zoneOf(name).read(Date.parse(`${local}Z`));
    assert.equal(reading.kind, (['none', 'one', 'two'] as const)[instants.length]);
    if (instants.length === 0) return;
    assert.equal(reading.ms, Date.parse(instants[0]!));
    assert.equal(reading.laterMs, Date.parse(instants.at(-1)!));
  });
}

test('a skipped reading falls from the jump on, no further than the gap (contract 3.4)', () => {
  const jump = Date.parse('2024-03-10T07:00:00Z');
  for (const local of ['2024-03-10T02:00:00Z', '2024-03-10T02:30:00Z', '2024-03-10T02:59:59Z']) {
    const { ms } = zoneOf('America/New_York').read(Date.parse(local));
    assert.ok(ms >= jump && ms < jump + HOUR_MS, new Date(ms).toISOString());
  }
});

test('a day whose midnight is skipped begins at the jump, a doubled midnight at the first (contract 3.7)', () => {
  const beirut = Date.UTC(2024, 2, 31) / DAY_MS;
  assert.equal(zoneOf('Asia/Beirut').instantOf(beirut, 0), Date.parse('2024-03-30T22:00:00Z'));
  const havana = Date.UTC(2024, 10, 3) / DAY_MS;
  assert.equal(zoneOf('America/Havana').instantOf(havana, 0), Date.parse('2024-11-03T04:00:00Z'));
});

test('minutes before midnight are of the day before (contract 3.7)', () => {
  const monday = Date.UTC(2024, 2, 11) / DAY_MS;
  assert.equal(zoneOf('America/New_York').instantOf(monday, -7 * 60), Date.parse('2024-03-10T21:00:00Z'));
});

test('a name that the platform does not know is no zone, a fault where our own data names it', () => {
  for (const name of ['', 'Mars/Phobos', 'America/New York', '__proto__', 'x'.repeat(20_000)])
    assert.equal(findZone(name), null, name.slice(0, 40));
  assert.throws(() => zoneOf('Mars/Phobos'), /Mars\/Phobos/);
  assert.equal(findZone('Europe/London'), zoneOf('Europe/London'));
});
