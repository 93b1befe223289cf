// What a command says of a server that it cannot use: what is wrong, and what would be right (contract 10).
// And no password.
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { issue, withoutOpenssl } from '../certificates.ts';
import { hashOf } from '../reliability/minutes.ts';
import { Workshop } from '../service.ts';
import { barFlags, barsFile } from './asking.ts';
import { type PostgresServer, skip, startPostgres } from './server.ts';

const [PASSWORD, WRONG] = ['hunter2', 'letmein'];
const shop = new Workshop();
let server: PostgresServer;
let standby: PostgresServer;
let authority = '';

const ask = async (sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(sql);
  await client.end();
};

before(async () => {
  if (skip !== false) return;
  server = await startPostgres();
  const data = join(server.folder, 'data');
  const rules = join(data, 'pg_hba.conf');
  const first = [
    'host all locked all scram-sha-256',
    'host all outsider all reject',
    'hostssl all safe all trust',
    'host all safe all reject',
  ];
  writeFileSync(rules, `${first.join('\n')}\n${readFileSync(rules, 'utf8')}`);
  await ask(`create role locked login password '${PASSWORD}'; create role outsider login; create role safe login;
    create role barred; create role crowded login connection limit 0; select pg_reload_conf()`);
  await shop.must('import', 'bars', barsFile(shop, 100), ...barFlags, '--store', server.url);
  standby = await server.standby();
});
after(async () => {
  shop.close();
  if (skip !== false) return;
  await standby.stop();
  await server.stop();
});

/** The server's address for a user, with more behind it. */
const addressOf = (user: string, more = ''): string => server.url.replace('bourse@', `${user}@`) + more;

/** What an import says on standard error, where it fails with 3. */
async function told(store: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const words = ['import', 'bars', barsFile(shop, 100), ...barFlags, '--store', store];
  const { status, stdout, stderr } = await shop.runWith(environment, ...words);
  assert.deepEqual([status, stdout], [3, ''], stderr);
  assert.ok(![PASSWORD, WRONG].some((secret) => stderr.includes(secret)), 'a password is told');
  return stderr;
}

/** What is wrong, by its name: the address, and what is told of it. */
const refusals: Readonly<Record<string, readonly [address: () => string, said: RegExp]>> = {
  'a wrong password': [
    () => addressOf(`locked:${WRONG}`),
    /password authentication failed for user "locked": give the right password: in the address, in PGPASSWORD/,
  ],
  'no password': [
    () => addressOf('locked'),
    /password.*: give the right password: in the address, in PGPASSWORD/,
  ],
  'a user who is not let in': [() => addressOf('outsider'), /outsider.*: let outsider log in: pg_hba\.conf/],
  'a user who may not log in': [() => addressOf('barred'), /not permitted to log in: let barred log in/],
  'no such user': [() => addressOf('nobody'), /role "nobody" does not exist: let nobody log in/],
  'no such database': [
    () => server.url.replace('/postgres', '/prices'),
    /database "prices" does not exist: make it: createdb -h 127\.0\.0\.1 -p \d+ -O bourse prices\n$/,
  ],
  'no connection left': [
    () => addressOf('crowded'),
    /too many connections.*: end other connections, or raise/,
  ],
  'nobody who listens': [
    () => 'postgres://bourse@127.0.0.1:1/bourse',
    /127\.0\.0\.1:1\/bourse can be used: .*ECONNREFUSED.*: start it, or correct --store/,
  ],
  'no such host': [
    () => 'postgres://bourse@nowhere.invalid/bourse?sslmode=disable',
    /nowhere\.invalid:5432: .*ENOTFOUND.*: correct the name of the host/,
  ],
  'a server without TLS': [
    () => addressOf('bourse', '?sslmode=verify-full'),
    /does not support SSL connections: set ssl = on at the server, or add sslmode=disable/,
  ],
  'no such file of certificates': [
    () => addressOf('bourse', '?sslrootcert=/nowhere/root.crt&sslmode=verify-full'),
    /there is no file \/nowhere\/root\.crt/,
  ],
  'no such file of passwords': [
    () => addressOf('locked', '?passfile=/nowhere/pgpass'),
    /there is no password file \/nowhere\/pgpass/,
  ],
  'only a standby': [
    () => standby.url,
    /the server only reads: it is a standby\. Name the primary in --store, or every server: postgres:.*target_session_attrs=read-write/,
  ],
  'no primary among several': [() => standby.url.replace('@', '@127.0.0.1:1,'), /is not read-write/],
};

