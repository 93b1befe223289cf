// The response cache: its answers go with what they depend on, bounded in time and bytes (contract 4.1, 8.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectGarbage } from '../../../test/garbage.ts';
import type { AnswerSource } from '../../queries/query.ts';
import type { Change } from '../../store/store.ts';
import { httpLimits } from '../limits.ts';
import { type CachedAnswer, ResponseCache } from './response-cache.ts';

/** The versions of a store by hand: what each of them changed. */
class Versions {
  readonly id = 'store';
  asked = 0;
  present: number | null = 1;
  readonly #changes: Change[] = [];

  async version(): Promise<number | null> {
    this.asked++;
    return this.present;
  }

  async changesAfter(version: number): Promise<readonly Change[]> {
    return this.#changes.filter((change) => change.version > version);
  }

  commit(...parts: readonly string[]): void {
    this.present = this.present! + 1;
    for (const part of parts) this.#changes.push({ part, version: this.present });
  }
}

const sourceOf = (version: number, ...parts: readonly string[]): AnswerSource => ({
  id: 'store',
  version,
  parts,
});
const answerOf = (bytes: number, goodUntilMs = Number.POSITIVE_INFINITY): CachedAnswer => ({
  answer: { kind: 'answer', contentType: '', headers: {}, body: new Uint8Array(bytes), next: null },
  etag: '',
  goodUntilMs,
});

test('only a name that has an answer is looked up: for others nobody asks for the version', () => {
  const cache = new ResponseCache(new Versions());
  assert.equal(cache.has('a'), false);
  assert.ok(cache.takes('a', 10));
  cache.add('a', answerOf(10), sourceOf(1));
  assert.deepEqual([cache.has('a'), cache.has('b')], [true, false]);
});

test('a response is found until one of its parts is changed, and until it is out of date', async () => {
  const store = new Versions();
  const cache = new ResponseCache(store);
  const cached = answerOf(10, 101);
  const found = async (name: string, nowMs: number) => cache.find(name, (await cache.version())!, nowMs);
  await cache.version();
  cache.add('a', cached, sourceOf(1, 'instrument 1', 'holidays'));
  cache.add('b', answerOf(10, 100), sourceOf(1, 'instrument 1', 'holidays'));
  assert.equal(await found('a', 99), cached);
  assert.equal(await found('b', 100), undefined);
  assert.equal(await found('c', 99), undefined);
  store.commit('instrument 2', 'news');
  assert.equal(await found('a', 99), cached);
  store.commit('news');
  store.commit('holidays');
  store.commit('news');
  assert.equal(await found('a', 99), undefined);
});

test('a response that was read after the version that its caller knows is found; a change of it after that is noticed', async () => {
  const store = new Versions();
  const cache = new ResponseCache(store);
  await cache.version();
  store.commit('instrument 1');
  cache.add('a', answerOf(10), sourceOf(2, 'instrument 1'));
  assert.ok(cache.find('a', 1, 0));
  assert.ok(cache.find('a', (await cache.version())!, 0));
  store.commit('instrument 1');
  assert.equal(cache.find('a', (await cache.version())!, 0), undefined);
});

test('a response of another store is not kept; one of unknown changes, or of everything, is not found after any change', async () => {
  const store = new Versions();
  const cache = new ResponseCache(store);
  cache.add('other', answerOf(10), { ...sourceOf(1, 'news'), id: 'another' });
  cache.add('before', answerOf(10), sourceOf(0, 'news'));
  cache.add('all', answerOf(10), sourceOf(1, '*'));
  const find = async (name: string) => cache.find(name, (await cache.version())!, 0);
  assert.equal(await find('other'), undefined);
  assert.equal(
    await find('before'),
    undefined,
    'what changed before the first version that was met is not known',
  );
  assert.ok(await find('all'));
  store.commit('counters');
  assert.equal(await find('all'), undefined);
});

test('the version is read once a batch, and again in the next', async () => {
  const store = new Versions();
  const cache = new ResponseCache(store);
  cache.add('a', answerOf(10), sourceOf((await cache.version(1))!, 'news'));
  await Promise.all([cache.version(1), cache.version(1)]);
  assert.equal(store.asked, 1);
  store.commit('news');
  assert.ok(
    cache.find('a', (await cache.version(1))!, 0),
    'the requests of a batch arrived before the commit',
  );
  assert.equal(await cache.version(2), 2);
  assert.equal(cache.find('a', 2, 0), undefined);
  assert.equal(await cache.version(1), 2, 'a batch that waited gets no older version than the others');
  assert.equal(store.asked, 2);
  await cache.version();
  assert.equal(store.asked, 3);
});

test('a large response is cached from its second asking on, unless more others than the cache holds were asked for between', () => {
  const held = 100;
  const bytes = httpLimits.cachedAtOnceBytesMax + 1;
  const cache = new ResponseCache(new Versions(), held * bytes);
  const takes = (name: string): boolean => cache.takes(name, bytes);
  assert.ok(cache.takes('a', httpLimits.cachedAtOnceBytesMax));
  assert.deepEqual([takes('a'), takes('b'), takes('a'), takes('b')], [false, false, true, true]);
  for (let index = 0; index <= held; index++) takes(`${index}`);
  assert.deepEqual([takes(`${held}`), takes('1'), takes('0')], [true, true, false]);
});

