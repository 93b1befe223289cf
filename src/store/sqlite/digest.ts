// One hash of everything that a file holds, whatever its layout: what a copy is compared by, now and when it is brought back.
import { createHash, type Hash } from 'node:crypto';
import { StoreUnusable } from '../store.ts';
import { type Cell, Database, type FileKind, troubleOf } from './database.ts';

/** The table that makes a copy of the data a backup: no part of what is compared. */
export const MANIFEST = 'backup';

/** SHA-256, in hexadecimal, of every table's declaration and every value of its rows, in the order of their keys. */
export function digestOf(database: Database): string {
  const hash = createHash('sha256');
  for (const { name, sql, key } of database.all(tables, []) as Table[]) {
    addValue(hash, sql);
    for (const row of database.walk(`select * from "${name}" order by ${key ?? 'rowid'}`)) {
      for (const value of row) addValue(hash, value);
    }
  }
  return hash.digest('hex');
}

/** `key` is what a table is clustered by; null for one that has row ids. */
type Table = { readonly name: string; readonly sql: string; readonly key: string | null };

const tables = `select name, sql, case wr when 1 then (
    select group_concat('"' || name || '"' order by pk) from pragma_table_info(list.name) where pk > 0
  ) end as key
  from pragma_table_list as list join sqlite_schema using (name)
  where list.schema = 'main' and list.type = 'table' and name <> '${MANIFEST}' order by name`;

/** Kind and length first, so that no two rows are the same bytes. */
function addValue(hash: Hash, value: Cell): void {
  if (value instanceof Uint8Array) {
    hash.update(`b${value.length}:`);
    hash.update(value);
  } else if (typeof value === 'string') hash.update(`t${value.length}:${value}`);
  else hash.update(`n${value};`);
}

/** The hash of a file that SQLite finds no fault in; `called` is what a person knows it by. @throws StoreUnusable where it does */
export function soundDigest(path: string, kind: FileKind, called: string): string {
  const database = new Database(path, 'read', kind);
  try {
    const [found] = database.walk('pragma integrity_check(1)');
    const said = found?.[0] as string;
    if (said !== 'ok') throw new StoreUnusable(`${called} is damaged: ${said}`);
    return digestOf(database);
  } finally {
    database.close();
  }
}

/** The error to throw for one that a damaged file may have caused. */
export function damageOf(called: string, error: unknown): unknown {
  if (troubleOf(error) !== 'damaged') return error;
  return new StoreUnusable(`${called} is damaged: ${(error as Error).message}`, { cause: error });
}
