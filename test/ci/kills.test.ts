// kill -9 of what serves: others go on, and a new start finds everything (contract 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Server, Workshop } from '../service.ts';
import { until } from '../until.ts';

const shop = new Workshop();
after(() => shop.close());

let path = '';
let answer = '';
before(async () => {
  const rows = Array.from({ length: 390 }, (_, minute) => {
    const at = new Date(Date.parse('2025-03-03T14:30:00Z') + minute * 60_000).toISOString();
    return `${at},1,3,0.5,2,10`;
  });
  writeFileSync(shop.path('aapl.csv'), ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  const named = ['--schema', 'stock', '--country', 'US', '--symbol', 'AAPL', '--interval', '1M'];
  await shop.must('import', 'bars', 'aapl.csv', ...named);
  const key = await shop.must('keys', 'create', 'kills');
  path = `/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03?limit=1000&format=csv&secret_key=${key}`;
});

/**
 * Asks on a connection of its own; the body, or null where the connection broke. @throws for any other answer
 * than the right one
 */
async function ask(server: Server): Promise<string | null> {
  let body: string;
  try {
    const reply = await server.get(path, { headers: { connection: 'close' } });
    body = await reply.text();
  } catch {
    return null;
  }
  answer ||= body;
  assert.equal(body, answer);
  return body;
}

/** Asks four at a time while `work` goes on; how many were answered, and how many broke. */
async function askDuring(
  server: Server,
  work: () => Promise<void>,
): Promise<{ answered: number; broken: number }> {
  const counts = { answered: 0, broken: 0 };
  let going = true;
  const askers = [1, 2, 3, 4].map(async () => {
    while (going) counts[(await ask(server)) === null ? 'broken' : 'answered']++;
  });
  try {
    await work();
  } finally {
    going = false;
    await Promise.all(askers);
  }
  return counts;
}

/** The processes of a server that still run. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('a worker that is killed is replaced, soon after its start too, while the other goes on (contract 10)', async () => {
  const server = await shop.serve('--workers', '2');
  await until('two workers', () => server.listeningPids.length === 2);
  for (const round of [3, 4]) {
    const { answered, broken } = await askDuring(server, async () => {
      process.kill(server.listeningPids.at(-1)!, 'SIGKILL');
      await until('a new worker', () => server.listeningPids.length === round);
    });
    assert.ok(answered > 0);
    // Each asker had at most one request with the worker that was killed.
    assert.ok(broken <= 4, `${broken} of ${answered + broken} requests broke`);
  }
  assert.equal(await server.stop(), 0);
});

test('a server that is killed while it answers leaves nothing that runs, and is started again as it was (contract 10)', async () => {
  for (const flags of [[], ['--workers', '2']]) {
    const server = await shop.serve(...flags);
    await until('all workers', () => server.listeningPids.length === Math.max(1, flags.length));
    await askDuring(server, async () => {
      await sleep(300);
      process.kill(server.pid, 'SIGKILL');
      await sleep(100);
    });
    await until('the end of every process', () => !server.listeningPids.some(isRunning));
  }
  const server = await shop.serve();
  assert.notEqual(await ask(server), null);
  assert.equal(await server.stop(), 0);
});
