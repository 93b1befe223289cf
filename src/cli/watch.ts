// `bourse import DATASET --watch DIR`: imports files as they arrive whole, one after the other, until a signal.
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hashOfFile, WatchMemory } from '../history/watch-memory.ts';
import { isStoreMade } from '../store/engines.ts';
import { UsageProblem } from './config.ts';
import { readStore } from './opened-store.ts';
import { note } from './output.ts';

/** A file is whole once it has not changed for this long; a folder is read at least this often. */
const REST_MS = 3_000;
const LOOK_MS = 1_000;

/** Names of files that are being written, that hold refused rows, or that are hidden. */
const IGNORED = /^\.|\.part(?:ial)?$|\.rejected(?:\.\d+)?\.csv$/;

export type Watched = {
  readonly folder: string;
  readonly dataset: string;
  /** The flags and what they name, as text: a file that could not be imported may be with others. */
  readonly call: string;
  readonly storeUrl: string;
  /** Imports a file, reports the result and gives its runs. Throws what is not the file's fault. */
  readonly take: (path: string) => Promise<readonly number[]>;
};

/** The state of a file when it was last seen, and since when. */
type Seen = { readonly stamp: string; readonly sinceMs: number; isTaken: boolean; isReported: boolean };

/** Changes whenever a file does; null where there is no file. */
function stampOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? `${found.size} ${found.mtimeMs} ${found.ino}` : null;
}

/** Imports the files of a folder until SIGINT or SIGTERM; the current file is finished first. */
export async function watchFolder(watched: Watched): Promise<void> {
  const { folder } = watched;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageProblem(`--watch ${folder}: there is no such folder`);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  note(`watching ${folder} for files of ${watched.dataset}`);
  const files = new FolderFiles(watched);
  while (!stop.signal.aborted) {
    await files.takeWhole(stop.signal);
    await changeIn(folder, stop.signal);
  }
  note('stopped');
}

/** Waits until something may have changed. The system's hints come early, but not from every disk. */
async function changeIn(folder: string, stop: AbortSignal): Promise<void> {
  const end = new AbortController();
  const hints = hintsOf(folder, () => end.abort());
  // One file causes hundreds of hints.
  const least = wait(LOOK_MS / 4, undefined, { signal: stop });
  const most = wait(LOOK_MS, undefined, { signal: AbortSignal.any([stop, end.signal]) });
  await Promise.allSettled([least, most]);
  hints?.close();
}

/** The system's hints; null where it gives none. */
function hintsOf(folder: string, hear: () => void): FSWatcher | null {
  try {
    return watch(folder, { persistent: false }, hear).on('error', () => undefined);
  } catch {
    return null;
  }
}

/** The files of a folder, and which of them are imported. */
class FolderFiles {
  readonly #watched: Watched;
  readonly #memory: WatchMemory;
  #seen = new Map<string, Seen>();
  #hasReportedMemory = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#memory = new WatchMemory(watched.folder, watched.dataset, watched.call);
  }

  /** Imports the files that are whole by now, in the order of their names. */
  async takeWhole(stop: AbortSignal): Promise<void> {
    const { folder } = this.#watched;
    const nowMs = performance.now();
    const present = new Map<string, Seen>();
    for (const name of readdirSync(folder).sort()) {
      const stamp = IGNORED.test(name) ? null : stampOf(join(folder, name));
      if (stamp === null) continue;
      const before = this.#seen.get(name);
      const fresh = { stamp, sinceMs: nowMs, isTaken: false, isReported: false };
      present.set(name, before?.stamp === stamp ? before : fresh);
    }
    this.#seen = present;
    for (const [name, seen] of present) {
      if (stop.aborted) return;
      if (seen.isTaken || nowMs - seen.sinceMs < REST_MS) continue;
      // The import before may have taken long.
      if (stampOf(join(folder, name)) === seen.stamp) await this.#take(name, seen);
    }
  }

  /** Imports a file unless it is known. One that cannot be read is tried again. */
  async #take(name: string, seen: Seen): Promise<void> {
    const { folder, storeUrl, take } = this.#watched;
    const path = join(folder, name);
    const sha256 = await hashOfFile(path).catch((error: NodeJS.ErrnoException) => error);
    if (sha256 instanceof Error) {
      if (!seen.isReported) note(`${path}: it cannot be read (${sha256.code})`);
      seen.isReported = true;
      return;
    }
    // Other calls may have imported it.
    if (isStoreMade(storeUrl)) await readStore(storeUrl, 'read', (reader) => this.#memory.learn(reader));
    const isKnown = this.#memory.knows(sha256) || this.#memory.remember(sha256, name, await take(path));
    seen.isTaken = true;
    if (isKnown || this.#hasReportedMemory) return;
    this.#hasReportedMemory = true;
    note(`${folder} cannot be written to: files that could not be imported are tried again after a restart`);
  }
}
