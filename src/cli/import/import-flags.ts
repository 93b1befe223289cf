// The flags of `bourse import`: which apply to a dataset, their values, and those that are recorded with the
// run.
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseDay, parseInstant } from '../../base/instant.ts';
import { shellWord } from '../../base/words.ts';
import { barLabels, priceBases, symbolTimes, volumeBases } from '../../contract/file-words.ts';
import type { RecordedFlags } from '../../imports/load/run.ts';
import { readMappingFile } from '../../imports/map/choose-mapping.ts';
import { type FieldNames, type MappedFile, mappingText, namesOf } from '../../imports/map/column-mapping.ts';
import { findZone, type Zone } from '../../market/calendar/zone.ts';
import type { ReplaceRequest } from '../../runs/held-rows.ts';
import { namesByDay } from '../../runs/naming.ts';
import { barFields } from '../../store/schema/bars.ts';
import { corporateActions, currencyRule } from '../../store/schema/corporate-actions.ts';
import { type Fields, spokenName } from '../../store/schema/dataset.ts';
import { BARS, fileDatasetNamed, fileDatasetNames } from '../../store/schema/index.ts';
import { hintFor, UsageProblem } from '../config.ts';
import {
  type FlagsOf,
  jsonFlag,
  quietFlag,
  readCountry,
  readInterval,
  readSchema,
  readSymbolOf,
  storeFlag,
  wholeNumber,
} from '../shared/flags.ts';

/** The options of `bourse import`. */
export const importOptions = {
  ...quietFlag,
  ...storeFlag,
  '--map <file>':
    'JSON that says which column gives which field: {"columns": {"datetime": "open_utc"}, "values": {"symbol": "X"}}',
  '--delimiter <character>': 'separator of the columns, unless it is a comma or a tab: ";"',
  '--encoding <name>':
    'encoding of a text that is not UTF-8: windows-1252, gb18030, shift_jis, euc-kr or utf-16le',
  '--preset <name>':
    'vendor of the files, if their header does not show it; none: no preset; list: shows all',
  '--schema <type>': 'asset type of the whole file: stock, future, crypto, forex or option',
  '--country <code>': 'country of the whole file, such as US; GLOBAL for crypto and forex',
  '--symbol <symbol>': 'symbol of the whole file',
  '--exchange <mic>': 'exchange of the whole file, such as XNAS',
  '--currency <code>':
    'currency of the amounts in the whole file, or of the prices of its bars: USD, or GBp for pence',
  '--interval <interval>': 'interval of the whole file: 1M is one minute, 60M an hour, DAY, WEEK, MON',
  '--action-type <kind>': 'kind of all corporate actions of the file, such as split',
  '--code <event_code>': 'code of all economic events of the file, such as INFLATION_CPI',
  '--zone <name>': 'time zone of times without an offset, such as America/New_York',
  '--prices <basis>': ['how the prices are adjusted (default raw)', priceBases],
  '--complete-from <instant>':
    'time from which the files have every bar, if their first bars do not show it: 2025-03-03T09:00:00Z',
  '--complete-through <instant>':
    'time up to which the files have every bar, if their last bars do not show it: 2025-03-04T01:00:00Z',
  '--volumes <basis>': ['how the volumes are adjusted (default: for splits if the prices are)', volumeBases],
  '--symbols <time>': [
    'how to read rows from before an instrument took its current symbol. then: as those of another company, because the file has the symbols of each day; now: as those of the instrument, because the file has its whole history under the current symbol',
    symbolTimes,
  ],
  '--label <end>': [
    'whether datetime is the open or the close of a bar (default open; a week dated Sunday ends then)',
    barLabels,
  ],
  '--source <text>': 'where the file comes from, kept with the run (default: the name of its preset)',
  '--replace [from..to]':
    'remove rows that the same --source or preset imported before and that the file does not have, on these days: 2025-01-01..2025-12-31. Without days: from the first to the last date of each instrument in the file (events: of each country and code). If a row is refused, nothing is stored',
  '--allow-rejects <count>': ['number of refused rows up to which the exit status is 0', wholeNumber, 0],
  '--no-check': 'do not search the imported bars for suspicious data: bourse check does so later',
  '--watch <folder>': 'import the files of a folder as they arrive, until stopped',
  '--on-failure <command>':
    'run this by /bin/sh for each file that is not imported: FAILED_FILE, FAILED_DATASET and FAILED_REASON say what and why',
  '--explain':
    'show how a file would be read: its preset, columns and first rows, and what would be refused; store nothing',
  '--write-map <file>':
    'with --explain: write a mapping file for --map, with the separator, encoding, columns, decimal mark and dates of the file',
  '--date-format <format>': 'form of the dates, if day and month may be swapped: %d.%m.%Y',
  '--decimal <mark>': ['decimal mark, if 1.234 may mean 1234 too: , or .', [',', '.']],
  '--dry-run': 'read and check everything, store nothing',
  ...jsonFlag,
} as const;

