// `bourse doctor`
import { Command } from 'commander';
import { diagnoseStore, resolveStore } from '../../store/engines.ts';
import { readSettings, type SettingFlags } from '../config.ts';
import { diagnoseData } from '../shared/deep-diagnosis.ts';
import { addSettings, examples, jsonOption, withQuiet } from '../shared/flags.ts';
import { diagnoseMachine } from '../shared/machine.ts';
import { print } from '../shared/output.ts';
import { formatTable } from '../shared/table.ts';

type Flags = SettingFlags & {
  readonly deep?: boolean;
  readonly json?: boolean;
};

export function doctorCommand(): Command {
  return withQuiet(addSettings(new Command('doctor')))
    .option('--deep', 'read every byte of the store too, and name what is damaged')
    .addOption(jsonOption())
    .addHelpText(
      ...examples(
        'bourse doctor',
        'bourse doctor --deep',
        'bourse doctor --store sqlite:/var/lib/bourse/data/bourse.db --json',
      ),
    )
    .action(async (flags: Flags) => {
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
      if (found.some(({ state }) => state === 'fail')) process.exitCode = 1;
    });
}
