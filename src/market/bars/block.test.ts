// The stored block: exact, readable in parts, and never silently damaged (contract 3.12).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import { interval } from '../../contract/interval.ts';
import { bucketDays, bucketOf, DamagedBlock, decodeBlock, RUN_BARS, wholeBlock } from './block.ts';
import { encodeBlock } from './block-writer.ts';
import { type Bars, emptyBars, valueColumns } from './columns.ts';

type Values = Readonly<Record<(typeof valueColumns)[number], number>>;

const columns = ['keyMs', ...valueColumns] as const;

function barsOf(keys: readonly number[], values: readonly Values[]): Bars {
  const bars = emptyBars(keys.length);
  bars.count = keys.length;
  for (const [index, key] of keys.entries()) {
    bars.keyMs[index] = key;
    for (const column of valueColumns) bars[column][index] = values[index]![column];
  }
  return bars;
}

/** Every column as a plain list: deep equality of lists tells -0 from 0 and holds NaN equal to NaN. */
function lists(bars: Bars, from = 0, to = bars.count): Record<string, number[]> {
  return Object.fromEntries(columns.map((column) => [column, [...bars[column].slice(from, to)]]));
}

const plainDouble = fc.double({ noNaN: true });
const plainValues: fc.Arbitrary<Values> = fc.record({
  open: plainDouble,
  high: plainDouble,
  low: plainDouble,
  close: plainDouble,
  volume: fc.double(),
  vwap: fc.double(),
});

/**
 * Prices as files write them: integers of up to `digits` digits over a power of ten, extremes around open and
 * close.
 */
function decimalValues(priceDecimals: number, volumeDecimals: number, digits: number): fc.Arbitrary<Values> {
  const limit = 10 ** digits - 1;
  const mantissa = fc.integer({ min: -limit, max: limit });
  const amount = fc.option(fc.integer({ min: 0, max: limit }), { nil: Number.NaN, freq: 6 });
  return fc
    .tuple(mantissa, mantissa, mantissa, mantissa, amount, fc.option(mantissa, { nil: Number.NaN, freq: 6 }))
    .map(([a, b, c, d, volume, vwap]) => {
      const [low, open, close, high] = [a, b, c, d].sort((x, y) => x - y) as [number, number, number, number];
      const [first, last] = (a + b) % 2 === 0 ? [open, close] : [close, open];
      const power = 10 ** priceDecimals;
      return {
        open: first / power,
        high: high / power,
        low: low / power,
        close: last / power,
        volume: volume / 10 ** volumeDecimals,
        vwap: vwap / power,
      };
    });
}

const values = (count: number): fc.Arbitrary<Values[]> => {
  const many = (one: fc.Arbitrary<Values>) => fc.array(one, { minLength: count, maxLength: count });
  const decimals = fc.integer({ min: 0, max: 9 });
  const shape = fc.tuple(decimals, decimals, fc.integer({ min: 1, max: 15 }));
  const written = shape.chain((one) => many(decimalValues(...one)));
  const scalesMixed = many(shape.chain((one) => decimalValues(...one)));
  return fc.oneof(
    { weight: 4, arbitrary: written },
    { weight: 2, arbitrary: scalesMixed },
    { weight: 2, arbitrary: many(plainValues) },
    // A column of each sort beside one of the other.
    {
      weight: 1,
      arbitrary: fc
        .tuple(written, many(plainValues))
        .map(([a, b]) => a.map((one, i) => ({ ...one, volume: b[i]!.volume }))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(written, many(plainValues))
        .map(([a, b]) => b.map((one, i) => ({ ...one, vwap: a[i]!.vwap }))),
    },
  );
};

/** Strictly ascending keys of whole minutes or whole days, often without a gap, from 1900 on. */
function keysOf(count: number): fc.Arbitrary<number[]> {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 20_000 }) },
  );
  const steps = fc.oneof(
    fc.constant(Array<number>(count).fill(1)),
    fc.array(step, { minLength: count, maxLength: count }),
  );
  const start = fc.oneof(
    fc.integer({ min: -40_000_000, max: 100_000_000 }),
    fc.integer({ min: -300, max: 1 }),
  );
  return fc.tuple(fc.boolean(), start, steps).map(([days, first, gaps]) => {
    const unit = days ? DAY_MS : MINUTE_MS;
    let at = days ? Math.trunc(first / 1440) : first;
    return gaps.map((gap) => {
      at += gap;
      return at * unit;
    });
  });
}

const anyBars = fc
  .oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: RUN_BARS - 2, max: 3 * RUN_BARS + 2 }))
  .chain((count) => fc.tuple(keysOf(count), values(count)))
  .map(([keys, rows]) => barsOf(keys, rows));

