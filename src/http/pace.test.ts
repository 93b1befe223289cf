// Contract 6.3 (503): what may be let in while the HTTP thread itself is what is full.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { limits } from '../contract/limits.ts';
import { Pace } from './pace.ts';

// A clock of the tests' own: the processor may be elsewhere at any moment.
let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
});
mock.method(performance, 'now', () => nowMs);

test('as long as turns are short everything is let in', async () => {
  const pace = new Pace();
  for (let asked = 0; asked < 1_000; asked++) {
    assert.ok(pace.admits(nowMs, 50));
    nowMs++;
    await setImmediate();
  }
});

test('in a long turn no more is let in than a part of the time, and some always is', () => {
  const pace = new Pace();
  const [startMs, lengthMs, workMs] = [nowMs, 300, 0.5];
  let admitted = 0;
  for (; nowMs < startMs + lengthMs; nowMs += 0.1) {
    const admits = pace.admits(nowMs, workMs);
    if (admits && nowMs > startMs + 2 * limits.paceTurnMs) admitted++;
  }
  const most = limits.paceShare * lengthMs + limits.paceBurstMs + workMs;
  assert.ok(admitted * workMs <= most, `${admitted * workMs} of ${most}`);
  assert.ok(admitted > 0);
});

test('a turn that is long though little was asked in it is another work of the machine: everything is let in', () => {
  const pace = new Pace();
  for (let asked = 1; asked < limits.paceRequestsLeast; asked++) {
    assert.ok(pace.admits(nowMs, 50));
    nowMs++;
  }
});

test('the next turn is told from the one before, one that comes after a pause is not', async () => {
  const pace = new Pace();
  for (let asked = 0; asked < limits.paceRequestsLeast; asked++) pace.admits(nowMs, 0);
  nowMs += 2 * limits.paceTurnMs;
  await setImmediate();
  assert.ok(pace.admits(nowMs, 10 * limits.paceBurstMs), 'there was credit');
  assert.ok(!pace.admits(nowMs, 1), 'there is none');
  nowMs += 2 * limits.paceTurnMs;
  assert.ok(pace.admits(nowMs, 1), 'it keeps up again');
});
