// Parquet files of bars in bulk (contract 9.11): each made once before its first byte, kept for a while in a folder of bounded size.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../../contract/errors.ts';
import { folderProblem } from '../../disk/space.ts';
import { ownMark, removeLeftovers } from '../../disk/temporary.ts';
import { httpLimits } from '../limits.ts';
import { full, QueueError } from '../queue/query-queue.ts';

/** What is known of a whole file. */
export type MadeFile = {
  readonly hash: string;
  readonly dataVersion: number | undefined;
  /** Headers that tell of its rows. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same request has this file until then, epoch milliseconds, unless the data change. */
  readonly goodUntilMs: number;
};

/** A file that a caller may read until it is released. */
export type SpooledFile = MadeFile & {
  readonly path: string;
  readonly bytes: number;
  readonly release: () => void;
};

/** Makes a file at a path. It ends soon after the signal, with the signal's reason. */
export type MakeFile = (path: string, signal: AbortSignal) => Promise<MadeFile>;

type Entry = {
  readonly path: string;
  readonly made: Promise<MadeFile>;
  /** Ends its making. */
  readonly abort: AbortController;
  /** Null while it is made. */
  file: MadeFile | null;
  bytes: number;
  /** Whether each caller that waits for it, or reads it, has gone. */
  readonly waiting: Set<() => boolean>;
  readers: number;
  /** The keys whose quota has counted it. */
  readonly paid: Set<string>;
  expiry: NodeJS.Timeout | null;
};

const FOLDER = 'bourse-parquet-';

const gone = new QueueError('gone', 'every caller has gone');

const tooLarge = (bytesMax: number): Refusal =>
  new Refusal('invalid_parameter', {
    message: `The Parquet file would have more than ${bytesMax.toLocaleString('en-US')} bytes: ask for fewer days or symbols, or for csv or arrow.`,
    param: 'format',
  });

const noSpace = (): Refusal =>
  new Refusal('unavailable', {
    message:
      'The Parquet files of other requests fill the place for them: ask again later, or for csv or arrow.',
  });

/** The files of one serving process. */
export class ParquetSpool {
  readonly #entries = new Map<string, Entry>();
  #folder: string | null = null;
  #count = 0;
  readonly #bytesMax: number;

  /** `bytesMax`: of all files, and of each. */
  constructor(bytesMax: number = httpLimits.spoolBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Removes what processes that have ended left. */
  clear(): void {
    removeLeftovers(tmpdir(), /^bourse-parquet-(\d+\.\d+)-\w+$/);
  }

  /** Whether the quota of a key has counted a file that is kept. */
  isPaid(name: string, keyId: string): boolean {
    return this.#entries.get(name)?.paid.has(keyId) ?? false;
  }

  /** Removes a file that has been good until now, so that it is made anew. */
  forgetOld(name: string, nowMs: number): void {
    const entry = this.#entries.get(name);
    if (entry !== undefined && entry.file !== null && entry.file.goodUntilMs <= nowMs)
      this.#remove(name, entry);
  }

  /** The file of a name, made by `make` where there is none; all who ask meanwhile wait for the same. @throws Refusal, QueueError */
  async get(name: string, keyId: string, isGone: () => boolean, make: MakeFile): Promise<SpooledFile> {
    const entry = this.#entries.get(name) ?? this.#begin(name, make);
    // The one that was asked for last is the last to go.
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    entry.waiting.add(isGone);
    entry.readers++;
    if (entry.expiry !== null) clearTimeout(entry.expiry);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      entry.waiting.delete(isGone);
      if (--entry.readers === 0) this.#expire(name, entry);
    };
    try {
      const file = await entry.made;
      entry.paid.add(keyId);
      return { ...file, path: entry.path, bytes: entry.bytes, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Removes everything. */
  close(): void {
    for (const [name, entry] of this.#entries) this.#remove(name, entry);
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }

  #begin(name: string, make: MakeFile): Entry {
    const making = this.#entries.values().filter(({ file }) => file === null);
    if (making.toArray().length >= httpLimits.spoolMakersMax) throw full;
    const path = join(this.#folderOf(), `${++this.#count}.parquet`);
    const abort = new AbortController();
    const entry: Entry = {
      ...{ path, abort, file: null, bytes: 0, readers: 0, expiry: null },
      ...{ waiting: new Set(), paid: new Set() },
      made: this.#make(name, path, make, abort),
    };
    this.#entries.set(name, entry);
    return entry;
  }

  async #make(name: string, path: string, make: MakeFile, abort: AbortController): Promise<MadeFile> {
    const timer = setInterval(() => this.#watch(name, path, abort), httpLimits.spoolCheckMs);
    try {
      const file = await make(path, abort.signal);
      const entry = this.#entries.get(name);
      if (entry?.path !== path) throw gone;
      this.#watch(name, path, abort);
      abort.signal.throwIfAborted();
      entry.file = file;
      return file;
    } catch (error) {
      const entry = this.#entries.get(name);
      if (entry?.path === path) this.#entries.delete(name);
      rmSync(path, { force: true });
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  /** Looks at a file that is made: whether anybody waits for it, and whether there is place for it. */
  #watch(name: string, path: string, abort: AbortController): void {
    const entry = this.#entries.get(name);
    if (entry?.path !== path) {
      abort.abort(gone);
      return;
    }
    entry.bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (entry.waiting.values().every((isGone) => isGone())) this.#abandon(name, abort, gone);
    else if (entry.bytes > this.#bytesMax) this.#abandon(name, abort, tooLarge(this.#bytesMax));
    else if (!this.#makeRoom()) this.#abandon(name, abort, noSpace());
  }

  /** Who asks from now on begins anew. */
  #abandon(name: string, abort: AbortController, reason: Error): void {
    this.#entries.delete(name);
    abort.abort(reason);
  }

  /** Removes files that nobody reads, the oldest first, until the others fit; whether they do. */
  #makeRoom(): boolean {
    let bytes = this.#entries.values().reduce((sum, entry) => sum + entry.bytes, 0);
    for (const [name, entry] of this.#entries) {
      if (bytes <= this.#bytesMax) break;
      if (entry.readers > 0) continue;
      this.#remove(name, entry);
      bytes -= entry.bytes;
    }
    return bytes <= this.#bytesMax;
  }

  /** Keeps a file that nobody reads for a while. */
  #expire(name: string, entry: Entry): void {
    if (this.#entries.get(name) !== entry) rmSync(entry.path, { force: true });
    else if (entry.file !== null) this.#keep(name, entry);
  }

  #keep(name: string, entry: Entry): void {
    entry.expiry = setTimeout(() => this.#remove(name, entry), httpLimits.spoolKeptMs);
    entry.expiry.unref();
  }

  /** Forgets a file, and removes it once nobody reads it. */
  #remove(name: string, entry: Entry): void {
    if (entry.expiry !== null) clearTimeout(entry.expiry);
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
    if (entry.file === null) entry.abort.abort(gone);
    else if (entry.readers === 0) rmSync(entry.path, { force: true });
  }

  #folderOf(): string {
    try {
      this.#folder ??= mkdtempSync(join(tmpdir(), `${FOLDER}${ownMark}-`));
      return this.#folder;
    } catch (error) {
      throw folderProblem(error, tmpdir(), 'set TMPDIR to another one');
    }
  }
}
