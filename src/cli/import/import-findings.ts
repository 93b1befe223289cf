// What a call of `bourse import` says about the findings in the bars that it has stored (contract 9.10).
import type { Severity } from '../../queries/findings/finding.ts';
import { findingRecordOf } from '../../queries/findings/finding-record.ts';
import { runFindings } from '../../queries/findings/run-findings.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { DamagedData, damageWords } from '../../store/damage.ts';
import type { Reader, Store } from '../../store/store.ts';
import { type Counts, countWords, lineOf, SHOWN_MAX } from '../shared/finding-words.ts';
import { isQuiet, note } from '../shared/output.ts';
import { count } from '../shared/table.ts';

type Found = Awaited<ReturnType<typeof runFindings>>;

const countsOf = (found: Found): Counts => {
  const counts: Record<Severity, number> = { info: 0, warning: 0, error: 0 };
  for (const { finding } of found) counts[finding.severity]++;
  return counts;
};

/** Findings by kind: some of each, and how many more there are of it. */
function someOfEach(found: Found): { readonly shown: Found; readonly more: number; readonly kind: string }[] {
  return Array.from(
    Map.groupBy(found, ({ finding }) => finding.kind),
    ([kind, alike]) => ({
      shown: alike.slice(0, SHOWN_MAX),
      more: Math.max(0, alike.length - SHOWN_MAX),
      kind,
    }),
  );
}

/** Findings in words: errors and warnings in lines, what is only worth knowing counted beside them. */
function noteFindings(found: Found): void {
  const doubts = found.filter(({ finding }) => finding.severity !== 'info');
  if (doubts.length === 0) return;
  note(`findings in the imported bars and next to them: ${countWords(countsOf(found))}`);
  for (const { shown, more, kind } of someOfEach(doubts)) {
    for (const { instrument, finding } of shown) note(lineOf(instrument, finding));
    if (more > 0) note(`${kind}: ${count(more)} more (bourse check prints them)`);
  }
}

function printRecord(found: Found, notChecked: string | null): void {
  if (found.length === 0 && notChecked === null) return;
  const findings = someOfEach(found).flatMap(({ shown }) =>
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
    else note(`findings are left to bourse check: ${why}`);
  }
}

async function tellOf(reader: Reader, runIds: readonly number[], json: boolean): Promise<void> {
  const damage = new FoundDamage();
  const options = {
    nowMs: Date.now(),
    onDamage: damage.add,
  };
  try {
    const found = await runFindings(reader, runIds, options);
    if (json) printRecord(found, null);
    else noteFindings(found);
  } catch (error) {
    if (!(error instanceof DamagedData)) throw error;
    damage.add(error.damage);
  }
  for (const one of await damage.named(reader)) note(`damaged, not checked: ${damageWords(one)}`);
}
