// Contract 6.3 (503): a key with many waiting requests is refused, or waits, for these alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitingRequests } from './waiting-requests.ts';

/**
 * Requests of keys in the order in which they come, such as `aab`: each is named by its key and its number.
 */
function waitingOf(keys: string): WaitingRequests<string> {
  const waiting = new WaitingRequests<string>();
  for (const [index, key] of keys.split('').entries()) waiting.add(key, `${key}${index}`);
  return waiting;
}

/** All requests in the order of their turns. */
function turnsOf(waiting: WaitingRequests<string>): string[] {
  const turns: string[] = [];
  for (let next = waiting.takeFirst(); next !== undefined; next = waiting.takeFirst()) {
    turns.push(next.request);
  }
  assert.equal(waiting.length, 0);
  return turns;
}

test('keys take turns, and the requests of one key keep their order (contract 6.3)', () => {
  assert.deepEqual(turnsOf(waitingOf('aaaa')), ['a0', 'a1', 'a2', 'a3']);
  assert.deepEqual(turnsOf(waitingOf('aaaabbc')), ['a0', 'b4', 'c6', 'a1', 'b5', 'a2', 'a3']);
});

test('a key that may not have its turn is passed over, and keeps its place', () => {
  const waiting = waitingOf('aabc');
  assert.deepEqual(
    waiting.takeFirst((key) => key !== 'a'),
    { keyId: 'b', request: 'b2' },
  );
  assert.equal(
    waiting.takeFirst(() => false),
    undefined,
  );
  assert.deepEqual(turnsOf(waiting), ['a0', 'c3', 'a1']);
});

test('one more request of a key is never behind more than is told, and of a new key behind one of each other (contract 6.3)', () => {
  assert.equal(waitingOf('').before('a'), 0);
  assert.equal(waitingOf('aaaa').before('a'), 4);
  for (const keys of ['aaaabbc', 'abcabc', 'abbbbb', 'cba'])
    for (const key of 'abcd') {
      const waiting = waitingOf(keys);
      const told = waiting.before(key);
      if (key === 'd') assert.equal(told, new Set(keys).size);
      waiting.add(key, 'new');
      assert.ok(turnsOf(waiting).indexOf('new') <= told, `${key} after ${keys}`);
    }
});

test('room for a key is made by the newest request of the one that has most, not by a key that has no more (contract 6.3)', () => {
  const waiting = waitingOf('aaabb');
  assert.equal(waiting.removeForOther('b'), undefined);
  assert.equal(waiting.removeForOther('a'), undefined);
  assert.equal(waiting.removeForOther('c'), 'a2');
  assert.equal(waiting.length, 4);
  assert.deepEqual(waiting.removeAll().sort(), ['a0', 'a1', 'b3', 'b4']);
  assert.deepEqual([waiting.length, waiting.first], [0, undefined]);
});
