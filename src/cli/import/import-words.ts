// What `bourse import` says of an import that is done.
import type { ImportReport } from '../../imports/load/run.ts';
import type { FormerRun } from '../../runs/former-runs.ts';
import { importCommand } from '../../runs/import-command.ts';
import { isQuiet, linesOf } from '../shared/output.ts';
import { count, countOf } from '../shared/table.ts';
import { refusalLine } from './explain.ts';

/** Former runs that are named. */
const RUNS_NAMED = 5;

const sourceText = ({ source }: FormerRun): string =>
  source === null ? 'no source named' : `source ${source}`;

/**
 * The runs whose rows an import replaced, and how many differ from those of another source. No line where
 * nothing was replaced.
 */
function replacedLines(report: ImportReport): string[] {
  const { rowsReplaced, rowsUnchanged, replaced, source } = report;
  if (rowsReplaced === 0) return [];
  const most = replaced.toSorted((one, other) => other.rows - one.rows).slice(0, RUNS_NAMED);
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
  return [
    ...(rowsRemoved === 0
      ? []
      : [`${verb} ${countOf(rowsRemoved, 'row')} of ${report.source} that the file does not hold: ${runs}`]),
    ...named.map((row) => `${verb} ${Object.values(row).join(' ')}`),
    ...(rest > 0 && rowsRemoved > 0 ? [`and ${count(rest)} more`] : []),
    ...(instrumentsDeleted === 0 ? [] : [`${verb} ${countOf(instrumentsDeleted, 'instrument')} of theirs`]),
    ...(rowsLeft === 0
      ? []
      : [
          `left ${countOf(rowsLeft, 'row')} that the file does not hold: a run of another source holds them too`,
        ]),
  ];
}

/** Times that an import leaves open, and the command that covers each. */
const describeOpen = (openTimes: ImportReport['openTimes'] = [], again: Again): string[] =>
  openTimes.map(({ market, interval, from, through, isBefore }) => {
    const flag = isBefore ? ['--complete-from', from] : ['--complete-through', through];
    const command = importCommand(again.dataset, again.path ?? '-', again.flags, ...flag);
    const when = isBefore ? 'run' : `after ${through} run`;
    return `no import has ${market} ${interval} from ${from} to ${through}: bars that need this time are not derived until one does; if nothing is missing there, ${when}: ${command}`;
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
  const bars = (number: number, what: string, hint = ''): string[] =>
    number === 0 ? [] : [`${what}: ${countOf(number, 'bar')}${hint}`];
  const isShifted = report.outsideSessions * 2 > rowsRead;
  const says = Object.entries(preset?.says ?? {}).map(([field, value]) => `${field} ${value}`);
  const kept = report.rejectedRows === undefined ? '' : ` the first ${count(report.rejectedRows)}`;
  const refusals = [
    ...(rowsRefused === 0
      ? []
      : [`${countOf(rowsRefused, 'row')} refused,${kept} kept in ${report.rejectedFile}:`]),
    ...refused.map(refusalLine),
    ...(rowsRefused > refused.length ? [`and ${count(rowsRefused - refused.length)} more`] : []),
  ];
  const notes = [
    ...(preset === null
      ? []
      : [`read by the preset ${preset.name}${says.length === 0 ? '' : `: ${says.join(', ')}`}`]),
    ...(report.aheadRun === null
      ? []
      : [
          `note: it is ${new Date().toISOString()} here, but run ${report.aheadRun.runId} ended at ${report.aheadRun.finishedAt}: set the clock of this machine; which bars are served depends on it`,
        ]),
    ...(preset?.doubt ? [`note: ${preset.doubt}`] : []),
    ...(ignoredColumns.length === 0 ? [] : [`unused columns are ignored: ${ignoredColumns.join(', ')}`]),
    ...replacedLines(report),
    ...removedLines(report, again.flags.dryRun === true),
    ...(newInstruments === 0 || runId === null
      ? []
      : [
          `${countOf(newInstruments, 'new instrument')} (currency, hours and calendar from ${newInstruments === 1 ? 'its' : 'their'} market)`,
        ]),
    ...bars(
      report.outsideSessions,
      'outside every session, kept and not served',
      isShifted ? '; is the zone of the times right (--zone)?' : '',
    ),
    ...bars(
      report.offGrid,
      'off the session grid, served as imported in sessions without finer bars and never used to derive others',
    ),
    ...bars(
      report.mergedDays,
      'of closed dates whose evening opens the next session, merged into it when read',
    ),
    ...bars(report.vwapOutside, 'with a vwap outside low and high, stored and served'),
    ...describeOpen(report.openTimes, again),
    ...Object.entries(report.findings).map(([what, rows]) => `${what}: ${countOf(rows, 'row')}`),
    ...(report.mayBeCut
      ? ['the last line has no end: if the file was cut off, its last value may be wrong']
      : []),
    ...refusals,
    ...(refused.some(({ reason }) => reason === 'is not a number')
      ? ['a mapping file removes signs and separators from numbers: --map, with "remove" and "decimal"']
      : []),
  ];
  const removed = report.rowsRemoved === undefined ? '' : `, ${count(report.rowsRemoved)} removed`;
  const isUnsafe = again.flags.replace !== undefined && rowsRefused > 0;
  const nothing = `; nothing was stored${isUnsafe ? ': --replace stores all of a file or nothing' : ''}`;
  const end = runId === null ? nothing : ` (run ${runId}, ${(report.durationMs / 1000).toFixed(1)} s)`;
  return linesOf([
    `${report.file}: ${countOf(rowsRead, 'row')} read, ${count(report.rowsNew)} new, ${count(report.rowsReplaced)} replaced, ${count(report.rowsUnchanged)} unchanged, ${count(rowsRefused)} refused${removed}${end}`,
    ...(isQuiet() ? refusals : notes).map((line) => `  ${line}`),
  ]);
}
