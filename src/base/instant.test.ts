// Dates and times in and out (contract 2.1, 2.4), checked against the platform's own Date.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/seed.ts';
import {
  areInOrder,
  DAY_MS,
  dateOf,
  dayOf,
  endOf,
  formatDay,
  formatInstant,
  HOUR_MS,
  MINUTE_MS,
  parseDay,
  parseInstant,
  SECOND_MS,
  startOf,
  weekdayOf,
} from './instant.ts';

const FIRST_DAY = Date.UTC(1900, 0, 1) / DAY_MS;
const LAST_DAY = Date.UTC(2200, 11, 31) / DAY_MS;
const anyDay = fc.integer({ min: FIRST_DAY, max: LAST_DAY });
const anySecond = fc.integer({ min: (FIRST_DAY * DAY_MS) / 1000, max: ((LAST_DAY + 1) * DAY_MS) / 1000 - 1 });
const isoDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
const two = (value: number): string => String(value).padStart(2, '0');

test('every day of 1900 to 2200 is the day that Date says, with its weekday, and prints back (contract 2.4)', () => {
  for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
    const date = new Date(day * DAY_MS);
    const expected = {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
    };
    const found = dateOf(day);
    const iso = isoDay(day);
    const same =
      found.year === expected.year &&
      found.month === expected.month &&
      found.day === expected.day &&
      dayOf(expected.year, expected.month, expected.day) === day &&
      weekdayOf(day) === ((date.getUTCDay() + 6) % 7) + 1 &&
      formatDay(day) === iso &&
      parseDay(iso) === day;
    if (!same) assert.fail(`day ${day} is ${iso}, not ${JSON.stringify(found)}`);
  }
});

test('1970-01-01 is day 0 and a Thursday; 2025-03-03 is a Monday; 1899-12-31 is a Sunday', () => {
  assert.equal(dayOf(1970, 1, 1), 0);
  assert.equal(weekdayOf(0), 4);
  assert.equal(weekdayOf(dayOf(2025, 3, 3)), 1);
  assert.equal(weekdayOf(dayOf(1899, 12, 31)), 7);
});

const forms: readonly [text: string, iso: string, hasOffset: boolean][] = [
  ['2025-03-03 09:30:00', '2025-03-03T09:30:00Z', false],
  ['2025-03-03T09:30:00', '2025-03-03T09:30:00Z', false],
  ['2025-03-03T09:30:00Z', '2025-03-03T09:30:00Z', true],
  ['2025-03-03 09:30:00Z', '2025-03-03T09:30:00Z', true],
  ['2025-03-03T09:30:00.5', '2025-03-03T09:30:00.500Z', false],
  ['2025-03-03T09:30:00.123456789Z', '2025-03-03T09:30:00.123Z', true],
  ['2025-03-03T09:30:00.999999999Z', '2025-03-03T09:30:00.999Z', true],
  ['2025-03-03T09:30:00.001-05:00', '2025-03-03T14:30:00.001Z', true],
  ['2025-03-03T09:30:00+00:00', '2025-03-03T09:30:00Z', true],
  ['2025-07-18T00:00:00+05:30', '2025-07-17T18:30:00Z', true],
  ['2025-07-18T00:00:00-05:00', '2025-07-18T05:00:00Z', true],
  ['2025-07-18T00:00:00-00:00', '2025-07-18T00:00:00Z', true],
  ['2025-07-18T00:00:00+14:00', '2025-07-17T10:00:00Z', true],
  ['2023-01-01 00:00:00 00:00', '2023-01-01T00:00:00Z', true],
  ['2023-01-01T00:00:00 05:30', '2022-12-31T18:30:00Z', true],
  ['2025-03-03T09:30', '2025-03-03T09:30:00Z', false],
  ['2025-03-03t09:30:00', '2025-03-03T09:30:00Z', false],
  ['2025-03-03T09:30:00z', '2025-03-03T09:30:00Z', true],
  ['2025-03-03t09:30z', '2025-03-03T09:30:00Z', true],
  ['2025-03-03T09:30Z', '2025-03-03T09:30:00Z', true],
  ['2025-03-03T09:30:00+0000', '2025-03-03T09:30:00Z', true],
  ['2025-03-03T09:30:00.5-0500', '2025-03-03T14:30:00.500Z', true],
  ['2025-03-03t09:30+0530', '2025-03-03T04:00:00Z', true],
  ['2025-03-03T09:30 0530', '2025-03-03T04:00:00Z', true],
  ['2025-03-03T09:30 05:30', '2025-03-03T04:00:00Z', true],
  ['2025-03-03 09:30:00 0530', '2025-03-03T04:00:00Z', true],
  ['1900-01-01T00:00:00', '1900-01-01T00:00:00Z', false],
  ['2200-12-31T23:59:59', '2200-12-31T23:59:59Z', false],
  ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z', true],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00Z', true],
];
for (const [text, iso, hasOffset] of forms) {
  test(`${JSON.stringify(text)} is ${iso}, ${hasOffset ? 'with' : 'without'} an offset (contract 2.1)`, () => {
    const day = Date.parse(`${text.slice(0, 10)}T00:00:00Z`) / DAY_MS;
    assert.deepEqual(parseInstant(text), {
      kind: 'time',
      ms: Date.parse(iso),
      isLater: /\.\d{3}\d*[1-9]/.test(text),
      hasOffset,
      day,
    });
  });
}

