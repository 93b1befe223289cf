// One import as one part of a write: recorded, all or nothing, rolled back when every row was refused or it
// was only a trial.

import type { PriceBasis, VolumeBasis } from '../../contract/price-basis.ts';
import type { Zone } from '../../market/calendar/zone.ts';
import { FormerRuns, runAhead } from '../../runs/former-runs.ts';
import type { ReplaceRequest } from '../../runs/held-rows.ts';
import type { Counters } from '../../runs/new-instrument.ts';
import type { WriteRequest } from '../../runs/recorded-write.ts';
import { versionOfWrite } from '../../store/changes.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { Writer } from '../../store/store.ts';
import type { MappedFile } from '../map/column-mapping.ts';
import type { ImportGroup } from './import-group.ts';
import type { ImportReport } from './import-report.ts';
import { refusedRowsProblem } from './import-space.ts';

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

/** The result of a dataset's own part of an import. */
export type RunResult = Omit<
  ImportReport,
  | 'dataset'
  | 'file'
  | 'preset'
  | 'source'
  | 'sha256'
  | 'mayBeCut'
  | 'runId'
  | 'rowsNew'
  | 'replaced'
  | 'durationMs'
  | 'rejectedFile'
  | 'aheadRun'
>;

/**
 * The run that an import is, while it loads: its number and start, and the runs before it whose rows it
 * replaces.
 */
export type PresentRun = {
  readonly runId: number;
  /** The first run of its command. */
  readonly command: number;
  readonly startedMs: number;
  readonly former: FormerRuns;
  readonly counters: Counters;
};

/**
 * Runs `work` as one part of a group and records the run. Nothing is stored where every row was refused, or
 * in a dry run.
 */
export async function runImport(
  group: ImportGroup,
  request: ImportRequest,
  dataset: string,
  work: (writer: Writer, run: PresentRun) => Promise<{ result: RunResult; finish?: () => Promise<void> }>,
): Promise<Omit<ImportReport, 'rejectedFile'>> {
  const { file, dryRun, nowMs } = request;
  const { writer, counters } = group;
  const source = sourceOf(request);
  const startedMs = request.openedMs ?? nowMs();
  const write = async () => {
    const runId = await counters.next('run_id', 1);
    // The time of the write: another run may have ended while this one waited for it.
    // Of a group with runs the newest one has just ended.
    const aheadRun = group.isChanged ? null : await unlessDamaged(runAhead(writer, nowMs()));
    const former = new FormerRuns(writer, runId);
    const command = request.command ?? { firstRun: null };
    command.firstRun ??= runId;
    const run = { runId, command: command.firstRun, startedMs, former, counters };
    const { result, finish } = await work(writer, run);
    const { sha256, isEnded } = await file.digest();
    const finishedMs = nowMs();
    const isAllRefused = result.rowsRead > 0 && result.rowsRefused === result.rowsRead;
    // A refused row is one that the file holds: what it replaces must not go.
    const isUnsafe = request.replace !== undefined && result.rowsRefused > 0;
    const isTrial = dryRun || isAllRefused || isUnsafe;
    const report = {
      dataset,
      file: file.name,
      preset: presetOf(request),
      source,
      sha256,
      mayBeCut:
        file.format.kind === 'csv' && !isEnded && !file.wasPacked && file.mapping.isOpenEnded !== true,
      durationMs: finishedMs - startedMs,
      ...result,
      rowsNew: result.rowsWritten - result.rowsReplaced,
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
        rows_read: result.rowsRead,
        rows_written: result.rowsWritten + (result.rowsRemoved ?? 0),
        rows_unchanged: result.rowsUnchanged,
        rows_refused: result.rowsRefused,
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
  try {
    return await group.run(file, write);
  } catch (error) {
    throw await refusedRowsProblem(error, file);
  }
}

/** The source of a file: the caller's words, else the name of the preset; null without either. */
export const sourceOf = ({ source, file }: Pick<ImportRequest, 'source' | 'file'>): string | null =>
  source ?? file.mapping.preset ?? null;

function presetOf({ file, flags }: ImportRequest): ImportReport['preset'] {
  const { preset, values, zone, prices, volumes, symbols, label, doubt = null } = file.mapping;
  if (preset === undefined) return null;
  const says = {
    ...values,
    ...Object.fromEntries(flags),
    ...(zone !== undefined && { zone }),
    ...(prices !== undefined && { prices }),
    ...(volumes !== undefined && { volumes }),
    ...(symbols !== undefined && { symbols }),
    ...(label !== undefined && { label }),
  };
  return { name: preset, doubt, says };
}
