// Rows into a store by the imports themselves, in this process: much sooner done than by the command line.
import { writeFileSync } from 'node:fs';
import type { ImportReport } from '../src/history/import-report.ts';
import { importBars } from '../src/loading/bars.ts';
import { importCorporateActions } from '../src/loading/corporate-actions.ts';
import { importEconomicEventCodes, importEconomicEvents } from '../src/loading/economic.ts';
import { importHolidays } from '../src/loading/holidays.ts';
import { importNews } from '../src/loading/news.ts';
import { importOptionContracts } from '../src/loading/options.ts';
import { importInstruments } from '../src/loading/reference.ts';
import { openStore } from '../src/store/engines.ts';
import { opened } from './service.ts';

/** A row of a file by the names of its columns. */
export type FileRow = Readonly<Record<string, unknown>>;

/** Rows of one dataset. */
export type Filling = readonly [dataset: keyof typeof importers, rows: readonly FileRow[]];

type Importer = (
  ...args: Parameters<typeof importNews> & Parameters<typeof importBars>
) => Promise<ImportReport>;

const importers = {
  instruments: importInstruments,
  bars: importBars,
  'corporate-actions': importCorporateActions,
  news: importNews,
  'option-contracts': importOptionContracts,
  holidays: importHolidays,
  'economic-events': importEconomicEvents,
  'economic-event-codes': importEconomicEventCodes,
} as const satisfies Readonly<Record<string, Importer>>;

/** The rows as a file; its path. */
export function rowsFile(path: string, rows: readonly FileRow[]): string {
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

/** Imports rows, dataset after dataset, into the store at an address, at a moment. @throws where a row is refused */
export async function fillStore(
  url: string,
  folder: string,
  nowMs: number,
  fillings: readonly Filling[],
): Promise<void> {
  const store = await openStore(url, 'write');
  const about = {
    flags: new Map<string, string>(),
    zone: null,
    basis: 'raw',
    source: null,
  } as const;
  try {
    for (const [dataset, rows] of fillings) {
      const file = await opened(rowsFile(`${folder}/${dataset}.ndjson`, rows));
      const importFile: Importer = importers[dataset];
      const report = await importFile(store, { file, ...about, dryRun: false, nowMs: () => nowMs });
      await file.close();
      if (report.rowsRefused > 0) throw new Error(JSON.stringify(report));
    }
  } finally {
    await store.close();
  }
}
