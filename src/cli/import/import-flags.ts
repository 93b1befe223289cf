// The flags of `bourse import`: which apply to a dataset, their values, and those that are recorded with the
// run.
import { hash } from 'node:crypto';
import { parseDay, parseInstant } from '../../base/instant.ts';
import { spokenFlag } from '../../base/shell-word.ts';
import type { BarLabel, SymbolTime } from '../../contract/file-words.ts';
import type { PriceBasis, VolumeBasis } from '../../contract/price-basis.ts';
import type { RecordedFlags } from '../../imports/load/run.ts';
import type { FieldNames } from '../../imports/map/column-mapping.ts';
import { namesOf } from '../../imports/map/field-names.ts';
import { readMappingFile } from '../../imports/map/mapping-file.ts';
import { findZone, type Zone } from '../../market/calendar/zone.ts';
import { namesByDay } from '../../runs/naming.ts';
import type { ReplaceRequest } from '../../runs/replaced-days.ts';
import { barFields } from '../../store/schema/bars.ts';
import { corporateActions, currencyRule } from '../../store/schema/corporate-actions.ts';
import { anyNumber, type Fields, spokenName } from '../../store/schema/dataset.ts';
import { BARS, fileDatasetNamed, fileDatasetNames } from '../../store/schema/index.ts';
import { hintFor, UsageProblem } from '../config.ts';
import { readCountry, readInterval, readSchema, readSymbolOf } from '../shared/read-flags.ts';

/** The flags of an import. */
export type ImportFlags = {
  readonly store?: string;
  readonly map?: string;
  readonly delimiter?: string;
  readonly preset?: string;
  readonly schema?: string;
  readonly country?: string;
  readonly symbol?: string;
  readonly exchange?: string;
  readonly currency?: string;
  readonly interval?: string;
  readonly code?: string;
  readonly zone?: string;
  readonly prices?: PriceBasis;
  readonly completeFrom?: string;
  readonly completeThrough?: string;
  readonly volumes?: VolumeBasis;
  readonly symbols?: SymbolTime;
  readonly label?: BarLabel;
  readonly source?: string;
  /** True without days. */
  readonly replace?: string | true;
  readonly allowRejects: number;
  /** False with --no-check. */
  readonly check: boolean;
  readonly dryRun?: boolean;
  readonly watch?: string;
  readonly onFailure?: string;
  readonly explain?: boolean;
  readonly writeMap?: string;
  readonly dateFormat?: string;
  readonly decimal?: ',' | '.';
  readonly json?: boolean;
  readonly quiet?: boolean;
};

/** The time zone of a name; undefined without one. @throws UsageProblem */
export function zoneNamed(name: string | undefined): Zone | undefined {
  const zone = name === undefined ? undefined : findZone(name);
  if (zone !== null) return zone;
  throw new UsageProblem(
    `--zone ${name}: is not a time zone${hintFor(name!, Intl.supportedValuesOf('timeZone'))}`,
  );
}

/** The fields of a dataset's files. */
const fieldsOf = (dataset: string): Fields => fileDatasetNamed(dataset)?.file.fields ?? barFields;

/** Their names, and which of them are numbers. */
export function fieldNamesOf(dataset: string): FieldNames {
  const fields = fieldsOf(dataset);
  const numbers = Object.keys(fields).filter((name) => fields[name]!.rule === anyNumber);
  return { ...namesOf(fields), numbers };
}

const fieldFlagNames = ['schema', 'country', 'symbol', 'exchange', 'currency', 'interval', 'code'] as const;

/** The code of `--currency`; undefined without the flag. @throws UsageProblem */
export function readCurrency(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const code = currencyRule.parse(text) as string | undefined;
  if (code === undefined) throw new UsageProblem(`--currency ${text}: ${currencyRule.reason}`);
  return code;
}

/** The instants of `--complete-from` and `--complete-through`; null without the flag. */
export function readCompleteTimes(
  { completeFrom, completeThrough }: Pick<ImportFlags, 'completeFrom' | 'completeThrough'>,
  nowMs: number,
): { readonly completeFromMs: number | null; readonly completeThroughMs: number | null } {
  const completeFromMs = readInstant('--complete-from', completeFrom, nowMs);
  const completeThroughMs = readInstant('--complete-through', completeThrough, nowMs);
  if (completeFromMs !== null && completeThroughMs !== null && completeFromMs >= completeThroughMs)
    throw new UsageProblem(
      `--complete-from ${completeFrom}: is not before --complete-through ${completeThrough}`,
    );
  return { completeFromMs, completeThroughMs };
}

/** An instant that a flag gives; null without it. No import covers anything beyond its own start. */
function readInstant(flag: string, text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const instant = parseInstant(text);
  if (instant?.kind !== 'time')
    throw new UsageProblem(`${flag} ${text}: is no instant: write one such as 2025-03-04T01:00:00Z`);
  if (instant.ms <= nowMs) return instant.ms;
  throw new UsageProblem(`${flag} ${text}: is after now: an import covers nothing beyond its own start`);
}

