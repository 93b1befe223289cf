// Contract 6.3 (503): a request is refused only where it would wait longer than its bound, or has. Callers
// and threads have a clock of their own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, DAY, handler, openHandler, refused, withKey } from '../../../test/request-handler.ts';
import { limits } from '../../contract/limits.ts';
import { AdmissionControl, LoadShedding } from './overload.ts';

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
 * The result of a load: the refusals, the times of the answered requests, and the most requests that the
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
      if (admission.isTooLate(nowMs - sinceMs)) refuse(nowMs);
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
    admission.onAnswer(done!.tookMs, processorMs);
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
    assert.ok(timesMs.at(-1)! < limits.queueWaitMs);
  });

test('where requests would wait longer than the bound some are refused, and the answered ones waited not much longer', () => {
  const { refused, timesMs } = run({ callers: 1_000, withinMs: 100, requests: 30_000, tookMs: () => 1 });
  assert.ok(refused > 0);
  // Requests in the thread are not taken back.
  assert.ok(timesMs.at(-1)! < limits.queueWarmUpMs + 2 * limits.queueInFlightMs);
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
  for (let answered = 0; answered < 2_000; answered++) admission.onAnswer(1, 0.8);
  assert.ok(admission.admits({ waiting: 300, inFlight: 16 }));
  assert.ok(!admission.admits({ waiting: 400, inFlight: 16 }));
});

test('a thread that runs several requests at the same time is given one more than these', () => {
  const admission = new AdmissionControl({});
  admission.concurrency = 16;
  for (let answered = 0; answered < 1_000; answered++) admission.onAnswer(5_000, 0);
  assert.deepEqual(
    [16, 17].map((inFlight) => admission.isBusy(inFlight)),
    [false, true],
  );
});

test('what a request has waited before counts as a part of its wait', () => {
  const admission = warmWith(...Array.from({ length: 10_000 }, () => 1));
  const behind = { waiting: 100, inFlight: 50 };
  assert.equal(admission.admits(behind, limits.queueWaitMs - 160), true);
  assert.equal(admission.admits(behind, limits.queueWaitMs - 140), false);
  assert.deepEqual(
    [limits.queueWaitMs, 1.5 * limits.queueWaitMs].map((waitedMs) => admission.isTooLate(waitedMs)),
    [false, true],
  );
});

/** Admission control before a thread that was warm, and then took these times. */
function warmWith(...tookMs: readonly number[]): AdmissionControl {
  const admission = new AdmissionControl({ warmUpMs: 0 });
  for (const took of tookMs) admission.onAnswer(took, 0);
  return admission;
}

const near = (measured: number, expected: number): void =>
  assert.ok(Math.abs(measured - expected) < 0.05 * expected, `${measured}, not ${expected}`);

test('a few slow requests among many count by their number, and old ones no longer count', () => {
  assert.equal(warmWith().meanMs, 0);
  near(warmWith(2, 2, 2, 2).meanMs, 2);
  const hundred = [...Array.from({ length: 99 }, () => 0.2), 30];
  near(warmWith(...Array.from({ length: 50 }, () => hundred).flat()).meanMs, (99 * 0.2 + 30) / 100);
  const slowAtFirst = [...Array.from({ length: 100 }, () => 40), ...Array.from({ length: 20_000 }, fast)];
  near(warmWith(...slowAtFirst).meanMs, 0.2);
});

test('of parts of the time and processor time the longer counts, over all requests', () => {
  const admission = warmWith();
  // The processor time of requests that are answered together is measured with the first.
  for (let count = 0; count < 100; count++) admission.onAnswer(0.5, count % 10 === 0 ? 4 : 0);
  near(admission.meanMs, 0.5);
  for (let count = 0; count < 10_000; count++) admission.onAnswer(0.5, count % 10 === 0 ? 20 : 0);
  near(admission.meanMs, 2);
});

test('while a thread is new nobody is refused for a wait, up to twice the time of its warm-up', () => {
  const admission = new AdmissionControl({});
  const longMs = 2 * limits.queueWarmUpMs;
  const isRefused = (): boolean =>
    !admission.admits({ waiting: 1e6, inFlight: 2 }) || admission.isTooLate(longMs);
  assert.equal(admission.isTooLate(longMs + 1), true);
  for (let workedMs = 0; workedMs < limits.queueWarmUpMs; workedMs += 100) {
    assert.equal(isRefused(), false);
    admission.onAnswer(100, 0);
  }
  assert.equal(isRefused(), true);
});

const LATE = limits.queueWaitMs + 1;

/** A thread that has compiled its code. */
const shedding = (): LoadShedding => new LoadShedding(() => false);

/** Late requests for so long, one each millisecond; how many were answered. */
function answeredOf(at: LoadShedding, fromMs: number, toMs: number): number {
  let answered = 0;
  for (let nowMs = fromMs; nowMs < toMs; nowMs++) if (at.admits('loud', LATE, nowMs)) answered++;
  return answered;
}

test('who waited no longer to be read than a request may wait is answered', () => {
  const at = shedding();
  answeredOf(at, 1_000, 3_000);
  for (let nowMs = 3_000; nowMs < 13_000; nowMs++) assert.ok(at.admits('loud', limits.queueWaitMs, nowMs));
  assert.equal(at.refusedShare(13_000), 0);
});

test('after a pause of the machine what waited is answered late; where requests are late for a while, one in ten is', () => {
  const at = shedding();
  assert.equal(answeredOf(at, 1_000, 1_100), 100);
  assert.equal(at.refusedShare(1_100), 0);
  near(answeredOf(at, 1_100, 11_100), 10_000 / limits.lateAnsweredEvery);
  near(at.refusedShare(11_100), 1 - 1 / limits.lateAnsweredEvery);
  assert.equal(at.refusedShare(13_000), 0, 'a while after the last');
  assert.equal(answeredOf(at, 13_000, 13_100), 100, 'another pause');
});

test('keys that ask little are answered though they are late, and the others make up for it', () => {
  const at = shedding();
  answeredOf(at, 1_000, 2_000);
  const seconds = 5;
  let [quiet, loud, late] = [0, 0, 0];
  for (let ms = 1; ms <= seconds * 1_000; ms++) {
    // Each millisecond one loud request is in time, and nine are late.
    if (at.admits('loud', limits.queueWaitMs, 2_000 + ms)) loud++;
    for (let more = 0; more < 9; more++) if (at.admits('loud', LATE, 2_000 + ms)) late++;
    if (ms % 20 === 0) for (const key of ['quiet', 'other']) if (at.admits(key, LATE, 2_000 + ms)) quiet++;
  }
  const asked = 2 * ((seconds * 1_000) / 20);
  assert.equal(loud, seconds * 1_000);
  assert.ok(quiet >= 0.98 * asked, `${quiet} of ${asked}`);
  assert.ok(late <= (9 * seconds * 1_000) / limits.lateAnsweredEvery, `${late} late ones of the loud key`);
});

test('however many keys ask little, late requests that are answered are bounded', () => {
  const at = shedding();
  answeredOf(at, 1_000, 2_000);
  let answered = 0;
  for (let asked = 0; asked < 10_000; asked++)
    if (at.admits(`key ${asked}`, LATE, 2_000 + asked / 20)) answered++;
  near(answered, 10_000 / limits.lateAnsweredEvery);
});

test('the first requests of a thread are answered while their code is being compiled', () => {
  assert.equal(answeredOf(new LoadShedding(() => true), 1_000, 3_000), 2_000);
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
