// Taking a run back: an import or a deletion leaves the store as if it had not been, but for what later runs changed.
import { barCoverage, series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { blockChanges, importRuns, rowChanges } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import { Calendars } from '../series/calendars.ts';
import { rowsInOrder, rowWith } from '../store/all-rows.ts';
import type { OnWait, RowReader, Store, Writer } from '../store/store.ts';
import { nextValue } from './new-instrument.ts';
import { RequestProblem } from './request-problem.ts';
import { StoredSeries } from './stored-series.ts';
import { writeOrTry } from './trial.ts';
import { undoBlock } from './undo-block.ts';
import { type Deletion, deletionOf, orphansOf, undoRow } from './undo-row.ts';

/** A recorded import or deletion. */
export type Run = RowOf<typeof importRuns>;

type Entry = RowOf<typeof rowChanges>;

/** The account of a run taken back. */
export type UndoReport = {
  readonly run: Pick<Run, 'run_id' | 'kind' | 'dataset' | 'file'>;
  /** Bars that the run had brought. */
  barsRemoved: number;
  /** Bars that the run had replaced or deleted, as they were. */
  barsRestored: number;
  /** Bars that later runs changed too: they stay as those left them. */
  barsKept: number;
  /** Instruments, or rows of another dataset. */
  rowsRemoved: number;
  rowsRestored: number;
  /** Those that later runs changed too, or have bars of, or name. */
  rowsKept: number;
  /** The later runs for whose sake something was kept. */
  keptBy: readonly number[];
};

export type UndoRequest = {
  readonly runId: number;
  /** Does everything, and writes nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  readonly onWait?: OnWait;
};

/** Entries of the journal read at a time: bounds the memory that undoing takes. */
const BLOCKS_PER_READ = 64;
const ROWS_PER_READ = 500;

/** The newest runs, the newest first. */
export function newestRuns(reader: RowReader, limit: number): Promise<Run[]> {
  return reader.rows(importRuns, { order: [['run_id', 'desc']], limit });
}

/** Takes a run back in one write. @throws RequestProblem when there is no such run or it cannot be taken back as it is asked */
export function undoRun(store: Store, request: UndoRequest): Promise<UndoReport> {
  return writeOrTry(
    store,
    async (writer) => {
      const run = await findRun(writer, request.runId);
      const result = await new Undoing(writer, run).all();
      await writer.upsert(importRuns, [{ ...run, undone_ms: request.nowMs() }]);
      await nextValue(writer, 'data_version', 1);
      return { result, isTrial: request.dryRun };
    },
    request.onWait,
  );
}

async function findRun(writer: Writer, runId: number): Promise<Run> {
  const run = await rowWith(writer, importRuns, { run_id: runId });
  if (run === null) throw new RequestProblem(`there is no run ${runId}`);
  if (run.undone_ms === null) return run;
  const cure =
    run.kind === 'import' ? `import ${run.file} again to have it back` : 'delete again to repeat it';
  throw new RequestProblem(
    `run ${runId} was taken back already, at ${new Date(run.undone_ms).toISOString()}: ${cure}`,
  );
}

/** One run on its way back. */
class Undoing {
  readonly #writer: Writer;
  readonly #run: Run;
  readonly #report: UndoReport;
  readonly #keptBy = new Set<number>();

  constructor(writer: Writer, run: Run) {
    this.#writer = writer;
    this.#run = run;
    const { run_id, kind, dataset, file } = run;
    this.#report = {
      run: { run_id, kind, dataset, file },
      barsRemoved: 0,
      barsRestored: 0,
      barsKept: 0,
      rowsRemoved: 0,
      rowsRestored: 0,
      rowsKept: 0,
      keptBy: [],
    };
  }

  async all(): Promise<UndoReport> {
    // Bars first: whether an instrument is needed shows when they are gone.
    await this.#blocks();
    await this.#rows();
    return { ...this.#report, keptBy: [...this.#keptBy].sort((a, b) => a - b) };
  }

  async #blocks(): Promise<void> {
    let open: OpenSeries | null = null;
    for await (const entry of this.#blockEntries()) {
      if (open?.series.row.series_id !== entry.series_id) {
        await settle(open);
        open = await openSeries(this.#writer, entry.series_id);
      }
      const undone = await undoBlock(this.#writer, open.series, entry, this.#keptBy);
      this.#report.barsRemoved += undone.removed;
      this.#report.barsRestored += undone.restored;
      this.#report.barsKept += undone.kept;
    }
    await settle(open);
  }

  /** Instruments that come back are there before the rows that name them, and those that the run made go after theirs. */
  async #rows(): Promise<void> {
    const isInstrument = ({ dataset }: Entry): boolean => dataset === instruments.name;
    const wasThere = ({ before }: Entry): boolean => before !== null;
    await this.#rowsThat((entry) => isInstrument(entry) && wasThere(entry), instruments.name);
    await this.#rowsThat((entry) => !isInstrument(entry));
    await this.#rowsThat(isInstrument, instruments.name);
  }

  async #rowsThat(matches: (entry: Entry) => boolean, dataset?: string): Promise<void> {
    for await (const entry of this.#rowEntries(dataset)) {
      if (!matches(entry)) continue;
      const undone = await undoRow(this.#writer, entry);
      // How far imports reach goes with them, and is no row of a file.
      if (entry.dataset === barCoverage.name) continue;
      if (undone === 'unchanged') continue;
      if (undone === 'removed') this.#report.rowsRemoved++;
      else if (undone === 'restored') this.#report.rowsRestored++;
      else {
        this.#report.rowsKept++;
        this.#keptBy.add(undone.keptBy);
      }
    }
  }

  #blockEntries(): AsyncGenerator<RowOf<typeof blockChanges>> {
    const order = [
      ['series_id', 'asc'],
      ['bucket', 'asc'],
    ] as const;
    const where = { run_id: this.#run.run_id };
    return rowsInOrder(this.#writer, blockChanges, { where, order, limit: BLOCKS_PER_READ });
  }

  #rowEntries(dataset?: string): AsyncGenerator<Entry> {
    const { run_id } = this.#run;
    const byKey = ['row_key', 'asc'] as const;
    const read =
      dataset === undefined
        ? { where: { run_id }, order: [['dataset', 'asc'] as const, byKey] }
        : { where: { run_id, dataset }, order: [byKey] };
    return rowsInOrder(this.#writer, rowChanges, { ...read, limit: ROWS_PER_READ });
  }
}

/** A series on its way back; `deletion` where its instrument is gone. */
type OpenSeries = { readonly series: StoredSeries; readonly deletion: Deletion | null };

async function openSeries(writer: Writer, seriesId: number): Promise<OpenSeries> {
  const row = await rowWith(writer, seriesDataset, { series_id: seriesId });
  if (row === null) throw new Error(`the journal names series ${seriesId}, which is not there`);
  const stored = await rowWith(writer, instruments, { instrument_id: row.instrument_id });
  const deletion = stored === null ? await deletionOf(writer, row.instrument_id) : null;
  const calendar = await new Calendars().of(writer, stored ?? deletion!.instrument);
  return { series: new StoredSeries(writer, row, calendar), deletion };
}

async function settle(open: OpenSeries | null): Promise<void> {
  if (open === null) return;
  const barCount = await open.series.settle();
  if (barCount > 0 && open.deletion !== null) throw orphansOf(open.deletion);
}
