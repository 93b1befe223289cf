// `bourse serve`
import { Command } from 'commander';
import { readSettings, type SettingFlags } from '../config.ts';
import { addSettings, examples } from '../shared/flags.ts';

export function serveCommand(): Command {
  return addSettings(new Command('serve'))
    .addHelpText(
      ...examples(
        'bourse serve',
        'bourse serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allowed-hosts data.example.com',
        'bourse serve --store sqlite:/var/lib/bourse/data/bourse.db --workers 4 --public-url https://data.example.com/bourse',
      ),
    )
    .action(async (flags: SettingFlags) => {
      const settings = readSettings(flags);
      // What serves takes long to load; a wrong setting is reported before.
      const [{ resolveStore }, { serve }] = await Promise.all([
        import('../../store/engines.ts'),
        import('../serve/workers.ts'),
      ]);
      await serve({ ...settings, store: resolveStore(settings.store) });
    });
}
