// Opens stores for one piece of work and closes them after it.
import { spool } from '../files/spool.ts';
import { coverOldRuns } from '../history/old-runs.ts';
import { isStoreMade, openStore, openTrialStore } from '../store/engines.ts';
import type { Reader, Store } from '../store/store.ts';
import { readSettings } from './config.ts';
import { note } from './output.ts';

/** Runs `work` on something open, or being opened, and closes it at the end. */
export async function closing<R extends { close(): Promise<void> }, T>(
  opening: R | Promise<R>,
  work: (opened: R) => Promise<T>,
): Promise<T> {
  const opened = await opening;
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** Reads one state of a store. @throws StoreUnusable where there is none */
export const readStore = <T>(
  url: string,
  mode: 'read' | 'inspect',
  work: (reader: Reader) => Promise<T>,
): Promise<T> => closing(openStore(url, mode), (store) => store.snapshot(work));

/** Opens a store for writing: makes what is missing, and brings what an older Bourse wrote up to date. */
export async function openToWrite(url: string, tell: (doing: string) => void): Promise<Store> {
  const store = await openStore(url, 'write', tell);
  try {
    await coverOldRuns(store, tell);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Runs `work` on the store of a command that must not make one. @throws StoreUnusable where there is none */
export async function withExistingStore(
  flags: { readonly store?: string },
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { store: url } = readSettings(flags);
  // Opening for writing makes what is missing, opening for reading does not.
  await (await openStore(url, 'read')).close();
  await closing(openToWrite(url, note), work);
}

/** Opens the store of an import. A dry run without a store gets a temporary one, which is removed when it is closed. */
export async function openForImport(url: string, isTrial: boolean): Promise<Store> {
  if (!isTrial || isStoreMade(url)) return openToWrite(url, note);
  const { filled: store, close } = await spool(0, openTrialStore);
  return {
    ...store,
    async close() {
      await store.close();
      await close();
    },
  };
}
