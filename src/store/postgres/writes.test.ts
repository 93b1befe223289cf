// Writes to PostgreSQL, past what every engine is asked: what is read beside a write on its way, and what failed statements leave.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PostgresServer, skip, startPostgres } from '../../../test/postgres/server.ts';
import type { RowOf } from '../../datasets/dataset.ts';
import { counters, secrets } from '../../datasets/internal.ts';
import { optionContracts } from '../../datasets/options.ts';
import { openControl, openStore } from '../engines.ts';
import { storeLimits } from '../limits.ts';
import type { Store, Writer } from '../store.ts';

let server: PostgresServer;
let made = 0;
before(async () => {
  if (skip === false) server = await startPostgres();
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
