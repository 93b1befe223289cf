// Names a damaged block, or a series that lost blocks, for the operator: its instrument, interval and days,
// and the run that wrote it.
import { formatDay } from '../base/instant.ts';
import type { Interval } from '../contract/interval.ts';
import { bucketDays } from '../market/bars/block.ts';
import { rowWith } from '../store/all-rows.ts';
import { type BlockPlace, type Damage, DamagedData, damageWords, unlessDamaged } from '../store/damage.ts';
import { storeLimits } from '../store/limits.ts';
import { series as seriesDataset } from '../store/schema/bars.ts';
import { instruments } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';

/** The days of a bucket: `2024-05-03`, `2024-05-01 to 2024-05-07`, or all days of the series. */
export function bucketWords(interval: Interval, bucket: number): string {
  const days = bucketDays(interval);
  if (days === null) return 'all days';
  const [first, last] = [formatDay(bucket * days), formatDay((bucket + 1) * days - 1)];
  return first === last ? first : `${first} to ${last}`;
}

/** The interval of a series, and both in words: `stock:US:AAPL 1M`; null where its row is lost. */
async function namedSeries(reader: Reader, seriesId: number) {
  const series = await rowWith(reader, seriesDataset, { series_id: seriesId });
  if (series === null) return null;
  const { instrument_id } = series;
  const named = await unlessDamaged(rowWith(reader, instruments, { instrument_id }));
  const name =
    named === null ? `series ${seriesId}` : `${named.asset_schema}:${named.country_iso_code}:${named.symbol}`;
  return { interval: series.interval as Interval, words: `${name} ${series.interval}` };
}

const wordsOf = async (reader: Reader, seriesId: number): Promise<string | null> =>
  (await namedSeries(reader, seriesId))?.words ?? null;

async function placeOf(reader: Reader, { seriesId, bucket, runId }: BlockPlace): Promise<string | null> {
  const series = await namedSeries(reader, seriesId);
  if (series === null) return null;
  const place = `${series.words}, ${bucketWords(series.interval, bucket)}`;
  return runId === null ? place : `${place}, imported by run ${runId}`;
}

/** The same damage with its block or series named; unchanged where it is neither, or of no series. */
export async function namedDamage(reader: Reader, damage: Damage): Promise<Damage> {
  const { block, seriesId } = damage;
  if (block === undefined && seriesId === undefined) return damage;
  const found = block === undefined ? wordsOf(reader, seriesId!) : placeOf(reader, block);
  const place = (await unlessDamaged(found)) ?? damage.place;
  return { ...damage, place };
}

/** Gives what a read gives, and names the block or series of the damage that it meets. @throws DamagedData */
export async function namingDamage<T>(reader: Reader, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    throw new DamagedData(await namedDamage(reader, error.damage), error);
  }
}

/**
 * The damage that a command has met and passed over: each part once, up to a bound from which on parts are
 * counted alone.
 */
export class FoundDamage {
  readonly #found = new Map<string, Damage>();
  /** How often reads met a part beyond the bound: which part that was is not kept. */
  #unnamed = 0;

  readonly add = (damage: Damage): void => {
    const words = damageWords(damage);
    if (this.#found.has(words)) return;
    if (this.#found.size < storeLimits.damageNamedMax) this.#found.set(words, damage);
    else this.#unnamed++;
  };

  /** The damaged parts, blocks with their instrument and days; the last one says how many more there are. */
  async named(reader: Reader): Promise<Damage[]> {
    const named: Damage[] = [];
    for (const damage of this.#found.values()) named.push(await namedDamage(reader, damage));
    if (this.#unnamed === 0) return named;
    const problem = `more parts are damaged: reads met ${this.#unnamed}, perhaps some of them twice; bourse doctor --deep counts them`;
    return [...named, { dataset: null, place: 'the store', problem }];
  }
}
