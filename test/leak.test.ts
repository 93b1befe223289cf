// No key gets out: a marked one over every endpoint, error and place, then searched in all that came out
// (contract 7.4).
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contract } from '../src/contract/index.ts';
import { type Server, Workshop } from './service.ts';
import { alterStore, bytesOf, zeroBytes } from './stores.ts';

const shop = new Workshop();
let server: Server;
let realKey = '';
after(() => shop.close());

/**
 * A symbol of which nothing is asked before its block is damaged: a service may keep blocks that it has read.
 */
const UNREAD = 'UNREAD';

before(async () => {
  const file = shop.path('bars.csv');
  const rows = [30, 31, 32].map((minute) => `2025-03-03T14:${minute}:00Z,1,3,0.5,2,10`);
  writeFileSync(file, ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  const named = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
  for (const symbol of ['AAPL', UNREAD])
    await shop.must('import', 'bars', file, ...named, '--symbol', symbol);
  realKey = await shop.must('keys', 'create', 'marked');
  server = await shop.serve('--log-level', 'trace');
});

/**
 * Keys that were never issued: one like ours, one that needs encoding everywhere, one too short for some
 * endpoints.
 */
const wrongKeys = [
  randomBytes(32).toString('base64url'),
  `m/rk+d %&#"é${randomBytes(20).toString('hex')}`,
  'mArK3d-k3Y-4242',
];

/** What a leaked key might look like: itself, its beginning, and both in the usual encodings. */
function formsOf(key: string): string[] {
  const begin = key.slice(0, 20);
  const bytes = Buffer.from(key);
  const third = bytes.subarray(0, 18);
  return [
    key,
    begin,
    encodeURIComponent(key),
    encodeURIComponent(begin),
    encodeURI(begin),
    [...bytes].map((byte) => `%${byte.toString(16)}`).join(''),
    bytes.toString('hex').slice(0, 40),
    third.toString('base64'),
    third.toString('base64url'),
    JSON.stringify(begin).slice(1, -1),
  ];
}

function assertClean(text: string, keys: readonly string[], what: string): void {
  const lower = text.toLowerCase();
  for (const key of keys)
    for (const form of formsOf(key))
      assert.ok(
        !lower.includes(form.toLowerCase()),
        `${what} holds a key as ${form}:\n${text.slice(0, 2_000)}`,
      );
}

/** What may hold the caller's own key. */
const withoutNextPage = (answer: string): string =>
  answer.replace(/"next_page_url":"[^"]*"/g, '').replace(/^link: <[^>]*>; rel="next"\r$/gim, '');

type Told = { readonly what: string; readonly answer: string; readonly sent: string };
const told: Told[] = [];

/** Sends one request over a raw connection and keeps all that comes back. */
async function tell(what: string, key: string, request: string): Promise<string> {
  const answer = await server.send(Buffer.from(request, 'latin1'));
  told.push({ what, answer, sent: key });
  assert.match(answer, /^HTTP\/1\.1 \d{3} /, what);
  return answer;
}

const host = 'Host: localhost\r\nConnection: close\r\n';

function get(what: string, key: string, target: string, headers = '', method = 'GET'): Promise<string> {
  return tell(what, key, `${method} ${target} HTTP/1.1\r\n${host}${headers}\r\n`);
}

const DAY = '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03';

/** Every path of the contract, with the examples of its own declaration. */
const paths = Object.values(contract).map((endpoint) =>
  Object.entries(endpoint.parameters).reduce(
    (path, [name, parameter]) => path.replace(`{${name}}`, encodeURIComponent(parameter.example)),
    endpoint.path as string,
  ),
);

const bearer = (key: string): string => `Authorization: Bearer ${Buffer.from(key).toString('latin1')}\r\n`;

async function everyEndpoint(key: string): Promise<void> {
  const sent = encodeURIComponent(key);
  for (const path of paths) {
    await get('in the query', key, `${path}?secret_key=${sent}`);
    await get('in the query, a wrong limit', key, `${path}?secret_key=${sent}&limit=0`);
    await get('in the header', key, path, bearer(key));
    for (const method of ['HEAD', 'OPTIONS', 'POST'])
      await get(method, key, `${path}?secret_key=${sent}`, bearer(key), method);
  }
}

async function everyPlace(key: string): Promise<void> {
  const sent = encodeURIComponent(key);
  const query = `secret_key=${sent}`;
  for (const format of ['json', 'csv']) {
    await get('with a next page', key, `${DAY}?${query}&limit=1&format=${format}`);
    await get('in the header, with a next page', key, `${DAY}?limit=1&format=${format}`, bearer(key));
    await get('CSV in JSON', key, `${DAY}?${query}&limit=1&format=${format}`, 'Accept: application/json\r\n');
  }
  await get('twice', key, `${DAY}?${query}&${query}`);
  await get('twice, differing', key, `${DAY}?${query}&${query}x`);
  await get('a broken percent', key, `${DAY}?${query}%`);
  await get('a lone surrogate', key, `${DAY}?${query}%ED%A0%80`);
  await get('an interval that is none', key, `${DAY.replace('1M', '7X')}?${query}`);
  await get('a symbol that is none', key, `${DAY.replace('AAPL', 'NONE')}?${query}`);
  await get('a page key that is none', key, `${DAY}?${query}&next_page_key=abc`);
  await get('from after to', key, `${DAY.replace('03-03/to', '03-04/to')}?${query}`);
  await get('a foreign Host', key, `${DAY}?${query}`, 'Host: evil.example\r\n');
  await get('no such path', key, `/${sent}/api?${query}`);
  await get('an ampersand for the question mark', key, `${DAY}&${query}`);
  await get('a fragment', key, `${DAY}#${query}`);
  await get('an absolute address', key, `http://localhost${DAY}?${query}`);
  await get(
    'headers that nobody reads',
    key,
    DAY,
    `Referer: http://x/?${query}\r\nCookie: k=${sent}\r\nX-Api-Key: ${sent}\r\n`,
  );
  await get(
    'another scheme',
    key,
    DAY,
    `Authorization: Basic ${btoa(sent)}\r\nProxy-Authorization: Bearer ${sent}\r\n`,
  );
  await get('an address too long', key, `${DAY}?${query}&pad=${sent.repeat(400)}`);
}

/** A text with every character percent-encoded. */
const hexOf = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/**
 * The key in the request's id, which is logged and told back, while it is sent in every way that a key can
 * be.
 */
async function asRequestId(key: string): Promise<void> {
  const hex = hexOf(key);
  const begin = key.slice(0, 20);
  const sent: readonly (readonly [target: string, headers: string])[] = [
    [`${DAY}?secret_key=${encodeURIComponent(key)}`, ''],
    [`${DAY}?secret_key=${hex}`, ''],
    [`${DAY}?secret_key=${hex.replaceAll('%', '%25')}`, ''],
    [`${DAY}?secret_key=+${encodeURIComponent(key)}`, ''],
    [`${DAY}?secret_key=x&secret_key=${hex}`, ''],
    [`/${hex}?secret_key=${hex}`, `Referer: http://localhost/?secret_key=${hex}\r\n`],
    ...['Bearer', 'bearer', 'BEARER', 'Token'].map(
      (scheme) => [DAY, bearer(key).replace('Bearer', scheme)] as const,
    ),
  ];
  for (const [target, headers] of sent)
    for (const id of [key, `${key}-1`, `req.${key}`, ...(begin === key ? [] : [begin])])
      await get('as request id', key, target, `${headers}X-Request-Id: ${id}\r\n`);
}

/** The caller's own key where something else belongs: it is not told back. */
async function wrongPlaces(key: string): Promise<void> {
  const query = `secret_key=${key}`;
  for (const name of ['limit', 'format', 'is_eth', 'sort', 'session_date', 'next_page_key'])
    for (const value of [key, `5?secret_key=${key}`, `${'x'.repeat(50)}${key}`, `${key}%`])
      await get(`as ${name}`, key, `${DAY}?${query}&${name}=${value}`);
  await get('as Host', key, `${DAY}?${query}`, `Host: ${key}.example\r\n`);
  const hex = hexOf(key);
  for (const name of ['limit', 'format', 'next_page_key'])
    for (const value of [hex, `${hex}%`, hex.replaceAll('%', '%25')])
      await get(`encoded as ${name}`, key, `${DAY}?${query}&${name}=${value}`);
  for (const part of ['stock', 'US:AAPL', '1M', '2025-03-03'])
    await get(`as ${part}`, key, `${DAY.replace(part, key)}?${query}`);
}

async function brokenHttp(key: string): Promise<void> {
  const sent = encodeURIComponent(key);
  const line = `GET ${DAY}?secret_key=${sent}`;
  await tell('headers too large', key, `${line} HTTP/1.1\r\n${host}X-Pad: ${sent.repeat(900)}\r\n\r\n`);
  await tell('another protocol', key, `${line} HTTP/9.9\r\n${host}\r\n`);
  await tell('no protocol', key, `${line}${sent} \r\n\r\n`);
  await tell('no such method', key, `${sent} /?secret_key=${sent} HTTP/1.1\r\n${host}\r\n`);
  await tell('a broken header', key, `${line} HTTP/1.1\r\n${host}secret key ${sent}\r\n\r\n`);
  await tell('a broken header value', key, `${line} HTTP/1.1\r\n${host}X: ${sent}\0\r\n\r\n`);
  await tell(
    'a broken body',
    key,
    `POST ${DAY}?secret_key=${sent} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${sent}\r\n`,
  );
  await tell(
    'two lengths',
    key,
    `${line} HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: ${sent}\r\n\r\n`,
  );
  await tell('an unknown expectation', key, `${line} HTTP/1.1\r\n${host}Expect: ${sent}\r\n\r\n`);
}

test('a marked key over every endpoint, error, place and log level is nowhere but in next_page_url (contract 7.4)', async (t) => {
  const late = server.send(`GET ${DAY}?secret_key=${realKey} HTTP/1.1\r\nX-Half: ${realKey}`);
  for (const key of [realKey, ...wrongKeys]) {
    await everyEndpoint(key);
    await everyPlace(key);
    // One that only an encoding can carry is no request id.
    if (/^[\w.-]*$/.test(key)) await asRequestId(key);
    await brokenHttp(key);
  }
  await wrongPlaces(realKey);
  told.push({ what: 'half a request', answer: await late, sent: realKey });
  alterStore(shop.store, `update bar_blocks set bytes = ${zeroBytes(64)}`);
  const unread = `${DAY.replace('AAPL', UNREAD)}?secret_key=${realKey}`;
  assert.match(await get('a damaged block', realKey, unread), /^HTTP\/1\.1 500 /);
  assert.equal(await server.stop(), 0);

  const statuses = new Set(told.map(({ answer }) => Number(answer.slice(9, 12))));
  for (const status of [200, 204, 400, 401, 404, 405, 408, 414, 431, 500])
    assert.ok(statuses.has(status), `${status} was among the answers: ${[...statuses].join()}`);
  assert.ok(server.log.length >= told.length, 'every request has a line in the log');
  t.diagnostic(`${told.length} requests, ${server.log.length} log lines`);

  const keys = [realKey, ...wrongKeys];
  for (const { what, answer } of told) assertClean(withoutNextPage(answer), keys, `the answer to ${what}`);
  for (const { what, answer, sent } of told.filter(({ what }) => what.startsWith('in the header')))
    assertClean(answer, [sent], `the whole answer to ${what}`);
  assertClean(server.log.join('\n'), keys, 'the log');
  assertClean(server.printed, keys, 'standard output');
  const files = readdirSync(shop.folder).filter((name) => name !== 'bars.csv');
  assert.equal(files.includes('bourse.control.db'), shop.store.startsWith('sqlite:'));
  assertClean(bytesOf(shop.store).toString('latin1'), keys, 'the store');
  for (const name of files) assertClean(readFileSync(join(shop.folder, name), 'latin1'), keys, name);
});
