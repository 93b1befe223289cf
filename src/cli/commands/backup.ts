// Whole copies of a store: `bourse copy --from STORE --to STORE`, `bourse backup FILE` and `bourse restore
// FILE`

import { isatty } from 'node:tty';
import type { Command } from 'commander';
import { formatInstant } from '../../base/instant.ts';
import { DiskFull } from '../../base/space.ts';
import { formatBytes } from '../../base/words.ts';
import { copyStore, type StoreCopy } from '../../store/copy.ts';
import { damageWords } from '../../store/damage.ts';
import {
  backupStore,
  engineAt,
  openControl,
  openStore,
  restoreStore,
  storeAddress,
} from '../../store/engines.ts';
import { storeLimits } from '../../store/limits.ts';
import {
  type Copied,
  type CopyOptions,
  type Restored,
  type RowStore,
  StoreDamaged,
  StoreUnavailable,
  type Tell,
  UnfitPlace,
  withoutPassword,
} from '../../store/store.ts';
import { readSettings, UsageProblem } from '../config.ts';
import { damagedParts } from '../serve/scrubbing.ts';
import { command, type FlagsOf, jsonFlag, quietFlag, storeFlag } from '../shared/flags.ts';
import { closing } from '../shared/opened-store.ts';
import {
  count,
  countOf,
  isQuiet,
  linesOf,
  note,
  type Progress,
  print,
  STDERR,
  withProgress,
} from '../shared/output.ts';

const copyFlags = {
  ...quietFlag,
  '--from <store>': 'the store to copy: sqlite:PATH, a path, or postgres://USER@HOST/DATABASE',
  '--to <store>': 'where the copy goes: the address of a store that does not exist yet',
  ...jsonFlag,
} as const;

/** The full address of one of both stores. @throws UsageProblem where it is not given */
function addressOf(flag: '--from' | '--to', text: string | undefined): string {
  if (text !== undefined) return engineAt(storeAddress(text)).address;
  throw new UsageProblem(`${flag} STORE is missing: sqlite:PATH or postgres://USER@HOST/DATABASE`);
}

/**
 * Refuses a store of which anything is damaged: a copy would be damaged too, and nothing could tell. @throws
 * StoreDamaged that names it
 */
async function requireSound(url: string, { reached }: Progress, tell: Tell): Promise<void> {
  const found = await damagedParts(url, storeLimits.copyDamageNamedMax, tell, reached);
  if (found.named.length === 0) return;
  const more = found.more > 0 ? `; and ${count(found.more)} more` : '';
  throw new StoreDamaged(
    `${withoutPassword(url)} is damaged, and is not copied: ${found.named.map(damageWords).join('; ')}${more}; bourse doctor --deep says what to do`,
  );
}

/** Runs `work` on the keys of a store; null where it has none yet. */
const withControl = async <T>(url: string, work: (control: RowStore | null) => Promise<T>): Promise<T> =>
  (await engineAt(url).hasControl()) ? closing(openControl(url, 'read'), work) : work(null);

/** True for an error that may pass: the same command then goes on. */
const mayPass = (error: unknown): boolean => error instanceof StoreUnavailable || error instanceof DiskFull;

/** Copies a store; `tell` takes notes for a person. */
async function copy(from: string, to: string, progress: Progress, tell: Tell): Promise<StoreCopy> {
  return closing(openStore(from, 'read'), async (source) => {
    const bytes = (await engineAt(from).facts()).parts.reduce((sum, part) => sum + Number(part.bytes), 0);
    return closing(engineAt(to).openCopyTarget(bytes, tell), async (target) => {
      if (target.isBegun) tell(`an earlier copy into ${target.name} was cut off: it is completed`);
      try {
        await requireSound(from, progress, tell);
        return await withControl(from, (control) => copyStore(source, control, target, progress, Date.now));
      } catch (error) {
        if (mayPass(error)) tell('the copied part is kept: run the same command to continue');
        throw error;
      }
    });
  });
}

function describeCopy(from: string, to: string, made: StoreCopy): string {
  const { copiedVersion, sourceVersion, version, rows, series, bars, keys, contentHash } = made;
  const held = [
    countOf(rows, 'row'),
    `${countOf(bars, 'bar')} of ${count(series)} series`,
    countOf(keys, 'key'),
  ];
  return linesOf([
    `${to}: a verified copy of ${from}: ${held.join(', ')}, data version ${version}, content hash ${contentHash.slice(0, 16)}`,
    copiedVersion !== sourceVersion &&
      `  ${from} was written to meanwhile: it has data version ${sourceVersion} now, the copy has ${copiedVersion}`,
  ]);
}

const recordOfCopy = (from: string, to: string, made: StoreCopy) => ({
  from,
  to,
  rows: made.rows,
  series: made.series,
  bars: made.bars,
  keys: made.keys,
  data_version: made.version,
  copied_data_version: made.copiedVersion,
  source_data_version: made.sourceVersion,
  content_hash: made.contentHash,
  resumed: made.resumed,
});

export const copyCommand = (): Command =>
  command(
    'copy',
    copyFlags,
    'bourse copy --from sqlite:data/bourse.db --to postgres://bourse@db.example.com/bourse',
    'bourse copy --from postgres://bourse@db.example.com/bourse --to sqlite:/backup/bourse.db --json',
  ).action(async (flags: FlagsOf<typeof copyFlags>) => {
    const [from, to] = [addressOf('--from', flags.from), addressOf('--to', flags.to)];
    if (from === to) throw new UnfitPlace(`--to and --from are the same store: ${withoutPassword(to)}`);
    const tell = flags.json ? () => undefined : note;
    const made = await withProgress({ name: 'reading the store' }, (progress) =>
      copy(from, to, progress, tell),
    );
    const names = [withoutPassword(from), withoutPassword(to)] as const;
    print(flags, recordOfCopy(...names, made), describeCopy(...names, made), 2);
  });

const fileFlags = (force: string) => ({ ...quietFlag, ...storeFlag, ...jsonFlag, '--force': force });

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

/** Between a store and a file. */
const doing =
  (copyAs: (url: string, file: string, options: CopyOptions) => Promise<Copied | Restored>) =>
  async (file: string, flags: FlagsOf<ReturnType<typeof fileFlags>>): Promise<void> => {
    const { force = false } = flags;
    const copied = await copyAs(readSettings(flags).store, file, { force, tell, nowMs: Date.now });
    print(flags, recordOf(copied), describe(copied));
  };

export const backupCommand = (): Command =>
  command(
    'backup',
    fileFlags('replace the file if it exists'),
    'bourse backup /backup/bourse-2025-03-03.backup',
    'bourse backup /backup/bourse.backup --force',
  )
    .argument('<file>', 'where the copy goes')
    .action(doing(backupStore));

export const restoreCommand = (): Command =>
  command(
    'restore',
    fileFlags('replace the existing store; it is kept beside the new one, as NAME.before-restore'),
    'bourse restore /backup/bourse.backup',
    'bourse restore /backup/bourse.backup --store sqlite:/tmp/trial.db',
  )
    .argument('<file>', 'a file that bourse backup made')
    .action(doing(restoreStore));
