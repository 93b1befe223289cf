// The gate before the parser: who is read at once, who waits and in which order, and what a long request may
// hold up.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { httpLimits } from './limits.ts';
import { type Entered, RequestGate } from './request-gate.ts';

const { placesMax, placeMsMax } = httpLimits;

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
    assert.ok(gate.isOpen);
    return gate.enter();
  });
  assert.equal(gate.isOpen, false);
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
  assert.equal(gate.isOpen, false);
});

test('while others wait nobody goes before them, also where a place is free; an empty gate is open', async () => {
  const { gate, inside } = fullGate();
  let left = (): void => undefined;
  gate.wait(() => {
    left = gate.enter().leave;
  });
  for (const { leave } of inside) leave();
  assert.equal(gate.isOpen, false);
  await nextTurn();
  left();
  assert.ok(gate.isOpen);
  const { arrivedMs, waitedMs } = gate.enter();
  assert.deepEqual([arrivedMs, waitedMs], [nowMs, 0]);
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
  nowMs += placeMsMax - 1;
  assert.equal(gate.isOpen, false);
  nowMs += 1;
  while (entered === 0) await nextTurn();
  for (let more = 1; more < placesMax; more++) {
    assert.ok(gate.isOpen);
    gate.enter();
  }
  assert.equal(gate.isOpen, false);
});
