// The files of watched folders that could not be imported, or not wholly: kept in the store until they are
// imported or gone.
import { dirname } from 'node:path';
import type { RowOf } from '../datasets/dataset.ts';
import type { Values } from '../datasets/field.ts';
import { failedFiles } from '../datasets/internal.ts';
import { allRows } from '../store/all-rows.ts';
import { DamagedData, ignoreDamage } from '../store/damage.ts';
import type { Reader, Store } from '../store/store.ts';

/** The problem of a file whose import has begun. It stays where the process ends before that import. */
export const UNFINISHED = 'its import began and did not end';

/** The problems of a dataset's failed files in a folder, which is given by its full path, by their paths. */
export async function failuresIn(
  reader: Reader,
  dataset: string,
  folder: string,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { path, problem } of allRows(reader.sound(ignoreDamage), failedFiles, { dataset }))
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
  const cleared = await store.snapshot(async (reader) => {
    const damaged: Values[] = [];
    const sound = reader.sound((damage, { row }) => {
      if (row === undefined) throw new DamagedData(damage);
      damaged.push(row);
    });
    return [...(await sound.among(failedFiles, { dataset }, 'path', paths)), ...damaged];
  });
  const keys = cleared.map(({ path }) => ({ dataset, path: path as string }));
  if (keys.length > 0) await store.write((writer) => writer.remove(failedFiles, keys));
}
