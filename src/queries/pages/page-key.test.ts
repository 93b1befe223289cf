// Page keys: they give back their place, and nothing else passes for one (contract 4.1).

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { Refusal } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { PageKeys } from './page-key.ts';

const keys = new PageKeys(new Uint8Array(32).fill(1));
const part = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.maxSafeInteger());
const place = fc
  .tuple(fc.array(part, { maxLength: 4 }), fc.array(part, { maxLength: 2 }))
  .map(([position, pinned]) => ({ position, pinned }));
const fingerprint = fc.string({ unit: 'grapheme', maxLength: 60 });

const isInvalidPageKey = (error: unknown): boolean =>
  error instanceof Refusal && error.word === 'invalid_page_key' && error.facts.param === 'next_page_key';

test('a page key gives back its place to the query that it was signed for (contract 4.1)', () => {
  fc.assert(
    fc.property(place, fingerprint, (signed, query) => {
      const key = keys.sign(query, signed);
      assert.match(key, /^[A-Za-z0-9_-]+$/);
      assert.deepEqual(keys.verify(query, key), signed);
    }),
  );
});

test('a page key with any character changed is refused, another spelling of the same bytes included (contract 4.1)', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= '.split('');
  fc.assert(
    fc.property(place, fingerprint, fc.nat(), fc.constantFrom(...alphabet), (signed, query, at, letter) => {
      const key = keys.sign(query, signed);
      const index = at % key.length;
      fc.pre(key[index] !== letter);
      const changed = key.slice(0, index) + letter + key.slice(index + 1);
      assert.throws(() => keys.verify(query, changed), isInvalidPageKey);
    }),
    { numRuns: 500 },
  );
});

test('every other last character of a page key is refused, though it may name the same bytes (contract 4.1)', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');
  for (const position of [[1], [12], [123]]) {
    const key = keys.sign('query', { position, pinned: [] });
    const passed = alphabet.filter((letter) => {
      try {
        keys.verify('query', key.slice(0, -1) + letter);
        return true;
      } catch {
        return false;
      }
    });
    assert.deepEqual(passed, [key.at(-1)]);
  }
});

test('a page key cut short or with anything behind it is refused (contract 4.1)', () => {
  fc.assert(
    fc.property(place, fc.nat(), fc.string({ minLength: 1 }), (signed, at, tail) => {
      const key = keys.sign('query', signed);
      assert.throws(() => keys.verify('query', key.slice(0, at % key.length)), isInvalidPageKey);
      assert.throws(() => keys.verify('query', key + tail), isInvalidPageKey);
    }),
  );
});

test('a page key of another query or another secret is refused (contract 4.1)', () => {
  const others = new PageKeys(new Uint8Array(32).fill(2));
  fc.assert(
    fc.property(place, fingerprint, fingerprint, (signed, query, other) => {
      const key = keys.sign(query, signed);
      if (other !== query) assert.throws(() => keys.verify(other, key), isInvalidPageKey);
      assert.throws(() => others.verify(query, key), isInvalidPageKey);
    }),
  );
});

test('arbitrary text is refused as a page key (contract 4.1)', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.throws(() => keys.verify('query', text), isInvalidPageKey);
    }),
  );
});

test('the place in a page key cannot be moved to where the query ends (contract 4.1)', () => {
  // Query and payload are signed as one text: no byte may pass from one to the other.
  const key = Buffer.from(keys.sign('query', { position: [1], pinned: [] }), 'base64url');
  const [mac, payload] = [key.subarray(0, 16), key.subarray(16).toString()];
  for (const cut of [1, 2, payload.length - 1]) {
    const forged = Buffer.concat([mac, Buffer.from(payload.slice(cut))]).toString('base64url');
    assert.throws(() => keys.verify(`query\0${payload.slice(0, cut)}`, forged), isInvalidPageKey);
  }
});

test('a bar walk’s page key fits the bound on page keys', () => {
  const key = keys.sign('query', { position: [-2_208_988_800_000], pinned: [7_289_654_400_000] });
  assert.ok(key.length <= limits.pageKeyCharactersMax);
});

test('a page key is authenticated by HMAC-SHA-256, its first 16 bytes (contract 4.1)', () => {
  const secret = Uint8Array.from({ length: 32 }, (_, index) => index * 7);
  const bytes = Buffer.from(
    new PageKeys(secret).sign('a query', { position: [1, 'x'], pinned: [2] }),
    'base64url',
  );
  const expected = createHmac('sha256', secret).update('a query\0').update(bytes.subarray(16)).digest();
  assert.deepEqual(bytes.subarray(0, 16), expected.subarray(0, 16));
});
