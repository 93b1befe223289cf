// Makes the store of the flips by the imports themselves. Its pages are small, so that every table and index
// has several.
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { recordFailure } from '../../src/cli/import/watch.ts';
import { newestRuns, undoRun } from '../../src/runs/undo-run.ts';
import { openStore } from '../../src/store/engines.ts';
import { kinds } from '../../src/store/sqlite/files.ts';
import { fillStore } from '../importing.ts';
import { fileStore } from '../sqlite/files.ts';
import { undoneWave, waves } from './flips-data.ts';

const FAILED_FILES = 16;

/** Makes the store in a folder, and gives the bytes of its file. */
export async function makeStore(folder: string, path: string, pageBytes: number): Promise<Uint8Array> {
  // The mark makes it an empty store: opening it to write keeps the size of its pages.
  const empty = new DatabaseSync(path);
  empty.exec(`pragma page_size = ${pageBytes}; pragma application_id = ${kinds.store.applicationId}`);
  empty.close();
  const url = fileStore(path);
  for (const { nowMs, fillings } of [...waves, undoneWave]) await fillStore(url, folder, nowMs, fillings);
  const store = await openStore(url, 'write');
  for (let index = 0; index < FAILED_FILES; index++) {
    const path = `/data/incoming/of-the-sample/${index}.csv`;
    await recordFailure(store, 'news', `row ${index} has no symbol`, [path], undoneWave.nowMs);
  }
  const [undone] = await store.snapshot((reader) => newestRuns(reader, 1));
  await undoRun(store, { runId: undone!.run_id, dryRun: false, nowMs: () => undoneWave.nowMs });
  await store.close();
  return readFileSync(path);
}
