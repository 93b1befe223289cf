// The table of an export, by the name of its dataset (contract 10, 11).

import { findInstruments } from '../../runs/instrument-choice.ts';
import { BARS, fileDatasetNamed } from '../../store/schema/index.ts';
import type { Reader } from '../../store/store.ts';
import { barTable } from './export-bars.ts';
import { rowTable } from './export-rows.ts';
import { type ExportTable, type Selection, whereOf } from './export-table.ts';

/** The first part of a selection that a dataset does not have; undefined where it has all. */
export function straySelector(name: string, selection: Selection): keyof Selection | undefined {
  if (name === BARS) return undefined;
  const dataset = fileDatasetNamed(name)!;
  const isKnown = (part: keyof Selection): boolean => {
    if (part === 'from' || part === 'to') return dataset.file.time !== undefined;
    return Object.keys(whereOf(dataset, { ...everything, [part]: selection[part] })).length > 0;
  };
  const given = (Object.keys(selection) as (keyof Selection)[]).filter((part) => selection[part] !== null);
  return given.find((part) => !isKnown(part));
}

/** Selects everything. */
export const everything: Selection = {
  assetSchema: null,
  country: null,
  symbol: null,
  interval: null,
  basis: null,
  volumes: null,
  from: null,
  to: null,
};

/**
 * The selected part of a dataset.
 * @throws RequestProblem for an unknown symbol, a range that ends before it begins, and bars of several bases
 */
export async function exportTable(reader: Reader, name: string, selection: Selection): Promise<ExportTable> {
  const { assetSchema, country, symbol } = selection;
  const dataset = fileDatasetNamed(name);
  // Calendar overrides may be of an unknown instrument.
  const isKnown = dataset?.file.names?.[0]?.mayBeMarket !== true;
  const [found] =
    symbol !== null && country !== null && isKnown
      ? await findInstruments(reader, { assetSchema, country, symbol })
      : [];
  const named = found === undefined ? selection : { ...selection, symbol: found.symbol };
  return dataset === undefined ? barTable(reader, named) : rowTable(reader, dataset, named);
}
