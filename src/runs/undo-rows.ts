// Undoing one run's change of rows of any dataset (docs/decisions/0009).
import { allRows, rowsInOrder, rowsWith, rowWith } from '../store/all-rows.ts';
import { unlessDamaged } from '../store/damage.ts';
import { instrumentNamed, refuseLost } from '../store/instrument-terms.ts';
import { rowBefore, rowKeyOf, valuesOfKey } from '../store/journal-entries.ts';
import { series as seriesDataset } from '../store/schema/bars.ts';
import { type Dataset, type RowOf, spokenName } from '../store/schema/dataset.ts';
import { dataDatasets } from '../store/schema/index.ts';
import { blockChanges, heldBars, importRuns, rowChanges } from '../store/schema/internal.ts';
import { type Instrument, type InstrumentName, instruments } from '../store/schema/reference.ts';
import type { KeyRead, Read, Writer } from '../store/store.ts';
import type { LaterHolders } from './held-rows.ts';
import { putRows } from './journal.ts';
import { namedBy, seriesWithBars, useOf } from './naming.ts';
import { nameOf } from './new-instrument.ts';
import { RequestProblem } from './recorded-write.ts';

type Entry = RowOf<typeof rowChanges>;

/** The outcome for a row, as the report of an undo counts it; null if it stays as it is. */
export type Fate = 'rowsRemoved' | 'rowsRestored' | 'rowsKept' | null;

/** The fate of a row; `keptBy` is the later run that keeps it. */
type Undone = { readonly fate: Fate; readonly keptBy?: number };

const ENTRIES_PER_READ = 500;

/** The dataset of an entry. */
function datasetOf({ dataset: name }: Entry): Dataset {
  const dataset = dataDatasets.find((one) => one.name === name);
  if (dataset === undefined) throw new Error(`the journal names an unknown dataset ${name}`);
  return dataset;
}

/** The read of the first change of a row after a run. */
const nextAfter = (runId: number): KeyRead<typeof rowChanges> => ({
  range: { from: runId + 1 },
  order: [['run_id', 'asc']],
  limit: 1,
});

/** The stored rows that decide about an entry. */
type StoredOf = {
  /** Its first change after the entry's run. */
  readonly later: Entry | undefined;
  /** Its row; null where there is none. */
  readonly stored: RowOf<Dataset> | null;
  /** The keys of the stored instruments among those that rows which come back name. */
  readonly named: ReadonlySet<string>;
};

/** The same for entries of one run and dataset, asked for together. @throws DamagedData */
async function storedOf(writer: Writer, entries: readonly Entry[]): Promise<StoredOf[]> {
  const [first] = entries as readonly [Entry];
  const dataset = datasetOf(first);
  const places = entries.map(({ dataset: name, row_key }) => ({ dataset: name, row_key }));
  const laters = await writer.rowsByKey(rowChanges, places, nextAfter(first.run_id));
  const keys = entries.map(({ row_key }) => valuesOfKey(dataset, row_key));
  const rows = await rowsWith(writer, dataset, keys);
  const back = entries.filter((_, at) => rows[at] === null);
  const named = back.flatMap((entry) => namedBy(dataset, rowBefore(dataset, entry) ?? {}));
  const names = [...new Map(named.map(({ name }) => [rowKeyOf(instruments, name), name])).values()];
  // Damage among them is met where one of them is needed.
  const found = (await unlessDamaged(rowsWith(writer, instruments, names))) ?? [];
  const known = new Set(found.flatMap((row) => (row === null ? [] : [rowKeyOf(instruments, row)])));
  return rows.map((stored, at) => ({ later: laters[at]![0], stored, named: known }));
}

/**
 * Undoes an entry of the journal and says what became of its row: `keptBy` is the later run that keeps it.
 * @throws RequestProblem where bars or rows would lose their instrument; DamagedData where what decides that
 * is damaged or lost
 */
async function undoRow(
  writer: Writer,
  entry: Entry,
  holders: LaterHolders,
  { later, stored, named }: StoredOf,
): Promise<Undone> {
  const dataset = datasetOf(entry);
  const key = valuesOfKey(dataset, entry.row_key);
  const before = rowBefore(dataset, entry);
  if (stored === null && dataset === instruments) await refuseLost(writer, key as InstrumentName);
  const left = later === undefined ? stored : rowBefore(dataset, later);
  const made = dataset === instruments && before === null ? (left as Instrument | null) : null;
  const user = made === null ? null : await firstUser(writer, made.instrument_id, entry.run_id);
  const holder = left === null ? null : await holders.of(dataset, left, later?.run_id);
  await writer.remove(rowChanges, [entry]);
  if (holder !== null && (user === null || holder < user)) {
    await leaveTo(writer, holder, entry, dataset, left!);
    return { fate: 'rowsKept', keptBy: holder };
  }
  if (user !== null && (later === undefined || user < later.run_id)) {
    await writer.upsert(rowChanges, [{ ...entry, run_id: user }]);
    return { fate: 'rowsKept', keptBy: user };
  }
  if (later !== undefined) {
    await writer.upsert(rowChanges, [{ ...later, before }]);
    return { fate: 'rowsKept', keptBy: later.run_id };
  }
  if (before !== null && JSON.stringify(before) === JSON.stringify(stored)) return { fate: null };
  if (before !== null && stored === null) await refuseUnnamed(writer, dataset, before, named);
  if (made !== null) await refuseOrphans(writer, made);
  await putRows(writer, dataset, [{ before: stored, after: before }]);
  return { fate: before === null ? 'rowsRemoved' : 'rowsRestored' };
}

