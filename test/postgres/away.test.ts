// A service that loses its database: it says so while that lasts, never hangs, and comes back by itself
// (contract 6.3, 9.3).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { Workshop } from '../service.ts';
import { until } from '../until.ts';
import { Asking, barFlags, barsFile, causesIn, checkLog } from './asking.ts';
import { ServerProxy } from './proxy.ts';
import { skip, startPostgres } from './server.ts';

const PASSWORD = 'hunter2';
const shop = new Workshop();
const server = skip !== false ? null : await startPostgres();
const proxy = server === null ? null : await ServerProxy.before(server.port);
after(async () => {
  shop.close();
  await proxy?.close();
  await server?.stop();
});

/** A service on the server, through the proxy, as an ordinary user; its key, which has a quota. */
async function served() {
  await sql('create role plain login; grant create on database postgres to plain');
  const store = ['--store', proxy!.through(server!.url).replace('bourse@', `plain:${PASSWORD}@`)];
  await shop.must('import', 'bars', barsFile(shop, 100), ...barFlags, ...store);
  const key = await shop.must('keys', 'create', 'me', '--per-minute', '100000', ...store);
  return { serving: await shop.serve(...store), key };
}
const service = skip !== false ? null : await served();

/** Asks the server itself. */
async function sql(text: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: server!.url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows as unknown[][];
  } finally {
    await client.end();
  }
}

/** The processes that serve the connections of the service. */
const backends = async (): Promise<number[]> =>
  (
    await sql("select pid from pg_stat_activity where application_name = 'bourse' order by backend_start")
  ).map(([pid]) => pid as number);

/** Ends the connections of the service. */
const terminate = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'bourse'";

/** A way to lose the database. */
type Loss = {
  readonly what: string;
  /** Whether the service comes back while it lasts. */
  readonly isSurvived?: true;
  /** Whether it lasts until the keys of the service hold no more. */
  readonly outlastsKeys?: true;
  readonly lose: () => Promise<unknown>;
  readonly restore: () => Promise<unknown>;
  /** What the log says. */
  readonly cause: RegExp;
};

let frozen: readonly number[] = [];
const freeze = (pids: readonly number[]): void => {
  frozen = pids;
  for (const pid of frozen) process.kill(pid, 'SIGSTOP');
};
const thaw = async (): Promise<void> => {
  for (const pid of frozen) process.kill(pid, 'SIGCONT');
  frozen = [];
};
const restore = async (): Promise<void> => proxy!.restore();

const losses: readonly Loss[] = [
  {
    what: 'a server that is stopped at once, and started again',
    lose: () => server!.halt('SIGQUIT'),
    restore: () => server!.resume(),
    cause: /ECONNREFUSED|connection|terminat/,
  },
  {
    what: 'a server whose processes are all frozen',
    lose: async () => freeze([...(await backends()), server!.pid]),
    restore: thaw,
    cause: /no answer within|timeout/,
  },
  {
    what: 'a network that is silent for longer than keys hold',
    outlastsKeys: true,
    lose: async () => proxy!.silence(),
    restore,
    cause: /no answer within|timeout/,
  },
  {
    what: 'connections that are reset, and refused then',
    async lose() {
      proxy!.refuse();
      proxy!.reset();
    },
    restore,
    cause: /ECONNRESET|ended/,
  },
  {
    what: 'a user who may not log in any more',
    lose: () => sql('alter role plain nologin').then(() => sql(terminate)),
    restore: () => sql('alter role plain login'),
    cause: /not permitted to log in|terminat/,
  },
  {
    what: 'a server that has no connection left',
    lose: () => sql('alter role plain connection limit 0').then(() => sql(terminate)),
    restore: () => sql('alter role plain connection limit -1'),
    cause: /too many connections|terminat/,
  },
  {
    what: 'a process of the server that is killed, upon which it begins anew',
    isSurvived: true,
    lose: async () => process.kill((await backends())[0]!, 'SIGKILL'),
    restore,
    // It may be done before a request meets it.
    cause: /^$|connection|terminat|starting up|in recovery/,
  },
  {
    what: 'processes of the server that are frozen, each with its connection',
    isSurvived: true,
    lose: async () => freeze(await backends()),
    restore: thaw,
    cause: /no answer within|timeout/,
  },
  {
    what: 'connections that the network has forgotten',
    isSurvived: true,
    lose: async () => proxy!.abandon(),
    restore,
    cause: /no answer within|timeout/,
  },
];

for (const { what, isSurvived, outlastsKeys, lose, restore: end, cause } of losses)
  test(`${what}: 503 while it lasts, and well again by itself (contract 6.3, 9.3)`, { skip }, async () => {
    const { serving, key } = service!;
    const asking = new Asking(serving, key);
    const [since, fromMs] = [serving.log.length, performance.now()];
    const causes = (): string => causesIn(serving.log.slice(since)).join('\n');
    const untilLogged = () =>
      until(
        () => `logged as the cause: ${causes()}`,
        () => cause.test(causes()),
      );
    try {
      await asking.untilWell();
      await lose();
      if (isSurvived) await asking.untilWell();
      else {
        await asking.untilAway();
        await untilLogged();
        if (outlastsKeys) await untilKeysAway();
      }
    } finally {
      await end();
    }
    await asking.untilWell();
    await asking.end();
    asking.checkAlways();
    await untilLogged();
    checkLog(serving.log.slice(since), [PASSWORD, key], performance.now() - fromMs);
  });

/** Waits until the service holds no keys any more: until then it knows that another is wrong. */
const untilKeysAway = (): Promise<unknown> =>
  until('keys hold', async () => {
    const headers = { authorization: `Bearer ${'none'.repeat(10)}` };
    const response = await service!.serving.getOnce('/api/v2/economic_calendar/event_codes/US', { headers });
    await response.text();
    return response.status === 503;
  });

test('a service whose database is silent stops at SIGTERM, and one that starts says why it cannot (contract 10)', {
  skip,
}, async () => {
  const { serving } = service!;
  const store = ['--store', proxy!.through(server!.url).replace('bourse@', `plain:${PASSWORD}@`)];
  proxy!.silence();
  const stopped = serving.stop();
  const started = shop.pipe('', 'serve', '--port', '0', ...store);
  assert.equal(await stopped, 0);
  const { status, stderr } = await started;
  assert.equal(status, 3);
  assert.match(
    stderr,
    /no server of postgres:\/\/plain@.+ can be used: .+ timeout.*: start it, or correct --store/,
  );
  assert.ok(!stderr.includes(PASSWORD));
});
