// Numbers, instants and dates as bytes (contract 2.4, 3.12).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DAY_MS, dayOf } from '../../base/instant.ts';
import { allocateFresh } from '../query.ts';
import { Sink } from './sink.ts';

const sink = new Sink();

function written(write: (to: Sink) => void): string {
  sink.start();
  sink.reserve(400);
  write(sink);
  return Buffer.from(sink.take(allocateFresh)).toString();
}

const decimalText = (value: number): string => written((to) => to.decimal(value));

/** Zero has one spelling: JSON and CSV readers do not keep its sign, and `JSON.stringify` writes it so. */
const signless = (value: number): number => (value === 0 ? 0 : value);

function isPlain(text: string): void {
  assert.match(text, /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
}

test('any finite double is written as a plain decimal that reads back the same (contract 3.12)', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = decimalText(value);
      isPlain(text);
      assert.equal(Number(text), signless(value));
    }),
    { numRuns: 5000 },
  );
});

test('a decimal of up to fifteen digits is written digit for digit as it was read (contract 3.12)', () => {
  const digits = fc.integer({ min: 1, max: 15 }).chain((count) => fc.nat(10 ** count - 1));
  fc.assert(
    fc.property(digits, fc.integer({ min: 0, max: 15 }), fc.boolean(), (units, decimals, negative) => {
      const padded = String(units).padStart(decimals + 1, '0');
      const whole = padded.slice(0, padded.length - decimals);
      const fraction = padded.slice(padded.length - decimals).replace(/0+$/, '');
      const text = `${negative && units > 0 ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
      assert.equal(decimalText(Number(text)), text);
    }),
    { numRuns: 5000 },
  );
});

test('what is written does not hang on the numbers written before', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.tuple(fc.nat(10_000_000), fc.nat(9)).map(([units, decimals]) => units / 10 ** decimals),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 20 }), (values) => {
      const alone = values.map((value) =>
        written((to) =>
          new Array(9)
            .fill(0)
            .concat(value)
            .map((one) => to.decimal(one)),
        ),
      );
      const after = values.map((value) => decimalText(value));
      assert.deepEqual(
        after,
        alone.map((text) => text.slice(9)),
      );
    }),
  );
});

const cases: readonly (readonly [value: number, text: string])[] = [
  [0, '0'],
  [-0, '0'],
  [0.1, '0.1'],
  [-0.05, '-0.05'],
  [182.5, '182.5'],
  [1e21, '1000000000000000000000'],
  [1.5e-7, '0.00000015'],
  [123456789012345, '123456789012345'],
  [999999999999999, '999999999999999'],
  [1e15, '1000000000000000'],
  [2 ** 53, '9007199254740992'],
  [2147483647, '2147483647'],
  [2147483648, '2147483648'],
  [21474836.47, '21474836.47'],
  [21474836.48, '21474836.48'],
  [0.000000000000001, '0.000000000000001'],
  [0.1 + 0.2, '0.30000000000000004'],
  [-37.63, '-37.63'],
];
for (const [value, text] of cases) {
  test(`${Object.is(value, -0) ? '-0' : value} is written ${text} (contract 3.12)`, () => {
    assert.equal(decimalText(value), text);
  });
}

const years = { min: dayOf(1900, 1, 1) * DAY_MS, max: dayOf(2201, 1, 1) * DAY_MS - 1000 };

test('an instant is ISO 8601 in UTC with +00:00, a day its date (contract 2.4)', () => {
  fc.assert(
    fc.property(fc.integer({ min: years.min / 1000, max: years.max / 1000 }), (seconds) => {
      const iso = new Date(seconds * 1000).toISOString();
      assert.equal(
        written((to) => to.instant(seconds * 1000)),
        `${iso.slice(0, 19)}+00:00`,
      );
      assert.equal(
        written((to) => to.date(Math.floor((seconds * 1000) / DAY_MS))),
        iso.slice(0, 10),
      );
    }),
    { numRuns: 2000 },
  );
});

test('text of any length and language is kept, and what was taken stays as it was', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 20 }), (texts) => {
      const taken: Uint8Array[] = [];
      for (const text of texts) {
        sink.start();
        sink.text(text);
        assert.equal(sink.length, Buffer.byteLength(text));
        taken.push(sink.take(allocateFresh));
      }
      assert.deepEqual(
        taken.map((bytes) => Buffer.from(bytes).toString()),
        texts,
      );
    }),
  );
});

test('a sink grows past its first size', () => {
  const small = new Sink();
  small.start();
  const text = 'ä'.repeat(300_000);
  small.text(text);
  small.reserve(400);
  small.decimal(0.5);
  assert.equal(Buffer.from(small.take(allocateFresh)).toString(), `${text}0.5`);
});
