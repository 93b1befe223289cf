// `bourse doctor`; with `--deep` every byte of the store, and what to run for what is damaged.

import type { Command } from 'commander';
import { broken, type Damage, type Diagnosis, fine } from '../../store/damage.ts';
import { diagnoseStore, howToRestore, isStoreMade, resolveStore } from '../../store/engines.ts';
import { storeLimits } from '../../store/limits.ts';
import { series } from '../../store/schema/bars.ts';
import { spokenName } from '../../store/schema/dataset.ts';
import { BARS, fileDatasets } from '../../store/schema/index.ts';
import { apiKeys } from '../../store/schema/internal.ts';
import { instruments } from '../../store/schema/reference.ts';
import { StoreUnusable } from '../../store/store.ts';
import { readSettings, type SettingFlags, settingNames } from '../config.ts';
import { damagedParts } from '../serve/scrubbing.ts';
import { command, type FlagsOf, jsonFlag, quietFlag, settingFlags } from '../shared/flags.ts';
import { diagnoseMachine } from '../shared/machine.ts';
import { count, formatTable, note, print, withProgress } from '../shared/output.ts';
import { EXIT_PARTLY } from '../shared/problem.ts';

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
  const imported = fileDatasets.find(
    ({ name, file }) =>
      file.deletion !== undefined && (name === dataset || file.beside?.dataset.name === dataset),
  );
  return imported === undefined
    ? restore
    : `delete it (bourse delete ${spokenName(imported)}) and import its file again, or ${restore}`;
}

/** Reads all of a store. */
export async function diagnoseData(url: string): Promise<Diagnosis[]> {
  if (!(await isStoreMade(url))) return [];
  const restore = howToRestore(url);
  try {
    const { named, more } = await withProgress({ name: 'reading the store' }, ({ reached }) =>
      damagedParts(url, storeLimits.damageNamedMax, note, reached),
    );
    if (named.length === 0) return [fine(CHECK, 'every row, block and index is as it was written')];
    const found = named.map((one) => {
      const { dataset, place, problem } = one;
      return broken(CHECK, `damaged: ${dataset ?? 'the store'}, ${place}: ${problem}`, cureOf(one, restore));
    });
    return more === 0 ? found : [...found, broken(CHECK, `damaged: ${count(more)} more parts`, restore)];
  } catch (error) {
    if (error instanceof StoreUnusable) return [broken(CHECK, error.message, restore)];
    throw error;
  }
}

const ownFlags = {
  ...quietFlag,
  '--deep': 'read every byte of the store too, and name what is damaged',
  ...jsonFlag,
} as const;

export const doctorCommand = (): Command =>
  command(
    'doctor',
    { ...settingFlags(...settingNames), ...ownFlags },
    'bourse doctor',
    'bourse doctor --deep',
    'bourse doctor --store sqlite:/var/lib/bourse/data/bourse.db --json',
  ).action(async (flags: SettingFlags & FlagsOf<typeof ownFlags>) => {
    const given = readSettings(flags);
    const settings = { ...given, store: resolveStore(given.store) };
    const found = [
      ...(await diagnoseMachine(settings)),
      ...(await diagnoseStore(settings.store)),
      ...(flags.deep ? await diagnoseData(settings.store) : []),
    ];
    const rows = found.map(({ state, check, message, cure }) => [
      state,
      check,
      cure === null ? message : `${message}: ${cure}`,
    ]);
    print(flags, found, formatTable([['STATE', 'CHECK', 'FINDING'], ...rows]), 2);
    if (found.some(({ state }) => state === 'fail')) process.exitCode = EXIT_PARTLY;
  });
