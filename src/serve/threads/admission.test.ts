// Contract 6.3 (503): a request is refused only where it would wait longer than its bound. Callers and thread
// have a clock of their own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../contract/limits.ts';
import { AdmissionControl } from './admission.ts';

/**
 * A load: callers who come within some milliseconds, and ask again as soon as they are answered, or refused.
 */
type Load = {
  readonly callers: number;
  readonly withinMs: number;
  readonly requests: number;
  /** Requests that the thread runs at the same time, and how long each then takes. */
  readonly concurrency?: number;
  readonly tookMs: (answered: number) => number;
  readonly processorMs?: number;
};

/**
 * What became of a load: the refusals, the times of the answered requests, and the most requests that the
 * thread held.
 */
type Result = { refused: number; timesMs: number[]; inFlightMax: number };

/** Runs a load on a thread whose requests all take their time, whatever others do. */
function run({ callers, withinMs, requests, concurrency = 1, tookMs, processorMs = 0 }: Load): Result {
  const admission = new AdmissionControl({});
  admission.concurrency = concurrency;
  const arrivals = Array.from({ length: callers }, (_, caller) => (caller * withinMs) / callers);
  const queue: number[] = [];
  const inThread: number[] = [];
  const running: { readonly sinceMs: number; readonly tookMs: number; readonly endMs: number }[] = [];
  const result: Result = { refused: 0, timesMs: [], inFlightMax: 0 };
  let [asked, answered] = [0, 0];
  const refuse = (nowMs: number): void => {
    result.refused++;
    if (asked + arrivals.length < requests) arrivals.push(nowMs + 1);
    arrivals.sort((a, b) => a - b);
  };
  const feed = (nowMs: number): void => {
    while (queue.length > 0 && !admission.isBusy(inThread.length + running.length)) {
      const sinceMs = queue.shift()!;
      if (admission.isTooLate(sinceMs, nowMs)) refuse(nowMs);
      else inThread.push(sinceMs);
    }
    while (inThread.length > 0 && running.length < concurrency) {
      const took = tookMs(answered + running.length);
      running.push({ sinceMs: inThread.shift()!, tookMs: took, endMs: nowMs + took });
    }
    result.inFlightMax = Math.max(result.inFlightMax, inThread.length + running.length);
  };
  while (arrivals.length + running.length > 0) {
    const end = running.reduce((least, { endMs }) => Math.min(least, endMs), Number.POSITIVE_INFINITY);
    const arrival = arrivals[0] ?? Number.POSITIVE_INFINITY;
    if (arrival < end) {
      arrivals.shift();
      asked++;
      const length = { waiting: queue.length, inFlight: inThread.length + running.length };
      if (admission.admits(length)) queue.push(arrival);
      else refuse(arrival);
      feed(arrival);
      continue;
    }
    const [done] = running.splice(
      running.findIndex(({ endMs }) => endMs === end),
      1,
    );
    answered++;
    admission.onAnswer(done!.tookMs, processorMs, end);
    result.timesMs.push(end - done!.sinceMs);
    if (asked + arrivals.length < requests) arrivals.unshift(end);
    feed(end);
  }
  result.timesMs.sort((a, b) => a - b);
  return result;
}

const fast = (): number => 0.2;

/** A new thread compiles its code: what its first requests take, as measured. */
const cold = (answered: number): number => {
  if (answered === 0) return 30;
  return answered < 20 ? 1.5 : Math.max(0.2, 0.9 - answered / 500);
};

for (const callers of [256, 1_000])
  test(`${callers} callers who ask again as soon as they are answered are all answered, and none waits much longer than another`, () => {
    const { refused, timesMs } = run({ callers, withinMs: 100, requests: 30_000, tookMs: fast });
    assert.equal(refused, 0);
    const [half, most] = [0.5, 0.99].map((part) => timesMs[Math.floor(timesMs.length * part)]!);
    assert.ok(most! <= 3 * half!, `${half} and ${most} ms`);
    assert.ok(timesMs.at(-1)! < limits.queueExpectedWaitMs);
  });

test('where requests would wait longer than the bound some are refused, and the answered ones waited not much longer', () => {
  const { refused, timesMs } = run({ callers: 1_000, withinMs: 100, requests: 30_000, tookMs: () => 1 });
  assert.ok(refused > 0);
  // What is in the thread is not taken back.
  assert.ok(timesMs.at(-1)! < limits.queueColdWaitMaxMs + 2 * limits.queueInFlightMs);
});

for (const withinMs of [5, 50, 150])
  test(`256 callers who come just after the start within ${withinMs} ms are answered, on a machine of half the speed too`, () => {
    for (const speed of [1, 0.5]) {
      const tookMs = (answered: number): number => cold(answered) / speed;
      assert.equal(run({ callers: 256, withinMs, requests: 256, tookMs }).refused, 0);
    }
  });

test('before the first answer the thread is given what keeps it busy, and no more', () => {
  assert.equal(run({ callers: 256, withinMs: 5, requests: 256, tookMs: () => 100 }).inFlightMax, 2);
});

test('requests that a thread runs at the same time wait for each other only as long as they do', () => {
  const slow = { callers: 1_000, withinMs: 100, requests: 30_000, tookMs: () => 4 };
  assert.equal(run({ ...slow, concurrency: 16, processorMs: 0.2 }).refused, 0);
  assert.ok(run({ ...slow, concurrency: 4, processorMs: 0.2 }).refused > 0);
});

test('the processor time of requests counts, however many the thread runs at the same time', () => {
  // Few ask at first, then many: what the thread can do shows in its processor time alone.
  const admission = new AdmissionControl({});
  admission.concurrency = 16;
  for (let answered = 0; answered < 1_000; answered++) admission.onAnswer(1, 0.8, answered);
  assert.ok(admission.admits({ waiting: 300, inFlight: 16 }));
  assert.ok(!admission.admits({ waiting: 400, inFlight: 16 }));
});

test('a thread that runs several requests at the same time is given one more than these', () => {
  const admission = new AdmissionControl({});
  admission.concurrency = 16;
  for (let answered = 0; answered < 1_000; answered++) admission.onAnswer(5_000, 0, answered);
  assert.deepEqual(
    [16, 17].map((inFlight) => admission.isBusy(inFlight)),
    [false, true],
  );
});

test('what a request has waited before counts as a part of its wait', () => {
  const { queueWarmUpMs, queueExpectedWaitMs, queueWaitMaxMs } = limits;
  const admission = new AdmissionControl({});
  admission.onAnswer(1, queueWarmUpMs + 1, 0);
  for (let answered = 0; answered < 10_000; answered++) admission.onAnswer(1, 1, answered);
  const behind = { waiting: 100, inFlight: 50 };
  assert.equal(admission.admits(behind, queueExpectedWaitMs - 160), true);
  assert.equal(admission.admits(behind, queueExpectedWaitMs - 140), false);
  assert.equal(admission.isTooLate(2_000, 2_000 + queueWaitMaxMs + 1), true);
});
