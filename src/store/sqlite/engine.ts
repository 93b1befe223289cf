// The SQLite engine: rows and blocks in one file in WAL mode; one writing and many reading processes.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { raiseVersion, readVersion, WrittenParts } from '../changes.ts';
import { blockCheck, CheckedBlock, type Row } from '../checked-rows.ts';
import { blockDamage, type Damage, DamagedData } from '../damage.ts';
import { KeptFormerRows } from '../former-rows.ts';
import { movingColumns } from '../known-changes.ts';
import { storeHistory } from '../migrations/index.ts';
import type { Dataset, RowOf } from '../schema/dataset.ts';
import { rowChanges } from '../schema/internal.ts';
import { LIMIT_MARK } from '../sql.ts';
import {
  type BlockAt,
  type BlockRead,
  type Mode,
  type PutBlock,
  type Reader,
  type Store,
  type StoredBlock,
  StoreUnusable,
  type Tell,
  type Writer,
} from '../store.ts';
import type { Database } from './connection.ts';
import { ofPages, pageDamage, troubleOf } from './files.ts';
import { Followed } from './followed.ts';
import { openFile } from './layout.ts';
import { SqliteRows } from './rows.ts';
import { blocksProblem, structureOf } from './sums.ts';

const readBlocks =
  'select bucket, run_id, bytes, row_check from bar_blocks where series_id = ? and bucket >= ? and bucket <= ? order by bucket';

type BlockCells = [bucket: number, runId: number, bytes: Uint8Array, storedCheck: number | null];

const putBlock = `insert into bar_blocks (series_id, bucket, run_id, bytes, row_check) values (?, ?, ?, ?, ?)
  on conflict (series_id, bucket) do update set run_id = excluded.run_id, bytes = excluded.bytes, row_check = excluded.row_check`;

const removeBlock = 'delete from bar_blocks where series_id = ? and bucket = ?';

/** True if a block cannot be of a read, or not after the block before it. */
function isMisplaced(read: BlockRead, { bucket }: StoredBlock, before: StoredBlock | undefined): boolean {
  if (bucket < read.fromBucket || bucket > read.toBucket) return true;
  if (before === undefined) return false;
  return read.direction === 'asc' ? bucket <= before.bucket : bucket >= before.bucket;
}

/**
 * Reads and writes the data that one connection sees. It knows the version of their state, and what the write
 * that it is in has changed and kept.
 */
class SqliteData extends SqliteRows implements Reader, Writer {
  /** Names the data of the file. */
  readonly id: string;
  /** Null outside a write. */
  #written: WrittenParts | null = null;
  #former: KeptFormerRows | null = null;
  /** What SQLite said of commits when the version was last read. */
  #commits = Number.NaN;
  #version: number | null = null;

  constructor(database: Database) {
    super(database);
    this.id = fileId(database.path);
  }

  /**
   * The version, which is read only where anything was committed since: to ask that costs a fourth of reading
   * a row.
   * @throws StoreUnavailable
   */
  version(): Promise<number | null> {
    return this.database.reaching(() => this.#readVersion());
  }

  async #readVersion(): Promise<number | null> {
    const commits = this.database.pragma('data_version');
    if (commits !== this.#commits) {
      this.#commits = Number.NaN;
      this.#version = await readVersion(this);
      this.#commits = commits;
    }
    return this.#version;
  }

  /** Runs `work` in an open write transaction, and raises the version where it has changed anything. */
  async write<T>(work: (writer: Writer) => Promise<T>): Promise<T> {
    this.#written = new WrittenParts();
    this.#former = new KeptFormerRows(await this.#readVersion());
    try {
      const result = await work(this);
      if (this.#written.isEmpty) return result;
      const writer = new SqliteRows(this.database);
      await raiseVersion(writer, this.#written);
      await this.#former.end(writer);
      return result;
    } finally {
      this.#written = null;
      this.#former = null;
    }
  }

  /**
   * To be called when a write has ended, committed or not: SQLite counts the commits of other connections
   * alone.
   */
  ended(): void {
    this.#commits = Number.NaN;
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
    const former = this.#former;
    if (former === null) return;
    const writer = new SqliteRows(this.database);
    if (dataset.keepsFormer !== undefined) await former.keep(writer, dataset, rows);
    else if (dataset === rowChanges) former.nameRuns(rows as never);
  }

  /** Notes what a change of some rows changes, before it: a row may be of another part than it was. */
  #note(dataset: Dataset, rows: readonly Row[]): void {
    const written = this.#written;
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
    const found = ofPages('bars', () => this.database.rows(sql, values)) as BlockCells[];
    const blocks: StoredBlock[] = [];
    for (const [bucket, runId, bytes, storedCheck] of found) {
      const block = new CheckedBlock(seriesId, { bucket, runId, bytes, storedCheck });
      if (isMisplaced(read, block, blocks.at(-1)))
        throw new DamagedData(blockDamage({ seriesId, bucket, runId }, 'an index has it under another key'));
      blocks.push(block);
    }
    return blocks;
  }

  async structure(of: Dataset | number): Promise<readonly Damage[]> {
    if (typeof of !== 'number') return structureOf(this.database, of.name);
    const problem = ofPages('bars', () => blocksProblem(this.database, of));
    return problem === null ? [] : [{ dataset: 'bars', place: `series ${of}`, problem, seriesId: of }];
  }

  async putBlock(seriesId: number, block: PutBlock): Promise<void> {
    this.#written?.addBlock(seriesId);
    const { bucket, bytes } = block;
    if (bytes === null) this.database.run(removeBlock, [seriesId, bucket]);
    else this.database.run(putBlock, [seriesId, bucket, block.runId, bytes, blockCheck(seriesId, block)]);
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
    const former = this.#former;
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
export const plainAccess = (database: Database): Reader & Writer => new SqliteData(database);

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
  const data = new SqliteData(database);
  return {
    name: `sqlite:${path}`,
    id: data.id,
    snapshot: (work) => database.snapshot(() => work(data)),
    folder: dirname(resolve(path)),
    // One connection: its snapshots run one after the other.
    concurrency: 1,
    version: () => data.version(),
    changesAfter: (version, max) => data.changesAfter(version, max),
    write: (work, onWait = () => undefined) =>
      database
        .longWrite(
          () => data.write(work),
          () => onWait(writerOf(path)),
        )
        .catch((error: unknown) => {
          throw writeDamage(error);
        })
        .finally(() => data.ended()),
    close: async () => database.close(),
  };
}
