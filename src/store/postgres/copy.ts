// A store in PostgreSQL while it is made as a copy: its tables without the one that makes them a store
// (docs/decisions/0032).

import { type CopyTarget, storeInTheWay } from '../copy.ts';
import { dataDatasets } from '../schema/index.ts';
import { StoreUnavailable, type Tell, WouldReplace } from '../store.ts';
import { addressWords, type PostgresAddress } from './address.ts';
import { connect, fullProblem, settingsOf } from './connection.ts';
import { beginCopyTables, finishCopyTables, layoutsOf, makeSchema } from './layout.ts';
import { lockOf, lockWrites, noteOrigin, type Versions } from './publish.ts';
import { PostgresRows } from './rows.ts';
import type { Session } from './session.ts';
import { PostgresWriter } from './write.ts';

/** The version of the blocks of a copy: the first one, which a new store has published. */
const copied: Versions = { version: 1, abandoned: [] };

/** Runs `work` in a transaction of a session. */
const inTransaction = <T>(session: Session, work: () => Promise<T>): Promise<T> =>
  session.transaction(work).catch((error: unknown) => {
    throw fullProblem(error);
  });

/** Refuses the tables of a store, and makes those of a copy; true where an earlier copy made them. */
async function begin(session: Session, address: PostgresAddress, tell: Tell): Promise<boolean> {
  const name = addressWords(address);
  await makeSchema(session, address);
  // One copy at a time; the lock is the session's.
  await lockWrites(session, () => tell(`waiting for another write to ${name} to end`));
  if ((await layoutsOf(session)) !== null) throw new WouldReplace(storeInTheWay(name));
  return beginCopyTables(session, address);
}

/** Planners know new tables only by these. */
async function analyze(session: Session): Promise<void> {
  for (const name of ['bar_blocks', ...dataDatasets.map((one) => one.name)])
    await session.ask(`analyze "${name}"`);
}

/** Begins a copy into the tables of an address, or goes on with one. */
export async function openPostgresCopyTarget(address: PostgresAddress, tell: Tell): Promise<CopyTarget> {
  const rows = await connect(address, settingsOf.write);
  let blocks: Session | null = null;
  const close = async (): Promise<void> => {
    rows.close();
    blocks?.close();
  };
  try {
    const isBegun = await begin(rows, address, tell);
    blocks = await connect(address, settingsOf.write);
    if (rows.server !== blocks.server)
      throw new StoreUnavailable(`the server of ${addressWords(address)} has changed`);
    // What a copy that was cut off sent last may still be on its way: its session has this lock until then.
    await blocks.ask(`select pg_advisory_lock(${lockOf('copied')})`);
    const writer = new PostgresWriter(addressWords(address), { rows, blocks }, copied, null);
    const control = new PostgresRows(async () => rows);
    return {
      name: addressWords(address),
      isBegun,
      reader: writer,
      write: (work) =>
        inTransaction(rows, async () => {
          const result = await work(writer);
          await writer.flush();
          return result;
        }),
      control: {
        snapshot: (work) => inTransaction(rows, () => work(control)),
        write: (work) =>
          inTransaction(rows, async () => {
            const result = await work(control);
            await control.sendAll();
            return result;
          }),
        close,
      },
      async finish() {
        await analyze(rows);
        await inTransaction(rows, async () => {
          await noteOrigin(rows);
          await finishCopyTables(rows);
        });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
