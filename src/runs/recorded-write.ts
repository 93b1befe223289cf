// Writes of the store that are recorded as runs, or only tried: a trial runs to its end, so that its report
// is the real one, and is then rolled back. A deletion is one of them, which can be undone.
import { encodeIds } from '../base/ascending.ts';
import { versionOfWrite } from '../store/changes.ts';
import { runSpans, type series as seriesDataset } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { importRuns } from '../store/schema/internal.ts';
import type { OnWait, Store, Writer } from '../store/store.ts';
import { Counters } from './new-instrument.ts';

/**
 * The store cannot do what was asked; the message says what to do instead (exit status 2). Nothing was
 * written.
 */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem';
}

/** The request of any import, deletion or undo. */
export type WriteRequest = {
  /** Reads and checks everything, and stores nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  readonly onWait?: OnWait;
  /** Receives, now and then, the number of rows (bars, of bars) that were read, undone or deleted. */
  readonly onRows?: (rows: number) => void;
};

/** The result of a write, which may be only a trial. */
type Tried<T> = { readonly result: T; readonly isTrial: boolean };

/** Runs `work` in one write of the store and gives its result. The write is rolled back where `isTrial`. */
export async function writeOrTry<T>(
  store: Store,
  work: (writer: Writer) => Promise<Tried<T>>,
  onWait?: OnWait,
): Promise<T> {
  return (await unlessTrial(work, (run) => store.write(run, onWait))).result;
}

/** As `writeOrTry`, as one part of a write that goes on. */
export const partOrTry = <T>(writer: Writer, work: () => Promise<Tried<T>>): Promise<Tried<T>> =>
  unlessTrial(work, (run) => writer.savepoint(() => run(writer)));

async function unlessTrial<T>(
  work: (writer: Writer) => Promise<Tried<T>>,
  write: (run: (writer: Writer) => Promise<void>) => Promise<void>,
): Promise<Tried<T>> {
  const rollback = new Error('this write is only a trial');
  let done: Tried<T> | undefined;
  try {
    await write(async (writer) => {
      done = await work(writer);
      if (done.isTrial) throw rollback;
    });
  } catch (error) {
    if (error !== rollback) throw error;
  }
  return done as Tried<T>;
}

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

export const historyLimits = {
  /** Files of one group: what a kill may lose, and what waits for the others to be reported. */
  groupFilesMax: 1_000,
  /** Time after which no further file joins a group: other writers wait for it. */
  groupMsMax: 5_000,
  /** Bytes of text in a group: the log of the store grows with them until the group is committed. */
  groupBytesMax: 64 * 1024 * 1024,
  /** Pause between two groups, longer than that of another writer between two attempts to begin. */
  groupPauseMs: 75,
  /** Removed rows that a report names: enough to look through, and bounded. */
  removedRowsNamed: 1_000,
} as const;
