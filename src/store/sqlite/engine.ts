// The SQLite engine: rows and blocks in one file in WAL mode; one writing and many reading processes.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { changesAfter, raiseVersion, readVersion, WrittenParts } from '../changes.ts';
import { CheckedBlock, type FoundBlock, isMisplaced } from '../checked-blocks.ts';
import type { Row } from '../checked-rows.ts';
import { blockDamage, type Damage, DamagedData } from '../damage.ts';
import { KeptFormerRows } from '../former-rows.ts';
import { storeHistory } from '../migrations/index.ts';
import { type Change, movingColumns } from '../parts.ts';
import { blockCheck } from '../row-check.ts';
import type { Dataset, RowOf } from '../schema/dataset.ts';
import { rowChanges } from '../schema/internal.ts';
import { LIMIT_MARK } from '../sql.ts';
import {
  type BlockAt,
  type BlockRead,
  type Mode,
  type Reader,
  type Store,
  type StoredBlock,
  type StoreFacts,
  StoreUnusable,
  type Tell,
  type Writer,
} from '../store.ts';
import { Database } from './connection.ts';
import { controlPathOf } from './control.ts';
import { Followed } from './followed.ts';
import { openFile } from './layout.ts';
import { troubleOf } from './problems.ts';
import { ofPages, pageDamage, SqliteRows } from './rows.ts';
import { structureOf } from './scrub.ts';
import { blocksProblem } from './sums.ts';

const readBlocks =
  'select bucket, run_id as runId, bytes, row_check as storedCheck from bar_blocks where series_id = ? and bucket >= ? and bucket <= ? order by bucket';

/** The state of the file that one connection sees, and what the write that it is in has changed and kept. */
class FileState {
  /** Null outside a write. */
  written: WrittenParts | null = null;
  former: KeptFormerRows | null = null;
  /** Names the data of the file. */
  readonly id: string;
  readonly #database: Database;
  /** What SQLite said of commits when the version was last read. */
  #commits = Number.NaN;
  #version: number | null = null;

  constructor(database: Database) {
    this.#database = database;
    this.id = fileId(database.path);
  }

  /**
   * The version, which is read only where anything was committed since: to ask that costs a fourth of reading
   * a row.
   * @throws StoreUnavailable
   */
  version(): Promise<number | null> {
    return this.#database.reaching(() => this.#readVersion());
  }

  async #readVersion(): Promise<number | null> {
    const commits = this.#database.pragma('data_version');
    if (commits !== this.#commits) {
      this.#commits = Number.NaN;
      this.#version = await readVersion(new SqliteRows(this.#database));
      this.#commits = commits;
    }
    return this.#version;
  }

  /** Runs `work` in an open write transaction, and raises the version where it has changed anything. */
  async write<T>(work: () => Promise<T>): Promise<T> {
    this.written = new WrittenParts();
    this.former = new KeptFormerRows(await this.#readVersion());
    try {
      const result = await work();
      if (this.written.isEmpty) return result;
      const writer = new SqliteRows(this.#database);
      await raiseVersion(writer, this.written);
      await this.former.end(writer);
      return result;
    } finally {
      this.written = null;
      this.former = null;
    }
  }

  /**
   * To be called when a write has ended, committed or not: SQLite counts the commits of other connections
   * alone.
   */
  ended(): void {
    this.#commits = Number.NaN;
  }
}

const putBlock = `insert into bar_blocks (series_id, bucket, run_id, bytes, row_check) values (?, ?, ?, ?, ?)
  on conflict (series_id, bucket) do update set run_id = excluded.run_id, bytes = excluded.bytes, row_check = excluded.row_check`;

class SqliteReadWrite extends SqliteRows implements Reader, Writer {
  readonly #state: FileState;

  constructor(database: Database, state: FileState) {
    super(database);
    this.#state = state;
  }

  get id(): string {
    return this.#state.id;
  }

  version(): Promise<number | null> {
    return this.#state.version();
  }

  changesAfter(version: number, max: number): Promise<readonly Change[] | null> {
    return changesAfter(new SqliteRows(this.database), version, max);
  }

  override async upsert<D extends Dataset>(dataset: D, rows: readonly RowOf<D>[]): Promise<void> {
    this.#note(dataset, rows);
    await this.#keepFormer(dataset, rows);
    await super.upsert(dataset, rows);
  }

  override async remove<D extends Dataset>(dataset: D, keys: readonly Partial<RowOf<D>>[]): Promise<void> {
    this.#note(dataset, keys);
    await this.#keepFormer(dataset, keys);
    await super.remove(dataset, keys);
  }

  async #keepFormer(dataset: Dataset, rows: readonly Row[]): Promise<void> {
    const { former } = this.#state;
    if (former === null) return;
    const writer = new SqliteRows(this.database);
    if (dataset.keepsFormer !== undefined) await former.keep(writer, dataset, rows);
    else if (dataset === rowChanges) former.nameRuns(rows as never);
  }

  /** Notes what a change of some rows changes, before it: a row may be of another part than it was. */
  #note(dataset: Dataset, rows: readonly Row[]): void {
    const { written } = this.#state;
    if (written === null) return;
    const moving = movingColumns(dataset);
    for (const row of rows) {
      written.addRow(dataset, row);
      if (moving.length === 0 || written.isEverything) continue;
      for (const before of this.partly(dataset, moving, row)) written.addRow(dataset, before);
    }
  }

  async blocks(read: BlockRead): Promise<StoredBlock[]> {
    const { seriesId, fromBucket, toBucket, direction, limit } = read;
    const sql = `${readBlocks} ${direction} limit ${LIMIT_MARK}`;
    const values = [seriesId, fromBucket, toBucket, limit];
    const found = ofPages('bars', () => this.database.all(sql, values)) as FoundBlock[];
    const blocks: StoredBlock[] = [];
    for (const { bucket, runId, ...rest } of found) {
      const block = new CheckedBlock(seriesId, { bucket, runId, ...rest });
      if (isMisplaced(read, block, blocks.at(-1)))
        throw new DamagedData(blockDamage({ seriesId, bucket, runId }, 'an index has it under another key'));
      blocks.push(block);
    }
    return blocks;
  }

  async checkBlocks(seriesId: number): Promise<void> {
    const problem = ofPages('bars', () => blocksProblem(this.database, seriesId));
    if (problem !== null)
      throw new DamagedData({ dataset: 'bars', place: `series ${seriesId}`, problem, seriesId });
  }

  async structure({ name }: Dataset): Promise<readonly Damage[]> {
    return structureOf(this.database, name);
  }

  async putBlock(seriesId: number, block: StoredBlock): Promise<void> {
    this.#state.written?.addBlock(seriesId);
    const { bucket, runId, bytes } = block;
    this.database.run(putBlock, [seriesId, bucket, runId, bytes, blockCheck(seriesId, block)]);
  }

  async removeBlock(seriesId: number, bucket: number): Promise<void> {
    this.#state.written?.addBlock(seriesId);
    this.database.run('delete from bar_blocks where series_id = ? and bucket = ?', [seriesId, bucket]);
  }

  async blocksAt(places: readonly BlockAt[]): Promise<(StoredBlock | null)[]> {
    const blocks: (StoredBlock | null)[] = [];
    for (const { seriesId, bucket } of places) {
      const read = { seriesId, fromBucket: bucket, toBucket: bucket, direction: 'asc', limit: 1 } as const;
      blocks.push((await this.blocks(read))[0] ?? null);
    }
    return blocks;
  }

  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const { former } = this.#state;
    const kept = former?.count ?? 0;
    try {
      return await this.database.savepoint(work);
    } catch (error) {
      former?.undoTo(kept);
      throw error;
    }
  }
}

