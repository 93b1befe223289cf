// Keys: issued once, kept as hashes, revoked and expired in time (contract 7.1 to 7.4).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf, TestFolder } from '../../../test/stores.ts';
import { limits } from '../../contract/limits.ts';
import { putKey, readKeys } from '../../store/control.ts';
import { openControl } from '../../store/engines.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { isLive, issueKey, KeyRing, noTerms, replaceKey, revokeKey } from './api-keys.ts';

const temporary = new TestFolder();
const storeUrl = temporary.storeUrl();
// Two openings of one file, as `bourse keys` and a server have them.
const control = await openControl(storeUrl, 'write');
const served = await openControl(storeUrl, 'write');
after(async () => {
  await control.close();
  await served.close();
  temporary.close();
});

const NOW = Date.parse('2025-03-03T12:00:00Z');

test('a key is 256 random bits in 43 characters that need no encoding in a URL (contract 7.2, 7.3)', async () => {
  const issued = [];
  for (let count = 0; count < 50; count++) issued.push(await issueKey(control, 'shape', noTerms, NOW));
  for (const { secret, key } of issued) {
    assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
    assert.equal(Buffer.from(secret, 'base64url').length, 32);
    assert.equal(key.hash.length, 32);
  }
  assert.equal(new Set(issued.map(({ secret }) => secret)).size, 50);
  assert.equal(new Set(issued.map(({ key }) => key.key_id)).size, 50);
});

test('a key is nowhere in the store, only its hash is (contract 7.3)', async () => {
  const { secret, key } = await issueKey(control, 'hidden', noTerms, NOW);
  await replaceKey(control, 'hidden', NOW);
  const files = bytesOf(storeUrl);
  assert.ok(files.includes(Buffer.from(key.hash)), 'the bytes of this key are among those searched');
  const bytes = Buffer.from(secret, 'base64url');
  const forms = [
    secret,
    secret.slice(0, 20),
    bytes,
    bytes.subarray(0, 15),
    bytes.toString('hex'),
    btoa(secret),
  ];
  for (const form of forms) assert.ok(!files.includes(form), `found ${String(form)}`);
  const stored = (await readKeys(control)).find(({ key_id }) => key_id === key.key_id);
  assert.deepEqual(Object.keys(stored!).sort(), Object.keys(key).sort());
  for (const value of Object.values(stored!)) assert.ok(!String(value).includes(secret));
});

test('a key keeps its name, creation, expiry and quotas; its id tells nothing of it (contract 7.3)', async () => {
  const terms = { ...noTerms, expiresMs: NOW + 1, perMinute: 60, perDay: 1000, asOfMs: NOW };
  const { secret, key } = await issueKey(control, 'näme ✓', terms, NOW);
  const { hash, key_id, ...rest } = (await readKeys(served)).find((one) => one.key_id === key.key_id)!;
  assert.deepEqual(rest, {
    name: 'näme ✓',
    created_ms: NOW,
    expires_ms: NOW + 1,
    per_minute: 60,
    per_day: 1000,
    revoked_ms: null,
    last_used_ms: null,
    as_of_ms: NOW,
    scope: 'data',
  });
  assert.ok(!secret.includes(key_id) && !Buffer.from(hash).toString('hex').includes(key_id));
});

test('a ring accepts each issued key, and nothing like it (contract 7.3)', async () => {
  const ring = new KeyRing(() => readKeys(served));
  const issued = [await issueKey(control, 'a', noTerms, NOW), await issueKey(control, 'b', noTerms, NOW)];
  for (const { secret, key } of issued) {
    assert.equal((await ring.verify(secret, NOW))?.key_id, key.key_id);
    const likes = [
      '',
      secret.slice(0, -1),
      `${secret}A`,
      ` ${secret}`,
      `${secret}\0`,
      secret.toLowerCase(),
      Buffer.from(key.hash).toString('hex'),
      Buffer.from(key.hash).toString('base64url'),
      key.key_id,
      '__proto__',
      'x'.repeat(limits.keyCharactersMax),
      secret.padEnd(limits.keyCharactersMax + 1, 'x'),
      '\ud800',
    ];
    for (const like of likes) assert.equal(await ring.verify(like, NOW), null, like.slice(0, 50));
  }
});

