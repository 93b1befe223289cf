// Contract 6.3 (503): how many requests are answered while the HTTP thread itself does not keep up.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ask, DAY, handler, openHandler, refused, withKey } from '../../../test/request-handler.ts';
import { limits } from '../../contract/limits.ts';
import { LoadShedding } from './load-shedding.ts';

// The tests have their own clock, because the processor may do other work at any moment.
let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
});
mock.method(performance, 'now', () => nowMs);

/** A tick of so many requests, evenly spread; how many of them are answered. */
async function tick(shedding: LoadShedding, requests: number, tookMs: number): Promise<number> {
  const beganMs = nowMs;
  let admitted = 0;
  for (let asked = 0; asked < requests; asked++) {
    nowMs = beganMs + (tookMs * asked) / requests;
    if (shedding.admits(nowMs, 'loud')) admitted++;
  }
  nowMs = beganMs + tookMs;
  await setImmediate();
  return admitted;
}

/** A thread that has compiled its code. */
async function warm(): Promise<LoadShedding> {
  const shedding = new LoadShedding();
  assert.equal(await tick(shedding, limits.sheddingColdRequests, 5_000), limits.sheddingColdRequests);
  nowMs += 2 * limits.sheddingOverloadMs;
  return shedding;
}

const LONG_MS = 10 * limits.sheddingTickMs;

test('without a sign of overload everything is answered, however long the ticks are', async () => {
  const shedding = await warm();
  for (let ticks = 0; ticks < 100; ticks++) assert.equal(await tick(shedding, 200, LONG_MS), 200);
  assert.equal(shedding.refusedShare(nowMs), 0);
});

test('once the queue was full each step of a long tick lowers the part that is answered, to the least part', async () => {
  const shedding = await warm();
  shedding.onFullQueue(nowMs);
  const parts: number[] = [];
  for (let ticks = 0; ticks < 10; ticks++) parts.push((await tick(shedding, 1_000, LONG_MS)) / 1_000);
  assert.ok(parts[0]! > 0.75 && parts[0]! < 1, parts.join(' '));
  assert.ok(parts[1]! < parts[0]!, parts.join(' '));
  assert.ok(Math.abs(parts.at(-1)! - limits.sheddingShareMin) < 0.01, parts.join(' '));
  assert.ok(Math.abs(shedding.refusedShare(nowMs) - (1 - limits.sheddingShareMin)) < 0.01);
});

test('a tick as long as requests may wait is a sign of overload by itself, and while less is answered it stays one', async () => {
  const shedding = await warm();
  const { sheddingOverloadTickMs } = limits;
  await tick(shedding, 1_000, sheddingOverloadTickMs + limits.sheddingTickMs);
  for (let ticks = 0; ticks < 100; ticks++)
    assert.ok((await tick(shedding, 200, LONG_MS)) < 200, `after ${ticks} ticks`);
});

test('short ticks, or none, let the part that is answered rise to all of them', async () => {
  const shedding = await warm();
  const { sheddingRecoveryMs, sheddingShareMin } = limits;
  for (const recover of [
    async () => {
      for (let ms = 0; ms < sheddingRecoveryMs; ms += 10) await tick(shedding, 100, 10);
    },
    async () => {
      nowMs += sheddingRecoveryMs;
    },
  ]) {
    shedding.onFullQueue(nowMs);
    for (let ticks = 0; ticks < 20; ticks++) await tick(shedding, 500, LONG_MS);
    assert.ok(Math.abs(shedding.refusedShare(nowMs) - (1 - sheddingShareMin)) < 0.01);
    await recover();
    assert.equal(shedding.refusedShare(nowMs), 0);
    assert.equal(await tick(shedding, 100, 10), 100);
  }
});

test('while a part is refused, keys that ask little are answered, and the others make up for it', async () => {
  const shedding = await warm();
  shedding.onFullQueue(nowMs);
  for (let ticks = 0; ticks < 20; ticks++) await tick(shedding, 500, LONG_MS);
  let [loud, quiet, asked] = [0, 0, 0];
  for (let ticks = 0; ticks < 20; ticks++) {
    loud += await tick(shedding, 500, LONG_MS);
    for (const key of ['quiet', 'other']) if (shedding.admits(nowMs, key)) quiet++;
    asked += 500;
    await setImmediate();
  }
  assert.equal(quiet, 2 * 20);
  assert.ok((loud + quiet) / asked < limits.sheddingShareMin + 0.02, `${loud} and ${quiet} of ${asked}`);
});

test('keys that all ask alike together get no more than the part that is answered, and each its share', async () => {
  const shedding = await warm();
  shedding.onFullQueue(nowMs);
  for (let ticks = 0; ticks < 20; ticks++) await tick(shedding, 500, LONG_MS);
  const answered = new Array<number>(10).fill(0);
  const beganMs = nowMs;
  for (let asked = 0; asked < 5_000; asked++) {
    nowMs = beganMs + asked;
    if (shedding.admits(nowMs, String(asked % 10))) answered[asked % 10]!++;
    if (asked % 500 === 499) {
      shedding.onFullQueue(nowMs);
      await setImmediate();
    }
  }
  const all = answered.reduce((sum, count) => sum + count, 0);
  assert.ok(all <= 5_000 * limits.sheddingShareMin + limits.sheddingAhead + 10, answered.join());
  assert.ok(Math.max(...answered) - Math.min(...answered) <= 10, answered.join());
});

test('a long tick with few requests means that the machine did other work: nothing is refused', async () => {
  const shedding = await warm();
  shedding.onFullQueue(nowMs);
  const few = limits.sheddingRequestsMin - 1;
  for (let ticks = 0; ticks < 20; ticks++) assert.equal(await tick(shedding, few, 400), few);
});

test('the first requests of a thread are answered while their code is being compiled', async () => {
  const shedding = new LoadShedding();
  shedding.onFullQueue(nowMs);
  const half = limits.sheddingColdRequests / 2;
  assert.equal(await tick(shedding, half, 5_000), half);
  assert.equal(await tick(shedding, half, 5_000), half);
  assert.ok((await tick(shedding, half, 5_000)) < half);
});

test('what is not answered is 503, a cached answer too, after every mistake of its caller (contract 6.3, 6.4)', async () => {
  for (let asked = 0; asked < 2; asked++) assert.equal((await ask(withKey(DAY))).status, 200);
  const at = openHandler({ admits: () => false });
  const shed = await ask(withKey(DAY), { at });
  refused(shed, 'unavailable', undefined, 'shed');
  assert.equal(shed.headers['Retry-After'], '1');
  refused(await ask(withKey(DAY, '&limit=0'), { at }), 'invalid_parameter', 'limit', 'its own mistake');
  refused(await ask(DAY, { at }), 'missing_key', 'secret_key', 'no key');
  assert.equal((await ask(withKey(DAY), { at: handler })).status, 200);
});
