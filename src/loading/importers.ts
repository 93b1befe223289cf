// The imports by dataset, as the command line calls them (contract 10), and what each is given of a file's map.
import { findZone, type Zone } from '../calendar/zone.ts';
import type { PriceBasis } from '../contract/price-basis.ts';
import type { ImportReport } from '../history/import-report.ts';
import type { ImportRequest } from '../history/run.ts';
import type { FieldNames, MappedFile } from '../mapping/column-mapping.ts';
import type { Store } from '../store/store.ts';
import { barFields, importBars } from './bars.ts';
import { corporateActionFields, importCorporateActions } from './corporate-actions.ts';
import { eventCodeFields, eventFields, importEconomicEventCodes, importEconomicEvents } from './economic.ts';
import { holidayFields, importHolidays } from './holidays.ts';
import { importNews, newsFields } from './news.ts';
import { importOptionContracts, optionContractFields } from './options.ts';
import { importInstruments, instrumentFields } from './reference.ts';

/** Imports one file. */
export type Importer = (store: Store, request: ImportRequest) => Promise<ImportReport>;

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

/** The parts of a request that a file's mapping and the flags give. */
export function requestOf(
  { mapping, ...file }: MappedFile,
  {
    zone = mapping.zone === undefined ? undefined : (findZone(mapping.zone) ?? undefined),
    prices = mapping.prices,
  }: Said,
): Required<Pick<ImportRequest, 'file' | 'zone' | 'basis'>> {
  const said = {
    ...mapping,
    ...(zone === undefined ? {} : { zone: zone.name }),
    ...(prices === undefined ? {} : { prices }),
  };
  return { file: { ...file, mapping: said }, zone: zone ?? null, basis: prices ?? 'raw' };
}
