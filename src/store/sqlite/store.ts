// The SQLite engine: rows and blocks in one file in WAL mode; one writing and many reading processes.
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { dataDatasets } from '../../datasets/index.ts';
import { storeSteps } from '../migrations/index.ts';
import type { BlockRead, Mode, Reader, Store, StoredBlock, StoreFacts, Tell, Writer } from '../store.ts';
import { controlPathOf } from './control.ts';
import { Database } from './database.ts';
import { openFile } from './layout.ts';
import { SqliteRows } from './rows.ts';
import { writerOf } from './writer.ts';

const notesTable =
  'create temp table if not exists notes (series_id, bucket, note blob, primary key (series_id, bucket)) without rowid';

const readBlocks =
  'select bucket, run_id as runId, bytes from bar_blocks where series_id = ? and bucket >= ? and bucket <= ? order by bucket';

const putBlock = `insert into bar_blocks (series_id, bucket, run_id, bytes) values (?, ?, ?, ?)
  on conflict (series_id, bucket) do update set run_id = excluded.run_id, bytes = excluded.bytes`;

class SqliteReadWrite extends SqliteRows implements Reader, Writer {
  async blocks(read: BlockRead): Promise<StoredBlock[]> {
    const { seriesId, fromBucket, toBucket, direction, limit } = read;
    const values = [seriesId, fromBucket, toBucket, limit];
    return this.database.all(`${readBlocks} ${direction} limit ?`, values) as StoredBlock[];
  }

  async changeToken(): Promise<number> {
    return this.database.pragma('data_version');
  }

  async putBlock(seriesId: number, block: StoredBlock): Promise<void> {
    this.database.run(putBlock, [seriesId, block.bucket, block.runId, block.bytes]);
  }

  async removeBlock(seriesId: number, bucket: number): Promise<void> {
    this.database.run('delete from bar_blocks where series_id = ? and bucket = ?', [seriesId, bucket]);
  }

  async keepNote(seriesId: number, bucket: number, note: Uint8Array): Promise<void> {
    this.database.run('insert or replace into notes values (?, ?, ?)', [seriesId, bucket, note]);
  }

  async note(seriesId: number, bucket: number): Promise<Uint8Array | null> {
    const select = 'select note from notes where series_id = ? and bucket = ?';
    return (this.database.all(select, [seriesId, bucket])[0]?.note as Uint8Array | undefined) ?? null;
  }
}

/** Opens `path` as a store. */
export async function openSqliteStore(path: string, mode: Mode, tell: Tell): Promise<Store> {
  const layout = { tables: dataDatasets, steps: storeSteps };
  const database = await openFile(path, mode, 'store', layout, tell);
  if (mode === 'write') database.exec(notesTable);
  const access = new SqliteReadWrite(database);
  return {
    name: `sqlite:${path}`,
    snapshot: (work) => database.snapshot(() => work(access)),
    folder: dirname(resolve(path)),
    changeToken: () => access.changeToken(),
    write: (work, onWait = () => undefined) =>
      database.longWrite(
        async () => {
          const result = await work(access);
          database.exec('delete from notes');
          return result;
        },
        () => onWait(writerOf(path)),
      ),
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
  return { layout: database.pragma('user_version'), parts };
}
