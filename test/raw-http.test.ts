// Bytes that no client sends by accident, on a real socket: each is answered in the envelope or refused, and
// never read as something else (contract 4.3, 6; RFC 9112). More of them are in server.test.ts.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { limits } from '../src/contract/limits.ts';
import { Connection, type RawAnswer } from './connection.ts';
import { openService } from './fuzz/sockets.ts';
import { type Server, Workshop } from './service.ts';
import { until } from './until.ts';

const shop = new Workshop();
let server: Server;
let key = '';
after(() => shop.close());

/**
 * Connections that say nothing, opened with the file so that nothing waits for them alone: all wait in the
 * kernel until they are accepted.
 */
const SILENT = 400;
const silentAnswers: Promise<RawAnswer>[] = [];

/** What a request whose body never comes is answered, until the server ends its connection. */
let withoutBody: Promise<string>;

before(async () => {
  const { server: started, known } = await openService(shop);
  server = started;
  key = known.liveKey;
  withoutBody = server.send(`${request('Content-Length: 10\r\n')}half`);
});

const LATEST = '/api/v2/stock/bars/US:AAPL/1M/latest';
const target = (rest = ''): string => `${LATEST}?limit=1&secret_key=${key}${rest}`;

type Head = { method?: string; at?: string; version?: string; host?: string };

/** A request as bytes. */
function request(headers = '', { method = 'GET', at = target(), version = '1.1', host }: Head = {}): string {
  return `${method} ${at} HTTP/${version}\r\nHost: ${host ?? 'localhost'}\r\n${headers}\r\n`;
}

/** What a second request in the same bytes asks for: its answer shows where the server saw it begin. */
const second = (): string => request('Connection: close\r\n', { at: '/second' });

/** The answers to bytes, until the server ends the connection; each in the envelope. */
async function ask(bytes: string | Uint8Array): Promise<string[]> {
  const connection = new Connection(server.url);
  const answers = connection.ask(
    bytes,
    Array.from({ length: 4 }, () => true),
  );
  const settled = await Promise.allSettled(answers);
  return settled.filter((end) => end.status === 'fulfilled').map(({ value }) => outcomeOf(value));
}

function outcomeOf({ status, headers, body }: RawAnswer): string {
  if (status === 100) return '100';
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.ok(!body.includes(key), 'the key is in the answer');
  if (status === 204) return '204';
  const { code, detail } = JSON.parse(body) as { code: number; detail?: { error: string } };
  assert.equal(code, status);
  return detail === undefined ? String(status) : `${status} ${detail.error}`;
}

const CLOSE = 'Connection: close\r\n';
const chunked = (what = 'chunked'): string => `Transfer-Encoding: ${what}\r\n`;
const body = '5\r\nhello\r\n0\r\n\r\n';
const hidden = 'GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n';

const BAD = '400 bad_request';
const NEXT = '404 unknown_path';

test('400 connections that say nothing keep nobody waiting', async () => {
  const silent = Array.from({ length: SILENT }, () => new Connection(server.url));
  let ended = 0;
  for (const connection of silent) {
    silentAnswers.push(...connection.ask('', [true]));
    void connection.ended.then(() => ended++);
  }
  assert.deepEqual(await ask(request(CLOSE)), ['200']);
  assert.ok(ended < SILENT, 'it is answered while there are silent ones');
});

