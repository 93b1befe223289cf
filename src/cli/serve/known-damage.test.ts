// The damage that a serving process knows: nothing twice, nothing after its repair.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scrub } from '../../store/control.ts';
import { cliLimits } from '../shared/limits.ts';
import { KnownDamage } from './known-damage.ts';

const partOf = (name: string) => ({ dataset: 'news', place: name, problem: 'bad' });
const wordsOf = (name: string): string => `news, ${name}: bad`;

const reading = (startedMs: number, finishedMs: number | null, ...names: readonly string[]): Scrub => ({
  startedMs,
  finishedMs,
  damage: names.map(partOf),
});

test('a part is new once: not again when the same reading ends, nor in the next', () => {
  const known = new KnownDamage();
  assert.deepEqual(known.read(reading(100, null, 'a')), [wordsOf('a')]);
  assert.deepEqual(known.read(reading(100, 200, 'a', 'b')), [wordsOf('b')]);
  assert.deepEqual(known.read(reading(300, 400, 'a', 'b')), []);
  assert.deepEqual(known.parts, [wordsOf('a'), wordsOf('b')]);
});

test('what is repaired is forgotten by the end of the next reading, not by its beginning', () => {
  const known = new KnownDamage();
  known.read(reading(100, 200, 'a', 'b'));
  // A reading that has just begun still lists what the one before it found.
  known.read(reading(300, null, 'a', 'b'));
  assert.deepEqual(known.parts, [wordsOf('a'), wordsOf('b')]);
  assert.equal(known.readMs, 200);
  assert.deepEqual(known.read(reading(300, 400, 'b')), []);
  assert.deepEqual(known.parts, [wordsOf('b')]);
  assert.equal(known.readMs, 400);
});

test('what a request meets while a reading goes on outlives its end; what it met before does not', () => {
  const known = new KnownDamage();
  known.met(wordsOf('early'), 250);
  known.met(wordsOf('late'), 350);
  known.read(reading(300, 400));
  assert.deepEqual(known.parts, [wordsOf('late')]);
  known.read(reading(500, 600));
  assert.deepEqual(known.parts, []);
});

test('a process that begins while a reading goes on does not keep what was repaired before', () => {
  const known = new KnownDamage();
  assert.deepEqual(known.read(reading(300, null, 'repaired')), [wordsOf('repaired')]);
  known.read(reading(300, 400));
  assert.deepEqual(known.parts, []);
});

test('the same reading forgets nothing when it is asked for again', () => {
  const known = new KnownDamage();
  known.read(reading(100, 200));
  known.met(wordsOf('met'), 50);
  known.read(reading(100, 200));
  assert.deepEqual(known.parts, [wordsOf('met')]);
});

test('the parts are bounded', () => {
  const known = new KnownDamage();
  const names = Array.from({ length: cliLimits.knownDamageMax + 5 }, (_, at) => `part ${at}`);
  known.read(reading(100, 200, ...names));
  assert.deepEqual(known.parts, names.slice(0, cliLimits.knownDamageMax).map(wordsOf));
});
