// A write that may only be a trial: it runs to its end, so that its report is the real one, and is then
// rolled back.
import type { OnWait, Store, Writer } from '../store/store.ts';

/** The request of any import, deletion or undo. */
export type WriteRequest = {
  /** Reads and checks everything, and stores nothing. */
  readonly dryRun: boolean;
  readonly nowMs: () => number;
  readonly onWait?: OnWait;
  /** Is told now and then how many rows were read, or undone, or deleted; of bars, how many bars. */
  readonly onRows?: (rows: number) => void;
};

/** What a write gives, and whether it was only a trial. */
type Tried<T> = { readonly result: T; readonly isTrial: boolean };

/** Runs `work` in one write of the store and gives its result. The write is rolled back where `isTrial`. */
export async function writeOrTry<T>(
  store: Store,
  work: (writer: Writer) => Promise<Tried<T>>,
  onWait?: OnWait,
): Promise<T> {
  return (await unlessTrial(work, (run) => store.write(run, onWait))).result;
}

/** As `writeOrTry`, as one part of a write that goes on. */
export const partOrTry = <T>(writer: Writer, work: () => Promise<Tried<T>>): Promise<Tried<T>> =>
  unlessTrial(work, (run) => writer.savepoint(() => run(writer)));

async function unlessTrial<T>(
  work: (writer: Writer) => Promise<Tried<T>>,
  write: (run: (writer: Writer) => Promise<void>) => Promise<void>,
): Promise<Tried<T>> {
  const rollback = new Error('this write is only a trial');
  let done: Tried<T> | undefined;
  try {
    await write(async (writer) => {
      done = await work(writer);
      if (done.isTrial) throw rollback;
    });
  } catch (error) {
    if (error !== rollback) throw error;
  }
  return done as Tried<T>;
}
