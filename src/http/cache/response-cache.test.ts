// The response cache: cleared by a commit, bounded in time and bytes (contract 4.1, 8.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpLimits } from '../limits.ts';
import { type CachedAnswer, ResponseCache } from './response-cache.ts';

let token = 1;
const store = { changeToken: async () => token };
const answerOf = (bytes: number, goodUntilMs = Number.POSITIVE_INFINITY): CachedAnswer => ({
  answer: { kind: 'answer', contentType: '', headers: {}, body: new Uint8Array(bytes), next: null },
  etag: '',
  goodUntilMs,
});

test('an endpoint is cacheable once it has given a response that may be cached', async () => {
  const cache = new ResponseCache(store);
  assert.equal(cache.isCacheable('instrumentReference'), false);
  assert.ok(cache.takes('instrumentReference', 'a', 10));
  cache.add('a', answerOf(10), null);
  assert.equal(cache.isCacheable('instrumentReference'), true);
  assert.equal(cache.isCacheable('latestBars'), false);
  assert.equal(cache.find('a', 0), undefined, 'the state that it was queried in is not known');
});

test('a response is found until anything is committed, and until it is out of date', async () => {
  const cache = new ResponseCache(store);
  const cached = answerOf(10, 100);
  cache.add('a', cached, await cache.state());
  assert.equal(cache.find('a', 99), cached);
  assert.equal(cache.find('a', 100), undefined);
  assert.equal(cache.find('b', 99), undefined);
  token++;
  await cache.state();
  assert.equal(cache.find('a', 99), undefined);
});

test('the state is read once a batch, and again in the next', async () => {
  const asked: number[] = [];
  const cache = new ResponseCache({ changeToken: async () => asked.push(token) && token });
  cache.add('a', answerOf(10), await cache.state(1));
  await Promise.all([cache.state(1), cache.state(1)]);
  assert.equal(asked.length, 1);
  token++;
  assert.ok(cache.find('a', 0), 'the requests of a batch arrived before the commit');
  assert.equal(await cache.state(2), token);
  assert.equal(cache.find('a', 0), undefined);
  assert.equal(await cache.state(1), token, 'a batch that waited gets no older state than the others');
  assert.equal(asked.length, 2);
  await cache.state();
  assert.equal(asked.length, 3);
});

test('a large response is cached from its second asking on; of many that were asked for once the latest are remembered', () => {
  const cache = new ResponseCache(store);
  const takes = (name: string): boolean =>
    cache.takes('historicalBars', name, httpLimits.cachedAtOnceBytesMax + 1);
  assert.ok(cache.takes('historicalBars', 'a', httpLimits.cachedAtOnceBytesMax));
  assert.deepEqual([takes('a'), takes('b'), takes('a'), takes('b')], [false, false, true, true]);
  for (let index = 0; index <= httpLimits.askedOnceMax; index++) takes(`${index}`);
  assert.deepEqual([takes(`${httpLimits.askedOnceMax}`), takes('0')], [true, false]);
});

test('a response that was queried before a commit is not cached after it', async () => {
  const cache = new ResponseCache(store);
  const before = await cache.state();
  token++;
  await cache.state();
  cache.add('a', answerOf(10), before);
  assert.equal(cache.find('a', 0), undefined);
});

test('the least recently used response goes first; one that is too large is not cached', async () => {
  const cache = new ResponseCache(store);
  const state = await cache.state();
  const bytes = httpLimits.cachedAnswerBytesMax - httpLimits.cachedOverheadBytes - 100;
  const capacity = Math.floor(httpLimits.cachedBytesMax / httpLimits.cachedAnswerBytesMax);
  for (let index = 0; index < capacity; index++) cache.add(`${index}`, answerOf(bytes), state);
  assert.ok(cache.find('0', 0));
  cache.add('more', answerOf(bytes), state);
  cache.add('and more', answerOf(bytes), state);
  assert.deepEqual(
    ['0', '1', '2', '3', 'more'].map((name) => cache.find(name, 0) !== undefined),
    [true, false, false, true, true],
  );
  cache.add('large', answerOf(httpLimits.cachedAnswerBytesMax), state);
  assert.equal(cache.find('large', 0), undefined);
});

test('encoded bodies count, a few for each answer, and go with it', async () => {
  const cache = new ResponseCache(store);
  const state = await cache.state();
  const cached = answerOf(1_000);
  cache.add('a', cached, state);
  const plain = cache.bytes;
  const forms = Array.from({ length: httpLimits.cachedEncodingsMax }, (_, index) => `form ${index}`);
  for (const form of forms) cache.addEncoding('a', cached, form, new Uint8Array(100));
  const full = cache.bytes;
  assert.ok(full >= plain + forms.length * 100);
  cache.addEncoding('a', cached, 'form 9', new Uint8Array(100));
  assert.equal(cache.bytes, full);
  assert.deepEqual(
    [forms[0]!, forms[1]!, 'form 9'].map((form) => cache.encoding('a', cached, form)?.length),
    [undefined, 100, 100],
  );
  cache.addEncoding('a', cached, 'form 9', new Uint8Array(100));
  assert.equal(cache.bytes, full, 'once');
  cache.addEncoding('a', answerOf(1_000), 'form 8', new Uint8Array(100));
  assert.equal(cache.encoding('a', cached, 'form 8'), undefined, 'of another answer');
  assert.equal(cache.encoding('a', answerOf(1_000), 'form 9'), undefined, 'a newer answer has the name');
  cache.add('a', cached, state);
  assert.equal(cache.bytes, plain);
});
