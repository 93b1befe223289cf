// What to do about a server that cannot be used, by what it or the network said.
import type { Host, PostgresAddress } from './address.ts';

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
