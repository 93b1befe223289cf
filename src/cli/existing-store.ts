// A store that a command changes and must not make.
import { openStore } from '../store/engines.ts';
import type { Store } from '../store/store.ts';
import { readSettings } from './config.ts';

/** Runs `work` on the store that a command's flags name. @throws StoreUnusable when it is not there */
export async function withExistingStore(
  flags: { readonly store?: string },
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const { store: url } = readSettings(flags.store === undefined ? {} : { store: flags.store });
  // Opening for writing makes what is missing, opening for reading does not.
  await (await openStore(url, 'read')).close();
  const store = await openStore(url, 'write');
  try {
    await work(store);
  } finally {
    await store.close();
  }
}
