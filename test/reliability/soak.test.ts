// The soak says what does not hold: memory, open files, latency, refusals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, type Minute } from './soak-figures.ts';

const usual: Minute = { megabytes: 300, mostMegabytes: 310, files: 57, p50Ms: 5, p99Ms: 30, answers: 10_000 };

/** What fails where the last quarter of eight minutes is so. */
function failedWith(late: Partial<Minute>, refused = 0): string[] {
  const measured = Array.from({ length: 8 }, (_, index) => (index < 6 ? usual : { ...usual, ...late }));
  return figuresOf(measured, refused).flatMap(([what, value, target]) =>
    target === undefined ? [] : [`${what}: ${value}`],
  );
}

test('a soak in which nothing grows fails in nothing', () => {
  assert.deepEqual(failedWith({}), []);
  assert.deepEqual(failedWith({ megabytes: 314, files: 60, p99Ms: 60 }, 800), []);
});

test('a soak names each figure that does not hold', () => {
  assert.deepEqual(failedWith({ megabytes: 316 }), ['memory in MB, second quarter -> last: 300.0 -> 316.0']);
  assert.deepEqual(failedWith({ mostMegabytes: 351 }), ['most memory in MB: 351']);
  assert.deepEqual(failedWith({ files: 61 }), ['open files: 57.0 -> 61.0']);
  assert.deepEqual(failedWith({ p99Ms: 61 }), ['p99 in ms: 30.0 -> 61.0']);
  assert.deepEqual(failedWith({}, 801), ['refused under load: 801']);
  assert.equal(failedWith({ megabytes: 400, files: 100, p99Ms: 500 }, 9_000).length, 4);
});