test('a date alone is a calendar day, not a moment (contract 2.1)', () => {
  assert.deepEqual(parseInstant('2025-03-03'), { kind: 'date', day: Date.UTC(2025, 2, 3) / DAY_MS });
});

const refused: readonly [text: string, why: string][] = [
  ['', 'an empty text'],
  ['2025', 'a year alone'],
  ['2025-3-3', 'digits left out'],
  ['20250303', 'the basic form'],
  ['03/03/2025', 'another order'],
  ['2025-03-03T', 'a T without a time'],
  ['2025-03-03 ', 'a trailing space'],
  [' 2025-03-03', 'a leading space'],
  ['2025-03-03\n', 'a trailing line feed'],
  ['2025-03-03T09', 'an hour alone'],
  ['2025-03-03T0930', 'a time without colons'],
  [
    '2025-03-03 05:30',
    'after a space: the time of day, or the offset of a date whose plus arrived as a space',
  ],
  ['2025-03-03 09:30Z', 'a time without seconds after a space'],
  ['2025-03-03 09:30 05:30', 'a time without seconds after a space'],
  ['2025-03-03+05:30', 'a date with an offset'],
  ['2025-03-03T09:30.5', 'a fraction of a minute'],
  ['2025-03-03T09:30:', 'a colon without seconds'],
  ['2025-03-03T09:30 ', 'a space after the time'],
  ['2025-03-03T9:30:00', 'an hour of one digit'],
  ['2025-03-03T09:30:00.', 'a point without a fraction'],
  ['2025-03-03T09:30:00,5', 'a comma before the fraction'],
  ['2025-03-03T09:30:00Z ', 'a space after the offset'],
  ['2025-03-03T09:30:00+000', 'an offset of three digits'],
  ['2025-03-03T09:30:00+2400', 'an offset of a day'],
  ['2025-03-03T09:30:00+0560', 'an offset with sixty minutes'],
  ['2025-03-03T09:30:00zZ', 'two offsets'],
  ['2025-03-03z', 'an offset without a time'],
  ['2025-03-03T09:30:00+00', 'an offset without minutes'],
  ['2025-03-03T09:30:00+24:00', 'an offset of a day'],
  ['2025-03-03T09:30:00+05:60', 'an offset with sixty minutes'],
  ['2025-03-03T09:30:00ZZ', 'two offsets'],
  ['2025-03-03T09:30:00Z+00:00', 'two offsets'],
  ['2025-03-03T24:00:00', 'a 24:00'],
  ['2025-03-03T24:00', 'a 24:00'],
  ['2025-03-03T09:60', 'a minute 60'],
  ['2025-03-03T09:60:00', 'a minute 60'],
  ['2025-03-03T23:59:60Z', 'a second 60'],
  ['2025-02-29', 'a day that the year has not'],
  ['1900-02-29', 'a leap day of 1900'],
  ['2100-02-29', 'a leap day of 2100'],
  ['2025-02-30T00:00:00', 'a day that the month has not'],
  ['2025-04-31', 'a day that the month has not'],
  ['2025-00-10', 'a month 0'],
  ['2025-13-10', 'a month 13'],
  ['2025-01-00', 'a day 0'],
  ['2025-01-32', 'a day 32'],
  ['1899-12-31', 'a year before 1900'],
  ['2201-01-01', 'a year after 2200'],
  ['0000-01-01', 'a year 0'],
  ['+2025-03-03', 'a sign'],
  ['-025-03-03', 'a sign'],
  ['２０２５-03-03', 'digits that are not ASCII'],
  ['2025-03-03T09:30:00\u0000', 'a NUL'],
  ['2025‐03‐03', 'hyphens that are not ASCII'],
  ['now', 'a word'],
  ['1741000000000', 'epoch milliseconds'],
  [`2025-03-03T09:30:00.${'1'.repeat(20_000)}`, '20000 characters'],
];
for (const [text, why] of refused) {
  test(`${JSON.stringify(text.slice(0, 40))}, ${why}, is refused (contract 2.1, 2.4)`, () => {
    assert.equal(parseInstant(text), null);
  });
}

test('a raw plus between date and time arrives as a space and is read so (contract 2.1)', () => {
  const sent = new URLSearchParams('at=2023-01-01+00:00:00').get('at');
  assert.deepEqual(parseInstant(sent!), {
    kind: 'time',
    ms: Date.UTC(2023, 0, 1),
    isLater: false,
    hasOffset: false,
    day: Date.UTC(2023, 0, 1) / DAY_MS,
  });
});

