// The server on a real socket: broken HTTP, limits, kept connections, and the stop (contract 4.3, 6).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { limits } from '../src/contract/limits.ts';
import { Connection } from './connection.ts';
import { type Server, Workshop } from './service.ts';

const shop = new Workshop();
let server: Server;
let key = '';
/** The answer to a request whose head never ends, begun with the file so that nothing waits for it alone. */
let half: Promise<string>;
after(() => shop.close());

before(async () => {
  const file = shop.path('aapl.csv');
  const rows = Array.from({ length: 390 }, (_, minute) => {
    const at = new Date(Date.parse('2025-03-03T14:30:00Z') + minute * 60_000).toISOString();
    return `${at},1,3,0.5,2,10`;
  });
  writeFileSync(file, ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  const named = ['--schema', 'stock', '--country', 'US', '--symbol', 'AAPL', '--interval', '1M'];
  await shop.must('import', 'bars', file, ...named);
  key = await shop.must('keys', 'create', 'test');
  server = await shop.serve();
  half = server.send(`GET ${LATEST} HTTP/1.1\r\nHost: localhost\r\nX-Half: `);
});

const LATEST = '/api/v2/stock/bars/US:AAPL/1M/latest';
const target = (rest = ''): string => `${LATEST}?secret_key=${key}${rest}`;
const request = (path: string, headers = '', method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const CLOSE = 'Connection: close\r\n';

type Parsed = { status: number; headers: Headers; body: string };

/**
 * The answers in what came over a connection, each by its Content-Length; HEAD answers and 204 have no body.
 */
function answersIn(text: string, hasBody = true): Parsed[] {
  const found: Parsed[] = [];
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n');
    assert.ok(end > 0, `not an answer: ${rest.toString().slice(0, 200)}`);
    const [line, ...fields] = rest.subarray(0, end).toString().split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) \S/.exec(line!)?.[1]);
    const headers = new Headers(fields.map((field) => field.split(/: ?(.*)/s, 2) as [string, string]));
    const length = hasBody ? Number(headers.get('content-length') ?? 0) : 0;
    const body = rest.subarray(end + 4, end + 4 + length);
    assert.equal(body.length, length, 'the whole body');
    found.push({ status, headers, body: body.toString() });
    rest = rest.subarray(end + 4 + length);
  }
  return found;
}

/** The one answer to what is sent. */
async function ask(sent: string | Uint8Array, at = server): Promise<Parsed> {
  const answers = answersIn(await at.send(sent));
  assert.equal(answers.length, 1, `${answers.length} answers to ${String(sent).slice(0, 80)}`);
  return answers[0]!;
}

/** Holds an answer to the envelope of contract 6.2 and to the headers that every error has. */
function refused({ status, headers, body }: Parsed, word: string, code: number, what: string): void {
  const envelope = JSON.parse(body) as {
    status: string;
    code: number;
    detail: { error: string; request_id: string };
  };
  assert.deepEqual(
    [status, envelope.status, envelope.code, envelope.detail.error],
    [code, 'error', code, word],
    what,
  );
  assert.equal(headers.get('x-request-id'), envelope.detail.request_id, what);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
}

test('a fresh store is served: keys are asked for, symbols are unknown, nothing is a fault (contract 10)', async () => {
  const fresh = new Workshop();
  try {
    const at = await fresh.serve();
    refused(await ask(request(LATEST, CLOSE), at), 'missing_key', 401, 'no key');
    refused(await ask(request(`${LATEST}?secret_key=${key}`, CLOSE), at), 'invalid_key', 401, 'no keys yet');
    const own = await fresh.must('keys', 'create', 'first');
    const sent = request(`${LATEST}?secret_key=${own}`, CLOSE);
    refused(await ask(sent, at), 'unknown_instrument', 404, 'a key that was made while it runs');
    assert.equal(await at.stop(), 0);
  } finally {
    fresh.close();
  }
});

test('two Host headers, or none, are a bad_request in the envelope (contract 4.3, 6.2)', async () => {
  for (const hosts of [
    '',
    'Host:\r\n',
    'Host: localhost\r\nHost: localhost\r\n',
    'Host: localhost\r\nHost: evil.example\r\n',
    'Host: evil.example\r\nhost: localhost\r\n',
  ])
    refused(await ask(`GET ${target()} HTTP/1.1\r\n${hosts}${CLOSE}\r\n`), 'bad_request', 400, hosts);
});

