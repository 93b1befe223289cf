// Finds files of refused rows. They are recognized by their columns, so that no other file is replaced or
// removed.
import { closeSync, lstatSync, openSync, readSync, rmSync } from 'node:fs';

/** The last columns of a file of refused rows. */
export const reasonColumns: readonly string[] = ['rejected_row', 'rejected_column', 'rejected_reason'];

/** Its header ends within these bytes. */
const HEADER_BYTES_MAX = 128 * 1024;

/** True if a file has refused rows, by its header; false where it cannot be read. */
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
 * The first of `x.rejected.csv`, `x.rejected.2.csv`, … that does not exist or, with `replacesEarlier`, has
 * refused rows of an earlier import.
 */
export function rejectedPlace(path: string, replacesEarlier: boolean): string {
  for (let number = 1; ; number++) {
    const place = number === 1 ? path : path.replace(/\.csv$/, `.${number}.csv`);
    const isFree = lstatSync(place, { throwIfNoEntry: false }) === undefined;
    if (isFree || (replacesEarlier && holdsRefusedRows(place))) return place;
  }
}

/** Removes the refused rows of an earlier import, if the folder allows it. */
export function removeEarlier(path: string): void {
  try {
    rmSync(rejectedPlace(path, true), { force: true });
  } catch {
    // The import is done already.
  }
}
