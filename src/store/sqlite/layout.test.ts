// Migrations of SQLite files: of stores that older programs wrote, all of it or nothing, with the old file
// kept.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { markedTerms, unpack } from '../../../test/old-stores.ts';
import { contentOfFile as contentOf, rowsOfFile } from '../../../test/sqlite/files.ts';
import { oldestVersion } from '../changes.ts';
import { openControl, openStore, restoreStore } from '../engines.ts';
import { searchInstruments, wordsOf } from '../instrument-terms.ts';
import { controlHistory, type History, newestLayout, storeHistory } from '../migrations/index.ts';
import type { Step } from '../migrations/step.ts';
import { instruments, instrumentTerms } from '../schema/reference.ts';
import { OlderLayout, StoreUnusable } from '../store.ts';
import type { FileKind } from './files.ts';
import { openFile } from './layout.ts';
import { SqliteRows } from './rows.ts';

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

/** Brings a file to the newest layout of a history; what was told meanwhile. */
async function migrated(
  path: string,
  history: History = storeHistory,
  kind: FileKind = 'store',
): Promise<string[]> {
  const told: string[] = [];
  (await openFile(path, 'write', kind, history, (doing) => told.push(doing))).close();
  return told;
}

const newest = newestLayout(storeHistory);

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
        // A column that was added to a table comes after its checksums.
        columns: all(
          'select name, type, "notnull", dflt_value, pk from pragma_table_xinfo(?) order by name',
          table.name,
        ),
        indexes: all('select name, "unique", origin from pragma_index_list(?)', table.name).map((index) => ({
          ...index,
          columns: all('select name from pragma_index_info(?)', index.name),
        })),
      }));
  } finally {
    database.close();
  }
}

/** Names and texts of all triggers: they keep the sums of tables. */
const triggersOf = (path: string): readonly unknown[] =>
  rowsOfFile(path, "select name, sql from sqlite_schema where type = 'trigger' order by name");

const histories: readonly [fixture: string, file: string, kind: FileKind, history: History][] = [
  ['layout-12', 'bourse.db', 'store', storeHistory],
  ['layout-13', 'bourse.db', 'store', storeHistory],
  ['layout-12', 'bourse.control.db', 'control', controlHistory],
];

for (const [fixture, file, kind, history] of histories)
  test(`${file} of ${fixture} has the tables and triggers of a new one when it is migrated`, async () => {
    const [old, made] = [freshFile(), freshFile()];
    unpack(fixture, file, old);
    for (const path of [old, made]) await migrated(path, history, kind);
    // A declaration has changed without its step, if this fails.
    assert.deepEqual(schemaOf(old), schemaOf(made), 'add a frozen step in src/store/migrations/index.ts');
    assert.deepEqual(triggersOf(old), triggersOf(made));
    const summed = (path: string) => rowsOfFile(path, 'select name from row_sums order by name');
    assert.deepEqual(summed(old), summed(made));
  });

test('before a migration the old file is kept beside it, as it was and as closed as it was', async () => {
  const path = oldStore('layout-12');
  chmodSync(path, 0o640);
  const before = contentOf(path);
  const told = await migrated(path);
  const copy = `${path}.layout-12`;
  assert.deepEqual(told, [
    `updating ${path} from layout 12 to ${newest}; a copy of the old file is made: ${copy}`,
  ]);
  assert.deepEqual(filesBeside(path), ['bourse.db', 'bourse.db.layout-12']);
  assert.equal(statSync(copy).mode & 0o777, 0o640);
  assert.deepEqual(contentOf(copy), before);
  assert.deepEqual(await migrated(path), []);
  // It is a store of the old program, and can be migrated itself.
  await migrated(copy);
  assert.deepEqual(contentOf(copy), contentOf(path));
});

