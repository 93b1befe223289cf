// Undoing a run: the store becomes as if the import or deletion had not been, except for what later runs
// changed. Blocks of bars are undone here, under the changes of later runs (docs/decisions/0009).
import { decodeIds, encodeIds } from '../base/ascending.ts';
import { type Bars, emptyBars, filterBars, mergeBars } from '../market/bars/columns.ts';
import { type Brought, broughtBy, hasBar } from '../series/brought.ts';
import { namedDamage } from '../series/damaged-bars.ts';
import { refuseLostBlocks } from '../store/all-blocks.ts';
import { collectRows, rowsInOrder, rowWith, soundRows } from '../store/all-rows.ts';
import { type Damage, DamagedData } from '../store/damage.ts';
import { type BlockChange, decodeChange } from '../store/journal-entries.ts';
import { runSpans, series as seriesDataset } from '../store/schema/bars.ts';
import type { Dataset, RowOf } from '../store/schema/dataset.ts';
import { type FileDataset, fileDatasetNamed, fileDatasets } from '../store/schema/index.ts';
import { blockChanges, heldBars, importRuns, rowChanges } from '../store/schema/internal.ts';
import { instruments } from '../store/schema/reference.ts';
import type { Read, Reader, Store, Writer } from '../store/store.ts';
import { type Days, daysOfRun, forgetHeldRows, LaterHolders } from './held-rows.ts';
import { type BlockPlace, blankBars, putChange, putHeld } from './journal.ts';
import { RequestProblem, type WriteRequest, writeOrTry } from './recorded-write.ts';
import { ReplacedRows } from './replaced-rows.ts';
import { StoredSeries } from './stored-series.ts';
import { type Deletion, deletionOf, type Fate, orphansOf, undoRows } from './undo-rows.ts';

const none = emptyBars();

/**
 * One change that is being undone: later runs take over the bars that they changed or held, the store gets
 * the rest.
 */
class Reversal {
  kept = 0;
  readonly #change: BlockChange;
  /** Keys that a later run changed or held: the first such run found what this change left. */
  readonly #named = new Set<number>();

  constructor(change: BlockChange) {
    this.#change = change;
  }

  /** Whether later runs have named every bar of this change. */
  get isSettled(): boolean {
    const { added, before } = this.#change;
    return added !== null && this.kept === added.count + before.count;
  }

  /**
   * What a later run brought, as if this change had not been: for a bar that it changed or held next, it
   * finds what this found. Null: no difference.
   */
  handTo({ change: later, held }: Brought): Brought | null {
    const { added, before } = this.#change;
    // A bar that it held is one that it brings, in place of what this found.
    const laterHeld = this.#firstNamed(held);
    const taken = filterBars(laterHeld, (at) => added === null || hasBar(added, laterHeld.keyMs[at]!));
    const replaced = filterBars(before, (at) => hasBar(laterHeld, before.keyMs[at]!));
    const laterAdded = this.#firstNamed(later.added ?? none);
    const laterBefore = this.#firstNamed(later.before);
    const gone = filterBars(laterBefore, (at) => added === null || hasBar(added, laterBefore.keyMs[at]!));
    const back = filterBars(
      before,
      (at) => hasBar(laterAdded, before.keyMs[at]!) || hasBar(laterBefore, before.keyMs[at]!),
    );
    const handed = gone.count + back.count + taken.count + replaced.count;
    this.kept += handed;
    if (added !== null) this.kept += filterBars(added, (at) => hasBar(laterAdded, added.keyMs[at]!)).count;
    if (handed === 0) return null;
    const stillAdded = filterBars(later.added ?? none, (at) => !hasBar(back, later.added!.keyMs[at]!));
    const stillBefore = filterBars(later.before, (at) => !hasBar(gone, later.before.keyMs[at]!));
    const fresh = mergeBars(gone, taken);
    const change = {
      added: mergeBars(
        stillAdded,
        blankBars(fresh, () => true),
      ),
      before: mergeBars(mergeBars(stillBefore, back), replaced),
    };
    const stillHeld = filterBars(
      held,
      (at) => !hasBar(taken, held.keyMs[at]!) && !hasBar(replaced, held.keyMs[at]!),
    );
    return { change, held: stillHeld };
  }

