// `bourse serve`
import { Command } from 'commander';
import { resolveStore } from '../store/engines.ts';
import { readSettings } from './config.ts';
import { storeOption } from './options.ts';
import { serve } from './workers.ts';

type Flags = {
  readonly store?: string;
  readonly host?: string;
  readonly port?: string;
  readonly workers?: string;
  readonly publicUrl?: string;
  readonly allowedHosts?: string;
  readonly logLevel?: string;
};

export function serveCommand(): Command {
  return new Command('serve')
    .description('Serve a store over HTTP. A new or empty store is fine.')
    .addOption(storeOption())
    .option('--host <address>', 'the address to listen on (default 127.0.0.1)')
    .option('--port <number>', 'the port to listen on (default 8080)')
    .option('--workers <count>', 'serving processes that share the port (default 1)')
    .option('--public-url <url>', 'the address that callers reach the service by, with its path')
    .option(
      '--allowed-hosts <names>',
      'host names, parted by commas, that the service answers to beside loopback and IP addresses',
    )
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent (default info)')
    .addHelpText(
      'before',
      'Examples:\n  bourse serve\n  bourse serve --store sqlite:/srv/bourse/bourse.db --host 0.0.0.0 --public-url https://data.example.com\n',
    )
    .action(async (flags: Flags) => {
      const settings = readSettings(flags);
      await serve({ ...settings, store: resolveStore(settings.store) });
    });
}
