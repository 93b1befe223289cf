// The SQLite engine: rows and blocks in one file in WAL mode; one writing and many reading processes.
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { corporateActions } from '../../datasets/corporate-actions.ts';
import { eventCodes, events } from '../../datasets/economic.ts';
import { holidays } from '../../datasets/holidays.ts';
import { dataDatasets } from '../../datasets/index.ts';
import { news } from '../../datasets/news.ts';
import { optionContracts } from '../../datasets/options.ts';
import { instrumentTerms } from '../../datasets/reference.ts';
import type { BlockRead, Direction, Mode, Reader, Store, StoredBlock, StoreFacts, Writer } from '../store.ts';
import { controlPathOf } from './control.ts';
import { Database } from './database.ts';
import { type Migration, openFile, SqliteRows, tablesOf } from './rows.ts';
import { writerOf } from './writer.ts';

/** Blocks live in a rowid table: appends go to its end, whatever the order of series (docs/decisions/0003). */
const blockTable: Migration = [
  `create table bar_blocks (
    series_id integer not null,
    bucket integer not null,
    run_id integer not null,
    bytes blob not null
  )`,
  'create unique index bar_blocks_key on bar_blocks (series_id, bucket)',
];

/** Datasets that later layouts brought, a list a step. */
const added = [
  [holidays, instrumentTerms, optionContracts, events, eventCodes, corporateActions, news],
] as const;

const first = dataDatasets.filter((dataset) => !added.flat().some((later) => later.name === dataset.name));

/** From nothing to the layout that this Bourse knows, step by step. */
export const storeMigrations: readonly Migration[] = [
  [...tablesOf(first), ...blockTable],
  ...added.map(tablesOf),
];

const notesTable =
  'create temp table if not exists notes (series_id, bucket, note blob, primary key (series_id, bucket)) without rowid';

const blocksBy = (direction: Direction): string =>
  `select bucket, run_id as runId, bytes from bar_blocks where series_id = ? and bucket >= ? and bucket <= ? order by bucket ${direction} limit ?`;

const readBlocks: Readonly<Record<Direction, string>> = { asc: blocksBy('asc'), desc: blocksBy('desc') };

const readChangeToken = 'pragma data_version';

const putBlock = `insert into bar_blocks (series_id, bucket, run_id, bytes) values (?, ?, ?, ?)
  on conflict (series_id, bucket) do update set run_id = excluded.run_id, bytes = excluded.bytes`;

class SqliteReadWrite extends SqliteRows implements Reader, Writer {
  async blocks(read: BlockRead): Promise<StoredBlock[]> {
    const { seriesId, fromBucket, toBucket, direction, limit } = read;
    return this.database.all(readBlocks[direction], [seriesId, fromBucket, toBucket, limit]) as StoredBlock[];
  }

  async changeToken(): Promise<number> {
    return this.database.all(readChangeToken, [])[0]!.data_version as number;
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
    const found = this.database.all('select note from notes where series_id = ? and bucket = ?', [
      seriesId,
      bucket,
    ]);
    return (found[0]?.note as Uint8Array | undefined) ?? null;
  }
}

/** Opens `path` as a store. */
export async function openSqliteStore(path: string, mode: Mode): Promise<Store> {
  const database: Database = await openFile(path, mode, 'store', {
    datasets: dataDatasets,
    migrations: storeMigrations,
  });
  if (mode === 'write') database.exec(notesTable);
  const access = new SqliteReadWrite(database);
  return {
    name: `sqlite:${path}`,
    snapshot: (work) => database.transaction('begin', () => work(access)),
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
  const database = new Database(path, 'read', 'store');
  try {
    const control = controlPathOf(path);
    const parts = [
      { what: 'data', path },
      { what: 'data log', path: `${path}-wal` },
      { what: 'keys', path: control },
      { what: 'keys log', path: `${control}-wal` },
    ];
    return {
      layout: database.pragma('user_version'),
      parts: parts.flatMap((part) => {
        const found = statSync(part.path, { throwIfNoEntry: false });
        return found === undefined ? [] : [{ ...part, bytes: found.size }];
      }),
    };
  } finally {
    database.close();
  }
}
