// The entries of the journal as they are stored: what runs found before they changed blocks and rows; and by
// them blocks of bars as they were before later runs changed them (docs/decisions/0009).
import { decodeBlock, wholeBlock } from '../market/bars/block.ts';
import { type Bars, emptyBars, filterBars, indexOfKey, mergeBars } from '../market/bars/columns.ts';
import { type OpenedBlock, openBlock } from './all-blocks.ts';
import { rowsInOrder, rowWith } from './all-rows.ts';
import { type Damage, refuseDamage } from './damage.ts';
import type { Dataset, RowOf, Values } from './schema/dataset.ts';
import { blockChanges, type heldBars, importRuns, type rowChanges } from './schema/internal.ts';
import type { BlockRead, Reader, StoredBlock } from './store.ts';

type Entry = RowOf<typeof blockChanges>;

/** Entries of the journal read at a time. */
const ENTRIES_PER_READ = 64;

/** The bars that a run found, where it left some. */
function before(left: Bars, entry: Entry): Bars {
  const { added, before: found } = decodeChange(entry);
  if (added === null) return emptyBars();
  const stays = filterBars(left, (at) => indexOfKey(added, left.keyMs[at]!) < 0);
  return mergeBars(stays, found);
}

/**
 * What later runs changed in one bucket, in the order of the journal; and the last run before them, 0 where
 * there is none.
 */
type Changed = { readonly later: Entry[]; runId: number };

/**
 * The changed buckets of a read, in its direction, up to the last one that it needs: `isEnough` is asked of
 * each, with the number before it.
 */
async function changedBuckets(
  reader: Reader,
  { seriesId, fromBucket, toBucket, direction }: BlockRead,
  lastRun: number,
  isEnough: (bucket: number, changed: number) => boolean,
): Promise<ReadonlyMap<number, Changed>> {
  const buckets = new Map<number, Changed>();
  for await (const entry of rowsInOrder(reader, blockChanges, {
    where: { series_id: seriesId },
    range: { from: fromBucket, to: Math.min(toBucket, Number.MAX_SAFE_INTEGER - 1) + 1 },
    order: [
      ['bucket', direction],
      ['run_id', direction],
    ],
    limit: ENTRIES_PER_READ,
  })) {
    const { bucket, run_id } = entry;
    let changed = buckets.get(bucket);
    if (changed === undefined) {
      const given = buckets.values().reduce((count, { later }) => count + Number(later.length > 0), 0);
      if (isEnough(bucket, given)) break;
      changed = { later: [], runId: 0 };
      buckets.set(bucket, changed);
    }
    if (run_id > lastRun) changed.later.push(entry);
    else changed.runId = Math.max(changed.runId, run_id);
  }
  return buckets;
}

/**
 * Refuses a block without the entry of the run that it names, which was the last to change it. One that was
 * undone has none. @throws DamagedData
 */
async function refuseLost(reader: Reader, seriesId: number, bucket: number, run_id: number): Promise<void> {
  const run = await rowWith(reader, importRuns, { run_id });
  if (run !== null && run.undone_ms === null) refuseDamage(lostEntry(blockChanges, seriesId, bucket, run_id));
}

/** The bars of a block that is as it was stored, or was made of that. @throws DamagedData */
export const barsIn = (seriesId: number, block: StoredBlock | OpenedBlock): Bars =>
  'bars' in block ? block.bars : openBlock(seriesId, block).bars;

/**
 * The blocks of a read as run `lastRun` left them: with their bars where it left others than are stored. One
 * whose bars all came later has none.
 */
export async function pastBlocks(
  reader: Reader,
  read: BlockRead,
  lastRun: number,
): Promise<(StoredBlock | OpenedBlock)[]> {
  const present = await reader.blocks(read);
  const blocks = new Map<number, StoredBlock | OpenedBlock>(present.map((block) => [block.bucket, block]));
  const sign = read.direction === 'asc' ? 1 : -1;
  const last = present.length < read.limit ? undefined : present.at(-1)!.bucket;
  // Beyond the last present block of a full read, or beyond enough changed ones, there is nothing to give.
  const isEnough = (bucket: number, changed: number): boolean =>
    changed >= read.limit || (last !== undefined && sign * (bucket - last) > 0);
  const changed = await changedBuckets(reader, read, lastRun, isEnough);
  for (const { bucket, runId } of present)
    if (runId > lastRun && !changed.get(bucket)?.later.some(({ run_id }) => run_id === runId))
      await refuseLost(reader, read.seriesId, bucket, runId);
  for (const [bucket, { later, runId }] of changed) {
    if (later.length === 0) continue;
    const block = blocks.get(bucket);
    const left = block === undefined ? emptyBars() : barsIn(read.seriesId, block);
    const newestFirst = later.sort((a, b) => b.run_id - a.run_id);
    blocks.set(bucket, { bucket, runId, bars: newestFirst.reduce(before, left) });
  }
  return [...blocks.values()].sort((a, b) => sign * (a.bucket - b.bucket)).slice(0, read.limit);
}

/** The bars of a block that a run changed, by their state before it. */
export type BlockChange = {
  /**
   * Bars that the run added: their values mean nothing. Null: the run added the block, so it added every bar.
   */
  readonly added: Bars | null;
  /** Bars that the run replaced or removed, as they were. */
  readonly before: Bars;
};

const none = emptyBars();

/** The damage of a block whose entry of a run is lost; without a number it is not known of which. */
export const lostEntry = ({ name }: Dataset, seriesId: number, bucket: number, runId?: number): Damage => ({
  dataset: name,
  place: `block ${bucket} of series ${seriesId}`,
  problem: `the entry of ${runId === undefined ? 'a run' : `run ${runId}`} is lost`,
});

/** The change that a stored entry has. */
export function decodeChange({ added, before }: RowOf<typeof blockChanges>): BlockChange {
  return {
    added: added === null ? null : decodeBlock(added, wholeBlock),
    before: before === null ? none : decodeBlock(before, wholeBlock),
  };
}

/** The bars that a stored entry says were held: their values mean nothing. */
export const decodeHeld = (entry: RowOf<typeof heldBars> | null | undefined): Bars =>
  entry == null ? none : decodeBlock(entry.keys, wholeBlock);

/** The key under which the journal keeps a row. */
export const rowKeyOf = (dataset: Dataset, row: Values): string =>
  JSON.stringify(dataset.key.map((column) => row[column]));

/** The values of such a key, by column. */
export function valuesOfKey(dataset: Dataset, rowKey: string): Record<string, string | number> {
  const values = JSON.parse(rowKey) as (string | number)[];
  return Object.fromEntries(dataset.key.map((column, index) => [column, values[index]!]));
}

/**
 * The row of an entry; null where there was none. An older program's lacks the columns that were added since.
 */
export function rowBefore(
  dataset: Dataset,
  { before }: Pick<RowOf<typeof rowChanges>, 'before'>,
): RowOf<Dataset> | null {
  if (before === null) return null;
  const cells = Object.entries(dataset.columns).map(([column, { kind }]) => {
    const value = (before as Values)[column] ?? null;
    return [column, kind === 'bytes' && value !== null ? Buffer.from(value as string, 'base64') : value];
  });
  return Object.fromEntries(cells) as RowOf<Dataset>;
}
