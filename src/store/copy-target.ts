// The place of a copy before it is a store (`copy.ts`): each engine has one, in which nobody else sees
// anything.
import type { Reader, RowStore, RowWriter, Writer } from './store.ts';

/** The writer of a copy: it takes rows and blocks as they are. */
export type CopyWriter = RowWriter & Pick<Writer, 'putBlock' | 'removeBlock'>;

/**
 * A store to be, at an address where none is. Nobody opens it before it is finished; what was written stays
 * when the copy is cut off.
 */
export interface CopyTarget {
  /** The name of the store in messages: no password. */
  readonly name: string;
  /** Whether an earlier copy into it was cut off. */
  readonly isBegun: boolean;
  /** Reads what was written. */
  readonly reader: Reader;
  /**
   * Writes part of the copy, which stays from then on. Versions and changes are rows like all others here.
   * @throws DiskFull, StoreUnavailable
   */
  write<T>(work: (writer: CopyWriter) => Promise<T>): Promise<T>;
  /** The keys, quota uses and secrets of the store to be. */
  readonly control: RowStore;
  /** Makes it the store of its address, at once. @throws WouldReplace where one was made meanwhile */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** The message where a copy would go to a store. */
export const storeInTheWay = (name: string): string =>
  `there is a store at ${name}: a copy makes a new one; name another place`;
