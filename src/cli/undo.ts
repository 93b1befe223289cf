// `bourse undo [RUN]`
import { Command } from 'commander';
import { formatInstant } from '../base/instant.ts';
import { newestRuns, type Run, type UndoReport, undoRun } from '../history/undo-run.ts';
import type { Store } from '../store/store.ts';
import { UsageProblem } from './config.ts';
import { withExistingStore } from './existing-store.ts';
import { jsonOption, storeOption } from './options.ts';
import { count, countOf, formatTable, printable } from './table.ts';
import { tellWait } from './waiting.ts';

type Flags = { readonly store?: string; readonly dryRun?: boolean; readonly json?: boolean };

/** Runs that are listed where none, or none that is there, was named. */
const RUNS_LISTED = 20;

/** Later runs that are named as the reason why something was kept. */
const KEEPERS_NAMED = 5;

const instantText = (ms: number | null): string => (ms === null ? '-' : formatInstant(ms));

function tableOf(runs: readonly Run[]): string {
  if (runs.length === 0) return 'The store has no runs yet.\n';
  const rows = runs.map((run) => [
    String(run.run_id),
    instantText(run.finished_ms),
    run.kind,
    run.dataset,
    run.file,
    count(run.rows_written),
    instantText(run.undone_ms),
  ]);
  return formatTable([['run', 'finished', 'kind', 'dataset', 'file', 'rows', 'taken back'], ...rows]);
}

/** The mistake of not naming a run that is there, with the runs that are. */
async function unnamed(store: Store, what: string): Promise<UsageProblem> {
  const runs = await store.snapshot((reader) => newestRuns(reader, RUNS_LISTED));
  return new UsageProblem(`${what}: bourse undo RUN. The newest runs are`, { below: tableOf(runs) });
}

function keepersOf({ keptBy }: UndoReport): string {
  const named = keptBy.slice(0, KEEPERS_NAMED).join(', ');
  const more = keptBy.length - KEEPERS_NAMED;
  return `run${keptBy.length === 1 ? '' : 's'} ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The account of an undoing in words. */
function describe(report: UndoReport, isTrial: boolean): string {
  const { run, barsRemoved, barsRestored, barsKept } = report;
  const { rowsRemoved, rowsRestored, rowsKept } = report;
  const keepers = keepersOf(report);
  const row = run.dataset === 'bars' || run.dataset === 'instruments' ? 'instrument' : 'row';
  const notes = [
    [barsRemoved, `${countOf(barsRemoved, 'bar')} removed`],
    [barsRestored, `${countOf(barsRestored, 'bar')} back as before`],
    [barsKept, `${countOf(barsKept, 'bar')} left as changed later, by ${keepers}`],
    [rowsRemoved, `${countOf(rowsRemoved, row)} removed`],
    [rowsRestored, `${countOf(rowsRestored, row)} back as before`],
    [rowsKept, `${countOf(rowsKept, row)} kept: changed or needed later, by ${keepers}`],
  ] as const;
  const told = notes.filter(([found]) => found > 0).map(([, note]) => `  ${note}`);
  return [
    `run ${run.run_id}, ${run.kind} of ${run.file}: ${isTrial ? 'would be taken back; nothing was stored' : 'taken back'}`,
    ...(told.length === 0 ? ['  it had changed nothing that is left'] : told),
  ]
    .map(printable)
    .join('\n');
}

async function runNamed(store: Store, text: string | undefined): Promise<number> {
  if (text === undefined) throw await unnamed(store, 'name the run to take back');
  const runId = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  const [newest] = await store.snapshot((reader) => newestRuns(reader, 1));
  if (runId >= 1 && runId <= (newest?.run_id ?? 0)) return runId;
  throw await unnamed(store, `there is no run ${text}`);
}

export function undoCommand(): Command {
  return new Command('undo')
    .argument('[run]', 'the run, by the number that its import or deletion printed')
    .addOption(storeOption())
    .option('--dry-run', 'say what would change, store nothing')
    .addOption(jsonOption())
    .addHelpText(
      'before',
      'Examples:\n  bourse undo                 the newest runs\n  bourse undo 12 --dry-run    what taking run 12 back would change\n  bourse undo 12\n',
    )
    .action((text: string | undefined, flags: Flags) =>
      withExistingStore(flags, async (store) => {
        const runId = await runNamed(store, text);
        const isTrial = flags.dryRun === true;
        const report = await undoRun(store, {
          runId,
          dryRun: isTrial,
          nowMs: Date.now,
          onWait: tellWait(store),
        });
        process.stdout.write(flags.json ? `${JSON.stringify(report)}\n` : `${describe(report, isTrial)}\n`);
      }),
    );
}
