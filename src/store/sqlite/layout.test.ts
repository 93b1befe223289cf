// Migrations of SQLite files: of stores that older programs wrote, all of it or nothing, with the old file kept.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { unpack } from '../../../test/old-stores.ts';
import { contentOfFile as contentOf } from '../../../test/sqlite/files.ts';
import { controlDatasets, dataDatasets } from '../../datasets/index.ts';
import { oldestVersion } from '../changes.ts';
import { openStore } from '../engines.ts';
import { controlSteps, storeSteps } from '../migrations/index.ts';
import { type Step, type Table, tablesAfter } from '../migrations/step.ts';
import { StoreUnusable } from '../store.ts';
import type { FileKind } from './database.ts';
import { type Layout, openFile } from './layout.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-layout-'));
after(() => rmSync(folder, { recursive: true }));

const freshFile = (): string => join(mkdtempSync(join(folder, 'file-')), 'bourse.db');

/** The data of a store that an older program wrote. */
function oldStore(fixture: string): string {
  const path = freshFile();
  unpack(fixture, 'bourse.db', path);
  return path;
}

const filesBeside = (path: string): string[] => readdirSync(join(path, '..')).sort();

/** Brings a file to the end of some steps; what was told meanwhile. */
async function migrated(
  path: string,
  steps: readonly Step[],
  tables: readonly Table[] = tablesAfter(steps),
  kind: FileKind = 'store',
): Promise<string[]> {
  const told: string[] = [];
  const layout: Layout = { tables, steps };
  (await openFile(path, 'write', kind, layout, (doing) => told.push(doing))).close();
  return told;
}

/** Tables with columns, keys and indexes as SQLite sees them, in the order of their names. */
function schemaOf(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const all = (sql: string, name: unknown) => database.prepare(sql).all(String(name));
  try {
    return database
      .prepare("select name, ncol, wr, strict from pragma_table_list where schema = 'main' order by name")
      .all()
      .map((table) => ({
        ...table,
        columns: all('select name, type, "notnull", dflt_value, pk from pragma_table_xinfo(?)', table.name),
        indexes: all('select name, "unique", origin from pragma_index_list(?)', table.name).map((index) => ({
          ...index,
          columns: all('select name from pragma_index_info(?)', index.name),
        })),
      }));
  } finally {
    database.close();
  }
}

const histories: readonly [fixture: string, file: string, kind: FileKind, steps: readonly Step[]][] = [
  ['layout-1', 'bourse.db', 'store', storeSteps.slice(0, 1)],
  ['layout-2-first', 'bourse.db', 'store', storeSteps.slice(0, 2)],
  ['layout-2', 'bourse.db', 'store', storeSteps.slice(0, 2)],
  ['layout-1', 'bourse.control.db', 'control', controlSteps.slice(0, 1)],
  ['layout-2', 'bourse.control.db', 'control', controlSteps.slice(0, 2)],
];

for (const [fixture, file, kind, steps] of histories) {
  test(`the frozen steps make the tables that the program of ${fixture} made in ${file}`, async () => {
    const [old, made] = [freshFile(), freshFile()];
    unpack(fixture, file, old);
    await migrated(made, steps, undefined, kind);
    assert.deepEqual(schemaOf(made), schemaOf(old));
  });

  test(`${file} of ${fixture} has the tables of a new one when it is migrated`, async () => {
    const [old, made] = [freshFile(), freshFile()];
    unpack(fixture, file, old);
    const [all, datasets] = kind === 'store' ? [storeSteps, dataDatasets] : [controlSteps, controlDatasets];
    for (const path of [old, made]) await migrated(path, all, datasets, kind);
    assert.deepEqual(schemaOf(old), schemaOf(made));
  });
}

test('before a migration the old file is kept beside it, as it was and as closed as it was', async () => {
  const path = oldStore('layout-1');
  chmodSync(path, 0o640);
  const before = contentOf(path);
  const told = await migrated(path, storeSteps);
  const copy = `${path}.layout-1`;
  assert.deepEqual(told, [
    `updating ${path} from layout 1 to ${storeSteps.length}; a copy of the old file is made: ${copy}`,
  ]);
  assert.deepEqual(filesBeside(path), ['bourse.db', 'bourse.db.layout-1']);
  assert.equal(statSync(copy).mode & 0o777, 0o640);
  assert.deepEqual(contentOf(copy), before);
  assert.deepEqual(await migrated(path, storeSteps), []);
  // It is a store of the old program, and can be migrated itself.
  assert.deepEqual(await migrated(copy, storeSteps.slice(0, 1)), []);
  await migrated(copy, storeSteps);
  assert.deepEqual(contentOf(copy), contentOf(path));
});

test('the versions before a migration are forgotten: what they had was not kept', async () => {
  const path = oldStore('layout-6');
  await migrated(path, storeSteps);
  const store = await openStore(`sqlite:${path}`, 'read');
  await store.snapshot(async (reader) => {
    const version = await reader.version();
    assert.ok(version !== null && version > 0);
    assert.equal(await oldestVersion(reader), version);
  });
  await store.close();
});

