// Unsent answers as the request handler counts them, before and after their queries (contract 6.3).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  control,
  DAY,
  key,
  nothing,
  openHandler,
  refused,
  runner,
  withKey,
} from '../../../test/request-handler.ts';
import { listLimits } from '../../contract/limits.ts';
import type { Answer } from '../../queries/query.ts';
import { readKeys } from '../../store/control.ts';
import type { RequestHandler } from '../handler.ts';
import { issueKey, KeyRing, noTerms } from '../keys/api-keys.ts';
import { httpLimits } from '../limits.ts';
import { UnsentBytes } from './unsent-bytes.ts';

test('at a key’s bound of unsent answers its requests alone are refused, before any query (contract 6.3)', async () => {
  const { secret: other } = await issueKey(control, 'other', noTerms, Date.now());
  const unsent = new UnsentBytes({ perKeyMax: 1_000 });
  let asked = 0;
  const at = openHandler({
    unsent,
    keys: new KeyRing(() => readKeys(control)),
    submit: (request) => {
      asked++;
      return runner.run(request);
    },
  });
  const unread = await at.handle({
    method: 'GET',
    target: withKey(DAY),
    headers: { host: 'localhost' },
    isGone: () => false,
  });
  assert.ok(unsent.of(unread.owner!) >= 1_000);
  const over = await ask(withKey(DAY), { at });
  refused(over, 'unavailable', undefined, 'not read yet');
  assert.equal(over.headers['Retry-After'], '1');
  assert.equal(asked, 1, 'no query for it');
  refused(
    await ask(withKey(DAY, '&limit=0'), { at }),
    'invalid_parameter',
    'limit',
    'its own mistake comes first',
  );
  assert.equal((await ask(`${DAY}?secret_key=${other}`, { at })).status, 200);
  const before = unsent.total;
  unread.release!();
  unread.release!();
  assert.equal(unsent.total, before - Buffer.concat(unread.body).length, 'released once');
  assert.equal((await ask(withKey(DAY), { at })).status, 200);
});

test('answers that together exceed the bound are not kept, and free their buffers (contract 6.3)', async () => {
  const unsent = new UnsentBytes({ perKeyMax: 1_000 });
  let released = 0;
  const at = openHandler({
    unsent,
    submit: async (request) => {
      const answer = await runner.run(request);
      let isHeld = true;
      const release = (): void => {
        if (isHeld) released++;
        isHeld = false;
      };
      return answer.kind === 'answer' ? { ...answer, release } : answer;
    },
  });
  const all = await Promise.all(Array.from({ length: 5 }, () => ask(withKey(DAY), { at })));
  assert.deepEqual(
    all.map(({ status }) => status),
    [200, 503, 503, 503, 503],
  );
  assert.equal(released, 5, 'the one that is served was copied into the cache');
});

test('at the bound of all unsent answers all but health is refused; who has no key has another bound (contract 6.3, 9.3)', async () => {
  const bytes = httpLimits.smallPageBytes;
  const pageOf = (length: number) => () => ({
    headers: {},
    body: [Buffer.from(`"${'x'.repeat(length - 2)}"`)],
  });
  const pages = new Map([
    ['/page', pageOf(bytes + 1)],
    ['/healthz', pageOf(bytes)],
  ]);
  const whole = openHandler({ pages, unsent: new UnsentBytes({ totalMax: 1_000 }) });
  assert.equal((await ask(withKey(DAY), { at: whole })).status, 200);
  refused(await ask(withKey(DAY), { at: whole }), 'unavailable', undefined, 'data');
  refused(await ask('/page', { at: whole }), 'unavailable', undefined, 'page');
  assert.equal((await ask('/healthz', { at: whole })).status, 200);
  const anonymous = openHandler({ pages, unsent: new UnsentBytes({ anonymousMax: 2 * bytes }) });
  const statuses = [];
  for (let count = 0; count < 3; count++) statuses.push((await ask('/page', { at: anonymous })).status);
  assert.deepEqual(statuses, [200, 200, 503]);
  assert.equal((await ask('/healthz', { at: anonymous })).status, 200);
  assert.equal((await ask(withKey(DAY), { at: anonymous })).status, 200);
});

