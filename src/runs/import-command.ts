// The command that imports a file once more.
import { shellWord, spokenFlag } from '../base/shell-word.ts';

/** Flags that another call with the same file does not repeat. */
const flagsOfOneCall: ReadonlySet<string> = new Set([
  ...[
    'watch',
    'onFailure',
    'json',
    'allowRejects',
    'completeFrom',
    'completeThrough',
    'dryRun',
    'explain',
    'writeMap',
    'quiet',
    'check',
  ],
]);

/** `bourse import DATASET PATH` with the flags of an earlier call, by name, as a shell needs it. */
export function importCommand(
  dataset: string,
  path: string,
  flags: Readonly<Record<string, unknown>>,
  ...more: readonly string[]
): string {
  const repeated = Object.entries(flags).filter(([name]) => !flagsOfOneCall.has(name));
  const words = repeated.flatMap(([name, value]) => [`--${spokenFlag(name)}`, String(value)]);
  return ['bourse', 'import', dataset, path, ...words, ...more].map(shellWord).join(' ');
}
