// The request handler in process, over a real store: checks in order, envelopes, addresses, headers (contract 4, 5, 6, 7).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { TestFolder } from '../../test/stores.ts';
import type { Observation } from '../base/observe.ts';
import { barRecord } from '../contract/bars.ts';
import { fieldsOf } from '../contract/endpoint.ts';
import { type ErrorWord, errors } from '../contract/errors.ts';
import { contract, type EndpointName } from '../contract/index.ts';
import { limits, listLimits } from '../contract/limits.ts';
import type { Parameter } from '../contract/parameter.ts';
import { openSources } from '../files/source.ts';
import { issueKey, KeyRing, noTerms, revokeKey } from '../keys/api-keys.ts';
import { Quotas } from '../keys/quotas.ts';
import { importBars } from '../loading/bars.ts';
import { importFile } from '../loading/importers.ts';
import type { MappedFile } from '../mapping/column-mapping.ts';
import { ownNames } from '../mapping/column-mapping.ts';
import { QueryRunner } from '../queries/index.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { addQuotaUses, readKeys } from '../store/control.ts';
import { openControl, openStore } from '../store/engines.ts';
import type { AddressSettings } from './base-address.ts';
import { ResponseCache } from './cache/response-cache.ts';
import { type HandlerParts, RequestHandler } from './handler.ts';
import { httpLimits } from './limits.ts';
import { QueueError } from './queue/query-queue.ts';
import { UnsentBytes } from './sending/unsent-bytes.ts';

/** A file that a test has written, ready to be imported. */
const opened = async (path: string): Promise<MappedFile> =>
  (await openSources(path, process.stdin, ownNames).next()).value as MappedFile;

const temporary = new TestFolder();
const { folder } = temporary;
const storeUrl = temporary.storeUrl();
const writer = await openStore(storeUrl, 'write');
const opens = Array.from({ length: 12 }, (_, index) => `2025-03-03T14:${30 + index}:00Z`);
const file = join(folder, 'aapl.csv');
writeFileSync(
  file,
  ['datetime,open,high,low,close,volume', ...opens.map((open, i) => `${open},1,3,0.5,2,${i}`), ''].join('\n'),
);
const named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL', interval: '1M' };
await importBars(writer, {
  file: await opened(file),
  flags: new Map(Object.entries(named)),
  zone: null,
  basis: 'raw',
  source: null,
  dryRun: false,
  nowMs: Date.now,
});
const eventFile = join(folder, 'events.csv');
writeFileSync(
  eventFile,
  'country_iso_code,event_code,event_name,event_timestamp,impact\nUS,GDP_A,A,2025-03-03T14:30:00Z,low\n',
);
const unnamed = { flags: new Map<string, string>(), zone: null, source: null, dryRun: false };
await importFile(writer, 'economic-events', { file: await opened(eventFile), ...unnamed, nowMs: Date.now });
const control = await openControl(storeUrl, 'write');
const store = await openStore(storeUrl, 'read');
const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
const keys = new KeyRing(() => readKeys(control));
const { secret: key } = await issueKey(control, 'test', noTerms, Date.now());
after(async () => {
  for (const open of [writer, control, store]) await open.close();
  temporary.close();
});

const observed: Observation[] = [];
const address: AddressSettings = {
  publicUrl: null,
  allowedHosts: ['bars.example.com'],
  trustProxy: false,
  scheme: 'http',
};

function openHandler(parts: Partial<HandlerParts> = {}): RequestHandler {
  return new RequestHandler({
    pages: new Map(),
    keys,
    cache: new ResponseCache(store),
    quotas: new Quotas({
      addUses: (uses) => addQuotaUses(control, uses, Date.now),
      observe: (observation) => observed.push(observation),
      nowMs: Date.now,
    }),
    unsent: new UnsentBytes(),
    submit: (request) => runner.run(request),
    address,
    observe: (observation) => observed.push(observation),
    nowMs: Date.now,
    ...parts,
  });
}

const handler = openHandler();

type Sent = { method?: string; headers?: Record<string, string | undefined>; at?: RequestHandler };
type Got = { status: number; headers: Readonly<Record<string, string>>; text: string };

async function ask(target: string, { method = 'GET', headers = {}, at = handler }: Sent = {}): Promise<Got> {
  const request = { method, target, headers: { host: 'localhost:8080', ...headers }, isGone: () => false };
  const response = await at.handle(request);
  return { ...response, text: Buffer.concat(response.body).toString() };
}

const DAY = '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03';

const IGNORED = 'X-Ignored-Parameters';

