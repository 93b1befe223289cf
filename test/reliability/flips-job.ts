// Which bits are flipped: by chance from a seed, in the whole file or in the pages of some tables and indexes.
import { Random } from '../fuzz/random.ts';
import type { Page } from './flips-pages.ts';

/** The flips from one number (included) to another (not), in a store of these bytes. */
export type FlipsJob = {
  readonly folder: string;
  readonly bytes: Uint8Array;
  /** The pages to flip bits in. */
  readonly pages: readonly Page[];
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** Each flip asks one in so many of the things that can be asked, the next flip the next ones; 1: all. */
  readonly share: number;
};

/** The bit of a number: the same for the same seed, number and pages. */
export function bitOf({ pages, seed }: Pick<FlipsJob, 'pages' | 'seed'>, number: number) {
  const random = new Random(seed, number);
  let left = random.below(pages.reduce((sum, { size }) => sum + size, 0));
  const page = pages.find(({ size }) => {
    if (left < size) return true;
    left -= size;
    return false;
  })!;
  return { offset: page.start + left, bit: random.below(8) };
}
