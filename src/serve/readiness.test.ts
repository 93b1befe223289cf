// Readiness: told in time, whatever the query thread does (contract 9.3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOf, STORE_AWAY } from './readiness.ts';
import { type QueryQueue, QueueError, type QueueProblem } from './threads/query-queue.ts';

type Submit = QueryQueue['submit'];

const failing =
  (problem: QueueProblem): Submit =>
  () =>
    Promise.reject(new QueueError(problem, 'not now'));

test('a store that is away and a thread that fails are named; overload passes, and is not', async () => {
  assert.equal(await problemOf({ submit: failing('unavailable') }, 0), STORE_AWAY);
  assert.notEqual(await problemOf({ submit: failing('fault') }, 0), null);
  assert.equal(await problemOf({ submit: failing('full') }, 0), null);
});

test('a query thread that does not answer is reported within a second, and its probe is withdrawn', async () => {
  let isGone = (): boolean => false;
  const submit: Submit = (_, gone) => {
    isGone = gone;
    return new Promise(() => undefined);
  };
  const fromMs = performance.now();
  const told = problemOf({ submit }, 0);
  assert.equal(isGone(), false);
  assert.notEqual(await told, null);
  assert.ok(performance.now() - fromMs >= 800, 'a slow answer is waited for');
  assert.equal(isGone(), true);
});