test('ignored parameters are named in a header, each once, also on refusals and on 304, and web pages may read it (contract 4.4, 9.7)', async () => {
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
const LATEST = '/api/v2/stock/bars/US:AAPL/1M/latest';
const withKey = (path: string, query = ''): string => `${path}?secret_key=${key}${query}`;

type Page = {
  next_page_key: string | null;
  next_page_url: string | null;
  count: number;
  data: Record<string, unknown>[];
};

async function page(target: string, sent: Sent = {}): Promise<Page> {
  const { status, text } = await ask(target, sent);
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { result: Page }).result;
}

type Detail = {
  error: string;
  param?: string;
  got?: string;
  allowed?: unknown;
  hint?: string;
  request_id: string;
};

/** Holds a response to contract 6.2 and 7.4, and to one word and parameter. */
function refused(
  got: Got,
  words: ErrorWord | readonly ErrorWord[],
  param: string | undefined,
  what: string,
): Detail {
  const body = JSON.parse(got.text) as { code: number; message: string; detail: Detail };
  const { detail } = body;
  assert.ok([words].flat().includes(detail.error as ErrorWord), `${what}: ${detail.error} ${body.message}`);
  assert.equal(detail.param, param, `${what}: ${body.message}`);
  const code = errors[detail.error as ErrorWord].status;
  assert.equal(got.status, code, what);
  const { message } = body;
  assert.deepEqual(body, { status: 'error', code, message, reference: null, result: null, detail });
  assert.deepEqual(Object.keys(body), ['status', 'code', 'message', 'reference', 'result', 'detail']);
  const order = ['error', 'param', 'got', 'allowed', 'hint', 'request_id'];
  assert.deepEqual(
    Object.keys(detail),
    order.filter((field) => Object.hasOwn(detail, field)),
    what,
  );
  assert.match(message, /^[\s\S]+\.$/, 'a sentence');
  if (param !== undefined) assert.ok(message.includes(param), `${what}: the message names it: ${message}`);
  assert.ok(Array.from(detail.got ?? '').length <= limits.echoCharactersMax, what);
  assert.ok((detail.got ?? '').isWellFormed(), what);
  assert.equal(got.headers['X-Request-Id'], detail.request_id);
  assert.equal(got.headers['Content-Type'], 'application/json; charset=utf-8');
  assert.equal(got.headers['Content-Length'], String(Buffer.byteLength(got.text)));
  assert.equal(got.headers['Cache-Control'], 'no-store');
  assert.equal(got.headers['Referrer-Policy'], 'no-referrer');
  assert.ok(!got.text.includes(key), `${what}: the key is in the answer`);
  return detail;
}

// Values as sent, percent-encoded where they are meant to arrive whole: no bars parameter takes any of them.
const hostile = [
  '0x10',
  '1e2',
  '1.5',
  '-1',
  '%2B5',
  '+',
  'NaN',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'toString',
  '%00',
  'US:A%00',
  '5%00',
  '%ED%A0%80',
  'a%ED%BF%BF',
  '%25',
  '%2500',
  '%',
  '%2',
  '%ZZ',
  '%FF',
  '%C0%80',
  '%F0%9F%98%80',
  '\u00f0\u009f\u0098\u0080',
  '%EF%BC%91%EF%BC%90',
  '%E2%80%AE',
  "'%20or%201=1--",
  '..%2F..%2Fetc%2Fpasswd',
  'x%0D%0ASet-Cookie:%20a=b',
  '%3Cscript%3E',
  '%5Bobject%20Object%5D',
  '{}',
  '9'.repeat(7_800),
  '%F0%9F%98%80'.repeat(600),
];

/** A request of an endpoint by its declaration: every required parameter has its example. */
function targetOf(name: EndpointName, values: Readonly<Record<string, string>>, without = ''): string {
  let { path }: { path: string } = contract[name];
  const query = [`secret_key=${key}`];
  for (const [parameter, { in: place, required, example }] of Object.entries(contract[name].parameters)) {
    const value = values[parameter] ?? (required ? encodeURIComponent(example) : null);
    if (place === 'path') path = path.replace(`{${parameter}}`, () => value!);
    else if (value !== null && parameter !== without) query.push(`${parameter}=${value}`);
  }
  return `${path}?${query.join('&')}`;
}

function decoded(sent: string, place: 'path' | 'query'): string {
  const text = place === 'query' ? sent.replaceAll('+', ' ') : sent;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const wordsOf: Readonly<Record<string, readonly ErrorWord[]>> = {
  interval: ['unknown_interval', 'invalid_parameter'],
  next_page_key: ['invalid_page_key', 'invalid_parameter'],
};
/** Text that is looked for, whatever it is: none of these finds anything. */
const lookedFor = ['query'];
/** Among them are numbers, with which no price and no strike is at fault. */
const numbers = 'ref_asset_price strike_price'.split(' ');
const isNumber = (sent: string): boolean => /^(-|%2B)?[\d.]+$/.test(sent);

for (const name of Object.keys(contract) as EndpointName[]) {
  for (const [parameter, { in: place, required, emptyAllowed }] of Object.entries(
    contract[name].parameters,
  )) {
    test(`${name}: a hostile ${parameter} is a 400 that names it and cuts what arrived (contract 4.4, 6.3)`, async () => {
      for (const sent of hostile) {
        const got = await ask(targetOf(name, { [parameter]: sent }));
        const what = `${parameter}=${sent.slice(0, 40)}`;
        if (lookedFor.includes(parameter) && got.status === 200) {
          assert.match(decodeURIComponent(sent), /^\P{Cc}+$/u, what);
          assert.match(got.text, /"count":0,/, what);
          continue;
        }
        if (numbers.includes(parameter) && isNumber(sent) && got.status === 200) continue;
        // Any word of these letters may be a code; what is nobody's finds nothing.
        if (parameter === 'event_code' && /^\w+$/.test(sent) && sent.length <= 100) {
          if (got.status === 200) assert.doesNotMatch(got.text, /\d{4}-\d\d-\d\dT/, what);
          else refused(got, 'no_data', undefined, what);
          continue;
        }
        const detail = refused(got, wordsOf[parameter] ?? 'invalid_parameter', parameter, what);
        const cut = Array.from(decoded(sent, place)).slice(0, 80).join('');
        assert.ok(detail.got === cut || detail.got === Array.from(sent).slice(0, 80).join(''), what);
      }
    });

    test(`${name}: a missing or empty ${parameter} has the answer of contract 4.4`, async () => {
      const empty = await ask(targetOf(name, { [parameter]: '' }));
      if (emptyAllowed) assert.equal(empty.status, 200, empty.text);
      else refused(empty, ['invalid_parameter', 'unknown_interval'], parameter, `${parameter}=`);
      if (place === 'path') return;
      const missing = await ask(targetOf(name, {}, parameter));
      if (required) refused(missing, 'invalid_parameter', parameter, `no ${parameter}`);
      else assert.equal(missing.status, 200, missing.text);
    });
  }
}

test('20,000 characters in any place are a 414 without a word of them (contract 6.3)', async () => {
  const long = 'a'.repeat(20_000);
  for (const target of [
    withKey(LATEST, `&limit=${long}`),
    withKey(LATEST, `&${long}`),
    `/api/v2/stock/bars/${long}/1M/latest`,
    `/${long}`,
  ]) {
    const got = await ask(target);
    refused(got, 'uri_too_long', undefined, 'a long address');
    assert.ok(got.text.length < 1_000);
  }
});

test('limit is a plain decimal from 1 to the maximum, named in the refusal and never clamped (contract 4.4)', async () => {
  const { max } = listLimits.bars;
  for (const sent of [
    '0',
    '-1',
    '1001',
    '999999999999999999999',
    '1e2',
    '0x10',
    '5.0',
    '%205',
    '5%20',
    '1,000',
  ]) {
    const detail = refused(await ask(withKey(DAY, `&limit=${sent}`)), 'invalid_parameter', 'limit', sent);
    assert.match(String(detail.allowed), new RegExp(`\\b${max}\\b`));
  }
  assert.equal((await page(withKey(DAY, '&limit=1'))).count, 1);
  assert.equal((await page(withKey(DAY, `&limit=${max}`))).count, opens.length);
});

test('any texts in any place are answered or refused, never a fault (contract 6.4)', async () => {
  const piece = fc.oneof(
    fc.constantFrom('%', '%00', '%ED%A0%80', '&', '=', '+', '#', '?', 'US:AAPL', '1M', 'limit', '2025-03-03'),
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'binary', maxLength: 10 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const text = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
  const names = fc.constantFrom(
    'limit',
    'format',
    'is_eth',
    'sort',
    'session_date',
    'next_page_key',
    '__proto__',
  );
  const query = fc.array(
    fc.tuple(names, text).map(([name, value]) => `&${name}=${value}`),
    { maxLength: 3 },
  );
  const segment = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, text);
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(segment, segment, segment),
      query,
      async ([market, symbol, interval], pairs) => {
        const path = `/api/v2/${market ?? 'stock'}/bars/${symbol ?? 'US:AAPL'}/${interval ?? '1M'}/latest`;
        const got = await ask(withKey(path, pairs.join('')));
        assert.ok([200, 400, 401, 404].includes(got.status), `${got.status} ${got.text}`);
        if (got.status !== 200) assert.equal((JSON.parse(got.text) as { code: number }).code, got.status);
      },
    ),
    { numRuns: 500 },
  );
});

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

