// The texts of `bourse import`: how a file would be read, an import that is done, and the findings in its
// bars (contract 9.10).

import type { Refusal, RefusalGroup } from '../../imports/load/refused-rows.ts';
import type { ImportReport } from '../../imports/load/run.ts';
import type { Explained } from '../../imports/map/explain-file.ts';
import { findingRecordOf, type Severity } from '../../queries/findings/finding.ts';
import { runFindings } from '../../queries/findings/store-findings.ts';
import type { FormerRun } from '../../runs/former-runs.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { DamagedData, damageWords } from '../../store/damage.ts';
import type { Reader, Store } from '../../store/store.ts';
import { type Counts, countWords, lineOf, someOfEach } from '../shared/checks.ts';
import { count, countOf, formatTable, isQuiet, linesOf, note, saidOf } from '../shared/output.ts';
import { importAgain } from './import-flags.ts';

/** How the columns of a file were found that nobody described. */
const foundText = (map: ImportReport['map']): string =>
  `the names of its columns${map === null ? '' : `, as by the map ${JSON.stringify({ columns: map })}`}`;

/** Optional columns of the map that are not there. */
const lackingText = (columns: readonly string[]): string | false =>
  columns.length > 0 && `no object has these columns of the map: ${columns.join(', ')}`;

/** New instruments, and from where they have what the file does not say. */
function newText({ newInstruments, unknownMarkets }: ImportReport): string {
  const whose = newInstruments === 1 ? 'its' : 'their';
  const what = countOf(newInstruments, 'new instrument');
  if (unknownMarkets.length === 0) return `${what} (currency, hours and calendar from ${whose} market)`;
  return `${what} (not built in: ${unknownMarkets.join(', ')}; ${whose} days are those of --zone, else of UTC, and ${whose} currency is that of --currency)`;
}

/**
 * Describes in words how a file would be read, and what its import would refuse, where that could be tried.
 */
export function describeExplained(
  explained: Omit<Explained, 'problem'>,
  report: ImportReport | null,
): string {
  const { preset, isMapped, doubt, columns, values, zone, prices, volumes, symbols, label } = explained;
  const { ignoredColumns, lackingColumns, rows } = explained;
  const names = isMapped ? 'the map' : foundText(explained.map);
  const facts = [
    `read by ${preset === null ? names : `the preset ${preset}`}`,
    doubt !== null && `note: ${doubt}`,
    ...Object.entries({ ...columns, ...values }).map(
      ([field, what]) => `${field}: ${what}${field in columns ? '' : ', in every row'}`,
    ),
    zone !== null && `times without an offset are in ${zone}`,
    prices !== null && `prices: ${prices}`,
    volumes !== null && `volumes: ${volumes}`,
    symbols !== null && `symbols: ${symbols}`,
    label !== null && `label: ${label}`,
    ignoredColumns.length > 0 && `unused columns are ignored: ${ignoredColumns.join(', ')}`,
    lackingText(lackingColumns),
  ];
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = [fields, ...rows.map((row) => fields.map((field) => row[field] ?? ''))];
  const first = rows.length === 0 ? '' : `\nThe first rows, as they would be stored:\n${formatTable(table)}`;
  const head = `${explained.file}: ${explained.format}; nothing was imported`;
  return (
    linesOf([head, ...saidOf(facts).map((fact) => `  ${fact}`)]) +
    first +
    (report === null ? '' : describeRefusals(report))
  );
}

/** Refused rows in words: `data rows 2, 3 and 7 more, column open: is not a number ("abc")`. */
function refusalLine({ column, reason, value, rows }: RefusalGroup, numbers: readonly number[]): string {
  const more = rows > numbers.length ? ` and ${count(rows - numbers.length)} more` : '';
  return `data ${numbers.length > 1 ? 'rows' : 'row'} ${numbers.join(', ')}${more}, column ${column}: ${reason}${value === null ? '' : ` (${JSON.stringify(value)})`}`;
}

/** The refused rows of a report; those that look alike are said once, with the rows of that reason. */
function refusedLines({ rowsRefused, refused, refusals }: ImportReport): string[] {
  const nameOf = ({ column, reason }: Refusal): string => JSON.stringify([column, reason]);
  const groups = [...Map.groupBy(refused, nameOf).values()].flatMap((shown) => {
    const all = refusals.find((one) => nameOf(one) === nameOf(shown[0]!))!;
    const texts = [...Map.groupBy(shown, ({ value }) => value).values()];
    return texts.map((same) => ({ ...same[0]!, same, rows: texts.length > 1 ? same.length : all.rows }));
  });
  const others = rowsRefused - groups.reduce((sum, { rows }) => sum + rows, 0);
  const firstOf = (same: readonly Refusal[]): number[] => same.slice(0, 3).map(({ row }) => row);
  const lines = groups.map(({ same, ...group }) => refusalLine(group, firstOf(same)));
  return others > 0 ? [...lines, `and ${count(others)} more`] : lines;
}

