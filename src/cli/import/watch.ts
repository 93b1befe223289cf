// `bourse import DATASET --watch DIR`: imports files as they arrive whole, one after the other, until a
// signal.
import { spawn } from 'node:child_process';
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { RecordedFlags } from '../../imports/load/run.ts';
import { runOfPath } from '../../imports/load/watched-file.ts';
import { hashOfFile } from '../../imports/read/digest.ts';
import { giveBackMemory } from '../../serve/threads/spare-memory.ts';
import { rowsAmong, soundRows } from '../../store/all-rows.ts';
import { DamagedData, unlessDamaged } from '../../store/damage.ts';
import { engineAt, openStore } from '../../store/engines.ts';
import { failedFiles } from '../../store/schema/internal.ts';
import type { Reader, Store } from '../../store/store.ts';
import { environmentWith, UsageProblem } from '../config.ts';
import { cliLimits } from '../shared/limits.ts';
import { closing } from '../shared/opened-store.ts';
import { complain, note, printable, STDERR } from '../shared/output.ts';

/** A file is whole once it has not changed for this long; a folder is read at least this often. */
const REST_MS = 3_000;
const LOOK_MS = 1_000;

/** Names of files that are being written, that hold refused rows, or that are hidden. */
const IGNORED = /^\.|\.part(?:ial)?$|\.rejected(?:\.\d+)?\.csv$/;

type Watched = {
  readonly folder: string;
  readonly dataset: string;
  /** The flags that its runs record. */
  readonly recordedFlags: RecordedFlags;
  readonly storeUrl: string;
  /** Imports files and reports the results, until `stop`. Throws what is no file's fault. */
  readonly take: (paths: AsyncIterable<string>, onTaken: OnTaken, stop: AbortSignal) => Promise<unknown>;
  readonly tellFailed: TellFailed;
};

/** Tells the operator that a file was not imported, or not wholly, and why. */
type TellFailed = (file: string, reason: string) => Promise<void>;

/**
 * Is called once a file was taken, outside every write: `problem` says why not all of it was imported; null
 * where all was.
 */
export type OnTaken = (path: string, problem: string | null) => Promise<void>;

/** The state of a file when it was last seen, and since when. */
type Seen = { readonly stamp: string; readonly sinceMs: number; isTaken: boolean; isReported: boolean };

/** Changes whenever a file does; null where there is no file. */
function stampOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? `${found.size} ${found.mtimeMs} ${found.ino}` : null;
}

/**
 * Imports the files of a folder until SIGINT or SIGTERM; the current file is finished first, and its group
 * committed.
 */
export async function watchFolder(watched: Watched): Promise<void> {
  const { folder } = watched;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageProblem(`--watch ${folder}: there is no such folder`);
  const failures = await knownFailures(watched);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  note(`watching ${folder} for files of ${watched.dataset}`);
  const files = new FolderFiles(watched, failures);
  // To find what is odd in the bars of a small file, all of their series are read.
  const work = { ended: 0, isIdle: false };
  giveBackMemory(work);
  while (!stop.signal.aborted) {
    work.ended += await files.takeWhole(stop.signal);
    work.isIdle = true;
    await changeIn(folder, stop.signal);
    work.isIdle = false;
  }
  note('stopped');
}

/** The full paths of a folder's files that failed. */
type Failures = {
  readonly failed: Set<string>;
  /** Those that an earlier watch was importing when it ended: each may have ended it. */
  readonly unfinished: Set<string>;
};

/**
 * The files that the store has as failed. Of several unfinished ones the record is removed: each is begun
 * again by itself. A store of an older layout is migrated here.
 */
