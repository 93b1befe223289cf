// One hash of everything in a file, whatever its layout: a copy is compared by it, now and when it is
// restored.
import { createHash, type Hash } from 'node:crypto';
import { StoreUnusable } from '../store.ts';
import { type Cell, Database, type FileKind } from './database.ts';
import { troubleOf } from './trouble.ts';

/** The table that makes a copy of the data a backup: it is not compared. */
export const MANIFEST = 'backup';

/** `key` holds the columns that order a table's rows; null for a table with row ids. */
type Table = { readonly name: string; readonly sql: string; readonly key: string | null };

const tables = `select name, sql, case wr when 1 then (
    select group_concat('"' || name || '"' order by pk) from pragma_table_info(list.name) where pk > 0
  ) end as key
  from pragma_table_list as list join sqlite_schema using (name)
  where list.schema = 'main' and list.type = 'table' and name <> '${MANIFEST}' order by name`;

/**
 * SHA-256, in hexadecimal, of every table's declaration and every value of its rows, in the order of their
 * keys.
 */
export function digestOf(database: Database): string {
  const hash = createHash('sha256');
  for (const { name, sql, key } of database.all(tables, []) as Table[]) {
    addValue(hash, sql);
    for (const row of database.walk(`select * from "${name}" order by ${key ?? 'rowid'}`))
      for (const value of row) addValue(hash, value);
  }
  return hash.digest('hex');
}

/** Kind and length come first, so that different rows are different bytes. */
function addValue(hash: Hash, value: Cell): void {
  if (value instanceof Uint8Array) hash.update(`b${value.length}:`).update(value);
  else hash.update(typeof value === 'string' ? `t${value.length}:${value}` : `n${value};`);
}

/**
 * The hash of a file, after SQLite has checked it; `called` is its name in messages. @throws StoreUnusable
 * for a damaged file
 */
export function soundDigest(path: string, kind: FileKind, called: string): string {
  using database = new Database(path, 'read', kind);
  const [fault] = database.walk('pragma integrity_check(1)').next().value as string[];
  if (fault !== 'ok') throw new StoreUnusable(`${called} is damaged: ${fault}`);
  return digestOf(database);
}

/** The error to throw for one that a damaged file may have caused. */
export function damageOf(called: string, error: unknown): unknown {
  if (troubleOf(error) !== 'damaged') return error;
  return new StoreUnusable(`${called} is damaged: ${(error as Error).message}`, { cause: error });
}
