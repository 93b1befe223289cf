// How many imports vouch for each series (contract 3.9, 9.9).
import { decodeIds } from '../base/id-list.ts';
import { runCoverage } from '../datasets/bars.ts';
import { rowsInOrder } from '../store/all-rows.ts';
import type { Reader } from '../store/store.ts';

/** Runs read at a time: each has up to some kilobytes of series. */
const RUNS_PER_READ = 64;

/** The number of live runs that hold a series, by its identifier. `onSeries` is told how many series each run holds, before they are read. */
export async function countRuns(
  reader: Reader,
  onSeries: (count: number) => void,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  // A lost run would not count.
  await reader.extent(runCoverage);
  const order = runCoverage.key.map((column) => [column, 'asc'] as const);
  for await (const { series_count, series } of rowsInOrder(reader, runCoverage, {
    order,
    limit: RUNS_PER_READ,
  })) {
    onSeries(series_count);
    for (const id of decodeIds(series)) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}
