// What a deletion reads: each row that it deletes costs as much among many as among few.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { deleteRows } from '../src/runs/delete-rows.ts';
import { openStore } from '../src/store/engines.ts';
import { optionContracts } from '../src/store/schema/options.ts';
import type { Reader, Store, Writer } from '../src/store/store.ts';
import { type FileRow, fillStore } from './importing.ts';
import { TestFolder } from './stores.ts';

const temporary = new TestFolder();
after(() => temporary.close());

type Counts = { reads: number; rows: number };

/** The writer itself; `counts` has its reads of rows, and the rows that they gave. */
function counted<W extends Reader>(writer: W, counts: Counts): W {
  const rows = async (...read: Parameters<Reader['rows']>) => {
    const found = await writer.rows(...read);
    counts.reads++;
    counts.rows += found.length;
    return found;
  };
  const counting: Record<string | symbol, unknown> = { rows };
  return new Proxy(writer, {
    get(target, name) {
      const value = counting[name] ?? Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const contracts = (count: number): FileRow[] =>
  Array.from({ length: count }, (_, at) => ({
    country_iso_code: 'US',
    symbol: `ACORN240621C${String((at + 1) * 1_000).padStart(8, '0')}`,
    parent_asset_schema: 'stock',
    underlying_name: 'ACORN',
    option_type: 'call',
    strike_price: at + 1,
    expiration_date: '2024-06-21',
  }));

/** What the deletion of so many option contracts reads. */
async function readsOf(count: number): Promise<Counts> {
  const url = temporary.storeUrl(String(count));
  const acorn = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'ACORN' };
  await fillStore(url, temporary.folder, Date.now(), [
    ['instruments', [acorn]],
    ['option-contracts', contracts(count)],
  ]);
  const store = await openStore(url, 'write');
  const counts = { reads: 0, rows: 0 };
  const write: Store['write'] = (work, onWait) =>
    store.write((writer) => work(counted<Writer>(writer, counts)), onWait);
  const flags = { '--country': 'US', '--symbol': 'ACORN' };
  const request = { dataset: optionContracts, flags, words: 'US:ACORN', dryRun: false, nowMs: Date.now };
  const report = await deleteRows({ ...store, write }, request);
  await store.close();
  assert.deepEqual([report.rowsDeleted, report.instrumentsDeleted], [count, count]);
  return counts;
}

test('a deletion of three times as many option contracts reads three times as much', async () => {
  const [few, many] = [await readsOf(40), await readsOf(120)];
  for (const what of ['reads', 'rows'] as const)
    assert.ok(many[what] <= 3 * few[what], `${few[what]} ${what} for 40, ${many[what]} for 120`);
  assert.ok(few.rows >= 40, 'the rows were read through the counter');
});
