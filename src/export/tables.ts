// What leaves the store as files: the datasets by the names and columns of native files (contract 10, 11).
import { BARS, fileDatasetNamed } from '../datasets/index.ts';
import { findInstruments } from '../history/instrument-choice.ts';
import type { Reader } from '../store/store.ts';
import { barTable } from './bars.ts';
import { type ExportTable, type Selection, whereOf } from './export-table.ts';
import { rowTable } from './rows.ts';

/** The part of a selection that says nothing of a dataset; undefined where all of it does. */
export function straySelector(name: string, selection: Selection): keyof Selection | undefined {
  if (name === BARS) return undefined;
  const dataset = fileDatasetNamed(name)!;
  const isKnown = (part: keyof Selection): boolean => {
    if (part === 'from' || part === 'to') return dataset.file.time !== undefined;
    return Object.keys(whereOf(dataset, { ...nothing, [part]: selection[part] })).length > 0;
  };
  const given = (Object.keys(selection) as (keyof Selection)[]).filter((part) => selection[part] !== null);
  return given.find((part) => !isKnown(part));
}

const nothing: Selection = {
  assetSchema: null,
  country: null,
  symbol: null,
  interval: null,
  basis: null,
  from: null,
  to: null,
};

/** What of a dataset is selected. @throws RequestProblem for a symbol that is not known, and for what one file cannot hold */
export async function exportTable(reader: Reader, name: string, selection: Selection): Promise<ExportTable> {
  const { assetSchema, country, symbol } = selection;
  const dataset = fileDatasetNamed(name);
  // Days may be an instrument's that is not known.
  const isKnown = dataset?.file.names?.[0]?.mayBeMarket !== true;
  if (symbol !== null && country !== null && isKnown)
    await findInstruments(reader, { assetSchema, country, symbol });
  return dataset === undefined ? barTable(reader, selection) : rowTable(reader, dataset, selection);
}
