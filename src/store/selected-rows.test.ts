// Rows of a selection, however many there are behind one place of an index.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { TestFolder } from '../../test/stores.ts';
import { openStore } from './engines.ts';
import type { RowOf } from './schema/dataset.ts';
import { optionContracts } from './schema/options.ts';
import { selectedRows } from './selected-rows.ts';

type Contract = RowOf<typeof optionContracts>;

const temporary = new TestFolder();
after(() => temporary.close());

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
