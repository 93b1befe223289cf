// A write that may only be a trial: it runs to its end, so that its report is the real one, and is then rolled back.
import type { OnWait, Store, Writer } from '../store/store.ts';

/** What an import, a deletion and an undo are all given. */
export type WriteRequest = {
  /** Reads and checks everything, and stores nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  readonly onWait?: OnWait;
};

/** Runs `work` in one write of the store and gives its result. The write is rolled back where `isTrial`. */
export async function writeOrTry<T>(
  store: Store,
  work: (writer: Writer) => Promise<{ readonly result: T; readonly isTrial: boolean }>,
  onWait?: OnWait,
): Promise<T> {
  const rollback = new Error('this write is only a trial');
  let result: T | undefined;
  try {
    await store.write(async (writer) => {
      const done = await work(writer);
      result = done.result;
      if (done.isTrial) throw rollback;
    }, onWait);
  } catch (error) {
    if (error !== rollback) throw error;
  }
  return result as T;
}
