// When keys were last used, as `bourse keys list` shows it: across workers and restarts (contract 7.3, 10).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

type Listed = { readonly name: string; readonly last_used: string | null };

/** When each key was last used, by its name. */
async function lastUses(): Promise<Record<string, string | null>> {
  const listed = JSON.parse(await shop.must('keys', 'list', '--json')) as Listed[];
  return Object.fromEntries(listed.map(({ name, last_used }) => [name, last_used]));
}

const pathFor = (key: string): string =>
  `/api/v2/holiday/holiday_codes/US?secret_key=${encodeURIComponent(key)}`;

test('keys list shows when each key was last used, also after a stop, by several workers and after a restart', async () => {
  // It makes the store.
  await (await shop.serve()).stop();
  const used = await shop.must('keys', 'create', 'used');
  await shop.must('keys', 'create', 'idle');
  const revoked = await shop.must('keys', 'create', 'revoked');
  assert.deepEqual(await lastUses(), { used: null, idle: null, revoked: null });

  for (const workers of ['1', '2']) {
    const server = await shop.serve('--workers', workers);
    const fromMs = Math.floor(Date.now() / 1_000) * 1_000;
    for (const key of [used, revoked]) assert.equal((await server.get(pathFor(key))).status, 200);
    assert.equal((await server.get(pathFor(`${used}x`))).status, 401);
    const toMs = Date.now();
    assert.equal(await server.stop(), 0);
    const { idle, ...others } = await lastUses();
    assert.equal(idle, null);
    for (const [name, last] of Object.entries(others)) {
      const lastMs = Date.parse(last!);
      assert.ok(fromMs <= lastMs && lastMs <= toMs, `${name}: ${last}, between ${fromMs} and ${toMs}`);
    }
  }
  const before = await lastUses();
  const listed = JSON.parse(await shop.must('keys', 'list', '--json')) as { id: string; name: string }[];
  await shop.must('keys', 'revoke', listed.find(({ name }) => name === 'revoked')!.id);
  const server = await shop.serve();
  assert.equal((await server.get(pathFor(revoked))).status, 401);
  await server.stop();
  assert.deepEqual(await lastUses(), before, 'neither a revocation nor a refused request is a use');
  const table = await shop.must('keys', 'list');
  assert.match(table, /^ID +NAME +SCOPE +STATE +CREATED +LAST USED +EXPIRES/);
  assert.ok(table.includes(before.used!), table);
});
