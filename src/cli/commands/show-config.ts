// `bourse config`
import { Command } from 'commander';
import { withoutPassword } from '../../store/address.ts';
import { factsOf, readSourced, type SettingFlags } from '../config.ts';
import { addSettings, examples, jsonOption } from '../shared/flags.ts';
import { print } from '../shared/output.ts';
import { formatTable } from '../shared/table.ts';

const shown = (value: unknown): unknown => (typeof value === 'string' ? withoutPassword(value) : value);

function cellOf(value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : JSON.stringify(value).replaceAll('"', '');
  return text === '' || text === 'null' ? '-' : text;
}

export function configCommand(): Command {
  return addSettings(new Command('config'))
    .addOption(jsonOption())
    .addHelpText(...examples('bourse config', 'BOURSE_PORT=9000 bourse config --workers 4 --json'))
    .action((flags: SettingFlags & { readonly json?: boolean }) => {
      const records = readSourced(flags).map(({ name, value, from }) => {
        const { flag, env, default: standard } = factsOf(name);
        return { setting: name, value: shown(value), from, flag, environment: env, default: standard };
      });
      const rows = records.map(({ setting, value, from }) => [setting, cellOf(value), from]);
      print(flags, records, formatTable([['SETTING', 'VALUE', 'FROM'], ...rows]), 2);
    });
}