test('large responses that are asked for in turn, more of them than the cache holds, are not cached at all', () => {
  const cache = new ResponseCache(new Versions(), 100 * httpLimits.cachedAtOnceBytesMax);
  for (let asked = 0; asked < 1_000; asked++)
    assert.equal(cache.takes(`${asked % 200}`, httpLimits.cachedAtOnceBytesMax + 1), false);
});

test('of large responses that were asked for once fewer are remembered where their names are long', () => {
  const cache = new ResponseCache(new Versions());
  const [bytes, characters] = [httpLimits.cachedAtOnceBytesMax + 1, 8_000];
  const nameOf = (index: number): string => `${index} ${'x'.repeat(characters)}`;
  const remembered = Math.floor(httpLimits.cachedBytesMax / (httpLimits.askedOnceNameWeight * characters));
  for (let index = 0; index <= remembered; index++) cache.takes(nameOf(index), bytes);
  assert.deepEqual([cache.takes(nameOf(remembered), bytes), cache.takes(nameOf(0), bytes)], [true, false]);
});

test('responses that are right no more give their bytes back though nobody asks for them', async () => {
  const store = new Versions();
  const cache = new ResponseCache(store);
  await cache.version();
  const add = (name: string, goodUntilMs: number, part: string): void =>
    cache.add(name, answerOf(1_000, goodUntilMs), sourceOf(1, part));
  for (let index = 0; index < 100; index++) {
    add(`changed ${index}`, 1_000, 'news');
    add(`old ${index}`, 10, 'instrument 1');
    add(`right ${index}`, 1_000, 'instrument 1');
  }
  const all = cache.bytes;
  store.commit('news');
  const version = (await cache.version())!;
  for (let asked = 0; asked < 400; asked++)
    assert.equal(cache.find(`another ${asked}`, version, 20), undefined);
  assert.ok(cache.bytes < all / 2.9, `${cache.bytes} of ${all} bytes are held`);
  for (let index = 0; index < 100; index++) assert.ok(cache.find(`right ${index}`, version, 20));
});

test('responses that are found again and again take no more memory, however often (contract 8.1)', async () => {
  const cache = new ResponseCache(new Versions());
  const version = (await cache.version())!;
  for (const name of ['a', 'b']) cache.add(name, answerOf(10), sourceOf(1));
  const heapAfter = (hits: number): number => {
    for (let hit = 0; hit < hits; hit++) assert.ok(cache.find(hit % 2 === 0 ? 'a' : 'b', version, 0));
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heapAfter(20_000);
  const grown = heapAfter(200_000) - before;
  // A tenth of what 200,000 hits held while tables of the map that were left behind were kept.
  assert.ok(grown < 2 ** 20, `${grown} bytes more`);
});

test('a response that was not used lately goes first; one that is too large is not cached', async () => {
  const cache = new ResponseCache(new Versions());
  const version = (await cache.version())!;
  const source = sourceOf(version);
  const bytes = httpLimits.cachedAnswerBytesMax - httpLimits.cachedOverheadBytes - 100;
  const capacity = Math.floor(httpLimits.cachedBytesMax / httpLimits.cachedAnswerBytesMax);
  for (let index = 0; index < capacity; index++) cache.add(`${index}`, answerOf(bytes), source);
  assert.ok(cache.find('0', version, 0));
  cache.add('more', answerOf(bytes), source);
  cache.add('and more', answerOf(bytes), source);
  assert.deepEqual(
    ['0', '1', '2', '3', 'more'].map((name) => cache.find(name, version, 0) !== undefined),
    [true, false, false, true, true],
  );
  cache.add('large', answerOf(httpLimits.cachedAnswerBytesMax), source);
  assert.equal(cache.find('large', version, 0), undefined);
});

const formOf = (page: number) => ({ coding: 'gzip', url: `/page/${page}` });

test('encoded bodies count, a few for each answer, and go with it', async () => {
  const cache = new ResponseCache(new Versions());
  const source = sourceOf((await cache.version())!);
  const cached = answerOf(1_000);
  cache.add('a', cached, source);
  const plain = cache.bytes;
  const forms = Array.from({ length: httpLimits.cachedEncodingsMax }, (_, index) => formOf(index));
  for (const form of forms) cache.addEncoding('a', cached, form, new Uint8Array(100));
  const full = cache.bytes;
  assert.ok(full >= plain + forms.length * 100);
  cache.addEncoding('a', cached, formOf(9), new Uint8Array(100));
  assert.equal(cache.bytes, full);
  assert.deepEqual(
    [forms[0]!, forms[1]!, formOf(9)].map((form) => cache.encoding('a', cached, form)?.length),
    [undefined, 100, 100],
  );
  cache.addEncoding('a', cached, formOf(9), new Uint8Array(100));
  assert.equal(cache.bytes, full, 'once');
  cache.addEncoding('a', answerOf(1_000), formOf(8), new Uint8Array(100));
  assert.equal(cache.encoding('a', cached, formOf(8)), undefined, 'of another answer');
  assert.equal(cache.encoding('a', answerOf(1_000), formOf(9)), undefined, 'a newer answer has the name');
  cache.add('a', cached, source);
  assert.equal(cache.bytes, plain);
});
