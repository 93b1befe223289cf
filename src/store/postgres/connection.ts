// Connections to the server that a process uses: the first of an address that is there and of the wanted
// kind, with its password and TLS. Those for transactions are a pool. And what to do about errors of reads
// and writes that failed.

import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import pg from 'pg';
import pgpass from 'pgpass';
import { storeLimits } from '../limits.ts';
import { type Mode, StoreFull, StoreUnavailable, StoreUnusable } from '../store.ts';
import { addressWords, type Host, type PostgresAddress } from './address.ts';
import { ConnectionLost, PostgresProblem, Session } from './session.ts';

const { connectMs, keepAlive, patienceMs, statementMs } = storeLimits;

/** The settings of the connections of one use of a store. */
type SessionSettings = {
  /** Settings of the session, by name. */
  readonly set: Readonly<Record<string, string | number>>;
  /** After so long without an answer a server counts as gone. */
  readonly patienceMs: number;
  readonly connectMs: number;
  /** Whether they write: then any server means one that may be written. */
  readonly writes?: true;
};

const patient = { patienceMs: Number.POSITIVE_INFINITY, connectMs: 10_000 } as const;

/** Values decide which index serves a list: each execution is planned by its own (`plan_cache_mode`). */
const planned = { plan_cache_mode: 'force_custom_plan' } as const;

/**
 * A list is a walk of an index that stops at the end of the page. PostgreSQL would collect and sort the rows
 * of one that it takes for small: more work the more a filter finds, and its guess is as old as its
 * statistics. A search for options, whose order no index has, is sorted all the same: PostgreSQL only takes a
 * sort for dearer than every walk. Blocks are sorted bucket by bucket along their index, so
 * `enable_incremental_sort` stays on. Plans are not compiled: a request is over sooner.
 */
const walking = { enable_bitmapscan: 'off', enable_seqscan: 'off', enable_sort: 'off', jit: 'off' } as const;

/** The settings of connections, for each use of a store. */
export const settingsOf: Readonly<Record<Mode, SessionSettings>> = {
  serve: {
    set: { ...planned, ...walking, statement_timeout: statementMs },
    patienceMs,
    connectMs,
  },
  read: { set: planned, ...patient },
  inspect: { set: {}, ...patient },
  write: { set: planned, writes: true, ...patient },
};

/** What `pg` has no public way to: the socket of a client, and the password that it found. */
type Internals = {
  readonly connection: { readonly stream: Duplex };
  password: string | (() => Promise<string | undefined>) | null;
};

/**
 * How the server looks whether the other side is there: in a pause, and while it does not take what was sent.
 */
const keptAlive = {
  tcp_keepalives_idle: keepAlive.idleS,
  tcp_keepalives_interval: keepAlive.intervalS,
  tcp_keepalives_count: keepAlive.count,
  tcp_user_timeout: (keepAlive.idleS + keepAlive.intervalS * keepAlive.count) * 1_000,
} as const;

/**
 * The password for one of the hosts: from the address, or the password file that it names; null where neither
 * has it.
 */
function passwordFor(address: PostgresAddress, { host, port }: Host): string | null {
  if (address.password !== null || address.passFile === null) return address.password;
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), address.database, address.user];
  for (const line of linesOf(address.passFile)) {
    const fields = [...line.matchAll(/(?:^|:)((?:\\.|[^:\\])*)/g)].map(([, field = '']) =>
      field.replace(/\\(.)/g, '$1'),
    );
    if (fields.length >= 5 && wanted.every((value, at) => fields[at] === '*' || fields[at] === value))
      return fields[4]!;
  }
  return null;
}

const READABLE_BY_OTHERS = 0o077;

/**
 * The lines of a password file (postgresql.org/docs/15/libpq-pgpass.html). @throws StoreUnusable where others
 * can read it
 */