/** The flags of an import; `check` is false with --no-check. */
export type ImportFlags = FlagsOf<typeof importOptions>;

/** The time zone of a name; undefined without one. @throws UsageProblem */
function zoneNamed(name: string | undefined): Zone | undefined {
  const zone = name === undefined ? undefined : findZone(name);
  if (zone !== null) return zone;
  throw new UsageProblem(
    `--zone ${name}: is not a time zone${hintFor(name!, Intl.supportedValuesOf('timeZone'))}`,
  );
}

/** The fields of a dataset's files. */
const fieldsOf = (dataset: string): Fields => fileDatasetNamed(dataset)?.file.fields ?? barFields;

/** Their names. */
const fieldNamesOf = (dataset: string): FieldNames => namesOf(fieldsOf(dataset));

const fieldFlagNames = [
  ...(['schema', 'country', 'symbol', 'exchange', 'currency', 'interval', 'code', 'actionType'] as const),
] as const;

/** The code of `--currency`; undefined without the flag. @throws UsageProblem */
function readCurrency(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const code = currencyRule.parse(text) as string | undefined;
  if (code === undefined) throw new UsageProblem(`--currency ${text}: ${currencyRule.reason}`);
  return code;
}

/** The instants of `--complete-from` and `--complete-through`; null without the flag. */
function readCompleteTimes(
  { completeFrom, completeThrough }: Pick<ImportFlags, 'completeFrom' | 'completeThrough'>,
  nowMs: number,
): { readonly completeFromMs: number | null; readonly completeThroughMs: number | null } {
  const completeFromMs = readInstant('--complete-from', completeFrom, nowMs);
  const completeThroughMs = readInstant('--complete-through', completeThrough, nowMs);
  if (completeFromMs !== null && completeThroughMs !== null && completeFromMs >= completeThroughMs)
    throw new UsageProblem(
      `--complete-from ${completeFrom}: must be before --complete-through ${completeThrough}`,
    );
  return { completeFromMs, completeThroughMs };
}

/** An instant that a flag gives; null without it. No import covers anything beyond its own start. */
function readInstant(flag: string, text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const instant = parseInstant(text);
  if (instant?.kind !== 'time')
    throw new UsageProblem(`${flag} ${text}: is not an instant: write one such as 2025-03-04T01:00:00Z`);
  if (instant.ms <= nowMs) return instant.ms;
  throw new UsageProblem(`${flag} ${text}: is in the future: an import covers nothing after its own start`);
}

/** The days of `--replace`; undefined without the flag, null in it without days. */
function readReplace({ replace }: Pick<ImportFlags, 'replace'>): ReplaceRequest | undefined {
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

/** A flag by its name in code, as it is written: `complete-through`. */
const spokenFlag = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

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
  return fields.some((field) => field.flag === `--${spokenFlag(flag)}`);
}

/** Each flag must apply to the dataset. */
function checkApplying(dataset: string, flags: ImportFlags): void {
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
}

/**
 * The flags of a call as far as they say something of every file. They are checked before any is read: each
 * must apply to the dataset, have a possible value, and go with the others. @throws UsageProblem
 */
export function readImportFlags(dataset: string, names: readonly string[], flags: ImportFlags) {
  checkApplying(dataset, flags);
  const currency = readCurrency(flags.currency);
  if (flags.schema !== undefined) readSchema(flags.schema);
  if (flags.country !== undefined) readCountry(flags.country);
  if (flags.symbol !== undefined) readSymbolOf(dataset, flags.symbol);
  if (flags.interval !== undefined) readInterval(flags.interval);
  const zone = zoneNamed(flags.zone);
  const times = readCompleteTimes(flags, Date.now());
  const replace = readReplace(flags);
  checkSources(names, flags);
  checkWriteMap(names, flags);
  const fields = fieldNamesOf(dataset);
  return { currency, zone, ...times, replace, fields, fieldFlags: fieldFlags(dataset, flags) };
}