test('requests count before their large answers are there, so that few queries run for one caller (contract 6.3)', async () => {
  const unsent = new UnsentBytes({ perKeyMax: 10_000 });
  let asked = 0;
  const held: (() => void)[] = [];
  const at = openHandler({
    unsent,
    submit: async (request) => {
      asked++;
      if (asked > 1) await new Promise<void>((resolve) => held.push(resolve));
      return runner.run(request);
    },
  });
  const first = await at.handle({
    method: 'GET',
    target: withKey(DAY, '&limit=12'),
    headers: { host: 'localhost' },
    isGone: () => false,
  });
  const { length } = Buffer.concat(first.body);
  first.release!();
  const all = Array.from({ length: 20 }, () => ask(withKey(DAY, '&limit=12'), { at }));
  const admitted = Math.ceil(10_000 / length);
  await new Promise(setImmediate);
  assert.ok(asked - 1 <= admitted, `${asked - 1} queries`);
  for (const finish of held) finish();
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  assert.ok(statuses.filter((status) => status === 200).length >= 2, statuses.join());
  assert.ok(statuses.filter((status) => status === 503).length >= 20 - admitted, statuses.join());
});

/**
 * News that `submit` answers with so many bytes each, in the order of the requests; with null the answer
 * never comes.
 */
function openNewsOf(sizes: readonly (number | null)[], unsent: UnsentBytes): RequestHandler {
  let next = 0;
  return openHandler({
    unsent,
    keys: new KeyRing(() => readKeys(control)),
    submit: () => {
      const bytes = sizes[next++] ?? null;
      if (bytes === null) return new Promise(() => undefined);
      return Promise.resolve({ ...nothing, body: Buffer.alloc(bytes) });
    },
  });
}

/** Asks for news and reads the answer at once; its status. */
async function statusOfNews(at: RequestHandler, limit: number, secret = key): Promise<number> {
  const target = `/api/v2/news/list?from_date=2025-01-01&to_date=2025-12-31&limit=${limit}&secret_key=${secret}`;
  const response = await at.handle({
    method: 'GET',
    target,
    headers: { host: 'localhost' },
    isGone: () => false,
  });
  response.release?.();
  return response.status;
}

test('a waiting request counts as the largest answer at most: one long record refuses nobody (contract 6.3)', async () => {
  const { secret: other } = await issueKey(control, 'honest', noTerms, Date.now());
  const unsent = new UnsentBytes();
  const at = openNewsOf([1_000_000, null, 1_000], unsent);
  assert.equal(await statusOfNews(at, 1), 200);
  void statusOfNews(at, listLimits.news.max);
  while (unsent.total === 0) await new Promise(setImmediate);
  assert.equal(unsent.total, 1_000_000);
  assert.equal(await statusOfNews(at, 1, other), 200, 'of the other key');
});

test('answers far larger than expected are held up to the bound and one more; the next are expected large (contract 6.3)', async () => {
  const large = 8_000_000;
  const unsent = new UnsentBytes({ perKeyMax: 3 * large });
  const limit = listLimits.news.max;
  const at = openNewsOf([1_000, ...Array<number>(20).fill(large)], unsent);
  assert.equal(await statusOfNews(at, limit), 200);
  const ask = () =>
    at.handle({
      method: 'GET',
      target: `/api/v2/news/list?from_date=2025-01-01&to_date=2025-12-31&limit=${limit}&secret_key=${key}`,
      headers: { host: 'localhost' },
      isGone: () => false,
    });
  const all = await Promise.all(Array.from({ length: 20 }, ask));
  assert.equal(all.filter(({ status }) => status === 200).length, 3);
  assert.ok(unsent.total < 4 * large, `${unsent.total} bytes`);
  for (const { release } of all) release?.();
  assert.equal(unsent.total, 0);
  const waiting = Array.from({ length: 20 }, ask);
  await new Promise(setImmediate);
  assert.equal(Math.floor(unsent.total / large), 3, 'the other seventeen are refused before their queries');
  const refusals = await Promise.all(waiting.slice(3));
  assert.ok(refusals.every(({ status }) => status === 503));
});

test('an answer that is no larger than expected is not judged again when it is there (contract 6.3)', async () => {
  const unsent = new UnsentBytes({ totalMax: 10_000 });
  const { promise, resolve: finish } = Promise.withResolvers<Answer>();
  const answers = [Promise.resolve({ ...nothing, body: Buffer.alloc(5_000) }), promise];
  const at = openHandler({ unsent, submit: () => answers.shift()! });
  assert.equal(await statusOfNews(at, 10), 200);
  const waiting = statusOfNews(at, 10);
  while (unsent.total === 0) await new Promise(setImmediate);
  unsent.hold('another', 10_000);
  finish({ ...nothing, body: Buffer.alloc(5_000) });
  assert.equal(await waiting, 200);
});
