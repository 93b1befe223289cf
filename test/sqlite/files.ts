// SQLite stores as files: for tests that are about a file, its copies, its disk or damage to it. Other tests
// ask test/stores.ts.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
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

const controlFile = (path: string): string => path.replace(/\.db$/, '.control.db');

const logFile = (path: string): string => `${path}-wal`;

/** Bytes in the log of a store. */
export const logBytesOfFile = (url: string): number =>
  statSync(logFile(storeFile(url)), { throwIfNoEntry: false })?.size ?? 0;

/** Copies the files of a store; a store that is replaced loses its log. */
export function copyFiles(from: string, to: string): void {
  const [path, copy] = [storeFile(from), storeFile(to)];
  for (const file of [logFile(copy), `${copy}-shm`]) rmSync(file, { force: true });
  copyFileSync(path, copy);
  if (existsSync(controlFile(path))) copyFileSync(controlFile(path), controlFile(copy));
}

/** The bytes of all files of a store. */
export function bytesOfFiles(url: string): Buffer {
  const path = storeFile(url);
  const files = [path, logFile(path), controlFile(path), logFile(controlFile(path))];
  return Buffer.concat(files.filter((file) => existsSync(file)).map((file) => readFileSync(file)));
}

/** Tables that are in the control file. */
const ofControl = /^\w+ (?:into |from )?(?:api_keys|checks|quota_uses|secrets)\b/;

/** Changes a store, or its control file where the statement is about a table there. */
export function alterFiles(url: string, ...statements: readonly string[]): void {
  const path = storeFile(url);
  for (const statement of statements) {
    const database = new DatabaseSync(ofControl.test(statement) ? controlFile(path) : path);
    database.exec(statement);
    database.close();
  }
}

/**
 * Rows of a query on a file, read past the service. Who closes the file last has it alone for a moment, which
 * this waits for.
 */
export function rowsOfFile(path: string, sql: string): Cells[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
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