test('two Host headers are a bad_request whatever is asked, also where the base address is set (RFC 9112, 3.2)', async () => {
  const settled = await shop.serve('--public-url', 'https://data.example.com');
  const hosts = 'Host: localhost\r\nHost: localhost\r\n';
  for (const at of [server, settled])
    for (const asked of [`GET ${target()}`, `OPTIONS ${target()}`, 'GET /nowhere', `GET ${LATEST}`])
      refused(await ask(`${asked} HTTP/1.1\r\n${hosts}${CLOSE}\r\n`, at), 'bad_request', 400, asked);
  for (const one of ['', 'Host: odd.example\r\n'])
    assert.equal((await ask(`GET ${target()} HTTP/1.1\r\n${one}${CLOSE}\r\n`, settled)).status, 200, one);
  assert.equal(await settled.stop(), 0);
});

const broken: readonly [what: string, sent: string | Uint8Array][] = [
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['another protocol', `GET ${LATEST} HTTP/3.0\r\nHost: localhost\r\n\r\n`],
  ['an unknown method', `BOURSE ${LATEST} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['a lower-case method', `get ${LATEST} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['a space in the address', `GET ${LATEST}?a= b HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['a NUL in the address', `GET ${LATEST}\0 HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ['a header without a colon', `GET ${LATEST} HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n`],
  ['a space before the colon', `GET ${LATEST} HTTP/1.1\r\nHost : localhost\r\n\r\n`],
  ['a folded header', `GET ${LATEST} HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n`],
  ['a lone CR in a header', `GET ${LATEST} HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n`],
  [
    'two lengths',
    `GET ${LATEST} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`,
  ],
  [
    'a length and chunks',
    `GET ${LATEST} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ],
  ['the beginning of TLS', Buffer.from('16030100c8010000c40303', 'hex')],
  ['the beginning of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
];
for (const [what, sent] of broken) {
  test(`${what} is a bad_request in the envelope, and the connection is closed (contract 6.2)`, async () => {
    const answer = await ask(sent);
    refused(answer, 'bad_request', 400, what);
    assert.equal(answer.headers.get('connection'), 'close');
  });
}

test('bare LF and HTTP/0.9 are answered or refused once, and never read as something else', async () => {
  const bareLf = `GET ${target()} HTTP/1.1\nHost: localhost\nConnection: close\n\n`;
  for (const sent of [bareLf, `GET ${target()}\r\n\r\n`]) {
    const answer = await ask(sent);
    if (answer.status !== 200) refused(answer, 'bad_request', 400, sent);
  }
});

test('a path of 20 kB is a 414 in the envelope, a head above 32 kB a 431 (contract 6.3)', async () => {
  refused(await ask(request(`/${'a'.repeat(28_000)}`, CLOSE)), 'uri_too_long', 414, 'path');
  refused(await ask(request(target(`&x=${'a'.repeat(28_000)}`), CLOSE)), 'uri_too_long', 414, 'query');
  const pad = `X-Pad: ${'a'.repeat(limits.headerBytesMax)}\r\n`;
  refused(await ask(request(target(), pad)), 'headers_too_large', 431, 'one header');
  const many = Array.from({ length: 900 }, (_, index) => `X-${index}: ${'a'.repeat(40)}\r\n`).join('');
  refused(await ask(request(target(), many)), 'headers_too_large', 431, 'many headers');
  assert.equal(
    (await ask(request(target(), `X-Pad: ${'a'.repeat(30_000)}\r\n${CLOSE}`))).status,
    200,
    'just below',
  );
});

test('an expectation that nobody knows has an answer like every other (contract 6.2, 6.5)', async () => {
  const text = await server.send(request(target(), `Expect: bourse\r\n${CLOSE}`));
  assert.match(text, /^x-request-id: /im, text);
  const answer = answersIn(text)[0]!;
  assert.ok(answer.status === 200 || (JSON.parse(answer.body) as { code: number }).code === answer.status);
});

test('CONNECT is refused like every other method (contract 6.6)', async () => {
  const answer = await ask('CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  refused(answer, 'method_not_allowed', 405, 'CONNECT');
  assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS');
});

test('HEAD has the headers of GET and no body; OPTIONS is a 204 (contract 6.6)', async () => {
  const get = await ask(request(target(), CLOSE));
  const [head] = answersIn(await server.send(request(target(), CLOSE, 'HEAD')), false);
  assert.deepEqual(
    [head!.status, head!.headers.get('content-length')],
    [200, get.headers.get('content-length')],
  );
  const options = await ask(request(LATEST, CLOSE, 'OPTIONS'));
  assert.deepEqual([options.status, options.body], [204, '']);
  assert.equal(options.headers.get('allow'), 'GET, HEAD, OPTIONS');
  const [refusedHead] = answersIn(await server.send(request(LATEST, CLOSE, 'HEAD')), false);
  assert.equal(refusedHead!.status, 401);
});

test('a body is not read: POST is a 405 with Allow, GET with a body is answered (contract 6.6)', async () => {
  const post = await ask(`${request(target(), `Content-Length: 5\r\n${CLOSE}`, 'POST')}hello`);
  refused(post, 'method_not_allowed', 405, 'POST');
  assert.equal(post.headers.get('allow'), 'GET, HEAD, OPTIONS');
  assert.equal((await ask(`${request(target(), `Content-Length: 5\r\n${CLOSE}`)}hello`)).status, 200);
});

test('an absolute address is understood (RFC 9112, 3.2.2)', async () => {
  assert.equal((await ask(request(`http://localhost${target()}`, CLOSE))).status, 200);
  refused(await ask(request('http://localhost/nothing', CLOSE)), 'unknown_path', 404, 'absolute');
});

test('pipelined requests are answered one after the other, in order (RFC 9112, 9.3.2)', async () => {
  const sent = [3, 1, 2].map((limit) => request(target(`&limit=${limit}`)));
  const answers = answersIn(
    await server.send([...sent, request('/nothing'), request(target('&limit=4'), CLOSE)].join('')),
  );
  const counts = answers.map(({ status, body }) =>
    status === 200 ? (JSON.parse(body) as { result: { count: number } }).result.count : status,
  );
  assert.deepEqual(counts, [3, 1, 2, 404, 4]);
});

test('a good request that broken bytes follow has its own answer first (RFC 9112, 9.3.2)', async () => {
  const [first, second, ...more] = answersIn(
    await server.send(`${request(target('&limit=2'))}nonsense\r\n\r\n`),
  );
  assert.equal(first?.status, 200, first?.body);
  if (second !== undefined) refused(second, 'bad_request', 400, 'what follows');
  assert.equal(more.length, 0);
});

test('a connection is kept for the next request', async () => {
  const connection = new Connection(server.url);
  for (const limit of [1, 2, 3]) {
    const [answer] = await Promise.all(connection.ask(request(target(`&limit=${limit}`)), [true]));
    assert.equal(answer!.status, 200);
    assert.equal(answer!.headers.get('connection'), 'keep-alive');
  }
  await connection.close();
});

test('callers that go away before their answer leave the server as it was', async () => {
  for (let count = 0; count < 50; count++) {
    const socket = await open();
    socket.write(request(target('&limit=390')).repeat(10));
    socket.resetAndDestroy();
  }
  assert.equal((await ask(request(target(), CLOSE))).status, 200);
});

function open(at = server): Promise<Socket> {
  const { hostname, port } = new URL(at.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.once('error', reject);
  });
}

test('a second server on the same port ends with one clear message and status 3 (contract 10)', async () => {
  const { port } = new URL(server.url);
  const { status, stdout, stderr } = await shop.run('serve', '--port', port);
  assert.deepEqual([status, stdout], [3, '']);
  assert.match(stderr, new RegExp(`^bourse: .*${port}.* taken.*--port.*\\n$`), 'one line, no stack');
});

test('SIGTERM while requests are in flight loses none, takes no more, and ends with 0', async () => {
  const at = await shop.serve();
  const each = 20;
  const sockets = await Promise.all(Array.from({ length: 10 }, () => open(at)));
  const started: Promise<void>[] = [];
  const ends = sockets.map((socket) => {
    const pieces: Buffer[] = [];
    // One write arrives in one piece: once its first answer is there, all of it is in the server.
    socket.write(request(target('&limit=390')).repeat(each));
    started.push(new Promise((resolve) => socket.once('data', () => resolve())));
    socket.on('data', (piece) => pieces.push(piece));
    return new Promise<string>((resolve) =>
      socket.once('close', () => resolve(Buffer.concat(pieces).toString())),
    );
  });
  await Promise.all(started);
  const startedMs = Date.now();
  const status = await at.stop();
  const tookMs = Date.now() - startedMs;
  assert.equal(status, 0);
  let good = 0;
  for (const end of ends) {
    const answers = answersIn(await end);
    // On a slow machine some have waited too long, and are refused for that.
    const odd = answers.filter(({ status }) => status !== 200 && status !== 503);
    assert.deepEqual([answers.length, odd], [each, []]);
    good += answers.filter(({ status }) => status === 200).length;
  }
  assert.ok(good > 0, 'some were answered');
  await assert.rejects(open(at), /ECONNREFUSED/);
  const said = at.log.map((line) => (JSON.parse(line) as { msg: string }).msg);
  for (const word of ['listening', 'stopping', 'stopped']) assert.ok(said.includes(word), word);
  assert.equal(
    said.filter((msg) => msg === 'request').length,
    sockets.length * each,
    'every request is in the log',
  );
  // Those that hold it up do so until this limit; the answers above take a hundredth of it.
  assert.ok(tookMs < limits.stopTimeoutMs, 'kept connections do not hold it up once they are answered');
});

test('a request whose head never ends is a timeout in the envelope (contract 6.3)', async () => {
  refused(answersIn(await half)[0]!, 'timeout', 408, 'half a request');
});
