// The control thread, called from here: reads, adds, fails, starts again, ends (contract 7.3).
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openControl } from '../../store/engines.ts';
import { issueKey, noTerms, revokeKey } from './api-keys.ts';
import { ControlClient } from './control-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-control-'));
const storeUrl = `sqlite:${join(folder, 'bourse.db')}`;
after(() => rmSync(folder, { recursive: true }));

test('the thread gives the keys as they are now, and the counts of all', async () => {
  const client = new ControlClient(storeUrl);
  assert.deepEqual(await client.keys(), []);
  const control = await openControl(storeUrl, 'write');
  const { key } = await issueKey(control, 'new', { ...noTerms, perDay: 10 }, Date.now());
  await control.close();
  assert.deepEqual(await client.keys(), [key]);
  const use = { key_id: key.key_id, span: 'day', from_ms: 0, used: 3 };
  assert.deepEqual(await Promise.all([client.addQuotaUses([use]), client.addQuotaUses([use])]), [
    [use],
    [{ ...use, used: 6 }],
  ]);
  await client.close();
  assert.deepEqual(readdirSync(folder), ['bourse.control.db'], 'its connections were closed');
});

test('the keys are the same list until one of them changes, whenever they are used (contract 7.3)', async () => {
  const client = new ControlClient(storeUrl);
  const control = await openControl(storeUrl, 'write');
  const { key } = await issueKey(control, 'kept', noTerms, Date.now());
  const first = await client.keys();
  const use = { key_id: key.key_id, last_used_ms: Date.now() };
  await client.addKeyUses([use]);
  assert.equal(await client.keys(), first);
  await revokeKey(control, key.key_id, Date.now());
  const second = await client.keys();
  assert.deepEqual(
    second.map(({ key_id, revoked_ms }) => [key_id, revoked_ms === null]),
    first.map(({ key_id, revoked_ms }) => [key_id, revoked_ms === null && key_id !== key.key_id]),
  );
  await issueKey(control, 'newest', noTerms, Date.now());
  const third = await client.keys();
  assert.equal(third.length, second.length + 1);
  assert.equal(await client.keys(), third);
  await control.close();
  await client.close();
});

test('a thread that cannot open the control file fails its calls, and the next call tries anew', async () => {
  const path = join(folder, 'broken.control.db');
  mkdirSync(path);
  const client = new ControlClient(`sqlite:${join(folder, 'broken.db')}`);
  await Promise.all([
    assert.rejects(client.keys(), /broken\.control\.db/),
    assert.rejects(client.addQuotaUses([]), /broken\.control\.db/),
  ]);
  rmSync(path, { recursive: true });
  assert.deepEqual(await client.keys(), []);
  await client.close();
});

test('a client that was never asked has nothing to close', () => new ControlClient(storeUrl).close());