/** What is sent, and the answers in their order. */
const exchanges: readonly [what: string, bytes: () => string | Uint8Array, answers: readonly string[]][] = [
  ['a NUL in a header', () => request('X: a\0b\r\n'), [BAD]],
  ['a header without a name', () => request(': x\r\n'), [BAD]],
  ['bytes above 127 in the path', () => Buffer.from(request('', { at: '/\u00ff\u00fe' }), 'latin1'), [BAD]],
  ['raw UTF-8 in the query', () => Buffer.from(request('', { at: target('&format=é') })), [BAD]],
  ['an authority as target', () => request('', { at: 'localhost:80' }), [BAD]],
  ['a user before the host', () => request(CLOSE, { host: 'me@localhost' }), [BAD]],
  ['empty lines before a request', () => `\r\n\r\n${request(CLOSE)}`, ['200']],
  ['garbage before a request', () => `garbage\r\n${request()}`, [BAD]],
  ['a NUL before a request', () => `\0${request()}`, [BAD]],
  ['HTTP/1.0, which keeps no connection', () => request('', { version: '1.0' }) + second(), ['200']],
  ['HTTP/1.0 without Host', () => `GET ${target()} HTTP/1.0\r\n\r\n`, [BAD]],
  ['a version that is none', () => request('', { version: '1.2' }), [BAD]],
  ['OPTIONS of the whole service', () => request(CLOSE, { method: 'OPTIONS', at: '*' }), ['204']],
  ['GET of the whole service', () => request(CLOSE, { at: '*' }), [NEXT]],
  ['TRACE', () => request(CLOSE, { method: 'TRACE' }), ['405 method_not_allowed']],
  ['two Authorization headers', () => request(`Authorization: Bearer x\r\n${CLOSE}`), ['200']],
  ['a body in chunks', () => request(chunked()) + body + second(), ['200', NEXT]],
  [
    'a body that looks like a request',
    () => `${request(`Content-Length: ${hidden.length}\r\n`)}${hidden}${second()}`,
    ['200', NEXT],
  ],
  [
    'a chunk that looks like a request',
    () => `${request(chunked())}${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n${second()}`,
    ['200', NEXT],
  ],
  ['a trailer that is a Host', () => `${request(chunked())}0\r\nHost: x\r\n\r\n${second()}`, ['200', NEXT]],
  ['chunks in capitals', () => request(chunked('CHUNKED')) + body + second(), ['200', NEXT]],
  [
    'a large body of a method that is none of ours',
    () => largePost() + second(),
    ['405 method_not_allowed', NEXT],
  ],
  ['a length with a sign', () => request('Content-Length: +5\r\n') + hidden, [BAD]],
  ['a length in hexadecimals', () => request('Content-Length: 0x5\r\n') + hidden, [BAD]],
  ['a list of lengths', () => request('Content-Length: 5, 5\r\n') + hidden, [BAD]],
  ['a negative length', () => request('Content-Length: -1\r\n') + hidden, [BAD]],
  ['a length beyond all numbers', () => request(`Content-Length: ${'9'.repeat(30)}\r\n`) + hidden, [BAD]],
  ['chunks within another encoding', () => request(chunked('chunked, gzip')) + hidden, [BAD]],
  [
    'an expectation of 100',
    () => `${request(`Expect: 100-continue\r\nContent-Length: 2\r\n${CLOSE}`)}hi`,
    ['100', '200'],
  ],
];

const largePost = (): string =>
  request('Content-Length: 3000000\r\n', { method: 'POST' }) + 'x'.repeat(3_000_000);

for (const [what, bytes, answers] of exchanges) {
  test(`${what}: ${answers.join(', then ')} (contract 6, RFC 9112)`, async () => {
    assert.deepEqual(await ask(bytes()), answers);
  });
}

test('a body in chunks that has not come whole is read no further: each chunk costs time, however small (RFC 9112, 9.3)', async () => {
  for (const [asked, expected] of [
    [target(), '200'],
    [LATEST, '401 missing_key'],
  ] as const) {
    const connection = new Connection(server.url);
    const [first, next] = connection.ask(request(chunked(), { at: asked }) + '1\r\na\r\n'.repeat(50_000), [
      true,
      true,
    ]);
    const answer = await first!;
    assert.deepEqual([outcomeOf(answer), answer.headers.get('connection')], [expected, 'close']);
    // Were it read to its end, the next request would have its answer.
    connection.write(`0\r\n\r\n${second()}`);
    await assert.rejects(next!);
    await connection.close();
  }
});

