// `bourse backup FILE` and `bourse restore FILE`
import { isatty } from 'node:tty';
import { Command } from 'commander';
import { formatInstant } from '../../base/instant.ts';
import { formatBytes } from '../../base/size.ts';
import { backupStore, restoreStore } from '../../store/engines.ts';
import type { Copied, CopyOptions, Restored } from '../../store/store.ts';
import { readSettings } from '../config.ts';
import { examples, jsonOption, storeOption, withQuiet } from '../shared/flags.ts';
import { isQuiet, linesOf, print, STDERR } from '../shared/output.ts';
import { countOf } from '../shared/table.ts';

type Flags = { readonly store?: string; readonly force?: boolean; readonly json?: boolean };

/** Progress is for a person only. */
const tell = (doing: string): void => {
  if (isatty(STDERR) && !isQuiet()) process.stderr.write(`${doing}\n`);
};

/**
 * A copy in words; of a restored one also when it was made, with which version it goes on, and where the
 * files are that it replaced.
 */
function describe({ file, bytes, keys, madeMs, sha256, ...rest }: Copied | Restored): string {
  const held = keys === 0 ? 'without any key' : countOf(keys, 'key');
  const restored = 'kept' in rest ? rest : null;
  const made =
    restored === null ? '' : `, as it was at ${formatInstant(madeMs)}, now data version ${restored.version}`;
  return linesOf([
    `${file}: ${formatBytes(bytes)}, verified, ${held}${made}, data ${sha256.slice(0, 16)}`,
    ...(restored?.kept ?? []).map((path) => `  the previous file is now ${path}`),
  ]);
}

function recordOf({ madeMs, ...copied }: Copied | Restored) {
  const made = formatInstant(madeMs);
  if (!('version' in copied)) return { ...copied, made };
  const { version, ...record } = copied;
  return { ...record, data_version: version, made };
}

/** A command that copies a store, from its address and a file. */
const copyCommand = (
  name: string,
  copy: (url: string, file: string, options: CopyOptions) => Promise<Copied | Restored>,
): Command =>
  withQuiet(new Command(name))
    .addOption(storeOption())
    .addOption(jsonOption())
    .action(async (file: string, flags: Flags) => {
      const copied = await copy(readSettings(flags).store, file, {
        force: flags.force === true,
        tell,
        nowMs: Date.now,
      });
      print(flags, recordOf(copied), describe(copied));
    });

export const backupCommand = (): Command =>
  copyCommand('backup', backupStore)
    .argument('<file>', 'where the copy goes')
    .option('--force', 'replace the file if it exists')
    .addHelpText(
      ...examples(
        'bourse backup /backup/bourse-2025-03-03.backup',
        'bourse backup /backup/bourse.backup --force',
      ),
    );

export const restoreCommand = (): Command =>
  copyCommand('restore', restoreStore)
    .argument('<file>', 'what bourse backup made')
    .option('--force', 'replace the existing store; it is kept beside the new one, as NAME.before-restore')
    .addHelpText(
      ...examples(
        'bourse restore /backup/bourse.backup',
        'bourse restore /backup/bourse.backup --store sqlite:/tmp/trial.db',
      ),
    );
