// What leaves the store as files: the datasets by the names and columns of native files (contract 10, 11).

import { findInstruments } from '../history/instrument-choice.ts';
import type { Reader } from '../store/store.ts';
import { barTable } from './bars.ts';
import type { ExportTable, Selection } from './export-table.ts';
import { rowTables } from './rows.ts';

/** The parts of a selection that can be asked for of each dataset. */
const selectors: Readonly<Record<string, readonly (keyof Selection)[]>> = {
  bars: ['assetSchema', 'country', 'symbol', 'interval', 'basis', 'from', 'to'],
  'corporate-actions': ['assetSchema', 'country', 'symbol', 'from', 'to'],
  'economic-event-codes': ['country'],
  'economic-events': ['country', 'from', 'to'],
  holidays: ['assetSchema', 'country', 'symbol', 'from', 'to'],
  instruments: ['assetSchema', 'country', 'symbol'],
  news: ['assetSchema', 'country', 'symbol', 'from', 'to'],
  'option-contracts': ['assetSchema', 'country', 'symbol', 'from', 'to'],
};

/** The datasets that can be exported. */
export const exportable: readonly string[] = Object.keys(selectors);

/** The part of a selection that says nothing of a dataset; undefined where all of it does. */
export function straySelector(dataset: string, selection: Selection): keyof Selection | undefined {
  const given = (Object.keys(selection) as (keyof Selection)[]).filter((name) => selection[name] !== null);
  return given.find((name) => !selectors[dataset]!.includes(name));
}

/** What of a dataset is selected. @throws RequestProblem for a symbol that is not known, and for what one file cannot hold */
export async function exportTable(
  reader: Reader,
  dataset: string,
  selection: Selection,
): Promise<ExportTable> {
  const { assetSchema, country, symbol } = selection;
  // Days may be an instrument's that is not known yet.
  if (symbol !== null && country !== null && dataset !== 'holidays')
    await findInstruments(reader, { assetSchema, country, symbol });
  return dataset === 'bars' ? barTable(reader, selection) : rowTables[dataset]!(reader, selection);
}