const unframed: readonly [what: string, bytes: () => string][] = [
  ['an encoding that nobody knows', () => request(chunked('xchunked')) + hidden],
  ['an encoding without chunks', () => request(chunked('gzip')) + hidden],
  ['the encoding of nothing', () => request(chunked('identity')) + hidden],
  ['a chunk without a length', () => `${request(chunked())}zz\r\n${hidden}`],
  ['chunks that end in the middle', () => `${request(chunked())}5\r\nhelloX\r\n${hidden}`],
];
for (const [what, bytes] of unframed) {
  test(`${what}: one answer, then the connection ends and nothing of the body is read as a request (RFC 9112, 6.3)`, async () => {
    // A connection that a time limit ends has a second answer.
    const answers = await ask(bytes());
    assert.ok(answers.length === 1 && ['200', BAD].includes(answers[0]!), answers.join());
  });
}

test('an upgrade is not taken: the answer is that of HTTP/1.1, and the connection is kept (RFC 9110, 7.8)', async () => {
  for (const to of ['websocket', 'h2c']) {
    const connection = new Connection(server.url);
    for (const asked of [request(`Connection: Upgrade\r\nUpgrade: ${to}\r\n`), request()]) {
      const [answer] = await Promise.all(connection.ask(asked, [true]));
      assert.equal(outcomeOf(answer!), '200', to);
    }
    await connection.close();
  }
});

test('the host of an absolute address replaces the Host header (contract 4.3, RFC 9112, 3.2.2)', async () => {
  const connection = new Connection(server.url);
  for (const [origin, host, status] of [
    ['http://evil.example', 'localhost', 400],
    ['http://evil.example@localhost', 'localhost', 400],
    ['http://localhost@evil.example', 'localhost', 400],
    ['http://', 'localhost', 400],
    ['http://localhost:8080', 'evil.example', 200],
    ['https://127.0.0.1', 'localhost', 200],
  ] as const) {
    const [answer] = await Promise.all(connection.ask(request('', { at: origin + target(), host }), [true]));
    assert.equal(answer!.status, status, origin);
    assert.ok(!answer!.body.includes('evil'));
    if (status === 400) assert.match(answer!.body, /"param":"Host"/);
  }
  await connection.close();
});

test('an absolute address without a path is that of the root (RFC 9112, 3.2.1)', async () => {
  for (const at of ['http://localhost', 'http://localhost?x=1', 'http://localhost/?x=1'])
    assert.match(await server.send(request(CLOSE, { at })), /^HTTP\/1\.1 200 .*<div id="explorer">/s, at);
});