test('without a key, or with an empty one, it is missing_key with the cure as hint (contract 4.4, 6.3)', async () => {
  for (const query of ['', '?', '?secret_key=', '?secret_key', '?secret_key=&secret_key=', '?SECRET_KEY=x']) {
    const got = await ask(LATEST + query);
    assert.match(refused(got, 'missing_key', 'secret_key', query).hint!, /secret_key=/);
  }
  for (const authorization of ['', 'Bearer', 'Bearer ', `Basic ${key}`, key, `Bearer${key}`])
    refused(await ask(LATEST, { headers: { authorization } }), 'missing_key', 'secret_key', authorization);
});

test('a key that was never issued is invalid_key, whatever it looks like (contract 6.3)', async () => {
  const near = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
  for (const sent of [
    'x',
    near,
    `${key}A`,
    key.toLowerCase(),
    `${key}%00`,
    '%00',
    '__proto__',
    'a'.repeat(7_000),
    '+',
  ])
    refused(await ask(`${LATEST}?secret_key=${sent}`), 'invalid_key', 'secret_key', sent.slice(0, 60));
  const headers = { authorization: `Bearer ${near}` };
  refused(await ask(LATEST, { headers }), 'invalid_key', 'secret_key', 'Bearer');
});

test('a key that is not percent-encoded UTF-8 is a 400 that does not repeat it (contract 6.2)', async () => {
  for (const sent of ['%', `${key}%`, '%ED%A0%80', `${key}%FF`]) {
    const got = await ask(`${LATEST}?secret_key=${sent}`);
    assert.ok(!('got' in refused(got, 'invalid_parameter', 'secret_key', sent)));
  }
});

