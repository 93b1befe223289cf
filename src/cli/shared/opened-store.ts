// Opens stores for one piece of work and closes them after it.
import { join } from 'node:path';
import { spool } from '../../imports/read/spool.ts';
import { engineAt, openControl, openStore } from '../../store/engines.ts';
import { OlderLayout, type Reader, type Store, StoreUnusable, type Tell } from '../../store/store.ts';
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

/**
 * The modes of an import: into the store; as a dry run; or to be explained, which touches no store that it
 * would change.
 */
type ImportMode = 'import' | 'dry run' | 'explain';

/** Whether a store can be opened for writing as it is, without an update of its layout. */
async function isReady(url: string): Promise<boolean> {
  try {
    for (const mode of ['inspect', 'write'] as const) await (await openStore(url, mode)).close();
    return true;
  } catch (error) {
    if (error instanceof StoreUnusable) return false;
    throw error;
  }
}

/**
 * Opens the store of an import. Without one, a dry run gets a temporary store, which is removed when it is
 * closed.
 */
export async function openForImport(url: string, mode: ImportMode): Promise<Store> {
  const isUsed =
    mode === 'import' || ((await engineAt(url).isMade()) && (mode === 'dry run' || (await isReady(url))));
  if (isUsed) return openToWrite(url, note);
  const { filled: store, close } = await spool(0, (folder) =>
    openStore(`sqlite:${join(folder, 'trial.db')}`, 'write'),
  );
  return {
    ...store,
    async close() {
      await store.close();
      await close();
    },
  };
}
