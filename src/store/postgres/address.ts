// The address of a PostgreSQL store, and what it says of servers and connections:
// `postgres://user@host1,host2:5433/database?target_session_attrs=read-write`, as libpq takes it.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { StoreUnusable, UnknownStoreAddress } from '../store.ts';

/** One server of an address. */
export type Host = { readonly host: string; readonly port: number };

const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
const targets = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

export type PostgresAddress = {
  readonly hosts: readonly Host[];
  readonly user: string;
  /** From the address alone; `passwordFor` looks elsewhere. */
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
    throw unfit('has a % that no two hexadecimal digits follow');
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
  if (found === undefined) throw unfit(`has ${name}=${value}, which is none of ${choices.join(', ')}`);
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
    throw unfit(`has the schema ${schema}, which is no plain name`);
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

/**
 * The password for one of the hosts: from the address, or the password file that it names; null where neither
 * has it.
 */
export function passwordFor(address: PostgresAddress, { host, port }: Host): string | null {
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
export const tlsOf = ({ sslMode, sslRootCert }: PostgresAddress, { host }: Host) => {
  if (sslMode === 'disable') return false;
  if (sslRootCert !== null && !existsSync(sslRootCert))
    throw new StoreUnusable(`there is no file ${sslRootCert}, which sslrootcert names`);
  const ca = sslRootCert === null ? {} : { ca: readFileSync(sslRootCert, 'utf8') };
  if (sslMode === 'require') return { rejectUnauthorized: false };
  // `verify-ca` trusts the certificate whatever name it has.
  return sslMode === 'verify-ca' ? { ...ca, checkServerIdentity: () => undefined } : { ...ca, host };
};

/** A server as it tells of itself: when it was started, in microseconds. */
export type MetServer = {
  readonly server: string;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
};

/** True if a server is of the kind that an address wants (postgresql.org/docs/15/libpq-connect.html). */
export function isWanted(
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
export function targetOf(
  { target, hosts }: PostgresAddress,
  { writes }: { readonly writes?: true },
): PostgresAddress['target'] {
  const isOpen = target === 'any' || target === 'prefer-standby';
  return writes && isOpen && hosts.length > 1 ? 'read-write' : target;
}