test('what arrived is not repeated where it is the key itself (contract 6.2)', async () => {
  for (const query of [
    `&limit=${key}`,
    `&limit=5?secret_key=${key}`,
    `&next_page_key=${key}`,
    `&sort=x${key}x`,
  ])
    refused(
      await ask(withKey(DAY, query)),
      ['invalid_parameter', 'invalid_page_key'],
      query.slice(1).split('=')[0],
      query,
    );
  const url = `/api/v2/stock/bars/US:AAPL/${key}/latest`;
  const headers = { authorization: `Bearer ${key}` };
  refused(await ask(url, { headers }), 'unknown_interval', 'interval', 'a key in the path');
});

test('Authorization: Bearer is accepted, in any case of its scheme, and the query wins over it (contract 7.1)', async () => {
  for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key}`])
    assert.equal((await ask(LATEST, { headers: { authorization } })).status, 200, 'Bearer');
  assert.equal(
    (await ask(`${LATEST}?secret_key=`, { headers: { authorization: `Bearer ${key}` } })).status,
    200,
  );
  assert.equal((await ask(withKey(LATEST), { headers: { authorization: 'Bearer wrong' } })).status, 200);
});

test('a revoked or expired key is invalid_key (contract 7.3)', async () => {
  let nowMs = Date.now();
  const clocked = openHandler({ nowMs: () => nowMs, keys: new KeyRing(() => readKeys(control)) });
  const short = await issueKey(control, 'short', { ...noTerms, expiresMs: nowMs + 60_000 }, nowMs);
  const gone = await issueKey(control, 'gone', noTerms, nowMs);
  const status = async (secret: string) =>
    (await ask(`${LATEST}?secret_key=${secret}`, { at: clocked })).status;
  assert.deepEqual([await status(short.secret), await status(gone.secret)], [200, 200]);
  await revokeKey(control, gone.key.key_id, nowMs);
  nowMs += 5_000;
  assert.deepEqual([await status(short.secret), await status(gone.secret)], [200, 401]);
  nowMs += 60_000;
  const got = await ask(`${LATEST}?secret_key=${short.secret}`, { at: clocked });
  refused(got, 'invalid_key', 'secret_key', 'expired');
});

test('an endpoint with a shortest key refuses a shorter one before any look-up (contract 7.2)', async () => {
  const looked: string[] = [];
  const economic = (Object.keys(contract) as EndpointName[]).filter(
    (name) => 'keyCharactersMin' in contract[name],
  );
  assert.equal(economic.length, 4);
  const at = openHandler({
    keys: {
      verify: async (secret) => {
        looked.push(secret);
        return null;
      },
    },
    submit: () => assert.fail('nothing is asked of the store'),
  });
  for (const name of economic) {
    const path = targetOf(name, {}).replace(/\?.*/, '');
    for (const sent of ['x', 'a'.repeat(19)]) {
      const detail = refused(
        await ask(`${path}?secret_key=${sent}&limit=0`, { at }),
        'invalid_parameter',
        'secret_key',
        path,
      );
      assert.match(String(detail.allowed), /20/);
      assert.ok(!('got' in detail));
      const headers = { authorization: `Bearer ${sent}` };
      refused(await ask(path, { at, headers }), 'invalid_parameter', 'secret_key', path);
    }
    refused(await ask(path, { at }), 'missing_key', 'secret_key', path);
  }
  assert.deepEqual(looked, []);
  refused(
    await ask(`/api/v2/economic_calendar/event?secret_key=${'a'.repeat(20)}`, { at }),
    'invalid_key',
    'secret_key',
    '20',
  );
  assert.equal(looked.length, 1);
});

test('of a repeated parameter the last counts, a repeated key or page key must not differ (contract 4.4)', async () => {
  assert.equal((await page(withKey(DAY, '&limit=9&limit=0x10&limit=2'))).count, 2);
  refused(await ask(withKey(DAY, '&limit=2&limit=0x10')), 'invalid_parameter', 'limit', 'the last is wrong');
  assert.equal((await ask(withKey(DAY, `&secret_key=${key}`))).status, 200);
  for (const other of ['', 'wrong', `${key}x`])
    for (const query of [`?secret_key=${key}&secret_key=${other}`, `?secret_key=${other}&secret_key=${key}`])
      refused(await ask(DAY + query), 'invalid_parameter', 'secret_key', `differing keys: ${other.length}`);
  const { next_page_key: pageKey } = await page(withKey(DAY, '&limit=5'));
  const twice = withKey(DAY, `&next_page_key=${pageKey}&next_page_key=${pageKey}`);
  assert.equal((await page(twice)).count, 7);
  for (const query of [
    `&next_page_key=${pageKey}&next_page_key=`,
    `&next_page_key=&next_page_key=${pageKey}`,
  ]) {
    const got = await ask(withKey(DAY, query));
    refused(got, ['invalid_parameter', 'invalid_page_key'], 'next_page_key', query);
  }
});

test('unknown parameters are ignored, hostile ones too (contract 4.4)', async () => {
  const plain = (await ask(withKey(DAY))).text;
  const others =
    '&_=1&limitx=0&LIMIT=0&__proto__=x&constructor=x&%=%&%ED%A0%80=1&x[]=y&=z&country_symbol=US:X&&;';
  assert.equal((await ask(withKey(DAY, others))).text, plain);
  assert.equal((await ask(withKey(LATEST, '&next_page_key=%'))).status, 200, 'no parameter of this endpoint');
});

test('next_page_url repeats the parameters with defaults filled in, the key and the page key (contract 4.3)', async () => {
  const first = await page(withKey(DAY, '&limit=5&is_eth=YES&extra=1&limit=5'));
  const url = new URL(first.next_page_url!);
  assert.equal(url.origin + url.pathname, `http://localhost:8080${DAY}`);
  const defaults = Object.entries<Parameter>(contract.historicalBars.parameters)
    .filter(([, parameter]) => parameter.default !== undefined)
    .map(([name, parameter]) => [name, parameter.print(parameter.default)]);
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    ...(Object.fromEntries(defaults) as Record<string, string>),
    format: 'json',
    limit: '5',
    is_eth: 'true',
    session_date: 'false',
    adjust: 'none',
    csv_safe: 'false',
    sort: 'asc',
    secret_key: key,
    next_page_key: first.next_page_key,
  });
});

