// Responses: envelope, headers, CSV, HEAD and OPTIONS (contract 5, 6.1, 6.6, 7.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  DAY,
  key,
  LATEST,
  openHandler,
  page,
  refused,
  runner,
  withKey,
} from '../../test/request-handler.ts';
import { fc } from '../../test/seed.ts';
import { barRecord } from '../contract/bars.ts';
import { fieldsOf } from '../contract/endpoint.ts';
import { limits } from '../contract/limits.ts';
import { headers as documented } from './openapi/document.ts';
import { ignoredHeader } from './response.ts';

test('HEAD has the status and headers of GET (contract 6.6)', async () => {
  const headers = { 'x-request-id': 'same' };
  for (const target of [
    withKey(DAY, '&limit=5'),
    withKey(DAY, '&format=csv'),
    withKey(DAY, '&limit=0'),
    LATEST,
    '/x',
  ]) {
    const [get, head] = [await ask(target, { headers }), await ask(target, { headers, method: 'HEAD' })];
    assert.deepEqual([head.status, head.headers], [get.status, get.headers]);
  }
});

test('OPTIONS is a 204 with Allow and the CORS headers, and needs no key (contract 6.6)', async () => {
  const { status, headers, text } = await ask(LATEST, { method: 'OPTIONS' });
  assert.deepEqual([status, text], [204, '']);
  for (const name of ['Allow', 'Access-Control-Allow-Methods'])
    assert.equal(headers[name], 'GET, HEAD, OPTIONS');
  assert.equal(headers['Access-Control-Allow-Origin'], '*');
  assert.ok(headers['X-Request-Id']);
  assert.equal(headers['Referrer-Policy'], 'no-referrer');
  refused(
    await ask('/api/v2/nothing', { method: 'OPTIONS' }),
    'unknown_path',
    undefined,
    'OPTIONS of no path',
  );
});

test('web pages of other origins may send what browsers and libraries add to a request (contract 6.6)', async () => {
  for (const path of [LATEST, '/api/v2/stock/bulk/bars/US/1M/from/2025-03-03/to/2025-03-03']) {
    const { headers } = await ask(path, { method: 'OPTIONS' });
    const allowed = headers['Access-Control-Allow-Headers']!.toLowerCase().split(', ');
    const added = ['content-type', 'user-agent', 'x-requested-with', 'mcp-protocol-version'];
    for (const name of ['authorization', 'if-none-match', 'if-range', 'range', 'x-request-id', ...added])
      assert.ok(allowed.includes(name), `${path}: ${name}`);
  }
});

test('web pages of other origins can read every header that the OpenAPI document names (contract 7.4)', async () => {
  const { headers } = await ask(withKey(LATEST));
  const exposed = headers['Access-Control-Expose-Headers']!.split(', ');
  assert.deepEqual(
    Object.keys(documented).filter((name) => !exposed.includes(name)),
    [],
  );
});

test('every other method is a 405 with Allow, a lower-case get too (contract 6.6)', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT', 'PROPFIND', 'get']) {
    const got = await ask(withKey(LATEST), { method });
    refused(got, 'method_not_allowed', undefined, method);
    assert.equal(got.headers.Allow, 'GET, HEAD, OPTIONS');
  }
});

test('a 401 says that a key is a bearer token, and no other answer does (RFC 9110, 15.5.2)', async () => {
  const cases: readonly (readonly [target: string, status: number, scheme: string | undefined])[] = [
    [LATEST, 401, 'Bearer'],
    [`${LATEST}?secret_key=a-key-that-nobody-has`, 401, 'Bearer'],
    [withKey(LATEST), 200, undefined],
    ['/x', 404, undefined],
  ];
  for (const [target, ...expected] of cases) {
    const { status, headers } = await ask(target);
    assert.deepEqual([status, headers['WWW-Authenticate']], expected, target);
  }
});

