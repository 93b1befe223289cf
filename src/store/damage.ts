// Damaged data: which part of a store it is, in words for the log and for the operator.
import type { Dataset } from '../datasets/dataset.ts';

/** A damaged part of a store. */
export type Damage = {
  /** The dataset; `bars` for a block, null where not even that is known. */
  readonly dataset: string | null;
  /** What is damaged, in words: `row US:AAPL …`, `the bars of … of 2024-05-03`. */
  readonly place: string;
  /** What shows it. */
  readonly problem: string;
  /** Set where a row alone is damaged. */
  readonly part?: 'row';
  /** The damaged block, where it is one: `series/damaged-bars.ts` names its instrument and days. */
  readonly block?: BlockPlace;
  /** The series that lost blocks, where it did: the same file names its instrument. */
  readonly seriesId?: number;
};

/** The place of a block, and the run that wrote it; null where the block itself is lost. */
export type BlockPlace = {
  readonly seriesId: number;
  readonly bucket: number;
  readonly runId: number | null;
};

/**
 * A short part of reading a whole store: the table that was read, and what is damaged in it. A caller may
 * pause between two.
 */
export type ScrubStep = {
  readonly table: string;
  readonly damage: readonly Damage[];
  /** The part that was not checked, the reason, and the cure. */
  readonly unchecked?: string;
};

/** The readable rest of a damaged part: each value may be anything. */
export type Remains = {
  /** The stored values of a row. */
  readonly row?: Readonly<Record<string, unknown>>;
  /** The number of bars in the header of a block. */
  readonly bars?: number;
};

/** Takes what a tolerant read leaves out. */
export type OnDamage = (damage: Damage, remains: Remains) => void;

/** For data that is only looked at: what is damaged is as if it were not there. */
export const ignoreDamage: OnDamage = () => undefined;

/** For data that an answer needs. @throws DamagedData */
export function refuseDamage(damage: Damage): never {
  throw new DamagedData(damage);
}

/** Damage in words. */
export const damageWords = ({ dataset, place, problem }: Damage): string =>
  `${[dataset, place].filter(Boolean).join(', ')}: ${problem}`;

/** A read met damaged data that its answer needs. */
export class DamagedData extends Error {
  override readonly name = 'DamagedData';
  readonly damage: Damage;

  constructor(damage: Damage, cause?: unknown) {
    super(`stored data is damaged: ${damageWords(damage)}`, cause === undefined ? {} : { cause });
    this.damage = damage;
  }
}

/** The key of a row in words. */
export const keyWords = ({ key }: Dataset, row: Readonly<Record<string, unknown>>): string =>
  `row ${key.map((column) => `${column} ${JSON.stringify(row[column])}`).join(', ')}`;

/** The damage of a block, by its numbers. */
export const blockDamage = (block: BlockPlace, problem: string): Damage => ({
  dataset: 'bars',
  place: `block ${block.bucket} of series ${block.seriesId}, written by run ${block.runId ?? '?'}`,
  problem,
  block,
});
