// `bourse backup FILE` and `bourse restore FILE`
import { isatty } from 'node:tty';
import { Command } from 'commander';
import { formatInstant } from '../base/instant.ts';
import { formatBytes } from '../base/size.ts';
import { backupStore, restoreStore } from '../store/engines.ts';
import type { Copied, CopyOptions } from '../store/store.ts';
import { readSettings } from './config.ts';
import { jsonOption, storeOption } from './options.ts';
import { countOf, printable } from './table.ts';

type Flags = { readonly store?: string; readonly force?: boolean; readonly json?: boolean };

const STDERR = 2;

/** Long work says what it is at, to a person alone. */
const tell = (doing: string): void => {
  if (isatty(STDERR)) process.stderr.write(`${doing}\n`);
};

const optionsOf = (flags: Flags): CopyOptions => ({ force: flags.force === true, tell });

const recordOf = ({ madeMs, ...copied }: Copied) => ({ ...copied, made: formatInstant(madeMs) });

/** What a copy is, in words. */
const describe = ({ file, bytes, keys, sha256 }: Copied, made = ''): string =>
  `${file}: ${formatBytes(bytes)}, verified, ${keys === 0 ? 'without any key' : countOf(keys, 'key')}${made}, data ${sha256.slice(0, 16)}`;

function print(flags: Flags, copied: Copied, lines: readonly string[]): void {
  process.stdout.write(
    flags.json ? `${JSON.stringify(recordOf(copied))}\n` : `${lines.map(printable).join('\n')}\n`,
  );
}

export function backupCommand(): Command {
  return new Command('backup')
    .argument('<file>', 'where the copy goes')
    .addOption(storeOption())
    .option('--force', 'replace the file if it is there')
    .addOption(jsonOption())
    .addHelpText(
      'before',
      'Examples:\n  bourse backup /backup/bourse-2025-03-03.backup\n  bourse backup /backup/bourse.backup --force\n',
    )
    .action(async (file: string, flags: Flags) => {
      const copied = await backupStore(readSettings(flags).store, file, optionsOf(flags));
      print(flags, copied, [describe(copied)]);
    });
}

export function restoreCommand(): Command {
  return new Command('restore')
    .argument('<file>', 'what bourse backup made')
    .addOption(storeOption())
    .option('--force', 'replace the store that is there; it is kept beside, as NAME.before-restore')
    .addOption(jsonOption())
    .addHelpText(
      'before',
      'Examples:\n  bourse restore /backup/bourse.backup\n  bourse restore /backup/bourse.backup --store sqlite:/tmp/trial.db\n',
    )
    .action(async (file: string, flags: Flags) => {
      const restored = await restoreStore(readSettings(flags).store, file, optionsOf(flags));
      print(flags, restored, [
        describe(restored, `, as it was at ${formatInstant(restored.madeMs)}`),
        ...restored.kept.map((kept) => `  what was there is now ${kept}`),
      ]);
    });
}