test('a data answer has the envelope of contract 6.1 and the headers of 7.4', async () => {
  const { text, headers } = await ask(withKey(LATEST, '&limit=1'));
  assert.ok(
    text.startsWith(
      '{"status":"ok","code":200,"message":"success","reference":null,"result":{"count":1,"data":[',
    ),
  );
  assert.equal(headers['Content-Type'], 'application/json; charset=utf-8');
  assert.equal(headers['Cache-Control'], 'private, no-cache');
  assert.equal(headers['Referrer-Policy'], 'no-referrer');
  assert.equal(headers['Access-Control-Allow-Origin'], '*');
  assert.equal(headers['Content-Length'], String(Buffer.byteLength(text)));
  assert.match(headers.Vary!, /\bAccept\b/);
});

const csvHeader = fieldsOf(barRecord)
  .filter((field) => field !== 'session_date')
  .join();

test('CSV has its type, its header row and its paging in headers (contract 5.1, 5.2)', async () => {
  const { text, headers } = await ask(withKey(DAY, '&format=CSV&limit=5'));
  assert.equal(headers['Content-Type'], 'text/csv; charset=utf-8; header=present');
  assert.equal(headers['Content-Length'], String(Buffer.byteLength(text)));
  assert.equal(headers['X-Count'], '5');
  assert.match(headers.Vary!, /\bAccept\b/);
  const lines = text.split('\r\n');
  assert.equal(lines.length, 7);
  assert.deepEqual([lines[0], lines[6]], [csvHeader, '']);
  assert.equal(
    lines[1],
    'STOCK,1M,US,,AAPL,2025-03-03T14:30:00+00:00,2025-03-03T14:31:00+00:00,1,3,0.5,2,0,',
  );
  const link = /^<(.*)>; rel="next"$/.exec(headers.Link!)![1]!;
  assert.equal(new URL(link).searchParams.get('next_page_key'), headers['X-Next-Page-Key']);
  const rest = await ask(`${link.replace('http://localhost:8080', '')}&limit=1000`);
  assert.equal(rest.text.split('\r\n').length, 9);
  assert.equal(rest.headers['X-Count'], '7');
  for (const name of ['Link', 'X-Next-Page-Key']) assert.ok(!(name in rest.headers), 'the last page');
});

test('CSV without rows is its header row (contract 5.1)', async () => {
  const { status, text, headers } = await ask(withKey(DAY.replaceAll('03-03', '03-04'), '&format=csv'));
  assert.deepEqual([status, text, headers['X-Count']], [200, `${csvHeader}\r\n`, '0']);
  assert.ok(!('Link' in headers));
  const empty = await page(withKey(DAY.replaceAll('03-03', '03-04')));
  assert.deepEqual(empty, { next_page_key: null, next_page_url: null, count: 0, data: [] });
});

test('CSV goes into the envelope for a client that names JSON and neither CSV nor */* (contract 5.3)', async () => {
  const target = withKey(DAY, '&format=csv&limit=5');
  const plain = await ask(target);
  for (const accept of [
    ...['application/json', 'Application/JSON; q=0.5', 'text/html, application/json'],
    // With the weight 0 a client refuses a type (RFC 9110, 12.4.2).
    ...['application/json, text/csv;q=0', 'application/json;q=0.001, */* ; q=0.000'],
  ]) {
    const { text, headers } = await ask(target, { headers: { accept } });
    assert.equal(headers['Content-Type'], 'application/json; charset=utf-8', accept);
    const { result } = JSON.parse(text) as { result: Record<string, unknown> };
    assert.deepEqual(Object.keys(result), ['next_page_key', 'next_page_url', 'count', 'data']);
    assert.deepEqual([result.count, result.data], [5, plain.text]);
    const next = (result.next_page_url as string).replace('http://localhost:8080', '');
    assert.equal((await ask(next)).headers['X-Count'], '5', 'the next page is CSV again');
  }
  const others = [
    'application/json;q=0',
    'application/json ; charset=utf-8 ; Q=0.0',
    undefined,
    '',
    '*/*',
    'text/csv',
    'text/html',
    'application/json, text/csv',
    'application/json, */*;q=0.1',
  ];
  for (const accept of others)
    assert.equal((await ask(target, { headers: { accept } })).text, plain.text, accept);
});

