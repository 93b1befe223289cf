// Stores in PostgreSQL of an older layout: they are updated once, under a lock, whoever opens them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { counters } from '../../src/datasets/internal.ts';
import { undoRun } from '../../src/history/undo-run.ts';
import { oldestVersion } from '../../src/store/changes.ts';
import { contentHash } from '../../src/store/content.ts';
import { openControl, openStore, storeFacts } from '../../src/store/engines.ts';
import { OlderLayout, type Store } from '../../src/store/store.ts';
import { fixtures, type Said, saidOf } from '../old-stores.ts';
import { openDatabase, type PostgresDatabase, postgresPrograms, skip } from './server.ts';

let server: PostgresDatabase;
before(async () => {
  if (skip === false) server = await openDatabase();
});
after(async () => {
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

const put = (store: Store, bucket: number): Promise<void> =>
  store.write(async (writer) => {
    await writer.upsert(counters, [{ name: 'a', value: bucket }]);
    await writer.putBlock(1, { bucket, runId: 1, bytes: new Uint8Array([bucket]) });
  });

/** Makes of a store what it was in layout 8. */
const toLayout8 =
  'alter table import_runs drop column data_version; alter table run_coverage drop column first_ms; alter table run_coverage drop column tells_held; alter table holidays drop column announced; drop table changes; drop table former_rows; drop table held_bars; drop table held_rows; update store_state set layout = 8';

test('a store of an older layout is updated by who opens it for writing, once, however many do at the same time', {
  skip,
}, async () => {
  const made = await openStore(urlOf('older'), 'write');
  for (const bucket of [1, 2, 3]) await put(made, bucket);
  await made.close();
  await ask('older', toLayout8);
  for (const mode of ['read', 'serve', 'inspect'] as const) {
    await assert.rejects(openStore(urlOf('older'), mode), OlderLayout);
    await assert.rejects(openControl(urlOf('older'), mode), OlderLayout);
  }
  assert.equal((await storeFacts(urlOf('older'))).layout, 8);
  const told: string[] = [];
  const tell = (words: string): void => void told.push(words);
  const opened = await Promise.all(
    Array.from({ length: 6 }, (_, at) =>
      at % 3 === 2 ? openControl(urlOf('older'), 'write', tell) : openStore(urlOf('older'), 'write', tell),
    ),
  );
  assert.equal(told.filter((words) => words.startsWith('updating')).length, 1, told.join('\n'));
  assert.match(told.join(), /from layout 8 to \d+/);
  assert.ok((await storeFacts(urlOf('older'))).layout >= 9);
  for (const one of opened) await one.close();
  const store = await openStore(urlOf('older'), 'read');
  const read = { seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 } as const;
  const blocks = await store.snapshot((reader) => reader.blocks(read));
  assert.deepEqual(
    blocks.map(({ bucket, bytes }) => [bucket, ...bytes]),
    [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
  );
  assert.equal(await store.version(), 4, 'an update may change any answer');
  assert.equal(await store.changesAfter(3, 1_000), null);
  assert.equal(await store.snapshot(oldestVersion), 4, 'nothing tells what it was before');
  await store.close();
});

test('an update waits for who is writing, and what was written is there', { skip }, async () => {
  const writing = await openStore(urlOf('busy'), 'write');
  await put(writing, 1);
  await ask('busy', 'update store_state set layout = 8');
  const [isWriting, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const written = writing.write(async (writer) => {
    await writer.putBlock(1, { bucket: 2, runId: 1, bytes: new Uint8Array([2]) });
    await writer.blocks({ seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 });
    isWriting.resolve();
    await mayEnd.promise;
  });
  await isWriting.promise;
  const told: string[] = [];
  const opening = openStore(urlOf('busy'), 'write', (words) => {
    told.push(words);
    mayEnd.resolve();
  });
  // What the steps make is there already: only the lock is looked at.
  await assert.rejects(opening, /already exists/);
  await written;
  assert.match(told[0]!, /^waiting until another process has written postgres:/);
  await ask('busy', toLayout8);
  const store = await openStore(urlOf('busy'), 'write');
  const read = { seriesId: 1, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 } as const;
  assert.equal((await store.snapshot((reader) => reader.blocks(read))).length, 2);
  await put(store, 3);
  assert.equal((await store.snapshot((reader) => reader.blocks(read))).length, 3);
  for (const one of [store, writing]) await one.close();
});

/** What the program that wrote the fixture said of it: of all of it, and before its last run. */
const said: Pick<Said, 'contentHash' | 'contentHashBeforeLastRun'> = saidOf('postgres-layout-9');

test('a store that the first Bourse with PostgreSQL wrote has its content, and its last run can be undone', {
  skip,
}, async () => {
  const sql = gunzipSync(readFileSync(join(fixtures, 'postgres-layout-9/store.sql.gz')));
  execFileSync(join(postgresPrograms()!, 'psql'), ['-q', '-v', 'ON_ERROR_STOP=1', server.url], {
    input: sql,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const store = await openStore(urlOf('old'), 'write');
  assert.equal(await store.snapshot(contentHash), said.contentHash);
  const version = (await store.version())!;
  const [{ run }] = (await ask('old', 'select max(run_id)::int as run from import_runs')) as [
    { run: number },
  ];
  await undoRun(store, { runId: run, dryRun: false, nowMs: Date.now });
  assert.equal(await store.snapshot(contentHash), said.contentHashBeforeLastRun);
  assert.equal(await store.version(), version + 1);
  await store.close();
});
