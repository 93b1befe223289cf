// kill -9 of an import: readers never see a part of a file, nothing has to be mended, and nothing is left
// lying about.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { random } from '../../bench/minutes.ts';
import { contentHash } from '../../src/store/copy.ts';
import { openStore } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';
import { copyStore, isWriting, rowsOf } from '../stores.ts';
import { type Figure, hashOf, minutesFile, named, seconds } from './minutes.ts';

type CrashCheck = {
  readonly times: number;
  readonly symbols: number;
  readonly minutes: number;
  readonly seed: number;
  /** Kills after which the import is run again to its end. */
  readonly repairEvery: number;
};

/** Time between two looks of the reader. */
const LOOK_MS = 5;

/** A store with one file in it, another to be imported, and what the store holds before and after that. */
class CrashSite {
  readonly shop = new Workshop();
  readonly temporary = this.shop.path('tmp');
  readonly #base = this.shop.storeUrl('base');
  readonly #files: string[] = [];
  before = '';
  after = '';
  /** Of an undisturbed import: its whole time, and that from its first write to its end. */
  wholeMs = 0;
  writingMs = 0;

  async setUp({ symbols, minutes }: CrashCheck): Promise<void> {
    mkdirSync(this.temporary);
    const first = minutesFile(this.shop.path('first.csv'), symbols, minutes);
    await this.shop.must('import', 'bars', first, ...named);
    copyStore(this.shop.store, this.#base);
    this.before = await hashOf(this.shop.store);
    // Half of it replaces bars that are there, and half adds new ones.
    const plain = minutesFile(this.shop.path('second.csv'), symbols, minutes, Math.floor(minutes / 2));
    const zipped = this.shop.path('third.csv.gz');
    const refused = 'B0000,2015-01-02T14:30:00Z,none,1,1,1,1,1\n';
    writeFileSync(zipped, gzipSync(`${readFileSync(plain, 'utf8')}${refused}`));
    this.#files.push(plain, zipped);
    const startedMs = performance.now();
    const child = this.start(0);
    const ended = once(child, 'exit');
    const writingFromMs = await this.begins(child);
    await ended;
    this.wholeMs = performance.now() - startedMs;
    this.writingMs = performance.now() - writingFromMs;
    this.after = await hashOf(this.shop.store);
    assert.notEqual(this.after, this.before);
    this.reset();
  }

  reset(): void {
    copyStore(this.#base, this.shop.store);
  }

  #arguments(round: number): string[] {
    return ['import', 'bars', this.#files[round % 2]!, ...named, '--allow-rejects', '1'];
  }

  start(round: number): ChildProcess {
    return this.shop.start(this.#arguments(round), { TMPDIR: this.temporary });
  }

  async finish(round: number): Promise<void> {
    const child = this.start(round);
    const [status] = await once(child, 'exit');
    assert.equal(status, 0, 'importing again');
  }

  /** Waits until an import begins to write, or has ended; when that was. */
  async begins(child: ChildProcess): Promise<number> {
    while (child.exitCode === null && !isWriting(this.shop.store)) await sleep(1);
    return performance.now();
  }

  /** Temporary files of imports. */
  leftovers(): string[] {
    return [
      ...readdirSync(this.temporary),
      ...readdirSync(this.shop.folder).filter((name) => name.endsWith('.part')),
    ];
  }
}

/** What changes with every part of an import. */
const look = (url: string): string =>
  JSON.stringify(
    rowsOf(
      url,
      `select (select sum(row_check) from bar_blocks) as blocks, (select sum(row_check) from series) as series,
        (select count(*) from import_runs) as runs`,
    ),
  );

/** Looks at the store until told to stop, and reads it whole where it is another one; what it saw. */
function watch(url: string): { stop(): Promise<Set<string>> } {
  let going = true;
  const seen = (async () => {
    const hashes = new Set<string>();
    const store = await openStore(url, 'read');
    for (let looked: unknown = null; going; await sleep(LOOK_MS)) {
      const now = look(url);
      if (now !== looked) hashes.add(await store.snapshot(contentHash));
      looked = now;
    }
    hashes.add(await store.snapshot(contentHash));
    await store.close();
    return hashes;
  })();
  return {
    stop() {
      going = false;
      return seen;
    },
  };
}

/** Kills imports at random moments, half of them while they commit. */
export async function checkCrashes(check: CrashCheck): Promise<Figure[]> {
  const site = new CrashSite();
  const next = random(check.seed);
  const startedMs = performance.now();
  const counts = { before: 0, after: 0, ended: 0 };
  let leftMost = 0;
  try {
    await site.setUp(check);
    for (let round = 0; round < check.times; round++) {
      const what = `round ${round} of seed ${check.seed}`;
      // Every third time nobody has the store open, so that whoever comes first finds the log as the killed
      // one left it.
      const reader = round % 3 === 0 ? null : watch(site.shop.store);
      const child = site.start(round);
      const ended = once(child, 'exit');
      if (round % 2 === 0) await sleep(next() * site.wholeMs);
      else {
        await site.begins(child);
        await sleep(next() * site.writingMs);
      }
      if (child.exitCode === null) child.kill('SIGKILL');
      else counts.ended++;
      await ended;
      const seen = (await reader?.stop()) ?? new Set<string>();
      const found = await hashOf(site.shop.store);
      for (const hash of [...seen, found]) assert.ok(hash === site.before || hash === site.after, what);
      counts[found === site.before ? 'before' : 'after']++;
      leftMost = Math.max(leftMost, site.leftovers().length);
      if (round % check.repairEvery === check.repairEvery - 1) {
        await site.finish(round);
        assert.equal(await hashOf(site.shop.store), site.after, what);
      }
      if ((await hashOf(site.shop.store)) === site.after) site.reset();
    }
    // The files with refused rows are those that leave something.
    await site.finish(1);
    assert.deepEqual(site.leftovers(), [], `seed ${check.seed}`);
    assert.ok(leftMost <= 2, `${leftMost} temporary files at once: they pile up`);
    return [
      ['kills', `${check.times - counts.ended}, and ${counts.ended} that came after the end`],
      ['store as before the file, as after it', `${counts.before}, ${counts.after}`],
      ['an undisturbed import, of which writing', `${seconds(site.wholeMs)}, ${seconds(site.writingMs)}`],
      ['temporary files at once', `${leftMost} at the most, 0 at the end`],
      ['took', seconds(performance.now() - startedMs)],
    ];
  } finally {
    site.shop.close();
  }
}
