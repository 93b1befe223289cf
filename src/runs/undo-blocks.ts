// Undoing one run's changes of blocks, under the changes of later runs (docs/decisions/0009).

import { type Bars, emptyBars, filterBars, mergeBars } from '../market/bars/columns.ts';
import { type Brought, broughtBy, hasBar } from '../series/brought.ts';
import { refuseLostBlocks } from '../store/all-blocks.ts';
import { rowWith } from '../store/all-rows.ts';
import { type BlockChange, decodeChange } from '../store/journal-entries.ts';
import { series as seriesDataset } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { blockChanges } from '../store/schema/internal.ts';
import { instruments } from '../store/schema/reference.ts';
import type { Writer } from '../store/store.ts';
import { type BlockPlace, blankBars, putChange, putHeld } from './journal.ts';
import { StoredSeries } from './stored-series.ts';
import { type Deletion, deletionOf, orphansOf } from './undo-rows.ts';

const none = emptyBars();

/**
 * One change that is being undone: later runs take over the bars that they changed or held, the store gets
 * the rest.
 */
class Reversal {
  kept = 0;
  readonly #change: BlockChange;
  /** Keys that a later run changed or held: the first such run found what this change left. */
  readonly #named = new Set<number>();

  constructor(change: BlockChange) {
    this.#change = change;
  }

  /** Whether later runs have named every bar of this change. */
  get isSettled(): boolean {
    const { added, before } = this.#change;
    return added !== null && this.kept === added.count + before.count;
  }

  /**
   * What a later run brought, as if this change had not been: for a bar that it changed or held next, it
   * finds what this found. Null: no difference.
   */
  handTo({ change: later, held }: Brought): Brought | null {
    const { added, before } = this.#change;
    // A bar that it held is one that it brings, in place of what this found.
    const laterHeld = this.#firstNamed(held);
    const taken = filterBars(laterHeld, (at) => added === null || hasBar(added, laterHeld.keyMs[at]!));
    const replaced = filterBars(before, (at) => hasBar(laterHeld, before.keyMs[at]!));
    const laterAdded = this.#firstNamed(later.added ?? none);
    const laterBefore = this.#firstNamed(later.before);
    const gone = filterBars(laterBefore, (at) => added === null || hasBar(added, laterBefore.keyMs[at]!));
    const back = filterBars(
      before,
      (at) => hasBar(laterAdded, before.keyMs[at]!) || hasBar(laterBefore, before.keyMs[at]!),
    );
    const handed = gone.count + back.count + taken.count + replaced.count;
    this.kept += handed;
    if (added !== null) this.kept += filterBars(added, (at) => hasBar(laterAdded, added.keyMs[at]!)).count;
    if (handed === 0) return null;
    const stillAdded = filterBars(later.added ?? none, (at) => !hasBar(back, later.added!.keyMs[at]!));
    const stillBefore = filterBars(later.before, (at) => !hasBar(gone, later.before.keyMs[at]!));
    const fresh = mergeBars(gone, taken);
    const change = {
      added: mergeBars(
        stillAdded,
        blankBars(fresh, () => true),
      ),
      before: mergeBars(mergeBars(stillBefore, back), replaced),
    };
    const stillHeld = filterBars(
      held,
      (at) => !hasBar(taken, held.keyMs[at]!) && !hasBar(replaced, held.keyMs[at]!),
    );
    return { change, held: stillHeld };
  }

  /** The stored bars without this change, how many that removes, and how many it restores. */
  applyTo(stored: Bars): { bars: Bars; removed: number; restored: number } {
    const { added, before } = this.#change;
    const stays = filterBars(stored, (at) => {
      const keyMs = stored.keyMs[at]!;
      return this.#named.has(keyMs) || (added !== null && !hasBar(added, keyMs));
    });
    const back = filterBars(before, (at) => !this.#named.has(before.keyMs[at]!));
    return { bars: mergeBars(stays, back), removed: stored.count - stays.count, restored: back.count };
  }

  /** The bars of a later run that no run between has named. */
  #firstNamed(bars: Bars): Bars {
    const first = filterBars(bars, (at) => !this.#named.has(bars.keyMs[at]!));
    for (let at = 0; at < first.count; at++) this.#named.add(first.keyMs[at]!);
    return first;
  }
}

/**
 * Undoes an entry of the journal and counts its bars: `restored` are as before, `kept` are those that later
 * runs changed or held. `keptBy` gets these runs.
 * @throws DamagedData where the block or what a later run changed in it is damaged
 */
async function undoBlock(
  writer: Writer,
  series: StoredSeries,
  entry: RowOf<typeof blockChanges>,
  keptBy: Set<number>,
): Promise<{ removed: number; restored: number; kept: number }> {
  const reversal = new Reversal(decodeChange(entry));
  const { series_id, bucket, run_id } = entry;
  const handed: (readonly [later: BlockPlace, brought: Brought])[] = [];
  const keepers: number[] = [];
  for await (const { runId, ...brought } of broughtBy(writer, entry, 'asc', run_id)) {
    if (reversal.isSettled) break;
    const before = reversal.kept;
    const left = reversal.handTo(brought);
    if (left !== null) handed.push([{ series_id, bucket, run_id: runId }, left]);
    if (reversal.kept > before) keepers.push(runId);
  }
  const block = await series.block(bucket);
  await writer.remove(blockChanges, [entry]);
  for (const [later, { change, held }] of handed) {
    await putChange(writer, later, change);
    await putHeld(writer, later, held);
  }
  for (const keeper of keepers) keptBy.add(keeper);
  const { bars, removed, restored } = reversal.applyTo(block.bars);
  if (removed + restored > 0 || bars.count === 0) await series.put(block, bars);
  return { removed, restored, kept: reversal.kept };
}

/** A series that is being undone; `deletion` where its instrument was deleted. */
type OpenSeries = { readonly series: StoredSeries; readonly deletion: Deletion | null };

async function openSeries(writer: Writer, seriesId: number): Promise<OpenSeries> {
  const row = await rowWith(writer, seriesDataset, { series_id: seriesId });
  if (row === null) throw new Error(`the journal names series ${seriesId}, which is missing`);
  await refuseLostBlocks(writer, seriesId);
  // An index that has lost the row tells it here: it is no deleted instrument.
  const [stored = null] = await writer.group(instruments, { instrument_id: row.instrument_id });
  const deletion = stored === null ? await deletionOf(writer, row.instrument_id) : null;
  return { series: new StoredSeries(writer, row), deletion };
}

async function settle(open: OpenSeries | null): Promise<void> {
  if (open === null) return;
  const barCount = await open.series.settle();
  if (barCount > 0 && open.deletion !== null) throw orphansOf(open.deletion);
}

/**
 * Undoes entries about blocks, which come series by series, and counts the bars of each. `keptBy` gets the
 * later runs because of which some are kept.
 */
export async function* undoBlocks(
  writer: Writer,
  entries: AsyncIterable<RowOf<typeof blockChanges>>,
  keptBy: Set<number>,
): AsyncGenerator<Awaited<ReturnType<typeof undoBlock>>> {
  let open: OpenSeries | null = null;
  for await (const entry of entries) {
    if (open?.series.row.series_id !== entry.series_id) {
      await settle(open);
      open = await openSeries(writer, entry.series_id);
    }
    yield await undoBlock(writer, open.series, entry, keptBy);
  }
  await settle(open);
}
