// The import of each dataset, by its name on the command line (contract 10), and the parts of its request
// that a file's mapping gives.
import { DAY_MS } from '../../base/instant.ts';
import type { BarLabel, SymbolTime } from '../../contract/file-words.ts';
import type { PriceBasis, VolumeBasis } from '../../contract/price-basis.ts';
import { findZone, type Zone } from '../../market/calendar/zone.ts';
import { corporateActions } from '../../store/schema/corporate-actions.ts';
import type { Dataset } from '../../store/schema/dataset.ts';
import { events } from '../../store/schema/economic.ts';
import { holidays } from '../../store/schema/holidays.ts';
import { BARS, fileDatasetNamed } from '../../store/schema/index.ts';
import { news } from '../../store/schema/news.ts';
import { optionContracts } from '../../store/schema/options.ts';
import { instruments } from '../../store/schema/reference.ts';
import type { OnWait, Store } from '../../store/store.ts';
import type { MappedFile } from '../map/column-mapping.ts';
import { FileProblem } from '../read/file-problem.ts';
import { importBars } from './bars.ts';
import { actionsOfFile } from './corporate-actions.ts';
import { economicEvents } from './economic.ts';
import { days } from './holidays.ts';
import { type ImportGroup, writeGroup } from './import-group.ts';
import type { ImportReport } from './import-report.ts';
import { importRows } from './import-rows.ts';
import { instrumentRows } from './instruments.ts';
import { newsItems } from './news.ts';
import { contracts } from './options.ts';
import type { Particulars } from './particulars.ts';
import type { PendingImport } from './refused-rows.ts';
import type { ImportRequest } from './run.ts';

/** What is special about some datasets. */
const particulars: ReadonlyMap<Dataset, Particulars> = new Map<Dataset, Particulars>([
  [instruments, instrumentRows],
  [holidays, days],
  [news, newsItems],
  [optionContracts, contracts],
  [events, economicEvents],
]);

/**
 * Imports one file into a dataset, by its name on the command line, as one of a group. Nothing is said of it,
 * and nothing durable, until the group's write has ended. @throws FileProblem where nothing of it can be
 * imported
 */
export function importInto(group: ImportGroup, name: string, request: ImportRequest): Promise<PendingImport> {
  if (name === BARS) return importBars(group, request);
  const dataset = fileDatasetNamed(name)!;
  return importRows(group, request, dataset, particularsOf(dataset, request));
}

/** @throws FileProblem for amounts of a basis that they cannot have */
function particularsOf(dataset: Dataset, { basis, file, openedMs, nowMs }: ImportRequest): Particulars {
  if (dataset === corporateActions && basis === 'all')
    throw new FileProblem(
      'usage',
      `${file.name}: amounts of corporate actions are raw, as traded on the day, or adjusted for splits (--prices split), never for dividends (--prices all)`,
    );
  if (dataset === corporateActions)
    return actionsOfFile(basis === 'split' ? Math.floor((openedMs ?? nowMs()) / DAY_MS) : null);
  return particulars.get(dataset) ?? {};
}

/** As `importInto`, in a write of its own. */
export async function importFile(
  store: Store,
  name: string,
  request: ImportRequest,
  onWait?: OnWait,
): Promise<ImportReport> {
  let pending: PendingImport | undefined;
  try {
    const work = async (group: ImportGroup): Promise<void> => {
      pending = await importInto(group, name, request);
    };
    await writeGroup(store, work, onWait);
  } catch (error) {
    pending?.drop();
    throw error;
  }
  return pending!.settle();
}

/** Flags that say what a file's mapping may say too. */
type MappingFlags = {
  readonly zone?: Zone | undefined;
  readonly prices?: PriceBasis | undefined;
  readonly volumes?: VolumeBasis | undefined;
  readonly symbols?: SymbolTime | undefined;
  readonly label?: BarLabel | undefined;
};

/** The parts of a request that a file's mapping gives; flags take precedence. */
export function requestOf({ mapping, ...file }: MappedFile, flags: MappingFlags) {
  const { zone, prices = mapping.prices, volumes = mapping.volumes } = flags;
  const { symbols = mapping.symbols, label = mapping.label } = flags;
  const named = zone ?? (mapping.zone === undefined ? null : findZone(mapping.zone));
  const used = {
    ...mapping,
    ...(named !== null && { zone: named.name }),
    ...(prices !== undefined && { prices }),
    ...(volumes !== undefined && { volumes }),
    ...(symbols !== undefined && { symbols }),
    ...(label !== undefined && { label }),
  };
  return {
    file: { ...file, mapping: used },
    zone: named,
    basis: prices ?? 'raw',
    ...(volumes !== undefined && { volumes }),
  };
}