const edges = [0, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48].flatMap((bits) => [2 ** bits - 1, 2 ** bits]);
for (const edge of new Set(edges.flatMap((value) => [value, value + 1, -value, -value - 1]))) {
  test(`a run of ${edge} and nothing further from zero comes back (contract 3.12)`, () => {
    const rows = [edge, 0, edge].map((volume) => ({
      open: 1,
      high: 1,
      low: 1,
      close: 1,
      volume,
      vwap: Number.NaN,
    }));
    const bars = barsOf([0, MINUTE_MS, 2 * MINUTE_MS], rows);
    assert.deepEqual(lists(decodeBlock(encodeBlock(bars), wholeBlock)), lists(bars));
  });
}

test('a block gives back every double of every column, bit for bit (contract 3.12)', () => {
  fc.assert(
    fc.property(anyBars, (bars) => {
      assert.deepEqual(lists(decodeBlock(encodeBlock(bars), wholeBlock)), lists(bars));
    }),
    { numRuns: 120 },
  );
});

const odd = { open: 1.5, high: 2, low: 1, close: 1.25, volume: 10, vwap: 1.3 };
const exactCases: readonly { name: string; rows: readonly Values[] }[] = [
  { name: 'negative zero', rows: [odd, { open: -0, high: 0, low: -0, close: 0, volume: -0, vwap: -0 }] },
  {
    name: 'the smallest subnormal and the greatest double',
    rows: [
      odd,
      {
        open: Number.MIN_VALUE,
        high: Number.MAX_VALUE,
        low: -Number.MAX_VALUE,
        close: 2 ** -1074,
        volume: Number.MIN_VALUE,
        vwap: 1e300,
      },
    ],
  },
  { name: 'infinite and absent prices', rows: [{ ...odd, high: Infinity, low: -Infinity, open: NaN }] },
  {
    name: 'fifteen digits beside a tiny decimal',
    rows: [{ ...odd, close: 0.000000001, low: 0, high: 999999999999999, volume: 999999999999999 }],
  },
  { name: 'extremes that do not enclose the open and the close', rows: [{ ...odd, high: 1, low: 2 }] },
  {
    name: 'a decimal that no scale writes',
    rows: [{ ...odd, close: 0.1 + 0.2, vwap: 1 / 3, volume: Math.PI }],
  },
  { name: 'prices below zero', rows: [{ ...odd, open: -37.63, close: -0.3, low: -40.32, high: 0, vwap: 0 }] },
  { name: 'a vwap of more decimals than its price', rows: [{ ...odd, vwap: 1.3000000001 }, odd] },
  { name: 'volume and vwap null throughout', rows: [{ ...odd, volume: NaN, vwap: NaN }] },
  { name: 'volume and vwap null in part', rows: [odd, { ...odd, volume: NaN }, { ...odd, vwap: NaN }] },
];

for (const { name, rows } of exactCases) {
  test(`a block keeps ${name} (contract 3.12)`, () => {
    const bars = barsOf(
      rows.map((_, index) => (index - 1) * MINUTE_MS),
      rows,
    );
    assert.deepEqual(lists(decodeBlock(encodeBlock(bars), wholeBlock)), lists(bars));
  });
}

test('an empty block gives no bars', () => {
  assert.equal(decodeBlock(encodeBlock(emptyBars()), wholeBlock).count, 0);
});

test('a part of a block is that slice of the whole, and holds as many bars as were asked for', () => {
  const bound = fc.integer({ min: -3, max: 3 * RUN_BARS + 5 });
  fc.assert(
    fc.property(
      anyBars,
      fc.tuple(bound, bound, fc.integer({ min: -2, max: 2 }), fc.integer({ min: -2, max: 2 })),
      fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constant(Number.POSITIVE_INFINITY)),
      fc.boolean(),
      (bars, [a, b, moveFrom, moveTo], atLeast, descending) => {
        // Bounds at, just before and just behind keys, and outside all of them.
        const keyAt = (index: number): number =>
          index < 0 ? -Infinity : index >= bars.count ? Infinity : bars.keyMs[index]!;
        const range: Parameters<typeof decodeBlock>[1] = {
          fromMs: keyAt(Math.min(a, b)) + moveFrom * 30_000,
          toMs: keyAt(Math.max(a, b)) + moveTo * 30_000,
          atLeast,
          descending,
        };
        const keys = [...bars.keyMs.subarray(0, bars.count)];
        const from = keys.filter((key) => key < range.fromMs).length;
        const to = Math.max(keys.filter((key) => key < range.toMs).length, from);
        const part = decodeBlock(encodeBlock(bars), range);
        const count = part.count;
        assert.ok(count >= Math.min(atLeast, to - from), `${count} of ${to - from} bars`);
        const expected = descending ? lists(bars, to - count, to) : lists(bars, from, from + count);
        assert.ok(count <= to - from);
        assert.deepEqual(lists(part), expected);
      },
    ),
    { numRuns: 200 },
  );
});

