// The gate before the parser: who is read at once, who waits and in which order, and what a long request may
// hold up. Batches: the work of one is done together, in order, and later batches have higher numbers.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';
import { type Entered, RequestBatches, RequestGate } from './request-gate.ts';

const { placesMax } = httpLimits;

// The tests have their own clock, because the processor may do other work at any moment.
let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
});
mock.method(performance, 'now', () => nowMs);

/** A gate without a free place, and the requests that have them. */
function fullGate(): { readonly gate: RequestGate; readonly inside: readonly Entered[] } {
  const gate = new RequestGate();
  const inside = Array.from({ length: placesMax }, () => {
    assert.ok(gate.isOpen());
    return gate.enter();
  });
  assert.equal(gate.isOpen(), false);
  return { gate, inside };
}

test('as many requests as there are places are read at once; each that leaves lets in one more, in the order of their coming', async () => {
  const { gate, inside } = fullGate();
  const order: number[] = [];
  const waits: number[] = [];
  for (let index = 0; index < 3 * placesMax; index++)
    gate.wait(() => {
      order.push(index);
      waits.push(gate.enter().waitedMs);
    });
  nowMs += 7;
  inside[5]!.leave();
  inside[9]!.leave();
  inside[9]!.leave();
  assert.deepEqual(order, [], 'not before the next turn');
  await nextTurn();
  assert.deepEqual(
    [order, waits],
    [
      [0, 1],
      [7, 7],
    ],
  );
  for (const { leave } of inside) leave();
  await nextTurn();
  assert.deepEqual(
    order,
    Array.from({ length: placesMax }, (_, index) => index),
  );
  assert.equal(gate.isOpen(), false);
});

test('while others wait nobody goes before them, also where a place is free; an empty gate is open', async () => {
  const { gate, inside } = fullGate();
  let left = (): void => undefined;
  gate.wait(() => {
    left = gate.enter().leave;
  });
  for (const { leave } of inside) leave();
  assert.equal(gate.isOpen(), false);
  await nextTurn();
  left();
  assert.ok(gate.isOpen());
  const { arrivedMs, waitedMs } = gate.enter();
  assert.deepEqual([arrivedMs, waitedMs], [nowMs, 0]);
});

test('keys take turns: who asks little is let in after one of a key with many (contract 6.3)', async () => {
  const { gate, inside } = fullGate();
  const order: string[] = [];
  const wait = (keyId: string | null): void => gate.wait(() => order.push(keyId ?? 'new'), keyId);
  for (let count = 0; count < placesMax; count++) wait('loud');
  for (const keyId of ['quiet', null]) wait(keyId);
  inside[0]!.leave();
  await nextTurn();
  assert.deepEqual(order.slice(0, 4), ['loud', 'quiet', 'new', 'loud']);
});

test('while several keys ask, one request of each is read in a turn (contract 6.3)', async () => {
  const gate = new RequestGate();
  const come = (keyId: string): boolean => {
    const isRead = gate.isOpen(keyId);
    if (isRead) gate.enter(keyId).leave(keyId);
    return isRead;
  };
  assert.ok(['loud', 'loud', 'loud', 'quiet'].every(come), 'one key after the other');
  const order: string[] = [];
  const wait = (keyId: string): void =>
    gate.wait(() => {
      order.push(keyId);
      gate.enter(keyId).leave(keyId);
    }, keyId);
  assert.ok(come('loud'));
  assert.equal(come('loud'), false);
  for (const keyId of ['loud', 'loud', 'loud', 'quiet', 'quiet']) wait(keyId);
  await nextTurn();
  assert.deepEqual(order, ['loud', 'quiet']);
  await nextTurn();
  assert.deepEqual(order.slice(2), ['loud', 'quiet']);
  await nextTurn();
  assert.deepEqual(order.slice(4), ['loud']);
  await nextTurn();
  nowMs += 1_000;
  assert.ok(['loud', 'loud', 'loud'].every(come), 'the other is silent');
});

test('one that is let in without asking anything gives way to the next', async () => {
  const { gate, inside } = fullGate();
  const order: string[] = [];
  for (const name of ['gone', 'half a head']) gate.wait(() => void order.push(name));
  gate.wait(() => {
    order.push('whole');
    gate.enter();
  });
  inside[0]!.leave();
  await nextTurn();
  assert.deepEqual(order, ['gone', 'half a head', 'whole']);
});

test('requests that take long keep their places for a while only', async () => {
  const { gate } = fullGate();
  let entered = 0;
  gate.wait(() => {
    gate.enter();
    entered++;
  });
  nowMs += limits.queueWaitMs - 1;
  assert.equal(gate.isOpen(), false);
  nowMs += 1;
  while (entered === 0) await nextTurn();
  for (let more = 1; more < placesMax; more++) {
    assert.ok(gate.isOpen());
    gate.enter();
  }
  assert.equal(gate.isOpen(), false);
});

test('work added in one tick is done at its end, in order, with one number; work added then goes to the next batch', async () => {
  const [one, other] = [new RequestBatches(), new RequestBatches()];
  const done: (readonly [string, number])[] = [];
  const work = (name: string) => (batch: number) => done.push([name, batch]);
  one.add((batch) => {
    done.push(['a', batch]);
    one.add(work('c'));
  });
  one.add(work('b'));
  other.add(work('other'));
  assert.equal(done.length, 0);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(
    done.map(([name]) => name),
    ['a', 'b', 'other', 'c'],
  );
  const [a, b, ofOther, c] = done.map(([, batch]) => batch) as [number, number, number, number];
  assert.equal(a, b);
  assert.ok(a < ofOther && ofOther < c);
});

test('a full batch is flushed before the end of the tick', async () => {
  const batches = new RequestBatches();
  const numbers: number[] = [];
  for (let count = 0; count <= limits.batchRequestsMax; count++) batches.add((batch) => numbers.push(batch));
  assert.equal(numbers.length, limits.batchRequestsMax);
  await nextTurn();
  assert.equal(numbers.length, limits.batchRequestsMax + 1);
  assert.equal(new Set(numbers).size, 2);
});
