// What a store holds, read by its file alone: for tests that hold an import to changing nothing, or the right thing.
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { decodeBlock, wholeBlock } from '../src/bars/block-reader.ts';

type Cells = Readonly<Record<string, unknown>>;

const plain = (cell: unknown): unknown =>
  cell instanceof Uint8Array ? createHash('sha256').update(cell).digest('hex') : cell;

/** Every row of every table, blobs as hashes: equal for stores of equal content. */
export function contentOf(path: string): Readonly<Record<string, readonly Cells[]>> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = database
      .prepare("select name from sqlite_master where type = 'table' order by name")
      .all();
    return Object.fromEntries(
      tables.map(({ name }) => {
        const rows = database.prepare(`select * from "${String(name)}"`).all();
        const cells = rows.map((row) =>
          Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, plain(cell)])),
        );
        return [String(name), cells.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
      }),
    );
  } finally {
    database.close();
  }
}

/** Rows of a query on the store's file. */
export function rowsOf(path: string, sql: string): Cells[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** One stored bar: its key in minutes' notation, then open, high, low, close, volume, vwap; null where there is none. */
export type StoredBar = readonly [key: string, ...values: (number | null)[]];

/** The stored bars of every series in order, by `stock:US:A:1M`. */
export function barsOf(path: string): Record<string, StoredBar[]> {
  const found: Record<string, StoredBar[]> = {};
  const blocks = rowsOf(
    path,
    `select asset_schema || ':' || country_iso_code || ':' || symbol || ':' || series.interval as name, bytes
      from bar_blocks join series using (series_id) join instruments using (instrument_id) order by name, bucket`,
  );
  for (const { name, bytes } of blocks) {
    const bars = decodeBlock(bytes as Uint8Array, wholeBlock);
    if (bars.count > 0) found[String(name)] ??= [];
    for (let at = 0; at < bars.count; at++) {
      const values = [bars.open, bars.high, bars.low, bars.close, bars.volume, bars.vwap].map((column) =>
        Number.isNaN(column[at]) ? null : column[at]!,
      );
      found[String(name)]!.push([new Date(bars.keyMs[at]!).toISOString().slice(0, 16), ...values]);
    }
  }
  return found;
}
