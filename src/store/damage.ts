// Damage of a store in words for the log and for the operator: the part of it that is damaged, and
// what each check of `bourse doctor` found.

import { stat } from 'node:fs/promises';
import type { Dataset, Values } from './schema/dataset.ts';

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

/** For data that an answer needs. @throws DamagedData */
export function refuseDamage(damage: Damage): never {
  throw new DamagedData(damage);
}

/** The result of a read that may be missing: null where it meets damage, which `onDamage` gets. */
export async function unlessDamaged<T>(
  reading: Promise<T> | T,
  onDamage: (damage: Damage) => void = () => undefined,
): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    onDamage(error.damage);
    return null;
  }
}

/** Damage in words. */
export const damageWords = ({ dataset, place, problem }: Damage): string =>
  `${[dataset, place].filter(Boolean).join(', ')}: ${problem}`;

/** A read met damaged data that its answer needs. */
export class DamagedData extends Error {
  override readonly name = 'DamagedData';
  readonly damage: Damage;
  /** The damaged row, where it is one that was read: it can be removed by its key. */
  readonly row: Values | null;

  constructor(damage: Damage, cause?: unknown, row: Values | null = null) {
    super(`stored data is damaged: ${damageWords(damage)}`, cause === undefined ? {} : { cause });
    this.damage = damage;
    this.row = row;
  }
}

/** The key of a row in words. */
export const keyWords = ({ key }: Dataset, row: Values): string =>
  `row ${key.map((column) => `${column} ${JSON.stringify(row[column])}`).join(', ')}`;

/** The damage of a block, by its numbers. */
export const blockDamage = (block: BlockPlace, problem: string): Damage => ({
  dataset: 'bars',
  place: `block ${block.bucket} of series ${block.seriesId}, written by run ${block.runId ?? '?'}`,
  problem,
  block,
});

const OTHERS_READ = 0o004;

/** The result of one check; `cure` is null where nothing needs to be done. */
export type Diagnosis = {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly cure: string | null;
};

const found =
  (state: Diagnosis['state']) =>
  (check: string, message: string, cure: string | null = null): Diagnosis => ({
    check,
    state,
    message,
    cure,
  });

/** A check that found things in order. */
export const fine = found('ok');

/** A check that found something that works, but should be changed. */
export const doubtful = found('warn');

/** A check that found something that does not work. */
export const broken = found('fail');

/** The files among `paths` that every user of the machine can read. */
export async function readableByOthers(paths: readonly string[]): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const stats = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return paths.filter((_, index) => (stats[index]?.mode ?? 0) & OTHERS_READ);
}
