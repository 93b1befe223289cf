// The damage that a serving process knows: nothing twice, nothing after its repair.
import assert from 'node:assert/strict';
import childProcess, { type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { after, test } from 'node:test';
import { Workshop } from '../../../test/service.ts';
import { until } from '../../../test/until.ts';
import type { Observation } from '../../base/observe.ts';
import {
  beginServing,
  claimScrub,
  endServing,
  putScrub,
  readScrub,
  type Scrub,
} from '../../store/control.ts';
import { openControl } from '../../store/engines.ts';
import { cliLimits } from '../shared/limits.ts';
import { KnownDamage, Scrubbing } from './scrubbing.ts';

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

/** A store with one bar. */
async function newStore(): Promise<string> {
  const shop = new Workshop();
  after(() => shop.close());
  writeFileSync(shop.path('bars.csv'), 'datetime,open,high,low,close\n2025-03-03T00:00:00Z,1,1,1,1\n');
  const flags = ['--schema', 'crypto', '--country', 'GLOBAL', '--symbol', 'X', '--interval', '1M'];
  await shop.must('import', 'bars', shop.path('bars.csv'), ...flags);
  return shop.store;
}

test('a store is read by a process of its own, which tells what it found and ends', async () => {
  const store = await newStore();
  const observed: Observation[] = [];
  const scrubbing = new Scrubbing(store, 24, (one) => void observed.push(one), 0);
  await until('the store is read', () => scrubbing.readMs !== null);
  await scrubbing.stop();
  assert.deepEqual([observed, scrubbing.damaged], [[], []]);
  const control = await openControl(store, 'read');
  assert.equal((await readScrub(control))!.finishedMs, scrubbing.readMs);
  await control.close();
});

test('a store is read again where the service before was cut off, and not where it ended as it should', async () => {
  const store = await newStore();
  const control = await openControl(store, 'write');
  after(() => control.close());
  const now = Date.now();
  /** True if a reading is due when a service begins. */
  const isDue = async (nowMs: number): Promise<boolean> => {
    await beginServing(control, nowMs);
    return claimScrub(control, nowMs, 24 * 3_600_000);
  };
  assert.equal(await isDue(now), true);
  await putScrub(control, { startedMs: now, finishedMs: now + 1, damage: [] });
  assert.equal(await isDue(now + 2), true);
  await putScrub(control, { startedMs: now + 2, finishedMs: now + 3, damage: [] });
  // Another one that began later still serves.
  await endServing(control, now, now + 4);
  assert.equal(await isDue(now + 5), true);
  await putScrub(control, { startedMs: now + 5, finishedMs: now + 6, damage: [] });
  await endServing(control, now + 5, now + 7);
  assert.equal(await isDue(now + 8), false);
});

test('after a service was killed a reading is due, after one was stopped it is not', async () => {
  const store = await newStore();
  const shop = new Workshop();
  after(() => shop.close());
  const startedMs = async (): Promise<number> => {
    const control = await openControl(store, 'read');
    const scrub = await readScrub(control);
    await control.close();
    return scrub!.startedMs;
  };
  const control = await openControl(store, 'write');
  await putScrub(control, { startedMs: 7, finishedMs: 8, damage: [] });
  await control.close();
  const first = await shop.serve('--store', store);
  await first.stop();
  const second = await shop.serve('--store', store);
  assert.equal(await startedMs(), 7);
  await second.kill();
  const third = await shop.serve('--store', store);
  assert.equal(await startedMs(), 0);
  await third.stop();
});

test('a service that stops ends the reading at once, also within a call that nothing interrupts', async (t) => {
  const store = await newStore();
  const observed: Observation[] = [];
  const { fork } = childProcess;
  // The process stands still from its start on, so that it cannot end by itself.
  const forked = t.mock.method(childProcess, 'fork', (...args: Parameters<typeof fork>): ChildProcess => {
    const child = fork(...args);
    child.kill('SIGSTOP');
    return child;
  });
  syncBuiltinESMExports();
  try {
    const scrubbing = new Scrubbing(store, 24, (one) => void observed.push(one), 0);
    const child = await until('a reading has begun', () => forked.mock.calls[0]?.result);
    await scrubbing.stop();
    assert.equal(child.signalCode, 'SIGKILL');
    assert.deepEqual(observed, []);
  } finally {
    forked.mock.restore();
    syncBuiltinESMExports();
  }
});
