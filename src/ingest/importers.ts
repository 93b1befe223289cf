// The imports by dataset, as the command line calls them (contract 10), and what each is given of a file's map.
import { findZone, type Zone } from '../calendar/zone.ts';
import type { Store } from '../store/store.ts';
import { barFields, importBars } from './bars.ts';
import { corporateActionFields, importCorporateActions } from './corporate-actions.ts';
import { eventCodeFields, eventFields, importEconomicEventCodes, importEconomicEvents } from './economic.ts';
import type { SourceFile } from './file.ts';
import { holidayFields, importHolidays } from './holidays.ts';
import { importInstruments, instrumentFields } from './instruments.ts';
import type { PriceBasis } from './load.ts';
import type { FieldMap, FieldNames } from './mapping.ts';
import { importNews, newsFields } from './news.ts';
import { importOptionContracts, optionContractFields } from './option-contracts.ts';
import type { ImportReport } from './report.ts';
import type { ImportRequest } from './run.ts';

/** What an import of any dataset is given. */
type Request = ImportRequest & {
  readonly map: FieldMap;
  /** The zone of times without an offset. */
  readonly zone: Zone | null;
  readonly basis: PriceBasis;
};

/** Imports one file. */
export type Importer = (store: Store, request: Request) => Promise<ImportReport>;

export const importers: Readonly<Record<string, Importer>> = {
  bars: importBars,
  'corporate-actions': importCorporateActions,
  'economic-event-codes': importEconomicEventCodes,
  'economic-events': importEconomicEvents,
  holidays: importHolidays,
  instruments: importInstruments,
  news: importNews,
  'option-contracts': importOptionContracts,
};

/** The fields of a dataset's files. */
export const fieldsOf: Readonly<Record<string, FieldNames>> = {
  bars: barFields,
  'corporate-actions': corporateActionFields,
  'economic-event-codes': eventCodeFields,
  'economic-events': eventFields,
  holidays: holidayFields,
  instruments: instrumentFields,
  news: newsFields,
  'option-contracts': optionContractFields,
};

/** What flags say of a file, over what its map says. */
export type Said = { readonly zone?: Zone | undefined; readonly prices?: PriceBasis | undefined };

/** The parts of a request that a file's map and the flags give. */
export function requestOf(
  file: SourceFile,
  { zone, prices = file.map.prices }: Said,
): Pick<Request, 'file' | 'map' | 'zone' | 'basis'> {
  const named = zone ?? (file.map.zone === undefined ? null : findZone(file.map.zone));
  const map = {
    ...file.map,
    ...(named === null ? {} : { zone: named.name }),
    ...(prices === undefined ? {} : { prices }),
  };
  return { file: { ...file, map }, map, zone: named, basis: prices ?? 'raw' };
}
