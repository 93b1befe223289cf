// The output of commands: answers on standard output, as tables or JSON; notes, and the progress of long work
// on a terminal, on standard error.

import { formatBytes } from '../../base/words.ts';
import type { OnWait, Store } from '../../store/store.ts';

const MARKS = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/**
 * A line for a terminal: line ends and control characters are escaped as in JSON strings, so that none has an
 * effect.
 */
export const printable = (line: string): string =>
  line.replace(MARKS, (mark) => {
    const written = JSON.stringify(mark).slice(1, -1);
    return written === mark ? `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}` : written;
  });

const NUMBER = /^-?[\d,.]*$/;

/**
 * Lines of a table whose first row is its head. Columns are as wide as their widest cell; numbers are aligned
 * right.
 */
export function formatTable(table: readonly (readonly string[])[]): string {
  const rows = table.map((row) => row.map(printable));
  const columns = (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? ''));
  const widths = columns.map((cells) => Math.max(...cells.map((cell) => cell.length)));
  const isNumeric = columns.map((cells) => cells.slice(1).every((cell) => NUMBER.test(cell)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** The cells of a row: numbers as counts, nothing as an empty cell. */
export const cells = (...values: readonly (string | number | null | undefined)[]): string[] =>
  values.map((value) => (typeof value === 'number' ? count(value) : (value ?? '')));

/** A whole number, or the nearest one: `1,200`. */
export const count = (value: number): string => Math.round(value).toLocaleString('en-US');

/** `1 bar`, `1,200 bars`. */
export const countOf = (value: number, what: string): string =>
  `${count(value)} ${what}${value === 1 ? '' : 's'}`;

/** The number of standard error among the files of a process. */
export const STDERR = 2;

/** Prints an answer: a record where `--json` was given, else its text, which ends with a line end. */
export function print(
  { json }: { readonly json?: boolean },
  record: unknown,
  text: string,
  indent = 0,
  stream: NodeJS.WritableStream = process.stdout,
): void {
  stream.write(json ? `${JSON.stringify(record, null, indent)}\n` : text);
}

/** The lines that are not false: each may depend on a condition. */
export const saidOf = (lines: readonly (string | false)[]): string[] =>
  lines.filter((line) => line !== false);

/** Lines of names and numbers as text for a terminal. */
export const linesOf = (lines: readonly (string | false)[]): string =>
  `${saidOf(lines).map(printable).join('\n')}\n`;

let quiet = false;

/**
 * Sets whether notes, hints and progress are left out from now on: standard error is one for all of a command
 * (contract 10.4).
 */
export function beQuiet(isAsked: boolean): void {
  quiet = isAsked;
}

/** True if only results and errors are printed. */
export const isQuiet = (): boolean => quiet;

/** Prints what went wrong in one line. */
export const complain = (text: string): void => void process.stderr.write(`bourse: ${printable(text)}\n`);

/** Prints a note in one line. */
export function note(text: string): void {
  if (!quiet) complain(text);
}

/** Notes that another process writes to the store. */
export const noteWait =
  ({ name }: Store): OnWait =>
  (pid) =>
    note(`waiting for another write to ${name} to end${pid === null ? '' : ` (process ${pid})`}`);

/** The line is written again at this interval. */
const EVERY_MS = 200;

/** Work that ends sooner shows no line. */
const QUIET_MS = 500;

function seconds(value: number): string {
  const whole = Math.ceil(value);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** The file that is being read or written, and its size; null where that is not known. */
type Task = {
  readonly name: string;
  readonly bytes?: number | null;
  readonly rowsAbout?: number | null;
};

/** Describes the progress of a task: rows, rows a second, bytes, time left. */
export function progressText(
  { name, bytes = null, rowsAbout = null }: Task,
  rows: number,
  elapsedMs: number,
): string {
  const perSecond = (rows / elapsedMs) * 1000;
  const done = rowsAbout === null ? null : Math.min(rows / rowsAbout, 1);
  const parts = [`${count(rows)} rows`, `${count(perSecond)} rows/s`];
  if (done !== null && done > 0) {
    parts.unshift(
      bytes === null
        ? `${Math.floor(100 * done)} %`
        : `${formatBytes(done * bytes)} of ${formatBytes(bytes)}`,
    );
    parts.push(`${seconds((elapsedMs / 1000) * (1 / done - 1))} left`);
  }
  return `${printable(name)}: ${parts.join(', ')}`;
}

/** Shows the progress of a task while `work` tells of it. */
export async function withProgress<T>(task: Task, work: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = new Progress(task);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}

/** The progress of one task after another on standard error. */
export class Progress {
  readonly #isShown = process.stderr.isTTY && !isQuiet();
  #task: Task;
  #startedMs = performance.now();
  #shownMs = this.#startedMs + QUIET_MS - EVERY_MS;

  constructor(task: Task) {
    this.#task = task;
  }

  /** The next task begins. */
  begins(name: string, rowsAbout: number): void {
    this.end();
    this.#task = { name, rowsAbout };
    this.#startedMs = performance.now();
    this.#shownMs = this.#startedMs + QUIET_MS - EVERY_MS;
  }

  /** Shows the number of rows that were read. */
  readonly reached = (rows: number): void => {
    const nowMs = performance.now();
    if (!this.#isShown || nowMs - this.#shownMs < EVERY_MS) return;
    this.#shownMs = nowMs;
    const text = progressText(this.#task, rows, nowMs - this.#startedMs);
    process.stderr.write(`\r\x1b[K${text.slice(0, process.stderr.columns - 1)}`);
  };

  /** Removes the line. */
  end(): void {
    if (this.#isShown) process.stderr.write('\r\x1b[K');
  }
}
