// `--out` of commands that write a table: a new file, or standard output.
import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { outNames, requireFree, writeToFile, writeToStream } from '../../queries/export/export-file.ts';
import type { ExportTable } from '../../queries/export/export-table.ts';
import { engineAt } from '../../store/engines.ts';
import { UnfitPlace } from '../../store/store.ts';
import { withProgress } from './output.ts';

/** The file that `--out` names, and whether it may replace another. */
export type OutFlags = { readonly out: string; readonly force?: boolean };

export const STANDARD_OUTPUT = '-';

/** The possible values of `--out`, in the words of `--help`. */
export const outWords = `its name ends in ${outNames}; - is standard output, as CSV`;

/**
 * Checks before any work that the file may be made, and would replace none of the store itself. @throws
 * UnfitPlace, WouldReplace
 */
export async function requireOut(url: string, { out, force = false }: OutFlags): Promise<void> {
  if (out === STANDARD_OUTPUT) return;
  requireFree(out, force);
  const place = resolve(out);
  const { parts } = await engineAt(url).facts();
  if (parts.some(({ path }) => path !== null && [resolve(path), realpathSync(path)].includes(place)))
    throw new UnfitPlace(`${place} belongs to the store itself: give the file another name`);
}

/** The output that was written; `bytes` is null for standard output. */
export type Written = { readonly rows: number; readonly bytes: number | null };

/**
 * Writes a table; null where the reader of standard output ended early. `what` names the table on standard
 * output.
 */
export async function writeOut(
  { out, force = false }: OutFlags,
  table: ExportTable,
  what: string,
): Promise<Written | null> {
  const isStream = out === STANDARD_OUTPUT;
  const task = { name: isStream ? what : basename(out), rowsAbout: table.rowsAbout };
  return withProgress(task, async ({ reached }) => {
    let rows = 0;
    const onRows = (written: number): void => {
      rows = written;
      reached(written);
    };
    try {
      const bytes = isStream
        ? await writeToStream(table, process.stdout, onRows).then(() => null)
        : await writeToFile(table, out, force, onRows);
      return { rows, bytes };
    } catch (error) {
      // main.ts reports what goes wrong with standard output; a reader may also have had enough.
      if (isStream && (error as NodeJS.ErrnoException).syscall === 'write') return null;
      throw error;
    }
  });
}
