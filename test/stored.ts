// Bars as a store holds them, read past the service: for tests that hold an import to changing nothing, or
// the right thing.
import { decodeBlock, wholeBlock } from '../src/market/bars/block.ts';
import { rowsOf } from './stores.ts';

/**
 * One stored bar: its key in minutes' notation, then open, high, low, close, volume, vwap; null where there
 * is none.
 */
export type StoredBar = readonly [key: string, ...values: (number | null)[]];

/** The stored bars of every series in order, by `stock:US:A:1M`. */
export function barsOf(url: string): Record<string, StoredBar[]> {
  const found: Record<string, StoredBar[]> = {};
  const blocks = rowsOf(
    url,
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
