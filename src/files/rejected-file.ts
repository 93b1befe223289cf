// Where files of refused rows lie: told from all others by their columns, so that no other is ever replaced or removed.
import { closeSync, lstatSync, openSync, readSync, rmSync } from 'node:fs';

/** Columns that a file of refused rows has beside those of its source. */
export const reasonColumns: readonly string[] = ['rejected_row', 'rejected_column', 'rejected_reason'];

/** Bytes in which its header ends. */
const HEADER_BYTES_MAX = 128 * 1024;

/** Whether a file is one of refused rows as it was written: by its header. One that cannot be read is not known to be. */
export function holdsRefusedRows(path: string): boolean {
  try {
    if (!lstatSync(path).isFile()) return false;
    const file = openSync(path, 'r');
    try {
      const start = Buffer.alloc(HEADER_BYTES_MAX);
      const [header] = start.toString('utf8', 0, readSync(file, start)).split('\r\n');
      return header!.endsWith(`,${reasonColumns.join()}`);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

/**
 * The first of `x.rejected.csv`, `x.rejected.2.csv`, … that is free; or, where `replacesEarlier`, that holds the refused rows
 * of an earlier import.
 */
export function rejectedPlace(path: string, replacesEarlier: boolean): string {
  for (let number = 1; ; number++) {
    const place = number === 1 ? path : path.replace(/\.csv$/, `.${number}.csv`);
    const isFree = lstatSync(place, { throwIfNoEntry: false }) === undefined;
    if (isFree || (replacesEarlier && holdsRefusedRows(place))) return place;
  }
}

/** Removes the refused rows of an earlier import, as far as its folder allows. */
export function removeEarlier(path: string): void {
  try {
    rmSync(rejectedPlace(path, true), { force: true });
  } catch {
    // The import has been done.
  }
}
