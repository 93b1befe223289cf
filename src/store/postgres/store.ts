// The PostgreSQL engine: rows in transactions of one node, blocks by version from any shard (docs/decisions/0029).
import type { Dataset } from '../../datasets/dataset.ts';
import { changesAfter } from '../changes.ts';
import type { Damage, OnDamage } from '../damage.ts';
import { storeLimits } from '../limits.ts';
import type { Change } from '../parts.ts';
import {
  type BlockRead,
  type Mode,
  type OnWait,
  type Reader,
  type Store,
  type StoredBlock,
  StoreUnavailable,
  StoreUnusable,
  type Tell,
  type Writer,
} from '../store.ts';
import { addressWords, type PostgresAddress } from './address.ts';
import { readBlocks } from './blocks.ts';
import { Connection } from './connecting.ts';
import {
  processOf,
  readProblem,
  type ServerProcess,
  wasPublishedBefore,
  writeProblem,
} from './lost-write.ts';
import { Pool } from './pool.ts';
import type { Published } from './published.ts';
import { PostgresRows } from './rows.ts';
import { requireSchema } from './schema.ts';
import type { Session } from './session.ts';
import { settingsOf } from './settings.ts';
import {
  abandonWrite,
  beginVersion,
  keepReplaced,
  lockWrites,
  publish,
  readPublished,
  readStoreId,
  removeReplaced,
  unlockWrites,
} from './state.ts';
import { PostgresWriter } from './writer.ts';

/** A short read's rows were to be read after another version was published: the read begins again. */
class OtherVersion extends Error {
  override readonly name = 'OtherVersion';
}

/** Connections on which blocks are read. */
const BLOCK_CONNECTIONS = 2;

/** Reads blocks and rows of one version. */
class PostgresReader extends PostgresRows implements Reader {
  readonly #moment: Moment;

  constructor(moment: Moment, onDamage: OnDamage | null = null) {
    super(() => moment.session(), onDamage);
    this.#moment = moment;
  }

