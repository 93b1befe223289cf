// SQLite stores as files: for tests that are about a file, its copies, its disk or damage to it. Other tests ask test/stores.ts.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/** A row as the database gives it. */
export type Cells = Readonly<Record<string, unknown>>;

const SCHEME = 'sqlite:';

/** The address of the store that a file is, or would be. */
export const fileStore = (path: string): string => `${SCHEME}${path}`;

/** The file of a store. */
export function storeFile(url: string): string {
  assert.ok(url.startsWith(SCHEME), `this test needs a store that is a file, not ${url}`);
  return url.slice(SCHEME.length);
}

/** Rows of a query on a file, read past the service. */
export function rowsOfFile(path: string, sql: string): Cells[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

const plain = (cell: unknown): unknown =>
  cell instanceof Uint8Array ? createHash('sha256').update(cell).digest('hex') : cell;

/** Every row of every table of a file, blobs as hashes: equal for files of equal content. */
export function contentOfFile(path: string): Readonly<Record<string, readonly Cells[]>> {
  const tables = rowsOfFile(path, "select name from sqlite_master where type = 'table' order by name");
  return Object.fromEntries(
    tables.map(({ name }) => {
      const rows = rowsOfFile(path, `select * from "${String(name)}"`).map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, plain(cell)])),
      );
      return [String(name), rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
    }),
  );
}
