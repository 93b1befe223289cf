// Opens stores for one piece of work and closes them after it.
import { engineAt, openControl, openStore } from '../../store/engines.ts';
import { OlderLayout, type Reader, type Store, StoreUnusable, type Tell } from '../../store/store.ts';

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

/**
 * Opens a store for writing: makes what is missing of the data, and brings what an older Bourse wrote up to
 * date, keys included.
 */
export async function openToWrite(url: string, tell: Tell): Promise<Store> {
  const store = await openStore(url, 'write', tell);
  try {
    await updateControl(url, tell);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Both files of a store have the layout of one Bourse. What else is wrong with the keys is for those who need
 * them.
 */
async function updateControl(url: string, tell: Tell): Promise<void> {
  if (!(await engineAt(url).hasControl())) return;
  try {
    await (await openControl(url, 'inspect')).close();
  } catch (error) {
    if (error instanceof OlderLayout) await (await openControl(url, 'write', tell)).close();
    else if (!(error instanceof StoreUnusable)) throw error;
  }
}
