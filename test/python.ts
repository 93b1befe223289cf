// A Python that has what the client in clients/python needs.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** The folder of the client. */
export const pythonClient = join(import.meta.dirname, '../clients/python');

const runs = (program: string, ...words: readonly string[]): boolean =>
  spawnSync(program, words).status === 0;

/** The path of a Python, by any name, if it has httpx and pandas; '' otherwise. */
const pathOf = (name: string): string =>
  spawnSync(name, ['-c', 'import sys, httpx, pandas; print(sys.executable, end="")'], { encoding: 'utf8' })
    .stdout ?? '';

/**
 * The path of the first Python with httpx and pandas; null where there is none. Debian's packages belong to
 * /usr/bin/python3.
 */
export const python: string | null = pathOf('python3') || pathOf('/usr/bin/python3') || null;

/** Why tests of the client are skipped; false where they are not. */
export const skipPython =
  python === null &&
  'Python with httpx and pandas is not on this machine: apt-get install python3-httpx python3-pandas';

/** Why the client cannot be installed without a network; false where it can. */
export const skipInstall =
  skipPython ||
  (!runs(python!, '-c', 'import setuptools, wheel, pip') &&
    'Python has no pip, setuptools and wheel: apt-get install python3-pip python3-setuptools python3-wheel');
