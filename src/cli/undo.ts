// `bourse undo [RUN]`
import { Command } from 'commander';
import { formatInstant } from '../base/instant.ts';
import { newestRuns, type Run, type UndoReport, undoRun } from '../history/undo-run.ts';
import type { Store } from '../store/store.ts';
import { UsageProblem } from './config.ts';
import { damageRecord, noteDamage } from './damage.ts';
import { examples, jsonOption, storeOption } from './flags.ts';
import { withExistingStore } from './opened-store.ts';
import { linesOf, noteWait, print } from './output.ts';
import { count, countOf, formatTable } from './table.ts';

type Flags = { readonly store?: string; readonly dryRun?: boolean; readonly json?: boolean };

/** Runs that are listed when none was named, or one that does not exist. */
const RUNS_LISTED = 20;

/** Later runs that are named as the reason why something was kept. */
const KEEPERS_NAMED = 5;

const instantText = (ms: number | null): string => (ms === null ? '-' : formatInstant(ms));

function tableOf(runs: readonly Run[]): string {
  if (runs.length === 0) return 'The store has no runs yet.\n';
  const rows = runs.map(({ run_id, kind, dataset, file, ...run }) => {
    const [finished, undone] = [instantText(run.finished_ms), instantText(run.undone_ms)];
    return [`${run_id}`, finished, kind, dataset, file, count(run.rows_written), undone];
  });
  return formatTable([['run', 'finished', 'kind', 'dataset', 'file', 'rows', 'undone'], ...rows]);
}

function fateOf({ left }: UndoReport, isTrial: boolean): string {
  const done = left.length === 0 ? 'undone' : 'undone in part';
  return isTrial ? `would be ${done}; nothing was stored` : done;
}

/** An undoing in words. */
function describe(report: UndoReport, isTrial: boolean): string {
  const { run, barsRemoved, barsRestored, barsKept, keptBy } = report;
  const { rowsRemoved, rowsRestored, rowsRepaired, rowsKept } = report;
  const more = keptBy.length > KEEPERS_NAMED ? ` and ${keptBy.length - KEEPERS_NAMED} more` : '';
  const keepers = `run${keptBy.length === 1 ? '' : 's'} ${keptBy.slice(0, KEEPERS_NAMED).join(', ')}${more}`;
  const row = run.dataset === 'bars' || run.dataset === 'instruments' ? 'instrument' : 'row';
  const notes = [
    [barsRemoved, 'bar', 'removed'],
    [barsRestored, 'bar', 'restored'],
    [barsKept, 'bar', `left as changed later, by ${keepers}`],
    [rowsRemoved, row, 'removed'],
    [rowsRestored, row, 'restored'],
    [rowsRepaired, `damaged ${row}`, 'restored'],
    [rowsKept, row, `kept: changed or needed later, by ${keepers}`],
  ] as const;
  const found = notes.filter(([number]) => number > 0);
  return linesOf([
    `run ${run.run_id}, ${run.kind} of ${run.file}: ${fateOf(report, isTrial)}`,
    ...found.map(([number, what, fate]) => `  ${countOf(number, what)} ${fate}`),
    ...(found.length === 0 ? ['  nothing is left of what it changed'] : []),
  ]);
}

/** The number of a run that exists. @throws UsageProblem that lists the newest runs */
async function runNamed(store: Store, text: string | undefined): Promise<number> {
  const runs = await store.snapshot((reader) => newestRuns(reader, RUNS_LISTED));
  const runId = /^\d{1,15}$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (runId >= 1 && runId <= (runs[0]?.run_id ?? 0)) return runId;
  const what = text === undefined ? 'name the run to undo' : `there is no run ${text}`;
  throw new UsageProblem(`${what}: bourse undo RUN. The newest runs are`, { below: tableOf(runs) });
}

export function undoCommand(): Command {
  return new Command('undo')
    .argument('[run]', 'the run, by the number that its import or deletion printed')
    .addOption(storeOption())
    .option('--dry-run', 'show what would change, store nothing')
    .addOption(jsonOption())
    .addHelpText(
      ...examples(
        'bourse undo                 the newest runs',
        'bourse undo 12 --dry-run    what undoing run 12 would change',
        'bourse undo 12',
      ),
    )
    .action((text: string | undefined, flags: Flags) =>
      withExistingStore(flags, async (store) => {
        const runId = await runNamed(store, text);
        const dryRun = flags.dryRun === true;
        const report = await undoRun(store, { runId, dryRun, nowMs: Date.now, onWait: noteWait(store) });
        const [left, lost] = [report.left.map(damageRecord), report.lost.map(damageRecord)];
        print(flags, { ...report, left, lost }, describe(report, dryRun));
        noteDamage(report.lost, 'what it noted can never be undone');
        noteDamage(report.left, `not undone: repair it, then run bourse undo ${runId} again`);
      }),
    );
}