test('errors are the JSON envelope, also when CSV was asked for (contract 5.4)', async () => {
  const headers = { accept: 'text/csv' };
  refused(await ask(withKey(DAY, '&format=csv&limit=0'), { headers }), 'invalid_parameter', 'limit', 'csv');
  refused(await ask(`${DAY}?format=csv`, { headers }), 'missing_key', 'secret_key', 'csv');
  const unknown = await ask(withKey(DAY.replace('AAPL', 'ZZZZ'), '&format=csv'), { headers });
  refused(unknown, 'unknown_instrument', 'country_symbol', 'csv');
});

const known = [
  'limit',
  'sort',
  'adjust',
  'adjust_as_of',
  'from_date',
  'to_date',
  'next_page_key',
  'secret_key',
];

test('a name that other services have for a parameter is reported with ours (contract 4.4, 9.16, 9.17)', () => {
  const chain = ['strike_price', 'strike_from', 'strike_to', 'expiration_date', 'expiration_to'];
  const sent = ['strike_price.gte', 'strike_price_lte', 'expiration_date.lte', 'expiration_date.gte'];
  const told =
    'strike_price.gte (strike_from?), strike_price_lte (strike_to?), expiration_date.lte (expiration_to?), expiration_date.gte (expiration_date?)';
  assert.equal(ignoredHeader(sent, chain), told);
  assert.equal(
    ignoredHeader(['dateformat', 'timezone', 'fields'], ['timestamps', 'tz', 'columns']),
    'dateformat (timestamps?), timezone (tz?), fields (columns?)',
  );
  assert.equal(ignoredHeader(['dateformat'], known), 'dateformat');
});

const named: readonly [names: readonly string[], header: string | null][] = [
  [[], null],
  [['adjst'], 'adjst (adjust?)'],
  [['LIMIT', 'Sort'], 'LIMIT (limit?), Sort (sort?)'],
  [['from', 'to'], 'from (from_date?), to (to_date?)'],
  [['fromDate', 'next-page-key'], 'fromDate (from_date?), next-page-key (next_page_key?)'],
  [['secretkey', 'utm_source', '_'], 'secretkey (secret_key?), utm_source, _'],
  [['limit[]', 'a.b'], 'limit[] (limit?), a.b'],
  [['__proto__', 'constructor'], '__proto__, constructor'],
  [['a b', 'ü', 'x,y', 'n(m)', '%ZZ'], '5 more'],
  [['other', 'a\r\nSet-Cookie: a=b'], 'other, 1 more'],
];
for (const [names, header] of named) {
  test(`${JSON.stringify(names)} is reported as ${header} (contract 4.4)`, () => {
    assert.equal(ignoredHeader(names, known), header);
  });
}

test('a text as long as a key is counted, not shown: a mistyped address may have the key as a name (contract 4.4, 7.4)', () => {
  const secret = 'A'.repeat(32);
  assert.equal(ignoredHeader([secret, `secret_key=${secret}`, 'x'], known), 'x, 2 more');
});

test('the header is bounded, and has characters that every header may have, whatever was sent (contract 4.4)', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => `a${index}`);
  const header = ignoredHeader(many, known)!;
  assert.ok(header.endsWith(`, ${3_000 - limits.ignoredNamesMax} more`), header);
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', minLength: 1 }), { maxLength: 30 }), (names) => {
      const told = ignoredHeader(names, known) ?? '';
      assert.match(told, /^[\w.[\](), ?-]*$/);
      assert.ok(told.length <= 800, `${told.length}`);
    }),
  );
});

const IGNORED = 'X-Ignored-Parameters';