/**
 * Makes the change of an entry that of a later run, which held the row: without it that run would have
 * brought it, and what it names.
 */
async function leaveTo(
  writer: Writer,
  run_id: number,
  entry: Entry,
  dataset: Dataset,
  row: RowOf<Dataset>,
): Promise<void> {
  await writer.upsert(rowChanges, [{ ...entry, run_id }]);
  for (const { name } of namedBy(dataset, row)) await leaveInstrument(writer, run_id, name);
}

/**
 * Gives a run that held a row an entry of an instrument that the row names, as it was then: a later run may
 * have deleted it.
 */
export async function leaveInstrument(writer: Writer, run_id: number, name: InstrumentName): Promise<void> {
  const where = { dataset: instruments.name, row_key: rowKeyOf(instruments, name) };
  if ((await rowWith(writer, rowChanges, { ...where, run_id })) !== null) return;
  const [next] = await writer.rows(rowChanges, { where, ...nextAfter(run_id) });
  const before = next === undefined ? await instrumentNamed(writer, name) : next.before;
  if (before !== null) await writer.upsert(rowChanges, [{ ...where, run_id, before }]);
}

/** The first run after another that changed or held bars of an instrument; null where none did. */
async function firstUser(writer: Writer, instrument_id: number, runId: number): Promise<number | null> {
  let first: number | null = null;
  for (const { series_id } of await writer.group(seriesDataset, { instrument_id }))
    for (const dataset of [blockChanges, heldBars])
      for await (const { run_id } of allRows<typeof blockChanges | typeof heldBars>(writer, dataset, {
        series_id,
      }))
        if (run_id > runId && run_id < (first ?? Number.POSITIVE_INFINITY)) first = run_id;
  return first;
}

/** An undo may have restored bars or rows of an instrument that an earlier run deleted. */
async function refuseOrphans(writer: Writer, instrument: Instrument): Promise<void> {
  const hasBars = (await seriesWithBars(writer, instrument)).length > 0;
  const use = hasBars ? null : await useOf(writer, instrument);
  if (!hasBars && use === null) return;
  const deletion = await deletionOf(writer, instrument.instrument_id);
  throw orphansOf(deletion, use === null ? 'bars' : spokenName(use.dataset));
}

/**
 * A restored row needs the instruments that it names, which a later run may have deleted; those of the keys
 * `stored` are known to be there.
 */
export async function refuseUnnamed(
  writer: Writer,
  dataset: Dataset,
  row: RowOf<Dataset>,
  stored: ReadonlySet<string> = new Set(),
): Promise<void> {
  for (const { name } of namedBy(dataset, row)) {
    const row_key = rowKeyOf(instruments, name);
    if (stored.has(row_key) || (await instrumentNamed(writer, name)) !== null) continue;
    const where = { dataset: instruments.name, row_key };
    const deletion = await newestDeletion(writer, { where, order: [['run_id', 'desc']] });
    if (deletion === null) throw new Error(`${nameOf(name)} is missing, and no run has deleted it`);
    throw orphansOf(deletion, spokenName(dataset));
  }
}

/** A deleted instrument as it was, and the newest run that deleted it. */
export type Deletion = { readonly runId: number; readonly instrument: Instrument };

/** The newest deletion of an instrument whose name no row has any more. */
export async function deletionOf(writer: Writer, instrumentId: number): Promise<Deletion> {
  const order = [['run_id', 'desc'] as const, ['dataset', 'desc'] as const, ['row_key', 'desc'] as const];
  const deletion = await newestDeletion(writer, { order }, instrumentId);
  if (deletion !== null) return deletion;
  // Its entry of the journal was damaged: what names it is left.
  throw new RequestProblem(
    `rows or bars refer to instrument ${instrumentId}, and no run can undo them: delete them first, by bourse delete`,
  );
}

/** The first entry of a read that is the deletion of an instrument; null where none is. */
async function newestDeletion(
  writer: Writer,
  read: Pick<Read<typeof rowChanges>, 'where' | 'order'>,
  instrumentId?: number,
): Promise<Deletion | null> {
  for await (const { dataset, before, run_id } of rowsInOrder(writer, rowChanges, {
    ...read,
    limit: ENTRIES_PER_READ,
  })) {
    if (dataset !== instruments.name || before === null) continue;
    const instrument = before as Instrument;
    if (instrumentId !== undefined && instrument.instrument_id !== instrumentId) continue;
    const run = await rowWith(writer, importRuns, { run_id });
    if (run?.kind === 'delete') return { runId: run_id, instrument };
  }
  return null;
}

/** Refuses to leave bars, or rows of another dataset, without their instrument. */
export function orphansOf({ runId, instrument }: Deletion, what = 'bars'): RequestProblem {
  return new RequestProblem(
    `${what} of ${nameOf(instrument)} would be left without their instrument, which run ${runId} deleted: undo that first, by bourse undo ${runId}`,
  );
}

/** Undoes entries of one run and dataset: what is stored of their rows is looked up together. */
export async function* undoRows(
  writer: Writer,
  entries: readonly Entry[],
  holders: LaterHolders,
): AsyncGenerator<Undone & { readonly row_key: string }> {
  const stored = await storedOf(writer, entries);
  for (const [at, entry] of entries.entries())
    yield { ...(await undoRow(writer, entry, holders, stored[at]!)), row_key: entry.row_key };
}
