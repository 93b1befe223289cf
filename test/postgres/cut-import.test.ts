// An import that loses its database at any moment: all of its file is stored or nothing, it says which, and
// it can be run again (contract 10).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { hashOf } from '../reliability/minutes.ts';
import { type Finished, Workshop } from '../service.ts';
import { barFlags, barsFile } from './asking.ts';
import { ServerProxy, type Way } from './proxy.ts';
import { type PostgresServer, skip, startPostgres } from './server.ts';

const PASSWORD = 'hunter2';
/** Cuts each way, evenly over an import; on a quiet machine a round takes half a second. */
const CUTS = 8;

const shop = new Workshop();
let server: PostgresServer;
let proxy: ServerProxy;
let client: pg.Client;
let made = 0;

/** The import that nobody could tell the end of: it takes half a minute, beside the others. */
let unknown: Promise<{ readonly url: string; readonly finished: Finished }>;

before(async () => {
  if (skip !== false) return;
  server = await startPostgres();
  proxy = await ServerProxy.before(server.port);
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('create database base');
  await shop.must('import', 'bars', barsFile(shop, 100), ...barFlags, '--store', urlOf('base'));
  unknown = importUntold();
});
after(async () => {
  shop.close();
  if (skip !== false) return;
  await client.end();
  await proxy.close();
  await server.stop();
});

const urlOf = (database: string): string => server.url.replace('/postgres', `/${database}`);

/** A copy of the first store. */
async function freshStore(): Promise<string> {
  const name = `copy${++made}`;
  await client.query(`create database ${name} template base`);
  return urlOf(name);
}

/** Imports a file that replaces bars and brings others. */
const importInto = (url: string): Promise<Finished> =>
  shop.run('import', 'bars', barsFile(shop, 200, 3), ...barFlags, '--store', url);

const throughProxy = (url: string): string => proxy.through(url).replace('bourse@', `bourse:${PASSWORD}@`);

/** What a client sends to commit: its first commit names the statement. */
const isCommit = (way: Way, bytes: Buffer): boolean => way === 'toServer' && bytes.includes('\0commit\0');

/** Passes a commit on; then nothing comes back, and further connections are refused for good. */
async function importUntold(): Promise<{ readonly url: string; readonly finished: Finished }> {
  const url = await freshStore();
  const own = await ServerProxy.before(server.port);
  let isSent = false;
  own.decide = (way, bytes) => {
    if (isSent && way === 'toClient') return { passed: 0, cut: 'both' };
    isSent ||= isCommit(way, bytes);
    if (isSent) own.refuse();
    return { passed: bytes.length };
  };
  const words = ['import', 'bars', barsFile(shop, 300), ...barFlags, '--store', own.through(url)];
  const finished = await shop.pipe('', ...words);
  await own.close();
  return { url, finished };
}

/** Blocks that no version shows, and whether somebody is said to write. */
async function leftovers(url: string): Promise<unknown> {
  const own = new pg.Client({ connectionString: url });
  await own.connect();
  const { rows } = await own.query(
    `select (select count(*)::int from bourse.bar_blocks b where b.version > s.version or s.abandoned @> b.version) as blocks, pending
      from bourse.store_state s`,
  );
  await own.end();
  return rows;
}

/** What an import may say that lost its database: before it writes, while it writes, and after its report. */
const LOST =
  /^bourse: (?:the connection to PostgreSQL is lost: .+\. (?:Nothing of what it was to store is stored: run|Run) the same command again\.|no server of postgres:\/\/.+ can be used: .+: start .+)\n$/;

/** The hashes before and after an import that nothing disturbs, and how many bytes it sends each way. */
async function undisturbed() {
  const url = await freshStore();
  const first = await hashOf(url);
  proxy.restore();
  const { status, stderr } = await importInto(throughProxy(url));
  assert.equal(status, 0, stderr);
  const last = await hashOf(url);
  assert.notEqual(last, first);
  return { first, last, passed: { ...proxy.passed } };
}

