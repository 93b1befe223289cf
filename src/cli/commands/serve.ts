// `bourse serve` and `bourse config`, which have a flag for each setting

import type { Command } from 'commander';
import { withoutPassword } from '../../store/store.ts';
import { factsOf, readSettings, readSourced, type SettingFlags, settingNames } from '../config.ts';
import { command, jsonFlag, settingFlags } from '../shared/flags.ts';
import { formatTable, print } from '../shared/output.ts';

export const serveCommand = (): Command =>
  command(
    'serve',
    settingFlags(...settingNames),
    'bourse serve',
    'bourse serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allowed-hosts data.example.com',
    'bourse serve --store sqlite:/var/lib/bourse/data/bourse.db --workers 4 --public-url https://data.example.com/bourse',
  ).action(async (flags: SettingFlags) => {
    const settings = readSettings(flags);
    // The server takes long to load; a wrong setting is reported before.
    const [{ engineAt }, { serve }] = await Promise.all([
      import('../../store/engines.ts'),
      import('../serve/workers.ts'),
    ]);
    await serve({ ...settings, store: engineAt(settings.store).address });
  });

const shown = (value: unknown): unknown => (typeof value === 'string' ? withoutPassword(value) : value);

function cellOf(value: unknown): string {
  const text = Array.isArray(value) ? value.join(',') : JSON.stringify(value).replaceAll('"', '');
  return text === '' || text === 'null' ? '-' : text;
}

export const configCommand = (): Command =>
  command(
    'config',
    { ...settingFlags(...settingNames), ...jsonFlag },
    'bourse config',
    'BOURSE_PORT=9000 bourse config --workers 4 --json',
  ).action((flags: SettingFlags & { readonly json?: boolean }) => {
    const records = readSourced(flags).map(({ name, value, from }) => {
      const { flag, env, default: standard } = factsOf(name);
      return { setting: name, value: shown(value), from, flag, environment: env, default: standard };
    });
    const rows = records.map(({ setting, value, from }) => [setting, cellOf(value), from]);
    print(flags, records, formatTable([['SETTING', 'VALUE', 'FROM'], ...rows]), 2);
  });
