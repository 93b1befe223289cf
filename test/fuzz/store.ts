// Puts the fuzzer's data into a store, as files that the imports read.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importBars } from '../../src/ingest/bars.ts';
import { importCorporateActions } from '../../src/ingest/corporate-actions.ts';
import { importEconomicEventCodes, importEconomicEvents } from '../../src/ingest/economic.ts';
import { importHolidays } from '../../src/ingest/holidays.ts';
import { importInstruments } from '../../src/ingest/instruments.ts';
import { noMap } from '../../src/ingest/mapping.ts';
import { importNews } from '../../src/ingest/news.ts';
import { importOptionContracts } from '../../src/ingest/option-contracts.ts';
import type { ImportReport } from '../../src/ingest/report.ts';
import { openStore } from '../../src/store/engines.ts';
import { opened } from '../service.ts';
import {
  barNames,
  CLOSE,
  corporateActions,
  eventCodes,
  events,
  holidays,
  instruments,
  news,
  optionContracts,
  type Row,
} from './data.ts';

const MINUTES = 60;
const DAYS = ['03', '04', '05', '06', '07'];

/** Interval and time of each bar that every instrument has: minutes of two days, and days. */
const times: readonly (readonly [interval: string, datetime: string])[] = [
  ...['03', '04'].flatMap((day) =>
    Array.from({ length: MINUTES }, (_, index) => {
      const atMs = Date.parse(`2025-03-${day}T14:30:00Z`) + index * 60_000;
      return ['1M', new Date(atMs).toISOString()] as const;
    }),
  ),
  ...DAYS.map((day) => ['DAY', `2025-03-${day}`] as const),
];

const bars: readonly Row[] = barNames.flatMap((name) => {
  const [asset_schema, country_iso_code, symbol] = name.split(':') as [string, string, string];
  return times.map(([interval, datetime], volume) => ({
    ...{ asset_schema, country_iso_code, symbol, interval, datetime },
    ...{ open: 1, high: 3.5, low: 0.5, close: CLOSE, volume },
  }));
});

type Importer = (
  ...args: Parameters<typeof importNews> & Parameters<typeof importBars>
) => Promise<ImportReport>;

const files: readonly (readonly [rows: readonly Row[], importFile: Importer])[] = [
  [instruments, importInstruments],
  [bars, importBars],
  [corporateActions.map(([row]) => row), importCorporateActions],
  [news, importNews],
  [optionContracts.map(([row]) => row), importOptionContracts],
  [holidays, importHolidays],
  [events.map(([row]) => row), importEconomicEvents],
  [eventCodes, importEconomicEventCodes],
];

/** Imports every file into the store at an address, at a moment; the folder is for the files. @throws where a row is refused */
export async function fillStore(url: string, folder: string, nowMs: number): Promise<void> {
  const store = await openStore(url, 'write');
  const about = {
    flags: new Map<string, string>(),
    map: noMap,
    zone: null,
    basis: 'raw',
    source: null,
  } as const;
  try {
    for (const [index, [rows, importFile]] of files.entries()) {
      const path = join(folder, `${index}.ndjson`);
      writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const file = await opened(path);
      const report = await importFile(store, { file, ...about, dryRun: false, nowMs: () => nowMs });
      if (report.rowsRefused > 0) throw new Error(JSON.stringify(report));
      await file.close();
    }
  } finally {
    await store.close();
  }
}
