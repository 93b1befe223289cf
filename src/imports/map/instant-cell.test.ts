// Cells that name a moment, one by one and in a row, and clock readings of a zone (contract 2.4, 2.5, 11).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/instant.ts';
import { zoneOf } from '../../market/calendar/zone.ts';
import { InstantCell, LocalClock, RowOrder } from './instant-cell.ts';

type Said = readonly [kind: string, ms: number | null];

const encoder = new TextEncoder();

const saidBy = ({ kind, ms }: InstantCell): Said => [kind, kind === 'bad' ? null : ms];

/** What a cell says that is read by itself, in the middle of other bytes. */
function readAlone(text: string): Said {
  const bytes = encoder.encode(`0${text}0`);
  const cell = new InstantCell();
  cell.read(bytes, 1, bytes.length - 1);
  return saidBy(cell);
}

/** The same with the date that it names in a row of DAY. */
const fullyBy = (cell: InstantCell) => [...saidBy(cell), cell.day];

function fullyAlone(text: string) {
  const bytes = encoder.encode(text);
  const cell = new InstantCell();
  cell.read(bytes, 0, bytes.length);
  return fullyBy(cell);
}

const at = (text: string): number => {
  const ms = Date.parse(text);
  assert.ok(!Number.isNaN(ms), text);
  return ms;
};