test('next_page_url works when called as it is, to the last page, in both orders (contract 4.2, 4.3)', async () => {
  for (const sort of ['asc', 'desc']) {
    const seen: unknown[] = [];
    let target: string | null = withKey(DAY, `&limit=5&sort=${sort}`);
    while (target !== null) {
      const found: Page = await page(target);
      assert.ok(found.count > 0);
      assert.equal(found.next_page_key === null, found.next_page_url === null);
      seen.push(...found.data.map((bar) => bar.datetime));
      target = found.next_page_url?.replace('http://localhost:8080', '') ?? null;
    }
    const all = opens.map((open) => open.replace('Z', '+00:00'));
    assert.deepEqual(seen, sort === 'asc' ? all : all.reverse());
  }
});

test('dates with a plus or a space stand in next_page_url as %2B and %20, and it works (contract 4.3)', async () => {
  const from = '2025-03-03T14:31:00+00:00';
  const first = await page(
    withKey(`/api/v2/stock/bars/us%3Aaapl/1min/from/${from}/to/2025-03-03%2023:00:00`, '&limit=2'),
  );
  assert.match(
    first.next_page_url!,
    /\/US:AAPL\/1M\/from\/2025-03-03T14(:|%3A)31(:|%3A)00%2B00(:|%3A)00\/to\/2025-03-03%2023/,
  );
  const second = await page(first.next_page_url!.replace('http://localhost:8080', ''));
  assert.equal(second.data[0]!.datetime, '2025-03-03T14:33:00+00:00');
});

test('a page key that was changed or belongs to another query is invalid_page_key (contract 4.1)', async () => {
  const { next_page_key } = await page(withKey(DAY, '&limit=5'));
  const pageKey = next_page_key!;
  const changed = pageKey.slice(0, -2) + (pageKey.at(-2) === 'A' ? 'B' : 'A') + pageKey.at(-1);
  for (const target of [
    withKey(DAY, `&limit=5&next_page_key=${changed}`),
    withKey(DAY, `&limit=5&next_page_key=${pageKey}A`),
    withKey(DAY, `&limit=5&next_page_key=${pageKey.slice(1)}`),
    withKey(DAY, `&limit=5&sort=desc&next_page_key=${pageKey}`),
    withKey(DAY, `&limit=5&is_eth=true&next_page_key=${pageKey}`),
    withKey(DAY.replace('1M', '5M'), `&limit=5&next_page_key=${pageKey}`),
  ])
    refused(await ask(target), 'invalid_page_key', 'next_page_key', target.slice(-60));
  assert.equal((await page(withKey(DAY, `&limit=3&format=json&next_page_key=${pageKey}`))).count, 3);
  assert.equal((await page(withKey(DAY, '&limit=5&next_page_key='))).count, 5, 'the first page');
});

