// `bourse import DATASET --watch DIR`: files are taken as they arrive whole, one after the other, until a signal.
import { type FSWatcher, readdirSync, type Stats, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hashOfFile, WatchMemory } from '../history/watch-memory.ts';
import { isStoreMade, openStore } from '../store/engines.ts';
import { UsageProblem } from './config.ts';
import { printable } from './table.ts';

/** A file is whole once it has stayed the same so long; a folder is looked at so often at the least. */
const REST_MS = 3_000;
const LOOK_MS = 1_000;

/** What is being written, or was refused, or is hidden. */
const PASSED_OVER = /^\.|\.part(?:ial)?$|\.rejected(?:\.\d+)?\.csv$/;

/** What a file came to. */
export type Taken = { readonly runs: readonly number[] };

export type Watched = {
  readonly folder: string;
  readonly dataset: string;
  /** The flags and what they name, as text: what could not be imported may be with others. */
  readonly call: string;
  readonly storeUrl: string;
  /** Imports a file and tells what came of it; what is no fault of the file is thrown. */
  readonly take: (path: string) => Promise<Taken>;
};

/** How a file was last seen, and since when it is so. */
type Seen = {
  readonly stamp: string;
  readonly sinceMs: number;
  readonly isTaken: boolean;
  /** Whether it was said what is wrong with it. */
  readonly isTold: boolean;
};

/** What of a file changes with it; null where there is none. */
function stampOf(path: string): string | null {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? `${found.size} ${found.mtimeMs} ${found.ino}` : null;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Takes the files of a folder until SIGINT or SIGTERM; the one at hand is finished first. */
export async function watchFolder(watched: Watched): Promise<void> {
  const { folder } = watched;
  if (!isFolder(folder)) throw new UsageProblem(`--watch ${folder}: there is no such folder`);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  process.stderr.write(`bourse: watching ${printable(folder)} for files of ${watched.dataset}\n`);
  const look = new FolderLook(watched);
  while (!stop.signal.aborted) {
    await look.once(stop.signal);
    await changeIn(folder, stop.signal);
  }
  process.stderr.write('bourse: stopped\n');
}

/** Waits until something may have changed. Hints of the system come early, and not from every disk. */
async function changeIn(folder: string, stop: AbortSignal): Promise<void> {
  const end = new AbortController();
  const hints = hintsOf(folder, () => end.abort());
  // Hints of one file come by the hundred.
  const least = wait(LOOK_MS / 4, undefined, { signal: stop });
  const most = wait(LOOK_MS, undefined, { signal: AbortSignal.any([stop, end.signal]) });
  await Promise.allSettled([least, most]);
  hints?.close();
}

/** The system's hints; null where it gives none. */
function hintsOf(folder: string, tell: () => void): FSWatcher | null {
  try {
    return watch(folder, { persistent: false }, tell).on('error', () => undefined);
  } catch {
    return null;
  }
}

/** Looks at a folder again and again. */
class FolderLook {
  readonly #watched: Watched;
  readonly #memory: WatchMemory;
  #seen = new Map<string, Seen>();
  #hasToldMemory = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#memory = new WatchMemory(watched.folder, watched.dataset, watched.call);
  }

  /** Takes the files that are whole by now, in the order of their names. */
  async once(stop: AbortSignal): Promise<void> {
    const nowMs = performance.now();
    const present = new Map<string, Seen>();
    for (const name of readdirSync(this.#watched.folder).sort()) {
      if (PASSED_OVER.test(name)) continue;
      const stamp = stampOf(join(this.#watched.folder, name));
      if (stamp === null) continue;
      const before = this.#seen.get(name);
      present.set(
        name,
        before?.stamp === stamp ? before : { stamp, sinceMs: nowMs, isTaken: false, isTold: false },
      );
    }
    this.#seen = present;
    for (const [name, seen] of present) {
      if (stop.aborted) return;
      if (seen.isTaken || nowMs - seen.sinceMs < REST_MS) continue;
      // The one before may have taken long.
      if (stampOf(join(this.#watched.folder, name)) !== seen.stamp) continue;
      present.set(name, { ...seen, ...(await this.#take(name)) });
    }
  }

  /** Takes a file, unless it is known; one that cannot be read, which may pass, is tried again. */
  async #take(name: string): Promise<Pick<Seen, 'isTaken' | 'isTold'>> {
    const path = join(this.#watched.folder, name);
    const sha256 = await hashOfFile(path).catch((error: NodeJS.ErrnoException) => error);
    if (sha256 instanceof Error) {
      if (!this.#seen.get(name)?.isTold)
        process.stderr.write(`bourse: ${printable(path)}: it cannot be read (${sha256.code})\n`);
      return { isTaken: false, isTold: true };
    }
    await this.#learn();
    if (!this.#memory.knows(sha256)) await this.#bring(path, name, sha256);
    return { isTaken: true, isTold: true };
  }

  async #bring(path: string, name: string, sha256: string): Promise<void> {
    const { runs } = await this.#watched.take(path);
    if (this.#memory.remember(sha256, name, runs) || this.#hasToldMemory) return;
    this.#hasToldMemory = true;
    process.stderr.write(
      `bourse: ${printable(this.#watched.folder)} cannot be written to: files that could not be imported are tried again after a restart\n`,
    );
  }

  /** What other imports have brought, and earlier ones. */
  async #learn(): Promise<void> {
    const { storeUrl } = this.#watched;
    if (!isStoreMade(storeUrl)) return;
    const store = await openStore(storeUrl, 'read');
    try {
      await store.snapshot((reader) => this.#memory.learn(reader));
    } finally {
      await store.close();
    }
  }
}
