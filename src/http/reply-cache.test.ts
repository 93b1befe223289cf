// Replies at hand: forgotten with the first commit, at their moment, and where there is no room (contract 4.1, 8.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../contract/limits.ts';
import { type KeptReply, ReplyCache } from './reply-cache.ts';

let token = 1;
const store = { changeToken: async () => token };
const replyOf = (bytes: number, goodUntilMs = Number.POSITIVE_INFINITY): KeptReply => ({
  reply: { status: 200, headers: {}, body: [new Uint8Array(bytes)] },
  goodUntilMs,
});

test('an endpoint is looked up once it has given a reply that may be kept', async () => {
  const cache = new ReplyCache(store);
  assert.equal(cache.lasts('instrumentReference'), false);
  cache.keep('instrumentReference', 'a', replyOf(10), Number.NaN);
  assert.equal(cache.lasts('instrumentReference'), true);
  assert.equal(cache.lasts('latestBars'), false);
  assert.equal(cache.find('a', 0), undefined, 'the state that it was asked for in is not known');
});

test('a reply is found until anything is committed, and until its moment', async () => {
  const cache = new ReplyCache(store);
  const kept = replyOf(10, 100);
  cache.keep('holidayList', 'a', kept, await cache.state());
  assert.equal(cache.find('a', 99), kept);
  assert.equal(cache.find('a', 100), undefined);
  assert.equal(cache.find('b', 99), undefined);
  token++;
  await cache.state();
  assert.equal(cache.find('a', 99), undefined);
});

test('the state is asked for once a turn, and anew in the next', async () => {
  const asked: number[] = [];
  const cache = new ReplyCache({ changeToken: async () => asked.push(token) && token });
  cache.keep('holidayList', 'a', replyOf(10), await cache.state(1));
  await Promise.all([cache.state(1), cache.state(1)]);
  assert.equal(asked.length, 1);
  token++;
  assert.ok(cache.find('a', 0), 'what was taken up in a turn had arrived before the commit');
  assert.equal(await cache.state(2), token);
  assert.equal(cache.find('a', 0), undefined);
  assert.equal(await cache.state(1), token, 'one that waited has no older state than the others');
  assert.equal(asked.length, 2);
  await cache.state();
  assert.equal(asked.length, 3);
});

test('a reply that was asked for before a commit is not kept after it', async () => {
  const cache = new ReplyCache(store);
  const before = await cache.state();
  token++;
  await cache.state();
  cache.keep('holidayList', 'a', replyOf(10), before);
  assert.equal(cache.find('a', 0), undefined);
});

test('the reply that was not asked for longest goes first; one that is too large is not kept', async () => {
  const cache = new ReplyCache(store);
  const state = await cache.state();
  const bytes = limits.cachedReplyBytesMax - limits.cachedOverheadBytes - 100;
  const room = Math.floor(limits.cachedBytesMax / limits.cachedReplyBytesMax);
  for (let index = 0; index < room; index++) cache.keep('holidayList', `${index}`, replyOf(bytes), state);
  assert.ok(cache.find('0', 0));
  cache.keep('holidayList', 'more', replyOf(bytes), state);
  cache.keep('holidayList', 'and more', replyOf(bytes), state);
  assert.deepEqual(
    ['0', '1', '2', '3', 'more'].map((name) => cache.find(name, 0) !== undefined),
    [true, false, false, true, true],
  );
  cache.keep('holidayList', 'large', replyOf(limits.cachedReplyBytesMax), state);
  assert.equal(cache.find('large', 0), undefined);
});