/** Checks what a disturbed import left, and that it can be run again. */
async function checkAfter(
  url: string,
  { status, stdout, stderr }: Finished,
  { first, last }: { readonly first: string; readonly last: string },
  what: string,
): Promise<void> {
  proxy.restore();
  assert.ok(!stderr.includes(PASSWORD), what);
  // A report is printed once the file is stored.
  const isStored = /\(run \d+/.test(stdout);
  assert.equal(await hashOf(url), isStored ? last : first, `${what}: ${status} ${stdout} ${stderr}`);
  assert.ok(isStored || status !== 0, what);
  if (status !== 0) {
    assert.equal(status, 3, what);
    assert.match(stderr, LOST, what);
    const again = await importInto(url);
    assert.equal(again.status, 0, `${what}: ${again.stderr}`);
    assert.equal(await hashOf(url), last, what);
  }
  assert.deepEqual(await leftovers(url), [{ blocks: 0, pending: null }], what);
}

for (const way of ['toServer', 'toClient'] as const satisfies readonly Way[])
  test(`an import whose connections end after any number of bytes ${way} stores all or nothing, and says so (contract 10)`, {
    skip,
  }, async () => {
    const { passed, ...hashes } = await undisturbed();
    const statuses = new Set<number>();
    for (let cut = 0; cut < CUTS; cut++) {
      const url = await freshStore();
      const bytes = Math.floor(((cut + 0.5) * passed[way]) / CUTS);
      // Where nobody can be asked of a commit, it takes half a minute to say so.
      proxy.cutAfter(way, bytes, cut < CUTS / 2);
      const finished = await importInto(throughProxy(url));
      await checkAfter(url, finished, hashes, `cut after ${bytes} of ${passed[way]} bytes ${way}`);
      statuses.add(finished.status);
    }
    assert.ok(statuses.has(3), 'an import was cut');
  });

/** Ways to lose a commit, and whether the file is stored then. */
const lostCommits: readonly {
  readonly what: string;
  readonly isStored: boolean;
  readonly decide: () => ServerProxy['decide'];
}[] = [
  {
    what: 'whose answer does not arrive',
    isStored: true,
    decide() {
      let isSent = false;
      return (way, bytes) => {
        if (isSent && way === 'toClient') {
          isSent = false;
          return { passed: 0, cut: 'both' };
        }
        isSent ||= isCommit(way, bytes);
        return { passed: bytes.length };
      };
    },
  },
  {
    what: 'that does not arrive',
    isStored: false,
    decide: () => (way, bytes) =>
      isCommit(way, bytes) ? { passed: 0, cut: 'both' } : { passed: bytes.length },
  },
  {
    what: 'that does not arrive, from a client that the server takes to be there',
    isStored: false,
    decide: () => (way, bytes) =>
      isCommit(way, bytes) ? { passed: 0, cut: 'client' } : { passed: bytes.length },
  },
];

for (const { what, isStored, decide } of lostCommits)
  test(`an import with a commit ${what} finds out, and says truly whether its file is stored (contract 10)`, {
    skip,
  }, async () => {
    const { passed: _, ...hashes } = await undisturbed();
    const url = await freshStore();
    proxy.decide = decide();
    const finished = await importInto(throughProxy(url));
    assert.equal(finished.status, isStored ? 0 : 3, finished.stderr);
    if (!isStored) assert.match(finished.stderr, /Nothing of what it was to store is stored/);
    await checkAfter(url, finished, hashes, what);
  });

test('an import that cannot find out whether its commit arrived says so, and can be run again (contract 10)', {
  skip,
}, async () => {
  const { url, finished } = await unknown;
  assert.equal(finished.status, 3);
  assert.match(finished.stderr, /while a write was being published.+Run the same command again/);
  assert.equal(finished.stdout, '');
  const again = await shop.run('import', 'bars', barsFile(shop, 300), ...barFlags, '--store', url);
  assert.equal(again.status, 0);
  assert.match(again.stdout, /1,560 unchanged/, 'it was stored');
});
