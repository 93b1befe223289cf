// The thread of dear requests lets the others go first (contract 6.4).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

/**
 * The nice value of each thread of this process: the 19th field of its state, where the name is in brackets
 * (proc_pid_stat(5)).
 */
const niceValues = (): number[] =>
  readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      const state = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      return Number(state.slice(state.lastIndexOf(')') + 2).split(' ')[16]);
    } catch {
      // It has ended since.
      return [];
    }
  });

/** How much nicer than the other threads the one that gives way is. */
const GIVING_WAY = 3;
const { PRIORITY_LOW } = constants.priority;

const skip =
  process.platform !== 'linux'
    ? 'only Linux has priorities of threads'
    : getPriority() > PRIORITY_LOW - GIVING_WAY && `priorities end at ${PRIORITY_LOW}`;

/** The nice values above those that this process had, while a thread of it gives way. */
async function nicerValues(usual: number): Promise<number[]> {
  const source = `
    const { giveWay } = await import(${JSON.stringify(new URL('./thread-priority.ts', import.meta.url))});
    giveWay();
    (await import('node:worker_threads')).parentPort.once('message', () => undefined).postMessage('done');`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const worker = new Worker(url);
  await new Promise((resolve) => worker.once('message', resolve));
  const nicer = niceValues().filter((nice) => nice > usual);
  await worker.terminate();
  return nicer;
}

test('a thread that gives way is nicer than all others of its process, and they stay as they are', {
  skip,
}, async () => {
  const usual = Math.max(...niceValues());
  assert.deepEqual(await nicerValues(usual), [usual + GIVING_WAY]);
});

test('a thread gives way to the others of a process that is nicer than most', { skip }, async () => {
  // Only the first thread gets it; what is begun by it inherits it.
  setPriority(PRIORITY_LOW - GIVING_WAY);
  assert.deepEqual(await nicerValues(PRIORITY_LOW - GIVING_WAY), [PRIORITY_LOW]);
});
