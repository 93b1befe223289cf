// The files of watched folders that could not be imported, or not wholly: kept in the store until they are
// imported or gone.
import { dirname } from 'node:path';
import { rowsAmong, soundRows } from '../store/all-rows.ts';
import { unlessDamaged } from '../store/damage.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { failedFiles } from '../store/schema/internal.ts';
import type { Reader, Store } from '../store/store.ts';

/** The problem of a file whose import has begun. It stays where the process ends before that import. */
export const UNFINISHED = 'its import began and did not end';

/** At most so many are read: a watch tries the others again, and those whose row is damaged. */
export const FAILURES_MAX = 100_000;

/** The problems of a dataset's failed files in a folder, which is given by its full path, by their paths. */
export async function failuresIn(
  reader: Reader,
  dataset: string,
  folder: string,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const read = { where: { dataset }, order: [['path', 'asc']], limit: FAILURES_MAX } as const;
  for (const { path, problem } of await soundRows(reader, failedFiles, read))
    if (dirname(path) === folder) found.set(path, problem);
  return found;
}

/** Records that files failed; their earlier failures are replaced. */
export const recordFailure = (store: Store, ...failed: readonly RowOf<typeof failedFiles>[]): Promise<void> =>
  store.write((writer) => writer.upsert(failedFiles, failed));

/**
 * Removes what is recorded of files that were imported, or that are gone. Writes nothing where there is
 * nothing.
 */
export async function clearFailures(store: Store, dataset: string, paths: readonly string[]): Promise<void> {
  const cleared = await store.snapshot((reader) =>
    unlessDamaged(rowsAmong(reader, failedFiles, { dataset }, 'path', paths)),
  );
  const keys = cleared ?? paths.map((path) => ({ dataset, path }));
  if (keys.length > 0) await store.write((writer) => writer.remove(failedFiles, keys));
}
