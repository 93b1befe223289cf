// What a soak measured, and what of it does not hold.
import { aimed, type Figure } from './minutes.ts';

/** What one minute came to; memory is the mean and the most of its samples. */
export type Minute = {
  readonly megabytes: number;
  readonly mostMegabytes: number;
  readonly files: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answers: number;
};

/**
 * By how much the last quarter may exceed the second: memory, files and, on machines with other work,
 * latency.
 */
const MEMORY_FACTOR = 1.05;
const FILES_MORE = 3;
const LATENCY_FACTOR = 2;
/** Resident memory of one server under load, with the default caches. */
const MEGABYTES_MAX = 350;
/** Share of the requests that may be refused: this load is no overload. */
const REFUSED_SHARE_MAX = 0.01;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The figures of a soak, with the target of each that does not hold. */
export function figuresOf(measured: readonly Minute[], refused: number): Figure[] {
  const quarter = Math.max(1, Math.floor(measured.length / 4));
  const quarters = [measured.slice(quarter, 2 * quarter), measured.slice(-quarter)];
  const of = (figure: keyof Minute): [early: number, late: number] => {
    const [early, late] = quarters.map((part) => mean(part.map((minute) => minute[figure])));
    return [early!, late!];
  };
  const answers = measured.reduce((sum, minute) => sum + minute.answers, 0);
  const most = Math.max(...measured.map(({ mostMegabytes }) => mostMegabytes));
  const [memory, files, p50, p99] = [of('megabytes'), of('files'), of('p50Ms'), of('p99Ms')];
  const both = (pair: readonly number[]): string => pair.map((value) => value.toFixed(1)).join(' -> ');
  const isLevel = (pair: readonly number[], most: number): boolean => pair[1]! <= most;
  return [
    ['minutes', String(measured.length)],
    ['answers', String(answers)],
    aimed(
      'memory in MB, second quarter -> last',
      both(memory),
      isLevel(memory, MEMORY_FACTOR * memory[0]),
      `at most ${MEMORY_FACTOR} x`,
    ),
    aimed('open files', both(files), isLevel(files, files[0] + FILES_MORE), `at most ${FILES_MORE} more`),
    ['p50 in ms', both(p50)],
    aimed('p99 in ms', both(p99), isLevel(p99, LATENCY_FACTOR * p99[0]), `at most ${LATENCY_FACTOR} x`),
    aimed('most memory in MB', most.toFixed(0), most <= MEGABYTES_MAX, `at most ${MEGABYTES_MAX}`),
    aimed(
      'refused under load',
      String(refused),
      refused <= REFUSED_SHARE_MAX * answers,
      `at most ${REFUSED_SHARE_MAX} of all`,
    ),
  ];
}
