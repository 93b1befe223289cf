// `bourse config`
import { Command } from 'commander';
import { factsOf, readSourced, type SettingFlags, type SourcedSetting } from './config.ts';
import { addSettings, jsonOption } from './options.ts';
import { formatTable } from './table.ts';

type Flags = SettingFlags & { readonly json?: boolean };

/** A value without the password that an address may carry. */
function shown(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/(:\/\/[^/@]*?):[^/]*@/, '$1:***@') : value;
}

function recordOf({ name, value, from }: SourcedSetting) {
  const { flag, env, default: standard } = factsOf(name);
  return { setting: name, value: shown(value), from, flag, environment: env, default: standard };
}

function cellOf(value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : JSON.stringify(value).replaceAll('"', '');
  return text === '' || text === 'null' ? '-' : text;
}

export function configCommand(): Command {
  return addSettings(new Command('config'))
    .addOption(jsonOption())
    .addHelpText(
      'before',
      'Examples:\n  bourse config\n  BOURSE_PORT=9000 bourse config --workers 4 --json\n',
    )
    .action((flags: Flags) => {
      const records = readSourced(flags).map(recordOf);
      if (flags.json) {
        process.stdout.write(`${JSON.stringify(records, null, 2)}\n`);
        return;
      }
      const rows = records.map(({ setting, value, from }) => [setting, cellOf(value), from]);
      process.stdout.write(formatTable([['SETTING', 'VALUE', 'FROM'], ...rows]));
    });
}