  /** The stored bars without this change, how many that removes, and how many it restores. */
  applyTo(stored: Bars): { bars: Bars; removed: number; restored: number } {
    const { added, before } = this.#change;
    const stays = filterBars(stored, (at) => {
      const keyMs = stored.keyMs[at]!;
      return this.#named.has(keyMs) || (added !== null && !hasBar(added, keyMs));
    });
    const back = filterBars(before, (at) => !this.#named.has(before.keyMs[at]!));
    return { bars: mergeBars(stays, back), removed: stored.count - stays.count, restored: back.count };
  }

  /** The bars of a later run that no run between has named. */
  #firstNamed(bars: Bars): Bars {
    const first = filterBars(bars, (at) => !this.#named.has(bars.keyMs[at]!));
    for (let at = 0; at < first.count; at++) this.#named.add(first.keyMs[at]!);
    return first;
  }
}

/**
 * Undoes an entry of the journal and counts its bars: `restored` are as before, `kept` are those that later
 * runs changed or held. `keptBy` gets these runs.
 * @throws DamagedData where the block or what a later run changed in it is damaged
 */
async function undoBlock(
  writer: Writer,
  series: StoredSeries,
  entry: RowOf<typeof blockChanges>,
  keptBy: Set<number>,
): Promise<{ removed: number; restored: number; kept: number }> {
  const reversal = new Reversal(decodeChange(entry));
  const { series_id, bucket, run_id } = entry;
  const handed: (readonly [later: BlockPlace, brought: Brought])[] = [];
  const keepers: number[] = [];
  for await (const { runId, ...brought } of broughtBy(writer, entry, 'asc', run_id)) {
    if (reversal.isSettled) break;
    const before = reversal.kept;
    const left = reversal.handTo(brought);
    if (left !== null) handed.push([{ series_id, bucket, run_id: runId }, left]);
    if (reversal.kept > before) keepers.push(runId);
  }
  const block = await series.block(bucket);
  await writer.remove(blockChanges, [entry]);
  for (const [later, { change, held }] of handed) {
    await putChange(writer, later, change);
    await putHeld(writer, later, held);
  }
  for (const keeper of keepers) keptBy.add(keeper);
  const { bars, removed, restored } = reversal.applyTo(block.bars);
  if (removed + restored > 0 || bars.count === 0) await series.put(block, bars);
  return { removed, restored, kept: reversal.kept };
}

/** A series that is being undone; `deletion` where its instrument was deleted. */
type OpenSeries = { readonly series: StoredSeries; readonly deletion: Deletion | null };

async function openSeries(writer: Writer, seriesId: number): Promise<OpenSeries> {
  const row = await rowWith(writer, seriesDataset, { series_id: seriesId });
  if (row === null) throw new Error(`the journal names series ${seriesId}, which is missing`);
  await refuseLostBlocks(writer, seriesId);
  // An index that has lost the row tells it here: it is no deleted instrument.
  const [stored = null] = await writer.group(instruments, { instrument_id: row.instrument_id });
  const deletion = stored === null ? await deletionOf(writer, row.instrument_id) : null;
  return { series: new StoredSeries(writer, row), deletion };
}

async function settle(open: OpenSeries | null): Promise<void> {
  if (open === null) return;
  const barCount = await open.series.settle();
  if (barCount > 0 && open.deletion !== null) throw orphansOf(open.deletion);
}

/**
 * Undoes entries about blocks, which come series by series, and counts the bars of each. `keptBy` gets the
 * later runs because of which some are kept.
 */
async function* undoBlocks(
  writer: Writer,
  entries: AsyncIterable<RowOf<typeof blockChanges>>,
  keptBy: Set<number>,
): AsyncGenerator<Awaited<ReturnType<typeof undoBlock>>> {
  let open: OpenSeries | null = null;
  for await (const entry of entries) {
    if (open?.series.row.series_id !== entry.series_id) {
      await settle(open);
      open = await openSeries(writer, entry.series_id);
    }
    yield await undoBlock(writer, open.series, entry, keptBy);
  }
  await settle(open);
}

/** A recorded import or deletion. */
export type Run = RowOf<typeof importRuns>;

type Entry = RowOf<typeof rowChanges>;

/** The report of an undo. */
export type UndoReport = {
  readonly run: Pick<Run, 'run_id' | 'kind' | 'dataset' | 'file'>;
  /** Bars that the run had added. */
  barsRemoved: number;
  /** Bars that the run had replaced or deleted, as they were. */
  barsRestored: number;
  /** Bars that later runs changed or held: these stay as they are. */
  barsKept: number;
  /** Instruments, or rows of another dataset. */
  rowsRemoved: number;
  rowsRestored: number;
  /** Rows that later runs changed or held, have bars of, or name. */
  rowsKept: number;
  /** The later runs because of which something was kept. */
  readonly keptBy: readonly number[];
};

/**
 * The outcome for a row that a later run with --replace removes: a row that was stored is gone, a row that
 * came back is not restored.
 */
const goneAs = (before: Fate): Fate => (before === 'rowsRestored' ? 'rowsKept' : 'rowsRemoved');

/** Rows whose settling reads the journal of the runs with --replace once. */
const ROWS_SETTLED_AT_A_TIME = 10_000;

/** Entries of the journal read at a time: this bounds memory. */
const BLOCKS_PER_READ = 64;
const ROWS_PER_READ = 500;

/** The newest runs, the newest first; those whose rows are damaged are given to `onDamage`. */
export const newestRuns = (
  reader: Reader,
  limit: number,
  onDamage?: (damage: Damage) => void,
): Promise<Run[]> => soundRows(reader, importRuns, { order: [['run_id', 'desc']], limit }, onDamage);

/**
 * Undoes a run in one write, wholly or not at all. @throws RequestProblem where there is no such run, or it
 * cannot be undone; DamagedData where something is damaged that the undo reads
 */
export async function undoRun(
  store: Store,
  { runId, dryRun, nowMs, onWait, onRows }: WriteRequest & { readonly runId: number },
): Promise<UndoReport> {
  const write = async (writer: Writer) => {
    // Another process may have undone it meanwhile.
    const run = await findRun(writer, runId);
    const result = await new Undoing(writer, run, onRows).all();
    await writer.upsert(importRuns, [{ ...run, undone_ms: nowMs() }]);
    return { result, isTrial: dryRun };
  };
  try {
    // Whole tables are read for this: before others have to wait. What a run noted is not written again after
    // its end.
    await store.snapshot((reader) => refuseHidden(reader, runId));
    return await writeOrTry(store, write, onWait);
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    const damage = await store.snapshot((reader) => namedDamage(reader, error.damage));
    const cure = 'restore a backup, or delete what is damaged and import it again';
    const problem = `${damage.problem}; run ${runId} is not undone: ${cure}`;
    throw new DamagedData({ ...damage, problem }, error);
  }
}

/**
 * A damaged index hides entries of the journal, and rows that are to be replaced: what is undone would then
 * be less than all. @throws DamagedData
 */
async function refuseHidden(reader: Reader, runId: number): Promise<void> {
  const own = fileDatasetNamed((await findRun(reader, runId)).dataset);
  const read = [own ?? seriesDataset, ...(own?.file.beside === undefined ? [] : [own.file.beside.dataset])];
  for (const dataset of new Set<Dataset>([blockChanges, heldBars, rowChanges, instruments, ...read])) {
    const [damage] = await reader.structure(dataset);
    if (damage !== undefined) throw new DamagedData(damage);
  }
}

async function findRun(reader: Reader, runId: number): Promise<Run> {
  const run = await rowWith(reader, importRuns, { run_id: runId });
  if (run === null) throw new RequestProblem(`there is no run ${runId}`);
  if (run.undone_ms === null) return run;
  const cure = run.kind === 'import' ? `import ${run.file} again to restore it` : 'delete again to repeat it';
  throw new RequestProblem(
    `run ${runId} was undone already, at ${new Date(run.undone_ms).toISOString()}: ${cure}`,
  );
}

/** One run that is being undone. */
class Undoing {
  readonly #writer: Writer;
  readonly #report: UndoReport;
  readonly #keptBy = new Set<number>();
  readonly #holders: LaterHolders;
  readonly #onRows: WriteRequest['onRows'];
  /**
   * The dataset of the rows that are undone and not settled yet; null where none can be. Bars and instruments
   * bring contracts too.
   */
  #settling: FileDataset | null = null;
  /** Those rows, by key. */
  readonly #fates = new Map<string, Fate>();
  #done = 0;

