// The files of watched folders that could not be imported, or not wholly: kept in the store until they are imported or gone.
import { dirname } from 'node:path';
import type { RowOf } from '../datasets/dataset.ts';
import { failedFiles } from '../datasets/internal.ts';
import { allRows, soundRowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import type { Reader, Store } from '../store/store.ts';

/** The paths of a dataset's failed files in a folder, which is given by its full path. */
export async function failuresIn(reader: Reader, dataset: string, folder: string): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { path } of allRows(reader.sound(ignoreDamage), failedFiles, { dataset }))
    if (dirname(path) === folder) found.add(path);
  return found;
}

/** Records that a file failed; its earlier failure is replaced. */
export const recordFailure = (store: Store, failed: RowOf<typeof failedFiles>): Promise<void> =>
  store.write((writer) => writer.upsert(failedFiles, [failed]));

/** Removes what is recorded of a file that was imported, or that is gone. Writes nothing where there is nothing. */
export async function clearFailure(store: Store, dataset: string, path: string): Promise<void> {
  const file = { dataset, path };
  const { row, remains } = await store.snapshot((reader) => soundRowWith(reader, failedFiles, file));
  if (row !== null || remains !== null) await store.write((writer) => writer.remove(failedFiles, [file]));
}
