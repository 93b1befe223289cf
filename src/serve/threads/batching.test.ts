// Batches: the work of one is done together, in order, and later batches have higher numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import { RequestBatches } from './batching.ts';

test('work added in one tick is done at its end, in order, with one number; work added then goes to the next batch', async () => {
  const [one, other] = [new RequestBatches(), new RequestBatches()];
  const done: (readonly [string, number])[] = [];
  const work = (name: string) => (batch: number) => done.push([name, batch]);
  one.add((batch) => {
    done.push(['a', batch]);
    one.add(work('c'));
  });
  one.add(work('b'));
  other.add(work('other'));
  assert.equal(done.length, 0);
  await setImmediate();
  await setImmediate();
  assert.deepEqual(
    done.map(([name]) => name),
    ['a', 'b', 'other', 'c'],
  );
  const [a, b, ofOther, c] = done.map(([, batch]) => batch) as [number, number, number, number];
  assert.equal(a, b);
  assert.ok(a < ofOther && ofOther < c);
});

test('a full batch is flushed before the end of the tick', async () => {
  const batches = new RequestBatches();
  const numbers: number[] = [];
  for (let count = 0; count <= limits.batchRequestsMax; count++) batches.add((batch) => numbers.push(batch));
  assert.equal(numbers.length, limits.batchRequestsMax);
  await setImmediate();
  assert.equal(numbers.length, limits.batchRequestsMax + 1);
  assert.equal(new Set(numbers).size, 2);
});
