// `bourse doctor --deep`: every byte of the store, and what to run for what is damaged.
import { BARS } from '../datasets/index.ts';
import type { Damage } from '../store/damage.ts';
import { broken, type Diagnosis, fine } from '../store/diagnosis.ts';
import { isStoreMade } from '../store/engines.ts';
import { StoreUnusable } from '../store/store.ts';
import { Progress } from './progress.ts';
import { scrub } from './scrub.ts';

const CHECK = 'data';

const RESTORE = 'restore a backup: bourse restore FILE --force';

/** What puts a damaged part right. */
function cureOf({ dataset, place }: Damage): string {
  if (dataset === BARS) return `import the files of these days again, or ${RESTORE}`;
  if (place.startsWith('row ')) return `import its file again, or ${RESTORE}`;
  return RESTORE;
}

/** Reads all of a store. */
export async function diagnoseData(url: string): Promise<Diagnosis[]> {
  if (!isStoreMade(url)) return [];
  const found: Damage[] = [];
  let steps = 0;
  const progress = new Progress({ name: 'reading the store', bytes: null, rowsAbout: null });
  try {
    await scrub(url, (_, damage) => {
      found.push(...damage);
      progress.reached(++steps);
    });
  } catch (error) {
    if (error instanceof StoreUnusable) return [broken(CHECK, error.message, RESTORE)];
    throw error;
  } finally {
    progress.end();
  }
  if (found.length === 0) return [fine(CHECK, 'every row, block and index is as it was written')];
  return found.map((one) => {
    const { dataset, place, problem } = one;
    return broken(CHECK, `damaged: ${dataset ?? 'the store'}, ${place}: ${problem}`, cureOf(one));
  });
}