async function knownFailures({ storeUrl, dataset, folder }: Watched): Promise<Failures> {
  if (!(await engineAt(storeUrl).isMade())) return { failed: new Set(), unfinished: new Set() };
  return closing(openStore(storeUrl, 'write', note), async (store) => {
    const problems = await store.snapshot((reader) => failuresIn(reader, dataset, resolve(folder)));
    const unfinished = [...problems.keys()].filter((path) => problems.get(path) === UNFINISHED);
    if (unfinished.length > 1) await clearFailures(store, dataset, unfinished);
    return { failed: new Set(problems.keys()), unfinished: new Set(unfinished) };
  });
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

/** Files of a folder that are whole, by their names. */
type Due = readonly (readonly [name: string, seen: Seen])[];

/** Why a file is not tried that an earlier watch was importing when it ended. */
const SET_ASIDE =
  'the watch ended while it imported this file. It is tried again when it changes, and when the watch is started again';

/** The files of a folder, and which of them are imported. */
class FolderFiles {
  readonly #watched: Watched;
  #seen = new Map<string, Seen>();
  /** The hash of the content that was skipped last, by name: each skip is reported once. */
  readonly #skipped = new Map<string, string>();
  /** The full paths of the files that the store has as failed. */
  readonly #failed: Set<string>;
  readonly #unfinished: Set<string>;
  /** The one that has ended an earlier watch, until it was told. */
  #aside: string | undefined;
  /**
   * Files that need no import, or cannot be read, until no write is open: the path of each, and why it failed
   * or null.
   */
  readonly #known: [path: string, problem: string | null][] = [];

  constructor(watched: Watched, { failed, unfinished }: Failures) {
    this.#watched = watched;
    this.#failed = failed;
    this.#unfinished = unfinished;
    if (unfinished.size === 1) [this.#aside] = unfinished;
  }

  /** Imports the files that are whole by now, in the order of their names. Their number. */
  async takeWhole(stop: AbortSignal): Promise<number> {
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
    const due = [...present].filter(([, seen]) => !seen.isTaken && nowMs - seen.sinceMs >= REST_MS);
    const isUnfinished = ([name]: (typeof due)[number]): boolean =>
      this.#unfinished.has(resolve(folder, name));
    await this.#take(
      due.filter((one) => !isUnfinished(one)),
      stop,
    );
    for (const one of due.filter(isUnfinished)) await this.#take([one], stop);
    return due.length;
  }

  async #take(due: Due, stop: AbortSignal): Promise<void> {
    if (due.length === 0) return;
    const onTaken: OnTaken = (given, problem) => this.#note(resolve(given), problem);
    await this.#watched.take(this.#lacking(due, stop), onTaken, stop);
    for (const [path, problem] of this.#known.splice(0)) await this.#note(path, problem);
  }

  /**
   * The files among some that the store lacks. Each is looked at when its group is begun: the groups before
   * may have taken long.
   */
  async *#lacking(due: Due, stop: AbortSignal): AsyncGenerator<string> {
    const { folder, storeUrl } = this.#watched;
    // Other processes may write it too. It is opened once it is made.
    let store: Store | null = null;
    try {
      for (const [name, seen] of due) {
        if (stop.aborted) return;
        if (store === null && (await engineAt(storeUrl).isMade())) store = await openStore(storeUrl, 'read');
        const given = join(folder, name);
        if (stampOf(given) === seen.stamp && (await this.#isLacking(given, name, seen, store))) yield given;
      }
    } finally {
      await store?.close();
    }
  }

  async #forgetGone(): Promise<void> {
    for (const name of this.#skipped.keys()) if (!this.#seen.has(name)) this.#skipped.delete(name);
    for (const path of this.#failed) if (!this.#seen.has(basename(path))) await this.#note(path, null);
  }

  /** Whether a file is to be imported. One that cannot be read is tried again. */
  async #isLacking(given: string, name: string, seen: Seen, store: Store | null): Promise<boolean> {
    const path = resolve(given);
    const sha256 = await hashOfFile(path).catch((error: NodeJS.ErrnoException) => error);
    if (sha256 instanceof Error) {
      // A file that is gone by now has not failed.
      if (seen.isReported || sha256.code === 'ENOENT') return false;
      seen.isReported = true;
      const problem = `it cannot be read (${sha256.code})`;
      complain(`${given}: ${problem}`);
      this.#known.push([path, problem]);
      return false;
    }
    seen.isTaken = true;
    const runId = store && (await neededBy(store, this.#watched, path, sha256));
    const isAside = this.#aside === path;
    if (isAside) this.#aside = undefined;
    if (runId === null && !isAside) return true;
    if (runId === null || runId instanceof DamagedData) {
      const problem = runId?.message ?? SET_ASIDE;
      complain(`${given}: not imported: ${problem}`);
      this.#known.push([path, problem]);
      return false;
    }
    this.#known.push([path, null]);
    if (this.#skipped.get(name) === sha256) return false;
    this.#skipped.set(name, sha256);
    note(skipText(given, runId));
    return false;
  }

  /** Keeps in the store whether a file has failed. */
  async #note(path: string, problem: string | null): Promise<void> {
    const { dataset, storeUrl, tellFailed } = this.#watched;
    if (problem === null && !this.#failed.delete(path)) return;
    if (problem !== null) this.#failed.add(path);
    await closing(openStore(storeUrl, 'write', note), (store) =>
      problem === null
        ? clearFailures(store, dataset, [path])
        : recordFailure(store, dataset, problem, [path]),
    );
    if (problem !== null) await tellFailed(path, problem);
  }
}

/**
 * The run that makes an import needless. It may be of another process, or of a call without --watch. Where
 * the record of a run is damaged, that error: importing the file again could put old values over newer
 * corrections.
 */
const neededBy = (
  store: Store,
  { dataset, recordedFlags: flags }: Watched,
  path: string,
  sha256: string,
): Promise<number | DamagedData | null> =>
  store
    .snapshot((reader) => runOfPath(reader, { dataset, path, sha256, flags }))
    .catch((error: unknown) => {
      if (error instanceof DamagedData) return error;
      throw error;
    });

/** The problem of a file whose import has begun. It stays where the process ends before that import. */
export const UNFINISHED = 'its import began and did not end';

/** The problems of a dataset's failed files in a folder, which is given by its full path, by their paths. */
async function failuresIn(reader: Reader, dataset: string, folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const read = { where: { dataset }, order: [['path', 'asc']], limit: cliLimits.failedFilesMax } as const;
  for (const { path, problem } of await soundRows(reader, failedFiles, read))
    if (dirname(path) === folder) found.set(path, problem);
  return found;
}

/** Records that files failed; their earlier failures are replaced. */
export function recordFailure(
  store: Store,
  dataset: string,
  problem: string,
  paths: readonly string[],
  failedMs = Date.now(),
): Promise<void> {
  const rows = paths.map((path) => ({ dataset, path, problem, failed_ms: failedMs }));
  return store.write((writer) => writer.upsert(failedFiles, rows));
}

/**
 * Removes what is recorded of files that were imported, or that are gone. Writes nothing where there is
 * nothing.
 */
export async function clearFailures(store: Store, dataset: string, paths: readonly string[]): Promise<void> {
  const cleared = await store.snapshot((reader) =>
    unlessDamaged(rowsAmong(reader, failedFiles, { dataset }, 'path', paths)),
  );
  const keys = cleared ?? paths.map((path) => ({ dataset, path }));
  if (keys.length > 0) await store.write((writer) => writer.remove(failedFiles, keys));
}

/** A file that was not imported, or not wholly, and why. */
type Failure = { readonly dataset: string; readonly file: string; readonly reason: string };

/** Runs a command. Gives the reason where it failed, else null. */
function run(command: string, { dataset, file, reason }: Failure, mostMs: number): Promise<string | null> {
  const env = environmentWith({ FAILED_DATASET: dataset, FAILED_FILE: file, FAILED_REASON: reason });
  // Names and reasons are never a part of what the shell reads. A group of its own ends whole.
  const child = spawn('/bin/sh', ['-c', command], { env, stdio: ['pipe', STDERR, STDERR], detached: true });
  child.stdin!.on('error', () => undefined);
  child.stdin!.end(`${reason}\n`);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      process.kill(-child.pid!, 'SIGKILL');
      resolve(`took more than ${mostMs / 1_000} s and was ended`);
    }, mostMs);
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve(`could not be started (${error.code})`);
    });
    child.once('exit', (status, signal) => {
      clearTimeout(timer);
      if (status !== 0) resolve(status === null ? `was ended by ${signal}` : `ended with status ${status}`);
      resolve(null);
    });
  });
}

/**
 * Runs the command for a failure; without one does nothing. What goes wrong with it is reported, and changes
 * nothing else.
 */
export async function tellFailure(
  command: string | undefined,
  failure: Failure,
  mostMs: number = cliLimits.onFailureMs,
): Promise<void> {
  if (command === undefined) return;
  const reason = printable(failure.reason).slice(0, cliLimits.onFailureReasonMax);
  const problem = await run(command, { ...failure, reason }, mostMs);
  if (problem !== null) complain(`${failure.file}: the command of --on-failure ${problem}`);
}
