// The control tables of a store in PostgreSQL: keys, quota uses and secrets. Their writes are short and wait
// for no import.
import type { Mode, RowReader, RowStore, RowWriter, Tell } from '../store.ts';
import type { PostgresAddress } from './address.ts';
import { Connection, connect, fullProblem, Pool, readProblem, settingsOf } from './connection.ts';
import { requireSchema } from './layout.ts';
import { lockOf } from './publish.ts';
import { PostgresRows } from './rows.ts';

/** Requests wait on control tables as on others. */
const settings = { ...settingsOf.serve, set: {} };

/** Opens the control tables. */
export async function openPostgresControl(
  address: PostgresAddress,
  mode: Mode,
  tell: Tell,
): Promise<RowStore> {
  const pool = new Pool(
    () => new Connection(address, mode === 'write' ? { ...settings, writes: true } : settings),
  );
  // An update takes longer than a key is waited for.
  const opening = await connect(address, settingsOf[mode]);
  try {
    await requireSchema(opening, address, mode, tell);
  } catch (error) {
    await pool.close();
    throw readProblem(error);
  } finally {
    opening.close();
  }
  return {
    snapshot: (work) => inTransaction(pool, 'begin isolation level repeatable read read only', work),
    write: (work) => inTransaction(pool, 'begin', work, true),
    close: () => pool.close(),
  };
}

async function inTransaction<T>(
  pool: Pool,
  begin: string,
  work: (rows: RowReader & RowWriter) => Promise<T>,
  isWrite = false,
): Promise<T> {
  const session = await pool.take();
  try {
    await session.ask(begin);
    if (isWrite) await session.ask(`select pg_advisory_xact_lock(${lockOf('control')})`);
    const rows = new PostgresRows(async () => session);
    const result = await work(rows);
    await rows.sendAll();
    if (isWrite) await session.commit();
    return result;
  } catch (error) {
    throw isWrite ? fullProblem(error) : error;
  } finally {
    await pool.giveBack(session);
  }
}