/** The days of `--replace`; undefined without the flag, null in it without days. */
export function readReplace({ replace }: Pick<ImportFlags, 'replace'>): ReplaceRequest | undefined {
  if (replace === undefined) return undefined;
  if (replace === true) return { days: null };
  const [fromDay, toDay] = (/^([^.]+)\.\.([^.]+)$/.exec(replace)?.slice(1) ?? []).map(parseDay);
  if (fromDay == null || toDay == null)
    throw new UsageProblem(
      `--replace ${replace}: must be days such as 2025-01-01..2025-12-31, or nothing; name the files before it`,
    );
  if (fromDay > toDay)
    throw new UsageProblem(`--replace ${replace}: its first day is after its last: swap them`);
  return { days: { fromDay, toDay } };
}

/** The flags that are for bars alone. */
const barFlags = ['volumes', 'completeFrom', 'completeThrough', 'label'] as const;

/** Whether a flag has a meaning for a dataset. */
function applies(
  flag:
    | (typeof fieldFlagNames)[number]
    | (typeof barFlags)[number]
    | 'prices'
    | 'zone'
    | 'symbols'
    | 'replace',
  dataset: string,
): boolean {
  const fields = Object.values(fieldsOf(dataset));
  if ((barFlags as readonly string[]).includes(flag)) return dataset === BARS;
  if (flag === 'prices') return dataset === BARS || dataset === spokenName(corporateActions);
  if (flag === 'currency' && dataset === BARS) return true;
  if (flag === 'symbols') return dataset === BARS || namesByDay(fileDatasetNamed(dataset));
  if (flag === 'replace') return fileDatasetNamed(dataset)?.file.subject !== undefined;
  if (flag === 'zone') return fields.some(({ rule }) => 'unit' in rule);
  return fields.some((field) => field.flag === `--${flag}`);
}

/** Checks flags before any file is read: each must apply to the dataset and have a possible value. */
export function checkFlags(dataset: string, flags: ImportFlags): void {
  for (const name of [...barFlags, 'prices', 'zone', 'symbols', 'replace', ...fieldFlagNames] as const) {
    if (flags[name] === undefined || applies(name, dataset)) continue;
    const others = fileDatasetNames.filter((other) => applies(name, other));
    const instead =
      name === 'replace'
        ? `; rows of a file replace those of the same key, and others are deleted by bourse delete ${dataset}`
        : '';
    throw new UsageProblem(
      `--${spokenFlag(name)} does not apply to ${dataset}: it is for ${others.join(', ')}${instead}`,
    );
  }
  readCurrency(flags.currency);
  readSchema(flags.schema);
  readCountry(flags.country);
  readSymbolOf(dataset, flags.symbol);
  readInterval(flags.interval);
  zoneNamed(flags.zone);
  readCompleteTimes(flags, Date.now());
  readReplace(flags);
}

/** The fields that flags give for the whole file. */
export const fieldFlags = (dataset: string, flags: ImportFlags): Map<string, string> =>
  new Map(
    Object.entries(fieldsOf(dataset)).flatMap(([field, { flag }]) => {
      const value = flags[fieldFlagNames.find((name) => `--${name}` === flag)!];
      return value === undefined ? [] : [[field, value] as const];
    }),
  );

/**
 * `--write-map` writes what `--explain` shows of one file, and the flags that only help it are wrong without
 * it.
 */
export function checkWriteMap(names: readonly string[], flags: ImportFlags): void {
  const { writeMap, explain, map, preset } = flags;
  const helper = (['dateFormat', 'decimal'] as const).find((name) => flags[name] !== undefined);
  if (writeMap === undefined && helper !== undefined)
    throw new UsageProblem(
      `--${spokenFlag(helper)} is for --write-map; a mapping file says it of its columns`,
    );
  if (writeMap === undefined) return;
  if (explain !== true || names.length !== 1)
    throw new UsageProblem('--write-map goes with --explain, and one file');
  if (map !== undefined || preset !== undefined)
    throw new UsageProblem('--write-map writes a mapping of its own: leave --map and --preset out');
}

/** Files are either named, or arrive in a watched folder. */
export function checkSources(
  names: readonly string[],
  { watch, dryRun, explain, onFailure }: ImportFlags,
): void {
  if (names.length === 0 && watch === undefined)
    throw new UsageProblem('name the files to import, or with --watch the folder in which they arrive');
  if (onFailure !== undefined && (dryRun || explain))
    throw new UsageProblem('--on-failure tells of imports: leave --dry-run and --explain out');
  if (watch !== undefined && (names.length > 0 || dryRun || explain))
    throw new UsageProblem(
      '--watch imports the files of its folder: name no file, and leave --dry-run and --explain out',
    );
}

/** Flags that change nothing of what a file gives. */
const flagsWithoutEffect: ReadonlySet<string> = new Set<keyof ImportFlags>([
  ...([
    'store',
    'source',
    'allowRejects',
    'dryRun',
    'watch',
    'onFailure',
    'explain',
    'writeMap',
    'json',
    'quiet',
    'check',
  ] as const),
]);

/** The other flags, in the order of their names: of a mapping file its content counts, wherever it is. */
export function recordedFlagsOf(flags: ImportFlags): RecordedFlags {
  const { map } = flags;
  const mapping = map === undefined ? {} : { map: hash('sha256', JSON.stringify(readMappingFile(map))) };
  const recorded = Object.entries({ ...flags, ...mapping }).filter(([name]) => !flagsWithoutEffect.has(name));
  return Object.fromEntries(
    recorded.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, String(value)]),
  );
}
