// Stores that have lost rows, as damaged pages lose them: copies of one sound store, changed past the
// service.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openStore } from '../../src/store/engines.ts';
import type { Mode, Store } from '../../src/store/store.ts';
import { makeStore } from '../reliability/flips-store.ts';
import { fileStore, storeFile } from './files.ts';

/** The sound store, made once in a process. */
let sound: Promise<Uint8Array> | null = null;

/** Copies of the store of the flips, in a folder of their own. */
export class LosingStores {
  readonly folder = mkdtempSync(join(tmpdir(), 'bourse-lost-rows-'));
  #sound: Uint8Array = new Uint8Array();
  #made = 0;

  /** Makes the sound store, before all copies. */
  async make(): Promise<void> {
    sound ??= makeStore(this.folder, join(this.folder, 'sound.db'), 4_096);
    this.#sound = await sound;
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }

  /** A copy of the store that was changed past the service. */
  changed(change: (database: DatabaseSync) => void): string {
    const path = join(this.folder, `case-${++this.#made}.db`);
    writeFileSync(path, this.#sound);
    const database = new DatabaseSync(path, { defensive: false });
    change(database);
    database.close();
    return fileStore(path);
  }

  /** A copy of the store that has lost rows. */
  losing(table: string, where: string): string {
    const url = this.changed(() => undefined);
    lose(storeFile(url), table, where);
    return url;
  }

  /**
   * As a damaged byte in the index of blocks does: the entry of a series' newest block stands where it was,
   * under the series before.
   */
  misnamingBlock(series: string): string {
    const newest = `select series_id, bucket, rowid from bar_blocks where series_id = ${series} order by bucket desc`;
    let entry: number[] = [];
    const url = this.changed((database) => {
      const found = database.prepare(newest).get() as { series_id: number; bucket: number; rowid: number };
      // A record of three integers of one byte (SQLite's file format, 2.1).
      entry = [4, 1, 1, 1, found.series_id, found.bucket, found.rowid];
    });
    const path = storeFile(url);
    const bytes = readFileSync(path);
    const at = bytes.indexOf(Buffer.from(entry));
    if (at < 0 || bytes.indexOf(Buffer.from(entry), at + 1) >= 0)
      throw new Error(`which is ${entry.join()}?`);
    bytes[at + 4]! -= 1;
    writeFileSync(path, bytes);
    return url;
  }

  /**
   * A copy with a flipped bit in a byte of a sequence. Parts of pages that are not used any more may have the
   * sequence too.
   */
  flipping(sequence: Buffer, at: number, bit: number): string {
    const url = this.changed(() => undefined);
    const path = storeFile(url);
    const bytes = readFileSync(path);
    for (let from = bytes.indexOf(sequence); from >= 0; from = bytes.indexOf(sequence, from + 1))
      bytes[from + at]! ^= 1 << bit;
    writeFileSync(path, bytes);
    return url;
  }

  /** As a damaged page of one index loses rows: the table and its other indexes have them. */
  losingInIndex(index: string, where: string): string {
    return this.#losingBeside(index, (database, table) => {
      database.exec(`create temp table lost as select * from ${table} where ${where}`);
      database.exec(`delete from ${table} where ${where}`);
      return `insert into ${table} select * from lost`;
    });
  }

  /** As a damaged page of a table loses rows: one of its indexes has them. */
  losingInTable(index: string, where: string): string {
    return this.#losingBeside(index, (_, table) => `delete from ${table} where ${where}`);
  }

  /** A copy that was changed by a statement of which an index learns nothing. */
  #losingBeside(index: string, begin: (database: DatabaseSync, table: string) => string): string {
    return this.changed((database) => {
      const [row] = database.prepare('select * from sqlite_schema where name = ?').all(index);
      const table = String(row!.tbl_name);
      const entry = [row!.type, row!.name, table, row!.rootpage, row!.sql] as (string | number)[];
      const inSchema = (statement: string, values: readonly (string | number)[]): void => {
        database.exec('pragma writable_schema = on');
        database.prepare(statement).run(...values);
        database.exec('pragma writable_schema = reset');
      };
      const unseen = begin(database, table);
      inSchema('delete from sqlite_schema where name = ?', [index]);
      database.exec(unseen);
      inSchema('insert into sqlite_schema values (?, ?, ?, ?, ?)', entry);
    });
  }
}

/** Takes rows away from a file: no index or sum learns of it. */
export function lose(path: string, table: string, where: string): void {
  const database = new DatabaseSync(path, { defensive: false });
  const sums = `${table}_sums`;
  const hasSums = database.prepare('select 1 from sqlite_schema where name = ?').get(sums) !== undefined;
  if (hasSums) database.exec(`create temp table kept as select * from ${sums}`);
  database.exec(`delete from ${table} where ${where}`);
  if (Number(database.prepare('select changes() as count').get()!.count) === 0)
    throw new Error(`${table} has no row where ${where}`);
  if (hasSums) database.exec(`delete from ${sums}; insert into ${sums} select * from kept`);
  database.close();
}

/** Opens a store for one piece of work. */
export async function asking<T>(url: string, mode: Mode, ask: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, mode);
  try {
    return await ask(store);
  } finally {
    await store.close();
  }
}
