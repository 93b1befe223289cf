// What an import replaced, in words (contract 11).
import type { FormerRun } from '../history/former-runs.ts';
import type { ImportReport } from '../history/import-report.ts';
import { count } from './table.ts';

/** Former runs that are named. */
const RUNS_NAMED = 5;

const sourceText = ({ source }: FormerRun): string =>
  source === null ? 'no source named' : `source ${source}`;

/** The runs whose rows an import replaced, and how many differ from those of another source. No line where nothing was replaced. */
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
