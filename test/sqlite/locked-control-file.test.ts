// The HTTP thread never waits: another process holds the lock of the control file for seconds, and everything is answered at once.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Workshop } from '../service.ts';

const shop = new Workshop();
after(() => shop.close());

const CODES = '/api/v2/holiday/holiday_codes/US';
const LOCKED_MS = 4_000;
/** Well under a second, also on a busy machine. */
const ANSWER_MS_MAX = 800;

const server = await shop.serve();
const key = await shop.must('keys', 'create', 'known', '--per-day', '20000');
const unknown = await shop.must('keys', 'create', 'not asked with before', '--per-day', '10');

/** Holds the locks that every write takes, as `bourse keys` and `bourse import` do, while `work` runs. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const others = ['bourse.control.db', 'bourse.db'].map((name) => new DatabaseSync(shop.path(name)));
  for (const other of others) other.exec('begin exclusive');
  try {
    await work();
  } finally {
    for (const other of others) other.close();
  }
}

/** The number of requests that the control file has of each key with a quota by the day, by the key's name. */
function countedByName(): Readonly<Record<string, number>> {
  const control = new DatabaseSync(shop.path('bourse.control.db'), { readOnly: true });
  const rows = control
    .prepare("select name, used from quota_uses join api_keys using (key_id) where span = 'day'")
    .all() as { name: string; used: number }[];
  control.close();
  return Object.fromEntries(rows.map(({ name, used }) => [name, used]));
}

type Timed = { readonly status: number; readonly tookMs: number; readonly remaining: number };

async function timed(path: string, secret?: string): Promise<Timed> {
  const startedMs = performance.now();
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  const response = await server.get(path, { headers });
  await response.arrayBuffer();
  const remaining = Number(response.headers.get('ratelimit-remaining'));
  return { status: response.status, tookMs: performance.now() - startedMs, remaining };
}

/** Asks again and again, one request after the other, until the moment. */
async function askUntil(endMs: number, ask: () => Promise<Timed>): Promise<Timed[]> {
  const all: Timed[] = [];
  while (performance.now() < endMs) {
    all.push(await ask());
    await sleep(20);
  }
  return all;
}

test('with the control file locked for seconds, probes and keys with a quota are answered at once (house, Rules)', async () => {
  await timed(CODES, key);
  let counted = 1;
  await whileLocked(async () => {
    const endMs = performance.now() + LOCKED_MS;
    const [probes, known, fresh] = await Promise.all([
      askUntil(endMs, () => timed('/healthz')),
      askUntil(endMs, () => timed(CODES, key)),
      askUntil(endMs, () => timed(CODES, unknown)),
    ]);
    for (const [what, answers] of Object.entries({ probes, known, fresh })) {
      const slowest = Math.max(...answers.map(({ tookMs }) => tookMs));
      assert.ok(slowest < ANSWER_MS_MAX, `${what}: ${slowest} ms`);
      assert.ok(answers.length > 20, `${what}: ${answers.length} answers in ${LOCKED_MS} ms`);
    }
    for (const { status } of [...probes, ...known]) assert.equal(status, 200);
    // This process knows what it has answered itself.
    assert.deepEqual(
      fresh.map(({ status }) => status),
      fresh.map((_, index) => (index < 10 ? 200 : 429)),
    );
    counted += known.length;
    assert.equal(known.at(-1)!.remaining, 20_000 - counted);
  });
  const byName = { known: counted, 'not asked with before': 10 };
  for (const endMs = performance.now() + 10_000; performance.now() < endMs; await sleep(100))
    if (isDeepStrictEqual(countedByName(), byName)) break;
  assert.deepEqual(countedByName(), byName, 'what was counted meanwhile is written once the lock is free');
});

test('a revocation holds within 5 seconds while the control file is locked again (contract 7.3)', async () => {
  const id = (await shop.must('keys', 'list'))
    .split('\n')
    .find((line) => line.includes(' known '))!
    .split(/\s+/)[0]!;
  await shop.must('keys', 'revoke', id);
  const revokedMs = performance.now();
  await whileLocked(async () => {
    while ((await timed(CODES, key)).status !== 401) {
      assert.ok(performance.now() - revokedMs < 5_000, 'after 5 seconds');
      await sleep(50);
    }
  });
});
