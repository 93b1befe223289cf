// Undoing what one run changed of the unfinished bars of a series, under the changes of later runs (docs/decisions/0023).

import { bucketOf } from '../bars/bucket.ts';
import { firstWhere } from '../base/search.ts';
import type { Interval } from '../contract/interval.ts';
import { type series as seriesDataset, unfinishedBars } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { blockChanges, rowChanges } from '../datasets/internal.ts';
import { collectRows, rowsInOrder } from '../store/all-rows.ts';
import { decodeChange } from '../store/journal-entries.ts';
import type { Writer } from '../store/store.ts';
import type { HiddenBars } from './hidden-bars.ts';
import type { StoredSeries } from './stored-series.ts';
import { keyed, keysOf, listedRun, type Span, type Spans, spansOf } from './unfinished.ts';

type Entry = RowOf<typeof rowChanges>;

const ENTRIES_PER_READ = 500;

/** For each of some ascending keys the run by which its bar is unfinished. */
function runsOf(spans: Spans, keys: readonly number[]): readonly (number | undefined)[] {
  const runs = new Array<number | undefined>(keys.length).fill(undefined);
  for (const { first_ms, last_ms, run_id } of spans.values()) {
    const from = firstWhere(keys.length, (at) => keys[at]! >= first_ms);
    for (let at = from; at < keys.length && keys[at]! <= last_ms; at++) runs[at] = run_id;
  }
  return runs;
}

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

/** Replaces entries of the journal. Most of later runs stay as they are: these are not written. */
async function putEntries(writer: Writer, old: readonly Entry[], fresh: readonly Entry[]): Promise<void> {
  const textOf = ({ row_key, run_id, before }: Entry) =>
    `${run_id} ${row_key} ${(before as Span | null)?.last_ms}`;
  const texts = (entries: readonly Entry[]) => new Map(entries.map((entry) => [textOf(entry), entry]));
  const [was, is] = [texts(old), texts(fresh)];
  const without = (some: ReadonlyMap<string, Entry>, others: ReadonlyMap<string, Entry>): Entry[] =>
    [...some].filter(([text]) => !others.has(text)).map(([, entry]) => entry);
  await writer.remove(rowChanges, without(was, is));
  await writer.upsert(rowChanges, without(is, was));
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
  const changes: Entry[] = [];
  for (const { run_id, before, after } of later) {
    const [was, is, now] = [before, after, state].map((spans) => runsOf(spans, keys));
    const changed = changedBy.get(run_id);
    const next = keyed(
      spansOf(series_id, keys, (at) =>
        changed?.has(keys[at]!) || was![at] !== is![at] ? is![at] : now![at],
      ),
    );
    for (const row_key of new Set([...state.keys(), ...next.keys()])) {
      const [one = null, other = null] = [state.get(row_key), next.get(row_key)];
      if (one?.last_ms !== other?.last_ms)
        changes.push({ dataset: unfinishedBars.name, row_key, run_id, before: one });
    }
    state = next;
  }
  await putEntries(writer, entries, changes);
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
