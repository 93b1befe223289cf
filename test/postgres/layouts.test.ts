// Stores in PostgreSQL of an older layout: they are updated once, under a lock, whoever opens them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { undoRun } from '../../src/runs/undo-run.ts';
import { oldestVersion } from '../../src/store/changes.ts';
import { engineAt, openControl, openStore } from '../../src/store/engines.ts';
import { searchInstruments, wordsOf } from '../../src/store/instrument-terms.ts';
import { readPostgresAddress } from '../../src/store/postgres/address.ts';
import { onSession } from '../../src/store/postgres/connection.ts';
import { lockOf } from '../../src/store/postgres/publish.ts';
import { PostgresRows } from '../../src/store/postgres/rows.ts';
import { instruments, instrumentTerms } from '../../src/store/schema/reference.ts';
import { OlderLayout, StoreUnusable } from '../../src/store/store.ts';
import { assertKeysWork, assertServesAs, hashesOfNew, hashOf } from '../old-answers.ts';
import { markedTerms, saidOf, unpacked } from '../old-stores.ts';
import { Workshop } from '../service.ts';
import { openDatabase, type PostgresDatabase, postgresPrograms, skip } from './server.ts';

let server: PostgresDatabase;
const shop = new Workshop();
before(async () => {
  if (skip === false) server = await openDatabase();
});
after(async () => {
  shop.close();
  if (skip === false) await server.stop();
});

const urlOf = (schema: string): string => `${server.url}?schema=${schema}`;

