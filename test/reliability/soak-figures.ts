// What a soak measured, and what of it does not hold.
import { FAILED, type Figure } from './minutes.ts';

/** What one minute came to; memory is the mean and the most of its samples. */
export type Minute = {
  readonly megabytes: number;
  readonly mostMegabytes: number;
  readonly files: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answers: number;
};

/** By how much the last quarter may exceed the second: memory, files and, on machines with other work, latency. */
const MEMORY_FACTOR = 1.05;
const FILES_MORE = 3;
const LATENCY_FACTOR = 2;
/** Resident memory of one server under load, with the default caches. */
const MEGABYTES_MAX = 350;
/** Share of the requests that may be refused: this load is no overload. */
const REFUSED_SHARE_MAX = 0.01;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The figures of a soak, and one more for each that does not hold. */
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
  const failed = [
    memory[1] > MEMORY_FACTOR * memory[0] && `memory grew: ${both(memory)} MB`,
    most > MEGABYTES_MAX && `memory reached ${most.toFixed(0)} MB: more than ${MEGABYTES_MAX}`,
    files[1] > files[0] + FILES_MORE && `open files grew: ${both(files)}`,
    p99[1] > LATENCY_FACTOR * p99[0] && `the 99th percentile of latency grew: ${both(p99)} ms`,
    refused > REFUSED_SHARE_MAX * answers && `${refused} of ${answers} requests were refused`,
  ].filter((words) => words !== false);
  return [
    ['minutes', String(measured.length)],
    ['answers', String(answers)],
    ['memory in MB, second quarter -> last', both(memory)],
    ['open files', both(files)],
    ['p50 in ms', both(p50)],
    ['p99 in ms', both(p99)],
    ['most memory in MB', most.toFixed(0)],
    ['refused under load', String(refused)],
    ...failed.map((words): Figure => [FAILED, words]),
  ];
}
