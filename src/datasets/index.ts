// The datasets: the only list of them.
import { barCoverage, series } from './bars.ts';
import { corporateActions } from './corporate-actions.ts';
import { type Dataset, type FileDeclaration, spokenName } from './dataset.ts';
import { eventCodes, events } from './economic.ts';
import { holidays } from './holidays.ts';
import { apiKeys, blockChanges, counters, importRuns, quotaUses, rowChanges, secrets } from './internal.ts';
import { news } from './news.ts';
import { optionContracts } from './options.ts';
import { instruments, instrumentTerms } from './reference.ts';

/** In the store itself. A content hash has those of files in this order, holidays first: a new one comes after them. */
export const dataDatasets: readonly Dataset[] = [
  instruments,
  corporateActions,
  news,
  optionContracts,
  holidays,
  events,
  eventCodes,
  instrumentTerms,
  series,
  barCoverage,
  importRuns,
  blockChanges,
  rowChanges,
  counters,
];

/** In the control file beside it. */
export const controlDatasets: readonly Dataset[] = [apiKeys, secrets, quotaUses];

/** A dataset whose rows come from files and leave in files. */
export type FileDataset = Dataset & { readonly file: FileDeclaration };

/** The datasets of files; bars, which are no rows, are beside them. */
export const fileDatasets: readonly FileDataset[] = dataDatasets.filter(
  (dataset): dataset is FileDataset => dataset.file !== undefined,
);

/** What the command line calls the stored bars. */
export const BARS = 'bars';

/** What the command line calls the datasets of files. */
export const fileDatasetNames: readonly string[] = [BARS, ...fileDatasets.map(spokenName)].sort();

/** The dataset of files that the command line calls so. */
export const fileDatasetNamed = (name: string): FileDataset | undefined =>
  fileDatasets.find((dataset) => spokenName(dataset) === name);
