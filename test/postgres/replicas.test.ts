// A service and an importer with replicas: answers of a standby are whole, and a standby that takes over is
// found by itself (contract 10).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { hashOf } from '../reliability/minutes.ts';
import { type Server, Workshop } from '../service.ts';
import { until } from '../until.ts';
import { Asking, barFlags, barsFile, checkLog } from './asking.ts';
import { ServerProxy } from './proxy.ts';
import { type PostgresServer, skip, startPostgres } from './server.ts';

const shop = new Workshop();
const servers: PostgresServer[] = [];
let primary: PostgresServer;
let standby: PostgresServer;

before(async () => {
  if (skip !== false) return;
  primary = await startPostgres();
  servers.push(primary);
  await importBars(100, primary.url);
  // The first service of a store makes the secret of its page keys.
  await (await shop.serve('--store', primary.url)).stop();
  standby = await primary.standby();
  servers.push(standby);
});
after(async () => {
  shop.close();
  for (const one of servers.toReversed()) await one.stop();
});

const importBars = (price: number, url: string): Promise<string> =>
  shop.must('import', 'bars', barsFile(shop, price), ...barFlags, '--store', url);

async function ask(server: PostgresServer, sql: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query({ text: sql, rowMode: 'array' });
  await client.end();
  return rows as unknown[][];
}

async function untilReplayed(): Promise<void> {
  const [[at]] = (await ask(primary, 'select pg_current_wal_insert_lsn()::text')) as [[string]];
  const isDone = `select pg_last_wal_replay_lsn() >= '${at}'`;
  await until('the standby is behind', async () => (await ask(standby, isDone))[0]![0] === true);
}

const WALK = '/api/v2/stock/bars/US:AAPL/1M/from/2025-02-03/to/2025-02-05?limit=200';

/** The prices of the bars in an answer. */
const pricesIn = (text: string): number[] => [
  ...new Set([...text.matchAll(/"open":([\d.]+)/g)].map(([, open]) => Number(open))),
];

/** The prices of the pages of one walk, each of one state; null where a page could not be read now. */
async function pricesOfWalk(serving: Server, key: string): Promise<number[] | null> {
  const prices: number[] = [];
  for (let more = ''; ; ) {
    const response = await serving.getOnce(WALK + more, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    if (response.status === 503) return null;
    assert.equal(response.status, 200, text);
    const found = pricesIn(text);
    assert.equal(found.length, 1, `bars of two imports in one answer: ${found.join()}`);
    prices.push(found[0]!);
    const [, next] = /"next_page_key":"([^"]+)"/.exec(text) ?? [];
    if (next === undefined) return prices;
    more = `&next_page_key=${next}`;
  }
}

test('a service that reads from a standby answers from one state, and never from an older one than before (contract 10)', {
  skip,
}, async () => {
  const key = await shop.must('keys', 'create', 'reader', '--store', primary.url);
  await untilReplayed();
  const fromMs = performance.now();
  const serving = await shop.serve('--store', standby.url);
  let isOver = false;
  let walks = 0;
  const seen: number[] = [];
  const read = async (): Promise<void> => {
    while (!isOver) {
      const prices = await pricesOfWalk(serving, key);
      if (prices === null) continue;
      walks++;
      seen.push(...prices);
    }
  };
  const reading = read();
  const last = 104;
  for (let price = 101; price <= last; price++) await importBars(price, primary.url);
  await untilReplayed();
  assert.deepEqual(await pricesOfWalk(serving, key), [last, last, last, last]);
  await until('nothing is read', () => walks > 2);
  isOver = true;
  await reading;
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  checkLog(serving.log, [key], performance.now() - fromMs);
  await serving.stop();
});

/** Kills every process of a server, as a machine that loses its power does. */
async function kill(server: PostgresServer): Promise<void> {
  const pids = await ask(server, 'select pid from pg_stat_activity where pid <> pg_backend_pid()');
  process.kill(server.pid, 'SIGSTOP');
  for (const [pid] of pids) {
    try {
      process.kill(pid as number, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  await server.halt('SIGKILL');
}

for (const arrives of [false, true])
  test(`a primary that dies under load and in an import, ${arrives ? 'after' : 'before'} its commit arrives: with the standby promoted the service is well, and the import says truly what became of it (contract 10)`, {
    skip,
  }, async (t) => {
    const proxy = await ServerProxy.before(primary.port);
    t.after(() => proxy.close());
    const hosts = (first: number): string =>
      `postgres://bourse@127.0.0.1:${first},127.0.0.1:${standby.port}/postgres?target_session_attrs=read-write`;
    const [price, next] = arrives ? [400, 500] : [200, 300];
    await importBars(price, primary.url);
    const first = await hashOf(primary.url);
    const key = await shop.must('keys', 'create', 'caller', '--store', primary.url);
    await untilReplayed();
    const fromMs = performance.now();
    const serving = await shop.serve('--store', hosts(primary.port));
    const asking = new Asking(serving, key);
    await asking.untilWell();
    const dead = Promise.withResolvers<void>();
    proxy.decide = (way, bytes) => {
      if (way !== 'toServer' || !bytes.includes('\0commit\0')) return { passed: bytes.length };
      proxy.decide = () => ({ passed: 0, cut: 'both' });
      proxy.refuse();
      setImmediate(() => void kill(primary).then(dead.resolve, dead.reject));
      return { passed: arrives ? bytes.length : 0 };
    };
    const words = ['import', 'bars', barsFile(shop, next), ...barFlags, '--store'];
    const importing = shop.pipe('', ...words, hosts(proxy.port));
    try {
      await dead.promise;
      await asking.untilAway();
      await ask(standby, 'select pg_promote()');
      await asking.untilWell();
    } finally {
      await asking.end();
    }
    const { status, stdout, stderr } = await importing;
    asking.checkAlways();
    for (const { target, status: found, body } of asking.answers)
      if (found === 200 && target.startsWith('/api/v2/stock/bars')) {
        const prices = pricesIn(body);
        assert.ok(prices.length === 1 && [price, next].includes(prices[0]!), `${target}: ${prices.join()}`);
      }
    checkLog(serving.log, [key], performance.now() - fromMs);
    const isStored = status === 0;
    assert.equal((await hashOf(standby.url)) !== first, isStored, `${status} ${stdout} ${stderr}`);
    if (!isStored)
      assert.match(stderr, /Nothing of what it was to store is stored: run the same command again/);
    assert.ok(arrives || !isStored);
    await shop.must(...words, hosts(primary.port));
    assert.deepEqual(await pricesOfWalk(serving, key), [next, next, next, next]);
    await serving.stop();
    primary = standby;
    if (!arrives) {
      standby = await primary.standby();
      servers.push(standby);
    }
  });
