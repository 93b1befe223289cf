// Names on the command line -> names of files: expands patterns, and refuses a name without a file before
// anything is done. Files of refused rows are found here too.
import { closeSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { usageProblem } from './file-problem.ts';

/** The name of standard input on the command line. */
export const STANDARD_INPUT = '-';

/** The last columns of a file of refused rows. */
export const reasonColumns: readonly string[] = ['rejected_row', 'rejected_column', 'rejected_reason'];

/** Its header ends within these bytes. */
const HEADER_BYTES_MAX = 128 * 1024;

/**
 * True if a file has refused rows, by its header, so that no other file is replaced or removed; false where
 * it cannot be read.
 */
function holdsRefusedRows(path: string): boolean {
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

const statsOf = (name: string): Promise<Stats | null> => stat(name).catch(() => null);

const isOfRefusedRows = (name: string): boolean =>
  /\.rejected(?:\.\d+)?\.csv$/.test(name) && holdsRefusedRows(name);

/** The files that match a pattern such as `2025/*.csv.gz`, ordered by name, without files of refused rows. */
async function matching(pattern: string): Promise<string[]> {
  const found: string[] = [];
  for await (const name of glob(pattern)) {
    if (!isOfRefusedRows(name) && (await statsOf(name))?.isDirectory() !== true) found.push(name);
  }
  return found.sort();
}

/**
 * The files of some names; a name that exists is no pattern, whatever characters it has. @throws FileProblem
 */
export async function inputsOf(names: readonly string[]): Promise<string[]> {
  if (names.filter((name) => name === STANDARD_INPUT).length > 1)
    throw usageProblem('standard input (-) can be read only once');
  const inputs: string[] = [];
  for (const name of names) {
    if (name === STANDARD_INPUT || (await statsOf(name)) !== null) inputs.push(name);
    else if (!/[*?[{]/.test(name)) throw usageProblem(`${name}: there is no such file`);
    else {
      const found = await matching(name);
      if (found.length === 0) throw usageProblem(`${name}: no file matches this pattern`);
      inputs.push(...found);
    }
  }
  return inputs;
}
