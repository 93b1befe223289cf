// The damaged blocks of a series: how many bars each had, how it is named, and the command that deletes its
// bars.

import { blockCount } from '../bars/block-reader.ts';
import { bucketDays } from '../bars/bucket.ts';
import { DAY_MS, formatDay, formatInstantZ, MINUTE_MS } from '../base/instant.ts';
import { shellWord } from '../base/shell-word.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import type { series as seriesDataset } from '../datasets/bars.ts';
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import { blockChanges, heldBars } from '../datasets/internal.ts';
import type { InstrumentName } from '../datasets/reference.ts';
import { bucketWords } from '../series/damaged-bars.ts';
import { allBlocks, everyBucket } from '../store/all-blocks.ts';
import { collectRows } from '../store/all-rows.ts';
import { forgetEarlier } from '../store/changes.ts';
import { DamagedData } from '../store/damage.ts';
import type { Reader, Writer } from '../store/store.ts';

type SeriesRow = Pick<RowOf<typeof seriesDataset>, 'series_id' | 'interval' | 'bar_count'>;

/**
 * One damaged block. `count` is the number of its bars; null where several blocks are damaged and their
 * headers do not tell.
 */
export type LostBlock = { readonly bucket: number; readonly runId: number; readonly count: number | null };

/** The damaged blocks of a series by bucket, and how many bars they have together. */
export type LostBlocks = { readonly blocks: ReadonlyMap<number, LostBlock>; readonly total: number };

/**
 * Finds the damaged blocks of a series. Its row counts all bars, so those of the damaged blocks are what the
 * others lack.
 */
export async function lostBlocks(reader: Reader, { series_id, bar_count }: SeriesRow): Promise<LostBlocks> {
  const claimed = new Map<number, { runId: number; bars: number }>();
  const sound = reader.sound((damage, { bars = 0 }) => {
    if (damage.block === undefined) throw new DamagedData(damage);
    // A block that was read has its run.
    claimed.set(damage.block.bucket, { runId: damage.block.runId!, bars });
  });
  let total = bar_count;
  const read = { seriesId: series_id, ...everyBucket, direction: 'asc' } as const;
  for await (const { bytes } of allBlocks(sound, read)) total -= blockCount(bytes);
  const claimedBars = claimed.values().reduce((sum, { bars }) => sum + bars, 0);
  const countOf = (bars: number): number | null =>
    claimed.size === 1 ? total : claimedBars === total ? bars : null;
  const blocks = [...claimed].map(([bucket, { runId, bars }]) => ({ bucket, runId, count: countOf(bars) }));
  return { blocks: new Map(blocks.map((block) => [block.bucket, block])), total };
}

/** The first and the last key that a bar of a bucket can have; null where the bucket is all time. */
export function keysOfBucket(interval: Interval, bucket: number): { firstMs: number; lastMs: number } | null {
  const days = bucketDays(interval);
  if (days === null) return null;
  const stepMs = intervalMinutes(interval) === null ? DAY_MS : MINUTE_MS;
  return { firstMs: bucket * days * DAY_MS, lastMs: (bucket + 1) * days * DAY_MS - stepMs };
}

/** The command that deletes the bars of whole blocks, from the first bucket to the last. */
export function deletionOfBlocks(
  name: InstrumentName,
  interval: Interval,
  buckets: Iterable<number>,
): string {
  const { asset_schema, country_iso_code, symbol } = name;
  const all = [...buckets];
  const first = keysOfBucket(interval, Math.min(...all));
  const last = keysOfBucket(interval, Math.max(...all));
  const text = (ms: number): string =>
    intervalMinutes(interval) === null ? formatDay(ms / DAY_MS) : formatInstantZ(ms);
  const range =
    first === null || last === null ? '' : ` --from ${text(first.firstMs)} --to ${text(last.lastMs)}`;
  return `bourse delete bars --schema ${asset_schema} --country ${country_iso_code} --symbol ${shellWord(symbol)} --interval ${interval}${range}`;
}

/** A damaged block in words: its days, and the run that imported it. */
export const lostBlockWords = (interval: Interval, { bucket, runId }: LostBlock): string =>
  `${bucketWords(interval, bucket)}, imported by run ${runId}`;

/**
 * Forgets what runs changed in a block whose bars cannot be read: none of it can be undone, or read as it
 * was, any more.
 */
export async function forgetBlock(writer: Writer, series_id: number, bucket: number): Promise<void> {
  await forgetEarlier(writer);
  for (const dataset of [blockChanges, heldBars] as readonly Dataset[]) {
    const damaged: { series_id: number; bucket: number; run_id: number }[] = [];
    const sound = writer.sound((_, { row }) => {
      if (row !== undefined) damaged.push({ series_id, bucket, run_id: row.run_id as number });
    });
    await writer.remove(dataset, await collectRows(sound, dataset, { series_id, bucket }));
    await writer.remove(dataset, damaged);
  }
}
