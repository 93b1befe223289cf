// One open SQLite file: how it is opened, its settings, statements and transactions. The only place that
// imports node:sqlite.
import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isOlder } from '../../base/runtime.ts';
import { SizedCache } from '../../base/sized-cache.ts';
import { DiskFull, freeBytesIn, isReadOnlyDisk } from '../../base/space.ts';
import type { StoredCell } from '../checked-rows.ts';
import { storeLimits } from '../limits.ts';
import { type Mode, noStoreAt, StoreUnavailable, StoreUnusable } from '../store.ts';
import {
  type FileKind,
  fileAt,
  isFull,
  isPassing,
  keptName,
  kinds,
  notOpened,
  PAGE_BYTES,
  requireFile,
  troubleOf,
} from './files.ts';

/** Older ones can corrupt a database in WAL mode (sqlite.org/wal.html, "the WAL-reset bug"). */
const VERSION_MIN = '3.51.3';

/** Time that a checkpoint waits for readers: a long read, such as a backup, must not hold up the writer. */
const CHECKPOINT_WAIT_MS = 250;

/**
 * The checkpoint of a log longer than this is tried again for some seconds: the log is on the disk until the
 * next write.
 */
const LOG_BYTES_MAX = 64 * 1024 * 1024;
const LOG_WAIT_MS = 4_000;

/** The longest pause between two attempts to get a lock. */
const RETRY_MS = 50;

/**
 * The path or address for SQLite. A file without a log has no writer: it can be read without making a log
 * (sqlite.org/uri.html).
 */
function locationOf(path: string, mode: Mode): string | URL {
  const makesLog = mode === 'write' || (mode !== 'inspect' && !isReadOnlyDisk(dirname(path)));
  if (makesLog || existsSync(`${path}-wal`)) return path;
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return url;
}

/** Makes a file where there is none, which only its maker may read. */
function makeMissing(path: string): void {
  // A service may still have the log of a file that had the name before, and SQLite would share it. It is
  // looked at first: one that comes meanwhile belongs to another process, which has made the file.
  const logs = ['-wal', '-shm'].map((ending) => `${path}${ending}`);
  const left = logs.map(fileAt);
  // An existing file is not opened: closing it would release this process' locks on it.
  if (existsSync(path)) return;
  closeSync(openSync(path, 'a', 0o600));
  for (const [at, log] of logs.entries())
    if (left[at] !== null && left[at] === fileAt(log)) rmSync(log, { force: true });
}

/** Opens a file, which mode `write` makes where it is missing. @throws StoreUnusable */
export function openConnection(path: string, mode: Mode): DatabaseSync {
  try {
    if (mode === 'write') makeMissing(path);
    return new DatabaseSync(locationOf(path, mode), {
      readOnly: mode !== 'write',
      timeout: storeLimits.busyTimeoutMs,
    });
  } catch (error) {
    throw notOpened(path, error, mode);
  }
}

/**
 * Refuses a file with several hard links: opened by two of its names, it would have two logs, and lose or
 * destroy data (sqlite.org/howtocorrupt.html, "Multiple links to the same file"). @throws StoreUnusable
 */
function requireOneName(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.nlink <= 1) return;
  // A restore that is under way, or was killed, has given the file this name too.
  const kept = statSync(keptName(path), { throwIfNoEntry: false });
  const known = kept?.ino === found.ino && kept.dev === found.dev ? 2 : 1;
  if (found.nlink <= known) return;
  throw new StoreUnusable(
    `${path} has ${found.nlink} hard links: opened by two names, it would lose data. List them: find / -xdev -samefile ${path}. Keep the one with a -wal file beside it, if there is one, and remove the others`,
  );
}

