// Undoing what one run changed of the unfinished bars of a series, under the changes of later runs (docs/decisions/0023).
import { bucketOf } from '../bars/bucket.ts';
import type { Interval } from '../contract/interval.ts';
import { type series as seriesDataset, unfinishedBars } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { blockChanges, rowChanges } from '../datasets/internal.ts';
import { collectRows, rowsInOrder } from '../store/all-rows.ts';
import type { Writer } from '../store/store.ts';
import type { HiddenBars } from './hidden-bars.ts';
import { decodeChange } from './journal.ts';
import type { StoredSeries } from './stored-series.ts';
import { keyed, keysOf, listedRun, type Span, type Spans, spansOf } from './unfinished.ts';

type Entry = RowOf<typeof rowChanges>;

const ENTRIES_PER_READ = 500;

const runsOf = (spans: Spans, keys: readonly number[]): (number | undefined)[] =>
  keys.map((key) => listedRun(spans, key));

/** The bucket of a bar of a series. */
export const bucketAt =
  ({ interval }: Pick<RowOf<typeof seriesDataset>, 'interval'>) =>
  (keyMs: number): number =>
    bucketOf(interval as Interval, keyMs);

/** The journal's entries of a series, from a run on, the newest first. */
export async function entriesOf(writer: Writer, seriesId: number, runId: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of rowsInOrder(writer, rowChanges, {
    where: { dataset: unfinishedBars.name },
    // The keys that begin with the series: "-" follows ",".
    range: { from: `[${seriesId},`, to: `[${seriesId}-` },
    order: [
      ['row_key', 'asc'],
      ['run_id', 'asc'],
    ],
    limit: ENTRIES_PER_READ,
  }))
    if (entry.run_id >= runId) entries.push(entry);
  return entries.sort((a, b) => b.run_id - a.run_id);
}

/** The keys of the bars of a block that runs after one changed, by run. */
async function keysByRun(writer: Writer, series_id: number, bucket: number, runId: number) {
  const changes = await collectRows(writer, blockChanges, { series_id, bucket });
  return new Map(
    changes
      .filter(({ run_id }) => run_id > runId)
      .map((change) => {
        const { added, before } = decodeChange(change);
        return [change.run_id, new Set([...(added === null ? [] : keysOf(added)), ...keysOf(before)])];
      }),
  );
}

/** The unfinished bars of one block before and after a run that changed them. */
type Change = { readonly run_id: number; readonly before: Spans; readonly after: Spans };

/** What each of some runs changed, the oldest first: `present` are the spans now, `entries` those of the block from a run on. */
export function statesOf(present: Spans, entries: readonly Entry[], others: Iterable<number> = []): Change[] {
  const found = Map.groupBy(entries, ({ run_id }) => run_id);
  const changes: Change[] = [];
  let state = present;
  for (const run_id of [...new Set([...found.keys(), ...others])].sort((a, b) => b - a)) {
    const before = new Map(state);
    for (const { row_key, before: row } of found.get(run_id) ?? [])
      if (row === null) before.delete(row_key);
      else before.set(row_key, row as Span);
    changes.unshift({ run_id, before, after: state });
    state = before;
  }
  return changes;
}

/** One block of which a run changed the unfinished bars. */
type Place = { readonly series: StoredSeries; readonly bucket: number; readonly runId: number };

/** Takes the change of a run out of one block; `entries` are those of the block from the run on, the newest first. */
async function undoBucket(
  writer: Writer,
  { series, bucket, runId }: Place,
  stored: readonly Span[],
  entries: readonly Entry[],
  hidden: HiddenBars,
): Promise<void> {
  const { series_id } = series.row;
  const changedBy = await keysByRun(writer, series_id, bucket, runId);
  const present = keysOf((await series.block(bucket)).bars);
  const keys = [...new Set([...present, ...[...changedBy.values()].flatMap((some) => [...some])])].sort(
    (a, b) => a - b,
  );
  // Of the entries, the run itself has the oldest.
  const [own, ...later] = statesOf(keyed(stored), entries, changedBy.keys());
  let state = own!.before;
  await writer.remove(rowChanges, entries);
  for (const { run_id, before, after } of later) {
    const [was, is, now] = [before, after, state].map((spans) => runsOf(spans, keys));
    const changed = changedBy.get(run_id);
    const next = keyed(
      spansOf(series_id, keys, (at) =>
        changed?.has(keys[at]!) || was![at] !== is![at] ? is![at] : now![at],
      ),
    );
    const changes: Entry[] = [];
    for (const row_key of new Set([...state.keys(), ...next.keys()])) {
      const [one = null, other = null] = [state.get(row_key), next.get(row_key)];
      if (one?.last_ms !== other?.last_ms)
        changes.push({ dataset: unfinishedBars.name, row_key, run_id, before: one });
    }
    await writer.upsert(rowChanges, changes);
    state = next;
  }
  const before = keyed(stored);
  hidden.add(
    series,
    present.filter((key) => listedRun(state, key) !== undefined && listedRun(before, key) === undefined),
  );
  await writer.remove(unfinishedBars, stored);
  await writer.upsert(unfinishedBars, [...state.values()]);
}

/**
 * Takes the change of one run out of the unfinished bars of a series, and out of what later runs found, after its bars were undone.
 * `series` is null where none is left: then all that is known of its unfinished bars goes. `hidden` gets the bars that become unfinished.
 */
export async function undoUnfinished(
  writer: Writer,
  runId: number,
  { seriesId: series_id, series }: { readonly seriesId: number; readonly series: StoredSeries | null },
  hidden: HiddenBars,
): Promise<void> {
  const spans = await collectRows(writer, unfinishedBars, { series_id });
  const entries = await entriesOf(writer, series_id, series === null ? 0 : runId);
  if (series === null) {
    await writer.remove(unfinishedBars, spans);
    await writer.remove(rowChanges, entries);
    return;
  }
  const at = bucketAt(series.row);
  const stored = Map.groupBy(spans, ({ first_ms }) => at(first_ms));
  const byBucket = Map.groupBy(entries, ({ row_key }) => at((JSON.parse(row_key) as number[])[2]!));
  for (const [bucket, some] of byBucket)
    if (some.some(({ run_id }) => run_id === runId))
      await undoBucket(writer, { series, bucket, runId }, stored.get(bucket) ?? [], some, hidden);
}
