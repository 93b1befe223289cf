// The file of an export: written under a temporary name, renamed when it is whole. It replaces another file
// only with --force.
import { linkSync, lstatSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, createZstdCompress } from 'node:zlib';
import { diskFull, folderProblem, isDiskFull } from '../../base/space.ts';
import { otherThanFile, ownMark, removeLeftovers } from '../../base/temporary.ts';
import { UnfitPlace, WouldReplace } from '../../store/store.ts';
import { csv, type ExportTable, ndjson, type TextStyle, tsv } from './export-table.ts';
import { writeParquet } from './parquet.ts';

/** The format of an exported file. */
type OutFormat = {
  readonly kind: 'csv' | 'tsv' | 'ndjson' | 'parquet';
  readonly packing: 'gz' | 'zst' | null;
};

/** The endings of file names. */
export const outNames = '.csv, .tsv, .ndjson or .parquet; text also with .gz or .zst after it';

/** The format of a file, by the ending of its name; null for any other ending. */
function outFormatOf(name: string): OutFormat | null {
  const [, kind, packing] = /\.(csv|tsv|ndjson|parquet)(?:\.(gz|zst))?$/i.exec(name) ?? [];
  if (kind === undefined) return null;
  const format = { kind: kind.toLowerCase(), packing: packing?.toLowerCase() ?? null } as OutFormat;
  return format.kind === 'parquet' && format.packing !== null ? null : format;
}

/** Called with the number of rows written so far. */
type OnRows = (rows: number) => void;

const styles: Readonly<Record<OutFormat['kind'], TextStyle>> = { csv, tsv, ndjson, parquet: csv };

/** The lines of a table; nothing, not even a header, where it has no row and is not made empty. */
async function* piecesOf(table: ExportTable, style: TextStyle, onRows: OnRows): AsyncGenerator<string> {
  const head = style.head(table.columns.map(({ name }) => name));
  let rows = 0;
  if (table.isMadeEmpty) yield head;
  for await (const lines of table.lines(style)) {
    if (rows === 0 && !table.isMadeEmpty) yield head;
    rows += lines.rows;
    onRows(rows);
    yield lines.text;
  }
}

/** Writes a table as CSV to a stream that stays open. */
export const writeToStream = (table: ExportTable, target: Writable, onRows: OnRows): Promise<void> =>
  pipeline(piecesOf(table, csv, onRows), target, { end: false });

/** Checks before any work that a file of a name may be made. @throws UnfitPlace, WouldReplace */
export function requireFree(name: string, force: boolean): void {
  if (outFormatOf(name) === null) throw new UnfitPlace(`--out ${name}: its name must end in ${outNames}`);
  const place = resolve(name);
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile())
    throw new UnfitPlace(`${place} is ${otherThanFile(place) ?? 'a link'}: name a new file`);
  if (!force)
    throw new WouldReplace(`${place} exists already: choose another name, or add --force to replace it`);
}

/**
 * Writes a table to a file of a known format, whole or not at all, and gives the file's bytes: 0 where no
 * file is made. @throws WouldReplace, UnfitPlace, FolderUnusable, DiskFull
 */
export async function writeToFile(
  table: ExportTable,
  name: string,
  force: boolean,
  onRows: OnRows,
): Promise<number> {
  const place = resolve(name);
  const folder = dirname(place);
  requireFree(place, force);
  const part = `${place}.${ownMark}.part`;
  const parts = [part, `${part}.csv`];
  let bytes = 0;
  const discard = (): void => {
    for (const one of parts) {
      bytes += statSync(one, { throwIfNoEntry: false })?.size ?? 0;
      rmSync(one, { force: true });
    }
  };
  try {
    removeLeftovers(
      folder,
      new RegExp(`^${RegExp.escape(basename(place))}\\.(\\d+\\.\\d+)\\.part(?:\\.csv)?$`),
    );
    return (await fill(table, part, outFormatOf(name)!, onRows)) ? moveTo(part, place, force) : 0;
  } catch (error) {
    discard();
    throw isDiskFull(error)
      ? await diskFull(folder, bytes, error)
      : folderProblem(error, folder, 'name another');
  } finally {
    discard();
  }
}

/** Writes a new file; whether it is to be kept. */
async function fill(table: ExportTable, part: string, format: OutFormat, onRows: OnRows): Promise<boolean> {
  const { kind, packing } = format;
  let rows = 0;
  const pieces = piecesOf(table, styles[kind], (written) => {
    rows = written;
    onRows(written);
  });
  const textPath = kind === 'parquet' ? `${part}.csv` : part;
  // It is there before anything can fail: one that is still being opened would appear after its removal.
  const file = (await open(textPath, 'wx')).createWriteStream({ flush: true });
  if (packing === null) await pipeline(pieces, file);
  else await pipeline(pieces, packing === 'gz' ? createGzip() : createZstdCompress(), file);
  const isKept = rows > 0 || table.isMadeEmpty;
  if (kind === 'parquet' && isKept) await writeParquet(textPath, table.columns, rows, part);
  return isKept;
}

/** Gives a file its name, and returns its bytes. */
function moveTo(part: string, place: string, force: boolean): number {
  const { size } = statSync(part);
  if (force) renameSync(part, place);
  else
    try {
      // A link fails where the name is taken; a rename would replace that file.
      linkSync(part, place);
    } catch {
      // Some file systems have no hard links.
      requireFree(place, false);
      renameSync(part, place);
    }
  return size;
}
