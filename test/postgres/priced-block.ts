// A block with one bar, for tests that tell blocks apart by a price.
import { encodeBlock } from '../../src/market/bars/block-writer.ts';
import { emptyBars, reserve } from '../../src/market/bars/columns.ts';
import type { StoredBlock } from '../../src/store/store.ts';

/** A block of a bucket with one bar of a price. */
export function blockOf(bucket: number, price: number): StoredBlock {
  const bars = emptyBars();
  reserve(bars, 1);
  bars.keyMs[0] = bucket * 86_400_000;
  for (const column of ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const) bars[column][0] = price;
  bars.count = 1;
  return { bucket, runId: 1, bytes: encodeBlock(bars).slice() };
}
