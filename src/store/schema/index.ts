// The datasets: the only list of them.
import { runSpans, series } from './bars.ts';
import { corporateActions } from './corporate-actions.ts';
import { type Dataset, type FileDeclaration, spokenName } from './dataset.ts';
import { eventCodes, events } from './economic.ts';
import { holidays } from './holidays.ts';
import { dataRecords } from './internal.ts';
import { news } from './news.ts';
import { optionContracts, optionQuotes } from './options.ts';
import { instruments, instrumentTerms } from './reference.ts';

/**
 * The datasets of the store itself. A content hash has the datasets of files in this order, holidays first; a
 * new one goes to their end.
 */
export const dataDatasets: readonly Dataset[] = [
  instruments,
  corporateActions,
  news,
  optionContracts,
  optionQuotes,
  holidays,
  events,
  eventCodes,
  instrumentTerms,
  series,
  runSpans,
  ...dataRecords,
];

/** A dataset that is imported and exported. */
export type FileDataset = Dataset & { readonly file: FileDeclaration };

/** The imported and exported datasets, without bars, which are not rows. */
export const fileDatasets: readonly FileDataset[] = dataDatasets.filter(
  (dataset): dataset is FileDataset => dataset.file !== undefined,
);

/** The name of bars on the command line. */
export const BARS = 'bars';

/** The names of the imported and exported datasets on the command line. */
export const fileDatasetNames: readonly string[] = [BARS, ...fileDatasets.map(spokenName)].sort();

/** The imported and exported dataset with this name on the command line. */
export const fileDatasetNamed = (name: string): FileDataset | undefined =>
  fileDatasets.find((dataset) => spokenName(dataset) === name);
