// Which bits are flipped: by chance from a seed, in the whole file or in some regions of it.
import { Random } from '../fuzz/random.ts';
import type { Region } from './flips-pages.ts';

/** The flips from one number (included) to another (not), in a store of these bytes. */
export type FlipsJob = {
  readonly folder: string;
  readonly bytes: Uint8Array;
  /** Where to flip bits. */
  readonly regions: readonly Region[];
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** Each flip asks one in so many of the things that can be asked, the next flip the next ones; 1: all. */
  readonly share: number;
};

/** The bit of a number: the same for the same seed, number and regions. */
export function bitOf({ regions, seed }: Pick<FlipsJob, 'regions' | 'seed'>, number: number) {
  const random = new Random(seed, number);
  let left = random.below(regions.reduce((sum, { size }) => sum + size, 0));
  const region = regions.find(({ size }) => {
    if (left < size) return true;
    left -= size;
    return false;
  })!;
  return { offset: region.start + left, bit: random.below(8) };
}
