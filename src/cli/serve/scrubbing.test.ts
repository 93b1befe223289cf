// Reading a store beside a service: it ends with the service, wherever it is (docs/operating/serving.md,
// Stop).
import assert from 'node:assert/strict';
import childProcess, { type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { after, test } from 'node:test';
import { Workshop } from '../../../test/service.ts';
import { until } from '../../../test/until.ts';
import type { Observation } from '../../base/observe.ts';
import { beginServing, claimScrub, endServing, putScrub, readScrub } from '../../store/control.ts';
import { openControl } from '../../store/engines.ts';
import { Scrubbing } from './scrubbing.ts';

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
