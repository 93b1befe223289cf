// The newest run where it ended after now: the clock is behind, or was ahead (contract 3.9).
import { importRuns } from '../store/schema/internal.ts';
import type { RowReader } from '../store/store.ts';

/** A run that ended after now. */
export type RunAhead = { readonly runId: number; readonly finishedAt: string };

/** The newest run, where it ended after `nowMs`; null where it did not, or there is none. */
export async function runAhead(reader: RowReader, nowMs: number): Promise<RunAhead | null> {
  const [newest] = await reader.rows(importRuns, { order: [['run_id', 'desc']], limit: 1 });
  if (newest === undefined || newest.finished_ms <= nowMs) return null;
  return { runId: newest.run_id, finishedAt: new Date(newest.finished_ms).toISOString() };
}
