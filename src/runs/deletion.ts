// A deletion is one recorded write, which can be undone.

import { encodeIds } from '../base/id-list.ts';
import { versionOfWrite } from '../store/changes.ts';
import { runSpans, type series as seriesDataset } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { importRuns } from '../store/schema/internal.ts';
import type { Store, Writer } from '../store/store.ts';
import { Counters } from './new-instrument.ts';
import { type WriteRequest, writeOrTry } from './trial.ts';

/** A deletion that goes on: its run, and when it began. */
export type PresentDeletion = { readonly runId: number; readonly startedMs: number };

/** Records a deletion of bars: the range that no earlier run covers any more (contract 3.9 (4)). */
export const putDeletedSpan = (
  writer: Writer,
  { runId: run_id, startedMs: started_ms }: PresentDeletion,
  market: string,
  { interval, series_id }: Pick<RowOf<typeof seriesDataset>, 'interval' | 'series_id'>,
  times: { readonly from_ms: number; readonly through_ms: number },
): Promise<void> =>
  writer.upsert(runSpans, [
    {
      ...{ run_id, market, interval, kind: 'delete', started_ms, sha256: '', command: run_id, zone: null },
      ...{ first_ms: null, last_keys: [], ...times, reach_ms: times.through_ms },
      ...{ series_count: 1, series: encodeIds([series_id]) },
    },
  ]);

/** The request of any deletion: `words` name the choice, and are kept with the run. */
export type DeletionRequest = WriteRequest & { readonly words: string };

/**
 * Runs a deletion in one write and records it as a run. `runId` is null in a dry run, and where there was
 * nothing to delete.
 */
export function runDeletion<T>(
  store: Store,
  dataset: string,
  { words, dryRun, nowMs, onWait }: DeletionRequest,
  work: (writer: Writer, runId: number) => Promise<{ readonly result: T; readonly count: number }>,
): Promise<T & { readonly runId: number | null }> {
  const write = async (writer: Writer) => {
    const startedMs = nowMs();
    const counters = new Counters(writer);
    const runId = await counters.next('run_id', 1);
    await counters.settle();
    const { result, count } = await work(writer, runId);
    await writer.upsert(importRuns, [
      {
        run_id: runId,
        kind: 'delete',
        dataset,
        file: words,
        sha256: '',
        source: null,
        rows_read: count,
        rows_written: count,
        rows_unchanged: 0,
        rows_refused: 0,
        started_ms: startedMs,
        finished_ms: nowMs(),
        undone_ms: null,
        path: null,
        archive_sha256: null,
        flags: null,
        data_version: await versionOfWrite(writer),
      },
    ]);
    const isTrial = dryRun || count === 0;
    return { result: { ...result, runId: isTrial ? null : runId }, isTrial };
  };
  return writeOrTry(store, write, onWait);
}
