// Several serving processes on one port (contract 10), and what must hold on each of them (contract 7.3).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Server, Workshop } from '../../../test/service.ts';
import { fileStore } from '../../../test/sqlite/files.ts';
import { until } from '../../../test/until.ts';

const shop = new Workshop();
after(() => shop.close());

/** Answers on connections of their own, so that every worker is asked. */
async function statuses(server: Server, key: string): Promise<Set<number>> {
  const path = `/api/v2/stock/bars/US:NONE/DAY/latest?secret_key=${key}`;
  const asked = Array.from({ length: 12 }, () => server.get(path, { headers: { connection: 'close' } }));
  const answers = await Promise.all(asked);
  await Promise.all(answers.map((answer) => answer.text()));
  return new Set(answers.map((answer) => answer.status));
}

test('a new key holds at once and a revoked one falls on every worker, and all stop in order (contract 7.3, 10)', async () => {
  const server = await shop.serve('--workers', '2');
  await until('both workers listen', () => new Set(server.listeningPids).size === 2);
  const key = await shop.must('keys', 'create', 'workers');
  assert.deepEqual(await statuses(server, key), new Set([404]));
  const [listed] = JSON.parse(await shop.must('keys', 'list', '--json')) as { id: string }[];
  await shop.must('keys', 'revoke', listed!.id);
  await until('no worker takes the key', async () =>
    [...(await statuses(server, key))].every((status) => status === 401),
  );
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