  constructor(writer: Writer, { run_id, kind, dataset, file }: Run, onRows: WriteRequest['onRows']) {
    this.#writer = writer;
    this.#holders = new LaterHolders(writer, run_id);
    this.#onRows = onRows;
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
    // Bars first: an instrument is removed only where it has none.
    await this.#changed();
    await this.#forgetHeld();
    // Restored instruments come before the rows that name them; instruments that the run added go after
    // those.
    const isInstrument = ({ dataset }: Entry): boolean => dataset === instruments.name;
    await this.#rows(({ before }) => before !== null, instruments.name);
    const { run_id, dataset } = this.#report.run;
    const own = fileDatasetNamed(dataset);
    const days = own && (await daysOfRun(this.#writer, own, run_id));
    if (own !== undefined) await forgetHeldRows(this.#writer, run_id, own);
    const beside = own?.file.beside?.dataset;
    if (beside !== undefined) {
      await forgetHeldRows(this.#writer, run_id, beside);
      // They come before their rows, with which they may go again.
      await this.#rows(() => true, beside.name);
    }
    await this.#rows((entry) => !isInstrument(entry));
    if (days !== undefined && days.size > 0) await this.#noteRemoved(own!, days);
    await this.#settleRows();
    await this.#rows(isInstrument, instruments.name);
    await this.#forgetSpans();
    return { ...this.#report, keptBy: [...this.#keptBy].sort((a, b) => a - b) };
  }

  /** The entries of the run about blocks, series by series. */
  #blocks<D extends typeof blockChanges | typeof heldBars>(dataset: D): AsyncGenerator<RowOf<D>> {
    const order = [['series_id', 'asc'] as const, ['bucket', 'asc'] as const];
    const read = { where: { run_id: this.#report.run.run_id }, order, limit: BLOCKS_PER_READ };
    return rowsInOrder<D>(this.#writer, dataset, read as unknown as Omit<Read<D>, 'after'>);
  }

  /** Takes back what the run changed in blocks. */
  async #changed(): Promise<void> {
    const entries = this.#blocks(blockChanges);
    for await (const { removed, restored, kept } of undoBlocks(this.#writer, entries, this.#keptBy)) {
      this.#report.barsRemoved += removed;
      this.#report.barsRestored += restored;
      this.#report.barsKept += kept;
      this.#reached(removed + restored + kept);
    }
  }

  /** Forgets which stored bars the run held. */
  async #forgetHeld(): Promise<void> {
    for await (const entry of this.#blocks(heldBars)) await this.#writer.remove(heldBars, [entry]);
  }

  /** Forgets what the run held of each market, so that it covers nothing any more. */
  async #forgetSpans(): Promise<void> {
    const { run_id } = this.#report.run;
    const spans = await collectRows(this.#writer, runSpans, { run_id });
    const ids = new Set(spans.flatMap(({ series }) => decodeIds(series)));
    await this.#writer.remove(runSpans, spans);
    for (const series_id of ids) {
      const row = await rowWith(this.#writer, seriesDataset, { series_id });
      const runs = row === null ? [] : decodeIds(row.runs);
      if (!runs.includes(run_id)) continue;
      const left = encodeIds(runs.filter((one) => one !== run_id));
      await this.#writer.upsert(seriesDataset, [{ ...row!, runs: left }]);
    }
  }

  #count(fate: Fate): void {
    if (fate !== null) this.#report[fate]++;
  }

  async #settleLater(own: FileDataset, row_key: string, fate: Fate): Promise<void> {
    if (own !== this.#settling || this.#fates.size === ROWS_SETTLED_AT_A_TIME) await this.#settleRows();
    this.#settling = own;
    if (fate !== null || !this.#fates.has(row_key)) this.#fates.set(row_key, fate);
  }

  /** Notes the rows that a later run removed because this one had taken them from another before. */
  async #noteRemoved(own: FileDataset, days: ReadonlyMap<bigint, Days>): Promise<void> {
    const rows = new ReplacedRows(this.#writer, own);
    for await (const row_key of rows.removedAfter(this.#report.run.run_id, days))
      await this.#settleLater(own, row_key, null);
  }

  /** Settles the rows of the run by the later runs that replace what their source brought. */
  async #settleRows(): Promise<void> {
    const own = this.#settling;
    if (own === null) return;
    const rows = new ReplacedRows(this.#writer, own);
    for (const { row_key, fate, runId } of await rows.settle([...this.#fates.keys()])) {
      const before = this.#fates.get(row_key)!;
      // A row that comes back and goes again stays as it was.
      const after = fate === 'kept' ? before : fate === 'restored' ? 'rowsRestored' : goneAs(before);
      this.#fates.set(row_key, after);
      if (after === 'rowsKept') this.#keptBy.add(runId);
    }
    for (const fate of this.#fates.values()) this.#count(fate);
    this.#fates.clear();
  }

  #reached(more: number): void {
    this.#done += more;
    this.#onRows?.(this.#done);
  }

  async #rows(matches: (entry: Entry) => boolean, dataset?: string): Promise<void> {
    const { run_id } = this.#report.run;
    const byKey = ['row_key', 'asc'] as const;
    const read =
      dataset === undefined
        ? { where: { run_id }, order: [['dataset', 'asc'] as const, byKey] }
        : { where: { run_id, dataset }, order: [byKey] };
    let some: Entry[] = [];
    for await (const entry of rowsInOrder(this.#writer, rowChanges, { ...read, limit: ROWS_PER_READ })) {
      if (!matches(entry) || some.push(entry) < ROWS_PER_READ) continue;
      await this.#undoRows(some);
      some = [];
    }
    await this.#undoRows(some);
  }

  /**
   * Undoes entries. What becomes of a row is counted later where runs with --replace may settle it
   * otherwise.
   */
  async #undoRows(entries: readonly Entry[]): Promise<void> {
    for (const [dataset, some] of Map.groupBy(entries, (entry) => entry.dataset)) {
      // Settling may delete instruments: not between a look-up and its use.
      const isFull = this.#fates.size + some.length > ROWS_SETTLED_AT_A_TIME;
      if (isFull || dataset !== this.#settling?.name) await this.#settleRows();
      const own = fileDatasets.find(({ name, file }) => name === dataset && file.subject !== undefined);
      for await (const { row_key, fate, keptBy } of undoRows(this.#writer, some, this.#holders)) {
        this.#reached(1);
        if (keptBy !== undefined) this.#keptBy.add(keptBy);
        if (own === undefined) this.#count(fate);
        else await this.#settleLater(own, row_key, fate);
      }
    }
  }
}
