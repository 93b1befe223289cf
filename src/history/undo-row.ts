// Taking one run's change of one row back: an instrument, or how far imports cover a market (docs/decisions/0009).
import { series as seriesDataset } from '../datasets/bars.ts';
import { type Dataset, type RowOf, spokenName } from '../datasets/dataset.ts';
import { dataDatasets } from '../datasets/index.ts';
import { blockChanges, importRuns, rowChanges } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import type { Writer } from '../store/store.ts';
import { type Name, namedBy, seriesWithBars, useOf } from './instrument-uses.ts';
import { putRow, rowKeyOf } from './journal.ts';
import { RequestProblem } from './request-problem.ts';

type Entry = RowOf<typeof rowChanges>;
type Instrument = RowOf<typeof instruments>;

/** What became of a row: gone, as it was before, never changed but needed, or left as it is for the sake of a later run. */
export type RowUndone = 'removed' | 'restored' | 'unchanged' | { readonly keptBy: number };

/** No instrument has more series. */
const SERIES_MAX = 1500;
const ENTRIES_PER_READ = 500;

/** How people write an instrument. */
export const nameOf = (
  instrument: Pick<Instrument, 'asset_schema' | 'country_iso_code' | 'symbol'>,
): string => `${instrument.asset_schema}:${instrument.country_iso_code}:${instrument.symbol}`;

function datasetOf(entry: Entry): Dataset {
  const found = dataDatasets.find((dataset) => dataset.name === entry.dataset);
  if (found === undefined) throw new Error(`the journal names a dataset ${entry.dataset}, which is not kept`);
  return found;
}

/** Takes an entry of the journal back. @throws RequestProblem where bars or rows would be left without their instrument */
export async function undoRow(writer: Writer, entry: Entry): Promise<RowUndone> {
  const dataset = datasetOf(entry);
  const values = JSON.parse(entry.row_key) as (string | number)[];
  const key = Object.fromEntries(dataset.key.map((column, index) => [column, values[index]!]));
  const before = entry.before as RowOf<Dataset> | null;
  const [later] = await writer.rows(rowChanges, {
    where: { dataset: entry.dataset, row_key: entry.row_key },
    order: [['run_id', 'asc']],
    after: [entry.run_id],
    limit: 1,
  });
  const [stored] = await writer.rows(dataset, { where: key, order: [[dataset.key[0]!, 'asc']], limit: 1 });
  const left = (later === undefined ? stored : later.before) as Instrument | null | undefined;
  const isMade = dataset === instruments && before === null && left !== null && left !== undefined;
  const user = isMade ? await firstUser(writer, left.instrument_id, entry.run_id) : null;
  await writer.remove(rowChanges, [entry]);
  if (user !== null && (later === undefined || user < later.run_id)) {
    await writer.upsert(rowChanges, [{ ...entry, run_id: user }]);
    return { keptBy: user };
  }
  if (later !== undefined) {
    await writer.upsert(rowChanges, [{ ...later, before }]);
    return { keptBy: later.run_id };
  }
  if (before !== null) {
    if (JSON.stringify(before) === JSON.stringify(stored)) return 'unchanged';
    if (stored === undefined) await refuseUnnamed(writer, dataset, before);
    await putRow(writer, dataset, stored ?? null, before);
    return 'restored';
  }
  if (isMade) await refuseOrphans(writer, left);
  await putRow(writer, dataset, stored ?? null, null);
  return 'removed';
}

const seriesOf = (writer: Writer, instrumentId: number): Promise<RowOf<typeof seriesDataset>[]> =>
  writer.rows(seriesDataset, {
    where: { instrument_id: instrumentId },
    order: [['interval', 'asc']],
    limit: SERIES_MAX,
  });

