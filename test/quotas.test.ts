// Quotas of keys, as callers of a running service with several workers meet them (contract 7.3, 7.5, 6.3).
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { GotRefusal } from './asking.ts';
import { type Server, Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const CODES = '/api/v2/holiday/holiday_codes/US';
const SECONDS_OF_A_DAY = 86_400;
let server = await shop.serve('--workers', '2');

/** Asks on a connection of its own, so that every worker is met. */
async function ask(secret: string, path = CODES, method = 'GET', at: Server = server) {
  const headers = { connection: 'close', authorization: `Bearer ${secret}` };
  // A refusal for want of time is none of the quota, and is not counted (contract 6.3).
  const response = await at.get(path, { method, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const toldBy = (headers: Headers): (number | null)[] =>
  ['limit', 'remaining'].map((name) => {
    const value = headers.get(`ratelimit-${name}`);
    return value === null ? null : Number(value);
  });

/** How many of some requests, one after the other, are admitted; the others find the quota used up. */
async function admittedOf(secret: string, requests: number): Promise<number> {
  let admitted = 0;
  for (let count = 0; count < requests; count++) {
    const { status } = await ask(secret);
    assert.ok(status === 200 || status === 429, String(status));
    if (status === 200) admitted++;
  }
  return admitted;
}

/** Runs a test of daily quotas again if midnight, which starts a new quota, passed during it, and says so. */
async function withinDay(t: TestContext, work: () => Promise<void>): Promise<void> {
  for (;;) {
    const day = new Date().getUTCDate();
    try {
      return await work();
    } catch (error) {
      if (new Date().getUTCDate() === day) throw error;
      t.diagnostic(`tried again after midnight: ${String(error)}`);
    }
  }
}

test('every answer to a key with a quota tells how it stands, whatever its status (contract 7.5)', async () => {
  // Where a page's worth of requests is a fiftieth, workers hear of each other a second later.
  const one = await shop.must('keys', 'create', 'told', '--per-day', '20');
  const asked = [
    [CODES, 'GET', 200],
    [CODES, 'HEAD', 200],
    ['/api/v2/stock/bars/US:NONE/DAY/latest', 'GET', 404],
    ['/api/v2/stock/bars/US:AAPL/DAY/latest?limit=0', 'GET', 400],
  ] as const;
  for (const [path, method, status] of asked) {
    const { status: got, headers } = await ask(one, path, method);
    assert.equal(got, status);
    const [limit, remaining] = toldBy(headers);
    assert.equal(limit, 20);
    assert.ok(remaining! < 20 && remaining! >= 16, `${remaining} remaining`);
    const reset = Number(headers.get('ratelimit-reset'));
    assert.ok(reset >= 1 && reset <= SECONDS_OF_A_DAY, `${reset}`);
    assert.match(
      headers.get('access-control-expose-headers')!,
      /RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset/,
    );
  }
});

test('requests that have not come to the key do not count, nor do keys without a quota (contract 6.4, 7.5)', async () => {
  const free = await shop.must('keys', 'create', 'free');
  const single = await shop.must('keys', 'create', 'single', '--per-day', '1');
  for (const { headers } of [
    await ask(free),
    await ask('unknown-unknown-unknown-unknown'),
    await ask(single, '/api/v2/none'),
    await ask(single, CODES, 'OPTIONS'),
    await ask(single, CODES, 'POST'),
  ])
    assert.deepEqual(toldBy(headers), [null, null]);
  assert.equal((await ask(single)).status, 200);
});

test('a used-up quota is a 429 with Retry-After, before parameters and data (contract 6.3, 6.4)', (t) =>
  withinDay(t, async () => {
    const single = await shop.must('keys', 'create', 'single', '--per-minute', '1000', '--per-day', '1');
    const before = await ask(single, '/api/v2/stock/bars/US:AAPL/DAY/latest?limit=0');
    assert.equal(before.status, 400);
    // The other worker may let one more through.
    await ask(single);
    await ask(single);
    const { status, headers, text } = await ask(single, '/api/v2/stock/bars/US:AAPL/DAY/latest?limit=0');
    assert.equal(status, 429);
    const { code, message, detail } = JSON.parse(text) as GotRefusal;
    assert.equal(code, 429);
    assert.equal(detail.error, 'rate_limited');
    assert.match(message, /quota of 1 request a day: try again in \d+ s\.$/);
    assert.deepEqual(toldBy(headers), [1, 0]);
    const retryAfter = Number(headers.get('retry-after'));
    assert.ok(retryAfter >= 1 && retryAfter <= SECONDS_OF_A_DAY, `${retryAfter}`);
    assert.equal(headers.get('ratelimit-reset'), String(retryAfter));
    assert.equal(headers.get('cache-control'), 'no-store');
  }));

test('workers share a quota, and a restart within the day gives no new one (contract 7.3)', (t) =>
  withinDay(t, async () => {
    const shared = await shop.must('keys', 'create', 'shared', '--per-day', '100');
    assert.equal(await admittedOf(shared, 70), 70);
    assert.equal(await server.stop(), 0);
    server = await shop.serve('--workers', '2');
    const admitted = await admittedOf(shared, 70);
    // A fiftieth of 100 for the one other worker, and more where its counts come late: requests do not wait
    // for them for ever. Workers that did not share would admit 60, and a new quota 70.
    assert.ok(admitted >= 30 && admitted <= 45, `${admitted} after 70 of 100`);
  }));