test('the versions before a migration are forgotten: what they had was not kept', async () => {
  const path = oldStore('layout-12');
  await migrated(path);
  const store = await openStore(`sqlite:${path}`, 'read');
  await store.snapshot(async (reader) => {
    const version = await reader.version();
    assert.ok(version !== null && version > 0);
    assert.equal(await oldestVersion(reader), version);
  });
  await store.close();
});

test('names that a program of layout 14 stored are found without the marks of their letters, and leave nothing behind (contract 9.21)', async () => {
  const path = oldStore('layout-13');
  const before: History = { ...storeHistory, steps: [] };
  const database = await openFile(path, 'write', 'store', before, () => undefined);
  assert.equal(database.pragma('user_version'), 14);
  const rows = new SqliteRows(database);
  const [first] = await rows.rows(instruments, { order: [['symbol', 'asc']], limit: 1 });
  const { asset_schema, country_iso_code, symbol } = first!;
  const own = { asset_schema, country_iso_code, symbol };
  await database.longWrite(
    () =>
      rows.upsert(
        instrumentTerms,
        markedTerms.old.map((term) => ({ ...own, kind: 'name', term })),
      ),
    () => undefined,
  );
  database.close();
  await (await openStore(`sqlite:${path}`, 'write')).close();
  const store = await openStore(`sqlite:${path}`, 'read');
  for (const query of markedTerms.asked) {
    const search = {
      assetSchema: asset_schema,
      country: null,
      symbol: null,
      words: wordsOf(query),
      limit: 9,
    };
    const found = await store.snapshot((reader) => searchInstruments(reader, search));
    assert.deepEqual(found, [{ asset_schema, country_iso_code, symbol }], query);
  }
  await store.close();
  const sql = "select term from instrument_terms where term like '%ller%' order by term";
  assert.deepEqual(
    rowsOfFile(path, sql).map(({ term }) => term),
    markedTerms.now,
  );
});

test('a copy takes the name of no earlier one', async () => {
  const path = oldStore('layout-12');
  await migrated(path);
  const first = readFileSync(`${path}.layout-12`);
  unpack('layout-12', 'bourse.db', path);
  await migrated(path);
  assert.deepEqual(filesBeside(path), ['bourse.db', 'bourse.db.layout-12', 'bourse.db.layout-12.2']);
  assert.ok(readFileSync(`${path}.layout-12`).equals(first));
});

test('a new store has no copy, and nothing is reported', async () => {
  const path = freshFile();
  assert.deepEqual(await migrated(path), []);
  assert.deepEqual(filesBeside(path), ['bourse.db']);
});

const added: Step = { columns: { news: { toy: 'text null' } } };
const withAdded: History = {
  ...storeHistory,
  tables: storeHistory.tables.map((table) =>
    table.name === 'news'
      ? { ...table, columns: { ...table.columns, toy: { kind: 'text', nullable: true } } }
      : table,
  ),
  steps: [...storeHistory.steps, added],
};

test('a migration that fails half way leaves the store as it was', async () => {
  const path = oldStore('layout-12');
  await migrated(path);
  for (const copy of filesBeside(path).slice(1)) rmSync(join(path, '..', copy));
  const before = readFileSync(path);
  const failing = { ...withAdded, steps: [...withAdded.steps, { drops: ['absent'] }] };
  await assert.rejects(migrated(path, failing), /no such table: absent/);
  assert.ok(readFileSync(path).equals(before));
  assert.deepEqual(filesBeside(path), ['bourse.db']);
  await (await openStore(`sqlite:${path}`, 'read')).close();
});

/** Makes a file one of another layout, as a program of that would have written its number. */
function relabel(path: string, layout: number): void {
  const database = new DatabaseSync(path);
  database.exec(
    `pragma user_version = ${layout}; update row_sums set rows = ${layout} where name = 'sqlite_schema'; pragma wal_checkpoint(truncate)`,
  );
  database.close();
}

/** What a refusal of a file that is too old says (docs/decisions/0021). */
const tooOld = (layout: number, oldest: number): RegExp =>
  new RegExp(
    `has layout ${layout}, which is too old for this Bourse: the program of commit 0a54d0a brings it to layout ${oldest}, which this one reads`,
  );