const instants: readonly (readonly [text: string, same: string])[] = [
  ['2025-03-03T09:30:00Z', '2025-03-03T09:30:00Z'],
  ['2025-03-03 09:30:00Z', '2025-03-03T09:30:00Z'],
  ['2025-03-03T09:30:00+00:00', '2025-03-03T09:30:00Z'],
  ['2025-03-03T09:30:00-00:00', '2025-03-03T09:30:00Z'],
  ['2025-03-03T09:30:00-05:00', '2025-03-03T14:30:00Z'],
  ['2025-03-03 09:30:00-05:00', '2025-03-03T14:30:00Z'],
  ['2025-03-03 09:30:00-0500', '2025-03-03T14:30:00Z'],
  ['2025-03-03 09:30:00-05', '2025-03-03T14:30:00Z'],
  ['2025-03-03T09:30:00+05:45', '2025-03-03T03:45:00Z'],
  ['2025-03-03T01:00:00+14:00', '2025-03-02T11:00:00Z'],
  ['2025-03-03T23:00:00-12:00', '2025-03-04T11:00:00Z'],
  ['2025-03-03T09:30:00.5Z', '2025-03-03T09:30:00.500Z'],
  ['2025-03-03T09:30:00.123+01:00', '2025-03-03T08:30:00.123Z'],
  ['2025-03-03T09:30:00.000000Z', '2025-03-03T09:30:00Z'],
  ['2025-03-03T09:30:00.000000000Z', '2025-03-03T09:30:00Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ['2000-02-29T23:59:59Z', '2000-02-29T23:59:59Z'],
  ['1900-01-01T00:00:00Z', '1900-01-01T00:00:00Z'],
  ['1969-12-31T23:59:00Z', '1969-12-31T23:59:00Z'],
  ['2200-12-31T23:59:59Z', '2200-12-31T23:59:59Z'],
  ['1741012200', '2025-03-03T14:30:00Z'],
  ['1741012200000', '2025-03-03T14:30:00Z'],
  ['1741012200000000', '2025-03-03T14:30:00Z'],
  ['1741012200000000000', '2025-03-03T14:30:00Z'],
  ['7289654340', '2200-12-31T23:59:00Z'],
  ['7289654340000', '2200-12-31T23:59:00Z'],
  ['7289654340000000', '2200-12-31T23:59:00Z'],
  ['7289654340000000000', '2200-12-31T23:59:00Z'],
  ['-2208988800', '1900-01-01T00:00:00Z'],
  ['-2208988800000', '1900-01-01T00:00:00Z'],
  ['-2208988800000000', '1900-01-01T00:00:00Z'],
  ['-2208988800000000000', '1900-01-01T00:00:00Z'],
  ['100000', '1970-01-02T03:46:40Z'],
  ['20251303', '1970-08-23T09:21:43Z'],
  ['-20250303', '1969-05-11T14:54:57Z'],
  ['946684800', '2000-01-01T00:00:00Z'],
  ['946684800000', '2000-01-01T00:00:00Z'],
  ['946684800000000', '2000-01-01T00:00:00Z'],
  ['946684800000000000', '2000-01-01T00:00:00Z'],
  [' 2025-03-03T09:30:00Z', '2025-03-03T09:30:00Z'],
  ['\t2025-03-03 09:30:00+01:00  ', '2025-03-03T08:30:00Z'],
  [' 1741012200 ', '2025-03-03T14:30:00Z'],
  ['2024-03-15T13:30Z', '2024-03-15T13:30:00Z'],
  ['2024-03-15T13:30z', '2024-03-15T13:30:00Z'],
  ['2024-03-15t13:30+0200', '2024-03-15T11:30:00Z'],
  ['2024-03-15 13:30+02', '2024-03-15T11:30:00Z'],
  ['2024-03-15 09:30-04:00', '2024-03-15T13:30:00Z'],
  ['2024-03-15 13:30:00 UTC', '2024-03-15T13:30:00Z'],
  ['2024-03-15 13:30 GMT', '2024-03-15T13:30:00Z'],
  ['2024-03-15 09:30:00 -0400', '2024-03-15T13:30:00Z'],
  ['2024-03-15T9:30:00Z', '2024-03-15T09:30:00Z'],
  ['2024-03-15 9:30 PM Z', '2024-03-15T21:30:00Z'],
  ['20240315T133000Z', '2024-03-15T13:30:00Z'],
  ['2024-03-15T09:30:00-04:00[America/New_York]', '2024-03-15T13:30:00Z'],
  ['2024-03-15T09:30-04:00[America/New_York]', '2024-03-15T13:30:00Z'],
  ['2024-11-03T01:30:00-05:00[America/New_York]', '2024-11-03T06:30:00Z'],
  ['20240315 09:30:00 US/Eastern', '2024-03-15T13:30:00Z'],
  ['20240215 09:30 America/New_York', '2024-02-15T14:30:00Z'],
  ['2024-03-15T09:30:00 Asia/Ho_Chi_Minh', '2024-03-15T02:30:00Z'],
  ['2024-03-15 09:30:00 EDT', '2024-03-15T13:30:00Z'],
  ['2024-02-15T09:30 EST', '2024-02-15T14:30:00Z'],
  ['2024-11-03 01:30:00 EDT', '2024-11-03T05:30:00Z'],
  ['2024-11-03 01:30:00 EST', '2024-11-03T06:30:00Z'],
  ['\u00a02024-03-15T13:30Z\u00a0', '2024-03-15T13:30:00Z'],
  ['2024-03-15T13:30:00.000Z[UTC]', '2024-03-15T13:30:00Z'],
  ['2024-03-15T13:30Z[Etc/UTC]', '2024-03-15T13:30:00Z'],
  ['Fri, 15 Mar 2024 13:30:00 GMT', '2024-03-15T13:30:00Z'],
  ['Sun, 17 Mar 2024 13:30:00 GMT', '2024-03-17T13:30:00Z'],
  ['Fri, 15 Mar 2024 09:30:00 -0400', '2024-03-15T13:30:00Z'],
  ['Fri, 15 Mar 2024 09:30 EDT', '2024-03-15T13:30:00Z'],
  ['5 Jul 2024 13:30:00 +0000', '2024-07-05T13:30:00Z'],
  ['1710509400.0', '2024-03-15T13:30:00Z'],
  ['1710509400000.000', '2024-03-15T13:30:00Z'],
  ['1.7105094E9', '2024-03-15T13:30:00Z'],
  ['1.7105094E12', '2024-03-15T13:30:00Z'],
  ['1.7105094e+18', '2024-03-15T13:30:00Z'],
  ['1.741e9', '2025-03-03T11:06:40Z'],
];

for (const [text, same] of instants) {
  test(`${text} is the instant ${same} (contract 2.1, 11)`, () => {
    assert.deepEqual(readAlone(text), ['instant', at(same)]);
  });
}

test('a time without an offset is a clock reading, with T or a space', () => {
  for (const text of ['2025-03-03T09:30:00', '2025-03-03 09:30:00', '2025-03-03 09:30:00.000'])
    assert.deepEqual(readAlone(text), ['local', at('2025-03-03T09:30:00Z')], text);
});

/** Clock readings of 2024-03-15, with the time that they say. */
const clocks: readonly (readonly [text: string, time: string])[] = [
  ['2024-03-15 09:30', '09:30:00'],
  ['2024-03-15T13:30', '13:30:00'],
  ['2024-03-15 9:30', '09:30:00'],
  ['2024-03-15 0930', '09:30:00'],
  ['2024-03-15 093000', '09:30:00'],
  ['2024-03-15 9:30 AM', '09:30:00'],
  ['2024-03-15\u00a09:30\u202fAM', '09:30:00'],
  ['2024-03-15 09:30:00 pm', '21:30:00'],
  ['2024-03-15 12:00 PM', '12:00:00'],
  ['2024-03-15 12:01AM', '00:01:00'],
  ['2024-03-15 09:30:00.0', '09:30:00'],
  ['2024.03.15 09:30', '09:30:00'],
  ['2024.03.15 09:30:00', '09:30:00'],
  ['2024/03/15 09:30', '09:30:00'],
  ['20240315 0930', '09:30:00'],
  ['20240315 093000', '09:30:00'],
  ['20240315 09:30:00', '09:30:00'],
  ['20240315  09:30:00', '09:30:00'],
  ['20240315-09:30:00', '09:30:00'],
  ['15 Mar 2024 09:30:00', '09:30:00'],
];

for (const [text, time] of clocks) {
  test(`${text} is the clock reading ${time} of its date`, () => {
    assert.deepEqual(readAlone(text), ['local', at(`2024-03-15T${time}Z`)]);
  });
}

test('a date alone is a date, with points or slashes too where the year is first', () => {
  for (const text of ['2024.03.15', '2024/03/15', ' 2024-03-15 '])
    assert.deepEqual(readAlone(text), ['date', at('2024-03-15T00:00:00Z')], text);
  for (const text of ['2025-03-03', '1900-01-01', '2200-12-31', '2024-02-29'])
    assert.deepEqual(readAlone(text), ['date', at(`${text}T00:00:00Z`)], text);
});

const bad: readonly string[] = [
  '',
  ' ',
  '-',
  'abc',
  'NaT',
  'null',
  '2025-02-29',
  '2025-02-30',
  '2025-13-01',
  '2025-00-10',
  '2025-01-00',
  '2025-04-31T00:00:00Z',
  '1900-02-29',
  '1899-12-31',
  '2201-01-01',
  '1899-12-31T23:59:59Z',
  '2201-01-01T00:00:00Z',
  '0000-01-01',
  '9999-12-31',
  '2025-3-3',
  '25-03-03',
  '03/03/2025',
  '2025-03-03T',
  '2025-03-03T09',
  '2025-03-03T24:00:00Z',
  '2025-03-03T09:60:00Z',
  '2025-03-03T09:30:60Z',
  '2025-03-03T-1:30:00Z',
  '2025-03-03T09:30:00ZZ',
  '2025-03-03T09:30:00.Z',
  '2025-03-03T09:30:00.1234567890Z',
  '2025-03-03T09:30:00.5.5Z',
  '2025-03-03T09:30:00,5Z',
  '2025-03-03T09:30:00+24:00',
  '2025-03-03T09:30:00+05:60',
  '2025-03-03T09:30:00+5:00',
  '2025-03-03T09:30:00+',
  '2025-03-03T09:30:00+05:3',
  '2025-07-03T09:30:00 EST',
  '2025-03-03T09:30:00 EDT',
  '2024-03-10 02:30:00 EST',
  '2025-03-03T09:30:00 CST',
  '2025-03-03\u00a009:30:00\u00a0x',
  '2025-03-03x09:30:00Z',
  '2025-03-03T09-30-00Z',
  '1741012200.5',
  '+1741012200',
  '0x67c5b3a8',
  '1741 012200',
  '17410122000000000000',
  '9999999999999999999',
  '٢٠٢٥-03-03',
  '2024-03/15',
  '2024.03-15',
  '15.03.2024 09:30',
  '2024-03-15 09:3',
  '2024-03-15 093',
  '2024-03-15 930',
  '2024-03-15 09300',
  '2024-03-15 13:30 PM',
  '2024-03-15 00:30 AM',
  '2024-03-15 9:30 XM',
  '2024-03-15 24:00',
  '2024-03-15 09:30Z Z',
  '20240315',
  '20240315.0',
  '202403150930',
  '20241315 0930',
  '2024-11-03 01:30:00 US/Eastern',
  '2024-03-10 02:30:00 US/Eastern',
  '2024-03-15 09:30:00 US/Nowhere',
  '2024-03-15-09:30',
  '20240315-0930',
  '2024-03-15T09:30:00-05:00[America/New_York]',
  '2024-03-15T09:30:00[America/New_York]',
  '2024-03-15T09:30:00-04:00[Amerika/New_York]',
  '2024-03-15T09:30:00-04:00[]',
  '2024-03-15T09:30:00-04:00America/New_York]',
  'Thu, 15 Mar 2024 13:30:00 GMT',
  'Fri, 15 Mar 2024 13:30:00 CEST',
  'Fri, 32 Mar 2024 13:30:00 GMT',
  'Fri 15 Mar 24 13:30:00 GMT',
  '1710509400.5',
  '1710509400.',
  '1.71051E+12',
  '1.7105094005E9',
  '1.7105094E99',
];

for (const text of bad) {
  test(`${JSON.stringify(text)} is no date and no time (contract 2.4)`, () => {
    assert.deepEqual(readAlone(text), ['bad', null]);
  });
}

test('every moment reads the same in every form it may be written in', () => {
  const moment = fc.date({
    min: new Date('1973-03-04T00:00:00Z'),
    max: new Date('2200-12-30T00:00:00Z'),
    noInvalidDate: true,
  });
  const offset = fc.integer({ min: -14 * 60, max: 14 * 60 });
  fc.assert(
    fc.property(moment, offset, (date, minutes) => {
      const ms = Math.floor(date.getTime() / 1000) * 1000;
      const expected = ['instant', ms];
      const clock = (shifted: number): string => new Date(shifted).toISOString().slice(0, 19);
      const sign = minutes < 0 ? '-' : '+';
      const two = (value: number): string => String(Math.trunc(Math.abs(value))).padStart(2, '0');
      const zone = `${sign}${two(minutes / 60)}:${two(minutes % 60)}`;
      assert.deepEqual(readAlone(`${clock(ms)}Z`), expected);
      assert.deepEqual(readAlone(`${clock(ms + minutes * MINUTE_MS)}${zone}`), expected);
      assert.deepEqual(readAlone(String(ms / 1000)), expected);
      assert.deepEqual(readAlone(String(ms)), expected);
      assert.deepEqual(readAlone(`${ms}000`), expected);
      const wholeMinute = Math.floor(ms / MINUTE_MS) * MINUTE_MS;
      assert.deepEqual(readAlone(`${wholeMinute}000000`), ['instant', wholeMinute]);
    }),
  );
});

/** Cells as files have them: most like the one before, some of another form, some of none. */
const cell: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          '2025-03-03T00:',
          '2025-03-03T09:',
          '2025-03-03T10:',
          '2025-03-04T09:',
          '2025-03-03 09:',
          '1900-01-01T00:',
          '2200-12-31T23:',
          ' 2025-03-03T09:',
          '2025.03.03 09:',
          '20250303 09:',
          '2025-03-03 9:',
          'Mon, 03 Mar 2025 09:',
        ),
        fc.oneof(
          fc.integer({ min: 0, max: 61 }).map((minutes) => String(minutes).padStart(2, '0')),
          fc.constantFrom('x1', '1x', '-1'),
        ),
        fc.constantFrom(
          ':00',
          ':00Z',
          ':00+00:00',
          ':00-05:00',
          ':00+00:45',
          ':00-00:45',
          ':30Z',
          ':00.5Z',
          '',
          'Z',
          ':61Z',
          ' AM',
          ' PMZ',
          ':00-05:00[America/New_York]',
          ' GMT',
          ' EST',
          ' EDT',
        ),
      )
      .map((parts) => parts.join('')),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('1741012200', '1741012260', '1741012200000', '120060', '2025-03-03'),
  },
  { weight: 3, arbitrary: fc.constantFrom('', 'abc', '-', '2025-02-30', '2025-03-03T09:') },
);
const cells = fc.array(cell, { minLength: 1, maxLength: 24 });

