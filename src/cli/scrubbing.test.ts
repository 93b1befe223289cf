// Reading a store beside a service: it ends with the service, wherever it is (docs/operating/serving.md, Stop).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Workshop } from '../../test/service.ts';
import type { Observation } from '../base/observe.ts';
import { readScrub } from '../store/control.ts';
import { openControl } from '../store/engines.ts';
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

const noProc = process.platform !== 'linux' && 'only Linux has /proc';

/** The process that reads the store of this one; null where there is none. */
function reader(): number | null {
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one)))
    try {
      const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))![1]);
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      if (parent === process.pid && command.includes('scrub-process')) return Number(name);
    } catch {
      // It has ended meanwhile.
    }
  return null;
}

async function untilReader(): Promise<number> {
  for (let pid = reader(); ; pid = reader()) {
    if (pid !== null) return pid;
    await sleep(5);
  }
}

test('a store is read by a process of its own, which tells what it found and ends', async () => {
  const store = await newStore();
  const observed: Observation[] = [];
  const scrubbing = new Scrubbing(store, 24, (one) => void observed.push(one), 0);
  // Neither the timer nor the process keeps this one alive.
  const alive = setInterval(() => undefined, 1_000);
  while (scrubbing.readMs === null) await sleep(5);
  await scrubbing.stop();
  clearInterval(alive);
  assert.deepEqual([observed, scrubbing.damaged], [[], []]);
  const control = await openControl(store, 'read');
  assert.equal((await readScrub(control))!.finishedMs, scrubbing.readMs);
  await control.close();
});

test('a service that stops ends the reading at once, also within a call that nothing interrupts', {
  skip: noProc,
}, async () => {
  const store = await newStore();
  const observed: Observation[] = [];
  const scrubbing = new Scrubbing(store, 24, (one) => void observed.push(one), 0);
  const pid = await untilReader();
  process.kill(pid, 'SIGSTOP');
  await scrubbing.stop();
  assert.equal(reader(), null);
  assert.deepEqual(observed, []);
});
