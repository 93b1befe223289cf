// Which block of its series a bar lies in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import { interval } from '../../contract/interval.ts';
import { bucketDays, bucketOf } from './bucket.ts';

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
