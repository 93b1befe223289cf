// A server keeps blocks of a store in PostgreSQL: it never serves an older one than the version that a
// request promises (docs/decisions/0033).
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import pg from 'pg';
import { random } from '../../bench/minutes.ts';
import { decodeBlock } from '../../src/market/bars/block.ts';
import { openStore } from '../../src/store/engines.ts';
import type { BlockRead, Direction, Store, StoredBlock, Writer } from '../../src/store/store.ts';
import { blockOf } from './priced-block.ts';
import { openDatabase, skip } from './server.ts';

const SERIES = 3;
const BUCKETS = 8;

const priceOf = ({ bytes }: StoredBlock): number =>
  decodeBlock(bytes, { fromMs: -Infinity, toMs: Infinity, atLeast: 9, descending: false }).open[0]!;

const readAll = (seriesId: number, direction: Direction = 'asc'): BlockRead => ({
  seriesId,
  fromBucket: 0,
  toBucket: BUCKETS,
  direction,
  limit: 100,
});

/** Prices by bucket, of each series. */
type Prices = readonly ReadonlyMap<number, number>[];

const pricesIn = (store: Store): Promise<number[][][]> =>
  store.snapshot((reader) =>
    Promise.all(
      Array.from({ length: SERIES }, async (_, seriesId) =>
        (await reader.blocks(readAll(seriesId))).map((block) => [block.bucket, priceOf(block)]),
      ),
    ),
  );

const expected = (prices: Prices): number[][][] =>
  prices.map((series) => [...series].sort(([a], [b]) => a - b).map(([bucket, price]) => [bucket, price]));

suite('kept blocks of a store in PostgreSQL', { skip }, async () => {
  if (skip !== false) return;
  const server = await openDatabase();
  after(() => server.stop());

  let made = 0;
  /** Runs `work` with a writer and two servers of a new store. */
  async function withServers(
    work: (writer: Store, servers: readonly [Store, Store], schema: string) => Promise<void>,
  ): Promise<void> {
    const schema = `kept${made++}`;
    const url = `${server.url}?schema=${schema}`;
    const writer = await openStore(url, 'write');
    const servers = [await openStore(url, 'serve'), await openStore(url, 'serve')] as const;
    try {
      await work(writer, servers, schema);
    } finally {
      for (const store of [writer, ...servers]) await store.close();
    }
  }

  test('two servers give what is stored after any write, removal, part that fails and write that fails', () =>
    withServers(async (writer, servers) => {
      const next = random(3);
      const below = (count: number): number => Math.floor(next() * count);
      let stored = Array.from({ length: SERIES }, () => new Map<number, number>());
      for (let round = 0; round < 60; round++) {
        const changed = stored.map((series) => new Map(series));
        const change = async (open: Writer, target: readonly Map<number, number>[]): Promise<void> => {
          for (let count = below(3); count >= 0; count--) {
            const [seriesId, bucket, price] = [below(SERIES), below(BUCKETS), 1 + below(1_000)];
            if (price % 4 === 0) {
              target[seriesId]!.delete(bucket);
              await open.putBlock(seriesId, { bucket, bytes: null });
            } else {
              target[seriesId]!.set(bucket, price);
              await open.putBlock(seriesId, blockOf(bucket, price));
            }
          }
        };
        const fail = async (open: Writer): Promise<void> => {
          await change(
            open,
            stored.map((series) => new Map(series)),
          );
          throw new Error('stopped');
        };
        if (round % 5 === 4) await assert.rejects(writer.write(fail), /stopped/);
        else {
          await writer.write(async (open) => {
            await open.savepoint(() => change(open, changed));
            await assert.rejects(
              open.savepoint(() => fail(open)),
              /stopped/,
            );
            await open.savepoint(() => change(open, changed));
          });
          stored = changed;
        }
        for (const store of servers)
          assert.deepEqual(await pricesIn(store), expected(stored), `round ${round}`);
      }
    }));

  test('who reads after a commit has ended reads that commit or a later one, while many read and one writes', () =>
    withServers(async (writer, servers) => {
      let committed = 0;
      let isOver = false;
      const read = async (store: Store): Promise<number> => {
        let reads = 0;
        for (; !isOver; reads++) {
          const least = committed;
          const [first, second] = await store.snapshot(async (reader) => [
            (await reader.blocks(readAll(0))).map(priceOf),
            (await reader.blocks(readAll(1, 'desc'))).map(priceOf),
          ]);
          assert.deepEqual(first, second, 'both series are of one version');
          assert.ok((first![0] ?? 0) >= least, `${first![0]} was read after ${least}`);
        }
        return reads;
      };
      const reading = servers.flatMap((store) => Array.from({ length: 6 }, () => read(store)));
      for (let price = 1; price <= 60; price++) {
        await writer.write(async (open) => {
          for (const seriesId of [0, 1]) await open.putBlock(seriesId, blockOf(3, price));
        });
        committed = price;
      }
      isOver = true;
      assert.ok((await Promise.all(reading)).every((reads) => reads > 5));
    }));

  test('a snapshot that began before a commit goes on without it', () =>
    withServers(async (writer, [store]) => {
      await writer.write((open) => open.putBlock(0, blockOf(1, 5)));
      await pricesIn(store);
      let runs = 0;
      const prices = await store.snapshot(async (reader) => {
        const before = (await reader.blocks(readAll(0))).map(priceOf);
        if (runs++ === 0) await writer.write((open) => open.putBlock(0, blockOf(2, 6)));
        return [before, (await reader.blocks(readAll(0))).map(priceOf)];
      });
      assert.deepEqual(prices[0], prices[1]);
      assert.deepEqual((await pricesIn(store))[0], [
        [1, 5],
        [2, 6],
      ]);
    }));

  test('a restore to an earlier state is served, and commits after it are not taken for those that it undid', () =>
    withServers(async (writer, [store], schema) => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      try {
        await writer.write((open) => open.putBlock(0, blockOf(1, 5)));
        await client.query(`set search_path to ${schema}`);
        const tables = [
          'bar_blocks',
          'counters',
          'changes',
          'store_state',
          'published_versions',
          'replaced_blocks',
        ];
        for (const table of tables) await client.query(`create table copy_of_${table} as table ${table}`);
        for (const price of [6, 7]) await writer.write((open) => open.putBlock(0, blockOf(1, price)));
        assert.deepEqual((await pricesIn(store))[0], [[1, 7]]);
        await client.query('begin');
        for (const table of tables) {
          await client.query(`delete from ${table}`);
          await client.query(`insert into ${table} table copy_of_${table}`);
        }
        await client.query('commit');
        assert.deepEqual((await pricesIn(store))[0], [[1, 5]]);
        for (const price of [8, 9]) {
          await writer.write((open) => open.putBlock(1, blockOf(1, price)));
          assert.deepEqual((await pricesIn(store)).slice(0, 2), [[[1, 5]], [[1, price]]]);
        }
      } finally {
        await client.end();
      }
    }));
});
