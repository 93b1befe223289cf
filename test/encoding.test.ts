// Encoded answers of a running service (contract 9.7; RFC 9110, 12.5.3), told from bytes as they come.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { after, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { patiently, Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const opens = Array.from({ length: 1_100 }, (_, minute) =>
  new Date(Date.UTC(2025, 2, 3) + minute * 60_000).toISOString(),
);
const rows = opens.map((open, index) => `${open},100,300,50,${100 + index / 100},${index * 7}`);
writeFileSync(shop.path('minutes.csv'), ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
const flags = ['--schema', 'crypto', '--country', 'GLOBAL', '--symbol', 'BTCUSD', '--interval', '1M'];
await shop.must('import', 'bars', shop.path('minutes.csv'), ...flags);
const key = await shop.must('keys', 'create', 'encodings');
const server = await shop.serve();

type Raw = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** What an address answers, its body as it came. */
function askAt(address: string, headers: Record<string, string>, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const asked = request(address, { method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    asked.once('error', reject);
    asked.end();
  });
}

/** One answer. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  const separator = path.includes('?') ? '&' : '?';
  return askAt(`${server.url}/api/v2/${path}${separator}secret_key=${key}`, headers, method);
}

/** The page key pins the moment of its request. */
const withoutPageKeys = (text: string): string => text.replaceAll(/(next_page_key(?:":"|=))[\w-]+/g, '$1');

const decoded = ({ headers, body }: Raw): string => {
  const coding = headers['content-encoding'];
  if (coding === 'gzip') return gunzipSync(body).toString();
  return (coding === 'zstd' ? zstdDecompressSync(body) : body).toString();
};

const pages = [
  '/',
  '/docs',
  '/docs/using/import.html',
  '/docs/page.css',
  '/explorer/chart-view.ts',
  '/explorer/lib/lightweight-charts.standalone.production.mjs',
];

test('built-in pages that do not change come in the coding that the caller takes, the same text in each (RFC 9110, 12.5.3)', async () => {
  for (const path of pages) {
    const at = async (coding: string) => askAt(`${server.url}${path}`, { 'Accept-Encoding': coding });
    const whole = await at('identity');
    assert.equal(whole.headers['content-encoding'], undefined);
    for (const coding of ['gzip', 'zstd', 'gzip']) {
      const encoded = await at(coding);
      assert.deepEqual([encoded.status, encoded.headers['content-encoding']], [200, coding], path);
      assert.match(encoded.headers.vary!, /Accept-Encoding/);
      assert.equal(encoded.headers.etag, whole.headers.etag);
      assert.equal(Number(encoded.headers['content-length']), encoded.body.length);
      assert.ok(encoded.body.length < 0.6 * whole.body.length, path);
      assert.equal(decoded(encoded), whole.body.toString());
    }
    const held = { 'Accept-Encoding': 'gzip', 'If-None-Match': whole.headers.etag! };
    const known = await askAt(`${server.url}${path}`, held);
    assert.deepEqual([known.status, known.body.length], [304, 0]);
  }
});

const DAY = 'crypto/bars/GLOBAL:BTCUSD/1M/from/2025-03-03/to/2025-03-03';
/** A page that goes on, of 34 kB; one of 220 kB; CSV; CSV in the envelope; lists of other areas. */
const paths: readonly (readonly [path: string, accept: string])[] = [
  [DAY, '*/*'],
  [`${DAY}?limit=1000`, '*/*'],
  [`${DAY}?format=csv`, '*/*'],
  [`${DAY}?format=csv&limit=1000`, 'application/json'],
  ['crypto/bars/GLOBAL:BTCUSD/1M/latest', '*/*'],
  ['holiday/list?full_symbol=stock:US:*&format=json', '*/*'],
  ['economic_calendar/event_codes/US', '*/*'],
];

test('every data endpoint answers in gzip and in zstd, and what comes out is the plain body (contract 9.7)', async () => {
  for (const [path, accept] of paths) {
    const plain = await ask(path, { accept });
    assert.equal(plain.status, 200, path);
    assert.equal(plain.headers['content-encoding'], undefined);
    for (const coding of ['gzip', 'zstd']) {
      const answer = await ask(path, { accept, 'accept-encoding': coding });
      assert.equal(answer.headers['content-encoding'], coding, path);
      assert.equal(answer.headers['content-length'], String(answer.body.length));
      assert.ok(answer.body.length < plain.body.length / 2, `${path}: ${answer.body.length} bytes`);
      assert.equal(withoutPageKeys(decoded(answer)), withoutPageKeys(plain.body.toString()));
      for (const name of ['content-type', 'etag', 'vary', 'x-count'])
        assert.equal(answer.headers[name], plain.headers[name], `${path}: ${name}`);
    }
  }
});

test('the coding is the one that the caller likes best (RFC 9110, 12.5.3)', async () => {
  const table: readonly (readonly [sent: string, coding: string | undefined])[] = [
    ['', undefined],
    ['identity', undefined],
    ['br', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate', 'gzip'],
    ['gzip;q=1.0, zstd;q=0.9', 'gzip'],
    ['gzip;q=0.5,zstd;q=0.5', 'zstd'],
    ['zstd;q=0, gzip', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000, zstd ; q=0.001', 'zstd'],
    ['*', 'gzip'],
    ['*;q=0.1', 'gzip'],
    ['gzip;q=0, *', undefined],
    ['identity;q=0.5, gzip;q=0.4', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity, *;q=0.5', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['*;q=0', undefined],
    ['identity;q=0', undefined],
    ['gzip;q=2', undefined],
    ['gzip;level=9', undefined],
    ['gzip gzip', undefined],
    [',, gzip ,', 'gzip'],
  ];
  for (const [sent, coding] of table) {
    const { status, headers } = await ask(DAY, { 'accept-encoding': sent });
    assert.equal(status, 200);
    assert.equal(headers['content-encoding'], coding, JSON.stringify(sent));
  }
});

test('a small answer is sent as it is, unless its caller takes no such body (RFC 9110, 12.5.3)', async () => {
  const small = `${DAY}?limit=1`;
  const asked = await ask(small, { 'accept-encoding': 'gzip, zstd' });
  assert.equal(asked.headers['content-encoding'], undefined);
  for (const refusing of ['gzip, identity;q=0', 'gzip, *;q=0']) {
    const answer = await ask(small, { 'accept-encoding': refusing });
    assert.equal(answer.headers['content-encoding'], 'gzip');
    assert.equal(withoutPageKeys(decoded(answer)), withoutPageKeys(asked.body.toString()));
  }
});

test('every answer with data and each 304 vary by both headers (contract 5.3, 9.7)', async () => {
  for (const headers of [
    {},
    { 'accept-encoding': 'zstd' },
    { 'if-none-match': '*', 'accept-encoding': 'gzip' },
  ]) {
    const { headers: got } = await ask(DAY, headers);
    assert.equal(got.vary, 'Accept, Accept-Encoding');
  }
});

test('HEAD has the headers of GET, encoded too (contract 6.6, 9.7)', async () => {
  for (const [path, accept] of paths) {
    const headers = { accept, 'accept-encoding': 'zstd', 'x-request-id': 'same' };
    const [get, head] = [await ask(path, headers), await ask(path, headers, 'HEAD')];
    assert.equal(head.body.length, 0);
    // The page key pins the moment of its request, and bodies that differ by it may differ in length.
    const moving = ['date', 'link', 'x-next-page-key', 'content-length'];
    const without = (raw: Raw) => Object.entries(raw.headers).filter(([name]) => !moving.includes(name));
    const bytes = (raw: Raw): number => Number(raw.headers['content-length']);
    assert.ok(Math.abs(bytes(get) - bytes(head)) <= 32, `${bytes(get)} and ${bytes(head)} bytes`);
    assert.deepEqual(without(head), without(get));
  }
});

test('errors and 304s are not encoded (contract 9.7)', async () => {
  const encodings = { 'accept-encoding': 'gzip, zstd' };
  for (const [path, headers, status] of [
    [`${DAY}?limit=0`, encodings, 400],
    [DAY, { ...encodings, 'if-none-match': '*' }, 304],
  ] as const) {
    const answer = await ask(path, headers);
    assert.equal(answer.status, status);
    assert.equal(answer.headers['content-encoding'], undefined);
  }
});

test('large answers at once come whole (contract 9.7)', async () => {
  const wanted = JSON.parse((await ask(`${DAY}?limit=1000`)).body.toString()) as {
    result: { data: unknown };
  };
  const asked = Array.from({ length: 20 }, (_, index) =>
    patiently(() => ask(`${DAY}?limit=1000`, { 'accept-encoding': index % 2 === 0 ? 'gzip' : 'zstd' })),
  );
  for (const answer of await Promise.all(asked)) {
    assert.equal(answer.status, 200);
    const { result } = JSON.parse(decoded(answer)) as typeof wanted;
    assert.deepEqual(result.data, wanted.result.data);
  }
});