test('a few bars of a long block are had without reading all of its runs', () => {
  const keys = Array.from({ length: 10 * RUN_BARS }, (_, index) => index * MINUTE_MS);
  const bytes = encodeBlock(
    barsOf(
      keys,
      keys.map(() => odd),
    ),
  );
  for (const descending of [false, true]) {
    const part = decodeBlock(bytes, { ...wholeBlock, atLeast: 1, descending });
    assert.ok(part.count <= 2 * RUN_BARS);
  }
});

test('decoding appends behind the bars that the target holds', () => {
  fc.assert(
    fc.property(anyBars, anyBars, (first, second) => {
      const target = decodeBlock(encodeBlock(first), wholeBlock);
      decodeBlock(encodeBlock(second), wholeBlock, target);
      const [a, b] = [lists(first), lists(second)];
      assert.deepEqual(
        lists(target),
        Object.fromEntries(columns.map((column) => [column, [...a[column]!, ...b[column]!]])),
      );
    }),
    { numRuns: 25 },
  );
});

test('a block is read from any place of a greater buffer', () => {
  const bytes = encodeBlock(barsOf([0, MINUTE_MS], [odd, odd]));
  const greater = new Uint8Array(bytes.length + 12).fill(255);
  greater.set(bytes, 5);
  assert.equal(decodeBlock(greater.subarray(5, 5 + bytes.length), wholeBlock).count, 2);
});

test('a block with any byte changed is damaged, never other bars', () => {
  fc.assert(
    fc.property(anyBars, fc.nat(), fc.integer({ min: 1, max: 255 }), (bars, place, change) => {
      const bytes = encodeBlock(bars);
      bytes[place % bytes.length]! ^= change;
      assert.throws(() => decodeBlock(bytes, wholeBlock), DamagedBlock);
    }),
    { numRuns: 120 },
  );
});

test('a block cut anywhere, or with bytes behind its end, is damaged', () => {
  fc.assert(
    fc.property(anyBars, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 9 }), (bars, place, tail) => {
      const bytes = encodeBlock(bars);
      assert.throws(() => decodeBlock(bytes.subarray(0, place % bytes.length), wholeBlock), DamagedBlock);
      assert.throws(() => decodeBlock(Buffer.concat([bytes, tail]), wholeBlock), DamagedBlock);
    }),
    { numRuns: 80 },
  );
});

/** A repeatable source of numbers in [0, 1): the mulberry32 generator. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test('a minute bar of a liquid stock, with volume and without vwap, takes less than 10 bytes', () => {
  const next = random(7);
  let cents = 18_250;
  const rows = Array.from({ length: 390 }, () => {
    const open = cents + Math.round((next() - 0.5) * 4);
    const close = open + Math.round((next() + next() + next() - 1.5) * 20);
    cents = close;
    const high = Math.max(open, close) + Math.round(next() * 12);
    const low = Math.min(open, close) - Math.round(next() * 12);
    const volume = Math.round(Math.exp(9 + 3 * next()));
    return { open: open / 100, high: high / 100, low: low / 100, close: close / 100, volume, vwap: NaN };
  });
  const open = Date.parse('2025-03-03T14:30:00Z');
  const bytes = encodeBlock(
    barsOf(
      rows.map((_, minute) => open + minute * MINUTE_MS),
      rows,
    ),
  );
  assert.ok(bytes.length < 10 * rows.length, `${bytes.length / rows.length} bytes a bar`);
});

const spans: readonly (readonly [code: string, days: number | null])[] = [
  ['1M', 1],
  ['3M', 1],
  ['4M', 1],
  ['5M', 7],
  ['15M', 7],
  ['29M', 7],
  ['30M', 91],
  ['60M', 91],
  ['1440M', 91],
  ['DAY', 1024],
  ['WEEK', null],
  ['MON', null],
];

for (const [code, days] of spans) {
  test(`a block of ${code} bars spans ${days === null ? 'the whole series' : `${days} days`}`, () => {
    assert.equal(bucketDays(interval(code)), days);
  });
}

test('buckets are whole numbers that ascend with time, before 1970 too, each of its span', () => {
  const key = fc.integer({ min: -40_000_000, max: 120_000_000 }).map((minute) => minute * MINUTE_MS);
  fc.assert(
    fc.property(fc.constantFrom(...spans), key, key, ([code, days], a, b) => {
      const of = (ms: number): number => bucketOf(interval(code), ms);
      assert.ok(Number.isInteger(of(a)));
      assert.ok(a <= b ? of(a) <= of(b) : of(a) >= of(b));
      if (days === null) return;
      const start = of(a) * days * DAY_MS;
      assert.ok(start <= a && a < start + days * DAY_MS);
    }),
  );
});
