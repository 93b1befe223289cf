// Flips single bits of a store's file and asks everything: whether damage is reported, and whether the scrub
// finds it.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Verdict, verdicts } from './flips-compare.ts';
import { bitOf, type FlipsJob } from './flips-job.ts';
import { type Region, regionAt, regionsOf } from './flips-pages.ts';
import { makeStore } from './flips-store.ts';
import type { Changed, Effect } from './flips-trial.ts';
import { type Figure, seconds } from './minutes.ts';

/**
 * Time for one flip, and to learn the answers of the sound store: far beyond what any takes that ends, on a
 * busy machine too.
 */
const HANG_MS = 120_000;

/** Memory of the thread that flips: one that takes more than this would end the process. */
const HEAP_MEGABYTES_MAX = 1_024;

/** Where files are in memory, if there is such a place. */
const MEMORY_FOLDER = '/dev/shm';

/** A flip, what it hit and what it did. */
export type Flip = {
  readonly number: number;
  readonly offset: number;
  readonly bit: number;
  readonly owner: string;
  readonly part: string;
  readonly verdict: Verdict;
  readonly changes: readonly Changed[];
  readonly damage: readonly string[];
};

/** A difference that the scrub does not find. */
export const isSilent = ({ verdict, damage }: Flip): boolean => verdict !== 'none' && damage.length === 0;

const worstOf = (changes: readonly Changed[]): Verdict =>
  verdicts.findLast((verdict) => changes.some((one) => one.verdict === verdict)) ?? 'none';

type Message = 'ready' | 'done' | (Effect & { readonly number: number });

/**
 * Runs flips in a thread until all are done, or one ends it; the number of the first that was not done, and
 * why.
 */
function runThread(
  job: FlipsJob,
  onFlip: (message: Effect & { readonly number: number }) => void,
): Promise<{ next: number; why: string | null }> {
  const worker = new Worker(new URL('./flips-worker.ts', import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
  });
  let next = job.from;
  return new Promise((resolve, reject) => {
    let isReady = false;
    const end = (why: string | null): void => {
      clearTimeout(timer);
      worker.removeAllListeners();
      void worker.terminate().then(() => {
        if (isReady) resolve({ next, why });
        else reject(new Error(`the sound store could not be asked: ${why}`));
      });
    };
    const timer = setTimeout(() => end(`more than ${HANG_MS} ms`), HANG_MS);
    worker.on('message', (message: Message) => {
      timer.refresh();
      isReady = true;
      if (message === 'done') end(null);
      else if (message !== 'ready') {
        next = message.number + 1;
        onFlip(message);
      }
    });
    worker.on('error', (error) => end(String(error instanceof Error ? error.stack : error)));
    worker.on('exit', () => end('the thread ended'));
  });
}

/** The size of a run. */
export type FlipsCheck = {
  readonly times: number;
  readonly seed: number;
  readonly pageBytes: number;
  /**
   * Tables, indexes and parts of pages, such as `news,leaf pointers`: flips these alone; empty for the whole
   * file.
   */
  readonly in: string;
  /** The number of the first flip, to repeat one. */
  readonly first: number;
  /** Each flip asks one in so many of the things that can be asked; 1: all. */
  readonly share: number;
};

/** Flips so many bits, each in a copy of its own. */
export async function flipBits(check: FlipsCheck, onFlip: (flip: Flip) => void): Promise<void> {
  const folder = mkdtempSync(join(existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir(), 'bourse-flips-'));
  try {
    const path = join(folder, 'sound.db');
    const made = await makeStore(folder, path, check.pageBytes);
    const all = regionsOf(path, made);
    const names = check.in.split(',');
    const isNamed = ({ owner, part }: Region): boolean => names.includes(owner) || names.includes(part);
    const regions = check.in === '' ? all : all.filter(isNamed);
    if (regions.length === 0) throw new Error(`nothing in the file is of ${check.in}`);
    const { seed, share } = check;
    const seeded = { folder: join(folder, 'flipped'), bytes: made, regions, seed, share };
    const noted = (number: number, { changes, damage }: Effect): void => {
      const { offset, bit } = bitOf(seeded, number);
      const { owner, part } = regionAt(all, offset);
      onFlip({ ...{ number, offset, bit, owner, part }, verdict: worstOf(changes), changes, damage });
    };
    const to = check.first + check.times;
    for (let from = check.first; from < to; ) {
      const { next, why } = await runThread({ ...seeded, from, to }, (one) => noted(one.number, one));
      from = next;
      if (why === null) continue;
      noted(next, { changes: [{ what: 'all', verdict: 'hang', how: why }], damage: [] });
      from = next + 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Longest name of a table or index in the table of figures: those of indexes list all columns. */
const OWNER_LENGTH_MAX = 64;

const wordsOf = (flips: readonly Flip[]): string =>
  [...verdicts, 'silent' as const]
    .map((word) => [
      word,
      flips.filter((one) => (word === 'silent' ? isSilent(one) : one.verdict === word)).length,
    ])
    .filter(([, count]) => count !== 0)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');

/** One flip in words. */
export function describeFlip(flip: Flip): string {
  const worst = flip.changes.filter(({ verdict }) => verdict === flip.verdict);
  const what = worst
    .slice(0, 2)
    .map((one) => `\n  ${one.what}\n    ${one.how.split('\n').slice(0, 3).join(' ')}`);
  const found = flip.damage.length === 0 ? 'the scrub finds nothing' : `the scrub finds: ${flip.damage[0]}`;
  const where = `byte ${flip.offset}, bit ${flip.bit}, ${flip.part} of ${flip.owner}`;
  return `flip ${flip.number} (${where}): ${flip.verdict}, ${found}${what.join('')}`;
}

/** What nobody may be served. */
const bad: readonly Verdict[] = ['wrong', 'blowup', 'hang'];

/** Flips bits, and counts what they did by table and index. Bad ones are described on standard error. */
export async function checkFlips(check: FlipsCheck): Promise<Figure[]> {
  const flips: Flip[] = [];
  const startedMs = performance.now();
  await flipBits(check, (flip) => {
    flips.push(flip);
    if (bad.includes(flip.verdict) || isSilent(flip)) process.stderr.write(`${describeFlip(flip)}\n`);
  });
  const owners = [...Map.groupBy(flips, ({ owner }) => owner)].sort(([, a], [, b]) => b.length - a.length);
  return [
    ...owners.map(([owner, of]): Figure => [owner.slice(0, OWNER_LENGTH_MAX), wordsOf(of)]),
    [`all ${flips.length} flips`, wordsOf(flips)],
    ['took', seconds(performance.now() - startedMs)],
  ];
}
