// Several serving processes on one port (contract 10), and what must hold on each of them (contract 7.3).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { patiently, type Server, Workshop } from '../../test/service.ts';
import { fileStore } from '../../test/sqlite/files.ts';

const shop = new Workshop();
after(() => shop.close());

/** Answers on connections of their own, so that every worker is asked. */
async function statuses(server: Server, key: string): Promise<Set<number>> {
  const path = `/api/v2/stock/bars/US:NONE/DAY/latest?secret_key=${key}`;
  const asked = Array.from({ length: 12 }, () =>
    patiently(() => server.get(path, { headers: { connection: 'close' } })),
  );
  const answers = await Promise.all(asked);
  await Promise.all(answers.map((answer) => answer.text()));
  return new Set(answers.map((answer) => answer.status));
}

test('a new key holds and a revoked one falls within five seconds on every worker, and all stop in order (contract 7.3, 10)', async () => {
  const server = await shop.serve('--workers', '2');
  const pids = (): Set<unknown> =>
    new Set(
      server.log
        .map((line) => JSON.parse(line) as { msg: string; pid?: number })
        .filter(({ msg }) => msg === 'listening')
        .map(({ pid }) => pid),
    );
  for (let waited = 0; pids().size < 2 && waited < 100; waited++) await sleep(100);
  assert.equal(pids().size, 2);
  const key = await shop.must('keys', 'create', 'workers');
  assert.deepEqual(await statuses(server, key), new Set([404]));
  const [listed] = JSON.parse(await shop.must('keys', 'list', '--json')) as { id: string }[];
  await shop.must('keys', 'revoke', listed!.id);
  const revokedMs = Date.now();
  while ([...(await statuses(server, key))].some((status) => status !== 401)) {
    assert.ok(Date.now() - revokedMs < 5_000, 'a revocation holds within 5 s');
    await sleep(200);
  }
  assert.equal(await server.stop(), 0);
});

test('workers that cannot start end with the status of one that cannot, and do not hang (contract 10)', async () => {
  const { status, stderr } = await shop.run(
    'serve',
    '--workers',
    '2',
    '--port',
    '0',
    '--store',
    fileStore('/dev/null/x.db'),
  );
  assert.notEqual(status, 0);
  assert.match(stderr, /^bourse: /);
});
