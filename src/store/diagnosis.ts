// One finding of `bourse doctor`: what was looked at, how it is, and what to do.
import { stat } from 'node:fs/promises';

const OTHERS_READ = 0o004;

/** What one check found; `cure` is null where nothing is to be done. */
export type Diagnosis = {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly cure: string | null;
};

/** A check that found things in order. */
export const fine = (check: string, message: string): Diagnosis => ({
  check,
  state: 'ok',
  message,
  cure: null,
});

/** A check that found what works, but should be otherwise. */
export const doubtful = (check: string, message: string, cure: string): Diagnosis => ({
  check,
  state: 'warn',
  message,
  cure,
});

/** A check that found what does not work. */
export const broken = (check: string, message: string, cure: string | null): Diagnosis => ({
  check,
  state: 'fail',
  message,
  cure,
});

/** Files among `paths` that every user of the machine can read. */
export async function readableByOthers(paths: readonly string[]): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const found = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mode }) => (mode & OTHERS_READ ? path : null),
        () => null,
      ),
    ),
  );
  return found.filter((path) => path !== null);
}