/** The first run after another that changed bars of an instrument; null where none did. */
async function firstUser(writer: Writer, instrumentId: number, runId: number): Promise<number | null> {
  let first = Number.POSITIVE_INFINITY;
  for (const { series_id } of await seriesOf(writer, instrumentId)) {
    let after: readonly [number, number] | undefined;
    for (;;) {
      const found: RowOf<typeof blockChanges>[] = await writer.rows(blockChanges, {
        where: { series_id },
        order: [
          ['bucket', 'asc'],
          ['run_id', 'asc'],
        ],
        ...(after === undefined ? {} : { after }),
        limit: ENTRIES_PER_READ,
      });
      for (const { run_id } of found) if (run_id > runId) first = Math.min(first, run_id);
      const last = found.at(-1);
      if (last === undefined) break;
      after = [last.bucket, last.run_id];
    }
  }
  return first === Number.POSITIVE_INFINITY ? null : first;
}

/** An instrument that an earlier run deleted is needed again where bars or rows came back that were deleted before it. */
async function refuseOrphans(writer: Writer, instrument: Instrument): Promise<void> {
  const hasBars = (await seriesWithBars(writer, instrument)).length > 0;
  const use = hasBars ? null : await useOf(writer, instrument);
  if (!hasBars && use === null) return;
  const deletion = await deletionOf(writer, instrument.instrument_id);
  throw orphansOf(deletion, use === null ? 'bars' : spokenName(use.dataset));
}

/** A row that comes back needs the instruments that it names, which may have been deleted after it. */
async function refuseUnnamed(writer: Writer, dataset: Dataset, row: RowOf<Dataset>): Promise<void> {
  for (const name of namedBy(dataset, row)) {
    const { asset_schema, country_iso_code, symbol } = name;
    const where = { asset_schema, country_iso_code, symbol };
    const found = await writer.pick(instruments, ['symbol'], { where, order: [['symbol', 'asc']], limit: 1 });
    if (found.length === 0) throw orphansOf(await deletionOfName(writer, name), spokenName(dataset));
  }
}

/** The newest deletion of the instrument that had a name. */
async function deletionOfName(writer: Writer, name: Name): Promise<Deletion> {
  const entries = await writer.rows(rowChanges, {
    where: { dataset: instruments.name, row_key: rowKeyOf(instruments, name) },
    order: [['run_id', 'desc']],
    limit: ENTRIES_PER_READ,
  });
  for (const { before, run_id } of entries)
    if (before !== null && (await isDeletion(writer, run_id)))
      return { runId: run_id, instrument: before as Instrument };
  throw new Error(`no run has deleted ${nameOf(name)}, and it is not there`);
}

/** A deleted instrument as it was, and the newest run that deleted it. */
export type Deletion = { readonly runId: number; readonly instrument: Instrument };

/** The newest deletion of an instrument that no row names any more. */
export async function deletionOf(writer: Writer, instrumentId: number): Promise<Deletion> {
  const order = [
    ['run_id', 'desc'],
    ['dataset', 'desc'],
    ['row_key', 'desc'],
  ] as const;
  let after: readonly [number, string, string] | undefined;
  for (;;) {
    const found: Entry[] = await writer.rows(rowChanges, {
      order,
      ...(after === undefined ? {} : { after }),
      limit: ENTRIES_PER_READ,
    });
    for (const { dataset, before, run_id } of found) {
      const instrument = dataset === instruments.name ? (before as Instrument | null) : null;
      if (instrument?.instrument_id === instrumentId && (await isDeletion(writer, run_id)))
        return { runId: run_id, instrument };
    }
    const last = found.at(-1);
    if (last === undefined)
      throw new Error(`no run has deleted instrument ${instrumentId}, and no row names it`);
    after = [last.run_id, last.dataset, last.row_key];
  }
}

async function isDeletion(writer: Writer, runId: number): Promise<boolean> {
  const [run] = await writer.rows(importRuns, {
    where: { run_id: runId },
    order: [['run_id', 'asc']],
    limit: 1,
  });
  return run?.kind === 'delete';
}

/** Why bars, or rows of another dataset, cannot come back or stay: their instrument would be missing. */
export function orphansOf({ runId, instrument }: Deletion, what = 'bars'): RequestProblem {
  return new RequestProblem(
    `${what} of ${nameOf(instrument)} would be left without their instrument, which run ${runId} deleted: take that back first, by bourse undo ${runId}`,
  );
}
