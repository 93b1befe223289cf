// Whether a file of a watched folder was imported: the runs of the store alone tell, so an undo and a restore
// count.
import { basename } from 'node:path';
import { rowsInOrder } from '../../store/all-rows.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { RowReader } from '../../store/store.ts';
import { membersOf } from '../read/unpack.ts';
import type { RecordedFlags } from './run.ts';

/** A file, or a member of an archive, and how it would be imported. */
type WatchedFile = {
  readonly dataset: string;
  readonly flags: RecordedFlags;
  /** The full path of the file, or of the archive. */
  readonly path: string;
  /** The name that runs record, such as `a.csv` or `a.zip/m.csv`. */
  readonly recordedAs: string;
  /** Its hash, in hexadecimal; of a member its own or that of the archive. */
  readonly sha256: string;
};

type Run = RowOf<typeof importRuns>;

const RUNS_PER_READ = 500;

/**
 * The run that imported a file as it is, so that importing it again would change nothing; null where there is
 * none.
 *
 * The newest run of the file's path and flags that was not undone decides: it has the file's hash or it has
 * not. A path without any run follows the runs of files of the same name elsewhere, because folders are
 * moved. A run without recorded flags is older than their recording. It counts for all flags and every
 * folder, as it did when it was made: importing all files again could put old values over newer corrections.
 */
export async function runOfFile(reader: RowReader, file: WatchedFile): Promise<number | null> {
  const byPath = Map.groupBy(await runsOf(reader, file), ({ path }) => path);
  const own = byPath.get(file.path);
  for (const runs of own === undefined ? byPath.values() : [own]) {
    const newest = runs.findLast(({ undone_ms }) => undone_ms === null);
    if (newest?.sha256 === file.sha256 || newest?.archive_sha256 === file.sha256) return newest.run_id;
  }
  return null;
}

/**
 * As `runOfFile`, for a path whose file may be an archive: then each member needs such a run, and the newest
 * of them is given.
 */
export async function runOfPath(
  reader: RowReader,
  file: Omit<WatchedFile, 'recordedAs'>,
): Promise<number | null> {
  const recordedAs = basename(file.path);
  const members = await membersOf(file.path);
  if (members === null) return runOfFile(reader, { ...file, recordedAs });
  let newest: number | null = null;
  for (const member of members) {
    const run = await runOfFile(reader, { ...file, recordedAs: `${recordedAs}/${member}` });
    if (run === null) return null;
    newest = Math.max(newest ?? run, run);
  }
  return newest;
}

/** The imports of a dataset from files of one name under the same flags, the oldest first. */
async function runsOf(reader: RowReader, { dataset, recordedAs, flags }: WatchedFile): Promise<Run[]> {
  const given = JSON.stringify(flags);
  const runs: Run[] = [];
  for await (const run of rowsInOrder(reader, importRuns, {
    where: { file: recordedAs },
    order: [['run_id', 'asc']],
    limit: RUNS_PER_READ,
  })) {
    // Standard input has flags and no path.
    const isFlagged = run.flags === null || (run.path !== null && JSON.stringify(run.flags) === given);
    if (run.kind === 'import' && run.dataset === dataset && isFlagged) runs.push(run);
  }
  return runs;
}
