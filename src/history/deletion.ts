// What every deletion is: one recorded write, which can be taken back.
import { importRuns } from '../datasets/internal.ts';
import type { OnWait, Store, Writer } from '../store/store.ts';
import { nextValue } from './new-instrument.ts';
import { writeOrTry } from './trial.ts';

/** What every deletion is asked with. */
export type DeletionRequest = {
  /** What is asked for, in words: kept with the run. */
  readonly words: string;
  /** Does everything, and writes nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  readonly onWait?: OnWait;
};

/** Runs a deletion in one write and records it as a run, unless it is a trial or there was nothing to delete: then its number is null. */
export function runDeletion<T>(
  store: Store,
  dataset: string,
  request: DeletionRequest,
  work: (writer: Writer, runId: number) => Promise<{ readonly result: T; readonly count: number }>,
): Promise<T & { readonly runId: number | null }> {
  return writeOrTry(
    store,
    async (writer) => {
      const startedMs = request.nowMs();
      const runId = await nextValue(writer, 'run_id', 1);
      const { result, count } = await work(writer, runId);
      const isTrial = request.dryRun || count === 0;
      await record(writer, runId, dataset, request, count, startedMs);
      return { result: { ...result, runId: isTrial ? null : runId }, isTrial };
    },
    request.onWait,
  );
}

async function record(
  writer: Writer,
  runId: number,
  dataset: string,
  { words, nowMs }: DeletionRequest,
  count: number,
  startedMs: number,
): Promise<void> {
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
    },
  ]);
  await nextValue(writer, 'data_version', 1);
}