test('with a header key next_page_url and Link carry no key, and work with the header (contract 7.1)', async () => {
  const headers = { authorization: `Bearer ${key}` };
  const json = await ask(`${DAY}?limit=5`, { headers });
  const csv = await ask(`${DAY}?limit=5&format=csv`, { headers });
  for (const { text, headers: sent } of [json, csv]) {
    assert.ok(!(text + JSON.stringify(sent)).includes(key));
    assert.ok(!(text + JSON.stringify(sent)).includes('secret_key'));
  }
  const { next_page_url } = (JSON.parse(json.text) as { result: Page }).result;
  assert.equal((await page(next_page_url!.replace('http://localhost:8080', ''), { headers })).count, 5);
  assert.match(csv.headers.Link!, /^<http:\/\/localhost:8080\/.*&next_page_key=[\w-]+>; rel="next"$/);
});

const hosts = [
  'localhost',
  'LOCALHOST:1',
  '127.0.0.1:8080',
  '203.0.113.7',
  '[::1]:8080',
  '[2001:db8::7]',
  'bars.example.com:81',
];
for (const host of hosts) {
  test(`next_page_url begins with Host where that is ${host} (contract 4.3)`, async () => {
    const { next_page_url } = await page(withKey(DAY, '&limit=5'), { headers: { host } });
    assert.ok(next_page_url!.startsWith(`http://${host}/api/v2/`), next_page_url!);
    const followed = next_page_url!.slice(`http://${host}`.length);
    assert.equal((await page(followed, { headers: { host } })).count, 5);
  });
}

test('a foreign, missing or doubled Host is a bad_request that names the setting (contract 4.3)', async () => {
  for (const host of [
    'evil.example',
    undefined,
    '',
    'localhost, localhost',
    'bars.example.com.evil.example',
  ]) {
    const got = await ask(withKey(LATEST), { headers: { host } });
    assert.match(refused(got, 'bad_request', 'Host', String(host)).hint!, /--allowed-hosts/);
  }
});

test('with a public URL its scheme and path are the base, whatever Host says (contract 4.3)', async () => {
  const at = openHandler({ address: { ...address, publicUrl: 'https://data.example.com/bourse' } });
  for (const host of ['evil.example', undefined]) {
    const { next_page_url } = await page(withKey(DAY, '&limit=5'), { at, headers: { host } });
    assert.ok(next_page_url!.startsWith(`https://data.example.com/bourse${DAY}?`), next_page_url!);
    const behind = next_page_url!.replace('https://data.example.com/bourse', '');
    assert.equal((await page(behind, { at, headers: { host } })).count, 5);
  }
});

test('forwarded headers do not count (contract 4.3)', async () => {
  const headers = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  };
  assert.ok(!(await ask(withKey(DAY, '&limit=5'), { headers })).text.includes('evil'));
});

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
  assert.match(headers['Access-Control-Allow-Headers']!, /Authorization/i);
  assert.ok(headers['X-Request-Id']);
  assert.equal(headers['Referrer-Policy'], 'no-referrer');
  refused(
    await ask('/api/v2/nothing', { method: 'OPTIONS' }),
    'unknown_path',
    undefined,
    'OPTIONS of no path',
  );
});

test('every other method is a 405 with Allow, a lower-case get too (contract 6.6)', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT', 'PROPFIND', 'get']) {
    const got = await ask(withKey(LATEST), { method });
    refused(got, 'method_not_allowed', undefined, method);
    assert.equal(got.headers.Allow, 'GET, HEAD, OPTIONS');
  }
});

test("a caller's own request id of 1 to 64 characters is kept, any other is made anew (contract 6.5)", async () => {
  const idOf = async (sent: string | undefined, target: string): Promise<string> =>
    (await ask(target, { headers: { 'x-request-id': sent } })).headers['X-Request-Id']!;
  for (const target of [withKey(LATEST), LATEST, '/x']) {
    const long = `${'x'.repeat(42)}.${'x'.repeat(21)}`;
    for (const own of ['a', 'A-z.0_9', 'key-1', 'secret_key', crypto.randomUUID(), long])
      assert.equal(await idOf(own, target), own);
    for (const other of [undefined, '', 'x'.repeat(65), 'a b', 'é', 'a\nb', 'a,b'])
      assert.match(await idOf(other, target), /^[\w.-]{16,64}$/);
  }
  assert.notEqual(await idOf(undefined, LATEST), await idOf(undefined, LATEST));
});