/** An open file with its statements kept. */
export class Database {
  readonly path: string;
  /** Device and inode that its name led to. */
  readonly file: string | null;
  readonly #db: DatabaseSync;
  readonly #statements = new SizedCache<StatementSync>(storeLimits.statementsCachedMax);
  /** Whether short writes may have left something in the log. */
  #leavesLog = false;
  /** Transactions that have not ended, and the end of the last of them. */
  #underWay = 0;
  #turn: Promise<void> = Promise.resolve();

  /** `alone`: nobody else can open it until it is closed; whoever comes second waits. */
  constructor(path: string, mode: Mode, kind: FileKind, alone = false) {
    this.path = path;
    requireFile(path, kind);
    if (kind !== 'backup') requireOneName(path);
    if (mode !== 'write' && !existsSync(path)) throw new StoreUnavailable(noStoreAt(path));
    // Looked at before: where another file takes its place meanwhile, the next look tells.
    const found = fileAt(path);
    this.#db = openConnection(path, mode);
    this.file = found ?? fileAt(path);
    try {
      const problem = versionProblem(this.rows('select sqlite_version()')[0]![0] as string);
      if (problem !== null) throw new StoreUnusable(problem);
      if (alone) this.#lockOthersOut();
      this.#checkKind(kind, mode);
      this.#db.exec(`pragma cache_size = -${mode === 'write' ? 65_536 : 8_192}`);
      if (mode === 'write' && !alone) this.#db.exec('pragma journal_mode = wal');
      if (mode === 'write') this.#db.exec('pragma synchronous = full; pragma temp_store = file');
      if (mode === 'read') this.#db.exec(`pragma busy_timeout = ${storeLimits.readBusyTimeoutMs}`);
    } catch (error) {
      this.#db.close();
      throw error instanceof StoreUnusable ? error : notOpened(path, error, mode);
    }
  }

