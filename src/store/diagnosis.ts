// One result of `bourse doctor`: the check, what it found, and what to do.
import { stat } from 'node:fs/promises';

const OTHERS_READ = 0o004;

/** The result of one check; `cure` is null where nothing needs to be done. */
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

/** A check that found something that works, but should be changed. */
export const doubtful = (check: string, message: string, cure: string): Diagnosis => ({
  check,
  state: 'warn',
  message,
  cure,
});

/** A check that found something that does not work. */
export const broken = (check: string, message: string, cure: string | null): Diagnosis => ({
  check,
  state: 'fail',
  message,
  cure,
});

/** The files among `paths` that every user of the machine can read. */
export async function readableByOthers(paths: readonly string[]): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return paths.filter((_, index) => (found[index]?.mode ?? 0) & OTHERS_READ);
}
