// Several services on one database are one service to their callers: page keys, revocations and quotas hold on all of them (contract 4.1,
// 7.3).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Server, Workshop } from '../service.ts';
import { barFlags, barsFile } from './asking.ts';
import { openDatabase, type PostgresDatabase, skip } from './server.ts';

const shop = new Workshop();
let server: PostgresDatabase;
let services: readonly Server[] = [];

before(async () => {
  if (skip !== false) return;
  server = await openDatabase();
  // Both find an empty database, and one of them makes the tables.
  services = await Promise.all([0, 1].map(() => shop.serve('--store', server.url)));
  await shop.must('import', 'bars', barsFile(shop, 100), ...barFlags, '--store', server.url);
});
after(async () => {
  shop.close();
  if (skip === false) await server.stop();
});

const createKey = (name: string, ...terms: readonly string[]): Promise<string> =>
  shop.must('keys', 'create', name, ...terms, '--store', server.url);

const ask = (at: number, target: string, key: string): Promise<Response> =>
  services[at % services.length]!.get(target, { headers: { authorization: `Bearer ${key}` } });

const BARS = '/api/v2/stock/bars/US:AAPL/1M/from/2025-02-03/to/2025-02-05?limit=70';
const CODES = '/api/v2/economic_calendar/event_codes/US';

type Bars = {
  readonly result: {
    readonly data: readonly { readonly datetime: string }[];
    readonly next_page_key: string | null;
  };
};

test('a walk of pages goes on at another service, and has every bar once (contract 4.1)', {
  skip,
}, async () => {
  const key = await createKey('walker');
  const opens: string[] = [];
  let [pages, target] = [0, BARS];
  for (;;) {
    const response = await ask(pages++, target, key);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const { data, next_page_key } = (JSON.parse(text) as Bars).result;
    opens.push(...data.map(({ datetime }) => datetime));
    if (next_page_key === null) break;
    target = `${BARS}&next_page_key=${next_page_key}`;
  }
  assert.equal(pages, 12);
  assert.equal(opens.length, 2 * 390);
  assert.deepEqual(opens, [...new Set(opens)].sort());
});

test('a revoked key is refused by every service within five seconds (contract 7.3)', { skip }, async () => {
  const key = await createKey('leaver');
  for (const at of services.keys()) assert.equal((await ask(at, CODES, key)).status, 200);
  const listed = JSON.parse(await shop.must('keys', 'list', '--json', '--store', server.url)) as unknown;
  const id = /"(?:id|key_id)":"(\w+)","name":"leaver"/.exec(JSON.stringify(listed))![1]!;
  await shop.must('keys', 'revoke', id, '--store', server.url);
  const revokedMs = performance.now();
  for (const at of services.keys())
    while ((await ask(at, CODES, key)).status !== 401) {
      assert.ok(performance.now() - revokedMs < 5_000, `service ${at} still takes it`);
      await sleep(50);
    }
});

test('a quota counts the requests to all services (contract 7.3)', { skip }, async () => {
  const limit = 40;
  for (let attempt = 1; ; attempt++) {
    const key = await createKey(`counted ${attempt}`, '--per-minute', String(limit));
    const minute = new Date().getUTCMinutes();
    const statuses: number[] = [];
    for (let at = 0; at < 2 * limit; at++) statuses.push((await ask(at, CODES, key)).status);
    // The next minute has its own count.
    if (new Date().getUTCMinutes() !== minute && attempt < 3) continue;
    const admitted = statuses.filter((status) => status === 200).length;
    assert.deepEqual([...new Set(statuses)], [200, 429]);
    assert.ok(admitted >= limit, `${admitted} of a quota of ${limit}`);
    // A service may not know yet of one request that another has counted.
    if (admitted <= limit + 1) return;
    // Where the machine has no time, the counts of the other services come late, and requests do not wait for them for ever (6.3).
    assert.ok(attempt < 5, `${admitted} of a quota of ${limit}`);
  }
});

test('what one command imports is answered by every service at once, and never an older state after it (contract 10)', {
  skip,
}, async () => {
  const key = await createKey('reader');
  for (const price of [110, 120, 130]) {
    await shop.must('import', 'bars', barsFile(shop, price), ...barFlags, '--store', server.url);
    for (const at of services.keys()) {
      const text = await (await ask(at, BARS, key)).text();
      const opens = new Set([...text.matchAll(/"open":([\d.]+)/g)].map(([, open]) => Number(open)));
      assert.deepEqual([...opens], [price], `service ${at}`);
    }
  }
});