/**
 * Cells one after the other in `bytes`, as a column's are: where each begins, and where the last one ends.
 */
function pack(bytes: Uint8Array, texts: readonly string[]): number[] {
  const starts = [0];
  for (const text of texts) {
    const from = starts[starts.length - 1]!;
    starts.push(from + encoder.encodeInto(text, bytes.subarray(from)).written);
  }
  return starts;
}

test('a cell says the same behind any other cells as it does alone', () => {
  const bytes = new Uint8Array(4096);
  fc.assert(
    fc.property(cells, (texts) => {
      const starts = pack(bytes, texts);
      const reader = new InstantCell();
      for (const [index, text] of texts.entries()) {
        reader.read(bytes, starts[index]!, starts[index + 1]!);
        assert.deepEqual(fullyBy(reader), fullyAlone(text), `${JSON.stringify(text)} at ${index}`);
      }
    }),
    { numRuns: 1000 },
  );
});

test('a cell says the same when cells before it were not read, and the bytes of older ones were written over', () => {
  const bytes = new Uint8Array(4096);
  const chunks = fc.array(fc.tuple(cells, fc.array(fc.boolean(), { minLength: 24, maxLength: 24 })), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(chunks, (several) => {
      const reader = new InstantCell();
      for (const [texts, read] of several) {
        const starts = pack(bytes, texts);
        for (const [index, text] of texts.entries()) {
          if (!read[index]) continue;
          reader.read(bytes, starts[index]!, starts[index + 1]!);
          assert.deepEqual(fullyBy(reader), fullyAlone(text), `${JSON.stringify(text)} at ${index}`);
        }
      }
    }),
    { numRuns: 1000 },
  );
});

