// Parquet files of bars in bulk (contract 9.11): each made once before its first byte, kept for a while in a
// folder of bounded size.
import { constants, mkdirSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Refusal } from '../../contract/errors.ts';
import { makeTemporary, removeLeftovers, removeTemporary } from '../../disk/temporary.ts';
import { httpLimits } from '../limits.ts';
import { KeyTurns } from '../queue/key-turns.ts';
import { QueueError } from '../queue/query-queue.ts';

/** The known facts of a whole file. */
export type MadeFile = {
  readonly hash: string;
  readonly dataVersion: number | undefined;
  /** Headers that tell of its rows. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same request has this file until then, epoch milliseconds, unless the data change. */
  readonly goodUntilMs: number;
};

/** A file that a caller may read until it is released, also where it is removed meanwhile. */
export type SpooledFile = MadeFile & {
  readonly path: string;
  readonly handle: FileHandle;
  readonly bytes: number;
  readonly release: () => void;
};

/** Makes a file at a path. It ends soon after the signal, with the signal's reason. */
export type MakeFile = (path: string, signal: AbortSignal) => Promise<MadeFile>;

type Entry = {
  /** In a folder of its own. */
  readonly path: string;
  readonly made: Promise<MadeFile>;
  /**
   * Makes it, once, in the turn of the first key that has one, and resolves when that has ended; in a later
   * turn at once.
   */
  readonly make: () => Promise<void>;
  /** The keys that have a turn, or wait for one. */
  readonly asking: Set<string>;
  /** Ends its making. */
  readonly abort: AbortController;
  /** Null until it is made. */
  file: MadeFile | null;
  /** The file as it was last looked at; null before. */
  stats: Stats | null;
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

const unusable = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal('unavailable', {
      message:
        'The folder in which Parquet files are made cannot be used: ask for csv or arrow, which need none, or again later.',
    }),
    { cause },
  );

/** A file was removed, replaced or closed to this user by somebody else. */
class FileLost extends Error {
  override readonly name = 'FileLost';
}

/** Null where there is no file, or it cannot be reached. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

const bytesOf = ({ stats }: Entry): number => stats?.size ?? 0;

/** Opens a made file. @throws FileLost where it is not what was made */
async function openMade({ path, stats }: Entry): Promise<FileHandle> {
  // A pipe in its place would have nothing to read, for ever.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new FileLost(`${path} cannot be opened`, { cause });
  });
  const found = await handle.stat().catch(() => null);
  if (found?.ino === stats?.ino && found?.size === stats?.size && found?.mtimeMs === stats?.mtimeMs)
    return handle;
  await handle.close();
  throw new FileLost(`${path} is another file`);
}

/** The files of one serving process. */
export class ParquetSpool {
  readonly #entries = new Map<string, Entry>();
  readonly #bytesMax: number;
  readonly #turns = new KeyTurns(httpLimits.spoolMakersMax);

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

