// `bourse doctor --deep`: every byte of the store, and what to run for what is damaged.

import { broken, type Damage, type Diagnosis, fine } from '../../store/damage.ts';
import { howToRestore, isStoreMade } from '../../store/engines.ts';
import { storeLimits } from '../../store/limits.ts';
import { series } from '../../store/schema/bars.ts';
import { spokenName } from '../../store/schema/dataset.ts';
import { BARS, fileDatasets } from '../../store/schema/index.ts';
import { apiKeys } from '../../store/schema/internal.ts';
import { instruments } from '../../store/schema/reference.ts';
import { StoreUnusable } from '../../store/store.ts';
import { scrub } from '../serve/scrub.ts';
import { note } from './output.ts';
import { Progress } from './progress.ts';
import { count } from './table.ts';

const CHECK = 'data';

/** The cure of a damaged part. */
function cureOf({ dataset, part }: Damage, restore: string): string {
  if (dataset === BARS)
    return `delete these bars (bourse delete bars) and import their files again, or ${restore}`;
  if (part !== 'row') return restore;
  if (dataset === series.name)
    return `delete all its bars (bourse delete bars) and import their files again, or ${restore}`;
  if (dataset === instruments.name)
    return `delete it with its bars (bourse delete instruments) and import all of it again, or ${restore}`;
  if (dataset === apiKeys.name) return `bourse keys create makes another key; or ${restore}`;
  const imported = fileDatasets.find(({ name, file }) => name === dataset && file.deletion !== undefined);
  return imported === undefined
    ? restore
    : `delete it (bourse delete ${spokenName(imported)}) and import its file again, or ${restore}`;
}

/** Reads all of a store. */
export async function diagnoseData(url: string): Promise<Diagnosis[]> {
  if (!(await isStoreMade(url))) return [];
  const restore = howToRestore(url);
  try {
    return diagnosesOf(await readAll(url), restore);
  } catch (error) {
    if (error instanceof StoreUnusable) return [broken(CHECK, error.message, restore)];
    throw error;
  }
}

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