test('a cell that is read twice says the same twice', () => {
  const bytes = new Uint8Array(4096);
  fc.assert(
    fc.property(cells, (texts) => {
      const starts = pack(bytes, texts);
      const reader = new InstantCell();
      for (const [index, text] of texts.entries()) {
        for (let time = 0; time < 2; time++) {
          reader.read(bytes, starts[index]!, starts[index + 1]!);
          assert.deepEqual(fullyBy(reader), fullyAlone(text), `${JSON.stringify(text)} at ${index}`);
        }
      }
    }),
  );
});

/** Places readings of a zone one after the other, as the rows of one series. */
function placeAll(zone: string, readings: readonly string[]): string[] {
  const clock = new LocalClock(zoneOf(zone));
  const order = new RowOrder();
  return readings.map((reading) => {
    const placed = clock.place(at(`${reading}Z`), order);
    if (typeof placed !== 'number') return placed;
    order.add(placed);
    return new Date(placed).toISOString().slice(0, 16);
  });
}

test('a clock reading is placed by the offset of its day, summer and winter', () => {
  assert.deepEqual(
    placeAll('America/New_York', [
      '2024-01-02T09:30',
      '2024-07-02T09:30',
      '2024-03-08T16:00',
      '2024-03-11T09:30',
    ]),
    ['2024-01-02T14:30', '2024-07-02T13:30', '2024-03-08T21:00', '2024-03-11T13:30'],
  );
  assert.deepEqual(placeAll('Asia/Kolkata', ['2024-01-02T09:15']), ['2024-01-02T03:45']);
  assert.deepEqual(placeAll('UTC', ['2024-03-10T02:30']), ['2024-03-10T02:30']);
});

