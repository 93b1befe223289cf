// One import as one part of a write: recorded, all or nothing, rolled back when every row was refused or it
// was only a trial.
import type { PriceBasis, VolumeBasis } from '../../contract/file-words.ts';
import type { Zone } from '../../market/calendar/zone.ts';
import { type FormerRun, FormerRuns, type RunAhead, runAhead } from '../../runs/former-runs.ts';
import type { ReplaceRequest } from '../../runs/held-rows.ts';
import type { Counters } from '../../runs/new-instrument.ts';
import type { WriteRequest } from '../../runs/recorded-write.ts';
import { versionOfWrite } from '../../store/changes.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { Writer } from '../../store/store.ts';
import {
  alikeNote,
  type ColumnMapping,
  type FieldSources,
  type MappedFile,
  mapFound,
} from '../map/column-mapping.ts';
import { formatOf } from '../map/explain-file.ts';
import { known } from '../map/presets/preset.ts';
import { unfitProblem } from '../read/file-problem.ts';
import { type ImportGroup, refusedRowsProblem } from './import-group.ts';
import { type Refusal, type RefusalGroup, RefusedRows } from './refused-rows.ts';

/** The rows that an import with `--replace` removed. */
export type RemovedRows = {
  /** Rows that the source brought before, and the file does not hold. */
  readonly rowsRemoved: number;
  /** Such rows that stay, because a run of another source holds them too. */
  readonly rowsLeft: number;
  /** Instruments of removed option contracts. */
  readonly instrumentsDeleted: number;
  /** The runs that had brought the removed rows. */
  readonly removed: readonly FormerRun[];
  /** The first removed rows, each by the fields that name it. */
  readonly removedRows: readonly Readonly<Record<string, string>>[];
};

/** Loaded bars that deserve a warning (contract 3.10, 11). */
type BarCounts = {
  /** Bars outside every segment: stored, not served. */
  readonly outsideSessions: number;
  /** Bars off the session grid of their interval. */
  readonly offGrid: number;
  /** DAY bars of closed dates whose evening opens the next session: merged into it when they are read. */
  readonly mergedDays: number;
  /** Bars whose vwap lies outside their low and high: stored and served. */
  readonly vwapOutside: number;
};

const noBars: BarCounts = { outsideSessions: 0, offGrid: 0, mergedDays: 0, vwapOutside: 0 };

/**
 * The report of an import, as `--json` prints it. Without `--replace`, or if a row was refused, it has no
 * removed rows.
 */
export type ImportReport = BarCounts &
  Partial<RemovedRows> & {
    readonly dataset: string;
    readonly file: string;
    readonly sha256: string;
    /**
     * The last line of a CSV has no line end, so that the file may have been cut off inside its last cell.
     * Never where it was packed, or where its vendor's files have no last line end.
     */
    readonly mayBeCut: boolean;
    /** The preset that read the file, and what it says of every row; null where none did. */
    readonly preset: {
      readonly name: string;
      readonly says: Readonly<Record<string, string>>;
      /** A warning about the file as a whole. */
      readonly doubt: string | null;
    } | null;
    /** What the rows were made of, in words; null where the file has them as they are read. */
    readonly shape: string | null;
    /** The columns that were found by their names, as a mapping file has them; null where nothing was. */
    readonly map: ColumnMapping['columns'] | null;
    /** Optional fields that several columns may be, and how one is read. */
    readonly alike?: string;
    /** The origin of the file: the caller's words, else the name of the preset; null without either. */
    readonly source: string | null;
    /** Null where nothing was written. */
    readonly runId: number | null;
    readonly rowsRead: number;
    /** Those that are new and those that are replaced. */
    readonly rowsWritten: number;
    readonly rowsNew: number;
    readonly rowsReplaced: number;
    /** The runs whose rows were replaced; the oldest of very many runs are left out. */
    readonly replaced: readonly FormerRun[];
    /** Those that the store, or the file further up, has with the same values. */
    readonly rowsUnchanged: number;
    readonly rowsRefused: number;
    readonly newInstruments: number;
    /** Markets of theirs that are not built in, such as `stock:NG`. */
    readonly unknownMarkets: readonly string[];
    /** Warnings about rows that were stored, each with its number of rows. */
    readonly findings: Readonly<Record<string, number>>;
    /** Times around the bars of the file that no import covers; absent where the dataset is not bars. */
    readonly openTimes?: readonly OpenTime[];
    readonly ignoredColumns: readonly string[];
    /** Field -> its columns and how they are converted, in words, where no preset does. */
    readonly conversions: Readonly<Record<string, string>>;
    /** Columns that the map names for optional fields, and no object of the file has. */
    readonly lackingColumns: readonly string[];
    /** The first refused rows. */
    readonly refused: readonly Refusal[];
    /** The first reasons of refusals, each once with its first row. */
    readonly refusals: readonly RefusalGroup[];
    readonly rejectedFile: string | null;
    /** The number of rows in that file, if it has no room for all of them. */
    readonly rejectedRows?: number;
    /** The newest run, where it ended after this import by the clock: one of the two had a wrong clock. */
    readonly aheadRun: RunAhead | null;
    readonly durationMs: number;
  };

