// Parquet files of bars in bulk (contract 9.11): each made once before its first byte, and kept for a while.
// A whole one has no name, so nobody else changes or removes it, and it ends with its process.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTemporary, removeLeftovers, removeTemporary } from '../../base/temporary.ts';
import { Refusal } from '../../contract/errors.ts';
import { httpLimits } from '../limits.ts';
import { QueueError } from '../threads/query-queue.ts';
import { KeyTurns } from '../threads/turns.ts';

/** The known facts of a whole file. */
type MadeFile = {
  readonly hash: string;
  readonly dataVersion: number | undefined;
  /** Headers that tell of its rows. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same request has this file until then, epoch milliseconds, unless the data change. */
  readonly goodUntilMs: number;
};

/** A file that a caller may read until it is released. */
export type SpooledFile = MadeFile & {
  readonly handle: FileHandle;
  readonly bytes: number;
  readonly release: () => void;
};

/** Makes a file at a path. It ends soon after the signal, with the signal's reason. */
export type MakeFile = (path: string, signal: AbortSignal) => Promise<MadeFile>;

type Entry = {
  readonly made: PromiseWithResolvers<MadeFile & Pick<SpooledFile, 'handle'>>;
  isBegun: boolean;
  /** Ends its making. */
  readonly abort: AbortController;
  /** Null until it is made. */
  file: (MadeFile & Pick<SpooledFile, 'handle'>) | null;
  bytes: number;
  /** Those who wait for it or read it, and whether they have gone. */
  readonly readers: Set<{ readonly isGone: () => boolean }>;
  /** When the last of them was released. */
  usedMs: number;
  /** The keys whose quota has counted it. */
  readonly paid: Set<string>;
};

const newEntry = (): Entry => ({
  ...{ made: Promise.withResolvers(), isBegun: false, abort: new AbortController(), file: null, bytes: 0 },
  ...{ readers: new Set(), usedMs: 0, paid: new Set() },
});

const FOLDER = 'bourse-parquet-';

const gone = new QueueError('gone', 'every caller has gone');

const tooLarge = (bytesMax: number): Refusal =>
  new Refusal('invalid_parameter', {
    message: `The Parquet file would have more than ${bytesMax.toLocaleString('en-US')} bytes: ask for fewer days or symbols, or for csv or arrow.`,
    param: 'format',
  });

const noSpace = (): Refusal =>
  new Refusal('unavailable', {
    message: 'Other requests use all the space for Parquet files: ask for csv or arrow, or try again later.',
  });

const unusable = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal('unavailable', {
      message:
        'The folder in which Parquet files are made cannot be used: ask for csv or arrow, which need no file, or try again later.',
    }),
    { cause },
  );

/** The files of one serving process. */
export class ParquetSpool {
  /** The one that was asked for last comes last. */
  readonly #entries = new Map<string, Entry>();
  readonly #bytesMax: number;
  readonly #turns = new KeyTurns(httpLimits.spoolMakersMax);
  readonly #timer: NodeJS.Timeout;

  /** `bytesMax`: of all files, and of each. */
  constructor(bytesMax: number = httpLimits.spoolBytesMax) {
    this.#bytesMax = bytesMax;
    this.#timer = setInterval(() => this.#sweep(), httpLimits.spoolSweepMs).unref();
  }

  /** Removes what processes that have ended left. */
  clear(): void {
    removeLeftovers(tmpdir(), /^bourse-parquet-(\d+\.\d+)-\w+$/);
  }

  /** Whether the quota of a key has counted a file that is kept. */
  isPaid(name: string, keyId: string): boolean {
    return this.#entries.get(name)?.paid.has(keyId) ?? false;
  }

  /** Removes a file that has been good until now, so that it is made again. */
  forgetOld(name: string, nowMs: number): void {
    const entry = this.#entries.get(name);
    if (entry?.file && entry.file.goodUntilMs <= nowMs) this.#remove(name, entry);
  }