test('a reading in a skipped hour is refused, and the ones around it are placed (contract 2.5)', () => {
  assert.deepEqual(
    placeAll('America/New_York', [
      '2024-03-10T01:59',
      '2024-03-10T02:00',
      '2024-03-10T02:59',
      '2024-03-10T03:00',
    ]),
    ['2024-03-10T06:59', 'skipped', 'skipped', '2024-03-10T07:00'],
  );
  assert.deepEqual(
    placeAll('Europe/London', [
      '2024-03-31T00:59',
      '2024-03-31T01:00',
      '2024-03-31T01:59',
      '2024-03-31T02:00',
    ]),
    ['2024-03-31T00:59', 'skipped', 'skipped', '2024-03-31T01:00'],
  );
});

test('a reading in a doubled hour is found by the order of the rows (contract 2.5)', () => {
  assert.deepEqual(
    placeAll('America/New_York', [
      '2024-11-03T00:59',
      '2024-11-03T01:00',
      '2024-11-03T01:59',
      '2024-11-03T01:00',
      '2024-11-03T01:59',
      '2024-11-03T02:00',
    ]),
    [
      '2024-11-03T04:59',
      '2024-11-03T05:00',
      '2024-11-03T05:59',
      '2024-11-03T06:00',
      '2024-11-03T06:59',
      '2024-11-03T07:00',
    ],
  );
  assert.deepEqual(
    placeAll('Australia/Sydney', ['2024-04-07T01:00', '2024-04-07T02:00', '2024-04-07T02:00']),
    ['2024-04-06T14:00', '2024-04-06T15:00', '2024-04-06T16:00'],
  );
});