/**
 * A time in which bars of a market and interval are not derived, because no import covers it (contract 3.9).
 */
export type OpenTime = {
  readonly market: string;
  readonly interval: string;
  /** Instants such as `2025-03-04T01:00:00Z`. */
  readonly from: string;
  readonly through: string;
  /**
   * True if it is between a series' earlier bars and the file, or between the file and the end of its last
   * session.
   */
  readonly isBefore: boolean;
};

/** Flags that can change what an import gives, by name, in the order of their names. */
export type RecordedFlags = Readonly<Record<string, string>>;

/** The request of any import, whatever its dataset. */
export type ImportRequest = Omit<WriteRequest, 'onWait'> & {
  readonly file: MappedFile;
  /** Fields that are the same for the whole file, by name. */
  readonly flags: ReadonlyMap<string, string>;
  /** The zone of times without an offset, where they have one. */
  readonly zone?: Zone | null;
  /** Of the prices of bars: raw by default. */
  readonly basis?: PriceBasis;
  /** The currency of the prices of bars: the instruments get it. */
  readonly currency?: string | undefined;
  /**
   * The moment before the file was opened: what it has of bars that close later may be a part of them,
   * however long the import then waits. By default the beginning of the import.
   */
  readonly openedMs?: number;
  /**
   * From when to when the caller says that the file has every bar (contract 3.9 (1)); by default its bars
   * tell.
   */
  readonly completeFromMs?: number | null;
  readonly completeThroughMs?: number | null;
  /** The command that the import is one of: without it, it is one by itself. */
  readonly command?: ImportedCommand;
  /** Of the volumes of bars: by default that of the prices. */
  readonly volumes?: VolumeBasis;
  /** Where the file comes from, in the caller's words; null: the preset's name, where one reads the file. */
  readonly source: string | null;
  /** The file replaces the earlier rows of its source. Not for bars. */
  readonly replace?: ReplaceRequest | undefined;
  /** Whether refused rows are written to a file; true by default. */
  readonly keepsRefused?: boolean;
  /** The flags that the run records, by name: what a watch compares (`watched-file.ts`). */
  readonly recordedFlags?: RecordedFlags;
};

/** One command, or one look of a watch: its first run, once there is one. */
export type ImportedCommand = { firstRun: number | null };

/** The result of a dataset's own part of an import; `finish` is called where the import is no trial. */
export type RunResult = Pick<
  ImportReport,
  'rowsRead' | 'rowsWritten' | 'rowsReplaced' | 'newInstruments' | 'findings' | 'openTimes'
> &
  Partial<BarCounts & RemovedRows> & { readonly finish?: () => Promise<void> };

/**
 * The run that an import is, while it loads: what it was asked for, its number and start, and the runs before
 * it whose rows it replaces.
 */
export type PresentRun = {
  readonly writer: Writer;
  readonly request: ImportRequest;
  readonly mapping: FieldSources;
  readonly refused: RefusedRows;
  readonly runId: number;
  /** The first run of its command. */
  readonly command: number;
  readonly startedMs: number;
  /** The origin of its file: the caller's words, else the name of the preset; null without either. */
  readonly source: string | null;
  readonly former: FormerRuns;
  /** Markets that are not built in, of instruments that it makes. */
  readonly unknownMarkets: Set<string>;
  readonly counters: Counters;
};

/** An import whose write has not ended. */
export type PendingImport = {
  /** Once the write has ended: gives the file of refused rows its name, and the report. */
  readonly settle: () => ImportReport;
  /** Removes the file of refused rows, after the write was undone. */
  readonly drop: () => void;
};

/**
 * Runs `work` as one part of a group, with a place for the rows that it refuses, and records the run. Nothing
 * is stored where every row was refused, or in a dry run.
 */
