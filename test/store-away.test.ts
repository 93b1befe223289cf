// While the store cannot be reached requests are told to come again, and are answered once it is back
// (contract 6.3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryRunner } from '../src/queries/index.ts';
import { ResponseCache } from '../src/serve/cache/response-cache.ts';
import { KeyRing } from '../src/serve/keys/api-keys.ts';
import { QueueError } from '../src/serve/threads/query-queue.ts';
import { StoreUnavailable } from '../src/store/store.ts';
import { ask, key, LATEST, observed, openHandler, store } from './request-handler.ts';

const CAUSE = 'the store cannot be reached now: disk I/O error';
const away = (): Promise<never> => Promise.reject(new StoreUnavailable(CAUSE));

test('a request that meets a store out of reach is a 503 to be repeated, wherever it meets it; its cause is observed', async () => {
  const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
  let isAway = false;
  const version = () => (isAway ? away() : store.version());
  const handlers = {
    'in the query thread': openHandler({
      submit: () => Promise.reject(new QueueError('unavailable', CAUSE)),
    }),
    'at the keys': openHandler({ keys: new KeyRing(away) }),
    'at the cache': openHandler({
      cache: new ResponseCache({ id: store.id, version, changesAfter: away }),
      submit: (request) => runner.run(request),
    }),
  };
  for (const [where, at] of Object.entries(handlers)) {
    const target = `${LATEST}?secret_key=${key}`;
    // The store is asked for its version where the request has a cached answer.
    isAway = false;
    if (where === 'at the cache') assert.equal((await ask(target, { at })).status, 200);
    isAway = true;
    observed.length = 0;
    const { status, headers, text } = await ask(target, { at });
    assert.deepEqual([status, headers['Retry-After']], [503, '1'], where);
    const { message, detail } = JSON.parse(text);
    assert.deepEqual([message, detail.error], ['The service cannot reach its store now.', 'unavailable']);
    assert.deepEqual(
      observed.filter(({ kind }) => kind !== 'request'),
      [{ kind: 'unavailable', cause: CAUSE }],
      where,
    );
  }
});