test('a reading in a doubled hour that the order does not tell apart is refused (contract 2.5)', () => {
  assert.deepEqual(placeAll('America/New_York', ['2024-11-03T01:30', '2024-11-03T02:00']), [
    'doubled',
    '2024-11-03T07:00',
  ]);
  for (const rows of [
    ['2024-11-03T02:00', '2024-11-03T02:30', '2024-11-03T01:59'],
    ['2024-12-03T02:00', '2024-11-03T01:59'],
  ])
    assert.equal(placeAll('America/New_York', rows).at(-1), 'doubled');
});

test('readings of every half hour around every transition of some zones come out in order, ascending and descending', () => {
  for (const name of [
    'America/New_York',
    'Europe/London',
    'Australia/Lord_Howe',
    'America/Sao_Paulo',
    'Asia/Tokyo',
  ]) {
    const zone = zoneOf(name);
    const clock = new LocalClock(zone);
    const [ascending, descending] = [new RowOrder(), new RowOrder()];
    const [first, last] = [Date.UTC(2018, 0, 1), Date.UTC(2019, 0, 1)];
    for (let step = 0; step <= last - first; step += HOUR_MS / 2)
      for (const [order, ms] of [
        [ascending, first + step],
        [descending, last - step],
      ] as const) {
        assert.equal(clock.place(ms + zone.offsetAt(ms), order), ms, `${name} ${new Date(ms).toISOString()}`);
        order.add(ms);
      }
  }
});

test('an instant names a date in a row of DAY where it is written as its midnight, in any offset, and only there (contract 3.10)', () => {
  const dates = fc.integer({ min: -20_000, max: 80_000 });
  const clocks = fc.constantFrom(
    '00:00:00',
    '00:00:00.000',
    '00:00:00.001',
    '00:00:01',
    '00:01:00',
    '19:00:00',
  );
  const offsets = fc
    .tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '30', '45'))
    .map(([sign, hours, minutes]) => `${sign}${String(hours).padStart(2, '0')}:${minutes}`);
  fc.assert(
    fc.property(dates, clocks, fc.oneof(fc.constant('Z'), offsets), (day, clock, offset) => {
      const text = `${new Date(day * DAY_MS).toISOString().slice(0, 10)}T${clock}${offset}`;
      const names = clock.startsWith('00:00:00') && !clock.endsWith('1');
      assert.deepEqual(fullyAlone(text), ['instant', at(text), names ? day : null], text);
    }),
  );
  assert.equal(fullyAlone('1704240000')[2], at('2024-01-03T00:00:00Z') / DAY_MS);
  assert.equal(fullyAlone('1704240000000')[2], at('2024-01-03T00:00:00Z') / DAY_MS);
  assert.equal(fullyAlone('1704240060')[2], null);
});