export async function runImport(
  group: ImportGroup,
  request: ImportRequest,
  dataset: string,
  mapping: FieldSources,
  work: (run: PresentRun) => Promise<RunResult>,
): Promise<PendingImport> {
  const { file, dryRun, nowMs, keepsRefused = true } = request;
  const { writer, counters } = group;
  const refused = new RefusedRows(file, mapping, keepsRefused);
  const source = request.source ?? file.mapping.preset ?? null;
  if (request.replace !== undefined && source === null)
    throw unfitProblem(
      file.name,
      '--replace replaces rows that the same source imported before: name it by --source TEXT',
    );
  const startedMs = request.openedMs ?? nowMs();
  const write = async () => {
    const runId = await counters.next('run_id', 1);
    // The time of the write: another run may have ended while this one waited for it.
    // Of a group with runs the newest one has just ended.
    const aheadRun = group.isChanged ? null : await unlessDamaged(runAhead(writer, nowMs()));
    const former = new FormerRuns(writer, runId);
    const command = request.command ?? { firstRun: null };
    command.firstRun ??= runId;
    const unknownMarkets = new Set<string>();
    const asked = { writer, request, mapping, refused, source, unknownMarkets };
    const run = { ...asked, runId, command: command.firstRun, startedMs, former, counters };
    const { finish, ...result } = await work(run);
    const { rowsRead, rowsWritten, rowsReplaced, rowsRemoved = 0 } = result;
    const { sha256, isEnded } = await file.digest();
    const finishedMs = nowMs();
    const isAllRefused = rowsRead > 0 && refused.count === rowsRead;
    // A refused row is one that the file holds: what it replaces must not go.
    const isUnsafe = request.replace !== undefined && refused.count > 0;
    const isTrial = dryRun || isAllRefused || isUnsafe;
    const alike = alikeNote(file.mapping);
    const { reason = '', count = 0 } = file.leftOut ?? {};
    const report = {
      dataset,
      file: file.name,
      preset: presetOf(request),
      shape: shapeIn(file),
      map: mapFound(file.mapping),
      ...(alike !== null && { alike }),
      source,
      sha256,
      mayBeCut:
        file.format.kind === 'csv' && !isEnded && !file.wasPacked && file.mapping.isOpenEnded !== true,
      durationMs: finishedMs - startedMs,
      ...noBars,
      ...result,
      findings: { ...(count > 0 && { [reason]: count }), ...result.findings },
      rowsNew: rowsWritten - rowsReplaced,
      rowsUnchanged: rowsRead - refused.count - rowsWritten,
      rowsRefused: refused.count,
      refused: refused.first,
      refusals: refused.groups,
      ignoredColumns: mapping.ignored,
      lackingColumns: mapping.lacking,
      unknownMarkets: [...unknownMarkets],
      conversions: mapping.conversions,
      replaced: await former.list(),
      aheadRun,
      runId: isTrial ? null : runId,
    };
    if (isTrial) return { result: report, isTrial };
    await finish?.();
    await writer.upsert(importRuns, [
      {
        run_id: runId,
        kind: 'import',
        dataset,
        file: file.recordedAs,
        sha256,
        source,
        rows_read: rowsRead,
        rows_written: rowsWritten + rowsRemoved,
        rows_unchanged: report.rowsUnchanged,
        rows_refused: refused.count,
        started_ms: startedMs,
        finished_ms: finishedMs,
        undone_ms: null,
        path: file.origin.path,
        archive_sha256: file.origin.archiveSha256,
        flags: request.recordedFlags ?? null,
        data_version: await versionOfWrite(writer),
      },
    ]);
    return { result: report, isTrial };
  };
  const drop = (): void => refused.drop();
  try {
    const report = await group.run(file, write);
    refused.end();
    const { rowsKept, count } = refused;
    const cut = keepsRefused && rowsKept < count ? { rejectedRows: rowsKept } : {};
    return { drop, settle: () => ({ ...report, rejectedFile: refused.keep(dryRun), ...cut }) };
  } catch (error) {
    const problem = await refusedRowsProblem(error, file);
    drop();
    throw problem;
  }
}

/** The layout that the report names: null for a plain file, and where a preset or a map says it. */
function shapeIn({ format, mapping }: MappedFile): string | null {
  const { shape, encoding, delimiter, skip, header, preset, locate } = mapping;
  const isFound = preset === undefined && locate === undefined && (delimiter ?? skip ?? header) !== undefined;
  if (shape === undefined && isFound) return formatOf({ format, mapping });
  return shape ?? (encoding === undefined ? null : `text in ${encoding}`);
}

function presetOf({ file, flags }: ImportRequest): ImportReport['preset'] {
  const { preset, values, zone, prices, volumes, symbols, label, doubt = null } = file.mapping;
  if (preset === undefined) return null;
  const says = {
    ...values,
    ...Object.fromEntries(flags),
    ...known({ zone, prices, volumes, symbols, label }),
  };
  return { name: preset, doubt, says };
}