/** The fields that flags give for the whole file. */
const fieldFlags = (dataset: string, flags: ImportFlags): Map<string, string> =>
  new Map(
    Object.entries(fieldsOf(dataset)).flatMap(([field, { flag }]) => {
      const value = flags[fieldFlagNames.find((name) => `--${spokenFlag(name)}` === flag)!];
      return value === undefined ? [] : [[field, value] as const];
    }),
  );

/**
 * `--write-map` writes what `--explain` shows of one file; the flags about its dates and numbers are wrong
 * where something else says it.
 */
function checkWriteMap(names: readonly string[], flags: ImportFlags): void {
  const { writeMap, explain, map, preset } = flags;
  const helper = (['dateFormat', 'decimal'] as const).find((name) => flags[name] !== undefined);
  if (helper !== undefined && (map !== undefined || preset !== undefined))
    throw new UsageProblem(
      `--${spokenFlag(helper)} is for files without --map and --preset, which define it themselves`,
    );
  if (writeMap === undefined) return;
  if (explain !== true || names.length !== 1)
    throw new UsageProblem('--write-map needs --explain and exactly one file');
  if (map !== undefined || preset !== undefined)
    throw new UsageProblem('--write-map writes a mapping of its own: leave --map and --preset out');
}

/** Files are either named, or arrive in a watched folder. */
function checkSources(names: readonly string[], { watch, dryRun, explain, onFailure }: ImportFlags): void {
  if (names.length === 0 && watch === undefined)
    throw new UsageProblem('name the files to import, or with --watch the folder in which they arrive');
  if (onFailure !== undefined && (dryRun || explain))
    throw new UsageProblem('--on-failure is for imports: leave --dry-run and --explain out');
  if (watch !== undefined && (names.length > 0 || dryRun || explain))
    throw new UsageProblem(
      '--watch imports the files of its folder: name no file, and leave --dry-run and --explain out',
    );
}

/** Flags of one call: they change nothing of what a file gives, and another call does not repeat them. */
const flagsOfOneCall: readonly (keyof ImportFlags)[] = [
  ...(['watch', 'onFailure', 'json', 'allowRejects', 'dryRun', 'explain', 'writeMap'] as const),
  ...(['quiet', 'check'] as const),
];

const flagsWithoutEffect: ReadonlySet<string> = new Set(['store', 'source', ...flagsOfOneCall]);

const flagsNotRepeated: ReadonlySet<string> = new Set([
  ...['completeFrom', 'completeThrough'],
  ...flagsOfOneCall,
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

/**
 * The mapping of a file and of the flags of the call, written where each field has a column or may have a
 * flag; what to do next, else null. @throws UsageProblem
 */
export function writeMap(
  dataset: string,
  { name, mapping }: MappedFile,
  { fields: { required, flags: flagOf }, fieldFlags }: ReturnType<typeof readImportFlags>,
  flags: ImportFlags,
): string | null {
  const { writeMap: path = '', zone, prices, volumes, symbols, label } = flags;
  const values = { ...mapping.values, ...Object.fromEntries(fieldFlags) };
  const missing = required.filter((field) => !Object.hasOwn({ ...mapping.columns, ...values }, field));
  if (missing.some((field) => flagOf[field] === undefined)) return null;
  const given = Object.entries({ zone, prices, volumes, symbols, label });
  const said = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const written = { ...mapping, values, ...said };
  try {
    writeFileSync(path, `${mappingText(written, 2)}\n`, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' ? 'this file exists: name another one' : `cannot be written (${code})`;
    throw new UsageProblem(`--write-map ${path}: ${reason}`, { cause: error });
  }
  const needed = missing.map((field) => flagOf[field]);
  const more = needed.length === 0 ? '' : `, with ${needed.join(', ')}`;
  return `wrote ${path}; import with it${more}: ${importAgain(dataset, name, { map: path })}`;
}

/** `bourse import DATASET PATH` with the flags of an earlier call, by name, as a shell needs it. */
export function importAgain(
  dataset: string,
  path: string,
  flags: Readonly<Record<string, unknown>>,
  ...more: readonly string[]
): string {
  const repeated = Object.entries(flags).filter(([name]) => !flagsNotRepeated.has(name));
  const words = repeated.flatMap(([name, value]) => [`--${spokenFlag(name)}`, String(value)]);
  return ['bourse', 'import', dataset, path, ...words, ...more].map(shellWord).join(' ');
}
