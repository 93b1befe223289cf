// A thread gives memory back that it does not need, and lets nobody wait for that.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '../../contract/limits.ts';
import { giveBackMemory } from './spare-memory.ts';

test('after work, while there is none, a thread gives memory back, once in a while', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const work = { ended: 0, isIdle: true };
  let collections = 0;
  giveBackMemory(work, () => collections++);
  const after = (ended: number, isIdle: boolean): number => {
    Object.assign(work, { ended, isIdle });
    t.mock.timers.tick(limits.threadMemoryBackMs);
    return collections;
  };
  assert.equal(after(0, true), 0, 'without work');
  assert.equal(after(1, false), 0, 'while a request waits');
  assert.equal(after(1, true), 1);
  assert.equal(after(1, true), 1, 'again without work');
  assert.equal(after(9, true), 2);
});

/** Makes much garbage, and ends once most of what that took is given back; V8 itself gives nothing back. */
const large = `
import { mock } from 'node:test';
import { limits } from '${import.meta.resolve('../../contract/limits.ts')}';
import { giveBackMemory } from '${import.meta.resolve('./spare-memory.ts')}';
mock.timers.enable({ apis: ['setInterval'] });
const work = { ended: 0, isIdle: true };
giveBackMemory(work);
const least = process.memoryUsage.rss();
let made;
for (work.ended = 1; work.ended <= 4; work.ended++)
  made = Array.from({ length: 400_000 }, (_, at) => ({ at, text: 'x' + at, list: [at, at + 1] }));
made = undefined;
const most = process.memoryUsage.rss();
mock.timers.tick(limits.threadMemoryBackMs);
console.log(JSON.stringify({ least, most, last: process.memoryUsage.rss() }));
`;

test('what large answers took is given back', () => {
  const flags = ['--no-memory-reducer', '--input-type=module', '--eval', large];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  assert.notEqual(stdout, '', stderr);
  const { least, most, last } = JSON.parse(stdout);
  assert.ok(last - least < (most - least) / 3, stdout);
});

/** Loads a module, after memory was given back where its argument says so. */
const loading = `
import { mock } from 'node:test';
import { limits } from '${import.meta.resolve('../../contract/limits.ts')}';
import { giveBackMemory } from '${import.meta.resolve('./spare-memory.ts')}';
mock.timers.enable({ apis: ['setInterval'] });
const work = { ended: 0, isIdle: true };
if (process.argv[1] === 'after') giveBackMemory(work);
work.ended++;
mock.timers.tick(limits.threadMemoryBackMs);
await import('${import.meta.resolve('../../base/ascending.ts')}');
`;

test('compiled code that was kept before serves a process that gives memory back', () => {
  const kept = mkdtempSync(join(tmpdir(), 'bourse-kept-code-'));
  const env = { ...process.env, NODE_COMPILE_CACHE: kept, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
  const load = (when: 'after' | 'without') =>
    spawnSync(process.execPath, ['--input-type=module', '--eval', loading, when], { env, encoding: 'utf8' });
  try {
    load('without');
    const { stdout, stderr } = load('after');
    const told = (stdout + stderr).split('\n').filter((line) => line.includes('ascending.ts was'));
    assert.deepEqual(
      told.map((line) => /was (\w+)/.exec(line)![1]),
      ['accepted'],
      stderr,
    );
  } finally {
    rmSync(kept, { recursive: true });
  }
});
