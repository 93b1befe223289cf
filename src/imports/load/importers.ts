// The import of each dataset, by its name on the command line (contract 10), and the parts of its request
// that a file's mapping gives.
import { DAY_MS } from '../../base/instant.ts';
import { findZone, type Zone } from '../../market/calendar/zone.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { barFields, seriesFields } from '../../store/schema/bars.ts';
import { corporateActions } from '../../store/schema/corporate-actions.ts';
import { type Dataset, spokenName } from '../../store/schema/dataset.ts';
import { events } from '../../store/schema/economic.ts';
import { holidays } from '../../store/schema/holidays.ts';
import { BARS, type FileDataset, fileDatasetNamed } from '../../store/schema/index.ts';
import { news } from '../../store/schema/news.ts';
import { optionContracts } from '../../store/schema/options.ts';
import { instruments } from '../../store/schema/reference.ts';
import type { OnWait, Store } from '../../store/store.ts';
import {
  type ColumnMapping,
  checkValues,
  type FieldSources,
  findSources,
  type MappedFile,
  namesOf,
} from '../map/column-mapping.ts';
import { instantRule } from '../map/instant-cell.ts';
import { contentProblem, NeedsCare, usageProblem } from '../read/file-problem.ts';
import type { BarChunk } from './bar-chunk.ts';
import { BarPass, nameProblem } from './bar-pass.ts';
import { readCarefully, readFast } from './bar-reader.ts';
import { actionsOfFile } from './corporate-actions.ts';
import { economicEvents } from './economic.ts';
import { days } from './holidays.ts';
import { type ImportGroup, writeGroup } from './import-group.ts';
import { instrumentRows } from './instruments.ts';
import { contracts } from './options.ts';
import { newsItems, type Particulars } from './particulars.ts';
import { Replacement } from './replacement.ts';
import { RowPass, type RowRules } from './row-pass.ts';
import { type ImportReport, type ImportRequest, type PendingImport, runImport } from './run.ts';

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
    throw usageProblem(
      `${file.name}: amounts of corporate actions are raw, as traded on the day, or adjusted for splits (--prices split), never for dividends (--prices all)`,
    );
  if (dataset === corporateActions)
    return actionsOfFile(basis === 'split' ? Math.floor((openedMs ?? nowMs()) / DAY_MS) : null);
  return particulars.get(dataset) ?? {};
}

/**
 * Imports one file of bars. CSV and Parquet are read fast; at the first problem the import starts again with
 * a careful reading, which can name every refused row. @throws FileProblem where nothing of it can be
 * imported
 */
async function importBars(group: ImportGroup, request: ImportRequest): Promise<PendingImport> {
  const { file, flags } = request;
  const mapping = findSources(file.name, file.header, namesOf(barFields), file.mapping, flags);
  checkNames(mapping, request);
  const load = (chunks: AsyncIterable<BarChunk>): Promise<PendingImport> =>
    runImport(group, request, BARS, mapping, async (run) => {
      const pass = new BarPass(run);
      for await (const chunk of chunks) await pass.add(chunk);
      // The digest finds an open quote, which may contain all rows.
      const { sha256 } = await file.digest();
      if (pass.rowsRead === 0 && !(saysAll(request) && (await pass.names.holdEmpty())))
        throw contentProblem(file.name, 'has no rows');
      return pass.settle(sha256);
    });
  const fast = readFast(file, mapping);
  try {
    if (fast !== null) return await load(fast);
  } catch (error) {
    if (!(error instanceof NeedsCare)) throw error;
  }
  return load(readCarefully(file, mapping));
}

/** Refuses a value for the whole file that no row of bars could have. */
function checkNames(mapping: FieldSources, request: ImportRequest): void {
  const isName = (field: string): field is (typeof seriesFields)[number] =>
    (seriesFields as readonly string[]).includes(field);
  const stray = [...mapping.values.keys()].find((field) => !isName(field));
  if (stray !== undefined)
    throw usageProblem(
      `the map gives ${stray} one value for the whole file: only ${seriesFields.join(', ')} can have one`,
    );
  checkValues(request, mapping, barFields, (field, value) =>
    isName(field) ? nameProblem(field, value)?.reason : undefined,
  );
}

/**
 * True if the caller says from when to when a file has every bar: then it may have none (contract 3.9 (1)).
 */
const saysAll = ({ completeFromMs = null, completeThroughMs = null }: ImportRequest): boolean =>
  completeFromMs !== null && completeThroughMs !== null;

/** Imports one file of rows. @throws FileProblem where nothing of it can be imported */
async function importRows(
  group: ImportGroup,
  request: ImportRequest,
  dataset: FileDataset,
  particulars: Particulars,
): Promise<PendingImport> {
  const { file, flags, replace, zone = null } = request;
  const { fields } = dataset.file;
  const mapping = findSources(file.name, file.header, namesOf(fields), file.mapping, flags);
  checkFlags(flags, dataset);
  const cells = cellRules(dataset, zone);
  checkValues(request, mapping, fields, (field, value) =>
    cells[field]!.parse(value) === undefined ? cells[field]!.reason : undefined,
  );
  return runImport(group, request, spokenName(dataset), mapping, async (run) => {
    const { writer, refused } = run;
    const replacement = replace === undefined ? null : new Replacement(run, dataset);
    // Rules of local times remember the row before.
    const passWith = (special: Particulars): RowPass =>
      new RowPass(run, { dataset, particulars: special, cells: cellRules(dataset, zone) }, replacement);
    const special = (await particulars.ofFile?.(passWith(particulars).validRows(), writer)) ?? particulars;
    const pass = passWith(special);
    for await (const chunk of pass.chunks()) {
      await pass.add(chunk);
      request.onRows?.(pass.rowsRead);
    }
    if (pass.rowsRead === 0 && file.rowNumbers === undefined) throw contentProblem(file.name, 'has no rows');
    await pass.writeHeld();
    const removed = refused.count === 0 ? await replacement?.finish(pass.holds) : undefined;
    Object.assign(pass.findings, await unlessDamaged(special.findingsAfter?.(writer)));
    return { ...pass.result(), ...removed };
  });
}

const cellRules = ({ file: { fields } }: FileDataset, zone: Zone | null): RowRules['cells'] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { rule }]) => [name, 'unit' in rule ? instantRule(rule, zone) : rule]),
  );

/** Refuses a field that the dataset does not have. */
function checkFlags(flags: ReadonlyMap<string, string>, dataset: FileDataset): void {
  const stray = [...flags.keys()].find((field) => !Object.hasOwn(dataset.file.fields, field));
  if (stray !== undefined)
    throw usageProblem(`${spokenName(dataset)} have no ${stray}, so it cannot be given for the whole file`);
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
type MappingFlags = { readonly zone?: Zone | undefined } & {
  readonly [K in 'prices' | 'volumes' | 'symbols' | 'label']?: ColumnMapping[K] | undefined;
};

/** The parts of a request that a file's mapping gives; flags take precedence. */
export function requestOf({ mapping, ...file }: MappedFile, flags: MappingFlags) {
  const { zone, ...said } = flags;
  const given = Object.entries(said).filter(([, word]) => word !== undefined);
  const named = zone ?? (mapping.zone === undefined ? null : findZone(mapping.zone));
  const used: ColumnMapping = {
    ...mapping,
    ...Object.fromEntries(given),
    ...(named !== null && { zone: named.name }),
  };
  const { prices, volumes } = used;
  return {
    file: { ...file, mapping: used },
    zone: named,
    basis: prices ?? 'raw',
    ...(volumes !== undefined && { volumes }),
  };
}
