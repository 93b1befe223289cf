// Turns: works of one are done together, in order, and later ones have later numbers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { limits } from '../contract/limits.ts';
import { Turns } from './turns.ts';

test('what is given in one turn is done at its end, in order, under one number; what is given then, in the next', async () => {
  const [one, other] = [new Turns(), new Turns()];
  const done: (readonly [string, number])[] = [];
  const work = (name: string) => (turn: number) => done.push([name, turn]);
  one.atEnd((turn) => {
    done.push(['a', turn]);
    one.atEnd(work('c'));
  });
  one.atEnd(work('b'));
  other.atEnd(work('other'));
  assert.equal(done.length, 0);
  await setImmediate();
  await setImmediate();
  assert.deepEqual(
    done.map(([name]) => name),
    ['a', 'b', 'other', 'c'],
  );
  const [a, b, ofOther, c] = done.map(([, turn]) => turn) as [number, number, number, number];
  assert.equal(a, b);
  assert.ok(a < ofOther && ofOther < c);
});

test('of many works the first are done before the end of the turn', async () => {
  const turns = new Turns();
  const numbers: number[] = [];
  for (let count = 0; count <= limits.turnRequestsMax; count++) turns.atEnd((turn) => numbers.push(turn));
  assert.equal(numbers.length, limits.turnRequestsMax);
  await setImmediate();
  assert.equal(numbers.length, limits.turnRequestsMax + 1);
  assert.equal(new Set(numbers).size, 2);
});
