// A cache bounded in bytes: values that were not read lately go, the oldest first, and count no more.
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
  assert.deepEqual([cache.bytes, cache.has('a')], [3 * one, true]);
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

test('a value that was read since the last look is looked at again later', () => {
  const cache = new SizedCache<string>(3 * one);
  for (const name of ['a', 'b', 'c']) cache.set(name, value);
  const left = (): string =>
    Array.from('abcdef')
      .filter((name) => cache.has(name))
      .join('');
  cache.get('a');
  cache.set('d', value);
  assert.equal(left(), 'acd', 'a was read');
  cache.set('e', value);
  assert.equal(left(), 'ade', 'nothing was read since: c is the oldest');
  for (const name of ['d', 'a', 'e']) cache.get(name);
  cache.set('f', value);
  assert.equal(left(), 'def', 'all were read: the oldest goes once each was looked at');
  assert.equal(cache.bytes, 3 * one);
});

test('a value that grows counts with all its bytes, and takes the place of others', () => {
  const cache = new SizedCache<object, number>(10);
  const [first, second] = [{}, {}];
  cache.set(1, first, 4);
  cache.set(2, second, 4);
  cache.grow(1, first, 2);
  assert.equal(cache.bytes, 10);
  cache.grow(1, second, 1);
  cache.grow(3, second, 1);
  assert.equal(cache.bytes, 10, 'the name has another value, or none');
  cache.grow(1, first, 1);
  assert.deepEqual([cache.has(1), cache.has(2), cache.bytes], [true, false, 7]);
  cache.grow(1, first, -3);
  assert.equal(cache.bytes, 4);
  cache.grow(1, first, 7);
  assert.deepEqual([cache.has(1), cache.bytes], [false, 0], 'it alone is above the bound');
});
