// Requests in a query thread: in their order, and so many at the same time as the store takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { QueryTurns } from './query-turns.ts';

/**
 * Runs ten pieces of work of unequal length; the order in which they began, and the most that ran at the same
 * time.
 */
async function ran(turns: QueryTurns): Promise<{ began: number[]; most: number }> {
  const began: number[] = [];
  let [running, most] = [0, 0];
  const ends = Array.from({ length: 10 }, (_, index) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    turns.add(async () => {
      began.push(index);
      running++;
      most = Math.max(most, running);
      for (let pause = 0; pause < (index * 7) % 5; pause++) await setImmediate();
      running--;
      resolve();
    });
    return promise;
  });
  await Promise.all(ends);
  return { began, most };
}

const order = Array.from({ length: 10 }, (_, index) => index);

test('requests run one after the other', async () => {
  assert.deepEqual(await ran(new QueryTurns()), { began: order, most: 1 });
});

test('with a store that takes several, so many run at the same time, and begin in their order', async () => {
  const turns = new QueryTurns();
  turns.concurrency = 4;
  assert.deepEqual(await ran(turns), { began: order, most: 4 });
  assert.deepEqual(await ran(turns), { began: order, most: 4 }, 'again');
});