for (const mode of ['read', 'inspect', 'write'] as const)
  test(`a store of layout 11, and a control file of layout 5, are refused in words, and left as they were (${mode})`, async () => {
    const path = oldStore('layout-12');
    const control = path.replace(/\.db$/, '.control.db');
    unpack('layout-12', 'bourse.control.db', control);
    relabel(path, 11);
    relabel(control, 5);
    const before = [readFileSync(path), readFileSync(control)];
    for (const [open, message] of [
      [openStore, tooOld(11, 12)],
      [openControl, tooOld(5, 6)],
    ] as const)
      await assert.rejects(open(`sqlite:${path}`, mode), (error) => {
        assert.ok(error instanceof StoreUnusable && !(error instanceof OlderLayout), String(error));
        assert.match(error.message, message);
        return true;
      });
    assert.deepEqual([readFileSync(path), readFileSync(control)], before);
  });

test('a backup of layout 11 is refused in words, and nothing is restored', async () => {
  const path = freshFile();
  const backup = join(path, '../old.backup');
  unpack('layout-12', 'bourse.backup', backup);
  relabel(backup, 11);
  const options = { force: false, tell: () => undefined, nowMs: Date.now };
  await assert.rejects(restoreStore(`sqlite:${path}`, backup, options), tooOld(11, 12));
  assert.deepEqual(filesBeside(path), ['old.backup']);
});

test('a store of an older layout whose schema was changed past the service is refused as damaged', async () => {
  const path = oldStore('layout-12');
  const database = new DatabaseSync(path);
  database.exec('alter table news drop column sentiment_score; pragma wal_checkpoint(truncate)');
  database.close();
  await assert.rejects(migrated(path), /is damaged: its schema is not what was written/);
  assert.deepEqual(
    filesBeside(path).filter((name) => name.includes('layout')),
    [],
  );
});

test('a damaged row that its migration needs is named, and the store is left as it was', async () => {
  const path = oldStore('layout-12');
  const database = new DatabaseSync(path);
  database.exec(
    `update series set first_ms = first_ms + 1 where interval = 'DAY'; pragma wal_checkpoint(truncate)`,
  );
  database.close();
  await assert.rejects(migrated(path), /damaged: series, row instrument_id \d+, interval "DAY"/);
  assert.equal(rowsOfFile(path, 'select user_version from pragma_user_version')[0]!.user_version, 12);
  assert.deepEqual(
    filesBeside(path).filter((name) => name.includes('layout')),
    [],
  );
});

test('an older program refuses a store that a newer one migrated, in words', async () => {
  const path = oldStore('layout-12');
  await migrated(path, withAdded);
  const newer = newest + 1;
  for (const mode of ['read', 'write'] as const)
    await assert.rejects(openStore(`sqlite:${path}`, mode), (error) => {
      assert.ok(error instanceof StoreUnusable, String(error));
      assert.match(
        error.message,
        new RegExp(`written by a newer Bourse \\(layout ${newer}, this one knows ${newest}\\)`),
      );
      return true;
    });
});

test('a column that a later step adds is there in old stores and in new ones, null in every old row', async () => {
  const [old, made] = [oldStore('layout-12'), freshFile()];
  const rich = oldStore('layout-12');
  await migrated(rich);
  const before = contentOf(rich);
  for (const path of [old, made, rich]) await migrated(path, withAdded);
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
  const path = oldStore('layout-12');
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
  // Of two that close at the same moment each sees the other: SQLite's log stays until the next one closes.
  await (await openStore(`sqlite:${path}`, 'write')).close();
  assert.deepEqual(filesBeside(path), ['bourse.db', 'bourse.db.layout-12']);
});

test('a process that opens an old store waits until another one has written it, and tells', async () => {
  const path = oldStore('layout-12');
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