/** The rows that an import would refuse, each reason once; no text where it would refuse none. */
function describeRefusals({ rowsRead, rowsRefused, refusals }: ImportReport): string {
  if (rowsRefused === 0) return '';
  const others = rowsRefused - refusals.reduce((sum, { rows }) => sum + rows, 0);
  return `\n${linesOf([
    `${count(rowsRefused)} of ${countOf(rowsRead, 'row')} would be refused:`,
    ...refusals.map((group) => `  ${refusalLine(group, [group.row])}`),
    others > 0 && `  and ${count(others)} more for other reasons`,
  ])}`;
}

type Found = Awaited<ReturnType<typeof runFindings>>;

const kindOf = ({ finding }: Found[number]): string => finding.kind;

const countsOf = (found: Found): Counts => {
  const counts: Record<Severity, number> = { info: 0, warning: 0, error: 0 };
  for (const { finding } of found) counts[finding.severity]++;
  return counts;
};

/** Findings in words: errors and warnings in lines, what is only worth knowing counted beside them. */
function noteFindings(found: Found): void {
  const doubts = found.filter(({ finding }) => finding.severity !== 'info');
  if (doubts.length === 0) return;
  note(`findings in the imported bars and next to them: ${countWords(countsOf(found))}`);
  for (const { shown, more, kind } of someOfEach(doubts, kindOf)) {
    for (const { instrument, finding } of shown) note(lineOf(instrument, finding));
    if (more > 0) note(`${kind}: ${count(more)} more (bourse check prints them)`);
  }
}

function printRecord(found: Found, notChecked: string | null): void {
  if (found.length === 0 && notChecked === null) return;
  const findings = someOfEach(found, kindOf).flatMap(({ shown }) =>
    shown.map(({ instrument, finding }) => findingRecordOf(instrument, finding)),
  );
  process.stderr.write(`${JSON.stringify({ findings, counts: countsOf(found), not_checked: notChecked })}\n`);
}

/**
 * Tells the findings in the bars of some runs on standard error, as notes or, with `--json`, in one record.
 * The import has succeeded, whatever this comes to.
 */
export async function tellFindings(store: Store, runIds: readonly number[], json: boolean): Promise<void> {
  if (runIds.length === 0 || (isQuiet() && !json)) return;
  try {
    await store.snapshot((reader) => tellOf(reader, runIds, json));
  } catch (error) {
    const why = (error as Error).message;
    if (json) printRecord([], why);
    else note(`findings were not searched, run bourse check: ${why}`);
  }
}

async function tellOf(reader: Reader, runIds: readonly number[], json: boolean): Promise<void> {
  const damage = new FoundDamage();
  try {
    const found = await runFindings(reader, runIds, { nowMs: Date.now(), onDamage: damage.add });
    if (json) printRecord(found, null);
    else noteFindings(found);
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    damage.add(error.damage);
  }
  for (const one of await damage.named(reader)) note(`damaged, not checked: ${damageWords(one)}`);
}

/** Former runs that are named. */
const FORMER_RUNS_NAMED = 5;

const sourceText = ({ source }: FormerRun): string =>
  source === null ? 'no source named' : `source ${source}`;

/**
 * The runs whose rows an import replaced, and how many differ from those of another source. No line where
 * nothing was replaced.
 */
function replacedLines(report: ImportReport): string[] {
  const { rowsReplaced, rowsUnchanged, replaced, source } = report;
  if (rowsReplaced === 0) return [];
  const most = replaced.toSorted((one, other) => other.rows - one.rows).slice(0, FORMER_RUNS_NAMED);
  const named = most.map(({ rows, runId, file }) => `${count(rows)} of run ${runId} (${file})`);
  const rest = rowsReplaced - most.reduce((sum, { rows }) => sum + rows, 0);
  const known = `${count(rowsReplaced + rowsUnchanged)} ${report.dataset === 'bars' ? 'bars' : 'rows'}`;
  return [
    `replaced ${[...named, ...(rest > 0 ? [`${count(rest)} of other runs`] : [])].join(', ')}`,
    ...most
      .filter((former) => former.source !== source)
      .map(
        (former) =>
          `${count(former.rows)} of the ${known} that are not new differ from those of run ${former.runId} (${sourceText(former)}), replaced`,
      ),
  ];
}

/** Rows that are named where they are gone; a dry run names all that its report has. */
const ROWS_NAMED = 10;

/** The rows that an import with --replace removed, or in a dry run would remove. No line without the flag. */
function removedLines(report: ImportReport, isTrial: boolean): string[] {
  const { rowsRemoved, rowsLeft = 0, instrumentsDeleted = 0, removed = [], removedRows = [] } = report;
  if (rowsRemoved === undefined) return [];
  const runs = removed.map(({ rows, runId, file }) => `${count(rows)} of run ${runId} (${file})`).join(', ');
  const verb = isTrial ? 'would remove' : 'removed';
  const named = removedRows.slice(0, isTrial ? removedRows.length : ROWS_NAMED);
  const rest = rowsRemoved - named.length;
  return saidOf([
    rowsRemoved > 0 &&
      `${verb} ${countOf(rowsRemoved, 'row')} of ${report.source} that the file does not have: ${runs}`,
    ...named.map((row) => `${verb} ${Object.values(row).join(' ')}`),
    rest > 0 && rowsRemoved > 0 && `and ${count(rest)} more`,
    instrumentsDeleted > 0 && `${verb} ${countOf(instrumentsDeleted, 'instrument')} of theirs`,
    rowsLeft > 0 &&
      `kept ${countOf(rowsLeft, 'row')} that are not in the file: a run of another source has them too`,
  ]);
}

