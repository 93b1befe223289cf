// The options of commands: declared once, with the types of what a call gives; those that several commands
// share, and how their texts are read.
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ParsedInstant, parseInstant } from '../../base/instant.ts';
import {
  assetSchemas,
  parseAssetSchema,
  parseCountry,
  parseSymbol,
  symbolAllowed,
} from '../../contract/identifiers.ts';
import { intervalsAllowed, parseInterval } from '../../contract/interval.ts';
import type { Field, FieldRule } from '../../store/schema/dataset.ts';
import { fileDatasetNamed, fileDatasetNames } from '../../store/schema/index.ts';
import { factsOf, hintFor, type SettingName, UsageProblem } from '../config.ts';
import { beQuiet } from './output.ts';

/**
 * An option in words; where there are any, also its possible values or how its text is read, and its
 * default.
 */
type Declared =
  | string
  | readonly [about: string, values: readonly string[] | ((text: string) => unknown), standard?: unknown];

/** Options as they are written: `--dry-run`, `--map <file>`, `--replace [from..to]`. */
type Options = { readonly [written: `--${string}`]: Declared };

type Camel<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name;

/** `dryRun` of `--dry-run`, `check` of `--no-check`, `map` of `--map <file>`. */
type NameOf<Written> = Written extends `${infer Flag} ${string}`
  ? NameOf<Flag>
  : Written extends `--no-${infer Name}` | `--${infer Name}`
    ? Camel<Name>
    : never;

type ValueOf<Written, Of> = Of extends readonly [string, (text: string) => infer Value, ...unknown[]]
  ? Value
  : Of extends readonly [string, readonly (infer Value)[], ...unknown[]]
    ? Value
    : Written extends `${string} <${string}`
      ? string
      : Written extends `${string} [${string}`
        ? string | true
        : boolean;

/** The flags of a call, by the declarations of its options. */
export type FlagsOf<O extends Options> = {
  readonly [Written in keyof O as NameOf<Written>]?: ValueOf<Written, O[Written]>;
};

function optionOf(written: string, declared: Declared): Option {
  if (typeof declared === 'string') return new Option(written, declared);
  const [about, values, standard] = declared;
  const option = new Option(written, about).default(standard);
  return typeof values === 'function' ? option.argParser(values) : option.choices(values);
}

/** A command with its options, and the calls that begin its help text. */
export function command(name: string, options: Options, ...calls: readonly string[]): Command {
  const examples = `Examples:\n${calls.map((call) => `  ${call}\n`).join('')}`;
  const made = new Command(name).addHelpText('before', examples);
  for (const [written, declared] of Object.entries(options)) made.addOption(optionOf(written, declared));
  return made.on('option:quiet', () => beQuiet(true));
}

/** The flags of some settings. */
export const settingFlags = (...names: readonly SettingName[]): Options =>
  Object.fromEntries(
    names.map((name) => {
      const { flag, env, takes, about, default: standard } = factsOf(name);
      const usual =
        typeof standard === 'string' || typeof standard === 'number' ? `default ${standard}; ` : '';
      return [takes === null ? flag : `${flag} <${takes}>`, `${about} (${usual}environment: ${env})`];
    }),
  );

/** The flag that names the store. */
export const storeFlag = settingFlags('store') as { readonly '--store <url>': string };

/** Of a command that prints more than its result: leaves that out. */
export const quietFlag = { '--quiet': 'print only results and errors: no progress, no notes, no hints' };

/** Answers for a program instead of a person. */
export const jsonFlag = { '--json': 'print JSON instead of a table' };

/** The dataset of `bourse import` and `bourse export`. */
export const datasetArgument = (verb: 'import' | 'export'): Argument =>
  new Argument('<dataset>', `what to ${verb}`).choices(fileDatasetNames).argParser((name: string) => {
    if (fileDatasetNames.includes(name)) return name;
    throw new UsageProblem(
      `there is no dataset ${name} to ${verb}: use one of ${fileDatasetNames.join(', ')}${hintFor(name, fileDatasetNames)}`,
    );
  });

/** A whole number of an option. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** A flag of one meaning: reads its value. @throws UsageProblem */
const flagReader =
  <T>(flag: string, parse: (text: string) => T | null, allowed: string) =>
  (text: string): T => {
    const value = parse(text);
    if (value === null) throw new UsageProblem(`${flag} ${text}: must be ${allowed}`);
    return value;
  };

/** `--schema` */
export const readSchema = flagReader('--schema', parseAssetSchema, `one of ${assetSchemas.join(', ')}`);

/** `--country` */
export const readCountry = flagReader('--country', parseCountry, 'a two-letter code such as US, or GLOBAL');

/** `--symbol` */
export const readSymbol = flagReader('--symbol', parseSymbol, symbolAllowed);

/** `--interval` */
export const readInterval = flagReader('--interval', parseInterval, `one of ${intervalsAllowed}`);

const boundAllowed = 'a date such as 2025-03-03, or a time such as 2025-03-03T14:30:00Z';

/** A bound as it was read, and as it was written. */
export type Bound = ParsedInstant & { readonly text: string };

/** `--from` or `--to` */
export const readBound =
  (flag: '--from' | '--to') =>
  (text: string): Bound => ({ ...flagReader(flag, parseInstant, boundAllowed)(text), text });

/**
 * A flag that gives or selects a field of a dataset. @throws UsageProblem for a value that the field cannot
 * have
 */
export function readField(flag: string, text: string, { rule }: Field): string {
  const { parse, reason } = rule as FieldRule;
  const value = parse(text);
  if (value === undefined) throw new UsageProblem(`${flag} ${text}: ${reason}`);
  return value as string;
}

/** `--symbol` of a dataset: it may be `*` where rows may be those of a whole market. */
export function readSymbolOf(dataset: string, text: string): string {
  const field = fileDatasetNamed(dataset)?.file.fields.symbol;
  return text === '*' && field !== undefined ? readField('--symbol', text, field) : readSymbol(text);
}
