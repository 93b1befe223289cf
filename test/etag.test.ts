// Entity tags and what is asked with them, of a running service (contract 9.7; RFC 9110, 8.8, 13.1.2 and
// 15.4.5).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { type Server, Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const opens = Array.from({ length: 30 }, (_, minute) => `2025-03-03T14:${30 + minute}:00Z`);

/** Imports the minutes, the close of the last one as given. */
async function importMinutes(lastClose: string): Promise<void> {
  const rows = opens.map((open, index) => `${open},1,3,0.5,${index === 29 ? lastClose : 2},100`);
  writeFileSync(shop.path('minutes.csv'), ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'AAPL', '--interval', '1M'];
  await shop.must('import', 'bars', shop.path('minutes.csv'), ...flags);
}

await importMinutes('2.25');
const keys = [await shop.must('keys', 'create', 'one'), await shop.must('keys', 'create', 'two')];
let server = await shop.serve('--workers', '2');

type Asked = { readonly key?: string; readonly headers?: Record<string, string>; readonly method?: string };

/** Asks on a connection of its own, so that every worker is met. */
async function ask(
  path: string,
  { key = keys[0]!, headers = {}, method = 'GET' }: Asked = {},
  at: Server = server,
) {
  const response = await at.get(`/api/v2/${path}${path.includes('?') ? '&' : '?'}secret_key=${key}`, {
    method,
    headers: { connection: 'close', ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const tagOf = async (path: string, asked: Asked = {}): Promise<string> => {
  const { status, headers, text } = await ask(path, asked);
  assert.equal(status, 200, text);
  return headers.get('etag')!;
};

const BARS = 'stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03';
const paths = {
  lastPage: BARS,
  firstPage: `${BARS}?limit=7`,
  csv: `${BARS}?format=csv`,
  firstCsvPage: `${BARS}?format=csv&limit=7`,
  latest: 'stock/bars/US:AAPL/1M/latest?limit=3',
  reference: 'stock/reference/US:AAPL',
  holidays: 'holiday/list?full_symbol=stock:US:*&format=json&limit=5',
  codes: 'holiday/holiday_codes/US',
  events: 'economic_calendar/event_list?from_date=2025-01-01&to_date=2025-02-01',
};
const ALL = Object.entries(paths);

test('an empty list of bars says why, in a 304 and to web pages too (contract 9.7, 9.18)', async () => {
  const path = 'stock/bars/US:AAPL/1M/from/2010-01-01/to/2010-02-01';
  const reason = 'nothing is stored between 2010-01-01 and 2010-02-01; stored: 1M 2025-03-03 to 2025-03-03';
  for (let count = 0; count < 4; count++) {
    const { headers, text } = await ask(path);
    assert.match(text, /"count":0/);
    assert.equal(headers.get('x-no-data'), reason);
    assert.match(headers.get('access-control-expose-headers')!, /\bX-No-Data\b/);
    const held = await ask(path, { headers: { 'if-none-match': headers.get('etag')! } });
    assert.deepEqual([held.status, held.headers.get('x-no-data')], [304, reason]);
  }
});

test('every data endpoint gives a weak tag, the same for every key, worker and moment, and after a restart (contract 9.7)', async () => {
  const tags = new Map<string, string>();
  for (const [name, path] of ALL) {
    const found = new Set<string>();
    for (let count = 0; count < 4; count++) found.add(await tagOf(path, { key: keys[count % 2]! }));
    assert.equal(found.size, 1, `${name}: ${[...found].join()}`);
    const [tag] = found;
    assert.match(tag!, /^W\/"[!#-~]+"$/);
    tags.set(name, tag!);
  }
  assert.equal(new Set(tags.values()).size, ALL.length, 'other answers have other tags');
  assert.equal(await server.stop(), 0);
  server = await shop.serve('--workers', '2');
  for (const [name, path] of ALL) assert.equal(await tagOf(path), tags.get(name), name);
});

test('the tag is that of the form an answer has, not of who asked how (contract 5.3, 9.7)', async () => {
  const wrapped = { headers: { accept: 'application/json' } };
  const plain = await tagOf(paths.csv);
  assert.notEqual(await tagOf(paths.csv, wrapped), plain);
  assert.equal(await tagOf(paths.lastPage, wrapped), await tagOf(paths.lastPage));
  const bearer = { method: 'GET', headers: { authorization: `Bearer ${keys[0]}`, connection: 'close' } };
  const response = await server.get(`/api/v2/${paths.firstPage}`, bearer);
  assert.equal(response.headers.get('etag'), await tagOf(paths.firstPage));
  assert.doesNotMatch(await response.text(), /secret_key/);
});

test('what a caller holds is a 304 without body, with the headers that a cache needs (RFC 9110, 15.4.5)', async () => {
  for (const [name, path] of ALL) {
    const tag = await tagOf(path);
    for (const method of ['GET', 'HEAD']) {
      const headers = { 'if-none-match': tag, 'x-request-id': 'mine' };
      const answer = await ask(path, { method, headers });
      assert.equal(answer.status, 304, name);
      assert.equal(answer.text, '');
      assert.equal(answer.headers.get('etag'), tag);
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache');
      assert.match(answer.headers.get('vary')!, /\bAccept\b/);
      assert.equal(answer.headers.get('x-request-id'), 'mine');
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      for (const absent of ['content-type', 'content-length', 'transfer-encoding', 'link', 'x-count'])
        assert.equal(answer.headers.get(absent), null, absent);
    }
  }
});

test('the 304 of a page in CSV has the key of the next page as of now, that of the last page none (contract 5.2, 9.7)', async () => {
  const held = { headers: { 'if-none-match': await tagOf(paths.firstCsvPage) } };
  const { status, headers } = await ask(paths.firstCsvPage, held);
  assert.equal(status, 304);
  const next = await ask(`${paths.firstCsvPage}&next_page_key=${headers.get('x-next-page-key')}`);
  assert.equal(next.text.split('\r\n')[1]!.split(',')[5], opens[7]!.replace('Z', '+00:00'));
  const last = await ask(paths.csv, { headers: { 'if-none-match': await tagOf(paths.csv) } });
  assert.deepEqual([last.status, last.headers.get('x-next-page-key')], [304, null]);
});

test('tags are compared weakly, in lists, and a star is any (RFC 9110, 13.1.2)', async () => {
  const tag = await tagOf(BARS);
  const strong = tag.slice(2);
  const held = [tag, strong, '*', ` ${tag} `, `"a", ${tag}`, `W/"a,b",${strong},"c"`, `"",${tag}`];
  for (const sent of held) {
    assert.equal((await ask(BARS, { headers: { 'if-none-match': sent } })).status, 304, sent);
  }
  const others = [
    '"a"',
    'W/"a"',
    strong.slice(1, -1),
    strong.toUpperCase().replace(/"$/, 'X"'),
    '"*"',
    '',
    ',',
  ];
  for (const sent of others) {
    assert.equal((await ask(BARS, { headers: { 'if-none-match': sent } })).status, 200, sent);
  }
});

test('errors have no tag, and what is wrong is told whatever a caller holds (contract 6.4, 9.7)', async () => {
  const headers = { 'if-none-match': '*' };
  for (const [path, status] of [
    [`${BARS}?limit=0`, 400],
    ['stock/bars/US:NONE/1M/latest', 404],
  ] as const) {
    const answer = await ask(path, { headers });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get('etag'), null);
  }
  assert.equal((await ask(BARS, { headers, key: 'unknown-unknown-unknown' })).status, 401);
});

test('a browser of another origin may send a tag and read one (contract 9.7)', async () => {
  const response = await server.get(`/api/v2/${BARS}`, { method: 'OPTIONS' });
  assert.match(response.headers.get('access-control-allow-headers')!, /If-None-Match/);
  assert.match(response.headers.get('access-control-expose-headers')!, /ETag/);
});

test('a 304 counts for a quota and tells how it stands (contract 7.5)', async () => {
  const key = await shop.must('keys', 'create', 'quota', '--per-day', '1000');
  const { status, headers } = await ask(BARS, { key, headers: { 'if-none-match': '*' } });
  assert.equal(status, 304);
  assert.equal(headers.get('ratelimit-remaining'), '999');
});

test('other data is another tag where it is seen, one digit of one bar (contract 9.7)', async () => {
  const before = new Map<string, string>();
  for (const [name, path] of ALL) before.set(name, await tagOf(path));
  await importMinutes('2.26');
  const changed: string[] = [];
  for (const [name, path] of ALL) if ((await tagOf(path)) !== before.get(name)) changed.push(name);
  assert.deepEqual(changed, ['lastPage', 'csv', 'latest']);
});
