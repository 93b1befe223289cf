// Contract 6.3 (503): how much is admitted while the HTTP thread itself does not keep up.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { limits } from '../../contract/limits.ts';
import { LoadShedding } from './load-shedding.ts';

// The tests have their own clock, because the processor may do other work at any moment.
let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
});
mock.method(performance, 'now', () => nowMs);

test('while ticks are short everything is admitted', async () => {
  const shedding = new LoadShedding();
  for (let asked = 0; asked < 1_000; asked++) {
    assert.ok(shedding.admits(nowMs, 50));
    nowMs++;
    await setImmediate();
  }
});

test('in a long tick only a share of the time is given out, but always some', () => {
  const shedding = new LoadShedding();
  const [startMs, lengthMs, workMs] = [nowMs, 300, 0.5];
  let admitted = 0;
  for (; nowMs < startMs + lengthMs; nowMs += 0.1) {
    const admits = shedding.admits(nowMs, workMs);
    if (admits && nowMs > startMs + 2 * limits.sheddingTickMs) admitted++;
  }
  const most = limits.sheddingShare * lengthMs + limits.sheddingBurstMs + workMs;
  assert.ok(admitted * workMs <= most, `${admitted * workMs} of ${most}`);
  assert.ok(admitted > 0);
});

test('a long tick with few requests means that the machine did other work: everything is admitted', () => {
  const shedding = new LoadShedding();
  for (let asked = 1; asked < limits.sheddingRequestsMin; asked++) {
    assert.ok(shedding.admits(nowMs, 50));
    nowMs++;
  }
});

test('a long tick also limits the next one, but not one after a pause', async () => {
  const shedding = new LoadShedding();
  for (let asked = 0; asked < limits.sheddingRequestsMin; asked++) shedding.admits(nowMs, 0);
  nowMs += 2 * limits.sheddingTickMs;
  await setImmediate();
  assert.ok(shedding.admits(nowMs, 10 * limits.sheddingBurstMs), 'there was credit');
  assert.ok(!shedding.admits(nowMs, 1), 'there is none');
  nowMs += 2 * limits.sheddingTickMs;
  assert.ok(shedding.admits(nowMs, 1), 'it keeps up again');
});
