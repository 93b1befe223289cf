// A write that may only be a trial: done to its end, so that its account is that of the real one, and then taken back.
import type { OnWait, Store, Writer } from '../store/store.ts';

/** Undoes the write and carries its result out of it. */
class Tried extends Error {
  readonly result: unknown;
  constructor(result: unknown) {
    super('tried');
    this.result = result;
  }
}

/** Runs `work` in one write of the store and gives its result; nothing else of it stays where it says that it was a trial. */
export async function writeOrTry<T>(
  store: Store,
  work: (writer: Writer) => Promise<{ readonly result: T; readonly isTrial: boolean }>,
  onWait?: OnWait,
): Promise<T> {
  try {
    return await store.write(async (writer) => {
      const { result, isTrial } = await work(writer);
      if (isTrial) throw new Tried(result);
      return result;
    }, onWait);
  } catch (error) {
    if (error instanceof Tried) return error.result as T;
    throw error;
  }
}
