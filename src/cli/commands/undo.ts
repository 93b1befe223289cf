// `bourse undo [RUN]`
import { Command } from 'commander';
import { formatInstant } from '../../base/instant.ts';
import { isRun, newestRuns, type Run, type UndoReport, undoRun } from '../../runs/undo-run.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { damageWords } from '../../store/damage.ts';
import { howToRestore } from '../../store/engines.ts';
import type { Store } from '../../store/store.ts';
import { UsageProblem } from '../config.ts';
import { examples, jsonOption, storeOption, withQuiet } from '../shared/flags.ts';
import { cliLimits } from '../shared/limits.ts';
import { withExistingStore } from '../shared/opened-store.ts';
import { linesOf, noteWait, print } from '../shared/output.ts';
import { withProgress } from '../shared/progress.ts';
import { count, countOf, formatTable } from '../shared/table.ts';

type Flags = { readonly store?: string; readonly dryRun?: boolean; readonly json?: boolean };

/** What a damaged run among the newest means. */
const unlistedWords = ({ name }: Store): string =>
  `it is not listed and cannot be undone; ${howToRestore(name)}, of a day before the damage`;

const instantText = (ms: number | null): string => (ms === null ? '-' : formatInstant(ms));

function tableOf(runs: readonly Run[]): string {
  if (runs.length === 0) return 'The store has no runs yet.\n';
  const rows = runs.map(({ run_id, kind, dataset, file, ...run }) => {
    const [finished, undone] = [instantText(run.finished_ms), instantText(run.undone_ms)];
    return [`${run_id}`, finished, kind, dataset, file, count(run.rows_written), undone];
  });
  return formatTable([['run', 'finished', 'kind', 'dataset', 'file', 'rows', 'undone'], ...rows]);
}

/** An undoing in words. */
function describe(report: UndoReport, isTrial: boolean): string {
  const { run, barsRemoved, barsRestored, barsKept, keptBy } = report;
  const { rowsRemoved, rowsRestored, rowsKept } = report;
  const { keepersNamed } = cliLimits;
  const more = keptBy.length > keepersNamed ? ` and ${keptBy.length - keepersNamed} more` : '';
  const keepers = `run${keptBy.length === 1 ? '' : 's'} ${keptBy.slice(0, keepersNamed).join(', ')}${more}`;
  const row = run.dataset === 'bars' || run.dataset === 'instruments' ? 'instrument' : 'row';
  const notes = [
    [barsRemoved, 'bar', 'removed'],
    [barsRestored, 'bar', 'restored'],
    [barsKept, 'bar', `left as changed later, by ${keepers}`],
    [rowsRemoved, row, 'removed'],
    [rowsRestored, row, 'restored'],
    [rowsKept, row, `kept: changed or needed later, by ${keepers}`],
  ] as const;
  const found = notes.filter(([number]) => number > 0);
  const outcome = isTrial ? 'would be undone; nothing was stored' : 'undone';
  return linesOf([
    `run ${run.run_id}, ${run.kind} of ${run.file}: ${outcome}`,
    ...found.map(([number, what, fate]) => `  ${countOf(number, what)} ${fate}`),
    ...(found.length === 0 ? ['  nothing is left of what it changed'] : []),
  ]);
}

/**
 * The number of a run that exists.
 * @throws UsageProblem that lists the newest runs, and names the damaged ones among them; DamagedData where
 * the named one is damaged
 */
async function runNamed(store: Store, text: string | undefined): Promise<number> {
  const runId = /^\d{1,15}$/.test(text ?? '') ? Number(text) : null;
  return store.snapshot(async (reader) => {
    if (runId !== null && (await isRun(reader, runId))) return runId;
    const found = new FoundDamage();
    const below = tableOf(await newestRuns(reader, cliLimits.runsListed, found.add));
    const what = text === undefined ? 'name the run to undo' : `there is no run ${text}`;
    const unlisted = (await found.named(reader))
      .map((one) => `${damageWords(one)}; ${unlistedWords(store)}. `)
      .join('');
    throw new UsageProblem(`${what}: bourse undo RUN. ${unlisted}The newest runs are`, { below });
  });
}

export function undoCommand(): Command {
  return withQuiet(new Command('undo'))
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
        const request = { runId, dryRun, nowMs: Date.now, onWait: noteWait(store) };
        const task = { name: `undo of run ${runId}`, bytes: null, rowsAbout: null };
        const report = await withProgress(task, (onRows) => undoRun(store, { ...request, onRows }));
        print(flags, report, describe(report, dryRun));
      }),
    );
}
