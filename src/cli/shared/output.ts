// What commands print: answers on standard output, notes on standard error.
import type { OnWait, Store } from '../../store/store.ts';
import { printable } from './table.ts';

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

/** Lines of names and numbers as text for a terminal. */
export const linesOf = (lines: readonly string[]): string => `${lines.map(printable).join('\n')}\n`;

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
