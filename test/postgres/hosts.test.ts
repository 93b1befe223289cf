// A store in PostgreSQL at several hosts: all connections of a process use one server, and move to another
// together.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openControl, openStore } from '../../src/store/engines.ts';
import { counters } from '../../src/store/schema/internal.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { until } from '../until.ts';
import { type PostgresServer, skip, startPostgres } from './server.ts';

let primary: PostgresServer;
let standby: PostgresServer;

before(async () => {
  if (skip !== false) return;
  primary = await startPostgres();
  standby = await primary.standby();
});
after(async () => {
  if (skip !== false) return;
  await standby.stop();
  await primary.stop();
});

const urlOf = (schema: string, target: string, ...servers: readonly PostgresServer[]): string =>
  `postgres://bourse@${servers.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres?schema=${schema}&target_session_attrs=${target}`;

/** Runs statements on a server, past the service. */
async function ask<R extends pg.QueryResultRow>(server: PostgresServer, sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: server.url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<R>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The number of connections of this process to a server. */
const connectionsTo = async (server: PostgresServer): Promise<number> =>
  Number(
    (
      await ask<{ count: string }>(
        server,
        "select count(*) from pg_stat_activity where application_name = 'bourse'",
      )
    )[0]!.count,
  );

const count = (store: Store): Promise<number> => store.snapshot((reader) => reader.count(counters));
const add = (store: Store, name: string): Promise<void> =>
  store.write((writer) => writer.upsert(counters, [{ name, value: 1 }]));

const block = (bucket: number) => ({ bucket, runId: 1, bytes: new Uint8Array([bucket]) });
const everyBlock = { seriesId: 1, fromBucket: 0, toBucket: 99, direction: 'asc', limit: 99 } as const;

/** Reads much of a store at once, until all of its connections for rows are in use. */
async function readMuch(store: Store): Promise<void> {
  const all = Promise.withResolvers<void>();
  let begun = 0;
  const read = (): Promise<void> =>
    store.snapshot(async (reader) => {
      await reader.blocks(everyBlock);
      await reader.count(counters);
      // Each keeps its connection until the last one has one.
      if (++begun === store.concurrency) all.resolve();
      await all.promise;
    });
  try {
    await Promise.all(Array.from({ length: store.concurrency }, read));
  } finally {
    all.resolve();
  }
}

const isReplayed = async (): Promise<boolean> => {
  const [at] = await ask<{ lsn: string }>(primary, 'select pg_current_wal_insert_lsn() as lsn');
  const [row] = await ask<{ done: boolean }>(
    standby,
    `select pg_last_wal_replay_lsn() >= '${at!.lsn}' as done`,
  );
  return row!.done;
};

test('each kind of server is found wherever it is named', { skip }, async () => {
  const setup = await openStore(urlOf('kinds', 'any', primary), 'write');
  await add(setup, 'a');
  await setup.close();
  await until('the standby never had the tables', isReplayed);
  for (const [target, expected] of [
    ['read-write', primary],
    ['primary', primary],
    ['standby', standby],
    ['read-only', standby],
    ['prefer-standby', standby],
  ] as const) {
    for (const order of [
      [primary, standby],
      [standby, primary],
    ]) {
      const store = await openStore(urlOf('kinds', target, ...order), 'serve');
      await readMuch(store);
      const avoided = expected === primary ? standby : primary;
      await until(`${target}: connections elsewhere`, async () => (await connectionsTo(avoided)) === 0);
      assert.ok((await connectionsTo(expected)) > 3, target);
      await store.close();
      await until('connections stay', async () => (await connectionsTo(expected)) === 0);
    }
  }
  await assert.rejects(openStore(urlOf('kinds', 'standby', primary), 'serve'), StoreUnavailable);
});

test('who writes finds the primary where any server is named, and those who read move to it', {
  skip,
}, async () => {
  const url = urlOf('kinds', 'any', standby, primary);
  const reading = await openStore(url, 'serve');
  await readMuch(reading);
  assert.ok((await connectionsTo(standby)) > 3);
  const [store, control] = [await openStore(url, 'write'), await openControl(url, 'write')];
  await add(store, 'b');
  assert.equal(await count(reading), 3, 'with the counter of the version');
  await readMuch(reading);
  await until('a connection to the standby stays', async () => (await connectionsTo(standby)) === 0);
  for (const one of [reading, store, control]) await one.close();
});

test('a promoted standby that lacks commits is read as it is: nothing is kept of the server before it (contract 4.1)', {
  skip,
}, async () => {
  const url = urlOf('kinds', 'read-write', primary, standby);
  const [writer, reader] = [await openStore(url, 'write'), await openStore(url, 'serve')];
  await writer.write((open) => open.putBlock(1, block(1)));
  await until('the standby never had the block', isReplayed);
  await ask(standby, "alter system set primary_conninfo = ''");
  await ask(standby, 'select pg_reload_conf()');
  await until('the standby still follows', async () => {
    return (await ask(standby, 'select from pg_stat_wal_receiver')).length === 0;
  });
  await writer.write((open) => open.putBlock(1, block(2)));
  const [before, lost] = [reader.id, await reader.version()];
  await readMuch(reader);
  await primary.halt();
  await assert.rejects(readMuch(reader), StoreUnavailable);
  await ask(standby, 'select pg_promote()');
  const buckets = async (): Promise<number[]> =>
    (await reader.snapshot((open) => open.blocks(everyBlock))).map(({ bucket }) => bucket);
  await until('the standby was never read', async () => (await buckets().catch(() => [])).length > 0);
  assert.deepEqual(await buckets(), [1]);
  await until('the writer never found it', () =>
    writer
      .write((open) => open.putBlock(1, block(3)))
      .then(
        () => true,
        () => false,
      ),
  );
  assert.deepEqual(await buckets(), [1, 3]);
  assert.equal(await reader.version(), lost, 'another state of the same number');
  assert.notEqual(reader.id, before);
  await readMuch(reader);
  for (const one of [writer, reader]) await one.close();
});