test('keys that arrive at once, the first of a process among them, are all accepted', async () => {
  const { secret } = await issueKey(control, 'at once', noTerms, NOW);
  const ring = new KeyRing(() => readKeys(served));
  const first = await Promise.all(Array.from({ length: 20 }, () => ring.verify(secret, NOW)));
  assert.equal(first.filter((key) => key === null).length, 0, 'with nothing read yet');
  const { secret: next } = await issueKey(control, 'next', noTerms, NOW);
  const later = NOW + limits.keyRefreshMs;
  const again = await Promise.all(Array.from({ length: 20 }, () => ring.verify(next, later)));
  assert.equal(again.filter((key) => key === null).length, 0, 'with a key issued since');
});

test('a new key works with a running ring: after the pause between look-ups at the latest', async () => {
  const ring = new KeyRing(() => readKeys(served));
  assert.equal(await ring.verify('guess', NOW), null);
  const { secret } = await issueKey(control, 'new', noTerms, NOW);
  assert.notEqual(await ring.verify(secret, NOW + limits.keyMissRefreshMs), null);
});

test('guessing does not make the ring read for every guess', async () => {
  let reads = 0;
  const counted = new KeyRing(() => {
    reads++;
    return readKeys(served);
  });
  for (let guess = 0; guess < 1_000; guess++) await counted.verify(`guess${guess}`, NOW + guess);
  assert.ok(reads <= 1_000 / limits.keyMissRefreshMs + 2, `${reads} reads in a second`);
});

test('a revoked key is refused by a running ring within 5 seconds, all others still hold (contract 7.3)', async () => {
  const ring = new KeyRing(() => readKeys(served));
  const gone = await issueKey(control, 'gone', noTerms, NOW);
  const kept = await issueKey(control, 'kept', noTerms, NOW);
  assert.notEqual(await ring.verify(gone.secret, NOW), null);
  const revoked = await revokeKey(control, gone.key.key_id, NOW);
  assert.equal(revoked?.revoked_ms, NOW);
  // A caller that never pauses does not keep its key alive.
  for (let at = NOW; at < NOW + 5_000; at += 50) await ring.verify(gone.secret, at);
  assert.equal(await ring.verify(gone.secret, NOW + 5_000), null);
  assert.notEqual(await ring.verify(kept.secret, NOW + 5_000), null);
  const idle = new KeyRing(() => readKeys(served));
  assert.equal(await idle.verify(gone.secret, NOW), null, 'a ring that never knew it');
});

test('a clock that is set back neither revives a revoked key nor holds up a look-up (contract 7.3)', async () => {
  const ring = new KeyRing(() => readKeys(served));
  const { secret, key } = await issueKey(control, 'clock', noTerms, NOW);
  assert.notEqual(await ring.verify(secret, NOW), null);
  await revokeKey(control, key.key_id, NOW);
  assert.equal(await ring.verify(secret, NOW - 3_600_000), null);
});

test('a key ends at its expiry, to the millisecond (contract 7.3)', async () => {
  const ring = new KeyRing(() => readKeys(served));
  const { secret, key } = await issueKey(control, 'short', { ...noTerms, expiresMs: NOW + 500 }, NOW);
  assert.notEqual(await ring.verify(secret, NOW + 499), null);
  assert.equal(await ring.verify(secret, NOW + 500), null);
  assert.deepEqual([isLive(key, NOW + 499), isLive(key, NOW + 500)], [true, false]);
});

test('revoking an unknown id is null and changes nothing; revoking twice keeps the first time', async () => {
  const before = await readKeys(control);
  for (const id of ['nothing', '', '__proto__']) assert.equal(await revokeKey(control, id, NOW), null);
  assert.deepEqual(await readKeys(control), before);
  const { key } = await issueKey(control, 'twice', noTerms, NOW);
  await revokeKey(control, key.key_id, NOW + 1);
  assert.equal((await revokeKey(control, key.key_id, NOW + 2))?.revoked_ms, NOW + 1);
});

