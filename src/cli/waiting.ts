// What a write waits for, told once on standard error.
import type { OnWait, Store } from '../store/store.ts';
import { printable } from './table.ts';

/** Says once that another process writes to the store. */
export const tellWait =
  (store: Store): OnWait =>
  (pid) =>
    void process.stderr.write(
      `bourse: waiting for another write to ${printable(store.name)} to end${pid === null ? '' : ` (process ${pid})`}\n`,
    );
