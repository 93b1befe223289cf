// A series whose row is damaged: worked out anew from its blocks, and from the runs that hold it.
import { blockCount } from '../bars/block-reader.ts';
import { encodeIds } from '../base/id-list.ts';
import { type BarBasis, priceBases, volumeBases } from '../contract/price-basis.ts';
import { runSpans, series as seriesDataset } from '../datasets/bars.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { concerns } from '../series/run-spans.ts';
import { allBlocks, everyBucket } from '../store/all-blocks.ts';
import { allRows, type FoundRow, rowWith, soundRowWith } from '../store/all-rows.ts';
import { rowDamage } from '../store/checked-rows.ts';
import { DamagedData, ignoreDamage } from '../store/damage.ts';
import type { Writer } from '../store/store.ts';
import { StoredSeries } from './stored-series.ts';

type SeriesRow = RowOf<typeof seriesDataset>;

/**
 * The row of a series, null where there is none; a damaged one is repaired first. `found` is what was looked
 * up of it.
 * @throws DamagedData where it cannot be
 */
export async function soundSeries(
  writer: Writer,
  where: Pick<SeriesRow, 'instrument_id' | 'interval'>,
  basis: BarBasis,
  found: FoundRow<typeof seriesDataset> | null,
): Promise<{ readonly row: SeriesRow | null; readonly isRepaired: boolean }> {
  const { row, remains } = found ?? (await soundRowWith(writer, seriesDataset, where));
  if (remains === null) return { row, isRepaired: false };
  await repairSeries(writer, where, remains, basis);
  return { row: await rowWith(writer, seriesDataset, where), isRepaired: true };
}

/** One value of a damaged row, where it is one of those that it can be. */
function known<T extends string | null>(value: unknown, among: readonly T[], otherwise: T): T {
  return among.includes(value as T) ? (value as T) : otherwise;
}

/**
 * The row of a series in place of a damaged one, which gives its number and how its values are adjusted;
 * `basis` is for what it does not tell. @throws DamagedData where the number is damaged too, or a block is:
 * then nothing tells how many bars there are
 */
async function repairSeries(
  writer: Writer,
  where: Pick<SeriesRow, 'instrument_id' | 'interval'>,
  remains: Readonly<Record<string, unknown>>,
  basis: BarBasis,
): Promise<void> {
  const series_id = remains.series_id as number;
  const byId = await soundRowWith(writer, seriesDataset, { series_id });
  if (byId.remains === null)
    throw new DamagedData(rowDamage(seriesDataset, remains, 'its number is damaged: restore a backup'));
  let bar_count = 0;
  const read = { seriesId: series_id, ...everyBucket, direction: 'asc' } as const;
  const sound = writer.sound((damage) => {
    throw new DamagedData(damage);
  });
  for await (const { bytes } of allBlocks(sound, read)) bar_count += blockCount(bytes);
  const row: SeriesRow = {
    ...where,
    series_id,
    prices: known(remains.prices, priceBases, basis.prices),
    volumes: known(remains.volumes, [...volumeBases, null], basis.volumes),
    first_ms: 0,
    last_ms: 0,
    bar_count,
    runs: encodeIds(await runsOf(writer, series_id)),
  };
  await writer.upsert(seriesDataset, [row]);
  await new StoredSeries(writer, row).settle();
}

/** The live runs that hold a series or have deleted bars of it. */
async function runsOf(writer: Writer, seriesId: number): Promise<number[]> {
  const found: number[] = [];
  for await (const run of allRows(writer.sound(ignoreDamage), runSpans))
    if (concerns(run, seriesId)) found.push(run.run_id);
  return found;
}