/** Times that an import leaves open, and the command that covers each. */
const describeOpen = (openTimes: ImportReport['openTimes'] = [], again: Again): string[] =>
  openTimes.map(({ market, interval, from, through, isBefore }) => {
    const flag = isBefore ? ['--complete-from', from] : ['--complete-through', through];
    const command = importAgain(again.dataset, again.path ?? '-', again.flags, ...flag);
    const when = isBefore ? 'run' : `after ${through} run`;
    return `no import has ${market} ${interval} from ${from} to ${through}: bars that need this time are not derived until an import has it; if nothing is missing there, ${when}: ${command}`;
  });

/** The words that repeat an import. */
type Again = {
  readonly dataset: string;
  /** Null for standard input. */
  readonly path: string | null;
  readonly flags: Readonly<Record<string, unknown>>;
};

/** An import in words. */
export function describeImport(report: ImportReport, again: Again): string {
  const { rowsRead, rowsRefused, refused, preset, ignoredColumns, runId, newInstruments } = report;
  const bars = (number: number, what: string, hint = ''): string | false =>
    number > 0 && `${what}: ${countOf(number, 'bar')}${hint}`;
  const isShifted = report.outsideSessions * 2 > rowsRead;
  const says = Object.entries(preset?.says ?? {}).map(([field, value]) => `${field} ${value}`);
  const kept = report.rejectedRows === undefined ? '' : ` the first ${count(report.rejectedRows)}`;
  const refusals = [
    rowsRefused > 0 && `${countOf(rowsRefused, 'row')} refused,${kept} kept in ${report.rejectedFile}:`,
    ...refusedLines(report),
  ];
  const notes = [
    preset !== null && `read by the preset ${preset.name}${says.length === 0 ? '' : `: ${says.join(', ')}`}`,
    report.shape !== null && `read as ${report.shape}`,
    report.map !== null && `read by ${foundText(report.map)}`,
    report.alike !== undefined && `note: ${report.alike}`,
    report.aheadRun !== null &&
      `note: it is ${new Date().toISOString()} here, but run ${report.aheadRun.runId} ended at ${report.aheadRun.finishedAt}: set the clock of this machine; which bars are served depends on it`,
    !!preset?.doubt && `note: ${preset.doubt}`,
    ...Object.entries(report.conversions).map(([field, how]) => `converted: ${field} is ${how}`),
    ignoredColumns.length > 0 && `unused columns are ignored: ${ignoredColumns.join(', ')}`,
    lackingText(report.lackingColumns),
    ...replacedLines(report),
    ...removedLines(report, again.flags.dryRun === true),
    newInstruments > 0 && runId !== null && newText(report),
    bars(
      report.outsideSessions,
      'outside every session, kept and not served',
      isShifted ? '; is the zone of the times right (--zone)?' : '',
    ),
    bars(
      report.offGrid,
      'off the session grid, served as imported in sessions without finer bars and never used to derive others',
    ),
    bars(report.mergedDays, 'of closed dates whose evening opens the next session, merged into it when read'),
    bars(report.vwapOutside, 'with a vwap outside low and high, stored and served'),
    ...describeOpen(report.openTimes, again),
    ...Object.entries(report.findings).map(([what, rows]) => `${what}: ${countOf(rows, 'row')}`),
    report.mayBeCut && 'the last line has no newline: if the file was cut off, its last value may be wrong',
    ...refusals,
    refused.some(({ reason, value }) => reason === 'is not a number' && /\d/.test(value ?? '')) &&
      'a mapping file removes signs and separators from numbers: --map, with "remove" and "decimal"',
  ];
  const removed = report.rowsRemoved === undefined ? '' : `, ${count(report.rowsRemoved)} removed`;
  const isUnsafe = again.flags.replace !== undefined && rowsRefused > 0;
  const nothing = `; nothing was stored${isUnsafe ? ': --replace stores all of a file or nothing' : ''}`;
  const end = runId === null ? nothing : ` (run ${runId}, ${(report.durationMs / 1000).toFixed(1)} s)`;
  return linesOf([
    `${report.file}: ${countOf(rowsRead, 'row')} read, ${count(report.rowsNew)} new, ${count(report.rowsReplaced)} replaced, ${count(report.rowsUnchanged)} unchanged, ${count(rowsRefused)} refused${removed}${end}`,
    ...saidOf(isQuiet() ? refusals : notes).map((line) => `  ${line}`),
  ]);
}
