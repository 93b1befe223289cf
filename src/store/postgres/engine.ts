// The PostgreSQL engine: rows in transactions of one node, blocks by version from any shard
// (docs/decisions/0029).

import { KeptFormerRows } from '../former-rows.ts';
import { storeLimits } from '../limits.ts';
import {
  type BlockRead,
  type Change,
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
import { BlockCache, readBlocks } from './blocks.ts';
import { BlockConnections } from './citus.ts';
import { Connection, onSession, Pool, readProblem, settingsOf, writeProblem } from './connection.ts';
import { layoutsOf, requireSchema } from './layout.ts';
import {
  beginVersion,
  DataNames,
  type Identified,
  keepReplaced,
  StateQuestion,
  writePublished,
} from './publish.ts';
import { PostgresRows } from './rows.ts';
import type { Session } from './session.ts';
import { PostgresWriter } from './write.ts';

/** A short read went on after another version was published, or on another server: it begins again. */
class OtherVersion extends Error {
  override readonly name = 'OtherVersion';
}

/**
 * A short read that has begun so often is done in one transaction, as a long one: then nothing makes it begin
 * again.
 */
const BEGINNINGS_MAX = 4;

const isSameState = (one: Identified, other: Identified): boolean =>
  one.id === other.id && one.version === other.version && one.dataVersion === other.dataVersion;

/** Reads blocks and rows of one version. */
class PostgresReader extends PostgresRows implements Reader {
  readonly #moment: Moment;

  constructor(moment: Moment) {
    super(() => moment.session());
    this.#moment = moment;
  }

  /** Known once something was read. */
  get id(): string {
    return this.#moment.id;
  }

  blocks(read: BlockRead): Promise<StoredBlock[]> {
    const { cache } = this.#moment;
    return cache === null ? this.#readBlocks(read) : cache.read(this, read, (rest) => this.#readBlocks(rest));
  }

  async #readBlocks(read: BlockRead): Promise<StoredBlock[]> {
    const published = await this.#moment.published();
    return readBlocks(await this.#moment.blockSession(read.seriesId), read, published);
  }

  async version(): Promise<number> {
    return (await this.#moment.published()).dataVersion;
  }
}

/** One state of the store: a version, and a transaction of it once rows are read. */
class Moment {
  readonly #store: OpenStore;
  readonly #isLong: boolean;
  #published: Identified | null = null;
  #session: Promise<Session> | null = null;

  /** `published`: the version to read, null for the one that is found. */
  constructor(store: OpenStore, isLong: boolean, published: Identified | null = null) {
    this.#store = store;
    this.#isLong = isLong;
    this.#published = published;
  }

  /** Where its blocks may be kept. */
  get cache(): BlockCache | null {
    return this.#isLong ? null : this.#store.cachedBlocks;
  }

  /** Names its data, once these are known. */
  get id(): string {
    return this.#published?.id ?? '';
  }

  async published(): Promise<Identified> {
    if (this.#published === null && (this.#isLong || this.#session !== null)) await this.session();
    this.#published ??= await this.#store.question.now();
    return this.#published;
  }

  /** A long read reads blocks in its own transaction. */
  async blockSession(seriesId: number): Promise<Session> {
    if (this.#isLong) return this.session();
    const session = await this.#store.blocks.sessionFor(seriesId);
    if (session.server !== (await this.published()).server) throw new OtherVersion();
    return session;
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
        this.#store.identify(session),
      ]);
      const { version, id } = this.#published ?? published;
      if (version !== published.version || id !== published.id) throw new OtherVersion();
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
  readonly cachedBlocks = new BlockCache();
  readonly question: StateQuestion;
  readonly #mode: Mode;
  readonly #state: Connection;
  readonly blocks: BlockConnections;
  readonly #writing: Connection;
  readonly #names = new DataNames();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(address: PostgresAddress, mode: Mode) {
    const settings = settingsOf[mode];
    const connection = (): Connection => new Connection(address, settings);
    this.name = addressWords(address);
    this.#mode = mode;
    this.#state = connection();
    this.blocks = new BlockConnections(connection, () => this.#state.session());
    this.#writing = connection();
    this.rowSessions = new Pool(connection);
    this.question = new StateQuestion(() => this.#state.session().then((session) => this.identify(session)));
  }

  async open(address: PostgresAddress, tell: Tell): Promise<void> {
    const session = await this.#state.session();
    await requireSchema(session, address, this.#mode, tell);
    await this.version();
    if (this.#mode === 'serve') await this.blocks.learnShards();
  }

  /** The published version, as a session sees it. */
  identify(session: Session): Promise<Identified> {
    return this.#names.identify(session);
  }

  async version(): Promise<number> {
    const { id, dataVersion } = await this.question.now();
    this.id = id;
    return dataVersion;
  }

  /** Null where the data are others than those whose version was asked last. */
  changesAfter(version: number, max: number): Promise<readonly Change[] | null> {
    return this.snapshot(async (reader) => {
      const changes = await reader.changesAfter(version, max);
      return reader.id === this.id ? changes : null;
    });
  }

  async snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    try {
      return await this.#snapshot(work);
    } catch (error) {
      throw this.#mode === 'serve' ? error : readProblem(error);
    }
  }

  async #snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    // The version of a moment ago is most often still the present one: it is read while that is asked.
    let lately = this.#mode === 'serve' ? this.question.lately : null;
    for (let begun = 1; ; begun++) {
      const isLong = this.#mode !== 'serve' || begun >= BEGINNINGS_MAX;
      const present = lately === null ? null : this.question.now();
      const moment = new Moment(this, isLong, lately);
      const reading = Promise.try(work, new PostgresReader(moment));
      const problem = await reading.then(
        () => null,
        (error: unknown) => error,
      );
      const ending = moment.end();
      if (isLong) await ending;
      const isPresent = present === null || isSameState(await present, lately!);
      if (isPresent && !(problem instanceof OtherVersion)) return reading;
      lately = null;
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
    const [rows, blocks] = await Promise.all([this.#writing.session(), this.blocks.anySession()]);
    if (rows.server !== blocks.server) throw new StoreUnavailable(`the server of ${this.name} has changed`);
    const begin = async (): Promise<PostgresWriter> => {
      const { id, dataVersion } = await this.identify(rows);
      const former = new KeptFormerRows(dataVersion);
      return new PostgresWriter(id, { rows, blocks }, await beginVersion(rows), former);
    };
    return writePublished(rows, this.#state, { begin, work, onWait });
  }

  async close(): Promise<void> {
    await Promise.all([this.#state, this.#writing, this.blocks].map((one) => one.close()));
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

/** True if there is a store at an address. */
export const isPostgresMade = (address: PostgresAddress): Promise<boolean> =>
  onSession(address, async (session) => (await layoutsOf(session)) !== null);
