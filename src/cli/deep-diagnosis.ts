// `bourse doctor --deep`: every byte of the store, and what to run for what is damaged.
import { series } from '../datasets/bars.ts';
import { BARS, fileDatasets } from '../datasets/index.ts';
import { apiKeys } from '../datasets/internal.ts';
import { instruments, instrumentTerms } from '../datasets/reference.ts';
import type { Damage, Rebuilt } from '../store/damage.ts';
import { broken, type Diagnosis, fine } from '../store/diagnosis.ts';
import { howToRestore, isStoreMade, rebuildStore } from '../store/engines.ts';
import { storeLimits } from '../store/limits.ts';
import { StoreUnusable } from '../store/store.ts';
import { note } from './output.ts';
import { Progress } from './progress.ts';
import { scrub } from './scrub.ts';
import { count } from './table.ts';

const CHECK = 'data';
const REPAIR = 'repair';

/** What puts a damaged part right. */
function cureOf({ dataset, part }: Damage, restore: string): string {
  if (part === 'derived') return 'bourse doctor --deep --repair-indexes';
  const isRow = part === 'row';
  if (dataset === BARS || (dataset === series.name && isRow))
    return `import the files of these bars again, or ${restore}`;
  if (dataset === instruments.name && isRow)
    return `import it again (bourse import instruments FILE), or ${restore}`;
  if (dataset === apiKeys.name && isRow) return `bourse keys create makes another key; or ${restore}`;
  const isImported = fileDatasets.some(({ name }) => name === dataset);
  return isImported && isRow ? `import its file again, or ${restore}` : restore;
}

/**
 * Reads all of a store; with `repairs` it also rebuilds what is derived from whole tables, and reads all
 * again.
 */
export async function diagnoseData(url: string, repairs: boolean): Promise<Diagnosis[]> {
  if (!(await isStoreMade(url))) return [];
  const restore = howToRestore(url);
  try {
    const found = await readAll(url);
    const derived = found.parts.filter(({ part }) => part === 'derived').map(({ dataset }) => dataset!);
    if (!repairs || derived.length === 0) return diagnosesOf(found, restore);
    const repaired = (await rebuildStore(url, [...new Set(derived)], note)).map((one) =>
      repairDiagnosis(one, restore),
    );
    return [...repaired, ...diagnosesOf(await readAll(url), restore)];
  } catch (error) {
    if (error instanceof StoreUnusable) return [broken(CHECK, error.message, restore)];
    throw error;
  }
}

const repairDiagnosis = ({ dataset, problem }: Rebuilt, restore: string): Diagnosis =>
  problem === null
    ? fine(
        REPAIR,
        `rebuilt ${dataset === instrumentTerms.name ? 'the search terms' : `the indexes of ${dataset}`}`,
      )
    : broken(REPAIR, `${dataset} cannot be rebuilt: ${problem}`, `repair that first, or ${restore}`);

/** The damaged parts of a store, and how many more there are. */
type Found = { readonly parts: readonly Damage[]; readonly unnamed: number };

async function readAll(url: string): Promise<Found> {
  const parts: Damage[] = [];
  let unnamed = 0;
  let steps = 0;
  const progress = new Progress({ name: 'reading the store', bytes: null, rowsAbout: null });
  try {
    const onStep = (_: string, damage: readonly Damage[]): void => {
      const named = damage.slice(0, Math.max(0, storeLimits.damageNamedMax - parts.length));
      parts.push(...named);
      unnamed += damage.length - named.length;
      progress.reached(++steps);
    };
    await scrub(url, onStep, note);
  } finally {
    progress.end();
  }
  return { parts, unnamed };
}

function diagnosesOf({ parts, unnamed }: Found, restore: string): Diagnosis[] {
  if (parts.length === 0) return [fine(CHECK, 'every row, block and index is as it was written')];
  const named = parts.map((one) => {
    const { dataset, place, problem } = one;
    return broken(CHECK, `damaged: ${dataset ?? 'the store'}, ${place}: ${problem}`, cureOf(one, restore));
  });
  return unnamed === 0 ? named : [...named, broken(CHECK, `damaged: ${count(unnamed)} more parts`, restore)];
}
