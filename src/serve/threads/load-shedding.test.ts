// Contract 6.3 (503): which requests are answered while the HTTP thread itself does not keep up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, DAY, handler, openHandler, refused, withKey } from '../../../test/request-handler.ts';
import { limits } from '../../contract/limits.ts';
import { LoadShedding } from './load-shedding.ts';

const {
  queueExpectedWaitMs: LATE_MS,
  sheddingAfterMs,
  sheddingTurnsMs,
  sheddingAhead,
  sheddingLateEvery,
} = limits;
const LATE = LATE_MS + 1;

/** Refuses a first request of the key `loud`: from now on late ones are refused. Gives the moment. */
function overload(shedding: LoadShedding, nowMs: number): number {
  assert.ok(shedding.admits(nowMs, LATE, 'loud'));
  assert.equal(shedding.admits(nowMs + sheddingAfterMs, LATE, 'loud'), false);
  return nowMs + sheddingAfterMs;
}

/** A thread that has compiled its code, a while ago. */
function warm(): { readonly shedding: LoadShedding; nowMs: number } {
  const shedding = new LoadShedding();
  for (let asked = 0; asked < limits.sheddingColdRequests; asked++)
    assert.ok(shedding.admits(1_000, LATE, 'loud'));
  return { shedding, nowMs: 1_000 + 10 * sheddingTurnsMs };
}

test('who waited no longer than a request may wait is answered', () => {
  const { shedding, nowMs } = warm();
  for (let asked = 0; asked < 10_000; asked++) assert.ok(shedding.admits(nowMs + asked, LATE_MS, 'loud'));
  assert.equal(shedding.refusedShare(nowMs + 10_000), 0);
});

test('after a pause of the machine what waited is answered late; where every request is late for a while, late ones are refused', () => {
  const { shedding, nowMs } = warm();
  for (let ms = 0; ms < sheddingAfterMs; ms++) assert.ok(shedding.admits(nowMs + ms, LATE, 'loud'));
  assert.equal(shedding.admits(nowMs + sheddingAfterMs, LATE, 'loud'), false);
  assert.ok(shedding.refusedShare(nowMs + sheddingAfterMs) > 0);
  assert.ok(shedding.admits(nowMs + sheddingAfterMs, LATE_MS, 'loud'), 'who came in time');
});

test('one request in time ends the time after which late ones are refused, unless one was refused a moment ago', () => {
  const { shedding, nowMs } = warm();
  const late = (ms: number): boolean => shedding.admits(nowMs + ms, LATE, 'loud');
  late(0);
  assert.ok(shedding.admits(nowMs + sheddingAfterMs - 1, 0, 'loud'));
  assert.ok(late(sheddingAfterMs));
  assert.equal(late(2 * sheddingAfterMs), false);
  assert.ok(shedding.admits(nowMs + 2 * sheddingAfterMs, 0, 'loud'));
  assert.equal(late(2 * sheddingAfterMs + 1), false);
  assert.ok(late(2 * sheddingAfterMs + 2 * sheddingTurnsMs), 'long after it');
});

test('keys that ask little are answered though they are late, and the others make up for it', () => {
  const { shedding, nowMs: warmMs } = warm();
  const nowMs = overload(shedding, warmMs);
  const seconds = 5;
  let [quiet, loud, late] = [0, 0, 0];
  for (let ms = 1; ms <= seconds * 1_000; ms++) {
    // Each millisecond one loud request is in time, and nine are late.
    if (shedding.admits(nowMs + ms, LATE_MS, 'loud')) loud++;
    for (let more = 0; more < 9; more++) if (shedding.admits(nowMs + ms, LATE, 'loud')) late++;
    if (ms > 200 && ms % 20 === 0)
      for (const key of ['quiet', 'other']) if (shedding.admits(nowMs + ms, LATE, key)) quiet++;
  }
  const asked = 2 * ((seconds * 1_000 - 200) / 20);
  assert.ok(quiet >= 0.98 * asked, `${quiet} of ${asked}`);
  assert.equal(loud, seconds * 1_000);
  assert.ok(late <= (9 * seconds * 1_000) / sheddingLateEvery + 1, `${late} late ones of the loud key`);
});

test('however many keys ask little, late requests that are answered are bounded', () => {
  const { shedding, nowMs } = warm();
  const beganMs = overload(shedding, nowMs);
  let ahead = 0;
  for (let asked = 0; asked < 10_000; asked++)
    if (shedding.admits(beganMs + asked / 20, LATE, `key ${asked}`)) ahead++;
  assert.ok(ahead > 0 && ahead <= (10_000 / sheddingLateEvery) * 1.4 + 2 * sheddingAhead, String(ahead));
});

test('the part that is refused is told, and is none a while after the last refusal', () => {
  const { shedding, nowMs } = warm();
  const beganMs = overload(shedding, nowMs);
  for (let asked = 0; asked < 300; asked++) shedding.admits(beganMs, asked % 3 === 0 ? 0 : LATE, 'loud');
  assert.ok(
    Math.abs(shedding.refusedShare(beganMs) - (2 / 3) * (1 - 1 / sheddingLateEvery)) < 0.02,
    String(shedding.refusedShare(beganMs)),
  );
  assert.equal(shedding.refusedShare(beganMs + 2 * sheddingTurnsMs), 0);
});

test('where all are late, some are answered all the same', () => {
  const { shedding, nowMs } = warm();
  const beganMs = overload(shedding, nowMs);
  let answered = 0;
  for (let asked = 0; asked < 10_000; asked++)
    if (shedding.admits(beganMs + asked / 10, 20 * LATE, 'loud')) answered++;
  assert.ok(Math.abs(answered - 10_000 / sheddingLateEvery) <= 1, String(answered));
});

test('the first requests of a thread are answered while their code is being compiled', () => {
  const shedding = new LoadShedding();
  for (let asked = 0; asked < limits.sheddingColdRequests; asked++)
    assert.ok(shedding.admits(asked, 1_000, 'loud'));
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
