// Instants and dates of rows as bytes (contract 2.4, 9.16).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { DAY_MS, dayOf } from '../../base/instant.ts';
import { emptyBars } from '../../market/bars/columns.ts';
import { zoneOf } from '../../market/calendar/zone.ts';
import { type Moment, RowHead } from './row-head.ts';

const years = { min: dayOf(1900, 1, 1) * DAY_MS, max: dayOf(2201, 1, 1) * DAY_MS - 1000 };
const second = fc.integer({ min: years.min / 1000, max: years.max / 1000 });
const view = new DataView(new ArrayBuffer(4096));

/** Rows of instants in seconds: open, close, and one of the date. */
const timedOf = (rows: readonly (readonly [open: number, close: number, of: number])[]) => ({
  bars: emptyBars(),
  openMs: Float64Array.from(rows, ([open]) => open * 1000),
  closeMs: Float64Array.from(rows, ([, close]) => close * 1000),
  day: Int32Array.from(rows, ([, , of]) => Math.floor((of * 1000) / DAY_MS)),
});

test('an instant is ISO 8601 in UTC with +00:00, a day its date, in every row of an answer (contract 2.4)', () => {
  const opening = fc.oneof(fc.constant('{"symbol":"A"'), fc.string({ unit: 'grapheme', maxLength: 60 }));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(second, second, second), { minLength: 1, maxLength: 10 }),
      opening,
      fc.boolean(),
      (rows, text, hasDate) => {
        const items: (string | Moment)[] = [
          text,
          { field: 'datetime' },
          '<close>',
          { field: 'close_datetime' },
        ];
        if (hasDate) items.push('<date>', { field: 'session_date' });
        items.push(text);
        const head = new RowHead(items, timedOf(rows), null);
        for (const [row, moments] of rows.entries()) {
          const [open, close, date] = moments.map((seconds) => new Date(seconds * 1000).toISOString());
          const instant = (iso: string | undefined) => `${iso?.slice(0, 19)}+00:00`;
          const dated = hasDate ? `<date>${date!.slice(0, 10)}` : '';
          const expected = `${text}${instant(open)}<close>${instant(close)}${dated}${text}`;
          const written = Buffer.from(view.buffer, 0, head.write(view, 0, row)).toString();
          assert.equal(written, expected);
          assert.equal(head.bytesMax, Buffer.byteLength(expected));
        }
      },
    ),
    { numRuns: 2000 },
  );
});

/** Instants in a zone, one row after the other. */
function localTexts(zone: string, seconds: readonly number[]): string[] {
  const timed = timedOf(seconds.map((one) => [one, one, one]));
  const head = new RowHead([{ field: 'datetime' }], timed, zoneOf(zone));
  return seconds.map((_, row) => Buffer.from(view.buffer, 0, head.write(view, 0, row)).toString());
}

const changes: readonly (readonly [zone: string, utc: string, local: string])[] = [
  ['America/New_York', '2025-03-09T06:59:59Z', '2025-03-09T01:59:59-05:00'],
  ['America/New_York', '2025-03-09T07:00:00Z', '2025-03-09T03:00:00-04:00'],
  ['America/New_York', '2025-11-02T05:59:59Z', '2025-11-02T01:59:59-04:00'],
  ['America/New_York', '2025-11-02T06:00:00Z', '2025-11-02T01:00:00-05:00'],
  ['America/New_York', '1900-01-01T00:00:00Z', '1899-12-31T19:00:00-05:00'],
  ['Asia/Kolkata', '2025-01-01T00:00:00Z', '2025-01-01T05:30:00+05:30'],
  ['Asia/Kathmandu', '1985-12-31T18:29:59Z', '1985-12-31T23:59:59+05:30'],
  ['Asia/Kathmandu', '1985-12-31T18:30:00Z', '1986-01-01T00:15:00+05:45'],
  ['Australia/Lord_Howe', '2025-04-05T14:59:59Z', '2025-04-06T01:59:59+11:00'],
  ['Australia/Lord_Howe', '2025-04-05T15:00:00Z', '2025-04-06T01:30:00+10:30'],
  ['Pacific/Apia', '2011-12-30T09:59:59Z', '2011-12-29T23:59:59-10:00'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31T00:00:00+14:00'],
  ['Europe/London', '1970-01-01T00:00:00Z', '1970-01-01T01:00:00+01:00'],
  // 44 minutes and a half behind UTC: an offset has no seconds.
  ['Africa/Monrovia', '1971-06-01T00:00:00Z', '1971-05-31T23:16:00-00:44'],
  ['UTC', '2025-01-01T00:00:00Z', '2025-01-01T00:00:00+00:00'],
];
for (const [zone, utc, local] of changes) {
  test(`${utc} is ${local} in ${zone} (contract 9.16)`, () => {
    assert.deepEqual(localTexts(zone, [Date.parse(utc) / 1000]), [local]);
  });
}

const zones = [...new Set(changes.map(([zone]) => zone))];

/** What the platform's clock shows in a zone. */
function clockAt(format: Intl.DateTimeFormat, ms: number) {
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second: seconds, timeZoneName } = parts;
  return {
    text: `${year}-${month}-${day}T${hour}:${minute}:${seconds}`,
    offset: timeZoneName!.slice('GMT'.length).replace('−', '-') || '+00:00',
  };
}

test('local time is that of the platform, its offset makes it the very instant, in any order of rows (contract 9.16)', () => {
  for (const zone of zones) {
    const format = new Intl.DateTimeFormat('sv-SE', {
      ...{ timeZone: zone, hourCycle: 'h23', timeZoneName: 'longOffset' },
      ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
      ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
    });
    const near = fc.integer({ min: -4_000_000, max: 4_000_000 });
    const around = fc
      .tuple(fc.constantFrom(...changes.map(([, utc]) => Date.parse(utc) / 1000)), near)
      .map(([at, by]) => Math.max(years.min / 1000, at + by));
    fc.assert(
      fc.property(fc.array(fc.oneof(second, around), { minLength: 1, maxLength: 12 }), (seconds) => {
        for (const [row, text] of localTexts(zone, seconds).entries()) {
          const ms = seconds[row]! * 1000;
          const clock = clockAt(format, ms);
          assert.equal(Date.parse(text), ms);
          if (clock.offset.length === '+00:00'.length) assert.equal(text, clock.text + clock.offset);
          else
            assert.ok(Math.abs(Date.parse(`${clock.text}Z`) - Date.parse(`${text.slice(0, 19)}Z`)) <= 30_000);
        }
      }),
      { numRuns: 300 },
    );
  }
});
