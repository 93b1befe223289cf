// Errors of a command: the word, the exit status and the hint of each, printed for a person or for a program
// (contract 10).
import { CommanderError } from 'commander';
import { DiskFull, FolderUnusable } from '../../base/space.ts';
import { FileProblem } from '../../imports/read/file-problem.ts';
import { DamagedBlock } from '../../market/bars/block.ts';
import { RequestProblem } from '../../runs/recorded-write.ts';
import { type Damage, DamagedData, damageWords } from '../../store/damage.ts';
import {
  StoreFull,
  StoreUnusable,
  UnfitPlace,
  UnknownStoreAddress,
  WouldReplace,
  withoutPassword,
} from '../../store/store.ts';
import { UsageProblem } from '../config.ts';
import { ServiceProblem } from '../serve/listen-address.ts';
import { complain, note } from './output.ts';

/** An error as `--json` prints it. */
type Problem = {
  /** What kind of error it is, one word for programs; `fault` for one of Bourse itself. */
  readonly error: string;
  /** What happened, and what to do. */
  readonly message: string;
  /** What was probably meant, or what there is to choose from; null where that is not known. */
  readonly hint: string | null;
  /** The exit status that this error alone gives. */
  readonly exit: number;
};

/** Exit statuses (contract 10): done, but not with everything; wrong usage; a fault. */
export const EXIT_PARTLY = 1;
const EXIT_USAGE = 2;
const EXIT_FAULT = 3;

type ErrorClass = abstract new (...args: never[]) => Error;

/** The first class that an error is of gives its word. */
const kinds: Readonly<Record<string, readonly ErrorClass[]>> = {
  usage: [CommanderError, UsageProblem, RequestProblem, UnknownStoreAddress, UnfitPlace, WouldReplace],
  disk_full: [StoreFull, DiskFull],
  store_unusable: [StoreUnusable],
  damaged: [DamagedData, DamagedBlock],
  folder_unusable: [FolderUnusable],
  service: [ServiceProblem],
};

const fileKinds: Readonly<Record<FileProblem['kind'], readonly [error: string, exit: number]>> = {
  usage: ['usage', EXIT_USAGE],
  unfit: ['unfit_file', EXIT_USAGE],
  content: ['bad_file', EXIT_PARTLY],
};

function kindOf(error: unknown): readonly [error: string, exit: number] {
  if (error instanceof FileProblem) return fileKinds[error.kind];
  if (error instanceof StoreUnusable && error.cause instanceof DiskFull) return kindOf(error.cause);
  const [word] = Object.entries(kinds).find(([, of]) => of.some((one) => error instanceof one)) ?? [];
  if (word !== undefined) return [word, word === 'usage' ? EXIT_USAGE : EXIT_FAULT];
  // The system's own errors have a code.
  return [(error as NodeJS.ErrnoException).code === undefined ? 'fault' : 'system', EXIT_FAULT];
}

/** The message and the hint of an error. The command library puts a hint into a line of its own. */
function wordsOf(error: unknown): Pick<Problem, 'message' | 'hint'> {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof CommanderError) {
    // A mistyped flag may have the address of a store.
    const [message = '', hint = null] = withoutPassword(text.replace(/^error: /, '')).split(/\n\((.*)\)$/);
    return { message, hint };
  }
  const below = error instanceof UsageProblem ? error.below.trimEnd() : '';
  return { message: text, hint: /; (is it [^;]*\?)$/.exec(text)?.[1] ?? (below || null) };
}

/** Hints of errors whose message has none. */
const hints: Readonly<Record<string, string>> = {
  fault: 'call it again without --json: that prints where the fault is',
  damaged: 'bourse doctor --deep lists all that is damaged, and what to do',
};

/** An error as a program reads it. */
export function problemOf(error: unknown): Problem {
  const [word, exit] = kindOf(error);
  const { message, hint } = wordsOf(error);
  return { error: word, message, hint: hints[word] ?? hint, exit };
}

/** Prints a problem on standard error, as JSON or in one line for a person. */
export function noteProblem({ json }: { readonly json?: boolean }, problem: Problem): void {
  if (json) process.stderr.write(`${JSON.stringify(problem)}\n`);
  else complain(problem.message);
}

/** Prints an error on standard error, for a person with the lines below it, and gives its exit status. */
export function printProblem(flags: { readonly json?: boolean }, error: unknown): number {
  const problem = problemOf(error);
  noteProblem(flags, problem);
  if (!flags.json && error instanceof UsageProblem) process.stderr.write(error.below);
  if (!flags.json && problem.error === 'damaged') note(problem.hint!);
  if (!flags.json && problem.error === 'fault') process.stderr.write(`${(error as Error).stack ?? ''}\n`);
  return problem.exit;
}

/** A damaged part as `--json` prints it. */
export const damageRecord = ({ dataset, place, problem }: Damage) => ({ dataset, place, problem });

/** Names what a command has left out. */
export function noteDamage(found: readonly Damage[], what: string): void {
  if (found.length === 0) return;
  for (const damage of found) complain(`damaged, ${what}: ${damageWords(damage)}`);
  process.exitCode ||= EXIT_PARTLY;
}