test('OPTIONS of the whole service names the methods (contract 6.6, RFC 9110, 9.3.7)', async () => {
  for (const at of ['*', 'http://localhost', 'http://localhost?x']) {
    const connection = new Connection(server.url);
    const [answer] = await Promise.all(connection.ask(request('', { method: 'OPTIONS', at }), [true]));
    assert.deepEqual([answer!.status, answer!.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'], at);
    await connection.close();
  }
});

test('an address of 24,576 characters is taken, one more is a 414 (contract 6.3)', async () => {
  const ofLength = (length: number): string => target(`&pad=${'x'.repeat(length - target('&pad=').length)}`);
  for (const [length, answer] of [
    [limits.uriBytesMax, '200'],
    [limits.uriBytesMax + 1, '414 uri_too_long'],
  ] as const)
    assert.deepEqual(await ask(request(CLOSE, { at: ofLength(length) })), [answer]);
});

/** A server whose Node has been told to be lenient. */
let lenient: Server;
before(async () => {
  const options = `--insecure-http-parser --max-http-header-size=${limits.headerBytesMax * 4}`;
  lenient = await shop.serveWith({ NODE_OPTIONS: options });
});

test('a request with two lengths is refused, whatever Node was told of its own parser (RFC 9112, 6.1)', async () => {
  for (const { url } of [server, lenient]) {
    const connection = new Connection(url);
    const bytes = request(`${chunked()}Content-Length: 3\r\n`) + body;
    const [answer] = await Promise.all(connection.ask(bytes, [true]));
    assert.equal(outcomeOf(answer!), BAD);
    await connection.ended;
  }
});

test('a head above 32 kB is a 431, whatever Node was told of its own limit (contract 6.3)', async () => {
  for (const { url } of [server, lenient]) {
    const connection = new Connection(url);
    const padded = (length: number): string => request(`X-Pad: ${'x'.repeat(length)}\r\n`);
    const [below] = await Promise.all(connection.ask(padded(30_000), [true]));
    assert.equal(outcomeOf(below!), '200');
    const [above] = await Promise.all(connection.ask(padded(limits.headerBytesMax + 1_000), [true]));
    assert.equal(outcomeOf(above!), '431 headers_too_large');
    await connection.ended;
  }
});

test('too many headers are a 431 and never cut off in silence (contract 6.3)', async () => {
  const many = 'a:\r\n'.repeat(5_000);
  const sent = `GET ${target()} HTTP/1.1\r\nHost: localhost\r\n${many}Host: evil.example\r\n\r\n`;
  assert.deepEqual(await ask(sent), ['431 headers_too_large']);
});

test('a request that comes byte by byte has its answer', async () => {
  const connection = new Connection(server.url);
  const bytes = request(CLOSE);
  const [answer] = connection.ask('', [true]);
  for (const byte of bytes) {
    connection.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(outcomeOf(await answer!), '200');
});

test('a connection that says nothing ends with a 408 (contract 6.3)', async () => {
  const answers = await Promise.all(silentAnswers);
  assert.equal(answers.length, SILENT);
  assert.deepEqual([...new Set(answers.map(outcomeOf))], ['408 timeout']);
});

test('a request whose body never comes has one answer, and then its connection ends (RFC 9112, 9.3)', async () => {
  const answers = await withoutBody;
  assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200']);
});

test('callers that go away before their answer are observed as gone, not as answered (house, Errors)', async () => {
  await until('some are gone', async () => {
    const connection = new Connection(server.url);
    const [first] = connection.ask(request(CLOSE.replace('close', 'keep-alive')).repeat(50), [true]);
    await first;
    await connection.close();
    return server.log.some((line) => line.includes('"status":null'));
  });
});

test('a flood of requests on one connection is answered in full, and holds up nobody (contract 6.4)', async () => {
  const asked = 10_000;
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  let answered = 0;
  let rest = '';
  const all = new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.on('data', (piece) => {
      const parts = (rest + piece.toString('latin1')).split('HTTP/1.1 404');
      answered += parts.length - 1;
      rest = parts.at(-1)!.slice(-'HTTP/1.1 404'.length);
      if (answered === asked) resolve();
    });
  });
  socket.write(request('', { at: '/second' }).repeat(asked));
  // How many of the flood are answered while another caller waits.
  const waits: number[] = [];
  while (answered < asked / 2) {
    const before = answered;
    assert.equal((await server.get(target())).status, 200);
    waits.push(answered - before);
  }
  await all;
  socket.destroy();
  waits.sort((a, b) => a - b);
  assert.ok(waits[Math.floor(waits.length / 2)]! < asked / 50, `others waited for ${waits.join()} answers`);
});

test('after all that the server is well, and its log has no fault, no 5xx and no key (contract 6.4, 7.4)', async () => {
  assert.deepEqual(await ask(request(CLOSE)), ['200']);
  assert.equal(await server.stop(), 0);
  const log = server.log.join('\n');
  assert.doesNotMatch(log, /"msg":"fault"|"status":5\d\d|"level":(40|50|60)/);
  assert.ok(!log.includes(key));
});