test('a request id that holds the key, or a run of 43 characters as keys have, is not kept (contract 6.5, 7.4)', async () => {
  const hex = (text: string, of = '%'): string =>
    [...Buffer.from(text)].map((byte) => of + byte.toString(16)).join('');
  for (const marked of [key, 'MARKED-KEY-0123456789abcdef', 'short-Key7']) {
    const places: readonly (readonly [target: string, headers: Record<string, string>])[] = [
      [`${LATEST}?secret_key=${marked}`, {}],
      [`${LATEST}?secret_key=${hex(marked)}`, {}],
      [`${LATEST}?secret_key=${hex(hex(marked), '%')}`, {}],
      [`${LATEST}?%73ecret_key=${marked}&limit=1`, {}],
      [`${LATEST}?secret_key=+${marked}+`, {}],
      [`${LATEST}?secret_key=other&secret_key=${marked}`, {}],
      [`${LATEST}?secret_key=${marked}&secret_key=other`, {}],
      [`${LATEST}&secret_key=${marked}`, {}],
      [`/${marked}/api?secret_key=${marked}`, {}],
      ...['Bearer ', 'bearer ', 'BEARER   ', 'Token ', ''].map(
        (scheme) => [LATEST, { authorization: scheme + marked }] as const,
      ),
      [LATEST, { authorization: `Bearer other, Bearer ${marked}` }],
    ];
    const ids = [
      marked,
      `${marked}-1`,
      `req.${marked}`,
      `a_${marked}`,
      `a-${marked}.b`,
      marked.toLowerCase(),
    ];
    for (const [target, headers] of places)
      for (const id of ids) {
        const before = observed.length;
        const got = await ask(target, { headers: { ...headers, 'x-request-id': id } });
        const told = JSON.stringify([got.headers['X-Request-Id'], got.text, observed.slice(before)]);
        const shown = told.replace(/"next_page_url\\":\\"[^"]*/g, '').toLowerCase();
        assert.ok(
          !shown.includes(marked.toLowerCase()),
          `${target} ${JSON.stringify(headers)} ${id}: ${shown}`,
        );
      }
  }
  const short = await ask(`${LATEST}?secret_key=x`, { headers: { 'x-request-id': 'x-1' } });
  assert.equal(short.headers['X-Request-Id'], 'x-1', 'a text of one character is no secret');
  // A key that is nowhere else in the request: any run of so many such characters may be one.
  for (const id of [key, `${key}-1`, `req.${key}`, 'x'.repeat(43)])
    assert.notEqual((await ask('/x', { headers: { 'x-request-id': id } })).headers['X-Request-Id'], id);
});

