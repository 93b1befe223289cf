// Instants and dates of rows as bytes (contract 2.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { DAY_MS, dayOf } from '../../base/instant.ts';
import { emptyBars } from '../../market/bars/columns.ts';
import { RowHead } from './row-head.ts';

const years = { min: dayOf(1900, 1, 1) * DAY_MS, max: dayOf(2201, 1, 1) * DAY_MS - 1000 };

test('an instant is ISO 8601 in UTC with +00:00, a day its date, in every row of an answer (contract 2.4)', () => {
  const second = fc.integer({ min: years.min / 1000, max: years.max / 1000 });
  const opening = fc.oneof(fc.constant('{"symbol":"A"'), fc.string({ unit: 'grapheme', maxLength: 60 }));
  const view = new DataView(new ArrayBuffer(4096));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(second, second, second), { minLength: 1, maxLength: 10 }),
      opening,
      fc.boolean(),
      (rows, text, hasDate) => {
        const timed = {
          bars: emptyBars(),
          openMs: Float64Array.from(rows, ([open]) => open * 1000),
          closeMs: Float64Array.from(rows, ([, close]) => close * 1000),
          day: Int32Array.from(rows, ([, , of]) => Math.floor((of * 1000) / DAY_MS)),
        };
        const head = new RowHead([text, '<close>', hasDate ? '<date>' : null, '<after>']);
        for (const [row, moments] of rows.entries()) {
          const [open, close, date] = moments.map((seconds) => new Date(seconds * 1000).toISOString());
          const instant = (iso: string | undefined) => `${iso?.slice(0, 19)}+00:00`;
          const dated = hasDate ? `<date>${date!.slice(0, 10)}` : '';
          const expected = `${text}${instant(open)}<close>${instant(close)}${dated}<after>`;
          const written = Buffer.from(view.buffer, 0, head.write(view, 0, timed, row)).toString();
          assert.equal(written, expected);
          assert.equal(head.length, Buffer.byteLength(expected));
        }
      },
    ),
    { numRuns: 2000 },
  );
});
