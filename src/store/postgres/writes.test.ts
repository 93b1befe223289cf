// Writes to PostgreSQL, past what every engine is asked: what is read beside a write on its way, and what
// failed statements leave.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { CuttableWay } from '../../../test/postgres/cutting.ts';
import { openDatabase, type PostgresDatabase, skip } from '../../../test/postgres/server.ts';
import { addQuotaUses } from '../control.ts';
import { openControl, openStore } from '../engines.ts';
import { storeLimits } from '../limits.ts';
import type { RowOf } from '../schema/dataset.ts';
import { counters, secrets } from '../schema/internal.ts';
import { optionContracts } from '../schema/options.ts';
import { type BlockRead, type Store, type StoredBlock, StoreUnavailable, type Writer } from '../store.ts';

let server: PostgresDatabase;
let made = 0;
before(async () => {
  if (skip === false) server = await openDatabase();
});
after(async () => {
  if (skip === false) await server.stop();
});

const freshUrl = (): string => `${server.url}?schema=s${made++}`;

/** Runs a test on a new store. */
async function withStore(work: (store: Store, url: string) => Promise<void>): Promise<void> {
  const url = freshUrl();
  const store = await openStore(url, 'write');
  try {
    await work(store, url);
  } finally {
    await store.close();
  }
}

const contractOf = (symbol: string): RowOf<typeof optionContracts> => {
  const blank = Object.entries(optionContracts.columns).map(([column, { kind, ...rest }]) => [
    column,
    'nullable' in rest ? null : kind === 'text' ? '' : 0,
  ]);
  const row = Object.fromEntries(blank) as RowOf<typeof optionContracts>;
  return { ...row, country_iso_code: 'US', symbol };
};

/** So many that they are sent at once. */
const contracts = Array.from({ length: storeLimits.rowsPerUpsertMax }, (_, at) => contractOf(`O${at}`));

test('a write reads rows that are on their way', { skip }, () =>
  withStore(async (store) => {
    const counts = await store.write(async (writer) => {
      const written = writer.upsert(optionContracts, contracts);
      const counted = await writer.count(optionContracts);
      await written;
      return [counted, await writer.count(optionContracts)];
    });
    assert.deepEqual(counts, [contracts.length, contracts.length]);
  }),
);

test(
  'a row that is removed while it is on its way is gone, and one that is written again stays',
  { skip },
  () =>
    withStore(async (store) => {
      const name = { country_iso_code: 'US', symbol: 'O1' };
      const removed = await store.write(async (writer) => {
        await Promise.all([
          writer.upsert(optionContracts, contracts),
          writer.remove(optionContracts, [name]),
        ]);
        return writer.count(optionContracts);
      });
      assert.equal(removed, contracts.length - 1);
      const again = contracts.map((row) => ({ ...row, underlying_name: 'B' }));
      const found = await store.write(async (writer) => {
        const order = [['symbol', 'asc']] as const;
        const first = writer.upsert(optionContracts, contracts);
        const second = writer.upsert(optionContracts, again);
        const read = writer.rows(optionContracts, { where: name, order, limit: 1 });
        await Promise.all([first, second]);
        return read;
      });
      assert.deepEqual(
        found.map((row) => row.underlying_name),
        ['B'],
      );
    }),
);

/** A statement that PostgreSQL refuses, and whose refusal is ignored. */
async function fail(writer: Pick<Writer, 'upsert' | 'count'>): Promise<void> {
  await writer.upsert(counters, [{ name: 'a\0b', value: 1 }]).catch(() => undefined);
  await writer.count(counters).catch(() => undefined);
}

test('a write in which a statement failed is no success, even where its error was ignored', { skip }, () =>
  withStore(async (store) => {
    await assert.rejects(store.write(fail), /0x00/);
    await store.write((writer) => writer.upsert(counters, [{ name: 'a', value: 1 }]));
    assert.equal(await store.snapshot((reader) => reader.count(counters, { name: 'a' })), 1);
  }),
);

test('the same of a write to the control tables', { skip }, async () => {
  const control = await openControl(freshUrl(), 'write');
  const failed = control.write(async (writer) => {
    await writer.upsert(secrets, [{ name: 'kept', value: new Uint8Array(1) }]);
    await writer.count(secrets);
    await writer.upsert(secrets, [{ name: 'a\0b', value: new Uint8Array(1) }]);
    await assert.rejects(writer.count(secrets));
  });
  await assert.rejects(failed, /0x00/);
  assert.equal(await control.snapshot((reader) => reader.count(secrets)), 0);
  await control.close();
});

