// The request handler in process, over a real store: checks in order, faults, and what is observed (contract
// 2.2, 4.1, 6.3, 6.4, 7.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  control,
  DAY,
  key,
  LATEST,
  nothing,
  observed,
  openHandler,
  refused,
  runner,
  store,
  withKey,
} from '../../test/request-handler.ts';
import type { ErrorWord } from '../contract/errors.ts';
import { contract } from '../contract/index.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { readKeys } from '../store/control.ts';
import { ResponseCache } from './cache/response-cache.ts';
import { issueKey, KeyRing, noTerms } from './keys/api-keys.ts';
import { QueueError } from './threads/query-queue.ts';

test('path comes first, then method, key, parameters and data (contract 6.4)', async () => {
  const unknownSymbol = '/api/v2/stock/bars/US:APPL/1M/latest';
  const steps: readonly [target: string, method: string, word: ErrorWord, param?: string][] = [
    ['/api/v2/nothing?limit=0', 'POST', 'unknown_path'],
    [`${unknownSymbol}?limit=0`, 'POST', 'method_not_allowed'],
    [`${unknownSymbol}?limit=0`, 'GET', 'missing_key', 'secret_key'],
    [`${unknownSymbol}?limit=0&secret_key=wrong`, 'GET', 'invalid_key', 'secret_key'],
    [withKey(unknownSymbol, '&limit=0'), 'GET', 'invalid_parameter', 'limit'],
    [withKey(unknownSymbol), 'GET', 'unknown_instrument', 'country_symbol'],
  ];
  for (const [target, method, word, param] of steps)
    refused(await ask(target, { method }), word, param, target);
});

test('an unknown symbol is a 404 with near ones in the hint (contract 6.3)', async () => {
  const got = await ask(withKey('/api/v2/stock/bars/US:APPL/1M/latest'));
  assert.match(refused(got, 'unknown_instrument', 'country_symbol', 'APPL').hint!, /\bAAPL\b/);
});

test('from after to is a 400 of the data, with both bounds named (contract 2.2)', async () => {
  const got = await ask(withKey('/api/v2/stock/bars/US:AAPL/1M/from/2025-03-04/to/2025-03-03'));
  refused(got, 'invalid_parameter', 'from_date', 'from after to');
});

test('a full queue is a 503 with Retry-After, and is asked only by a good request', async () => {
  let asked = 0;
  const submit = (): Promise<Answer> => {
    asked++;
    return Promise.reject(new QueueError('full', 'full'));
  };
  const at = openHandler({ submit });
  const got = await ask(withKey(LATEST), { at });
  refused(got, 'unavailable', undefined, 'full');
  assert.match(got.headers['Retry-After']!, /^[1-9]\d*$/);
  for (const target of ['/x', LATEST, withKey(LATEST, '&limit=0')]) await ask(target, { at });
  assert.equal(asked, 1);
});

test('the queue learns when a caller has gone, and such a request ends without a fault', async () => {
  let gone = false;
  const requests: QueryRequest[] = [];
  const at = openHandler({
    submit: (request, isGone) => {
      requests.push(request);
      gone = true;
      assert.equal(isGone(), true);
      return Promise.reject(new QueueError('gone', 'gone'));
    },
  });
  const response = await at.handle({
    method: 'GET',
    target: withKey(LATEST),
    headers: { host: 'localhost' },
    isGone: () => gone,
  });
  assert.notEqual(response.status, 200);
  assert.ok(!JSON.stringify(requests).includes(key), 'the query thread gets no key');
});

test('a caller that has gone is observed as one, whatever the answer would have been, and as no 5xx', async () => {
  let gone = false;
  const ends: readonly (() => Promise<Answer>)[] = [
    () => Promise.reject(new QueueError('gone', 'gone')),
    () => Promise.reject(new QueueError('full', 'full')),
    () => Promise.resolve({ kind: 'refusal', word: 'no_data', facts: { message: 'Nothing.' } }),
    () => Promise.resolve(nothing),
  ];
  for (const end of ends) {
    gone = false;
    observed.length = 0;
    const at = openHandler({
      submit: () => {
        gone = true;
        return end();
      },
    });
    await at.handle({
      method: 'GET',
      target: withKey(LATEST),
      headers: { host: 'localhost' },
      isGone: () => gone,
    });
    const [told, ...more] = observed;
    assert.ok(told?.kind === 'request' && more.length === 0);
    assert.deepEqual([told.status, told.word, told.bytes], [null, null, 0]);
    assert.ok(told.route !== null && told.keyId !== null);
  }
});