function linesOf(file: string): string[] {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new StoreUnusable(`there is no password file ${file}`);
  if (process.platform !== 'win32' && (found.mode & READABLE_BY_OTHERS) !== 0)
    throw new StoreUnusable(`the password file ${file} can be read by others: run chmod 600 ${file}`);
  return readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The settings of TLS with one of the hosts. @throws StoreUnusable for a file that is not there */
const tlsOf = ({ sslMode, sslRootCert }: PostgresAddress, { host }: Host) => {
  if (sslMode === 'disable') return false;
  if (sslRootCert !== null && !existsSync(sslRootCert))
    throw new StoreUnusable(`there is no file ${sslRootCert}, which sslrootcert names`);
  const ca = sslRootCert === null ? {} : { ca: readFileSync(sslRootCert, 'utf8') };
  if (sslMode === 'require') return { rejectUnauthorized: false };
  // `verify-ca` trusts the certificate whatever name it has.
  return sslMode === 'verify-ca' ? { ...ca, checkServerIdentity: () => undefined } : { ...ca, host };
};

/** A server as it tells of itself: when it was started, in microseconds. */
type MetServer = {
  readonly server: string;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
};

/** True if a server is of the kind that an address wants (postgresql.org/docs/15/libpq-connect.html). */
function isWanted(
  { isStandby, isReadOnly }: MetServer,
  target: PostgresAddress['target'],
  isLastRound: boolean,
): boolean {
  switch (target) {
    case 'any':
      return true;
    case 'read-write':
      return !isReadOnly;
    case 'read-only':
      return isReadOnly;
    case 'primary':
      return !isStandby;
    case 'standby':
      return isStandby;
    case 'prefer-standby':
      return isStandby || isLastRound;
  }
}

/** The kind of server that a use of an address wants. One host is taken as it is. */
function targetOf(
  { target, hosts }: PostgresAddress,
  { writes }: { readonly writes?: true },
): PostgresAddress['target'] {
  const isOpen = target === 'any' || target === 'prefer-standby';
  return writes && isOpen && hosts.length > 1 ? 'read-write' : target;
}

/** What the server says that cannot be cured by waiting: the password, the user, the database. */
const refusing = /^(?:28|3D000|0A)/;

const factsText = `select (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as server,
  pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** The password for a connection in the user's own file; undefined without one. */
const passwordOfUser = (connection: Parameters<typeof pgpass>[0]): Promise<string | undefined> =>
  new Promise((resolve) => pgpass(connection, resolve));

/** A connection to one host, and what its server is. */
type Met = { readonly session: Session; readonly facts: MetServer };

async function connectTo(address: PostgresAddress, host: Host, settings: SessionSettings): Promise<Met> {
  const { user, database, schema } = address;
  const password = passwordFor(address, host);
  const set = { search_path: schema, application_name: 'bourse', ...keptAlive, ...settings.set };
  const client = new pg.Client({
    ...host,
    user,
    database,
    // Without one `pg` takes PGPASSWORD.
    ...(password === null ? {} : { password }),
    ssl: tlsOf(address, host),
    connectionTimeoutMillis: settings.connectMs,
    query_timeout: settings.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAlive.idleS * 1_000,
    options: Object.entries(set)
      .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
      .join(' '),
  });
  client.on('error', () => undefined);
  const internals = client as unknown as Internals;
  // `pg` would look into the user's password file too, and print that it will not do so for long.
  internals.password ??= () => passwordOfUser({ ...host, user, database });
  // TLS takes the place of the first socket.
  const socketOf = (): Duplex => internals.connection.stream;
  try {
    await client.connect();
    const [facts] = (await client.query<MetServer>(factsText)).rows;
    const stream = socketOf();
    for (const event of ['data', 'end', 'close', 'error']) stream.removeAllListeners(event);
    return { session: new Session(stream, settings.patienceMs, Number(facts!.server)), facts: facts! };
  } catch (error) {
    socketOf().destroy();
    throw error;
  }
}

const SERVER = 0;
const HOST = 1;

/**
 * The server that a process uses for an address: all connections of all its threads go to one, and move to
 * another together.
 */
class ChosenServer {
  /** When it was started, and which of the hosts it is. */
  readonly #shared: BigInt64Array;

  /** `name`: names the use that shares one server. */
  constructor(name: string) {
    const key = `bourse server of ${name}`;
    const known = getEnvironmentData(key) as SharedArrayBuffer | undefined;
    const memory = known ?? new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
    // Threads that are started later get it.
    if (known === undefined) setEnvironmentData(key, memory);
    this.#shared = new BigInt64Array(memory);
  }

  /** Names the run of the server, as `Session.server`; 0 before the first. */
  get server(): number {
    return Number(Atomics.load(this.#shared, SERVER));
  }

  /** The places of some hosts, in the order in which they are to be tried. */
  order(hosts: number): number[] {
    const first = Math.min(Number(Atomics.load(this.#shared, HOST)), hosts - 1);
    const places = Array.from({ length: hosts }, (_, at) => at);
    return [first, ...places.filter((at) => at !== first)];
  }

  /**
   * Chooses a server that was met on a host, in place of another. False where a third was chosen meanwhile.
   */
  choose(server: number, host: number, before: number): boolean {
    const found = Number(Atomics.compareExchange(this.#shared, SERVER, BigInt(before), BigInt(server)));
    if (found !== before && found !== server) return false;
    Atomics.store(this.#shared, HOST, BigInt(host));
    return true;
  }
}

/** Attempts at a connection to the chosen server while others choose another. */
const CHOICES_MAX = 5;

/**
 * Connects to the server that this process uses. @throws StoreUnavailable where none answers; StoreUnusable
 * where one refuses for good
 */
export async function connect(
  address: PostgresAddress,
  settings: SessionSettings,
  chosen: ChosenServer = serverOf(address, settings),
): Promise<Session> {
  for (let attempt = 1; attempt <= CHOICES_MAX; attempt++) {
    const before = chosen.server;
    const { session, host } = await connectToWanted(address, settings, chosen);
    if (chosen.choose(session.server, host, before)) return session;
    session.close();
  }
  throw new StoreUnavailable(`the servers of ${addressWords(address)} come and go`);
}

/**
 * The choice that a use of an address shares. Who may take any server follows those who write; standbys that
 * are preferred for reading are a use of their own.
 */
function serverOf(address: PostgresAddress, settings: SessionSettings): ChosenServer {
  const { user, hosts, database, schema } = address;
  const target = address.target === 'any' ? 'any' : targetOf(address, settings);
  return new ChosenServer(JSON.stringify([user, hosts, database, schema, target]));
}

type Place = { readonly address: PostgresAddress; readonly host: Host };

const password = 'give the right password: in the address, in PGPASSWORD, or in the file of passfile=';
const authority = 'name the file with the certificate of its authority: sslrootcert=FILE';

/**
 * Codes of PostgreSQL, of the system and of TLS, and beginnings of messages without one; the first that fits
 * is taken.
 */
const advices: readonly (readonly [said: RegExp, advice: (place: Place) => string])[] = [
  [/^28P01/, () => password],
  [/^\S* SASL: .*password/, () => password],
  [/^28000/, ({ address }) => `let ${address.user} log in: pg_hba.conf of the server, or alter role … login`],
  [/^3D000/, ({ address, host }) => `make it: ${createdb(address, host)}`],
  [/^53300/, () => 'end other connections, or raise max_connections of the server'],
  [/^57P0/, () => 'the server starts or stops: run the same command again in a moment'],
  [/SSL connections/, () => 'set ssl = on at the server, or add sslmode=disable if nobody can listen'],
  [/^ERR_TLS_CERT_ALTNAME/, () => 'name the server as its certificate does, or add sslmode=verify-ca'],
  [/^(?:CERT_HAS_EXPIRED|CERT_NOT_YET)/, () => 'renew the certificate of the server'],
  [/^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)/, () => authority],
  [/^ENOTFOUND|^EAI_/, () => 'correct the name of the host'],
  [/./, () => 'start it, or correct --store'],
];

const createdb = ({ user, database }: PostgresAddress, { host, port }: Host): string =>
  `createdb -h ${host} -p ${port} -O ${user} ${database}`;

/** An error of a connection, with what to do. */
function connectionProblem(error: unknown, place: Place): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const [, advice] = advices.find(([said]) => said.test(`${code} ${message}`))!;
  return `${message || code}: ${advice(place)}`;
}

/** Connects to the first wanted host, the chosen one before others. */
async function connectToWanted(
  address: PostgresAddress,
  settings: SessionSettings,
  chosen: ChosenServer,
): Promise<{ readonly session: Session; readonly host: number }> {
  const target = targetOf(address, settings);
  const problems: string[] = [];
  const rounds = target === 'prefer-standby' ? 2 : 1;
  for (let round = 1; round <= rounds; round++) {
    for (const at of chosen.order(address.hosts.length)) {
      const host = address.hosts[at]!;
      const place = `${host.host}:${host.port}`;
      try {
        const { session, facts } = await connectTo(address, host, settings);
        if (isWanted(facts, target, round === rounds)) return { session, host: at };
        session.close();
        problems.push(`${place} is not ${target}`);
      } catch (error) {
        if (error instanceof StoreUnusable) throw error;
        const problem = connectionProblem(error, { address, host });
        if (refusing.test((error as NodeJS.ErrnoException).code ?? ''))
          throw new StoreUnusable(`${addressWords(address)} cannot be opened: ${problem}`, { cause: error });
        problems.push(`${place}: ${problem}`);
      }
    }
  }
  throw new StoreUnavailable(`no server of ${addressWords(address)} can be used: ${problems.join('; ')}`);
}

/** A connection that is made at its first use, and made again after it was lost, with growing pauses. */
export class Connection {
  readonly #address: PostgresAddress;
  readonly #settings: SessionSettings;
  readonly #chosen: ChosenServer;
  #session: Promise<Session> | null = null;
  #open: Session | null = null;
  #pauseMs = 0;
  #failedMs = Number.NEGATIVE_INFINITY;
  #failure: unknown = null;
  #isClosed = false;

  constructor(address: PostgresAddress, settings: SessionSettings) {
    this.#address = address;
    this.#settings = settings;
    this.#chosen = serverOf(address, settings);
  }

  /** Statements that wait on it. */
  get waiting(): number {
    return this.#open?.waiting ?? 0;
  }

  /**
   * The open session, with the server that this process uses.
   * @throws StoreUnavailable at once where the last attempt failed a moment ago
   */
  session(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('the store was closed'));
    if (this.#session !== null && (this.#open === null || this.#isOfUse(this.#open))) return this.#session;
    if (performance.now() - this.#failedMs < this.#pauseMs) return Promise.reject(this.#failure);
    this.#open = null;
    this.#session = connect(this.#address, this.#settings, this.#chosen).then(
      (session) => {
        this.#pauseMs = 0;
        this.#open = session;
        return session;
      },
      (error: unknown) => {
        this.#session = null;
        this.#failedMs = performance.now();
        this.#pauseMs = Math.min(2_000, 2 * this.#pauseMs + 100) * (0.5 + Math.random() / 2);
        this.#failure = error;
        throw error;
      },
    );
    return this.#session;
  }

  /**
   * Whether a session can be used further. One with a server that this process has left ends when it has
   * answered.
   */
  #isOfUse(session: Session): boolean {
    if (session.server !== this.#chosen.server) session.close();
    return session.isOpen;
  }

  /** What asks for a session afterwards gets none. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#session?.catch(() => null);
    session?.close();
    // The server ends its side of the connection before a test removes its database.
    await sleep(0);
  }
}

/** Runs `work` on a connection of its own. */
export async function onSession<T>(
  address: PostgresAddress,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await connect(address, settingsOf.inspect);
  try {
    return await work(session);
  } catch (error) {
    throw readProblem(error);
  } finally {
    session.close();
  }
}

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

/**
 * Of a statement for which a disk of the server has no space (postgresql.org/docs/15/errcodes-appendix.html).
 */
const DISK_FULL = '53100';

const NOTHING_STORED = 'Nothing of what it was to store is stored';

/** The error of a command's read. */
export const readProblem = (error: unknown): unknown => lost(error, 'Run the same command again.');

/** The error of a write that was not published. */
export const writeProblem = (error: unknown): unknown =>
  lost(fullProblem(error, `${NOTHING_STORED}. `), `${NOTHING_STORED}: run the same command again.`);

/**
 * The error of a write to a copy, which keeps what it has stored; or to control tables, whose other errors
 * say enough.
 */
export const fullProblem = (error: unknown, stored = ''): unknown =>
  error instanceof PostgresProblem && error.code === DISK_FULL
    ? new StoreFull(
        `a disk of the PostgreSQL server is full: ${error.message}. ${stored}Free space there, then run the same command again.`,
        { cause: error },
      )
    : error;

/** The error of a lost connection with what to do; any other error as it is. */
const lost = (error: unknown, advice: string): unknown =>
  error instanceof ConnectionLost
    ? new StoreUnavailable(`${error.message}. ${advice}`, { cause: error })
    : error;