test('writes of two processes to the control tables wait for each other, and none is lost', {
  skip,
}, async () => {
  const url = freshUrl();
  const controls = [await openControl(url, 'write'), await openControl(url, 'write')];
  const use = { key_id: 'key', span: 'day', from_ms: 0, used: 1 } as const;
  const add = (at: number, used: number) => addQuotaUses(controls[at % 2]!, [{ ...use, used }], () => 0);
  await Promise.all(Array.from({ length: 20 }, (_, at) => add(at, 1)));
  const [total] = await add(0, 0);
  assert.equal(total!.used, 20);
  for (const control of controls) await control.close();
});

const block = (bucket: number, runId = 1): StoredBlock => ({
  bucket,
  runId,
  bytes: new Uint8Array([bucket]),
});
const everyBlock: BlockRead = { seriesId: 1, fromBucket: 0, toBucket: 99, direction: 'asc', limit: 99 };

/** The blocks of a store: their buckets, and the runs that wrote them. */
const blocksOf = (store: Store): Promise<string> =>
  store.snapshot(async (reader) =>
    (await reader.blocks(everyBlock)).map(({ bucket, runId }) => `${bucket} of ${runId}`).join(),
  );

/** Runs a statement on the schema of a store, past the service. */
async function ask(url: string, sql: string): Promise<Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query(`set search_path to ${/schema=(\w+)/.exec(url)![1]}`);
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Versions of blocks at one place: more than a read takes at once beside those of its answer. */
const MANY = 120;

const partsThatFail = async (writer: Writer): Promise<void> => {
  for (let part = 0; part < MANY; part++) {
    const failing = writer.savepoint(async () => {
      await writer.putBlock(1, block(3, 9));
      await writer.putBlock(1, { bucket: 5, bytes: null });
      await writer.blocks(everyBlock);
      throw new Error('this part is wrong');
    });
    await assert.rejects(failing, /this part is wrong/);
  }
};

test('parts that were undone inside a write are seen by nobody, and end no read early', { skip }, () =>
  withStore(async (store, url) => {
    await store.write(async (writer) => {
      for (const bucket of [1, 3, 5]) await writer.putBlock(1, block(bucket));
    });
    const during = await store.write(async (writer) => {
      await partsThatFail(writer);
      await writer.putBlock(1, block(7, 2));
      return (await writer.blocks(everyBlock)).map(({ bucket, runId }) => `${bucket} of ${runId}`).join();
    });
    assert.equal(during, '1 of 1,3 of 1,5 of 1,7 of 2');
    assert.equal(await blocksOf(store), during);
    const [left] = await ask(url, 'select count(*)::int, max(run_id)::int from bar_blocks');
    assert.deepEqual(left, { count: 4, max: 2 });
  }),
);

test('writes that fail leave no block, and nothing that later reads must look at', { skip }, () =>
  withStore(async (store, url) => {
    await store.write((writer) => writer.putBlock(1, block(1)));
    for (let time = 0; time < 5; time++) {
      const failing = store.write(async (writer) => {
        await writer.putBlock(1, block(1, 9));
        await writer.savepoint(() => writer.putBlock(1, block(2, 9)));
        await writer.blocks(everyBlock);
        throw new Error('stopped');
      });
      await assert.rejects(failing, /stopped/);
      await store.write((writer) => writer.putBlock(1, block(3)));
    }
    assert.equal(await blocksOf(store), '1 of 1,3 of 1');
    const [state] = await ask(url, 'select pending, abandoned::text from store_state');
    assert.deepEqual(state, { pending: null, abandoned: '{}' });
    assert.deepEqual(await ask(url, 'select 1 from bar_blocks where run_id = 9'), []);
  }),
);

test(
  'blocks of a writer that was cut off, however many arrive late, are seen by nobody and end no read early',
  {
    skip,
  },
  () =>
    withStore(async (store, url) => {
      await store.write(async (writer) => {
        for (const bucket of [1, 3, 5]) await writer.putBlock(1, block(bucket));
      });
      const [{ version }] = (await ask(url, 'select version::int from store_state')) as [{ version: number }];
      // As if it had begun many versions, and was killed.
      await ask(url, `update store_state set pending = ${version + MANY}`);
      await store.write((writer) => writer.putBlock(1, block(7, 2)));
      await ask(
        url,
        `insert into bar_blocks select 1, bucket, ${version} + n, 9, null, null from generate_series(1, ${MANY}) as n, (values (1), (3), (9)) as b(bucket)`,
      );
      assert.equal(await blocksOf(store), '1 of 1,3 of 1,5 of 1,7 of 2');
      const backwards = await store.snapshot((reader) =>
        reader.blocks({ ...everyBlock, direction: 'desc', limit: 3 }),
      );
      assert.deepEqual(
        backwards.map(({ bucket }) => bucket),
        [7, 5, 3],
      );
    }),
);

