// Stores that a command must not make.
import { spool } from '../files/spool.ts';
import { isStoreMade, openStore, openTrialStore } from '../store/engines.ts';
import type { Store } from '../store/store.ts';
import { readSettings } from './config.ts';
import { tellDoing } from './waiting.ts';

/** Runs `work` on the store that a command's flags name. @throws StoreUnusable when it is not there */
export async function withExistingStore(
  flags: { readonly store?: string },
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { store: url } = readSettings(flags.store === undefined ? {} : { store: flags.store });
  // Opening for writing makes what is missing, opening for reading does not.
  await (await openStore(url, 'read')).close();
  const store = await openStore(url, 'write', tellDoing);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** Opens the store of an import. For a trial, one that is not there is made elsewhere, and goes when it is closed. */
export async function openForImport(url: string, isTrial: boolean): Promise<Store> {
  if (!isTrial || isStoreMade(url)) return openStore(url, 'write', tellDoing);
  const { filled: store, close } = await spool(0, openTrialStore);
  return {
    ...store,
    async close() {
      await store.close();
      await close();
    },
  };
}
