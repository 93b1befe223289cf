// `bourse doctor --deep`: every byte of the store, and what to run for what is damaged.
import { series } from '../datasets/bars.ts';
import { BARS, fileDatasets } from '../datasets/index.ts';
import { apiKeys } from '../datasets/internal.ts';
import { instruments } from '../datasets/reference.ts';
import type { Damage } from '../store/damage.ts';
import { broken, type Diagnosis, fine } from '../store/diagnosis.ts';
import { isStoreMade } from '../store/engines.ts';
import { StoreUnusable } from '../store/store.ts';
import { cliLimits } from './limits.ts';
import { Progress } from './progress.ts';
import { scrub } from './scrub.ts';
import { count } from './table.ts';

const CHECK = 'data';

const RESTORE = 'restore a backup: bourse restore FILE --force';

/** What puts a damaged part right. */
function cureOf({ dataset, part }: Damage): string {
  const isRow = part === 'row';
  if (dataset === BARS || (dataset === series.name && isRow))
    return `import the files of these bars again, or ${RESTORE}`;
  if (dataset === instruments.name && isRow)
    return `import it again (bourse import instruments FILE), or ${RESTORE}`;
  if (dataset === apiKeys.name && isRow) return `bourse keys create makes another key; or ${RESTORE}`;
  const isImported = fileDatasets.some(({ name }) => name === dataset);
  return isImported && isRow ? `import its file again, or ${RESTORE}` : RESTORE;
}

/** Reads all of a store. */
export async function diagnoseData(url: string): Promise<Diagnosis[]> {
  if (!isStoreMade(url)) return [];
  const found: Damage[] = [];
  let unnamed = 0;
  let steps = 0;
  const progress = new Progress({ name: 'reading the store', bytes: null, rowsAbout: null });
  try {
    await scrub(url, (_, damage) => {
      const named = damage.slice(0, Math.max(0, cliLimits.doctorDamageMax - found.length));
      found.push(...named);
      unnamed += damage.length - named.length;
      progress.reached(++steps);
    });
  } catch (error) {
    if (error instanceof StoreUnusable) return [broken(CHECK, error.message, RESTORE)];
    throw error;
  } finally {
    progress.end();
  }
  if (found.length === 0) return [fine(CHECK, 'every row, block and index is as it was written')];
  const named = found.map((one) => {
    const { dataset, place, problem } = one;
    return broken(CHECK, `damaged: ${dataset ?? 'the store'}, ${place}: ${problem}`, cureOf(one));
  });
  return unnamed === 0 ? named : [...named, broken(CHECK, `damaged: ${count(unnamed)} more parts`, RESTORE)];
}
