// Readiness: told in time, whatever the query thread does (contract 9.3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../store/store.ts';
import { problemOf, STORE_AWAY, serviceState } from './readiness.ts';
import { type QueryQueue, QueueError } from './threads/query-queue.ts';

type Submit = QueryQueue['submit'];

const failing =
  (problem: QueueError['problem']): Submit =>
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

test('a part of the state that does not come within a second is null (contract 7.6)', async () => {
  const health = { problem: async () => STORE_AWAY, scrubbing: { damaged: ['news, a row: bad'] } };
  const never = new Promise<never>(() => undefined);
  const engine = { space: () => never };
  let asked = 0;
  const away = (): Promise<never> => {
    asked++;
    return Promise.reject(new StoreUnavailable('away'));
  };
  const read = serviceState({ ...health, control: { state: away }, engine });
  const [state, shared] = await Promise.all([read(), read()]);
  assert.deepEqual([shared, asked], [state, 1], 'calls at the same time share a reading');
  assert.deepEqual(state, {
    health: { ready: false, problem: STORE_AWAY, damaged: ['news, a row: bad'] },
    disk: { store_bytes: null, free_bytes: null },
    keys: null,
    check: null,
  });
  const broken = { state: () => Promise.reject(new Error('broken')) };
  const failing = serviceState({ ...health, control: broken, engine });
  for (let tried = 0; tried < 2; tried++) await assert.rejects(failing(), /broken/);
});