test('a fault is a 500 without detail, its cause observed under the request id (contract 6.4, house Errors)', async () => {
  const cause = new Error('disk /srv/secret.db is broken');
  const broken = [
    openHandler({ submit: () => Promise.reject(cause) }),
    openHandler({ submit: () => Promise.reject(new QueueError('fault', cause.stack!)) }),
    openHandler({ keys: { verify: () => Promise.reject(cause), holds: () => false } }),
  ];
  for (const at of broken) {
    observed.length = 0;
    const got = await ask(withKey(LATEST), { at });
    const { request_id } = refused(got, 'internal', undefined, 'a fault');
    assert.doesNotMatch(got.text, /secret\.db|Error|\.ts/);
    const fault = observed.find((observation) => observation.kind === 'fault');
    assert.equal(fault?.requestId, request_id);
    assert.match(fault.cause, /secret\.db/);
  }
});

test('what the service failed to answer counts for no quota, and the answer says so (contract 7.5)', async () => {
  const { secret } = await issueKey(control, 'quota', { ...noTerms, perDay: 2 }, Date.now());
  const failures = [new QueueError('full', 'full'), new Error('broken')];
  const failing = openHandler({
    keys: new KeyRing(() => readKeys(control)),
    submit: (request) => (failures.length > 0 ? Promise.reject(failures.shift()!) : runner.run(request)),
  });
  const statuses: (number | string | undefined)[][] = [];
  for (let count = 0; count < 5; count++) {
    const { status, headers } = await ask(`${LATEST}?secret_key=${secret}`, { at: failing });
    statuses.push([status, headers['RateLimit-Remaining'], headers['Retry-After'] !== undefined ? 1 : 0]);
  }
  assert.deepEqual(statuses, [
    [503, '2', 1],
    [500, '2', 0],
    [200, '1', 0],
    [200, '0', 0],
    [429, '0', 1],
  ]);
});

test('every response is observed once: its route and its key by id, never an address or a key (contract 7.4)', async () => {
  observed.length = 0;
  const targets = [
    withKey(DAY, '&limit=5'),
    withKey(DAY, '&limit=0'),
    `${DAY}?secret_key=${key}x`,
    `/${key}?secret_key=${key}`,
  ];
  for (const target of targets) await ask(target);
  await ask(withKey(LATEST), { method: 'OPTIONS' });
  assert.deepEqual(
    observed.map((one) => one.kind === 'request' && [one.route, one.status, one.word, one.keyId !== null]),
    [
      [contract.historicalBars.path, 200, null, true],
      [contract.historicalBars.path, 400, 'invalid_parameter', true],
      [contract.historicalBars.path, 401, 'invalid_key', false],
      [null, 404, 'unknown_path', false],
      [contract.latestBars.path, 204, null, false],
    ],
  );
  assert.ok(!JSON.stringify(observed).includes(key));
});

test('requests of one batch read the state of the store once, and those of a later batch see a commit (contract 4.1)', async () => {
  let asked = 0;
  let version = (await store.version())!;
  const versions = {
    id: store.id,
    version: async () => {
      asked++;
      return version;
    },
    changesAfter: async () => null,
  };
  const at = openHandler({ cache: new ResponseCache(versions) });
  const target = withKey('/api/v2/holiday/list', '&full_symbol=stock:US:*&limit=1');
  const inBatch = (batch: number) =>
    at.handle({ method: 'GET', target, headers: { host: 'localhost:8080' }, batch, isGone: () => false });
  await inBatch(1);
  const kept = await inBatch(2);
  asked = 0;
  const together = await Promise.all([inBatch(3), inBatch(3), inBatch(3)]);
  assert.equal(asked, 1);
  for (const { body } of together) assert.equal(body[0]!.buffer, kept.body[0]!.buffer, 'from the cache');
  version++;
  assert.notEqual((await inBatch(4)).body[0]!.buffer, kept.body[0]!.buffer, 'asked for again after a commit');
});
