// The newest check of a whole store, kept beside its keys: `bourse status` tells it (contract 9.10, 10).
import { type Check, putCheck, readCheck } from '../store/control.ts';
import { hasControl, openControl } from '../store/engines.ts';
import { StoreUnusable } from '../store/store.ts';
import { closing } from './opened-store.ts';
import { note } from './output.ts';

/** The newest check; null where none is known. */
export async function keptCheck(url: string): Promise<Check | null> {
  try {
    return (await hasControl(url)) ? await closing(openControl(url, 'inspect'), readCheck) : null;
  } catch (error) {
    // Made by an older Bourse, or out of reach: what the store holds is told all the same.
    if (error instanceof StoreUnusable) return null;
    throw error;
  }
}

/** Keeps a check. Where nothing can be written, such as on a standby, that is noted: its findings are told all the same. */
export async function keepCheck(url: string, check: Check): Promise<void> {
  try {
    await closing(openControl(url, 'write', note), (control) => putCheck(control, check));
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error;
    note(`bourse status does not tell this check: ${error.message}`);
  }
}
