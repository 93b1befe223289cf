// The rules of one bar, and what text is a number (contract 11).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { numberOf } from '../../base/decimal.ts';
import { type BarValues, barProblem, isSoundBar } from './bar-rules.ts';

/** The double that follows. */
function above(value: number): number {
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  return new Float64Array(new BigInt64Array([bits[0]! + 1n]).buffer)[0]!;
}

const sound: BarValues = { open: 10, high: 12, low: 9, close: 11, volume: 100, vwap: 10.5 };

/**
 * A bar that is sound but for what is named, and the column and reason of its refusal; null where it is
 * taken.
 */
const bars: readonly (readonly [
  what: string,
  change: Partial<BarValues>,
  column: string | null,
  reason?: RegExp,
])[] = [
  ['a sound bar', {}, null],
  ['no volume', { volume: Number.NaN }, null],
  ['no vwap', { vwap: Number.NaN }, null],
  ['a volume of zero', { volume: 0 }, null],
  ['a fractional volume', { volume: 0.000_000_1 }, null],
  ['four equal prices', { open: 5, high: 5, low: 5, close: 5 }, null],
  ['a vwap outside low and high', { vwap: 99 }, null],
  ['a negative vwap', { vwap: -1 }, null],
  ['the least double as price', { low: 5e-324 }, null],
  ['the greatest double as price', { high: Number.MAX_VALUE }, null],
  ['no open', { open: Number.NaN }, 'open', /missing/],
  ['no high', { high: Number.NaN }, 'high', /missing/],
  ['no low', { low: Number.NaN }, 'low', /missing/],
  ['no close', { close: Number.NaN }, 'close', /missing/],
  ['an infinite high', { high: Number.POSITIVE_INFINITY }, 'high', /finite/],
  ['an infinite low', { low: Number.NEGATIVE_INFINITY }, 'low', /finite/],
  ['an open of zero', { open: 0, low: 0 }, 'open', /positive/],
  ['a low of zero', { low: 0 }, 'low', /positive/],
  ['a low of minus zero', { low: -0 }, 'low', /positive/],
  ['a negative close', { close: -1, low: -1 }, 'low', /positive/],
  ['a high below open', { open: 12.5 }, 'high', /below/],
  ['a high below close', { close: 12.5 }, 'high', /below/],
  ['a high below low', { low: 13, open: 13, close: 13 }, 'high', /below/],
  ['a low above open', { open: 8.5 }, 'low', /above/],
  ['a low above close', { close: 8.5 }, 'low', /above/],
  ['a negative volume', { volume: -1 }, 'volume', /negative/],
  ['an infinite volume', { volume: Number.POSITIVE_INFINITY }, 'volume', /finite/],
  ['a volume of minus infinity', { volume: Number.NEGATIVE_INFINITY }, 'volume', /negative|finite/],
  ['a high below close by its last bit', { high: 183.45, close: above(183.45) }, null],
  ['a low above open by its last bit', { low: above(7.1), open: 7.1 }, null],
  ['a high below close in its 15th digit', { high: 183.45, close: 183.450_000_000_001 }, 'high', /below/],
  ['a high below close in its 16th digit', { high: 183.45, close: 183.450_000_000_000_1 }, null],
  ['an infinite vwap', { vwap: Number.POSITIVE_INFINITY }, 'vwap', /finite/],
  ['a vwap of minus infinity', { vwap: Number.NEGATIVE_INFINITY }, 'vwap', /finite/],
];

const isSound = ({ open, high, low, close, volume, vwap }: BarValues, anySign: boolean): boolean =>
  isSoundBar(open, high, low, close, volume, vwap, anySign);

for (const [what, change, column, reason] of bars) {
  test(`${what} is ${column === null ? 'taken' : `refused by its ${column}`} (contract 11)`, () => {
    const bar = { ...sound, ...change };
    const problem = barProblem(bar, false);
    assert.equal(problem?.column ?? null, column);
    if (reason !== undefined) assert.match(problem!.reason, reason);
    assert.equal(isSound(bar, false), column === null);
  });
}

test('prices of futures may be zero and negative, and keep every other rule (contract 11)', () => {
  assert.equal(barProblem({ ...sound, open: 0, high: 0, low: -40.32, close: -37.63 }, true), null);
  assert.equal(barProblem({ ...sound, open: -1, high: -1, low: -2, close: -3 }, true)?.column, 'low');
  assert.equal(barProblem({ ...sound, open: Number.NaN }, true)?.column, 'open');
  assert.equal(barProblem({ ...sound, low: Number.NEGATIVE_INFINITY }, true)?.column, 'low');
  assert.equal(barProblem({ ...sound, volume: -1 }, true)?.column, 'volume');
});

/** The rules as contract 11 has them, one by one. */
function keepsRules({ open, high, low, close, volume, vwap }: BarValues, anySign: boolean): boolean {
  const prices = [open, high, low, close];
  const finite = prices.every((price) => Number.isFinite(price) && (anySign || price > 0));
  const ordered = high >= open && high >= close && high >= low && low <= open && low <= close;
  const counted = Number.isNaN(volume) || (volume >= 0 && Number.isFinite(volume));
  return finite && ordered && counted && (Number.isNaN(vwap) || Number.isFinite(vwap));
}

test('the quick check and the one with reasons agree with the rules for all doubles', () => {
  const odd = fc.constantFrom(Number.NaN, 0, -0, Infinity, -Infinity, 5e-324, -5e-324, 1, 2, 3, -1, -2);
  const price = fc.oneof({ weight: 3, arbitrary: odd }, { weight: 1, arbitrary: fc.double() });
  const bar = fc.record({ open: price, high: price, low: price, close: price, volume: price, vwap: price });
  fc.assert(
    fc.property(bar, fc.boolean(), (values, anySign) => {
      const expected = keepsRules(values, anySign);
      assert.equal(isSound(values, anySign), expected);
      assert.equal(barProblem(values, anySign) === null, expected);
    }),
    { numRuns: 800 },
  );
});

const numbers: readonly (readonly [text: string, value: number | null])[] = [
  ['1', 1],
  ['1.5', 1.5],
  ['+1.5', 1.5],
  ['-1.5', -1.5],
  ['.5', 0.5],
  ['5.', 5],
  ['1e3', 1000],
  ['1.5E-3', 0.0015],
  [' 1.5 ', 1.5],
  ['007', 7],
  ['0.1', 0.1],
  ['123456789012.345', 123_456_789_012.345],
  ['1e400', Number.POSITIVE_INFINITY],
  ['', Number.NaN],
  ...[
    'abc',
    '1,5',
    '1,000.5',
    'nan',
    'NaN',
    'inf',
    '-inf',
    'Infinity',
    '1_000',
    '0x10',
    '0b1',
    '1e',
    'e1',
    '.',
    '-',
    '+',
    '--1',
    '1 000',
    '1.2.3',
    '$1',
    '1%',
    '1f',
    '1n',
    'null',
    'true',
    ' ',
    '１',
    '\u0661',
    '−1',
    '1\u0000',
  ].map((text) => [text, null] as const),
];

test('text is a number by its digits alone, else it is none; an empty cell is missing', () => {
  for (const [text, value] of numbers) assert.equal(numberOf(text), value, JSON.stringify(text));
  for (const missing of [null, '', 'NA']) assert.equal(numberOf(missing), Number.NaN);
});

test('a number that is written is the number read, digit for digit (contract 3.12)', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.ok(numberOf(String(value)) === value);
    }),
  );
});