test('a copy takes the name of no earlier one', async () => {
  const path = oldStore('layout-1');
  await migrated(path, storeSteps);
  const first = readFileSync(`${path}.layout-1`);
  unpack('layout-1', 'bourse.db', path);
  await migrated(path, storeSteps);
  assert.deepEqual(filesBeside(path), ['bourse.db', 'bourse.db.layout-1', 'bourse.db.layout-1.2']);
  assert.ok(readFileSync(`${path}.layout-1`).equals(first));
});

test('a new store has no copy, and nothing is reported', async () => {
  const path = freshFile();
  assert.deepEqual(await migrated(path, storeSteps), []);
  assert.deepEqual(filesBeside(path), ['bourse.db']);
});

const added: Step = { columns: { news: { toy: 'text null' } } };
const failing: readonly { what: string; steps: readonly Step[]; tables?: readonly Table[]; error: RegExp }[] =
  [
    {
      what: 'fails half way',
      steps: [...storeSteps, added, { statements: { sqlite: ['insert into absent values (1)'] } }],
      error: /no such table: absent/,
    },
    {
      what: 'ends in other tables than are declared',
      steps: [...storeSteps, added],
      tables: dataDatasets,
      error: /its news differ \(toy\)/,
    },
  ];

for (const { what, steps, tables, error } of failing) {
  test(`a migration that ${what} leaves the store as it was`, async () => {
    const path = oldStore('layout-2');
    await migrated(path, storeSteps);
    for (const copy of filesBeside(path).slice(1)) rmSync(join(path, '..', copy));
    const before = readFileSync(path);
    await assert.rejects(migrated(path, steps, tables), error);
    assert.ok(readFileSync(path).equals(before));
    assert.deepEqual(filesBeside(path), ['bourse.db']);
    await (await openStore(`sqlite:${path}`, 'read')).close();
  });
}

for (const fixture of ['before-release-layout-1', 'before-release-layout-2']) {
  test(`the store of ${fixture} is refused in words, and left as it was`, async () => {
    const path = oldStore(fixture);
    const before = readFileSync(path);
    await assert.rejects(openStore(`sqlite:${path}`, 'write'), (error) => {
      assert.ok(error instanceof StoreUnusable, String(error));
      assert.match(
        error.message,
        /was made before the first release of Bourse, and its \w+ differ .*into a new store/,
      );
      return true;
    });
    assert.ok(readFileSync(path).equals(before));
    assert.deepEqual(filesBeside(path), ['bourse.db']);
  });
}

test('an older program refuses a store that a newer one migrated, in words', async () => {
  const path = oldStore('layout-2');
  await migrated(path, [...storeSteps, added]);
  const newer = storeSteps.length + 1;
  for (const mode of ['read', 'write'] as const)
    await assert.rejects(openStore(`sqlite:${path}`, mode), (error) => {
      assert.ok(error instanceof StoreUnusable, String(error));
      assert.match(
        error.message,
        new RegExp(`written by a newer Bourse \\(layout ${newer}, this one knows ${storeSteps.length}\\)`),
      );
      return true;
    });
});

test('a column that a later step adds is there in old stores and in new ones, null in every old row', async () => {
  const [old, made] = [oldStore('layout-1'), freshFile()];
  const rich = oldStore('layout-2');
  await migrated(rich, storeSteps);
  const before = contentOf(rich);
  for (const path of [old, made, rich]) await migrated(path, [...storeSteps, added]);
  assert.deepEqual(schemaOf(old), schemaOf(made));
  const { news = [] } = before;
  assert.ok(news.length > 0);
  const after = contentOf(rich);
  // The schema's own checksum is another one, and the version is raised.
  const others = { news: [], row_sums: [], counters: [], counters_sums: [], changes: [] };
  assert.deepEqual({ ...after, ...others }, { ...before, ...others });
  assert.deepEqual(
    after.news,
    news.map((row) => ({ ...row, toy: null })),
  );
});

test('of processes that open an old store at once one migrates it, and all open it', async () => {
  const path = oldStore('layout-1');
  const engines = new URL('../engines.ts', import.meta.url).href;
  const code = `
    const { openStore } = await import(${JSON.stringify(engines)});
    const tell = (doing) => { if (doing.startsWith('updating')) process.stdout.write(doing); };
    await (await openStore(${JSON.stringify(`sqlite:${path}`)}, 'write', tell)).close();`;
  const outcomes = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let told = '';
      child.stdout.on('data', (piece) => {
        told += piece;
      });
      const [status] = await once(child, 'close');
      return { status, told };
    }),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [0, 0, 0],
  );
  assert.equal(outcomes.filter(({ told }) => told !== '').length, 1);
  assert.deepEqual(filesBeside(path), ['bourse.db', 'bourse.db.layout-1']);
});

test('a process that opens an old store waits until another one has written it, and tells', async () => {
  const path = oldStore('layout-1');
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const told: string[] = [];
  const opening = openStore(`sqlite:${path}`, 'write', (doing) => {
    told.push(doing);
    if (other.isTransaction) other.exec('commit');
  });
  await (await opening).close();
  other.close();
  assert.match(told[0]!, /^waiting until another process has written .*bourse\.db$/);
  assert.match(told[1]!, /^updating /);
  assert.equal(told.length, 2);
});
