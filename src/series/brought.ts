// The bars that runs brought to a block: changed ones, and ones that were stored already
// (docs/decisions/0009).
import type { Interval } from '../contract/interval.ts';
import { bucketOf } from '../market/bars/block.ts';
import { type Bars, emptyBars, indexOfKey, lowerBound, mergeBars } from '../market/bars/columns.ts';
import { rowsInOrder, rowWith } from '../store/all-rows.ts';
import { type BlockChange, decodeChange, decodeHeld } from '../store/journal-entries.ts';
import { barsIn, pastBlocks } from '../store/past/past-blocks.ts';
import { blockChanges, heldBars } from '../store/schema/internal.ts';
import type { Direction, Reader } from '../store/store.ts';

/** The bars that a run has of a block. */
export type Brought = {
  readonly change: BlockChange;
  /** Those that were stored already: their values mean nothing. */
  readonly held: Bars;
};

/** Entries of the journal read at a time. */
const ENTRIES_PER_READ = 32;

const none = emptyBars();
const unchanged: BlockChange = { added: none, before: none };

/** True if a change adds, replaces or removes a bar. */
export const changesBars = ({ added, before }: BlockChange): boolean =>
  added === null || added.count + before.count > 0;

/** True if some bars include one of a key. */
export const hasBar = (bars: Bars, keyMs: number): boolean => indexOfKey(bars, keyMs) >= 0;

/** True if a change adds, replaces or removes the bar of a key. */
export const changesBar = ({ added, before }: BlockChange, keyMs: number): boolean =>
  added === null || hasBar(added, keyMs) || hasBar(before, keyMs);

/**
 * The bars that each run brought to a block, in the order of the runs; with `afterRun` only the runs after
 * it.
 */
export async function* broughtBy(
  reader: Reader,
  { series_id, bucket }: { readonly series_id: number; readonly bucket: number },
  direction: Direction,
  afterRun?: number,
): AsyncGenerator<Brought & { readonly runId: number }> {
  const read = {
    where: { series_id, bucket },
    ...(afterRun !== undefined && { range: { from: afterRun + 1 } }),
    order: [['run_id', direction] as const],
    limit: ENTRIES_PER_READ,
  };
  const [changes, holds] = [rowsInOrder(reader, blockChanges, read), rowsInOrder(reader, heldBars, read)];
  let [change, hold] = [await changes.next(), await holds.next()];
  const runOf = (next: typeof change | typeof hold): number | null => (next.done ? null : next.value.run_id);
  const first = direction === 'asc' ? Math.min : Math.max;
  while (!change.done || !hold.done) {
    const runId = first(runOf(change) ?? runOf(hold)!, runOf(hold) ?? runOf(change)!);
    let brought: Brought = { change: unchanged, held: none };
    if (runOf(change) === runId) {
      brought = { ...brought, change: decodeChange(change.value!) };
      change = await changes.next();
    }
    if (runOf(hold) === runId) {
      brought = { ...brought, held: decodeHeld(hold.value!) };
      hold = await holds.next();
    }
    yield { runId, ...brought };
  }
}

/** The bars that one run has brought to a block; null where the journal has nothing of it. */
export async function broughtIn(
  reader: Reader,
  place: { readonly series_id: number; readonly bucket: number; readonly run_id: number },
): Promise<Brought | null> {
  const change = await rowWith(reader, blockChanges, place);
  const held = await rowWith(reader, heldBars, place);
  if (change === null && held === null) return null;
  return { change: change === null ? unchanged : decodeChange(change), held: decodeHeld(held) };
}

/** The bars of a bucket that a run holds: of those that were stored already the values mean nothing. */
async function barsOfRun(reader: Reader, runId: number, series_id: number, bucket: number): Promise<Bars> {
  const brought = await broughtIn(reader, { series_id, bucket, run_id: runId });
  if (brought === null) return none;
  const { added, before } = brought.change;
  if (added === null) {
    // The run has made the block: all that it left there is its own.
    const read = {
      seriesId: series_id,
      fromBucket: bucket,
      toBucket: bucket,
      direction: 'asc',
      limit: 1,
    } as const;
    const [block] = await pastBlocks(reader, read, runId);
    return block === undefined ? none : barsIn(series_id, block);
  }
  return mergeBars(mergeBars(added, before), brought.held);
}

/** The keys of the bars in a range, ascending, that a file has of a series. */
export async function keysOfRun(
  reader: Reader,
  { run_id, interval }: { readonly run_id: number; readonly interval: Interval },
  seriesId: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<number[]> {
  const keys: number[] = [];
  for (let bucket = bucketOf(interval, fromMs); bucket <= bucketOf(interval, toMs - 1); bucket++) {
    const bars = await barsOfRun(reader, run_id, seriesId, bucket);
    keys.push(...bars.keyMs.subarray(lowerBound(bars, fromMs), lowerBound(bars, toMs)));
  }
  return keys;
}
