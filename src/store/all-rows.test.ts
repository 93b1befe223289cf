// Reading any number of rows in bounded reads, and rows of a selection, however many there are behind one
// place of an index.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { TestFolder } from '../../test/stores.ts';
import { rowsInOrder } from './all-rows.ts';
import { openStore } from './engines.ts';
import { runSpans } from './schema/bars.ts';
import type { RowOf } from './schema/dataset.ts';
import { optionContracts } from './schema/options.ts';
import { selectedRows } from './selected-rows.ts';
import type { Read, RowReader } from './store.ts';

const temporary = new TestFolder();
after(() => temporary.close());

/** A hundred runs of one market, reaching a millisecond further each. */
const runs = Array.from({ length: 100 }, (_, at) => ({
  run_id: at + 1,
  market: 'stock/US_STOCK',
  interval: 'DAY',
  reach_ms: 1000 + at,
  series_count: 1,
  series: Uint8Array.of(1),
  ...{ kind: 'import', started_ms: 0, sha256: '', command: 1, zone: null },
  ...{ first_ms: null, last_keys: [], from_ms: null, through_ms: null },
}));

test('a read in steps has each row once, and no step begins at the bound where the first one did', async () => {
  const store = await openStore(temporary.storeUrl(), 'write');
  await store.write((writer) => writer.upsert(runSpans, runs));
  for (const direction of ['asc', 'desc'] as const) {
    const reads: Read<typeof runSpans>[] = [];
    const found = await store.snapshot(async (reader) => {
      const rows = (dataset: typeof runSpans, read: Read<typeof runSpans>) => {
        reads.push(read);
        return reader.rows(dataset, read);
      };
      const read = {
        where: { market: 'stock/US_STOCK', interval: 'DAY' },
        range: { from: 1010, to: 1050 },
        order: [['reach_ms', direction] as const, ['run_id', direction] as const],
        limit: 7,
      };
      const ids: number[] = [];
      for await (const { run_id } of rowsInOrder({ rows } as unknown as RowReader, runSpans, read))
        ids.push(run_id);
      return ids;
    });
    const wanted = runs.filter(({ reach_ms: ms }) => ms >= 1010 && ms < 1050).map(({ run_id }) => run_id);
    assert.deepEqual(found, direction === 'asc' ? wanted : wanted.toReversed());
    const [first, ...others] = reads.map(({ range }) => range);
    assert.deepEqual(first, { from: 1010, to: 1050 });
    for (const range of others) assert.deepEqual(range, direction === 'asc' ? { to: 1050 } : { from: 1010 });
  }
  await store.close();
});

type Contract = RowOf<typeof optionContracts>;

/** Contracts of one expiration whose time is not given: more than are read at a time. */
const contracts = Array.from({ length: 1_203 }, (_, strike) => {
  const none = Object.entries(optionContracts.columns).map(([column, of]) => [
    column,
    'nullable' in of ? null : of.kind === 'text' ? '' : 0,
  ]);
  const named = { country_iso_code: 'US', parent_asset_schema: 'stock', underlying_name: 'A' };
  const terms = { option_type: 'call', expiration_date: 20_000, strike_price: strike, instrument_id: strike };
  return { ...Object.fromEntries(none), ...named, ...terms, symbol: `A${strike}` } as Contract;
});

test('all contracts of an expiration are selected where its time is not given, in order (contract 10)', async () => {
  const store = await openStore(temporary.storeUrl(), 'write');
  await store.write((writer) => writer.upsert(optionContracts, contracts));
  const where = { country_iso_code: 'US', parent_asset_schema: 'stock', underlying_name: 'A' };
  const strikes = await store.snapshot(async (reader) => {
    const found: number[] = [];
    for await (const { strike_price } of selectedRows(reader, optionContracts, { where }))
      found.push(strike_price);
    return found;
  });
  assert.deepEqual(
    strikes,
    contracts.map(({ strike_price }) => strike_price),
  );
  await store.close();
});
