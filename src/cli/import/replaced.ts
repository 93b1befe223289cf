// The lines of a report about replaced and removed rows (contract 11).

import type { ImportReport } from '../../imports/load/import-report.ts';
import type { FormerRun } from '../../runs/former-runs.ts';
import { count, countOf } from '../shared/table.ts';

/** Former runs that are named. */
const RUNS_NAMED = 5;

const sourceText = ({ source }: FormerRun): string =>
  source === null ? 'no source named' : `source ${source}`;

/**
 * The runs whose rows an import replaced, and how many differ from those of another source. No line where
 * nothing was replaced.
 */
export function replacedLines(report: ImportReport): string[] {
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
export function removedLines(report: ImportReport, isTrial: boolean): string[] {
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
