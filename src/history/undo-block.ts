// Undoing one run's change of one block, under the changes of later runs (docs/decisions/0009).
import { type Bars, emptyBars, filterBars, indexOfKey, mergeBars } from '../bars/columns.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { blockChanges } from '../datasets/internal.ts';
import type { OpenedBlock } from '../store/all-blocks.ts';
import { collectRows, rowsInOrder } from '../store/all-rows.ts';
import { DamagedData } from '../store/damage.ts';
import { type BlockChange, decodeChange } from '../store/journal-entries.ts';
import type { Writer } from '../store/store.ts';
import { lostBlocks } from './damaged-blocks.ts';
import { blankBars, putChange } from './journal.ts';
import type { StoredSeries } from './stored-series.ts';
import { keysOf } from './unfinished.ts';

/** Entries of later runs read at a time. */
const LATER_PER_READ = 32;

const none = emptyBars();
const has = (bars: Bars, keyMs: number): boolean => indexOfKey(bars, keyMs) >= 0;

/** One change that is being undone: later runs take over the bars that they changed too, the store gets the rest. */
class Reversal {
  kept = 0;
  readonly #change: BlockChange;
  /** Keys that a later run changed: the first such run found what this change left. */
  readonly #named = new Set<number>();

  constructor(change: BlockChange) {
    this.#change = change;
  }

  /** Whether later runs have named every bar of this change. */
  get isSettled(): boolean {
    const { added, before } = this.#change;
    return added !== null && this.kept === added.count + before.count;
  }

  /** A later run's change, as if this one had not been: for a bar that it changed next, it finds what this found. Null: no difference. */
  handTo(later: BlockChange): BlockChange | null {
    const { added, before } = this.#change;
    const laterAdded = this.#firstNamed(later.added ?? none);
    const laterBefore = this.#firstNamed(later.before);
    const gone = filterBars(laterBefore, (at) => added === null || has(added, laterBefore.keyMs[at]!));
    const back = filterBars(
      before,
      (at) => has(laterAdded, before.keyMs[at]!) || has(laterBefore, before.keyMs[at]!),
    );
    this.kept += gone.count + back.count;
    if (added !== null) this.kept += filterBars(added, (at) => has(laterAdded, added.keyMs[at]!)).count;
    if (gone.count + back.count === 0) return null;
    const stillAdded = filterBars(later.added ?? none, (at) => !has(back, later.added!.keyMs[at]!));
    const stillBefore = filterBars(later.before, (at) => !has(gone, later.before.keyMs[at]!));
    return {
      added: mergeBars(
        stillAdded,
        blankBars(gone, () => true),
      ),
      before: mergeBars(stillBefore, back),
    };
  }

  /** The stored bars without this change, how many that removes, and the keys of those that it restores. */
  applyTo(stored: Bars): { bars: Bars; removed: number; restored: readonly number[] } {
    const { added, before } = this.#change;
    const stays = filterBars(stored, (at) => {
      const keyMs = stored.keyMs[at]!;
      return this.#named.has(keyMs) || (added !== null && !has(added, keyMs));
    });
    const back = filterBars(before, (at) => !this.#named.has(before.keyMs[at]!));
    return { bars: mergeBars(stays, back), removed: stored.count - stays.count, restored: keysOf(back) };
  }

  /** The bars of a later run that no run between has named. */
  #firstNamed(bars: Bars): Bars {
    const first = filterBars(bars, (at) => !this.#named.has(bars.keyMs[at]!));
    for (let at = 0; at < first.count; at++) this.#named.add(first.keyMs[at]!);
    return first;
  }
}

/**
 * Undoes an entry of the journal and counts its bars; `restored` are the keys of those that are as before, `kept` counts those that
 * later runs changed too. `keptBy` gets these runs.
 * @throws DamagedData where the block or what a later run changed in it is damaged: nothing was written
 */
export async function undoBlock(
  writer: Writer,
  series: StoredSeries,
  entry: RowOf<typeof blockChanges>,
  keptBy: Set<number>,
): Promise<{ removed: number; restored: readonly number[]; kept: number }> {
  const reversal = new Reversal(decodeChange(entry));
  const { series_id, bucket, run_id } = entry;
  const handed: (readonly [later: typeof entry, change: BlockChange])[] = [];
  const keepers: number[] = [];
  for await (const later of rowsInOrder(writer, blockChanges, {
    where: { series_id, bucket },
    range: { from: run_id + 1 },
    order: [['run_id', 'asc']],
    limit: LATER_PER_READ,
  })) {
    if (reversal.isSettled) break;
    const before = reversal.kept;
    const change = reversal.handTo(decodeChange(later));
    if (change !== null) handed.push([later, change]);
    if (reversal.kept > before) keepers.push(later.run_id);
  }
  const block = await blockOf(writer, series, entry);
  if (typeof block === 'number') return { removed: block, restored: [], kept: 0 };
  await writer.remove(blockChanges, [entry]);
  for (const [later, change] of handed) await putChange(writer, later, change);
  for (const keeper of keepers) keptBy.add(keeper);
  const { bars, removed, restored } = reversal.applyTo(block.bars);
  if (removed + restored.length > 0 || bars.count === 0) await series.put(block, bars);
  return { removed, restored, kept: reversal.kept };
}

/**
 * The block of an entry. A damaged one that this run alone has brought is removed, which needs none of its bytes: then the number
 * of its bars. @throws DamagedData
 */
async function blockOf(
  writer: Writer,
  series: StoredSeries,
  { added, bucket, run_id, series_id }: RowOf<typeof blockChanges>,
): Promise<OpenedBlock | number> {
  try {
    return await series.block(bucket);
  } catch (error) {
    if (!(error instanceof DamagedData) || added !== null) throw error;
    const changes = await collectRows(writer, blockChanges, { series_id, bucket });
    const count = (await lostBlocks(writer, series.presentRow)).blocks.get(bucket)?.count ?? null;
    if (count === null || changes.some((change) => change.run_id > run_id)) throw error;
    await series.removeDamaged(bucket, count);
    return count;
  }
}