test('any moment of 1900 to 2200 with any offset is the instant that Date reads (contract 2.1, 2.4)', () => {
  const offset = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
  const separator = fc.constantFrom('T', ' ');
  const plus = fc.constantFrom('+', ' ');
  fc.assert(
    fc.property(anySecond, fc.nat(999), offset, separator, plus, (second, ms, minutes, middle, sign) => {
      const local = new Date(second * SECOND_MS + ms).toISOString().slice(0, 23);
      const size = Math.abs(minutes);
      const clock = `${two(Math.floor(size / 60))}:${two(size % 60)}`;
      const parsed = parseInstant(`${local.replace('T', middle)}${minutes < 0 ? '-' : sign}${clock}`);
      assert.deepEqual(parsed, {
        kind: 'time',
        ms: Date.parse(`${local}${minutes < 0 ? '-' : '+'}${clock}`),
        isLater: false,
        hasOffset: true,
        day: Date.parse(local.slice(0, 10)) / DAY_MS,
      });
    }),
  );
});

test('a fraction counts by its first three digits; a bound begins after more (contract 2.1, 2.2)', () => {
  const anyFraction = fc.oneof(fc.stringMatching(/^\d{1,9}$/), fc.stringMatching(/^\d{3}(0{6}|9{6})?$/));
  fc.assert(
    fc.property(anyFraction, (fraction) => {
      const parsed = parseInstant(`2025-03-03T09:30:00.${fraction}Z`);
      const ms = Date.UTC(2025, 2, 3, 9, 30) + Number(fraction.padEnd(3, '0').slice(0, 3));
      const isLater = /[1-9]/.test(fraction.slice(3));
      const day = Date.UTC(2025, 2, 3) / DAY_MS;
      assert.deepEqual(parsed, { kind: 'time', ms, isLater, hasOffset: true, day });
      assert.equal(startOf(parsed!, 'instant'), isLater ? ms + 1 : ms);
      assert.equal(endOf(parsed!, 'instant'), ms + 1);
    }),
  );
});

test('an instant goes out in UTC as 2025-07-18T00:30:00+00:00 and reads back the same (contract 2.4)', () => {
  assert.equal(formatInstant(Date.UTC(2025, 6, 18, 0, 30)), '2025-07-18T00:30:00+00:00');
  fc.assert(
    fc.property(anySecond, (second) => {
      const ms = second * SECOND_MS;
      const text = formatInstant(ms);
      assert.equal(text, new Date(ms).toISOString().replace('.000Z', '+00:00'));
      const day = Math.floor(ms / DAY_MS);
      assert.deepEqual(parseInstant(text), { kind: 'time', ms, isLater: false, hasOffset: true, day });
    }),
  );
});

test('a date that is no day of the calendar is refused, whatever its digits (contract 2.4)', () => {
  const part = fc.nat(99).map(two);
  fc.assert(
    fc.property(fc.integer({ min: 1890, max: 2210 }), part, part, (year, month, day) => {
      const text = `${year}-${month}-${day}`;
      const date = new Date(`${text}T00:00:00Z`);
      const real = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
      const expected = real && year >= 1900 && year <= 2200 ? date.getTime() / DAY_MS : null;
      assert.equal(parseDay(text), expected);
    }),
    { numRuns: 600 },
  );
});

test('no text makes the parser throw, and what it takes lies near its written day (contract 2.4)', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9T:.+Z -]{8,40}$/)), (text) => {
      const parsed = parseInstant(text);
      if (parsed?.kind === 'time')
        assert.ok(Math.abs(parsed.ms - parsed.day * DAY_MS) < 2 * DAY_MS, `${text} is ${parsed.ms}`);
    }),
  );
});

test('the units are each other', () => {
  assert.deepEqual([MINUTE_MS, HOUR_MS, DAY_MS], [60 * SECOND_MS, 60 * MINUTE_MS, 24 * HOUR_MS]);
});

test('a day number of any size is a date and back (dayOf, dateOf)', () => {
  fc.assert(
    fc.property(anyDay, (day) => {
      const date = dateOf(day);
      assert.equal(dayOf(date.year, date.month, date.day), day);
    }),
  );
});

test('two moments inside one millisecond are in order (contract 2.2)', () => {
  const order = (from: string, to: string, kind: 'day' | 'instant'): boolean => {
    const [a, b] = [parseInstant(from)!, parseInstant(to)!];
    return areInOrder(a, startOf(a, kind), endOf(b, kind), kind);
  };
  const [inside, second] = ['2025-03-03T09:30:00.0005Z', '2025-03-03T09:30:00Z'];
  assert.ok(order(inside, '2025-03-03T09:30:00.0008Z', 'instant'));
  assert.ok(order(second, second, 'instant'));
  assert.equal(order(inside, '2025-03-03T09:29:59.999Z', 'instant'), false);
  assert.equal(order('2025-03-04T09:30:00.0005Z', '2025-03-03', 'day'), false);
});
