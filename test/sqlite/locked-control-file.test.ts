// The HTTP thread never waits: another process holds the lock of the control file for seconds, and everything
// is answered at once.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Workshop } from '../service.ts';
import { until } from '../until.ts';

const shop = new Workshop();
after(() => shop.close());

const CODES = '/api/v2/holiday/holiday_codes/US';
/** Less than a writer waits for a lock: an answer that waits for one takes as long as it is held. */
const LOCKED_MS = 5_000;

/**
 * The clock of this process: it stands while the machine has no time for it, so that an answer is as late as
 * it was waited for.
 */
const TICK_MS = 20;
const LATE_TICKS = 3_000 / TICK_MS;
let ticks = 0;
setInterval(() => ticks++, TICK_MS).unref();

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

/**
 * The number of requests that the control file has of each key with a quota by the day, by the key's name.
 */
function countedByName(): Readonly<Record<string, number>> {
  const control = new DatabaseSync(shop.path('bourse.control.db'), { readOnly: true });
  const rows = control
    .prepare("select name, used from quota_uses join api_keys using (key_id) where span = 'day'")
    .all() as { name: string; used: number }[];
  control.close();
  return Object.fromEntries(rows.map(({ name, used }) => [name, used]));
}

type Timed = { readonly status: number; readonly took: number; readonly remaining: number };

async function timed(path: string, secret?: string): Promise<Timed> {
  const started = ticks;
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  const response = await server.get(path, { headers });
  await response.arrayBuffer();
  const remaining = Number(response.headers.get('ratelimit-remaining'));
  return { status: response.status, took: ticks - started, remaining };
}

/** Asks again and again, one request after the other, until the moment, and more than ten times. */
async function askUntil(endMs: number, ask: () => Promise<Timed>): Promise<Timed[]> {
  const all: Timed[] = [];
  while (performance.now() < endMs || all.length <= 10) {
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
      const slowest = Math.max(...answers.map(({ took }) => took));
      assert.ok(slowest < LATE_TICKS, `${what}: ${slowest} ticks`);
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
  await until(
    () => `what was counted meanwhile is written: ${JSON.stringify([countedByName(), byName])}`,
    () => isDeepStrictEqual(countedByName(), byName),
  );
});

test('a revocation holds while the control file is locked again (contract 7.3)', async () => {
  const id = (await shop.must('keys', 'list'))
    .split('\n')
    .find((line) => line.includes(' known '))!
    .split(/\s+/)[0]!;
  await shop.must('keys', 'revoke', id);
  await whileLocked(async () => {
    await until('the revocation holds', async () => (await timed(CODES, key)).status === 401);
  });
});
