// `bourse import DATASET --watch DIR`: imports files as they arrive whole, one after the other, until a signal.
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { hashOfFile } from '../files/hash.ts';
import { clearFailure, failuresIn, recordFailure } from '../history/failed-files.ts';
import type { RecordedFlags } from '../history/run.ts';
import { runOfPath } from '../history/watched-file.ts';
import { DamagedData } from '../store/damage.ts';
import { isStoreMade, openStore } from '../store/engines.ts';
import type { Store } from '../store/store.ts';
import { UsageProblem } from './config.ts';
import { closing, readStore } from './opened-store.ts';
import { note } from './output.ts';

/** A file is whole once it has not changed for this long; a folder is read at least this often. */
const REST_MS = 3_000;
const LOOK_MS = 1_000;

/** Names of files that are being written, that hold refused rows, or that are hidden. */
const IGNORED = /^\.|\.part(?:ial)?$|\.rejected(?:\.\d+)?\.csv$/;

export type Watched = {
  readonly folder: string;
  readonly dataset: string;
  /** The flags that its runs record. */
  readonly flags: RecordedFlags;
  readonly storeUrl: string;
  /** Imports a file and reports the result; gives why not all of it was imported, or null. Throws what is not the file's fault. */
  readonly take: (path: string) => Promise<string | null>;
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
  const failed = await knownFailures(watched);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  note(`watching ${folder} for files of ${watched.dataset}`);
  const files = new FolderFiles(watched, failed);
  while (!stop.signal.aborted) {
    await files.takeWhole(stop.signal);
    await changeIn(folder, stop.signal);
  }
  note('stopped');
}

/** The full paths of the folder's files that the store has as failed. A store of an older layout is migrated here. */
async function knownFailures({ storeUrl, dataset, folder }: Watched): Promise<Set<string>> {
  if (!isStoreMade(storeUrl)) return new Set();
  return closing(openStore(storeUrl, 'write', note), (store) =>
    store.snapshot((reader) => failuresIn(reader, dataset, resolve(folder))),
  );
}

/** A skip in words; of a file, or of a member of an archive. */
export const skipText = (name: string, runId: number): string =>
  `${name}: skipped: run ${runId} imported it with these flags`;

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
  #seen = new Map<string, Seen>();
  /** The hash of the content that was skipped last, by name: each skip is reported once. */
  readonly #skipped = new Map<string, string>();
  /** The full paths of the files that the store has as failed. */
  readonly #failed: Set<string>;

  constructor(watched: Watched, failed: Set<string>) {
    this.#watched = watched;
    this.#failed = failed;
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
    await this.#forgetGone();
    for (const [name, seen] of present) {
      if (stop.aborted) return;
      if (seen.isTaken || nowMs - seen.sinceMs < REST_MS) continue;
      // The import before may have taken long.
      if (stampOf(join(folder, name)) === seen.stamp) await this.#take(name, seen);
    }
  }

  async #forgetGone(): Promise<void> {
    for (const name of this.#skipped.keys()) if (!this.#seen.has(name)) this.#skipped.delete(name);
    for (const path of this.#failed) if (!this.#seen.has(basename(path))) await this.#succeed(path);
  }

  /** Imports a file unless the store has it. One that cannot be read is tried again. */
  async #take(name: string, seen: Seen): Promise<void> {
    const { folder, take } = this.#watched;
    const given = join(folder, name);
    const path = resolve(given);
    const sha256 = await hashOfFile(path).catch((error: NodeJS.ErrnoException) => error);
    if (sha256 instanceof Error) {
      // A file that is gone by now has not failed.
      if (seen.isReported || sha256.code === 'ENOENT') return;
      seen.isReported = true;
      const problem = `it cannot be read (${sha256.code})`;
      note(`${given}: ${problem}`);
      return this.#fail(path, problem);
    }
    seen.isTaken = true;
    const runId = await this.#runOf(path, sha256);
    if (runId instanceof DamagedData) {
      note(`${given}: not imported: ${runId.message}`);
      return this.#fail(path, runId.message);
    }
    const problem = runId === null ? await take(given) : null;
    if (problem === null) await this.#succeed(path);
    else await this.#fail(path, problem);
    if (runId === null || this.#skipped.get(name) === sha256) return;
    this.#skipped.set(name, sha256);
    note(skipText(given, runId));
  }

  /**
   * The run that makes an import needless. It may be of another process, or of a call without --watch. Where the record of a run is
   * damaged, that error: importing the file again could put old values over newer corrections.
   */
  async #runOf(path: string, sha256: string): Promise<number | DamagedData | null> {
    const { dataset, flags, storeUrl } = this.#watched;
    if (!isStoreMade(storeUrl)) return null;
    try {
      return await readStore(storeUrl, 'read', (reader) =>
        runOfPath(reader, { dataset, path, sha256, flags }),
      );
    } catch (error) {
      if (error instanceof DamagedData) return error;
      throw error;
    }
  }

  async #fail(path: string, problem: string): Promise<void> {
    const { dataset } = this.#watched;
    this.#failed.add(path);
    await this.#write((store) => recordFailure(store, { dataset, path, problem, failed_ms: Date.now() }));
  }

  async #succeed(path: string): Promise<void> {
    if (!this.#failed.delete(path)) return;
    await this.#write((store) => clearFailure(store, this.#watched.dataset, path));
  }

  readonly #write = (work: (store: Store) => Promise<void>): Promise<void> =>
    closing(openStore(this.#watched.storeUrl, 'write', note), work);
}
