// Bytes that are not sent yet: who is at a bound waits for a new count, but not for long (contract 6.3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../contract/errors.ts';
import { UnsentBytes } from './unsent-bytes.ts';

const PATIENCE_MS = 120_000;

const endUnread = async (): Promise<boolean> => false;

test('a caller at its bound is refused although a new count does not end, as under overload (contract 6.3)', async () => {
  const unsent = new UnsentBytes({ perKeyMax: 100 });
  unsent.relieveWith({ recount: () => new Promise(() => undefined), endUnread });
  unsent.add('key', 100);
  const late = sleep(PATIENCE_MS, 'late', { ref: false });
  const refused = await Promise.race([unsent.admit('key', 10).catch((error: unknown) => error), late]);
  assert.ok(refused instanceof Refusal, String(refused));
  assert.equal(await Promise.race([unsent.isOwnerStillOver('key'), late]), true);
  (await unsent.admit('other', 10))();
});

test('a caller at its bound goes on where a new count finds that it has read', async () => {
  const unsent = new UnsentBytes({ perKeyMax: 100 });
  let counts = 0;
  const recount = async (): Promise<void> => {
    counts++;
    unsent.add('key', -100);
  };
  unsent.relieveWith({ recount, endUnread });
  unsent.add('key', 100);
  const release = await unsent.admit('key', 10);
  assert.deepEqual([counts, unsent.of('key')], [1, 10]);
  release();
  assert.equal(unsent.total, 0);
});

test('before a caller reaches its bound a look is begun, and nobody waits for it', async () => {
  const unsent = new UnsentBytes({ perKeyMax: 100 });
  let counts = 0;
  const recount = (): Promise<void> => {
    counts++;
    return new Promise(() => undefined);
  };
  unsent.relieveWith({ recount, endUnread });
  const few = await unsent.admit('key', 40);
  assert.equal(counts, 0);
  const many = await unsent.admit('key', 40);
  // A wait for the look would be one for a timer at least.
  const more = await Promise.race([
    unsent.admit('key', 1),
    new Promise<null>((resolve) => setImmediate(resolve, null)),
  ]);
  assert.ok(more !== null, 'it did not wait for the look');
  assert.equal(counts, 1);
  for (const release of [few, many, more]) release();
});