test(
  'blocks of any part of a write that lost their connection are seen by nobody, however late they arrive',
  {
    skip,
  },
  () =>
    withStore(async (store, url) => {
      await store.write((writer) => writer.putBlock(1, block(1)));
      const [{ version }] = (await ask(url, 'select version::int from store_state')) as [{ version: number }];
      const failing = store.write(async (writer) => {
        await writer.putBlock(1, block(1, 9));
        await writer.savepoint(() => writer.putBlock(1, block(2, 9)));
        // All but the one with the lock of the write: that of the blocks is among them.
        await ask(
          url,
          `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'bourse' and datname = current_database()
            and pid not in (select pid from pg_locks where locktype = 'advisory' and granted)`,
        );
        await writer.blocks(everyBlock);
      });
      await assert.rejects(failing, StoreUnavailable);
      await ask(
        url,
        `insert into bar_blocks select 1, bucket, ${version} + bucket, 9, null, null
        from (values (1), (2)) as b(bucket)`,
      );
      await store.write((writer) => writer.putBlock(1, block(3, 2)));
      assert.equal(await blocksOf(store), '1 of 1,3 of 2');
    }),
);

test(
  'replaced blocks stay while a long read goes on, which on several nodes no transaction holds, and then go',
  { skip },
  () =>
    withStore(async (store, url) => {
      await store.write((writer) => writer.putBlock(1, block(1)));
      await store.write((writer) => writer.putBlock(1, block(1, 2)));
      const versions = async (): Promise<number> => (await ask(url, 'select 1 from bar_blocks')).length;
      const reading = await openStore(url, 'read');
      await reading.snapshot(async (reader) => {
        await reader.blocks(everyBlock);
        // As if a minute had passed.
        await ask(
          url,
          `update published_versions set published_at = now() - interval '1 hour' where version >= 0`,
        );
        await store.write(async () => undefined);
        assert.equal(await versions(), 2);
      });
      await store.write(async () => undefined);
      assert.equal(await versions(), 1);
      assert.equal(await blocksOf(reading), '1 of 2');
      await reading.close();
    }),
);

test('a writer whose session was ended puts no block into a version of the next one', { skip }, () =>
  withStore(async (store, url) => {
    const second = await openStore(url, 'write');
    const [isCut, isTakenOver, isDone] = [0, 1, 2].map(() => Promise.withResolvers<void>());
    const first = store.write(async (writer) => {
      await ask(
        url,
        `select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
          where locktype = 'advisory' and granted and objsubid = 2 and datname = current_database()`,
      );
      isCut!.resolve();
      await isTakenOver!.promise;
      await writer.savepoint(async () => undefined).catch(() => undefined);
      await writer.putBlock(1, block(9, 9));
      await writer.blocks(everyBlock).catch(() => undefined);
      isDone!.resolve();
    });
    const failed = assert.rejects(first);
    await isCut!.promise;
    await second.write(async (writer) => {
      await writer.putBlock(1, block(1));
      isTakenOver!.resolve();
      await isDone!.promise;
      await writer.savepoint(() => writer.putBlock(1, block(2)));
    });
    await failed;
    assert.equal(await blocksOf(second), '1 of 1,2 of 1');
    await store.write((writer) => writer.putBlock(1, block(3)));
    assert.equal(await blocksOf(second), '1 of 1,2 of 1,3 of 1');
    await second.close();
  }),
);

for (const cut of ['before', 'after'] as const)
  test(`a write whose connection is lost ${cut} its commit arrives is reported as what became of it`, {
    skip,
  }, async () => {
    const url = freshUrl();
    const way = await CuttableWay.to(server.port);
    const store = await openStore(url.replace(`:${server.port}`, `:${way.port}`), 'write');
    const put = (bucket: number): Promise<void> =>
      store.write(async (writer) => {
        await writer.upsert(counters, [{ name: `${bucket}`, value: bucket }]);
        await writer.savepoint(() => writer.putBlock(1, block(bucket)));
      });
    way.cutAt('commit\0', cut);
    const written = put(1);
    if (cut === 'before') await assert.rejects(written, StoreUnavailable);
    else await written;
    assert.equal(way.cuts, 1);
    const expected = cut === 'before' ? '' : '1 of 1';
    assert.equal(await blocksOf(store), expected);
    await put(2);
    assert.equal(await blocksOf(store), [expected, '2 of 1'].filter(Boolean).join());
    const [counted] = await ask(url, "select count(*)::int from counters where name in ('1', '2')");
    assert.deepEqual(counted, { count: cut === 'before' ? 1 : 2 });
    await store.close();
    way.close();
  });
