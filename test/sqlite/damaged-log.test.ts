// A write-ahead log that is damaged: what SQLite then takes for the end of the log comes earlier, and nothing
// tells. So keys are not left in it.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { readKeys } from '../../src/store/control.ts';
import { openControl } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';

const shop = new Workshop();
after(() => shop.close());

/**
 * Copies the store as a machine that stops leaves it, with a flipped bit in the log of its keys where there
 * is one. Gives the copy's address.
 */
function copyOf(name: string, at: number): string {
  mkdirSync(shop.path(name));
  for (const file of ['bourse.db', 'bourse.control.db', 'bourse.db-wal', 'bourse.control.db-wal'])
    if (existsSync(shop.path(file))) copyFileSync(shop.path(file), shop.path(`${name}/${file}`));
  const log = shop.path(`${name}/bourse.control.db-wal`);
  const bytes = existsSync(log) ? readFileSync(log) : Buffer.alloc(0);
  if (at < bytes.length) {
    bytes[at]! ^= 1;
    writeFileSync(log, bytes);
  }
  return `sqlite:${shop.path(`${name}/bourse.db`)}`;
}

test('a key that was revoked beside a service stays revoked, whatever bit of the log flips (contract 7.3)', async () => {
  const server = await shop.serve();
  const secret = await shop.must('keys', 'create', 'one');
  assert.equal((await server.get(`/api/v2/holiday/holiday_codes/US?secret_key=${secret}`)).status, 200);
  const [{ id }] = JSON.parse(await shop.must('keys', 'list', '--json')) as [{ id: string }];
  await shop.must('keys', 'revoke', id);
  for (const at of [8, 24, 40, 100, 5_000]) {
    const control = await openControl(copyOf(`copy-${at}`, at), 'read');
    assert.deepEqual(
      (await readKeys(control)).map(({ key_id, revoked_ms }) => [key_id, revoked_ms !== null]),
      [[id, true]],
      `byte ${at}`,
    );
    await control.close();
  }
  await server.stop();
});
