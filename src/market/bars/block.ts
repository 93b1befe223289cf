// The stored block: bars as bytes. Exact (every double comes back), versioned, checksummed, with a directory
// of runs.
//
// Layout, little-endian:
//   0  u32  CRC-32 of everything after it
//   4  u8   version
//   5  u8   key unit: 0 minutes, 1 days
//   6  i8   decimals of the prices, -1: plain doubles
//   7  i8   decimals of the volume, -1: plain doubles, -2: all null
//   8  i8   decimals of the vwap, likewise
//   9  u8   bit 0: some volumes are null; bit 1: some vwaps are null
//   10 u16  reserved
//   12 u32  count of bars
//   16 f64  first key, in units
//   24 directory: for every run of 128 bars u32 first key minus the block's, in units, and u32 offset of the run
//   then the runs. A run holds its columns one after the other and needs no other run to be read:
//   key steps less one, open, close, high, low, volume, vwap.
// A scaled column holds integers: open as steps from the close before, close as steps from its open, high and
// low as distances from the greater and the lesser of the two, vwap as its distance from the close. Integers
// of a run are u8 width, then each as a signed integer of so many bytes: 0 (all are 0), 1, 2, 3, 4, 6, or 8
// for a double. Null is 0 in them. A plain column holds doubles, nulls left out. A column with nulls begins
// with a bitmap of them.
import { MANTISSA_LIMIT } from '../../base/decimal.ts';
import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';

export const VERSION = 2;
export const HEADER_BYTES = 24;
export const ENTRY_BYTES = 8;

/** Bars in one run, the smallest unit that is decoded. */
export const RUN_BARS = 128;

/** Special values of decimals. */
export const PLAIN = -1;
export const ALL_NULL = -2;

export const SOME_VOLUME_NULL = 1;
export const SOME_VWAP_NULL = 2;

export const UNITS_MS = [MINUTE_MS, DAY_MS];

export const TWO_TO_32 = 2 ** 32;

/**
 * The bytes of a block were changed after they were written. The reader of the store adds the block's name.
 */
export class DamagedBlock extends Error {
  override readonly name = 'DamagedBlock';
  readonly problem: string;

  constructor(problem: string) {
    super(`damaged block: ${problem}`);
    this.problem = problem;
  }
}

/** Gives the expected vwap: the close, in the vwap's own scale, a power of ten. */
export function expectedVwap(close: number, power: number): number {
  const expected = Math.round(close * power);
  return Math.abs(expected) < MANTISSA_LIMIT ? expected : 0;
}

/** Days that one block of an interval spans; null where the whole series is one block. */
export function bucketDays(interval: Interval): number | null {
  const minutes = intervalMinutes(interval);
  if (minutes === null) return interval === 'DAY' ? 1024 : null;
  if (minutes < 5) return 1;
  return minutes < 30 ? 7 : 91;
}

/** The bucket of a bar's key: a whole number, ascending with time. */
export function bucketOf(interval: Interval, keyMs: number): number {
  const days = bucketDays(interval);
  return days === null ? 0 : Math.floor(keyMs / (days * DAY_MS));
}