test('replacing a key revokes all live ones of its name and no other (contract 10, demo)', async () => {
  const old = [await issueKey(control, 'demo', noTerms, NOW), await issueKey(control, 'demo', noTerms, NOW)];
  const other = await issueKey(control, 'demos', noTerms, NOW);
  const { secret } = await replaceKey(control, 'demo', NOW + 1);
  const ring = new KeyRing(() => readKeys(served));
  for (const { secret: before } of old) assert.equal(await ring.verify(before, NOW + 2), null);
  assert.notEqual(await ring.verify(secret, NOW + 2), null);
  assert.notEqual(await ring.verify(other.secret, NOW + 2), null);
});

test('a control file that cannot be read is a fault, not a wrong key, and is tried again', async () => {
  let isBroken = false;
  const ring = new KeyRing(() => (isBroken ? Promise.reject(new Error('disk')) : readKeys(served)));
  const { secret } = await issueKey(control, 'disk', noTerms, NOW);
  assert.notEqual(await ring.verify(secret, NOW), null);
  isBroken = true;
  await assert.rejects(ring.verify(secret, NOW + limits.keyRefreshMs), /disk/);
  isBroken = false;
  assert.notEqual(await ring.verify(secret, NOW + limits.keyRefreshMs), null);
});

test('without the store a verified key holds for 4 seconds, and an unknown one is no wrong key (contract 6.3, 7.3)', async () => {
  const { secret, key } = await issueKey(control, 'away', noTerms, NOW);
  const { secret: later } = await issueKey(control, 'later', noTerms, NOW);
  for (const lost of [
    () => Promise.reject(new StoreUnavailable('lost')),
    // A server that does not answer, and says so only after a while.
    () => sleep(3 * limits.keyWaitMaxMs).then(() => Promise.reject(new StoreUnavailable('lost'))),
  ]) {
    let isLost = false;
    const ring = new KeyRing(async () => {
      const keys = isLost ? await lost() : await readKeys(served);
      return keys.filter(({ name }) => name !== 'later');
    });
    assert.notEqual(await ring.verify(secret, NOW), null);
    isLost = true;
    for (const afterMs of [limits.keyRefreshMs, 3_999])
      assert.equal((await ring.verify(secret, NOW + afterMs))?.key_id, key.key_id);
    await assert.rejects(ring.verify(later, NOW + 1_500), StoreUnavailable);
    await assert.rejects(ring.verify(secret, NOW + 4_000), StoreUnavailable);
    isLost = false;
    assert.notEqual(await ring.verify(secret, NOW + 4_001), null);
  }
});

test('a request waits for a slow read of the keys only where those that are known are too old', async () => {
  let answer = Promise.resolve();
  const ring = new KeyRing(() => answer.then(() => readKeys(served)));
  const { secret, key } = await issueKey(control, 'slow', noTerms, NOW);
  assert.notEqual(await ring.verify(secret, NOW), null);
  await revokeKey(control, key.key_id, NOW);
  const reading = Promise.withResolvers<void>();
  answer = reading.promise;
  assert.notEqual(await ring.verify(secret, NOW + 1_500), null, 'it is not waited for');
  const waits = ring.verify(secret, NOW + 4_500);
  assert.equal(await Promise.race([waits, sleep(2 * limits.keyWaitMaxMs, 'waits')]), 'waits');
  reading.resolve();
  assert.equal(await waits, null);
});

test('a key is the whole of its hash, not the beginning by which it is found (contract 7.3)', async () => {
  const { secret, key } = await issueKey(control, 'whole', noTerms, 0);
  const hash = key.hash.with(-1, key.hash.at(-1)! ^ 1);
  await putKey(control, { ...key, hash });
  assert.equal(await new KeyRing(() => readKeys(control)).verify(secret, 0), null);
});
