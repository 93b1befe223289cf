// Names on the command line -> names of files: expands patterns, and refuses a name without a file before
// anything is done.
import type { Stats } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { FileProblem } from './file-problem.ts';
import { holdsRefusedRows } from './rejected-file.ts';
import { STANDARD_INPUT } from './source.ts';

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
    throw new FileProblem('usage', 'standard input (-) can be read only once');
  const inputs: string[] = [];
  for (const name of names) {
    if (name === STANDARD_INPUT || (await statsOf(name)) !== null) inputs.push(name);
    else if (!/[*?[{]/.test(name)) throw new FileProblem('usage', `${name}: there is no such file`);
    else {
      const found = await matching(name);
      if (found.length === 0) throw new FileProblem('usage', `${name}: no file matches this pattern`);
      inputs.push(...found);
    }
  }
  return inputs;
}
