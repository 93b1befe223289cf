// When keys were last used: one write a minute, by several processes, over failures and wrong clocks
// (contract 7.3).
import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { TestFolder } from '../../../test/stores.ts';
import type { Observation } from '../../base/observe.ts';
import { limits } from '../../contract/limits.ts';
import { addKeyUses, type KeyUse, readKeys } from '../../store/control.ts';
import { openControl } from '../../store/engines.ts';
import { issueKey, KeyRing, noTerms, revokeKey } from './api-keys.ts';
import { KeyUses } from './quotas.ts';

const temporary = new TestFolder();
const storeUrl = temporary.storeUrl();
// An opening each, as workers have them.
const control = await openControl(storeUrl, 'write');
const other = await openControl(storeUrl, 'write');
after(async () => {
  await control.close();
  await other.close();
  temporary.close();
});

const NOON = Date.parse('2025-03-03T12:00:00Z');
const MINUTE_MS = 60_000;

const newKey = async (): Promise<{ secret: string; id: string }> => {
  const { secret, key } = await issueKey(control, 'key', noTerms, NOON);
  return { secret, id: key.key_id };
};

const lastUse = async (id: string): Promise<number | null> =>
  (await readKeys(other)).find(({ key_id }) => key_id === id)!.last_used_ms;

const add = (uses: readonly KeyUse[], nowMs = NOON + MINUTE_MS): Promise<void> =>
  addKeyUses(other, uses, () => nowMs);

test('an accepted key is noted; one that is wrong, expired or revoked is not', async () => {
  const noted: string[] = [];
  const ring = new KeyRing(() => readKeys(control), { note: (id, nowMs) => noted.push(`${id} ${nowMs}`) });
  const good = await newKey();
  const gone = await newKey();
  await revokeKey(control, gone.id, NOON);
  const short = await issueKey(control, 'short', { ...noTerms, expiresMs: NOON + 5 }, NOON);
  for (const secret of [good.secret, gone.secret, short.secret, 'wrong']) await ring.verify(secret, NOON + 5);
  assert.deepEqual(noted, [`${good.id} ${NOON + 5}`]);
});

test('a thousand requests cost one write a minute, and a stop writes what is left', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const written: (readonly KeyUse[])[] = [];
  const addUses = async (uses: readonly KeyUse[]): Promise<void> => void written.push(uses);
  const uses = new KeyUses({ addUses, observe: () => assert.fail('nothing fails') });
  for (let at = 0; at < 1_000; at++) uses.note(`key${at % 2}`, NOON + at);
  mock.timers.tick(limits.keyUseWriteMs - 1);
  assert.equal(written.length, 0);
  mock.timers.tick(1);
  assert.deepEqual(written, [
    [
      { key_id: 'key0', last_used_ms: NOON + 998 },
      { key_id: 'key1', last_used_ms: NOON + 999 },
    ],
  ]);
  mock.timers.tick(10 * limits.keyUseWriteMs);
  assert.equal(written.length, 1, 'without requests nothing is written');
  uses.note('key0', NOON + 2_000);
  await uses.close();
  assert.deepEqual(written[1], [{ key_id: 'key0', last_used_ms: NOON + 2_000 }]);
  mock.timers.reset();
});

test('uses that could not be written are a fault in the log, and are written a minute later', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const observed: Observation[] = [];
  let isBroken = true;
  const { id } = await newKey();
  const uses = new KeyUses({
    addUses: (some) => (isBroken ? Promise.reject(new Error('disk')) : add(some)),
    observe: (observation) => observed.push(observation),
  });
  uses.note(id, NOON);
  mock.timers.tick(limits.keyUseWriteMs);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    observed.map((one) => one.kind === 'fault' && one.where),
    ['key uses'],
  );
  assert.equal(await lastUse(id), null);
  isBroken = false;
  mock.timers.tick(limits.keyUseWriteMs);
  await uses.close();
  mock.timers.reset();
  assert.equal(await lastUse(id), NOON);
});

test('a use that is noted while a write fails is not replaced by the earlier one', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const failing = Promise.withResolvers<void>();
  const written: (readonly KeyUse[])[] = [];
  const uses = new KeyUses({
    addUses: (some) => (written.push(some) === 1 ? failing.promise : Promise.resolve()),
    observe: () => undefined,
  });
  uses.note('key', NOON);
  mock.timers.tick(limits.keyUseWriteMs);
  uses.note('key', NOON + 1);
  failing.reject(new Error('disk'));
  await uses.close();
  mock.timers.reset();
  assert.deepEqual(written, [
    [{ key_id: 'key', last_used_ms: NOON }],
    [{ key_id: 'key', last_used_ms: NOON + 1 }],
  ]);
});

test('of the uses that several processes write, the newest stays', async () => {
  const { id } = await newKey();
  for (const last_used_ms of [NOON + 5, NOON + 3, NOON + 7, NOON + 6])
    await add([{ key_id: id, last_used_ms }]);
  assert.equal(await lastUse(id), NOON + 7);
});

test('a use that a wrong clock wrote, after now, does not stay', async () => {
  const { id } = await newKey();
  await add([{ key_id: id, last_used_ms: NOON + 86_400_000 }]);
  await add([{ key_id: id, last_used_ms: NOON }]);
  assert.equal(await lastUse(id), NOON);
});

test('writing a use changes nothing else of a key, and a key that is gone is ignored', async () => {
  const { id } = await newKey();
  const revoked = await revokeKey(control, id, NOON + 1);
  await add([
    { key_id: id, last_used_ms: NOON },
    { key_id: 'gone', last_used_ms: NOON },
  ]);
  const keys = await readKeys(control);
  assert.deepEqual(
    keys.find(({ key_id }) => key_id === id),
    { ...revoked, last_used_ms: NOON },
  );
  assert.ok(!keys.some(({ key_id }) => key_id === 'gone'));
});
