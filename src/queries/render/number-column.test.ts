// Numbers of a column as bytes (contract 3.12).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { plainDecimal } from '../../base/decimal.ts';
import { NumberColumn } from './number-column.ts';

const view = new DataView(new ArrayBuffer(1024));
const column = new NumberColumn('', 'null');

/** The texts of numbers that are in one column. */
function textsOf(values: readonly number[]): string[] {
  column.begin(Float64Array.from(values), values.length);
  return values.map((_, row) => Buffer.from(view.buffer, 0, column.write(view, 0, row)).toString());
}

const decimalText = (value: number): string => textsOf([value])[0]!;

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

test('a number has the same text whatever others are in its column', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(Number.NaN),
    ...[1e3, 1e7, 2 ** 32, 1e15].map((most) =>
      fc
        .tuple(fc.integer({ min: -most, max: most }), fc.nat(14))
        .map(([units, decimals]) => units / 10 ** decimals),
    ),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 40 }), (values) => {
      const alone = values.map((value) => decimalText(value));
      assert.deepEqual(textsOf(values), alone);
      for (const [at, value] of values.entries())
        assert.equal(alone[at], Number.isNaN(value) ? 'null' : plainDecimal(signless(value)));
    }),
    { numRuns: 2000 },
  );
});

test('the text before a number is any text', () => {
  const named = new NumberColumn(',"größer als acht":', 'null');
  named.begin(Float64Array.of(-12.5, Number.NaN), 2);
  const texts = [0, 1].map((row) => Buffer.from(view.buffer, 0, named.write(view, 0, row)).toString());
  assert.deepEqual(texts, [',"größer als acht":-12.5', ',"größer als acht":null']);
  assert.ok(named.bytesMax >= Buffer.byteLength(texts[0]!));
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
  [12345.67891234, '12345.67891234'],
  [18.2782102033, '18.2782102033'],
  [9007199.123456, '9007199.123456'],
  [0.000000000001, '0.000000000001'],
  [5e9, '5000000000'],
  [-2147483648, '-2147483648'],
  [1e-320, `0.${'0'.repeat(319)}1`],
  [-Number.MAX_VALUE, `-17976931348623157${'0'.repeat(292)}`],
];
for (const [value, text] of cases) {
  test(`${Object.is(value, -0) ? '-0' : value} is written ${text} (contract 3.12)`, () => {
    assert.equal(decimalText(value), text);
  });
}