for (const [what, [address, said]] of Object.entries(refusals))
  test(`${what}: an import says what is wrong, and what would be right (contract 10)`, { skip }, async () => {
    assert.match(await told(address()), said);
  });

test('a service that cannot make its secret on a standby says so, and ends (contract 10)', {
  skip,
}, async () => {
  const { status, stderr } = await shop.pipe('', 'serve', '--port', '0', '--store', standby.url);
  assert.equal(status, 3);
  assert.match(stderr, /the server only reads: it is a standby\. Name the primary/);
});

test('a full disk of the server is named, and nothing is stored (contract 10)', { skip }, async () => {
  const store = ['--store', server.url];
  const before = await hashOf(server.url);
  // As the server says it where a table cannot grow.
  await ask(`create function full_disk() returns trigger language plpgsql as
    $$ begin raise exception using errcode = 'disk_full', message = 'could not extend file "base/5/1": No space left on device'; end $$;
    create trigger full_disk before insert on bourse.bar_blocks for each row execute function full_disk()`);
  const again = ['import', 'bars', barsFile(shop, 200), ...barFlags, ...store];
  const { status, stderr } = await shop.run(...again);
  assert.equal(status, 3);
  assert.match(
    stderr,
    /a disk of the PostgreSQL server is full: could not extend file .* Nothing of what it was to store is stored\. Free space there, then run the same command again\.$/m,
  );
  assert.equal(JSON.parse((await shop.run(...again, '--json')).stderr).error, 'disk_full');
  assert.equal(await hashOf(server.url), before);
  await ask('drop trigger full_disk on bourse.bar_blocks');
  await shop.must(...again);
  assert.notEqual(await hashOf(server.url), before);
});

test('a password is taken from the environment, and a wrong one there is told too (contract 10)', {
  skip,
}, async () => {
  assert.match(await told(addressOf('locked'), { PGPASSWORD: WRONG }), /password authentication failed/);
  const { stderr } = await shop.runWith({ PGPASSWORD: PASSWORD }, 'status', '--store', addressOf('locked'));
  assert.doesNotMatch(stderr, /password/);
});

test('a certificate that is not trusted, or of another name, is told with what would be right (contract 10)', {
  skip: skip || withoutOpenssl,
}, async () => {
  const data = join(server.folder, 'data');
  const { uid, gid } = statSync(data);
  const { cert, key } = issue(data, 'server', 'DNS:db.example.com');
  for (const file of [cert, key]) chownSync(file, uid, gid);
  chmodSync(key, 0o600);
  authority = shop.path('root.crt');
  writeFileSync(authority, readFileSync(cert));
  appendFileSync(
    join(data, 'postgresql.conf'),
    `ssl = on\nssl_cert_file = '${cert}'\nssl_key_file = '${key}'\n`,
  );
  await ask('select pg_reload_conf()');
  assert.match(
    await told(addressOf('safe', '?sslmode=verify-full')),
    /: name the file with the certificate of its authority: sslrootcert=FILE/,
  );
  const trusted = `sslrootcert=${authority}`;
  assert.match(
    await told(addressOf('safe', `?sslmode=verify-full&${trusted}`)),
    /: name the server as its certificate does, or add sslmode=verify-ca/,
  );
  assert.match(
    await told(addressOf('safe')),
    /pg_hba\.conf rejects connection.*no encryption: let safe log in/,
  );
  for (const mode of [`verify-ca&${trusted}`, 'require'])
    assert.match(
      await told(addressOf('safe', `?schema=other&sslmode=${mode}`)),
      /this user may not make the schema other; as an owner of the database run: create schema other authorization "safe"/,
      'it is connected',
    );
});
