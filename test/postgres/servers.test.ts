// What `bourse status` and `bourse doctor` say of the server of a store: version, place, size, standby, how
// far it is behind (contract 10).
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { Workshop } from '../service.ts';
import { until } from '../until.ts';
import { writeMinutes } from './copying.ts';
import { type PostgresServer, skip, startPostgres } from './server.ts';

const shop = new Workshop();
const barFlags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

type Server = {
  readonly version: string;
  readonly place: string;
  readonly database_bytes: number;
  readonly standby: { readonly receiving: boolean; readonly behind_seconds: number | null } | null;
  readonly followers: readonly { readonly name: string; readonly behind_bytes: number | null }[];
};

const serverOf = async (url: string): Promise<Server> =>
  JSON.parse(await shop.must('status', '--json', '--store', url)).server as Server;

type Finding = { readonly state: string; readonly check: string; readonly message: string };

const findingsOf = async (url: string): Promise<Finding[]> =>
  JSON.parse((await shop.run('doctor', '--port', '0', '--json', '--store', url)).stdout) as Finding[];

suite('a primary and its standby', { skip }, () => {
  let primary: PostgresServer;
  let standby: PostgresServer;

  before(async () => {
    primary = await startPostgres();
    const file = writeMinutes(shop, 'minutes.csv', { symbols: ['AAPL'], days: 1, price: 100 });
    await shop.must('import', 'bars', file, ...barFlags, '--store', primary.url);
    standby = await primary.standby();
    await shop.must('undo', '1', '--store', primary.url);
  });
  after(async () => {
    shop.close();
    await standby.stop();
    await primary.stop();
  });

  test('status tells version, place and size, and whether the server is a standby', async () => {
    const first = await serverOf(primary.url);
    assert.match(first.version, /^PostgreSQL \d+/);
    assert.equal(first.place, `127.0.0.1:${primary.port}`);
    assert.ok(first.database_bytes > 1e6);
    assert.equal(first.standby, null);
    assert.equal(first.followers.length, 1);
    assert.match(first.followers[0]!.name, /127\.0\.0\.1/);
    const second = await serverOf(standby.url);
    assert.equal(second.place, `127.0.0.1:${standby.port}`);
    assert.equal(second.standby?.receiving, true);
    assert.deepEqual(second.followers, []);
    const text = await shop.must('status', '--store', standby.url);
    assert.match(text, /^server +PostgreSQL .* at 127\.0\.0\.1:\d+, a standby, \d+ s behind$/m);
    assert.match(text, /^database +\d/m);
    assert.match(text, /^tables +rows /m);
    assert.match(
      await shop.must('status', '--store', primary.url),
      /^server .* a primary, followed by 1 standby$/m,
    );
  });

  test('what is damaged is repaired by the tools of PostgreSQL, which messages name; a backup is made by them', async () => {
    const url = `${primary.url}?schema=damaged`;
    const file = shop.path('minutes.csv');
    await shop.must('import', 'bars', file, ...barFlags, '--store', url);
    const client = new pg.Client({ connectionString: primary.url });
    await client.connect();
    await client.query("update damaged.import_runs set file = 'other'");
    await client.end();
    const deep = await shop.run('doctor', '--deep', '--port', '0', '--store', url);
    assert.match(deep.stdout, /import_runs, row run_id 1: .*: restore a backup: pg_restore/);
    const listed = await shop.run('undo', '--store', url);
    assert.match(listed.stderr, /is not listed and cannot be undone; restore a backup: pg_restore/);
    for (const words of [['backup'], ['restore']]) {
      const { status, stderr } = await shop.run(...words, shop.path('a.backup'), '--store', url);
      assert.equal(status, 3);
      assert.match(stderr, /pg_dump and pg_restore.*bourse copy makes a file of one/);
      assert.doesNotMatch(deep.stdout + listed.stderr + stderr, /bourse restore/);
    }
  });

  test('who may not make a schema is told what to run, and works in one that was made for them', async () => {
    const client = new pg.Client({ connectionString: primary.url });
    await client.connect();
    await client.query('create role plain login');
    const url = `${primary.url.replace('bourse@', 'plain@')}?schema=given`;
    const file = shop.path('minutes.csv');
    const { status, stderr } = await shop.run('import', 'bars', file, ...barFlags, '--store', url);
    assert.equal(status, 3, stderr);
    const [, cure] = /this user may not make the schema given; .* run: (create schema .*)/.exec(stderr)!;
    const copied = await shop.run('copy', '--from', primary.url, '--to', url);
    assert.match(copied.stderr, /this user may not make the schema given/);
    await client.query(cure!);
    await client.query('create schema other authorization plain');
    await client.end();
    await shop.must('import', 'bars', file, ...barFlags, '--store', url);
    await shop.must('copy', '--from', url, '--to', url.replace('given', 'other'));
  });

  test('a standby that is behind says so, and one that lost its primary warns', async () => {
    const about = (found: readonly Finding[], check: string): string[] =>
      found.filter((one) => one.check === check).map(({ state, message }) => `${state}: ${message}`);
    const first = await findingsOf(primary.url);
    assert.match(about(first, 'server').join(), /^ok: PostgreSQL .*, a primary$/);
    assert.match(about(first, 'database').join(), /^ok: \d.* other schemas included$/);
    assert.match(about(first, 'replication').join(), /^ok: .* at 127\.0\.0\.1: \d.* behind$/);
    const second = await findingsOf(standby.url);
    assert.match(about(second, 'server').join(), /, a standby$/);
    assert.match(about(second, 'replication').join(), /^ok: 0 s behind$/);
    assert.match(about(second, 'writing').join(), /^warn: .*standby/);
    await primary.halt();
    await until('it receives', async () => (await serverOf(standby.url)).standby?.receiving === false);
    const alone = await findingsOf(standby.url);
    assert.match(
      about(alone, 'replication').join(),
      /^warn: it receives nothing from a primary; its last commit is \d+ s old$/,
    );
    await primary.resume();
  });
});
