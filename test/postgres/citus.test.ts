// A store on Citus, as far as that can be tested without it: what the engine asks of Citus, and what it does
// where a worker is away.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type pg from 'pg';
import { openStore } from '../../src/store/engines.ts';
import { shardHash } from '../../src/store/postgres/citus.ts';
import { isLostWorker, isUncommitted } from '../../src/store/postgres/session.ts';
import { type Store, type StoredBlock, StoreUnavailable, type Writer } from '../../src/store/store.ts';
import { Workshop } from '../service.ts';
import { until } from '../until.ts';
import { openDatabase, type PostgresDatabase, skip } from './server.ts';
import { startStandIn } from './stand-in-citus.ts';

const engine = join(import.meta.dirname, '../../src/store/postgres');

/** Statements of all shards: of a new store, and of maintenance. */
const ofAllShards = [
  /^create table bar_blocks /,
  /^alter table bar_blocks alter bytes set storage external$/,
  /^create index bar_blocks_by_version on bar_blocks /,
  /^insert into bar_blocks \(series_id, /,
  /^delete from bar_blocks where version between \$1 and \$2$/,
  /^select min\(series_id\) from bar_blocks where series_id > \$1$/,
];

test('every statement that reads blocks names their series, so that Citus asks one shard for each', () => {
  const files = readdirSync(engine).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const texts = files.flatMap((name) =>
    Array.from(
      readFileSync(join(engine, name), 'utf8').matchAll(/`([^`]*)`|'([^'\n]*)'/g),
      ([, long, short]) => (long ?? short!).trim(),
    ).filter((text) => /\b(?:from|join|into|update|table|on) bar_blocks\b/.test(text)),
  );
  assert.ok(texts.length >= 8, 'the statements are found');
  const others = texts.filter((text) => !ofAllShards.some((known) => known.test(text)));
  for (const text of others) assert.match(text, /series_id = (?:\$1|any\(\$1::bigint\[\]\))/, text);
  assert.ok(others.length >= 4);
});

test('what Citus says of a lost worker is told from other internal errors, and a commit that a worker lacks from other warnings', () => {
  assert.ok(isLostWorker('XX000', 'connection not open'));
  assert.ok(isLostWorker('XX000', 'server closed the connection unexpectedly\n\tThis probably means'));
  assert.ok(isLostWorker('XX000', 'failure on connection marked as essential: 10.0.0.3:5432'));
  assert.ok(!isLostWorker('XX000', 'cache lookup failed for relation 1'));
  assert.ok(!isLostWorker('42P01', 'connection not open'));
  assert.ok(isUncommitted('WARNING', 'failed to commit transaction on 10.0.0.3:5432'));
  assert.ok(!isUncommitted('NOTICE', 'failed to commit transaction on 10.0.0.3:5432'));
  assert.ok(!isUncommitted('WARNING', 'there is no transaction in progress'));
});

/** Blocks are opaque to a store: these are read back by their run. */
const block = (bucket: number, runId: number): StoredBlock => ({
  bucket,
  runId,
  bytes: Uint8Array.of(runId),
});
const runsOf = (store: Store, seriesId: number): Promise<number[]> =>
  store.snapshot(async (reader) => {
    const read = { seriesId, fromBucket: 0, toBucket: 9, direction: 'asc', limit: 9 } as const;
    return (await reader.blocks(read)).map(({ runId }) => runId);
  });

/** A series of each worker of the stand-in: `east` has negative hashes. */
const [EAST, WEST] = [1, 2];

suite('a store on Citus', { skip }, () => {
  const shop = new Workshop();
  let server: PostgresDatabase;
  let client: pg.Client;
  let url: string;
  before(async () => {
    server = await openDatabase();
    client = await startStandIn(server.url);
    url = server.url;
    writeFileSync(shop.path('x.csv'), 'datetime,open,high,low,close\n2025-03-03T14:30:00Z,1,1,1,1\n');
  });
  after(async () => {
    await client.end();
    await server.stop();
    shop.close();
  });
  const cellOf = async (sql: string): Promise<unknown> => {
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return rows[0]?.[0];
  };
  const run = (...words: readonly string[]) => shop.run(...words, '--store', url);

  test('a new store has its blocks distributed by series, and nothing else', async () => {
    const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'X', '--interval', '1M'];
    const { status, stderr } = await run('import', 'bars', shop.path('x.csv'), ...flags);
    assert.equal(status, 0, stderr);
    const { rows } = await client.query(
      'select logicalrelid::text, distribution_column from pg_dist_partition',
    );
    assert.deepEqual(rows, [{ logicalrelid: 'bar_blocks', distribution_column: 'series_id' }]);
  });

  test('status and doctor name each node with shards and their bytes, and a node that does not answer', async () => {
    const status = async () => JSON.parse((await run('status', '--json')).stdout).files.slice(1);
    const doctor = async () =>
      JSON.parse((await run('doctor', '--json')).stdout)
        .filter(({ check }: { check: string }) => check === 'citus')
        .map(({ state, message }: { state: string; message: string }) => `${state} ${message}`);
    assert.deepEqual(await status(), [
      { what: 'blocks on east:5432 (1 shards)', path: null, bytes: 8192 },
      { what: 'blocks on west:5432 (1 shards)', path: null, bytes: 8192 },
    ]);
    assert.deepEqual(await doctor(), ['ok east:5432: 1 shards, 8.2 kB', 'ok west:5432: 1 shards, 8.2 kB']);
    await client.query(`update pg_dist_node set answers = false where nodename = 'west';
      insert into pg_dist_node (groupid, nodename, nodeport) values (3, 'new', 5432)`);
    assert.deepEqual(await status(), [
      { what: 'blocks on east:5432 (1 shards)', path: null, bytes: 8192 },
      { what: 'blocks on new:5432 (0 shards)', path: null, bytes: 0 },
      { what: 'blocks on west:5432 (1 shards)', path: null, bytes: null },
    ]);
    assert.deepEqual(await doctor(), [
      'ok east:5432: 1 shards, 8.2 kB',
      'warn new:5432 has no shards of the blocks',
      'fail west:5432 does not answer: no bars of its 1 shards can be read or imported',
    ]);
    assert.match((await run('status')).stdout, /blocks on west:5432 \(1 shards\) does not answer\n/);
    await client.query(
      `update pg_dist_node set answers = true; delete from pg_dist_node where nodename = 'new'`,
    );
  });

  test('doctor says how to distribute the blocks of a store that was made before the extension', async () => {
    await client.query(
      'begin; create table kept as table pg_dist_partition; delete from pg_dist_partition; commit',
    );
    const { stdout } = await run('doctor');
    assert.match(
      stdout,
      /warn +citus +the blocks of bars are on the coordinator alone: select create_distributed_table\('bourse\.bar_blocks', 'series_id', colocate_with => 'none'\), with psql/,
    );
    await client.query('insert into pg_dist_partition table kept; drop table kept');
  });

  test('a series is looked for on the worker where Citus put it', async () => {
    const ids = [0, 1, 2, 3, 77, 1e6, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 123_456_789_012, -1, -(2 ** 33) - 5];
    const { rows } = await client.query(`select hashint8(id) as hash from unnest($1::bigint[]) as id`, [ids]);
    assert.deepEqual(
      ids.map(shardHash),
      rows.map(({ hash }) => hash),
    );
  });

  const write = (store: Store, work: (writer: Writer) => Promise<void>) => store.write(work);

  test('a worker that hangs holds up the reads of its shards alone, and they come back with it', async () => {
    const writing = await openStore(url, 'write');
    await write(writing, async (writer) => {
      for (const seriesId of [EAST, WEST]) await writer.putBlock(seriesId, block(3, 7));
    });
    await client.query(`create table hanging (series_id bigint);
      create function hangs(asked bigint) returns boolean as $$ begin
        if exists (select from hanging where series_id = asked) then
          -- As where Citus waits for a worker, the statement does not end at its timeout.
          begin perform pg_sleep(30); exception when query_canceled then perform pg_sleep(30); end;
        end if;
        return true; end $$ language plpgsql;
      alter table bar_blocks rename to all_blocks; create view bar_blocks as select * from all_blocks where hangs(series_id);
      update pg_dist_partition set logicalrelid = 'bar_blocks'::regclass; update pg_dist_shard set logicalrelid = 'bar_blocks'::regclass`);
    const serving = await openStore(url, 'serve');
    assert.deepEqual([await runsOf(serving, EAST), await runsOf(serving, WEST)], [[7], [7]]);
    await client.query(
      `insert into hanging values (${WEST}); update pg_dist_node set answers = false where nodename = 'west'`,
    );
    const refused = Array.from({ length: 8 }, () => runsOf(serving, WEST).catch((error: unknown) => error));
    for (let read = 0; read < 20; read++) assert.deepEqual(await runsOf(serving, EAST), [7]);
    for (const problem of await Promise.all(refused))
      assert.ok(problem instanceof StoreUnavailable, String(problem));
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
    );
    await assert.rejects(runsOf(serving, WEST), /does not reach the Citus worker west:5432/);
    assert.deepEqual(await runsOf(serving, EAST), [7]);
    await client.query(`delete from hanging; update pg_dist_node set answers = true`);
    await until(
      'the worker stays away',
      async () => (await runsOf(serving, WEST).catch(() => [])).length === 1,
    );
    await serving.close();
    await writing.close();
    await client.query(`drop view bar_blocks; alter table all_blocks rename to bar_blocks;
      update pg_dist_partition set logicalrelid = 'bar_blocks'::regclass; update pg_dist_shard set logicalrelid = 'bar_blocks'::regclass`);
  });

  test('a write fails where a worker may not have committed its blocks, and nothing of it is seen', async () => {
    const store = await openStore(url, 'write');
    await client.query(`create function warn() returns trigger as
        $$ begin raise warning 'failed to commit transaction on west:5432'; return new; end $$ language plpgsql;
      create trigger warn before insert on bar_blocks for each row execute function warn()`);
    await assert.rejects(
      write(store, (writer) => writer.putBlock(WEST, block(3, 8))),
      (error) =>
        error instanceof StoreUnavailable && /failed to commit transaction on west:5432/.test(error.message),
    );
    assert.deepEqual(await runsOf(store, WEST), [7]);
    await client.query('drop trigger warn on bar_blocks');
    await write(store, (writer) => writer.putBlock(WEST, block(3, 9)));
    assert.deepEqual(await runsOf(store, WEST), [9]);
    await store.close();
  });

  test('blocks that a worker commits late, after their write or its part has failed, are seen by nobody', async () => {
    const store = await openStore(url, 'write');
    await client.query(`create table late (like bar_blocks);
      create function delay() returns trigger as $$ begin
        insert into late values (new.*); raise warning 'failed to commit transaction on west:5432'; return null; end $$ language plpgsql;
      create trigger delay before insert on bar_blocks for each row when (new.run_id = 20) execute function delay()`);
    const late = (writer: Writer) => writer.putBlock(WEST, block(3, 20));
    await assert.rejects(write(store, late), StoreUnavailable);
    const part = write(store, async (writer) => {
      const sent = writer.savepoint(async () => {
        await late(writer);
        await writer.blocks({ seriesId: WEST, fromBucket: 3, toBucket: 3, direction: 'asc', limit: 1 });
      });
      await assert.rejects(sent, StoreUnavailable);
      await writer.putBlock(EAST, block(6, 21));
    });
    await part.catch(() => undefined);
    await write(store, (writer) => writer.putBlock(EAST, block(7, 22)));
    await client.query('drop trigger delay on bar_blocks; insert into bar_blocks select * from late');
    assert.equal(await cellOf('select count(*)::int from bar_blocks where run_id = 20'), 2);
    assert.deepEqual(await runsOf(store, WEST), [9]);
    await store.close();
  });

  test('the blocks of a failed write are removed by the next one where a worker was away at its end', async () => {
    const store = await openStore(url, 'write');
    const failing = write(store, async (writer) => {
      await writer.putBlock(WEST, block(4, 10));
      // What was put is stored.
      await writer.blocks({ seriesId: WEST, fromBucket: 4, toBucket: 4, direction: 'asc', limit: 1 });
      await refuseDeletes(client);
      throw new Error('the file is damaged');
    });
    await assert.rejects(failing, /the file is damaged/);
    assert.equal(await cellOf('select count(*)::int from bar_blocks where run_id = 10'), 1);
    await assert.rejects(
      write(store, async () => undefined),
      /the worker is away/,
    );
    await client.query('drop trigger refuse on bar_blocks');
    await write(store, (writer) => writer.putBlock(WEST, block(5, 11)));
    assert.equal(await cellOf('select count(*)::int from bar_blocks where run_id = 10'), 0);
    assert.deepEqual(await runsOf(store, WEST), [9, 11]);
    await store.close();
  });

  test('long reads go on where replaced blocks cannot be removed because a worker is away', async () => {
    const store = await openStore(url, 'write');
    await write(store, (writer) => writer.putBlock(WEST, block(3, 12)));
    await client.query(`update published_versions set published_at = now() - interval '1 hour'`);
    await refuseDeletes(client);
    await assert.rejects(
      write(store, async () => undefined),
      /the worker is away/,
    );
    const reading = await openStore(url, 'read');
    assert.deepEqual(await runsOf(reading, WEST), [12, 11]);
    await client.query('drop trigger refuse on bar_blocks');
    await Promise.all([reading.close(), store.close()]);
  });
});

/** Lets no block be removed, as where a worker is away. */
const refuseDeletes = (client: pg.Client): Promise<unknown> =>
  client.query(`create or replace function refuse() returns trigger as
      $$ begin raise exception 'the worker is away' using errcode = '08006'; end $$ language plpgsql;
    create trigger refuse before delete on bar_blocks for each statement execute function refuse()`);
