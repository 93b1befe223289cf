// Scheme of the store address -> engine.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { otherThanFile } from '../base/temporary.ts';
import { readAddress, requireBackupPath } from './address.ts';
import type { CopyTarget } from './copy.ts';
import type { Diagnosis, ScrubStep } from './damage.ts';
import { readPostgresAddress } from './postgres/address.ts';
import { controlPathOf, openSqliteControl } from './sqlite/control.ts';
import { openSqliteStore } from './sqlite/engine.ts';
import { realPathOf } from './sqlite/files.ts';
import {
  type Copied,
  type CopyOptions,
  type Mode,
  type Restored,
  type RowStore,
  type Store,
  type StoreFacts,
  StoreUnusable,
  type Tell,
} from './store.ts';

/** What an engine can do with the store at one address. The exports below describe each. */
type Engine = {
  readonly address: string;
  /** What restores a backup, as a command. */
  readonly restoring: string;
  isMade(): Promise<boolean>;
  hasControl(): Promise<boolean>;
  openStore(mode: Mode, tell: Tell): Promise<Store>;
  openControl(mode: Mode, tell: Tell): Promise<RowStore>;
  facts(): Promise<StoreFacts>;
  /** An engine whose own tools make copies throws a `StoreUnusable` that names them; so does `restore`. */
  backup(file: string, options: CopyOptions): Promise<Copied>;
  restore(file: string, options: CopyOptions): Promise<Restored>;
  /** `bytes`: what the copy takes, about. */
  openCopyTarget(bytes: number, tell: Tell): Promise<CopyTarget>;
  diagnose(): Promise<Diagnosis[]>;
  scrub(): AsyncIterable<ScrubStep>;
};

async function postgresOwnTools(): Promise<never> {
  throw new StoreUnusable(
    'PostgreSQL backs up and restores its stores: pg_dump and pg_restore, or pg_basebackup. bourse copy makes a file of one, and one of a file',
  );
}

const engines: Readonly<Record<string, (rest: string) => Engine>> = {
  sqlite(given) {
    // The control file is beside the store's real file.
    const path = realPathOf(given);
    return {
      address: `sqlite:${path}`,
      restoring: 'bourse restore FILE --force',
      // A store may be made in an empty file.
      isMade: async () => existsSync(path) && (otherThanFile(path) !== null || statSync(path).size > 0),
      hasControl: async () => existsSync(controlPathOf(path)),
      openStore: (mode, tell) => openSqliteStore(path, mode, tell),
      openControl: (mode, tell) => openSqliteControl(path, mode, tell),
      // What few commands do is loaded by them alone: every process and thread that serves opens a store.
      backup: async (file, options) => (await import('./sqlite/backup.ts')).backupSqlite(path, file, options),
      restore: async (file, options) =>
        (await import('./sqlite/backup.ts')).restoreSqlite(path, file, options),
      openCopyTarget: async (bytes, tell) =>
        (await import('./sqlite/copy.ts')).openSqliteCopyTarget(path, bytes, tell),
      facts: async () => (await import('./sqlite/diagnosis.ts')).sqliteFacts(path),
      diagnose: async () => (await import('./sqlite/diagnosis.ts')).diagnoseSqlite(path),
      async *scrub() {
        yield* (await import('./sqlite/scrub.ts')).scrubSqlite(path);
      },
    };
  },
  postgres(rest) {
    const address = readPostgresAddress(rest);
    // The library of the engine is loaded by those who use it.
    const engine = () => import('./postgres/engine.ts');
    const isMade = async () => (await engine()).isPostgresMade(address);
    return {
      // Other processes of this user get it, not messages.
      address: `postgres:${rest}`,
      restoring: 'pg_restore, or the copy that pg_basebackup made',
      isMade,
      hasControl: isMade,
      openStore: async (mode, tell) => (await engine()).openPostgresStore(address, mode, tell),
      openControl: async (mode, tell) =>
        (await import('./postgres/control.ts')).openPostgresControl(address, mode, tell),
      facts: async () => (await import('./postgres/diagnosis.ts')).postgresFacts(address),
      backup: postgresOwnTools,
      restore: postgresOwnTools,
      openCopyTarget: async (_, tell) =>
        (await import('./postgres/copy.ts')).openPostgresCopyTarget(address, tell),
      diagnose: async () => (await import('./postgres/diagnosis.ts')).diagnosePostgres(address),
      async *scrub() {
        yield* (await import('./postgres/scrub.ts')).scrubPostgres(address);
      },
    };
  },
};

function engineAt(url: string): Engine {
  const { scheme, rest } = readAddress(url, Object.keys(engines));
  return engines[scheme]!(rest);
}

/** The advice about damage of what cannot be deleted and imported again. */
export const howToRestore = (url: string): string => `restore a backup: ${engineAt(url).restoring}`;

const silent: Tell = () => undefined;

/** The full address, which is the same store from any folder. */
export const resolveStore = (url: string): string => engineAt(url).address;

/**
 * Opens a store by its address, such as `sqlite:data/bourse.db`. `tell` is called when an older layout is
 * migrated, and where it is served when another file has taken its place.
 */
export const openStore = async (url: string, mode: Mode, tell = silent): Promise<Store> =>
  engineAt(url).openStore(mode, tell);

/** Opens a new store in an empty folder, for a trial: it is removed with the folder. */
export const openTrialStore = (folder: string): Promise<Store> =>
  openStore(`sqlite:${join(folder, 'trial.db')}`, 'write');

/** Opens the control file of a store, whether the store itself was made or not. */
export const openControl = async (url: string, mode: Mode, tell = silent): Promise<RowStore> =>
  engineAt(url).openControl(mode, tell);

/** True if there is a store at an address, damaged or not. */
export const isStoreMade = async (url: string): Promise<boolean> => engineAt(url).isMade();

/** True if a store has a control file: a store without any key may have none. */
export const hasControl = async (url: string): Promise<boolean> => engineAt(url).hasControl();

/** Layout and size of a store. */
export const storeFacts = async (url: string): Promise<StoreFacts> => engineAt(url).facts();

/**
 * Copies a whole store, keys and secrets included, into one file while others read and write it: one state of
 * it, verified.
 * @throws WouldReplace where the file exists and may not be replaced; UnfitPlace where no file can be, or the
 * store's own is
 */
export const backupStore = async (url: string, file: string, options: CopyOptions): Promise<Copied> => {
  requireBackupPath(file);
  return engineAt(url).backup(file, options);
};

/**
 * Makes a store from a copy of `backupStore`, all of it or nothing, and keeps the replaced files beside it.
 * @throws WouldReplace where a store exists and may not be replaced; StoreUnusable where it is in use or the
 * copy is damaged
 */
export const restoreStore = async (url: string, file: string, options: CopyOptions): Promise<Restored> => {
  requireBackupPath(file);
  return engineAt(url).restore(file, options);
};

/**
 * Begins a copy into a store that is not made yet, or goes on with one that was cut off (`copy.ts`); `bytes`:
 * what it takes, about.
 * @throws WouldReplace where there is a store; DiskFull; StoreUnavailable
 */
export const openCopyTarget = async (url: string, bytes: number, tell: Tell): Promise<CopyTarget> =>
  engineAt(url).openCopyTarget(bytes, tell);

/** Checks a store without changing it. */
export const diagnoseStore = async (url: string): Promise<Diagnosis[]> => engineAt(url).diagnose();

/** Reads every row and every block of a store, and each index beside its table, step by step. */
export const scrubStore = (url: string): AsyncIterable<ScrubStep> => engineAt(url).scrub();
