// Blocks that an import keeps open take bounded memory, whatever is stored in them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { importSeries } from '../../../test/importing.ts';
import { TestFolder } from '../../../test/stores.ts';
import { formatInstant, MINUTE_MS } from '../../base/instant.ts';
import { limits } from '../../contract/limits.ts';
import { openStore } from '../../store/engines.ts';
import type { Store, Writer } from '../../store/store.ts';

const temporary = new TestFolder();
const store = await openStore(temporary.storeUrl(), 'write');
after(async () => {
  await store.close();
  temporary.close();
});

const DAYS = 36;
const DAY_MINUTES = 1_440;
const FIRST_MS = Date.UTC(2024, 0, 1);
const BOUND_BYTES = 1024 * 1024;
/** A day of minutes as numbers in memory: seven columns. */
const DAY_BYTES = DAY_MINUTES * 7 * 8;

const named = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD', interval: '1M' };

function written(name: string, minutes: readonly number[], price: number): string {
  const path = join(temporary.folder, name);
  const rows = minutes.map((minute) => {
    const open = formatInstant(FIRST_MS + minute * MINUTE_MS);
    return [open, price, price, price, price].join();
  });
  writeFileSync(path, ['datetime,open,high,low,close', ...rows, ''].join('\n'));
  return path;
}

/** A writer that reports each method that is called. */
const watched = (writer: Writer, seen: (name: string) => void): Writer =>
  new Proxy(writer, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: readonly unknown[]): unknown => {
        seen(String(name));
        return value.apply(target, given);
      };
    },
  });

test('an import in no order writes its open blocks before those that are stored fill more memory than it may take (contract 11)', async () => {
  const all = Array.from({ length: DAYS * DAY_MINUTES }, (_, minute) => minute);
  await importSeries(store, written('all.csv', all, 1), named);
  let [open, most] = [0, 0];
  const seen = (name: string): void => {
    if (name === 'blocks') open++;
    if (name === 'putBlock') open--;
    most = Math.max(most, open);
  };
  const observing: Store = {
    ...store,
    write: (work, ...rest) => store.write((writer) => work(watched(writer, seen)), ...rest),
  };
  const bounds = limits as { importOpenBytesMax: number };
  const usual = bounds.importOpenBytesMax;
  bounds.importOpenBytesMax = BOUND_BYTES;
  try {
    // One minute of each day, the last day first.
    const descending = Array.from({ length: DAYS }, (_, day) => (DAYS - day) * DAY_MINUTES - 1);
    const report = await importSeries(observing, written('some.csv', descending, 2), named);
    assert.equal(report.rowsWritten, DAYS);
  } finally {
    bounds.importOpenBytesMax = usual;
  }
  assert.ok(most > 1, 'several were open');
  assert.ok(most < (2 * BOUND_BYTES) / DAY_BYTES, `${most} were open`);
});
