// Contract 6.3 (503): a key with many waiting requests is refused, or waits, for these alone. In a query
// thread requests keep their order, and so many run at the same time as the store takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { QueryTurns, RecentKeys, WaitingRequests } from './turns.ts';

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

/**
 * Runs ten pieces of work of unequal length; the order in which they began, and the most that ran at the same
 * time.
 */
async function ran(turns: QueryTurns): Promise<{ began: number[]; most: number }> {
  const began: number[] = [];
  let [running, most] = [0, 0];
  const ends = Array.from({ length: 10 }, (_, index) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = async (): Promise<void> => {
      began.push(index);
      running++;
      most = Math.max(most, running);
      for (let pause = 0; pause < (index * 7) % 5; pause++) await setImmediate();
      running--;
      resolve();
    };
    turns.add({ keyId: 'a', work });
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

test('what arrives meanwhile has its turn before the next of a key with many (contract 6.3)', async () => {
  const began: string[] = [];
  const arriving: string[] = [];
  const all: Promise<void>[] = [];
  const turnOf = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    all.push(promise);
    const work = async (): Promise<void> => {
      began.push(name);
      if (name === 'a1') arriving.push('b5', 'b6', 'c7');
      await setImmediate();
      resolve();
    };
    return { keyId: name[0]!, work };
  };
  const turns = new QueryTurns(() => {
    const name = arriving.shift();
    return name === undefined ? undefined : turnOf(name);
  });
  for (const name of ['a0', 'a1', 'a2', 'a3', 'a4']) turns.add(turnOf(name));
  while (all.length < 8) await setImmediate();
  await Promise.all(all);
  assert.deepEqual(began, ['a0', 'a1', 'a2', 'b5', 'c7', 'a3', 'b6', 'a4']);
});

test('a thread that is never without work leaves its event loop turns', async () => {
  let [begun, arrived, isOver] = [0, 1, false];
  const work = async (): Promise<void> => {
    if (++begun < 1_000) arrived++;
    else isOver = true;
  };
  const turns = new QueryTurns(() => {
    if (arrived === 0) return undefined;
    arrived--;
    return { keyId: 'a', work };
  });
  turns.add({ keyId: 'b', work });
  let loops = 0;
  for (; !isOver; loops++) await setImmediate();
  assert.ok(loops >= 50, `${loops} turns of the event loop`);
});

test('several keys ask while more than one was heard within a second', (t) => {
  let nowMs = 5_000;
  t.mock.method(performance, 'now', () => nowMs);
  const keys = new RecentKeys();
  const heard = (...ids: (string | null)[]): boolean => {
    for (const id of ids) keys.heard(id);
    return keys.areSeveral;
  };
  assert.equal(heard(null, 'a', null, 'a'), false);
  assert.equal(heard('b'), true);
  nowMs += 999;
  assert.equal(heard('b'), true);
  nowMs += 1;
  assert.equal(heard('b', null), false);
  assert.equal(heard('a'), true);
});
