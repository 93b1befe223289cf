// Compact copies of a SQLite file, made while others use it.
import { Database, type FileKind } from './database.ts';

/** Bytes that a compact copy of a file takes. */
export const copyBytes = (database: Database): number =>
  (database.pragma('page_count') - database.pragma('freelist_count')) * database.pragma('page_size');

/** Copies the newest committed state of a file into an empty one. */
export function vacuumInto(path: string, kind: FileKind, empty: string): void {
  const database = new Database(path, 'read', kind);
  try {
    database.run('vacuum into ?', [empty]);
  } finally {
    database.close();
  }
}