/** Runs statements on a schema, past the service. */
async function ask(schema: string, sql: string): Promise<Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query(`set search_path to ${schema}`);
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Makes the store of a fixture in a schema, as `pg_dump` has it of the fixture's program. */
async function makeOld(schema: string, fixture = 'postgres-layout-12'): Promise<void> {
  execFileSync(join(postgresPrograms()!, 'psql'), ['-q', '-v', 'ON_ERROR_STOP=1', server.url], {
    input: unpacked(fixture, 'store.sql'),
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  await ask('public', `alter schema old rename to ${schema}`);
}

/** What the program that wrote the store said of it. */
const said = saidOf('postgres-layout-12');

test('a store of an older layout is updated by who opens it for writing, once, however many do at the same time', {
  skip,
}, async () => {
  await makeOld('older');
  const version = 15;
  for (const mode of ['read', 'serve', 'inspect'] as const) {
    await assert.rejects(openStore(urlOf('older'), mode), OlderLayout);
    await assert.rejects(openControl(urlOf('older'), mode), OlderLayout);
  }
  assert.equal((await engineAt(urlOf('older')).facts()).layout, 12);
  const told: string[] = [];
  const tell = (words: string): void => void told.push(words);
  const opened = await Promise.all(
    Array.from({ length: 6 }, (_, at) =>
      at % 3 === 2 ? openControl(urlOf('older'), 'write', tell) : openStore(urlOf('older'), 'write', tell),
    ),
  );
  assert.equal(told.filter((words) => words.startsWith('updating')).length, 1, told.join('\n'));
  assert.match(told.join(), /from layout 12 to \d+/);
  assert.ok((await engineAt(urlOf('older')).facts()).layout > 13);
  for (const one of opened) await one.close();
  const store = await openStore(urlOf('older'), 'read');
  assert.equal(await store.version(), version + 1, 'an update may change any answer');
  assert.equal(await store.changesAfter(version, 1_000), null);
  assert.equal(await store.snapshot(oldestVersion), version + 1, 'nothing tells what it was before');
  await store.close();
});

test('an update waits for who is writing', { skip }, async () => {
  await makeOld('busy');
  const writing = new pg.Client({ connectionString: server.url });
  await writing.connect();
  await writing.query('set search_path to busy');
  await writing.query(`begin; select pg_advisory_xact_lock(${lockOf('write')})`);
  const told: string[] = [];
  const opening = openStore(urlOf('busy'), 'write', (words) => {
    told.push(words);
    if (told.length === 1) void writing.query('commit');
  });
  await (await opening).close();
  await writing.end();
  assert.match(told[0]!, /^waiting until another process has written postgres:/);
  assert.match(told[1]!, /^updating postgres:.* from layout 12 to \d+$/);
});

test('a store of layout 11 is refused in words, and left as it was (docs/decisions/0021)', {
  skip,
}, async () => {
  await makeOld('ancient');
  await ask('ancient', 'update store_state set layout = 11');
  const message =
    /postgres:.* has layout 11, which is too old for this Bourse: the program of commit 0a54d0a brings it to layout 12, which this one reads/;
  for (const mode of ['read', 'serve', 'inspect', 'write'] as const)
    for (const open of [openStore, openControl])
      await assert.rejects(open(urlOf('ancient'), mode), (error) => {
        assert.ok(error instanceof StoreUnusable && !(error instanceof OlderLayout), String(error));
        assert.match(error.message, message);
        return true;
      });
  assert.equal((await engineAt(urlOf('ancient')).facts()).layout, 11);
  assert.deepEqual(await ask('ancient', "select to_regclass('held_bars')::text as made"), [{ made: null }]);
});

test('a store of layout 12 has the tables and indexes of a new one when it is migrated', {
  skip,
}, async () => {
  await makeOld('brought');
  for (const schema of ['brought', 'made']) await (await openStore(urlOf(schema), 'write')).close();
  const tablesOf = async (schema: string) => [
    await ask(
      schema,
      `select table_name, column_name, data_type, is_nullable from information_schema.columns
        where table_schema = '${schema}' order by 1, 2`,
    ),
    await ask(
      schema,
      `select tablename, indexname, replace(indexdef, '${schema}.', '') as made from pg_indexes where schemaname = '${schema}' order by 1, 2`,
    ),
  ];
  assert.deepEqual(await tablesOf('brought'), await tablesOf('made'));
});

test('names that an older program stored are found without the marks of their letters, and leave nothing behind (contract 9.21)', {
  skip,
}, async () => {
  await makeOld('marked');
  const own = await onSession(
    readPostgresAddress(urlOf('marked').slice('postgres:'.length)),
    async (session) => {
      const rows = new PostgresRows(async () => session);
      const [first] = await rows.rows(instruments, { order: [['symbol', 'asc']], limit: 1 });
      const { asset_schema, country_iso_code, symbol } = first!;
      const name = { asset_schema, country_iso_code, symbol };
      const terms = markedTerms.old.map((term) => ({ ...name, kind: 'name', term }));
      await rows.upsert(instrumentTerms, terms);
      await rows.sendAll();
      return name;
    },
  );
  await (await openStore(urlOf('marked'), 'write')).close();
  const store = await openStore(urlOf('marked'), 'read');
  for (const query of markedTerms.asked) {
    const search = {
      assetSchema: own.asset_schema,
      country: null,
      symbol: null,
      words: wordsOf(query),
      limit: 9,
    };
    const found = await store.snapshot((reader) => searchInstruments(reader, search));
    assert.deepEqual(found, [own], query);
  }
  await store.close();
  const sql = "select term from instrument_terms where term like '%ller%' order by term";
  assert.deepEqual(
    (await ask('marked', sql)).map(({ term }) => term),
    markedTerms.now,
  );
});

test('a store of layout 12 is served as its own program did: bars, coverage, lists and pages under its page keys', {
  skip,
}, async () => {
  await makeOld('served');
  const service = await shop.serve('--store', urlOf('served'));
  await assertServesAs(service, said);
  await service.stop();
});

test('keys of layout 7 go on working while another writes, and no version is forgotten (contract 7.6)', {
  skip,
}, async () => {
  await makeOld('keys', 'postgres-layout-16');
  const versionsOf = async () => {
    const store = await openStore(urlOf('keys'), 'read');
    const found = [await store.version(), await store.snapshot(oldestVersion)];
    await store.close();
    return found;
  };
  const [[version]] = [await ask('keys', "select value from counters where name = 'data_version'")];
  const writing = new pg.Client({ connectionString: server.url });
  await writing.connect();
  await writing.query('set search_path to keys');
  await writing.query(`begin; select pg_advisory_xact_lock(${lockOf('write')})`);
  const told: string[] = [];
  await (await openControl(urlOf('keys'), 'write', (words) => void told.push(words))).close();
  await writing.query('rollback');
  await writing.end();
  assert.match(told.join('\n'), /^updating the keys of postgres:.* from layout 7 to 8$/);
  assert.deepEqual(await versionsOf(), [version!.value, 0].map(Number));
  const service = await shop.serve('--store', urlOf('keys'));
  await assertKeysWork(service, saidOf('postgres-layout-16'));
  await service.stop();
});

test('a store of layout 12 has the content of a new one of the same commands, and its last run can be undone', {
  skip,
}, async () => {
  await makeOld('hashed');
  const { all, beforeLast } = await hashesOfNew(shop, urlOf('fresh'));
  assert.equal(await hashOf(urlOf('hashed')), all);
  const store = await openStore(urlOf('hashed'), 'write');
  await undoRun(store, { runId: 14, dryRun: false, nowMs: Date.now });
  await store.close();
  assert.equal(await hashOf(urlOf('hashed')), beforeLast);
});
