// Addresses of stores as people write them, read, or refused with what to write, without any password; and
// what the engine of an address can do.
import { existsSync, statSync } from 'node:fs';
import { otherThanFile } from '../base/temporary.ts';
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
  type StoreSpace,
  StoreUnusable,
  type Tell,
  UnfitPlace,
  UnknownStoreAddress,
  withoutPassword,
} from './store.ts';

const POSTGRES = 'postgres';

/** An address that can be pasted. */
const EXAMPLE = 'sqlite:data/bourse.db';

/** Beginnings that SQLite or people take for another place than the path of a file. */
const OTHER_PLACE = /^(:memory|file|sqlite|postgres(?:ql)?):/i;

/** The operations of an engine on the store at one address. */
type Engine = {
  /** The full address, which is the same store from any folder. */
  readonly address: string;
  /** What restores a backup, as a command. */
  readonly restoring: string;
  /** True if there is a store, damaged or not. */
  isMade(): Promise<boolean>;
  /** True if the store has a control file: one without any key may have none. */
  hasControl(): Promise<boolean>;
  openStore(mode: Mode, tell: Tell): Promise<Store>;
  openControl(mode: Mode, tell: Tell): Promise<RowStore>;
  /** Layout and size of the store. */
  facts(): Promise<StoreFacts>;
  /** Its size, and the room for it, without a lock and without waiting for the disk. */
  space(): Promise<StoreSpace>;
  /** An engine whose own tools make copies throws a `StoreUnusable` that names them; so does `restore`. */
  backup(file: string, options: CopyOptions): Promise<Copied>;
  restore(file: string, options: CopyOptions): Promise<Restored>;
  /**
   * Begins a copy into a store that is not made yet, or goes on with one that was cut off (`copy.ts`);
   * `bytes`: what it takes, about. @throws WouldReplace where there is a store; DiskFull; StoreUnavailable
   */
  openCopyTarget(bytes: number, tell: Tell): Promise<CopyTarget>;
  /** Checks the store without changing it. */
  diagnose(): Promise<Diagnosis[]>;
  /** Reads every row and every block of the store, and each index beside its table, step by step. */
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
      space: async () => (await import('./sqlite/diagnosis.ts')).sqliteSpace(path),
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
      space: async () => (await import('./postgres/diagnosis.ts')).postgresSpace(address),
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

/**
 * The engine's scheme, in lower case, and the rest of an address such as `sqlite:data/bourse.db`, or of a
 * path that ends in `.db`.
 * @throws UnknownStoreAddress
 */
function readAddress(url: string): { scheme: string; rest: string } {
  const [, given = '', rest = ''] = /^(?:([a-z]+):)?(.*)$/is.exec(url)!;
  const scheme = given.toLowerCase().replace('postgresql', POSTGRES);
  const isKnown = Object.hasOwn(engines, scheme);
  // A path; a single letter is a drive.
  if (given.length <= 1 && url.endsWith('.db') && !url.includes('://'))
    return { scheme: 'sqlite', rest: url };
  // Its own reader checks the rest.
  if (scheme === POSTGRES && isKnown) return { scheme, rest };
  const place = isKnown ? rest : url;
  const [, other = ''] = OTHER_PLACE.exec(place) ?? [];
  if (other.startsWith(':'))
    throw new UnknownStoreAddress(
      `${place} would be gone with its process: a store is a file that stays. Name one, such as --store ${EXAMPLE}`,
    );
  if (isKnown && rest !== '' && other === '') return { scheme, rest };
  throw new UnknownStoreAddress(
    `${withoutPassword(url)} is not the address of a store: write sqlite:PATH, such as ${exampleFor(place)}, or postgres://USER@HOST/DATABASE`,
  );
}

/** The address of a store that a command has as an argument: a path alone is a file. */
export const storeAddress = (text: string): string =>
  text === '' || OTHER_PLACE.test(text) || text.includes('://') ? text : `sqlite:${text}`;

/** The address that was probably meant: the same path, where it is one. */
function exampleFor(place: string): string {
  const path = place.replace(/^(?:file:(?:\/\/[^/]*(?=\/))?|sqlite:)/i, '').replace(/[?#].*/s, '');
  return path === '' || /:\/\/|[=@]/.test(path) ? EXAMPLE : `sqlite:${path}`;
}

/** Refuses an address where the path of a backup is to be named. @throws UnfitPlace */
function requireBackupPath(file: string): void {
  if (!OTHER_PLACE.test(file) && !file.includes('://')) return;
  throw new UnfitPlace(
    `${withoutPassword(file)}: a backup is a file: name its path, such as backup/bourse.backup`,
  );
}

/** The engine of a store, by its address, such as `sqlite:data/bourse.db`. @throws UnknownStoreAddress */
export function engineAt(url: string): Engine {
  const { scheme, rest } = readAddress(url);
  return engines[scheme]!(rest);
}

/** The advice about damage of what cannot be deleted and imported again. */
export const howToRestore = (url: string): string => `restore a backup: ${engineAt(url).restoring}`;

const silent: Tell = () => undefined;

/**
 * Opens a store by its address, such as `sqlite:data/bourse.db`. `tell` is called when an older layout is
 * migrated, and where it is served when another file has taken its place.
 */
export const openStore = async (url: string, mode: Mode, tell = silent): Promise<Store> =>
  engineAt(url).openStore(mode, tell);

/** Opens the control file of a store, whether the store itself was made or not. */
export const openControl = async (url: string, mode: Mode, tell = silent): Promise<RowStore> =>
  engineAt(url).openControl(mode, tell);

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
