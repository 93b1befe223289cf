// The stores of tests, on the engine that TEST_STORE names: a test asks here and writes no address of its own.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentOfSchema, copySchema, dropSchemas, rowsOfSchema, schemaStore } from './postgres/stores.ts';
import { type Cells, contentOfFile, fileStore, rowsOfFile, storeFile } from './sqlite/files.ts';

/** How the tests make and look at stores of one engine. */
type TestEngine = {
  /** The address of the store that has a name in a folder; nothing else uses it. */
  readonly addressOf: (folder: string, name: string) => string;
  /** Rows of a query on a store, read past the service. */
  readonly rowsOf: (url: string, sql: string) => Cells[];
  /** Every row of every table, blobs as hashes: equal for stores of equal content. */
  readonly contentOf: (url: string) => Readonly<Record<string, readonly Cells[]>>;
  /** Copies a store that nobody has open. */
  readonly copy: (from: string, to: string) => void;
  /** Removes what a folder's stores keep outside the folder. */
  readonly removeAll: (folder: string) => void;
};

const engines: Readonly<Record<string, TestEngine>> = {
  sqlite: {
    addressOf: (folder, name) => fileStore(join(folder, `${name}.db`)),
    rowsOf: (url, sql) => rowsOfFile(storeFile(url), sql),
    contentOf: (url) => contentOfFile(storeFile(url)),
    copy: (from, to) => copyFileSync(storeFile(from), storeFile(to)),
    removeAll: () => undefined,
  },
  postgres: {
    addressOf: schemaStore,
    rowsOf: rowsOfSchema,
    contentOf: contentOfSchema,
    copy: copySchema,
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

export const { rowsOf, contentOf, copy: copyStore } = engine;

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
    rmSync(this.folder, { recursive: true, force: true });
  }
}
