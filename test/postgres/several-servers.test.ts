// Several services on one database are one service to their callers: page keys, revocations and quotas hold
// on all of them (contract 4.1, 7.3).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Server, Workshop } from '../service.ts';
import { until } from '../until.ts';
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

test('a revoked key is refused by every service (contract 7.3)', { skip }, async () => {
  const key = await createKey('leaver');
  for (const at of services.keys()) assert.equal((await ask(at, CODES, key)).status, 200);
  const listed = JSON.parse(await shop.must('keys', 'list', '--json', '--store', server.url)) as unknown;
  const id = /"(?:id|key_id)":"(\w+)","name":"leaver"/.exec(JSON.stringify(listed))![1]!;
  await shop.must('keys', 'revoke', id, '--store', server.url);
  for (const at of services.keys())
    await until(`service ${at} refuses it`, async () => (await ask(at, CODES, key)).status === 401);
});

const day = (): number => new Date().getUTCDate();

test('a quota counts the requests to all services (contract 7.3)', { skip }, async () => {
  const limit = 40;
  for (let isOneDay = false; !isOneDay; ) {
    const [key, today] = [await createKey(`counted on ${day()}`, '--per-day', String(limit)), day()];
    const statuses: number[] = [];
    for (let asked = 0; asked < limit; asked++) statuses.push((await ask(0, CODES, key)).status);
    let refused = -1;
    // The other service may not know yet what this one has counted; its own count would not be over.
    for (let asked = 0; asked < limit && refused < 0; asked++, await sleep(500))
      if ((await ask(1, CODES, key)).status === 429) refused = asked;
    // The next day has its own count.
    isOneDay = day() === today;
    if (!isOneDay) continue;
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.ok(refused >= 0, 'the other service counts alone');
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