  /**
   * Moves the log into the file, and locks it until it is closed: only the last connection can leave WAL mode
   * (sqlite.org/wal.html, sqlite.org/pragma.html#pragma_locking_mode).
   */
  #lockOthersOut(): void {
    this.#db.exec(`pragma page_size = ${PAGE_BYTES}; pragma journal_mode = delete`);
    // Two that kept a part of the lock while they wait would wait for each other.
    this.#db.exec('begin exclusive; pragma locking_mode = exclusive; commit');
    if (this.isReplaced) throw new StoreUnavailable(`${this.path} was removed or replaced`);
  }

  #checkKind(kind: FileKind, mode: Mode): void {
    const { applicationId, called } = kinds[kind];
    const found = this.pragma('application_id');
    if (found === applicationId) return;
    if (found !== 0 || this.rows('select 1 from sqlite_schema limit 1').length > 0) {
      const actual = Object.values(kinds).find((other) => other.applicationId === found);
      throw new StoreUnusable(`${this.path} is not ${called}${actual ? `: it is ${actual.called}` : ''}`);
    }
    if (mode !== 'write') throw new StoreUnusable(`${this.path} is empty: it has not been set up as a store`);
    // The size of pages must be set before the first page is written.
    this.#db.exec(`pragma page_size = ${PAGE_BYTES}; pragma application_id = ${applicationId}`);
  }

  /** Copies the newest committed state of a file into an empty one, while others use it. */
  static vacuumInto(path: string, kind: FileKind, empty: string): void {
    using database = new Database(path, 'read', kind);
    database.run('vacuum into ?', [empty]);
  }

  /** The size in bytes of a compact copy. */
  get copyBytes(): number {
    return (this.pragma('page_count') - this.pragma('freelist_count')) * this.pragma('page_size');
  }

  /** True if its name leads to another file by now, or to none. */
  get isReplaced(): boolean {
    return fileAt(this.path) !== this.file;
  }

  /** An integer setting. */
  pragma(name: string): number {
    return (this.#prepared(`pragma ${name}`).get() as unknown as [number])[0];
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /**
   * The rows of a statement, each as the values of its columns. A number that JavaScript does not have is
   * rounded: no stored one was so large, and its checksum tells.
   */
  rows(sql: string, values: readonly StoredCell[] = []): StoredCell[][] {
    const statement = this.#prepared(sql);
    try {
      return statement.all(...values) as unknown as StoredCell[][];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_OUT_OF_RANGE') throw error;
    }
    statement.setReadBigInts(true);
    try {
      const found = statement.all(...values) as unknown as (StoredCell | bigint)[][];
      return found.map((cells) => cells.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)));
    } finally {
      statement.setReadBigInts(false);
    }
  }

  /** The same rows one at a time. */
  *walk(sql: string): Generator<StoredCell[]> {
    const statement = this.#db.prepare(sql);
    statement.setReturnArrays(true);
    yield* statement.iterate() as Iterable<unknown> as Iterable<StoredCell[]>;
  }

  run(sql: string, values: readonly StoredCell[]): void {
    this.#prepared(sql).run(...values);
  }

  /**
   * Runs `work` on one state of the file. Transactions of one connection run one after the other. @throws
   * StoreUnavailable
   */
  snapshot<T>(work: () => Promise<T>): Promise<T> {
    // A read has nothing to commit, and SQLite refuses to commit where a read met a damaged page.
    return this.#inTurn(() => this.#transact(() => this.#prepared('begin').run(), work, 'rollback'));
  }

  /** Runs a read that may be outside a transaction. @throws StoreUnavailable */
  async reaching<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      throw this.#reached(error);
    }
  }

  /** An error in our words where the file cannot be reached now; any other as it is. */
  #reached(error: unknown): unknown {
    if (!isPassing(error)) return error;
    return new StoreUnavailable(`${this.path} cannot be reached now: ${(error as Error).message}`, {
      cause: error,
    });
  }

  /**
   * Runs `work` in a write transaction; an error undoes everything. Waits for another writer up to the busy
   * timeout. @throws DiskFull
   */
  async shortWrite<T>(work: () => Promise<T>): Promise<T> {
    // The log beside the name is that of the other file.
    if (this.isReplaced) throw new StoreUnavailable(`${this.path} was removed or replaced`);
    this.#leavesLog = true;
    return this.#inTurn(() =>
      this.#transact(() => this.#beginWrite(() => undefined, storeLimits.busyTimeoutMs), work),
    );
  }

  /**
   * As `shortWrite`, for long work: waits for another writer without a limit, calls `onWait` once, and leaves
   * no long log behind.
   */
  longWrite<T>(work: () => Promise<T>, onWait: () => void): Promise<T> {
    return this.#inTurn(async () => {
      // A write that was cut off may have left a long log.
      this.#checkpoint(0);
      try {
        return await this.#transact(() => this.#beginWrite(onWait), work);
      } finally {
        await this.#emptyLog();
      }
    });
  }

  /** Runs `work` as one part of the present write: an error undoes this part alone. */
  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    // SQLite ends a transaction by itself where the disk is full: the next statement would then be one of its
    // own.
    if (!this.#db.isTransaction) throw new Error('the write has ended, so that no part of it can begin');
    this.#prepared('savepoint part').run();
    try {
      const result = await work();
      this.#prepared('release part').run();
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('rollback to part; release part');
      throw error;
    }
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#underWay === 0 ? run() : this.#turn.then(run);
    this.#underWay++;
    const end = (): void => {
      this.#underWay--;
    };
    this.#turn = done.then(end, end);
    return done;
  }

  async #transact<T>(
    begin: () => unknown,
    work: () => Promise<T>,
    end: 'commit' | 'rollback' = 'commit',
  ): Promise<T> {
    try {
      await begin();
      const result = await work();
      this.#prepared(end).run();
      return result;
    } catch (error) {
      const folder = isFull(error) ? await this.#fullestFolder() : null;
      // A full disk may have rolled back by itself.
      if (this.#db.isTransaction) this.#db.exec('rollback');
      if (folder === null) throw this.#reached(error);
      const full = await this.#diskFull(folder, error);
      throw end === 'commit' ? full : new StoreUnavailable(full.message, { cause: full });
    }
  }

  /**
   * Sleeps between attempts, because SQLite's own wait would hold up this thread. @throws SQLite's error if
   * the lock is still held
   */
  async #beginWrite(onWait: () => void, waitMsMax = Number.POSITIVE_INFINITY): Promise<void> {
    const endMs = performance.now() + waitMsMax;
    for (let pauseMs = 1; ; pauseMs = 2 * pauseMs) {
      const isLast = performance.now() >= endMs;
      try {
        this.#waiting(0, () => this.#prepared('begin immediate').run());
        return;
      } catch (error) {
        if (isLast || troubleOf(error) !== 'busy') throw error;
      }
      if (pauseMs === 1) onWait();
      await sleep(Math.min(pauseMs, RETRY_MS));
    }
  }

  /** Temporary tables are in another folder than the file. */
  async #fullestFolder(): Promise<string> {
    const [own, temporary] = [dirname(this.path), tmpdir()];
    return (await freeBytesIn(own)) <= (await freeBytesIn(temporary)) ? own : temporary;
  }

  /**
   * Empties the log first, which frees the space of the undone work: then the owner sees the same numbers.
   */
  async #diskFull(folder: string, cause: unknown): Promise<DiskFull> {
    const logBytes = this.#logBytes();
    this.#checkpoint(0);
    const freeBytes = await freeBytesIn(folder);
    // Where not even the log could begin, a page is the least that lacks.
    return new DiskFull(folder, freeBytes, freeBytes + Math.max(logBytes, PAGE_BYTES), { cause });
  }

  /**
   * Moves the log into the file and empties it, as far as readers allow within a short wait, or a longer one
   * for a long log.
   */
  async #emptyLog(): Promise<void> {
    const endMs = Date.now() + LOG_WAIT_MS;
    while (!this.#checkpoint(CHECKPOINT_WAIT_MS)) {
      if (this.#logBytes() <= LOG_BYTES_MAX || Date.now() > endMs) return;
      await sleep(RETRY_MS);
    }
  }

  /**
   * Empties the log, and says whether it is empty. Committed rows are as safe in the log, so a full disk is
   * no fault here.
   */
  #checkpoint(waitMs: number): boolean {
    // Emptying an empty log would look like a commit to other connections (`Versioned`).
    if (this.#logBytes() === 0) return true;
    try {
      return this.#waiting(waitMs, () => this.rows('pragma wal_checkpoint(truncate)')[0]?.[0] === 0);
    } catch (error) {
      if (isFull(error)) return false;
      throw error;
    }
  }

  #waiting<T>(waitMs: number, work: () => T): T {
    this.#db.exec(`pragma busy_timeout = ${waitMs}`);
    try {
      return work();
    } finally {
      this.#db.exec(`pragma busy_timeout = ${storeLimits.busyTimeoutMs}`);
    }
  }

  #logBytes(): number {
    return statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  }

  /**
   * What short writes left in the log goes into the file, also where others have it open: a damaged log loses
   * what it holds, and nothing tells.
   */
  close(): void {
    this.#statements.clear();
    if (this.#leavesLog && !this.isReplaced) this.#checkpoint(CHECKPOINT_WAIT_MS);
    this.#db.close();
  }

  /**
   * Closes it once nothing is under way: reads outside a transaction end before the next turn of the event
   * loop.
   */
  closeSoon(): void {
    void this.#turn.then(() => setImmediate(() => this.close()));
  }

  [Symbol.dispose](): void {
    if (this.#db.isOpen) this.close();
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement, 1);
    }
    return statement;
  }
}

/** Why a version of SQLite cannot be used; null where it can. */
export const versionProblem = (version: string): string | null =>
  isOlder(version, VERSION_MIN) ? `SQLite ${version} is too old: ${VERSION_MIN} or newer is needed` : null;
