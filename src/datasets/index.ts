// The datasets, by the file that keeps them.
import { barCoverage, series } from './bars.ts';
import { corporateActions } from './corporate-actions.ts';
import type { Dataset } from './dataset.ts';
import { eventCodes, events } from './economic.ts';
import { holidays } from './holidays.ts';
import { apiKeys, blockChanges, counters, importRuns, quotaUses, rowChanges, secrets } from './internal.ts';
import { news } from './news.ts';
import { optionContracts } from './options.ts';
import { instruments, instrumentTerms } from './reference.ts';

/** In the store itself. */
export const dataDatasets: readonly Dataset[] = [
  instruments,
  instrumentTerms,
  holidays,
  optionContracts,
  events,
  eventCodes,
  corporateActions,
  news,
  series,
  barCoverage,
  importRuns,
  blockChanges,
  rowChanges,
  counters,
];

/** In the control file beside it. */
export const controlDatasets: readonly Dataset[] = [apiKeys, secrets, quotaUses];
