// The newest check of a whole store, kept beside its keys: `bourse status` tells it (contract 9.10, 10).
import { type Check, putCheck, readCheck } from '../../store/control.ts';
import { hasControl, openControl } from '../../store/engines.ts';
import { closing } from './opened-store.ts';
import { note } from './output.ts';

/**
 * The newest check; null where none is known: none was kept, or not in a layout that can be read, or out of
 * reach. The content of the store is reported all the same.
 */
export async function keptCheck(url: string): Promise<Check | null> {
  try {
    return (await hasControl(url)) ? await closing(openControl(url, 'inspect'), readCheck) : null;
  } catch {
    return null;
  }
}

/**
 * Keeps a check. Where that cannot be, such as on a standby or without the right to write, it is noted: the
 * findings are told all the same.
 */
export async function keepCheck(url: string, check: Check): Promise<void> {
  try {
    // Keys of an older layout are not for a command that reads to update: a service may run on them.
    if (await hasControl(url)) await (await openControl(url, 'inspect')).close();
    await closing(openControl(url, 'write', note), (control) => putCheck(control, check));
  } catch (error) {
    note(`bourse status does not tell this check: ${(error as Error).message}`);
  }
}