  override sound(onDamage: OnDamage): PostgresReader {
    return new PostgresReader(this.#moment, onDamage);
  }

  async blocks(read: BlockRead): Promise<StoredBlock[]> {
    const published = await this.#moment.published();
    return readBlocks(await this.#moment.blockSession(), read, published, this.onDamage);
  }

  async checkBlocks(): Promise<void> {}

  async structure(_dataset: Dataset): Promise<readonly Damage[]> {
    return [];
  }

  async version(): Promise<number> {
    return (await this.#moment.published()).dataVersion;
  }

  changesAfter(version: number, max: number): Promise<readonly Change[] | null> {
    return changesAfter(this, version, max);
  }
}

/** One state of the store: a version, and a transaction of it once rows are read. */
class Moment {
  readonly #store: OpenStore;
  readonly #isLong: boolean;
  #published: Published | null = null;
  #session: Promise<Session> | null = null;

  constructor(store: OpenStore, isLong: boolean) {
    this.#store = store;
    this.#isLong = isLong;
  }

  async published(): Promise<Published> {
    if (this.#published === null && (this.#isLong || this.#session !== null)) await this.session();
    this.#published ??= await this.#store.published();
    return this.#published;
  }

  /** A long read reads blocks in its own transaction. */
  blockSession(): Promise<Session> {
    return this.#isLong ? this.session() : this.#store.blockSession();
  }

  session(): Promise<Session> {
    this.#session ??= this.#begin();
    return this.#session;
  }

  async #begin(): Promise<Session> {
    const session = await this.#store.rowSessions.take();
    try {
      const [, , published] = await Promise.all([
        session.ask('begin isolation level repeatable read read only'),
        this.#isLong ? keepReplaced(session) : null,
        readPublished(session),
      ]);
      if (this.#published !== null && this.#published.version !== published.version) throw new OtherVersion();
      this.#published = published;
      return session;
    } catch (error) {
      await this.#store.rowSessions.giveBack(session);
      throw error;
    }
  }

  async end(): Promise<void> {
    const session = await this.#session?.catch(() => null);
    if (session != null) await this.#store.rowSessions.giveBack(session);
  }
}

/** The connections of an open store. */
class OpenStore implements Store {
  readonly name: string;
  readonly folder = null;
  readonly concurrency = storeLimits.transactionsMax;
  id = '';
  readonly rowSessions: Pool;
  readonly #mode: Mode;
  readonly #state: Connection;
  readonly #blocks: readonly Connection[];
  readonly #writing: Connection;
  #asked: Promise<Published> | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(address: PostgresAddress, mode: Mode) {
    const settings = settingsOf[mode];
    const connection = (): Connection => new Connection(address, settings);
    this.name = addressWords(address);
    this.#mode = mode;
    this.#state = connection();
    this.#blocks = Array.from({ length: BLOCK_CONNECTIONS }, connection);
    this.#writing = connection();
    this.rowSessions = new Pool(connection);
  }

  async open(address: PostgresAddress, tell: Tell): Promise<void> {
    const session = await this.#state.session();
    await requireSchema(session, address, this.#mode, tell);
    this.id = await readStoreId(session);
  }

  /** The published version: one question for all that is asked in a turn of the event loop. */
  published(): Promise<Published> {
    if (this.#asked === null) {
      this.#asked = this.#state.session().then(readPublished);
      this.#asked.catch(() => undefined);
      setImmediate(() => {
        this.#asked = null;
      });
    }
    return this.#asked;
  }

  blockSession(): Promise<Session> {
    const [first, ...others] = this.#blocks;
    return others.reduce((least, one) => (one.waiting < least.waiting ? one : least), first!).session();
  }

  async version(): Promise<number> {
    return (await this.published()).dataVersion;
  }

  changesAfter(version: number, max: number): Promise<readonly Change[] | null> {
    return this.snapshot((reader) => reader.changesAfter(version, max));
  }

  async snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    for (;;) {
      const moment = new Moment(this, this.#mode !== 'serve');
      try {
        return await work(new PostgresReader(moment));
      } catch (error) {
        if (!(error instanceof OtherVersion)) throw this.#mode === 'serve' ? error : readProblem(error);
      } finally {
        await moment.end();
      }
    }
  }

  write<T>(work: (writer: Writer) => Promise<T>, onWait: OnWait = () => undefined): Promise<T> {
    if (this.#mode !== 'write')
      return Promise.reject(new StoreUnusable(`${this.name} was opened for reading`));
    const done = this.#turn
      .then(() => this.#write(work, onWait))
      .catch((error: unknown) => {
        throw writeProblem(error);
      });
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #write<T>(work: (writer: Writer) => Promise<T>, onWait: OnWait): Promise<T> {
    const [rows, blocks] = await Promise.all([this.#writing.session(), this.blockSession()]);
    await lockWrites(rows, onWait);
    try {
      await removeReplaced(rows);
      return await this.#writeVersion(work, { rows, blocks }, await beginVersion(rows));
    } finally {
      // The lock of a lost connection is gone with it. A session that cannot give it back is ended.
      if (rows.isOpen)
        await rows
          .ask('rollback')
          .then(() => unlockWrites(rows))
          .catch((error: Error) => rows.destroy(error));
    }
  }

  async #writeVersion<T>(
    work: (writer: Writer) => Promise<T>,
    sessions: { readonly rows: Session; readonly blocks: Session },
    published: Published,
  ): Promise<T> {
    const { rows } = sessions;
    const [process] = await Promise.all([processOf(rows), rows.ask('begin')]);
    const writer = PostgresWriter.begin(sessions, published);
    try {
      const result = await work(writer);
      const next = await writer.end();
      await publish(rows, next);
      await this.#commit(rows, process, next.version);
      return result;
    } catch (error) {
      await writer.stop();
      if (rows.isOpen) {
        await rows.ask('rollback');
        await abandonWrite(rows);
      }
      throw error;
    }
  }

  /** Where the connection is lost at that moment, another one tells whether the version was published. */
  async #commit(rows: Session, process: ServerProcess, version: number): Promise<void> {
    try {
      await rows.commit();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (!(await wasPublishedBefore(this.#state, process, version))) throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#state, this.#writing, ...this.#blocks].map((one) => one.close()));
    await this.rowSessions.close();
  }
}

/** Opens the store of an address. */
export async function openPostgresStore(address: PostgresAddress, mode: Mode, tell: Tell): Promise<Store> {
  const store = new OpenStore(address, mode);
  try {
    await store.open(address, tell);
    return store;
  } catch (error) {
    await store.close();
    throw readProblem(error);
  }
}