  /**
   * The file of a name, made by `make` in turn where there is none; all who ask meanwhile wait for the same.
   * One that somebody else has removed is made again. @throws Refusal, QueueError
   */
  async get(name: string, keyId: string, isGone: () => boolean, make: MakeFile): Promise<SpooledFile> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#hold(name, keyId, isGone, make);
      } catch (error) {
        if (!(error instanceof FileLost)) throw error;
        if (attempt === httpLimits.spoolAttemptsMax) throw unusable(error);
      }
    }
  }

  /** As `get`, without a second attempt. @throws FileLost too */
  async #hold(name: string, keyId: string, isGone: () => boolean, make: MakeFile): Promise<SpooledFile> {
    const entry = this.#entries.get(name) ?? this.#begin(name, make);
    // The one that was asked for last is the last to go.
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    entry.waiting.add(isGone);
    entry.readers++;
    if (entry.expiry !== null) clearTimeout(entry.expiry);
    if (entry.file === null && !entry.asking.has(keyId)) void this.#turns.run(keyId, entry.make);
    entry.asking.add(keyId);
    let handle: FileHandle | null = null;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      void handle?.close();
      entry.waiting.delete(isGone);
      if (--entry.readers === 0) this.#expire(name, entry);
    };
    try {
      const file = await entry.made;
      handle = await openMade(entry);
      entry.paid.add(keyId);
      return { ...file, path: entry.path, handle, bytes: bytesOf(entry), release };
    } catch (error) {
      if (error instanceof FileLost) this.#remove(name, entry);
      release();
      throw error;
    }
  }

  /** Removes everything. */
  close(): void {
    for (const [name, entry] of this.#entries) {
      this.#remove(name, entry);
      removeTemporary(dirname(entry.path));
    }
  }

  #begin(name: string, make: MakeFile): Entry {
    const path = newFile();
    const abort = new AbortController();
    const { promise: made, resolve } = Promise.withResolvers<MadeFile>();
    let making: Promise<MadeFile> | null = null;
    const entry: Entry = {
      ...{ path, abort, made, file: null, stats: null, readers: 0, expiry: null },
      ...{ waiting: new Set(), asking: new Set(), paid: new Set() },
      make: async () => {
        if (making !== null) return;
        making = this.#make(name, path, make, abort);
        resolve(making);
        // Who asked for the file gets the error.
        await making.catch(() => undefined);
      },
    };
    this.#entries.set(name, entry);
    return entry;
  }

  async #make(name: string, path: string, make: MakeFile, abort: AbortController): Promise<MadeFile> {
    const timer = setInterval(() => this.#watch(name, path, abort), httpLimits.spoolCheckMs);
    try {
      this.#watch(name, path, abort);
      abort.signal.throwIfAborted();
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
      const isFault = !(error instanceof Refusal || error instanceof QueueError);
      const isLost = isFault && statsOf(path) === null;
      removeTemporary(dirname(path));
      throw isLost ? new FileLost(`${path} was removed while it was made`, { cause: error }) : error;
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
    entry.stats = statsOf(path);
    // A maker that fails removes its file, but not the folder.
    if (statsOf(dirname(path)) === null) this.#abandon(name, abort, new FileLost(`${path} was removed`));
    else if (entry.waiting.values().every((isGone) => isGone())) this.#abandon(name, abort, gone);
    else if (bytesOf(entry) > this.#bytesMax) this.#abandon(name, abort, tooLarge(this.#bytesMax));
    else if (!this.#makeRoom()) this.#abandon(name, abort, noSpace());
  }

  /** Who asks from now on begins anew. */
  #abandon(name: string, abort: AbortController, reason: Error): void {
    this.#entries.delete(name);
    abort.abort(reason);
  }

  /** Removes files that nobody reads, the oldest first, until the others fit; whether they do. */
  #makeRoom(): boolean {
    let bytes = this.#entries.values().reduce((sum, entry) => sum + bytesOf(entry), 0);
    for (const [name, entry] of this.#entries) {
      if (bytes <= this.#bytesMax) break;
      if (entry.readers > 0) continue;
      this.#remove(name, entry);
      bytes -= bytesOf(entry);
    }
    return bytes <= this.#bytesMax;
  }

  /** Keeps a file that nobody reads for a while. */
  #expire(name: string, entry: Entry): void {
    if (this.#entries.get(name) !== entry) removeTemporary(dirname(entry.path));
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
    else if (entry.readers === 0) removeTemporary(dirname(entry.path));
  }
}

/** A new, empty file in a new folder: whatever becomes of it, the next one has another. @throws Refusal */
function newFile(): string {
  try {
    mkdirSync(tmpdir(), { recursive: true });
    const path = join(makeTemporary(FOLDER), 'bars.parquet');
    writeFileSync(path, '', { mode: 0o600 });
    return path;
  } catch (error) {
    throw unusable(error);
  }
}