/** Reads and writes a file that is no store yet: no write raises its version. */
export const plainAccess = (database: Database): Reader & Writer =>
  new SqliteReadWrite(database, new FileState(database));

/**
 * SQLite's own error in our words where a write met a damaged page: it then commits nothing, even if the page
 * was only read.
 */
function writeDamage(error: unknown): unknown {
  const isOwn = error instanceof DamagedData || error instanceof StoreUnusable;
  return isOwn || troubleOf(error) !== 'damaged' ? error : new DamagedData(pageDamage(null, error), error);
}

/** What names the data of a file: a restore makes another file in its place. */
function fileId(path: string): string {
  const { dev, ino, birthtimeMs } = statSync(path);
  return `${dev} ${ino} ${birthtimeMs}`;
}

/**
 * Opens `path` as a store. One that is served goes on with the file that takes its place, and tells of it.
 */
export async function openSqliteStore(path: string, mode: Mode, tell: Tell): Promise<Store> {
  const open = () => openFile(path, mode, 'store', storeHistory, tell);
  if (mode !== 'serve') return storeOf(await open());
  const file = await Followed.begin(open, storeOf, tell);
  return {
    ...file.opened,
    get id() {
      return file.opened.id;
    },
    snapshot: async (work) => (await file.now()).snapshot(work),
    version: async () => (await file.now()).version(),
    changesAfter: async (version, max) => (await file.now()).changesAfter(version, max),
    close: async () => file.close(),
  };
}

/** Byte of the shared memory file that a writer locks (sqlite.org/walformat.html, "WAL locks"). */
const WRITE_LOCK_BYTE = 120;

/**
 * The number of the process that is writing to the file at `path` (proc_locks(5)); null where the system does
 * not list it.
 */
function writerOf(path: string): number | null {
  try {
    const { ino } = statSync(`${path}-shm`);
    const range = `${ino} ${WRITE_LOCK_BYTE} ${WRITE_LOCK_BYTE}`;
    const lock = new RegExp(`POSIX +ADVISORY +WRITE (\\d+) \\w+:\\w+:${range}$`, 'm');
    return Number(lock.exec(readFileSync('/proc/locks', 'utf8'))?.[1]) || null;
  } catch {
    // Other systems have no such list. The number is only shown to a person.
    return null;
  }
}

/** An open file as a store. */
function storeOf(database: Database): Store {
  const { path } = database;
  const state = new FileState(database);
  const access = new SqliteReadWrite(database, state);
  return {
    name: `sqlite:${path}`,
    id: state.id,
    snapshot: (work) => database.snapshot(() => work(access)),
    folder: dirname(resolve(path)),
    // One connection: its snapshots run one after the other.
    concurrency: 1,
    version: () => access.version(),
    changesAfter: (version, max) => access.changesAfter(version, max),
    write: (work, onWait = () => undefined) =>
      database
        .longWrite(
          () => state.write(() => work(access)),
          () => onWait(writerOf(path)),
        )
        .catch((error: unknown) => {
          throw writeDamage(error);
        })
        .finally(() => state.ended()),
    close: async () => database.close(),
  };
}

/** Layout and files of the store at `path`. */
export async function sqliteFacts(path: string): Promise<StoreFacts> {
  using database = new Database(path, 'read', 'store');
  const control = controlPathOf(path);
  const parts = [
    { what: 'data', path },
    { what: 'data log', path: `${path}-wal` },
    { what: 'keys', path: control },
    { what: 'keys log', path: `${control}-wal` },
  ].flatMap((part) => {
    const found = statSync(part.path, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ ...part, bytes: found.size }];
  });
  return { layout: database.pragma('user_version'), server: null, parts };
}
