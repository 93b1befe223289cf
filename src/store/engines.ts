// Scheme of the store address -> engine.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { otherThanFile } from '../disk/file-kind.ts';
import { makeFolder } from '../disk/space.ts';
import type { Diagnosis } from './diagnosis.ts';
import { backupSqlite } from './sqlite/backup.ts';
import { controlPathOf, openSqliteControl } from './sqlite/control.ts';
import { diagnoseSqlite } from './sqlite/diagnosis.ts';
import { restoreSqlite } from './sqlite/restore.ts';
import { openSqliteStore, sqliteFacts } from './sqlite/store.ts';
import {
  type Copied,
  type CopyOptions,
  type Mode,
  type Restored,
  type RowStore,
  type Store,
  type StoreFacts,
  type Tell,
  UnknownStoreAddress,
} from './store.ts';

type Engine = {
  /** Follows links in the rest of an address: the control file is beside the store's real file. */
  locate(rest: string): string;
  /** Whether anything is there, a damaged store included. */
  isMade(rest: string): boolean;
  /** Whether it has a control file: a store without any key may have none. */
  hasControl(rest: string): boolean;
  /** The full address, which any process can open from any folder. */
  resolve(rest: string): string;
  openStore(rest: string, mode: Mode, tell: Tell): Promise<Store>;
  openControl(rest: string, mode: Mode, tell: Tell): Promise<RowStore>;
  facts(rest: string): Promise<StoreFacts>;
  /** An engine whose own tools make copies throws a `StoreUnusable` that names them; so does `restore`. */
  backup(rest: string, file: string, options: CopyOptions): Promise<Copied>;
  restore(rest: string, file: string, options: CopyOptions): Promise<Restored>;
  /** Looks at a store without changing it. */
  diagnose(rest: string): Promise<Diagnosis[]>;
};

const engines: Readonly<Record<string, Engine>> = {
  sqlite: {
    locate: (path) => (existsSync(path) ? realpathSync(path) : path),
    // A store may be made in an empty file.
    isMade: (path) => existsSync(path) && (otherThanFile(path) !== null || statSync(path).size > 0),
    hasControl: (path) => existsSync(controlPathOf(path)),
    resolve: (path) => `sqlite:${resolve(path)}`,
    openStore(path, mode, tell) {
      if (mode === 'write') makeFolder(dirname(resolve(path)));
      return openSqliteStore(path, mode, tell);
    },
    openControl(path, mode, tell) {
      if (mode === 'write') makeFolder(dirname(resolve(path)));
      return openSqliteControl(path, mode, tell);
    },
    facts: sqliteFacts,
    backup: backupSqlite,
    restore: restoreSqlite,
    diagnose: (path) => diagnoseSqlite(path),
  },
};

function engineOf(url: string): { engine: Engine; rest: string } {
  const colon = url.indexOf(':');
  const scheme = colon < 0 ? '' : url.slice(0, colon);
  const engine = Object.hasOwn(engines, scheme) ? engines[scheme] : undefined;
  const rest = url.slice(colon + 1);
  if (engine === undefined || rest === '') {
    const known = Object.keys(engines).map((name) => `${name}:PATH`);
    throw new UnknownStoreAddress(
      `${url} is not the address of a store: write ${known.join(' or ')}, such as sqlite:${rest || 'data/bourse.db'}`,
    );
  }
  return { engine, rest: engine.locate(rest) };
}

/** The full address, which is the same store from any folder. */
export function resolveStore(url: string): string {
  const { engine, rest } = engineOf(url);
  return engine.resolve(rest);
}

const silent: Tell = () => undefined;

/** Opens a store by its address, such as `sqlite:data/bourse.db`. `tell` hears when an older layout is brought up to date. */
export async function openStore(url: string, mode: Mode, tell = silent): Promise<Store> {
  const { engine, rest } = engineOf(url);
  return engine.openStore(rest, mode, tell);
}

/** Whether there is a store at an address, damaged or not. */
export function isStoreMade(url: string): boolean {
  const { engine, rest } = engineOf(url);
  return engine.isMade(rest);
}

/** Whether a store has a control file: a store without any key may have none. */
export function hasControl(url: string): boolean {
  const { engine, rest } = engineOf(url);
  return engine.hasControl(rest);
}

/** Opens a new store in an empty folder, for a trial: it is removed with the folder. */
export const openTrialStore = (folder: string): Promise<Store> =>
  openStore(`sqlite:${join(folder, 'trial.db')}`, 'write');

/** Opens the control file of a store, whether the store itself was made or not. */
export async function openControl(url: string, mode: Mode, tell = silent): Promise<RowStore> {
  const { engine, rest } = engineOf(url);
  return engine.openControl(rest, mode, tell);
}

/** What a store is as a whole: layout and size. */
export async function storeFacts(url: string): Promise<StoreFacts> {
  const { engine, rest } = engineOf(url);
  return engine.facts(rest);
}

/**
 * Copies a whole store, keys and secrets included, into one file while others read and write it: one state of it, verified.
 * @throws WouldReplace where the file is there and may not be replaced; UnfitPlace where no file can be, or the store's own is
 */
export async function backupStore(url: string, file: string, options: CopyOptions): Promise<Copied> {
  const { engine, rest } = engineOf(url);
  return engine.backup(rest, file, options);
}

/**
 * Makes a store of a copy that `backupStore` made, all of it or nothing; what was there is kept beside it.
 * @throws WouldReplace where a store is there and may not be replaced; StoreUnusable where it is in use or the copy is no good
 */
export async function restoreStore(url: string, file: string, options: CopyOptions): Promise<Restored> {
  const { engine, rest } = engineOf(url);
  return engine.restore(rest, file, options);
}

/** Checks a store without changing it: what is right and what is wrong. */
export async function diagnoseStore(url: string): Promise<Diagnosis[]> {
  const { engine, rest } = engineOf(url);
  return engine.diagnose(rest);
}
