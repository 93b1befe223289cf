// A cache bounded in bytes: the oldest values go, and what goes counts no more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SizedCache } from './sized-cache.ts';

const value = 'x'.repeat(1_000);

/** Bytes of one entry of the tests. */
const one = (() => {
  const cache = new SizedCache<string>(Number.POSITIVE_INFINITY);
  cache.set('a', value);
  return cache.bytes;
})();

test('the values that were added first go where a new one has no room', () => {
  const cache = new SizedCache<string>(3 * one);
  for (const name of ['a', 'b', 'c']) cache.set(name, value);
  assert.deepEqual([cache.bytes, cache.get('a')], [3 * one, value]);
  cache.set('d', value);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((name) => cache.get(name) === value),
    [false, true, true, true],
  );
  assert.equal(cache.bytes, 3 * one);
});

test('a value in place of another counts once; one above the bound is not kept, nor the one before it', () => {
  const cache = new SizedCache<string>(3 * one);
  cache.set('a', value);
  cache.set('a', value);
  assert.equal(cache.bytes, one);
  cache.set('a', 'x'.repeat(3 * one));
  assert.deepEqual([cache.get('a'), cache.bytes], [undefined, 0]);
});

test('what is deleted or cleared counts no more', () => {
  const cache = new SizedCache<string>(3 * one);
  cache.set('a', value);
  cache.set('b', value);
  cache.delete('a');
  cache.delete('none');
  assert.equal(cache.bytes, one);
  cache.clear();
  assert.deepEqual([cache.get('b'), cache.bytes], [undefined, 0]);
});
