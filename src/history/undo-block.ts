// Taking one run's change of one block back, out of the middle of what later runs made of it (docs/decisions/0009).
import { type Bars, emptyBars, filterBars, indexOfKey, mergeBars } from '../bars/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { blockChanges } from '../datasets/internal.ts';
import type { Writer } from '../store/store.ts';
import { absences, type BlockChange, decodeChange, putChange } from './journal.ts';
import type { StoredSeries } from './stored-series.ts';

/** Entries of later runs read at a time. */
const LATER_PER_READ = 32;

const none = emptyBars();
const has = (bars: Bars, keyMs: number): boolean => indexOfKey(bars, keyMs) >= 0;

/** What became of the bars that a run had changed. */
export type BarsUndone = {
  removed: number;
  restored: number;
  /** Bars that a later run changed too: they stay as it left them. */
  kept: number;
};

/** One change on its way back: later runs take over what they changed after it, the store gets the rest. */
class Reversal {
  kept = 0;
  readonly #change: BlockChange;
  /** Keys that a later run changed: what the first of them found is what this change left. */
  readonly #named = new Set<number>();

  constructor(change: BlockChange) {
    this.#change = change;
  }

  /** Whether no later run can name a bar of this change any more. */
  get isSettled(): boolean {
    const { added, before } = this.#change;
    return added !== null && this.kept === added.count + before.count;
  }

  /** A later run's change, finding what this one found where it follows it directly; null where that alters nothing. */
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
    return { added: mergeBars(stillAdded, absences(gone)), before: mergeBars(stillBefore, back) };
  }

  /** The stored bars without this change, and how many of them went and came. */
  applyTo(stored: Bars): { bars: Bars; removed: number; restored: number } {
    const { added, before } = this.#change;
    const stays = filterBars(stored, (at) => {
      const keyMs = stored.keyMs[at]!;
      return this.#named.has(keyMs) || (added !== null && !has(added, keyMs));
    });
    const back = filterBars(before, (at) => !this.#named.has(before.keyMs[at]!));
    return {
      bars: mergeBars(stays, back),
      removed: stored.count - stays.count,
      restored: back.count,
    };
  }

  /** Those of a later run's bars that no run between has named. */
  #firstNamed(bars: Bars): Bars {
    const first = filterBars(bars, (at) => !this.#named.has(bars.keyMs[at]!));
    for (let at = 0; at < first.count; at++) this.#named.add(first.keyMs[at]!);
    return first;
  }
}

/** Takes an entry of the journal back; `keptBy` gets the later runs that keep bars of it. */
export async function undoBlock(
  writer: Writer,
  series: StoredSeries,
  entry: RowOf<typeof blockChanges>,
  keptBy: Set<number>,
): Promise<BarsUndone> {
  const reversal = new Reversal(decodeChange(entry));
  await writer.remove(blockChanges, [entry]);
  for await (const later of laterEntries(writer, entry)) {
    if (reversal.isSettled) break;
    const before = reversal.kept;
    const change = reversal.handTo(decodeChange(later));
    if (change !== null) await putChange(writer, later, change);
    if (reversal.kept > before) keptBy.add(later.run_id);
  }
  const block = await series.block(entry.bucket);
  const { bars, removed, restored } = reversal.applyTo(block.bars);
  if (removed + restored > 0 || bars.count === 0) await series.put(block, bars);
  return { removed, restored, kept: reversal.kept };
}

async function* laterEntries(
  writer: Writer,
  { series_id, bucket, run_id }: RowOf<typeof blockChanges>,
): AsyncGenerator<RowOf<typeof blockChanges>> {
  let afterRun = run_id;
  for (;;) {
    const found = await writer.rows(blockChanges, {
      where: { series_id, bucket },
      order: [['run_id', 'asc']],
      after: [afterRun],
      limit: LATER_PER_READ,
    });
    yield* found;
    if (found.length < LATER_PER_READ) return;
    afterRun = found.at(-1)!.run_id;
  }
}