test('what a refusal repeats is never a key, its own or another, however it is encoded (contract 6.2, 7.4)', async () => {
  const { secret: other } = await issueKey(control, 'other', noTerms, Date.now());
  const hex = (text: string): string =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
  for (const secret of [key, other])
    for (const written of [
      secret,
      hex(secret),
      hex(hex(secret)),
      `${hex(secret)}%`,
      `${secret}%ZZ`,
      `5?k=${secret}`,
    ])
      for (const name of ['limit', 'format', 'is_eth', 'adjust_as_of', 'next_page_key']) {
        const got = await ask(withKey(DAY, `&${name}=${written}`));
        assert.equal(got.status, 400);
        const lenient = got.text
          .replace(/%25/g, '%')
          .replace(/%([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
        assert.ok(!lenient.includes(secret), `${name}=${written}: ${got.text}`);
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

const nothing: Answer = {
  kind: 'answer',
  contentType: 'text/plain',
  headers: {},
  body: new Uint8Array(),
  next: null,
};

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
    openHandler({ keys: { verify: () => Promise.reject(cause) } }),
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

test('what the service failed to answer counts for no quota, and tells of it (contract 7.5)', async () => {
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

test('an absolute address as target is its path and query, a fragment is no part of them (RFC 9112, 3.2)', async () => {
  assert.equal((await ask(`http://localhost:8080${withKey(LATEST)}`)).status, 200);
  assert.equal((await ask(withKey(LATEST, '#&limit=0'))).status, 200);
  for (const target of ['http://localhost', 'http://', '*', '', '?', '//', '/../api', 'localhost:8080'])
    refused(await ask(target), 'unknown_path', undefined, target);
});

test('a cached answer holds no key: links get that of their caller, and it counts for its quota (contract 7.3, 8.1)', async () => {
  const { secret: brief, key: briefKey } = await issueKey(control, 'brief', noTerms, Date.now());
  let asked = 0;
  const at = openHandler({
    keys: new KeyRing(() => readKeys(control)),
    submit: (request) => {
      asked++;
      return runner.run(request);
    },
  });
  const target = `/api/v2/holiday/list?full_symbol=stock:US:*&from_date=2025-01-01&to_date=2025-12-31&format=json&limit=3`;
  const get = (secret: string, headers: Record<string, string> = {}) =>
    ask(`${target}&secret_key=${secret}`, { at, headers });
  const first = await get(brief);
  const [second, third] = [await get(brief), await get(brief)];
  assert.equal(asked, 2, 'the first response shows that the endpoint is cacheable');
  assert.deepEqual([second.text, third.text], [first.text, first.text]);
  assert.notEqual(second.headers['X-Request-Id'], third.headers['X-Request-Id']);
  assert.equal((await get(brief, { 'if-none-match': first.headers.ETag! })).status, 304);
  assert.ok((await get(key)).text.includes(`secret_key=${key}`), 'links carry the own key');
  assert.equal((await ask(target, { at })).status, 401);
  assert.match(
    (await get(brief, { host: 'bars.example.com' })).text,
    /"next_page_url":"http:\/\/bars\.example\.com/,
  );
  assert.equal((await get(brief, { host: 'elsewhere.example' })).status, 400);
  const wrapped = await ask(`${target.replace('json', 'csv')}&secret_key=${brief}`, {
    at,
    headers: { accept: 'application/json' },
  });
  const plain = await ask(`${target.replace('json', 'csv')}&secret_key=${brief}`, { at });
  assert.ok(wrapped.text.startsWith('{') && plain.text.startsWith('name,'));
  await revokeKey(control, briefKey.key_id, Date.now());
  const revoked = openHandler({
    keys: new KeyRing(() => readKeys(control)),
    submit: (request) => runner.run(request),
  });
  assert.equal((await ask(`${target}&secret_key=${brief}`, { at: revoked })).status, 401);
});

test('a cached response has the coding that its caller prefers, and is encoded once for each coding (contract 9.7)', async () => {
  const at = openHandler();
  const target = `/api/v2/holiday/list?full_symbol=stock:US:*&from_date=2024-01-01&to_date=2025-12-31&format=json&limit=20&secret_key=${key}`;
  const get = async (headers: Record<string, string>) =>
    at.handle({
      method: 'GET',
      target,
      headers: { host: 'localhost:8080', ...headers },
      isGone: () => false,
    });
  const plain = await get({});
  await get({});
  const decoded = { gzip: gunzipSync, zstd: zstdDecompressSync };
  for (const [coding, decode] of Object.entries(decoded)) {
    const headers = { 'accept-encoding': coding };
    const [made, again] = [await get(headers), await get(headers)];
    assert.equal(again.headers['Content-Encoding'], coding);
    assert.equal(again.headers['Content-Length'], String(again.body[0]!.length));
    assert.deepEqual(decode(again.body[0]!), Buffer.concat(plain.body));
    assert.equal(again.body[0], made.body[0], 'the same bytes, not the same once more');
    const held = await get({ ...headers, 'if-none-match': plain.headers.ETag! });
    assert.deepEqual([held.status, held.headers['Content-Encoding'], held.body.length], [304, undefined, 0]);
  }
  assert.deepEqual(Buffer.concat((await get({})).body), Buffer.concat(plain.body));
});

test('requests of one batch read the state of the store once, and those of a later batch see a commit (contract 4.1)', async () => {
  let asked = 0;
  let token = 1;
  const changeToken = async () => {
    asked++;
    return token;
  };
  const at = openHandler({ cache: new ResponseCache({ changeToken }) });
  const target = withKey('/api/v2/holiday/list', '&full_symbol=stock:US:*&limit=1');
  const inBatch = (batch: number) =>
    at.handle({ method: 'GET', target, headers: { host: 'localhost:8080' }, batch, isGone: () => false });
  await inBatch(1);
  const kept = await inBatch(2);
  asked = 0;
  const together = await Promise.all([inBatch(3), inBatch(3), inBatch(3)]);
  assert.equal(asked, 1);
  for (const { body } of together) assert.equal(body[0]!.buffer, kept.body[0]!.buffer, 'from the cache');
  token++;
  assert.notEqual((await inBatch(4)).body[0]!.buffer, kept.body[0]!.buffer, 'asked for again after a commit');
});

test('at the bound of a key’s unsent answers its requests are refused before any query, those of others are not (contract 6.3)', async () => {
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

test('answers that were admitted together and come to more than the bound are not kept, and free their buffers (contract 6.3)', async () => {
  const unsent = new UnsentBytes({ perKeyMax: 1_000 });
  let released = 0;
  const at = openHandler({
    unsent,
    submit: async (request) => {
      const answer = await runner.run(request);
      return answer.kind === 'answer' ? { ...answer, release: () => released++ } : answer;
    },
  });
  const all = await Promise.all(Array.from({ length: 5 }, () => ask(withKey(DAY), { at })));
  assert.deepEqual(
    all.map(({ status }) => status),
    [200, 503, 503, 503, 503],
  );
  assert.equal(released, 4);
});

test('at the bound of all unsent answers everyone is refused, large pages included, but health is told; callers without a key have a bound of their own (contract 6.3, 9.3)', async () => {
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

test('requests that wait for large answers count before these are there, so that few queries run for one caller (contract 6.3)', async () => {
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

/** News that `submit` answers with so many bytes each, in the order of the requests; with null the answer never comes. */
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

test('a request that waits counts with no more bytes than the largest answer had: a single long record refuses nobody (contract 6.3)', async () => {
  const { secret: other } = await issueKey(control, 'honest', noTerms, Date.now());
  const unsent = new UnsentBytes();
  const at = openNewsOf([1_000_000, null, 1_000], unsent);
  assert.equal(await statusOfNews(at, 1), 200);
  void statusOfNews(at, listLimits.news.max);
  while (unsent.total === 0) await new Promise(setImmediate);
  assert.equal(unsent.total, 1_000_000);
  assert.equal(await statusOfNews(at, 1, other), 200, 'of the other key');
});

test('answers that are far larger than expected are held up to the bound and one more, and the next are expected to be large (contract 6.3)', async () => {
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
