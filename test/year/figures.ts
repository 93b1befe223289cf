// What the processes of the year held in its second month and in its last, and what of it grew.
import { aimed, type Figure } from '../reliability/minutes.ts';
import type { Morning } from './year.ts';

const MONTHS = 12;
const MEGABYTE = 2 ** 20;

/**
 * Memory may go up by this factor: the caches, which are bounded, are filled by then by what the second month
 * did not have yet.
 */
const MEMORY_FACTOR = 1.3;
/** A connection or a file that is just being read. */
const FILES_MORE = 3;
/** What docs/reliability.md promises of the log of changes, some seconds after an import. */
const WAITING_MEGABYTES_MAX = 64;
/** Weeks in which an import is killed, or a disk is full, say some lines more. */
const LINES_MORE = 5;

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** The figures, with the target of each that does not hold. */
export function figuresOf(mornings: readonly Morning[]): Figure[] {
  const month = Math.max(1, Math.floor(mornings.length / MONTHS));
  const of = (
    what: string,
    numberOf: (morning: Morning) => number,
    mostOf: (early: number) => number,
    digits = 0,
  ): Figure => {
    const [early, late] = [mornings.slice(month, 2 * month), mornings.slice(-month)].map((some) =>
      medianOf(some.map(numberOf)),
    );
    const most = mostOf(early!);
    const words = `${early!.toFixed(digits)} -> ${late!.toFixed(digits)}`;
    return aimed(`${what}, second month -> last`, words, late! <= most, `at most ${most.toFixed(digits)}`);
  };
  const flatMemory = (early: number): number => MEMORY_FACTOR * early;
  const flatFiles = (early: number): number => early + FILES_MORE;
  return [
    of('memory of the service in MB', ({ service }) => service.megabytes, flatMemory),
    of('memory of the watch in MB', ({ watch }) => watch.megabytes, flatMemory),
    of('open files of the service', ({ service }) => service.files, flatFiles),
    of('open files of the watch', ({ watch }) => watch.files, flatFiles),
    of('files in the temporary folder', ({ temporaryFiles }) => temporaryFiles, flatFiles),
    of(
      'lines that the service logs a day, but for requests',
      ({ logLines }) => logLines,
      (early) => early + LINES_MORE,
    ),
    of(
      'log of changes beside the store in MB',
      ({ waitingBytes }) => waitingBytes / MEGABYTE,
      () => WAITING_MEGABYTES_MAX,
      1,
    ),
  ];
}
