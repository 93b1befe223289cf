// The address of a PostgreSQL store:
// `postgres://user@host1,host2:5433/database?target_session_attrs=read-write`, as libpq takes it.
import { UnknownStoreAddress } from '../store.ts';

/** One server of an address. */
export type Host = { readonly host: string; readonly port: number };

const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const targets = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

export type PostgresAddress = {
  readonly hosts: readonly Host[];
  readonly user: string;
  /** From the address alone; `passwordFor` (`connection.ts`) looks elsewhere. */
  readonly password: string | null;
  readonly database: string;
  /** The schema with the tables. */
  readonly schema: string;
  readonly target: (typeof targets)[number];
  readonly sslMode: (typeof sslModes)[number];
  /** The file of the certificates that are trusted; null: those of the system. */
  readonly sslRootCert: string | null;
  readonly passFile: string | null;
};

const EXAMPLE = 'postgres://bourse@db.example.com/bourse';
const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = 'bourse';

const unfit = (problem: string): UnknownStoreAddress =>
  new UnknownStoreAddress(`the address of the store ${problem}: write it as ${EXAMPLE}`);

/** Whether a host is this machine: a folder is a socket of it. */
const isLocal = (host: string): boolean =>
  host.startsWith('/') || ['localhost', '127.0.0.1', '::1'].includes(host);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unfit('has a % without two hexadecimal digits after it');
  }
}

function hostOf(text: string): Host {
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? decoded(plain);
  if (host === '') throw unfit('names no host');
  return { host, port: port === undefined ? DEFAULT_PORT : Number(port) };
}

function choiceOf<T extends string>(
  name: string,
  value: string | undefined,
  choices: readonly T[],
): T | null {
  if (value === undefined) return null;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw unfit(`has ${name}=${value}, which is not one of ${choices.join(', ')}`);
  return found;
}

const parameters = ['schema', 'target_session_attrs', 'sslmode', 'sslrootcert', 'passfile'];

function parametersOf(query: string): Readonly<Record<string, string>> {
  const found = Object.fromEntries(new URLSearchParams(query));
  const unknown = Object.keys(found).find((name) => !parameters.includes(name));
  if (unknown !== undefined)
    throw unfit(`has the parameter ${unknown}; it may have ${parameters.join(', ')}`);
  return found;
}

/** Reads what follows `postgres:` in an address. @throws UnknownStoreAddress */
export function readPostgresAddress(rest: string): PostgresAddress {
  const parts = /^\/\/(?:([^:@/]*)(?::(.*))?@)?([^@/?]*)\/([^/?]*)(?:\?(.*))?$/s.exec(rest);
  if (parts === null) throw unfit('cannot be read');
  const [, user = '', password, hosts = '', database = '', query = ''] = parts;
  if (user === '') throw unfit('names no user');
  if (database === '') throw unfit('names no database');
  const found = parametersOf(query);
  const named = hosts.split(',').map(hostOf);
  const schema = found.schema ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw unfit(`has the schema ${schema}, which is not a plain name`);
  return {
    hosts: named,
    user: decoded(user),
    password: password === undefined ? null : decoded(password),
    database: decoded(database),
    schema,
    target: choiceOf('target_session_attrs', found.target_session_attrs, targets) ?? 'any',
    sslMode:
      choiceOf('sslmode', found.sslmode, sslModes) ??
      (named.every(({ host }) => isLocal(host)) ? 'disable' : 'verify-full'),
    sslRootCert: found.sslrootcert ?? null,
    passFile: found.passfile ?? null,
  };
}

/** An address for messages: without a password. */
export function addressWords({ hosts, user, database, schema }: PostgresAddress): string {
  const places = hosts.map(({ host, port }) => {
    const name = host.includes(':') ? `[${host}]` : encodeURIComponent(host).replaceAll('%2F', '/');
    return port === DEFAULT_PORT ? name : `${name}:${port}`;
  });
  const asked = schema === DEFAULT_SCHEMA ? '' : `?schema=${schema}`;
  return `postgres://${encodeURIComponent(user)}@${places.join()}/${encodeURIComponent(database)}${asked}`;
}
