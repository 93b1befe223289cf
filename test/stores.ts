// The stores of tests, on the engine that TEST_STORE names: a test asks here and writes no address of its
// own.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../src/store/engines.ts';
import type { Store } from '../src/store/store.ts';
import {
  alterSchema,
  bytesOfSchema,
  contentOfSchema,
  copySchema,
  dropSchemas,
  rowsOfSchema,
  schemaStore,
} from './postgres/stores.ts';
import {
  alterFiles,
  bytesOfFiles,
  type Cells,
  contentOfFile,
  copyFiles,
  fileStore,
  logBytesOfFile,
  rowsOfFile,
  storeFile,
} from './sqlite/files.ts';

/** How the tests make and look at stores of one engine. */
type TestEngine = {
  /** The address of the store that has a name in a folder; nothing else uses it. */
  readonly addressOf: (folder: string, name: string) => string;
  /** Rows of a query on a store, read past the service. */
  readonly rowsOf: (url: string, sql: string) => Cells[];
  /** Every row of every table, blobs as hashes: equal for stores of equal content. */
  readonly contentOf: (url: string) => Readonly<Record<string, readonly Cells[]>>;
  /** All that a store keeps, for a search in its bytes. */
  readonly bytesOf: (url: string) => Buffer;
  /** Changes a store and its keys past the service, by statements that both engines have. */
  readonly alter: (url: string, ...statements: readonly string[]) => void;
  /** The bytes of a block with another value of one of them, counted from 1, as SQL. */
  readonly changedByte: (at: number, value: number) => string;
  /** So many zeros, as SQL. */
  readonly zeroBytes: (count: number) => string;
  /** Copies a store that nobody has open, and its keys. */
  readonly copy: (from: string, to: string) => void;
  /** Bytes that wait in a log beside the store; 0 where the engine has none. */
  readonly logBytesOf: (url: string) => number;
  /** Whether a writer has begun to write, and has not committed. */
  readonly isWriting: (url: string) => boolean;
  /** Removes what a folder's stores keep outside the folder. */
  readonly removeAll: (folder: string) => void;
};

const engines: Readonly<Record<string, TestEngine>> = {
  sqlite: {
    addressOf: (folder, name) => fileStore(join(folder, `${name}.db`)),
    rowsOf: (url, sql) => rowsOfFile(storeFile(url), sql),
    contentOf: (url) => contentOfFile(storeFile(url)),
    bytesOf: bytesOfFiles,
    alter: alterFiles,
    changedByte: (at, value) =>
      `cast(substr(bytes, 1, ${at - 1}) || x'${value.toString(16).padStart(2, '0')}' || substr(bytes, ${at + 1}) as blob)`,
    zeroBytes: (count) => `zeroblob(${count})`,
    copy: copyFiles,
    logBytesOf: logBytesOfFile,
    isWriting: (url) => logBytesOfFile(url) > 0,
    removeAll: () => undefined,
  },
  postgres: {
    addressOf: schemaStore,
    rowsOf: rowsOfSchema,
    contentOf: contentOfSchema,
    bytesOf: bytesOfSchema,
    alter: alterSchema,
    changedByte: (at, value) => `set_byte(bytes, ${at - 1}, ${value})`,
    zeroBytes: (count) => `decode(repeat('00', ${count}), 'hex')`,
    copy: copySchema,
    logBytesOf: () => 0,
    isWriting: (url) => rowsOfSchema(url, 'select pending from store_state')[0]!.pending !== null,
    removeAll: dropSchemas,
  },
};

function chosenEngine(): TestEngine {
  const name = process.env.TEST_STORE ?? 'sqlite';
  const engine = engines[name];
  if (engine === undefined)
    throw new Error(`TEST_STORE=${name}: the tests run on ${Object.keys(engines).join(', ')}`);
  return engine;
}

const engine = chosenEngine();

export const { rowsOf, contentOf, bytesOf, changedByte, zeroBytes, logBytesOf, isWriting } = engine;
export const { alter: alterStore, copy: copyStore } = engine;

/**
 * A test about the files of SQLite alone, beside others that are about every engine: where the engine is
 * another one it is not there. A file of such tests alone is in test/sqlite, which only runs on SQLite.
 */
export const testOfSqlite: typeof test =
  engine === engines.sqlite ? test : ((() => Promise.resolve()) as unknown as typeof test);

/** The times that a folder is removed where something is in it again, 0.1 s later each time. */
const REMOVALS_MAX = 10;

/** A temporary folder of a test, and the stores that belong to it: `close` removes all of them. */
export class TestFolder {
  readonly folder = mkdtempSync(join(tmpdir(), 'bourse-test-'));

  path(name: string): string {
    return join(this.folder, name);
  }

  /** The address of the folder's store of a name; the same name is the same store. */
  storeUrl(name = 'bourse'): string {
    return engine.addressOf(this.folder, name);
  }

  close(): void {
    engine.removeAll(this.folder);
    // A process that was killed may still make a file.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: REMOVALS_MAX });
  }
}

let emptyStore: Promise<string> | null = null;

async function makeEmptyStore(): Promise<string> {
  const folder = new TestFolder();
  process.once('exit', () => folder.close());
  const url = folder.storeUrl();
  await (await openStore(url, 'write')).close();
  return url;
}

/**
 * Opens a store for writing. A new file is a copy of an empty store: to make the tables each time takes ten
 * times as long.
 */
export async function openToWrite(url: string): Promise<Store> {
  if (engine === engines.sqlite && !existsSync(storeFile(url))) {
    emptyStore ??= makeEmptyStore();
    copyFiles(await emptyStore, url);
  }
  return openStore(url, 'write');
}
