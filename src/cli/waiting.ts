// What a command waits for, and what it does first, told on standard error.
import type { OnWait, Store, Tell } from '../store/store.ts';
import { printable } from './table.ts';

/** Says that a store is brought to the newest layout. */
export const tellDoing: Tell = (doing) => void process.stderr.write(`bourse: ${printable(doing)}\n`);

/** Says once that another process writes to the store. */
export const tellWait =
  (store: Store): OnWait =>
  (pid) =>
    void process.stderr.write(
      `bourse: waiting for another write to ${printable(store.name)} to end${pid === null ? '' : ` (process ${pid})`}\n`,
    );
