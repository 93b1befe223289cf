// Rows into a store by the imports themselves, in this process: much sooner done than by the command line.
import { writeFileSync } from 'node:fs';
import { FIRST_MS } from '../src/base/instant.ts';
import type { PriceBasis } from '../src/contract/file-words.ts';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport, ImportRequest } from '../src/imports/load/run.ts';
import { type MappedFile, ownNames } from '../src/imports/map/column-mapping.ts';
import { holdReader } from '../src/imports/read/reader-process.ts';
import { openSources } from '../src/imports/read/source.ts';
import type { Store } from '../src/store/store.ts';
import { openToWrite } from './stores.ts';

// As one call of `bourse import` holds it: to start a reader for each file takes three times as long as to
// import a small file.
process.once('exit', holdReader());

/** A file that a test has written, ready to be imported in process. */
export const opened = async (path: string): Promise<MappedFile> =>
  (await openSources(path, process.stdin, ownNames).next()).value as MappedFile;

/** Imports a file into the store at an address by one importer. */
export async function stored(
  { store: url }: { readonly store: string },
  path: string,
  importing: (store: Store, request: ImportRequest) => Promise<ImportReport>,
): Promise<ImportReport> {
  const store = await openToWrite(url);
  const file = await opened(path);
  try {
    const about = { flags: new Map(), source: null, dryRun: false, nowMs: Date.now };
    return await importing(store, { file, ...about });
  } finally {
    await file.close();
    await store.close();
  }
}

/** A row of a file by the names of its columns. */
export type FileRow = Readonly<Record<string, unknown>>;

/** Rows of one dataset. */
export type Filling = readonly [dataset: string, rows: readonly FileRow[]];

/** The rows as a file; its path. */
export function rowsFile(path: string, rows: readonly FileRow[]): string {
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

/**
 * Imports rows, dataset after dataset, into the store at an address, at a moment; bars with the instant
 * through which they cover all times, where they do not tell themselves. Rows have present symbols (contract
 * 9.6). @throws where a row is refused
 */
export async function fillStore(
  url: string,
  folder: string,
  nowMs: number,
  fillings: readonly Filling[],
  completeThroughMs: number | null = null,
  basis: PriceBasis = 'raw',
): Promise<void> {
  const store = await openToWrite(url);
  const about = {
    flags: new Map<string, string>(),
    zone: null,
    source: null,
    completeFromMs: completeThroughMs === null ? null : FIRST_MS,
    completeThroughMs,
  };
  try {
    for (const [dataset, rows] of fillings) {
      const plain = await opened(rowsFile(`${folder}/${dataset}.ndjson`, rows));
      const file = { ...plain, mapping: { ...plain.mapping, symbols: 'now' as const } };
      const report = await importFile(store, dataset, {
        ...{ file, ...about, dryRun: false, nowMs: () => nowMs },
        ...(dataset === 'bars' && { basis }),
      });
      await file.close();
      if (report.rowsRefused > 0) throw new Error(JSON.stringify(report));
    }
  } finally {
    await store.close();
  }
}

/** Imports a file of bars of one series into an open store. */
export async function importSeries(
  store: Store,
  path: string,
  named: Readonly<Record<'asset_schema' | 'country_iso_code' | 'symbol' | 'interval', string>>,
): Promise<ImportReport> {
  return importFile(store, 'bars', {
    file: await opened(path),
    flags: new Map(Object.entries(named)),
    zone: null,
    basis: 'raw',
    source: null,
    dryRun: false,
    nowMs: Date.now,
  });
}
