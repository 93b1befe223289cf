// The errors of connections, reads and writes that failed: what is stored, and what to do.
import { StoreFull, StoreUnavailable } from '../store.ts';
import type { Host, PostgresAddress } from './address.ts';
import { ConnectionLost, PostgresProblem } from './session.ts';

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
  [/^28000/, ({ address }) => `let ${address.user} in, by pg_hba.conf of the server or alter role … login`],
  [/^3D000/, ({ address, host }) => `make it: ${createdb(address, host)}`],
  [/^53300/, () => 'end other connections, or raise max_connections of the server'],
  [/^57P0/, () => 'the server starts or stops: run the same command again in a moment'],
  [/SSL connections/, () => 'set ssl = on at the server, or add sslmode=disable where nobody can listen'],
  [/^ERR_TLS_CERT_ALTNAME/, () => 'name the server as its certificate does, or add sslmode=verify-ca'],
  [/^(?:CERT_HAS_EXPIRED|CERT_NOT_YET)/, () => 'renew the certificate of the server'],
  [/^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_)/, () => authority],
  [/^ENOTFOUND|^EAI_/, () => 'correct the name of the host'],
  [/./, () => 'start it, or correct --store'],
];

const createdb = ({ user, database }: PostgresAddress, { host, port }: Host): string =>
  `createdb -h ${host} -p ${port} -O ${user} ${database}`;

/** An error of a connection, with what to do. */
export function connectionProblem(error: unknown, place: Place): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const [, advice] = advices.find(([said]) => said.test(`${code} ${message}`))!;
  return `${message || code}: ${advice(place)}`;
}
