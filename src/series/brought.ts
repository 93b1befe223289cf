// The bars that runs brought to a block: changed ones, and ones that were stored already
// (docs/decisions/0009).
import type { Interval } from '../contract/interval.ts';
import { bucketOf } from '../market/bars/block.ts';
import { type Bars, emptyBars, indexOfKey, lowerBound, mergeBars } from '../market/bars/columns.ts';
import { rowsInOrder, rowWith } from '../store/all-rows.ts';
import { refuseDamage } from '../store/damage.ts';
import {
  type BlockChange,
  barsIn,
  decodeChange,
  decodeHeld,
  lostEntry,
  pastBlocks,
} from '../store/journal-entries.ts';
import type { Dataset } from '../store/schema/dataset.ts';
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
    const [changed, held] = [runOf(change) === runId, runOf(hold) === runId];
    const entry = changed ? decodeChange(change.value!) : unchanged;
    yield { runId, change: entry, held: decodeHeld(held ? hold.value : null) };
    if (changed) change = await changes.next();
    if (held) hold = await holds.next();
  }
}

/** What an entry of the journal is about. */
type Place = { readonly series_id: number; readonly bucket: number; readonly run_id: number };

/** The bars that one run has brought to a block; null where the journal has nothing of it. */
export async function broughtIn(reader: Reader, place: Place): Promise<Brought | null> {
  const change = await rowWith(reader, blockChanges, place);
  const held = await rowWith(reader, heldBars, place);
  if (change === null && held === null) return null;
  return { change: change === null ? unchanged : decodeChange(change), held: decodeHeld(held) };
}

/**
 * Refuses what a run brought to a block where the table has lost an entry that is in the index of runs, which
 * is read alone. @throws DamagedData
 */
async function refuseLost(reader: Reader, of: Dataset, { series_id, bucket, run_id }: Place): Promise<void> {
  const [from, after] = await Promise.all(
    [bucket, bucket + 1].map((least) => reader.count(of, { run_id, series_id }, { bucket: least })),
  );
  if (from !== after) refuseDamage(lostEntry(of, series_id, bucket, run_id));
}

/** The bars of a bucket that a run holds: of those that were stored already the values mean nothing. */
async function barsOfRun(reader: Reader, place: Place): Promise<Bars> {
  const { series_id, bucket, run_id } = place;
  const { change, held } = (await broughtIn(reader, place)) ?? { change: unchanged, held: none };
  if (change.added === null) {
    // The run has made the block: all that it left there is its own.
    const one = { fromBucket: bucket, toBucket: bucket, direction: 'asc', limit: 1 } as const;
    const [block] = await pastBlocks(reader, { seriesId: series_id, ...one }, run_id);
    return block === undefined ? none : barsIn(series_id, block);
  }
  if (change === unchanged) await refuseLost(reader, blockChanges, place);
  if (held.count === 0) await refuseLost(reader, heldBars, place);
  return mergeBars(mergeBars(change.added, change.before), held);
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
    const bars = await barsOfRun(reader, { series_id: seriesId, bucket, run_id });
    keys.push(...bars.keyMs.subarray(lowerBound(bars, fromMs), lowerBound(bars, toMs)));
  }
  return keys;
}
