// The thread of dear requests lets the others go first (contract 6.4).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

/** The nice value of each thread of this process: the 19th field of its state, where the name is in brackets (proc_pid_stat(5)). */
const niceValues = (): number[] =>
  readdirSync('/proc/self/task').map((thread) => {
    const state = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return Number(state.slice(state.lastIndexOf(')') + 2).split(' ')[16]);
  });

test('a thread that gives way is nicer than all others of its process, and they stay as they are', {
  skip: process.platform !== 'linux' && 'only Linux has priorities of threads',
}, async () => {
  const before = niceValues();
  const usual = Math.max(...before);
  const source = `
    const { giveWay } = await import(${JSON.stringify(new URL('./thread-priority.ts', import.meta.url))});
    giveWay();
    (await import('node:worker_threads')).parentPort.once('message', () => undefined).postMessage('done');`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const worker = new Worker(url);
  await new Promise((resolve) => worker.once('message', resolve));
  const nicer = niceValues().filter((nice) => nice > usual);
  await worker.terminate();
  assert.deepEqual(nicer, [usual + 3]);
});
