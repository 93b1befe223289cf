// One import as one write of the store: recorded, all or nothing, taken back when nothing came of it or it was only a trial.
import type { Zone } from '../calendar/zone.ts';
import type { PriceBasis } from '../contract/price-basis.ts';
import { importRuns } from '../datasets/internal.ts';
import type { MappedFile } from '../mapping/column-mapping.ts';
import type { OnWait, Store, Writer } from '../store/store.ts';
import type { ImportReport } from './import-report.ts';
import { ImportRoom } from './import-space.ts';
import { nextValue } from './new-instrument.ts';
import { writeOrTry } from './trial.ts';

/** What every import is given, whatever its dataset. */
export type ImportRequest = {
  readonly file: MappedFile;
  /** Fields that are the same for the whole file, by name. */
  readonly flags: ReadonlyMap<string, string>;
  /** The zone of times without an offset, where they have one. */
  readonly zone?: Zone | null;
  /** Of the prices of bars: raw, unless it is given. */
  readonly basis?: PriceBasis;
  /** What the caller says of where the file comes from. */
  readonly source: string | null;
  /** Reads and checks everything, and writes nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  /** Told now and then how many rows have been read. */
  readonly onRows?: (rows: number) => void;
  /** Told once that another write is under way, which this one waits for. */
  readonly onWait?: OnWait;
};

/** A request for a dataset that calls `asset_name` what `--schema` gives. */
export function withAssetName<R extends ImportRequest>(request: R): R {
  const named = [...request.flags].map(
    ([field, value]) => [field === 'asset_schema' ? 'asset_name' : field, value] as const,
  );
  return { ...request, flags: new Map(named) };
}

/** What a dataset's own part of an import found. */
export type RunResult = Omit<
  ImportReport,
  'dataset' | 'file' | 'preset' | 'sha256' | 'mayBeCut' | 'runId' | 'durationMs' | 'rejectedFile'
>;

/** The account of an import before its refused rows have a place. */
export type RunReport = Omit<ImportReport, 'rejectedFile'>;

/** Runs `work` in one write and records the run. Nothing is kept where every row was refused, or in a dry run. */
export async function runImport(
  store: Store,
  request: ImportRequest,
  dataset: string,
  work: (
    writer: Writer,
    runId: number,
  ) => Promise<{ result: RunResult; finish: (finishedMs: number) => Promise<void> }>,
): Promise<RunReport> {
  const { file } = request;
  const startedMs = request.nowMs();
  const room = new ImportRoom(store, file);
  try {
    return await writeOrTry(
      store,
      async (writer) => {
        await room.require();
        const runId = await nextValue(writer, 'run_id', 1);
        const { result, finish } = await work(writer, runId);
        const { sha256, isEnded } = await file.digest();
        const finishedMs = request.nowMs();
        const about = {
          dataset,
          file: file.name,
          preset: presetOf(request),
          sha256,
          mayBeCut: file.format.kind === 'csv' && !isEnded,
          durationMs: finishedMs - startedMs,
        };
        const isTrial = request.dryRun || result.rowsRefused === result.rowsRead;
        const report = { ...about, ...result, runId: isTrial ? null : runId };
        if (!isTrial) {
          await finish(finishedMs);
          await record(writer, runId, startedMs, finishedMs, request, report);
        }
        return { result: report, isTrial };
      },
      request.onWait,
    );
  } catch (error) {
    throw await room.problem(error);
  }
}

function presetOf({ file, flags }: ImportRequest): ImportReport['preset'] {
  const { preset, values, zone, prices, doubt = null } = file.mapping;
  if (preset === undefined) return null;
  const more = Object.entries({ zone, prices }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { name: preset, doubt, says: { ...values, ...Object.fromEntries([...flags, ...more]) } };
}

async function record(
  writer: Writer,
  runId: number,
  startedMs: number,
  finishedMs: number,
  request: ImportRequest,
  report: RunReport,
): Promise<void> {
  await writer.upsert(importRuns, [
    {
      run_id: runId,
      kind: 'import',
      dataset: report.dataset,
      file: request.file.recordedAs,
      sha256: report.sha256,
      source: request.source,
      rows_read: report.rowsRead,
      rows_written: report.rowsWritten,
      rows_unchanged: report.rowsUnchanged,
      rows_refused: report.rowsRefused,
      started_ms: startedMs,
      finished_ms: finishedMs,
      undone_ms: null,
    },
  ]);
  await nextValue(writer, 'data_version', 1);
}