  /**
   * The file of a name, made by `make` where there is none, in the turn of the first key that has one; all
   * who ask meanwhile wait for the same. @throws Refusal, QueueError
   */
  async get(name: string, keyId: string, isGone: () => boolean, make: MakeFile): Promise<SpooledFile> {
    const entry = this.#entries.get(name) ?? newEntry();
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    const reader = { isGone };
    entry.readers.add(reader);
    const release = (): void => {
      entry.readers.delete(reader);
      entry.usedMs = performance.now();
      if (this.#entries.get(name) !== entry) this.#remove(name, entry);
    };
    if (entry.file === null) void this.#turns.run(keyId, () => this.#make(name, entry, make));
    try {
      const file = await entry.made.promise;
      entry.paid.add(keyId);
      return { ...file, bytes: entry.bytes, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Removes everything. */
  close(): void {
    clearInterval(this.#timer);
    for (const [name, entry] of this.#entries) this.#remove(name, entry);
  }

  /** Makes a file, once. */
  async #make(name: string, entry: Entry, make: MakeFile): Promise<void> {
    if (entry.isBegun) return;
    entry.isBegun = true;
    try {
      entry.file = await this.#madeOf(name, entry, make);
      entry.made.resolve(entry.file);
    } catch (error) {
      this.#remove(name, entry, error as Error);
      entry.made.reject(error);
    }
  }

  /** Makes a file in a folder of its own. Where somebody else removes that meanwhile, it begins again. */
  async #madeOf(name: string, entry: Entry, make: MakeFile): Promise<NonNullable<Entry['file']>> {
    const { signal } = entry.abort;
    for (let attempt = 1; ; attempt++) {
      const folder = newFolder();
      const path = join(folder, 'bars.parquet');
      const watch = (): void => {
        entry.bytes = bytesAt(path);
        const problem = this.#problemOf(entry);
        if (problem !== null) this.#remove(name, entry, problem);
      };
      const timer = setInterval(watch, httpLimits.spoolCheckMs);
      try {
        watch();
        signal.throwIfAborted();
        const file = await make(path, signal);
        watch();
        signal.throwIfAborted();
        return { ...file, handle: await open(path) };
      } catch (error) {
        if (signal.aborted || existsSync(folder)) throw error;
        if (attempt === httpLimits.spoolAttemptsMax) throw unusable(error);
      } finally {
        clearInterval(timer);
        removeTemporary(folder);
      }
    }
  }

  /** Why a file is not made to its end: nobody waits for it any more, or there is no place. */
  #problemOf({ readers, bytes }: Entry): Error | null {
    if (readers.values().every(({ isGone }) => isGone())) return gone;
    if (bytes > this.#bytesMax) return tooLarge(this.#bytesMax);
    return this.#sweep() ? null : noSpace();
  }

  /**
   * Removes files that nobody reads: old ones, and those that were asked for the longest ago until the others
   * fit; whether they do.
   */
  #sweep(): boolean {
    const oldMs = performance.now() - httpLimits.spoolKeptMs;
    let bytes = this.#entries.values().reduce((sum, entry) => sum + entry.bytes, 0);
    for (const [name, entry] of this.#entries) {
      const isOver = bytes > this.#bytesMax || this.#entries.size > httpLimits.spoolFilesMax;
      if (entry.readers.size > 0 || !(isOver || entry.usedMs < oldMs)) continue;
      this.#remove(name, entry);
      bytes -= entry.bytes;
    }
    return bytes <= this.#bytesMax;
  }

  /** Forgets a file: the next request makes another. It is gone once nobody reads it. */
  #remove(name: string, entry: Entry, reason: Error = gone): void {
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
    if (entry.file === null) entry.abort.abort(reason);
    else if (entry.readers.size === 0) void entry.file.handle.close();
  }
}

/** 0 where there is no file, or it cannot be reached: making it fails then. */
function bytesAt(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** A new folder: whatever becomes of it, the next file has another. @throws Refusal */
function newFolder(): string {
  try {
    mkdirSync(tmpdir(), { recursive: true });
    return makeTemporary(FOLDER);
  } catch (error) {
    throw unusable(error);
  }
}