test('ignored parameters are named in a header once, on refusals and 304 too; web pages may read it (contract 4.4, 9.7)', async () => {
  const sent = 'adjst=split&limt=1&limt=2&utm=x&interval=5M&=&&';
  const named = 'adjst (adjust?), limt (limit?), utm, interval';
  const good = await ask(`${DAY}?${sent}&secret_key=${key}`);
  assert.deepEqual([good.status, good.headers[IGNORED]], [200, named]);
  assert.ok(good.headers['Access-Control-Expose-Headers']!.includes(IGNORED));
  const held = { headers: { 'if-none-match': good.headers.ETag } };
  const unchanged = await ask(`${DAY}?${sent}&secret_key=${key}`, held);
  assert.deepEqual([unchanged.status, unchanged.headers[IGNORED]], [304, named]);
  const refusals = [`limit=0&secret_key=${key}`, '', 'secret_key=', `secret_key=${'x'.repeat(43)}`];
  for (const other of refusals) {
    const refused = await ask(`${DAY}?${sent}&${other}`);
    assert.ok(refused.status >= 400, other);
    assert.equal(refused.headers[IGNORED], named, other);
  }
  const page = await ask(`/api/v2/news/list?from=2025-03-03&secret_key=${key}`);
  assert.deepEqual([page.status, page.headers[IGNORED]], [400, 'from (from_date?)']);
});

test('a request without unknown parameters has no such header, and no value is ever in it (contract 4.4, 7.4)', async () => {
  assert.equal((await ask(`${DAY}?limit=2&next_page_key=&secret_key=${key}`)).headers[IGNORED], undefined);
  for (const sent of [
    `secretkey=${key}`,
    `${key}`,
    `${key}=1`,
    `secret_key%3D${key}`,
    `a%0D%0AX:%20y=${key}`,
  ]) {
    const { headers } = await ask(`${DAY}?${sent}&secret_key=${key}`);
    assert.match(headers[IGNORED]!, /^(secretkey \(secret_key\?\)|1 more)$/, sent);
    assert.ok(!JSON.stringify(headers).includes(key.slice(0, 20)), sent);
  }
});

test('an answer from the response cache names the ignored parameters of its own address (contract 4.4)', async () => {
  const codes = '/api/v2/economic_calendar/event_codes/US';
  const plain = `${codes}?secret_key=${key}`;
  for (let round = 0; round < 3; round++) {
    assert.equal((await ask(`${plain}&formt=csv`)).headers[IGNORED], 'formt');
    assert.equal((await ask(plain)).headers[IGNORED], undefined);
  }
});

test('unknown parameters are ignored, hostile ones too (contract 4.4)', async () => {
  const plain = (await ask(withKey(DAY))).text;
  const others =
    '&_=1&limitx=0&LIMIT=0&__proto__=x&constructor=x&%=%&%ED%A0%80=1&x[]=y&=z&country_symbol=US:X&&;';
  assert.equal((await ask(withKey(DAY, others))).text, plain);
  assert.equal((await ask(withKey(LATEST, '&next_page_key=%'))).status, 200, 'no parameter of this endpoint');
});

test('an answer that is not cached gives its memory back once its response is released', async () => {
  const bodies: Uint8Array[] = [];
  const at = openHandler({
    submit: async (request) => {
      const given = await runner.run(request);
      if (given.kind === 'answer') bodies.push(given.body);
      return given;
    },
  });
  const hasMemory = (): boolean => !(bodies.at(-1)!.buffer as ArrayBuffer).detached;
  const rest = { method: 'GET', headers: { host: 'localhost:8080' }, isGone: () => false };
  const cached = { ...rest, target: withKey(DAY) };
  const version = (await ask(withKey(DAY))).headers['X-Data-Version'];
  const notCached = { ...rest, target: withKey(DAY, `&data_version=${version}`) };
  const first = await at.handle(notCached);
  const text = Buffer.concat(first.body).toString();
  assert.equal(first.status, 200, text);
  assert.ok(hasMemory(), 'it is not sent yet');
  first.release!();
  assert.ok(!hasMemory());
  const again = await at.handle(notCached);
  assert.equal(Buffer.concat(again.body).toString(), text);
  again.release!();
  const kept = await at.handle(cached);
  const page = Buffer.concat(kept.body).toString();
  kept.release!();
  assert.ok(hasMemory(), 'the cache has it');
  assert.equal(Buffer.concat((await at.handle(cached)).body).toString(), page);
  assert.equal(bodies.length, 3);
});
