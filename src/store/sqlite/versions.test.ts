// Versions of SQLite stores where the service itself changes them past datasets, and where their rows are
// damaged or lost.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { unpack } from '../../../test/old-stores.ts';
import { storeFile } from '../../../test/sqlite/files.ts';
import { TestFolder } from '../../../test/stores.ts';
import type { Damage } from '../damage.ts';
import { backupStore, engineAt, openStore, restoreStore } from '../engines.ts';
import { KnownChanges } from '../known-changes.ts';
import { counters } from '../schema/internal.ts';
import type { Store } from '../store.ts';

const folder = new TestFolder();
after(() => folder.close());
let made = 0;

const set = (store: Store, value: number): Promise<void> =>
  store.write((writer) => writer.upsert(counters, [{ name: 'n', value }]));

/** A store that has had four writes. */
async function written(): Promise<string> {
  const url = folder.storeUrl(`store-${made++}`);
  const store = await openStore(url, 'write');
  for (const value of [1, 2, 3, 4]) await set(store, value);
  await store.close();
  return url;
}

/** Runs a statement on a store, past the service. */
function alter(url: string, statement: string): void {
  const database = new DatabaseSync(storeFile(url));
  database.exec(statement);
  database.close();
}

async function using<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, 'read');
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const told = (url: string, version: number) =>
  using(url, async (store) => (await store.changesAfter(version, 100))?.map(({ version: of }) => of));

test('a lost or damaged row of changes is noticed: everything may have changed', async () => {
  assert.deepEqual(await told(await written(), 1), [2, 3, 4]);
  for (const statement of [
    'delete from changes where version = 3',
    'delete from changes where version = 4',
    `update changes set parts = '{"datasets":[]}' where version = 3`,
    'update changes set version = 30 where version = 3',
  ]) {
    const url = await written();
    alter(url, statement);
    assert.equal(await told(url, 1), undefined, statement);
  }
});

test('the version of a store whose counter is damaged or lost is not known, and nothing is kept; reads go on', async () => {
  for (const statement of [
    "update counters set value = 3 where name = 'data_version'",
    // As after a lost row: its group is known to have had more.
    "update counters_sums set rows = 2 where name = 'data_version'",
  ]) {
    const url = await written();
    alter(url, statement);
    await using(url, async (store) => {
      assert.equal(await store.version(), null, statement);
      assert.equal(await store.changesAfter(1, 100), null);
      assert.equal(await new KnownChanges().follow(store), null);
      const counter = await store.snapshot((reader) => reader.group(counters, { name: 'n' }));
      assert.equal(counter[0]!.value, 4);
    });
  }
});

test('a migration raises the version, and everything may have changed', async () => {
  const url = folder.storeUrl('old');
  unpack('layout-12', 'bourse.db', storeFile(url));
  const before = new DatabaseSync(storeFile(url), { readOnly: true });
  const { value } = before.prepare("select value from counters where name = 'data_version'").get()!;
  before.close();
  await (await openStore(url, 'write')).close();
  await using(url, async (store) => {
    assert.equal(await store.version(), Number(value) + 1);
    assert.equal(await store.changesAfter(Number(value), 100), null);
    assert.deepEqual(await store.changesAfter(Number(value) + 1, 100), []);
  });
});

test('a damaged row of the changes is found, and says that everything may have changed', async () => {
  const url = await written();
  alter(url, `update changes set parts = '{"datasets":[]}' where version = 3`);
  const found: Damage[] = [];
  for await (const step of engineAt(url).scrub()) found.push(...step.damage);
  assert.deepEqual(
    found.map(({ dataset }) => dataset),
    ['changes'],
  );
  assert.equal(await told(url, 2), undefined);
});

test('a restored store is another one, with a version of its own: its versions say nothing of those before (contract 9.12)', async () => {
  const url = await written();
  const options = { force: true, tell: () => undefined, nowMs: () => 1_764_000_000_000 };
  const before = await using(url, async (store) => store.id);
  await backupStore(url, folder.path('backup'), options);
  await restoreStore(url, folder.path('backup'), options);
  await using(url, async (store) => {
    assert.notEqual(store.id, before);
    assert.equal(await store.version(), options.nowMs());
    assert.equal(await store.changesAfter(4, 1_000), null);
  });
});

test('the checkpoint of a log raises no version', async () => {
  const url = await written();
  await using(url, async (store) => {
    assert.equal(await store.version(), 4);
    const other = new DatabaseSync(storeFile(url));
    other.exec('pragma wal_checkpoint(truncate)');
    other.close();
    assert.equal(await store.version(), 4);
    assert.deepEqual(await store.changesAfter(4, 100), []);
  });
});
