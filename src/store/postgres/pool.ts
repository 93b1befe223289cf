// Sessions for transactions: each is used by one at a time.
import { storeLimits } from '../limits.ts';
import { StoreUnavailable } from '../store.ts';
import type { Connection } from './connecting.ts';
import type { Session } from './session.ts';

/** Connections that are made as they are needed, up to a bound; more transactions wait for one. */
export class Pool {
  readonly #make: () => Connection;
  readonly #all: Connection[] = [];
  readonly #free: Connection[] = [];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  readonly #used = new Map<Session, Connection>();
  #isClosed = false;

  constructor(make: () => Connection) {
    this.#make = make;
  }

  /** A session that nobody else uses. @throws StoreUnavailable */
  async take(): Promise<Session> {
    const connection = await this.#connection();
    try {
      const session = await connection.session();
      this.#used.set(session, connection);
      return session;
    } catch (error) {
      this.#release(connection);
      throw error;
    }
  }

  async #connection(): Promise<Connection> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#isClosed) throw new StoreUnavailable('the store was closed');
    if (this.#all.length < storeLimits.transactionsMax) {
      const made = this.#make();
      this.#all.push(made);
      return made;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the transaction of a session, and lets others use it. */
  async giveBack(session: Session): Promise<void> {
    const connection = this.#used.get(session);
    if (connection === undefined) return;
    this.#used.delete(session);
    if (session.isOpen) await session.ask('rollback').catch((error: Error) => session.destroy(error));
    this.#release(connection);
  }

  #release(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(connection);
    else next(connection);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#all.map((one) => one.close()));
  }
}
