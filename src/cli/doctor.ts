// `bourse doctor`
import { Command } from 'commander';
import type { Diagnosis } from '../store/diagnosis.ts';
import { diagnoseStore, resolveStore } from '../store/engines.ts';
import { readSettings, type SettingFlags } from './config.ts';
import { diagnoseMachine } from './machine.ts';
import { addSettings, jsonOption } from './options.ts';
import { formatTable } from './table.ts';

type Flags = SettingFlags & { readonly json?: boolean };

function lineOf({ state, check, message, cure }: Diagnosis): string[] {
  return [state, check, cure === null ? message : `${message}: ${cure}`];
}

export function doctorCommand(): Command {
  return addSettings(new Command('doctor'))
    .addOption(jsonOption())
    .addHelpText(
      'before',
      'Examples:\n  bourse doctor\n  bourse doctor --store sqlite:/srv/bourse/bourse.db --json\n',
    )
    .action(async (flags: Flags) => {
      const given = readSettings(flags);
      const settings = { ...given, store: resolveStore(given.store) };
      const found = [...(await diagnoseMachine(settings)), ...(await diagnoseStore(settings.store))];
      const lines = [['STATE', 'CHECK', 'FINDING'], ...found.map(lineOf)];
      process.stdout.write(flags.json ? `${JSON.stringify(found, null, 2)}\n` : formatTable(lines));
      if (found.some(({ state }) => state === 'fail')) process.exitCode = 1;
    });
}
