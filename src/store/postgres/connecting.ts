// Connects to one of the servers of an address: the first that is there and of the wanted kind.
import { readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StoreUnavailable, StoreUnusable } from '../store.ts';
import { addressWords, type Host, type PostgresAddress, passwordFor } from './address.ts';
import { Session } from './session.ts';

/** How the connections of one use of a store are. */
export type SessionSettings = {
  /** Settings of the session, by name. */
  readonly set: Readonly<Record<string, string | number>>;
  /** After so long without an answer a server counts as gone. */
  readonly patienceMs: number;
  readonly connectMs: number;
};

/** `pg` keeps the socket of a client here, and has no public way to it. */
type Internals = { readonly connection: { readonly stream: Duplex } };

/** What the server says that cannot be cured by waiting: the password, the user, the database. */
const refusing = /^(?:28|3D000|0A)/;

const tlsOf = ({ sslMode, sslRootCert }: PostgresAddress, { host }: Host) => {
  if (sslMode === 'disable') return false;
  const ca = sslRootCert === null ? {} : { ca: readFileSync(sslRootCert, 'utf8') };
  if (sslMode === 'require') return { rejectUnauthorized: false };
  // `verify-ca` trusts the certificate whatever name it has.
  return sslMode === 'verify-ca' ? { ...ca, checkServerIdentity: () => undefined } : { ...ca, host };
};

async function connectTo(address: PostgresAddress, host: Host, settings: SessionSettings): Promise<Session> {
  const { user, database, schema } = address;
  const password = passwordFor(address, host);
  const set = { search_path: schema, application_name: 'bourse', ...settings.set };
  const client = new pg.Client({
    ...host,
    user,
    database,
    // Without one `pg` looks where libpq does: PGPASSWORD, then the file of PGPASSFILE or ~/.pgpass.
    ...(password === null ? {} : { password }),
    ssl: tlsOf(address, host),
    connectionTimeoutMillis: settings.connectMs,
    keepAlive: true,
    options: Object.entries(set)
      .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
      .join(' '),
  });
  client.on('error', () => undefined);
  await client.connect();
  const { stream } = (client as unknown as Internals).connection;
  for (const event of ['data', 'end', 'close', 'error']) stream.removeAllListeners(event);
  return new Session(stream, settings.patienceMs);
}

/** Whether a server is of the kind that an address wants (postgresql.org/docs/15/libpq-connect.html). */
async function isWanted(
  session: Session,
  target: PostgresAddress['target'],
  isLastRound: boolean,
): Promise<boolean> {
  if (target === 'any' || (target === 'prefer-standby' && isLastRound)) return true;
  const [[isStandby, readOnly]] = (await session.ask(
    "select pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'",
  )) as unknown as [[boolean, boolean]];
  switch (target) {
    case 'read-write':
      return !readOnly;
    case 'read-only':
      return readOnly;
    case 'primary':
      return !isStandby;
    case 'standby':
    case 'prefer-standby':
      return isStandby;
  }
}

/** Connects to the first wanted server. @throws StoreUnavailable where none answers; StoreUnusable where one refuses for good */
export async function connect(address: PostgresAddress, settings: SessionSettings): Promise<Session> {
  const problems: string[] = [];
  const rounds = address.target === 'prefer-standby' ? 2 : 1;
  for (let round = 1; round <= rounds; round++) {
    for (const host of address.hosts) {
      const place = `${host.host}:${host.port}`;
      try {
        const session = await connectTo(address, host, settings);
        if (await isWanted(session, address.target, round === rounds)) return session;
        session.close();
        problems.push(`${place} is not ${address.target}`);
      } catch (error) {
        const { code = '', message } = error as NodeJS.ErrnoException;
        if (refusing.test(code))
          throw new StoreUnusable(`${addressWords(address)} cannot be opened: ${message}`, { cause: error });
        problems.push(`${place}: ${message || code}`);
      }
    }
  }
  throw new StoreUnavailable(`no server of ${addressWords(address)} can be used: ${problems.join('; ')}`);
}

/** A connection that is made at its first use, and made again after it was lost, with growing pauses. */
export class Connection {
  readonly #address: PostgresAddress;
  readonly #settings: SessionSettings;
  #session: Promise<Session> | null = null;
  #open: Session | null = null;
  #pauseMs = 0;
  #failedMs = Number.NEGATIVE_INFINITY;
  #failure: unknown = null;
  #isClosed = false;

  constructor(address: PostgresAddress, settings: SessionSettings) {
    this.#address = address;
    this.#settings = settings;
  }

  /** Statements that wait on it. */
  get waiting(): number {
    return this.#open?.waiting ?? 0;
  }

  /** The open session. @throws StoreUnavailable at once where the last attempt failed a moment ago */
  session(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('the store was closed'));
    if (this.#session !== null && (this.#open === null || this.#open.isOpen)) return this.#session;
    if (performance.now() - this.#failedMs < this.#pauseMs) return Promise.reject(this.#failure);
    this.#open = null;
    this.#session = connect(this.#address, this.#settings).then(
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

  /** What asks for a session afterwards gets none. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#session?.catch(() => null);
    session?.close();
    // The server ends its side of the connection before a test removes its database.
    await sleep(0);
  }
}
