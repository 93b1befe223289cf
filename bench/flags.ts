// The flags of `npm run bench`, read and checked.
import { parseArgs } from 'node:util';
import type { Group } from './group.ts';
import { groups } from './groups/index.ts';
import { fullScale, type Scale, shortScale } from './scale.ts';

/** What the benchmark prints for `--help`. */
export const HELP = `npm run bench -- [options]
  --only NAMES     these groups alone, separated by commas: ${groups.map(({ name }) => name).join(', ')}
  --short          every group with smaller stores and one round: about two minutes
  --strict         exit with 1 where a line misses its target
  --json FILE      write the figures as JSON
  --svg DIR        write the pictures there: docs/performance for those of docs/performance.md
  --rounds N       rounds of a line, of which the median counts (default ${fullScale.rounds}; imports at most ${fullScale.importRounds})
  --seconds N      seconds of load in a round (default ${fullScale.seconds})
  --bars N         bars of the largest store (default ${fullScale.bars}; 100000000 takes minutes and 8 GB)
  --rows N         rows of each imported file (default ${fullScale.rows})
  --news N         news items of the store of lists (default ${fullScale.news}; 10000000 takes minutes and 8 GB)
  --keep DIR       keep generated files there for the next run
`;

/** How the benchmark was asked to run. */
export type Flags = {
  readonly groups: readonly Group[];
  readonly scale: Scale;
  readonly isShort: boolean;
  readonly isStrict: boolean;
  readonly json: string | undefined;
  readonly svg: string | undefined;
  readonly keep: string | undefined;
};

/** A mistake of the caller. */
export class Misuse extends Error {}

/** The largest store has at least ten times the bars of the smallest. */
const BARS_MIN = 1_000_000;

const options = {
  only: { type: 'string' },
  short: { type: 'boolean', default: false },
  strict: { type: 'boolean', default: false },
  json: { type: 'string' },
  svg: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  bars: { type: 'string' },
  rows: { type: 'string' },
  news: { type: 'string' },
  keep: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new Misuse(`${(error as Error).message}\n\n${HELP}`);
  }
}

function wholeNumber(name: string, text: string | undefined, usual: number, least = 1): number {
  if (text === undefined) return usual;
  if (/^[1-9]\d{0,8}$/.test(text) && Number(text) >= least) return Number(text);
  throw new Misuse(`--${name} ${text}: must be a whole number from ${least}`);
}

function groupsNamed(only: string | undefined): readonly Group[] {
  if (only === undefined) return groups;
  const names = only.split(',');
  for (const name of names)
    if (!groups.some((group) => group.name === name))
      throw new Misuse(`--only ${name}: must be one of ${groups.map((group) => group.name).join(', ')}`);
  return groups.filter(({ name }) => names.includes(name));
}

/** Reads the flags; null where help is wanted. @throws Misuse */
export function readFlags(args: readonly string[]): Flags | null {
  const { only, short: isShort, strict: isStrict, json, svg, keep, help, ...numbers } = read(args);
  if (help) return null;
  const usual = isShort ? shortScale : fullScale;
  const rounds = wholeNumber('rounds', numbers.rounds, usual.rounds);
  const scale: Scale = {
    ...usual,
    rounds,
    importRounds:
      numbers.rounds === undefined ? usual.importRounds : Math.min(rounds, fullScale.importRounds),
    seconds: wholeNumber('seconds', numbers.seconds, usual.seconds),
    bars: wholeNumber('bars', numbers.bars, usual.bars, BARS_MIN),
    rows: wholeNumber('rows', numbers.rows, usual.rows),
    news: wholeNumber('news', numbers.news, usual.news),
  };
  return { groups: groupsNamed(only), scale, isShort, isStrict, json, svg, keep };
}
