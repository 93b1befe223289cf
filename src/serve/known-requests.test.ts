// Requests that are known by their bytes: each answer is what its parser and the stages would have given
// (contract 4.1, 6.4, 7.3, 7.5, 9.7, 9.8), on real sockets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { issue, withoutOpenssl } from '../../test/certificates.ts';
import { Connection, type RawAnswer } from '../../test/connection.ts';
import { addRows, address, control, key, observed, openHandler, store } from '../../test/request-handler.ts';
import { TestFolder } from '../../test/stores.ts';
import { limits } from '../contract/limits.ts';
import { readKeys } from '../store/control.ts';
import { StoreUnavailable } from '../store/store.ts';
import { ResponseCache } from './cache/response-cache.ts';
import type { RequestHandler } from './handler.ts';
import { issueKey, KeyRing, moveKey, noTerms, revokeKey } from './keys/api-keys.ts';
import { isWholeRequest } from './known-requests.ts';
import { httpLimits } from './limits.ts';
import { OpenConnections } from './open-connections.ts';
import { Sending } from './outgoing/sending.ts';
import { UnsentBytes } from './outgoing/unsent-bytes.ts';
import { listen } from './server.ts';
import { readCertificate } from './tls.ts';

const temporary = new TestFolder();
after(() => temporary.close());
const storedKey = (await readKeys(control)).find(({ name }) => name === 'test')!;

const BARS = '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-04';
const text = (path: string, secret: string, headers = ''): string =>
  `GET ${path}${path.includes('?') ? '&' : '?'}secret_key=${secret} HTTP/1.1\r\nHost: localhost\r\n` +
  `${headers}\r\n`;

/** What the answers to one request share: not its id, nor the date, nor what is left of a quota. */
function shared({ status, headers, body }: RawAnswer) {
  const own = ['x-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset'];
  return { status, headers: Array.from(headers).filter(([name]) => !own.includes(name)), body };
}

type Answering = Pick<RequestHandler, 'answerKnown' | 'handle'>;

/**
 * A server over a handler, parts of which a test may change; `known` has the outcome of each request that was
 * met by its bytes.
 */
async function serving(at: RequestHandler = openHandler(), changed: Partial<Answering> = {}) {
  const known: boolean[] = [];
  const handler = {
    handle: at.handle.bind(at),
    knownName: at.knownName.bind(at),
    answerKnown: async (met: Parameters<typeof at.answerKnown>[0]) => {
      const answer = await (changed.answerKnown?.(met) ?? at.answerKnown(met));
      known.push(answer !== null);
      return answer;
    },
    ...(changed.handle && { handle: changed.handle }),
  };
  const observe = (): void => undefined;
  const connections = new OpenConnections(200, observe);
  const parts = { handler, connections, unsent: new UnsentBytes(), observe };
  const server = await listen(parts, { host: '127.0.0.1', port: 0, reusePort: false, certificate: null });
  const open: Connection[] = [];
  const connection = (): Connection => {
    const one = new Connection(`http://127.0.0.1:${server.port}`);
    open.push(one);
    return one;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(open.map((one) => one.close()));
    await server.stop('test');
  };
  return { handler: at, known, connection, connections, server, [Symbol.asyncDispose]: stop };
}

const one = async (connection: Connection, bytes: string): Promise<RawAnswer> =>
  (await connection.ask(bytes, [true])[0])!;

/** Asks until the request is known, and once more. */
async function fourTimes(connection: Connection, bytes: string): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  for (let count = 0; count < 4; count++) answers.push(await one(connection, bytes));
  return answers;
}

const forms: readonly (readonly [what: string, path: string, headers: string])[] = [
  ['JSON', `${BARS}?limit=5`, ''],
  ['the last page', `${BARS}?limit=50`, ''],
  ['CSV with a link', `${BARS}?limit=5&format=csv`, 'Accept: text/csv\r\n'],
  ['gzip', `${BARS}?limit=12`, 'Accept-Encoding: gzip\r\n'],
  ['zstd of a page', `${BARS}?limit=11`, 'accept-encoding: zstd\r\n'],
  ['an ignored parameter', `${BARS}?limit=4&limt=3`, ''],
  ['a record', '/api/v2/stock/reference/US:AAPL', ''],
];
for (const [what, path, headers] of forms) {
  test(`a request known by its bytes has the answer of the parser: ${what} (contract 4.1, 9.7)`, async () => {
    await using at = await serving();
    const connection = at.connection();
    const [, parsed, first, second] = await fourTimes(connection, text(path, key, headers));
    assert.ok(at.known.length > 0 && at.known.every(Boolean), at.known.join());
    assert.deepEqual(
      [first, second].map((each) => shared(each!)),
      [shared(parsed!), shared(parsed!)],
    );
    assert.equal(parsed!.status, 200);
    assert.notEqual(first!.headers.get('x-request-id'), second!.headers.get('x-request-id'));
    assert.match(first!.headers.get('date')!, /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    // The same of a caller that holds it.
    const held = `${headers}If-None-Match: ${parsed!.headers.get('etag')}\r\n`;
    const [unmodified, third, fourth] = await fourTimes(connection, text(path, key, held));
    assert.equal(unmodified!.status, 304);
    assert.deepEqual(
      [third, fourth].map((each) => shared(each!)),
      [shared(unmodified!), shared(unmodified!)],
    );
    assert.ok(at.known.every(Boolean) && at.known.length > 3, at.known.join());
  });
}

test('a known request is observed as any other (docs/operating/metrics.md)', async () => {
  await using at = await serving();
  observed.length = 0;
  const [, parsed, known] = await fourTimes(at.connection(), text(`${BARS}?limit=6`, key));
  const told = observed.filter((seen) => seen.kind === 'request');
  assert.equal(told.length, 4);
  assert.ok(told.every(({ durationMs }) => durationMs >= 0));
  const facts = told.map((seen) => ({ ...seen, durationMs: 0, requestId: '' }));
  assert.deepEqual(facts, Array(4).fill(facts[1]));
  assert.deepEqual(
    [told[1]!.requestId, told[2]!.requestId],
    [parsed!.headers.get('x-request-id'), known!.headers.get('x-request-id')],
  );
});

test('a quota counts known requests, tells what is left, and refuses the next (contract 7.5)', async () => {
  const { secret } = await issueKey(control, 'few', { ...noTerms, perDay: 400, perMinute: 150 }, Date.now());
  await using at = await serving(openHandler({ keys: new KeyRing(() => readKeys(control)) }));
  const connection = at.connection();
  const left: (string | undefined)[] = [];
  const statuses: number[] = [];
  for (let count = 0; count < 152; count++) {
    const { status, headers } = await one(connection, text(`${BARS}?limit=7`, secret));
    statuses.push(status);
    left.push(headers.get('ratelimit-remaining'));
  }
  assert.deepEqual(statuses, [...Array(150).fill(200), 429, 429]);
  assert.deepEqual(left.slice(0, 151).map(Number), [
    ...Array.from({ length: 150 }, (_, used) => 149 - used),
    0,
  ]);
  assert.ok(at.known.filter(Boolean).length > 50, at.known.join());
});

test('no known request has an older answer than the store has (contract 4.1)', async () => {
  await using at = await serving();
  const connection = at.connection();
  const prices = { open: 2, high: 2, low: 2, close: 2, volume: 1 };
  const stock = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'MSFT', interval: '1M' };
  for (let count = 1; count <= 4; count++) {
    await addRows('bars', [{ ...stock, ...prices, datetime: `2025-03-03T15:0${count}:00Z` }]);
    const path = BARS.replace('AAPL', 'MSFT');
    for (const { status, body } of await fourTimes(connection, text(path, key))) {
      assert.equal(status, 200, body);
      assert.equal((JSON.parse(body) as { result: { count: number } }).result.count, count);
    }
  }
  assert.ok(at.known.includes(true) && at.known.includes(false), at.known.join());
});

test('revoked, expired and moved keys are met as by the stages (contract 7.3, 9.8)', async () => {
  let nowMs = Date.now();
  const keyed = async (terms: Partial<typeof noTerms>) =>
    issueKey(control, 'brief', { ...noTerms, ...terms }, nowMs);
  const revoked = await keyed({});
  const expiring = await keyed({ expiresMs: nowMs + 300 });
  const pinned = await keyed({ asOfMs: nowMs + 60_000 });
  await using at = await serving(
    openHandler({ keys: new KeyRing(() => readKeys(control)), nowMs: () => nowMs }),
  );
  const connection = at.connection();
  const get = (secret: string): Promise<RawAnswer[]> =>
    fourTimes(connection, text(`${BARS}?limit=8`, secret));
  for (const { secret } of [revoked, expiring, pinned])
    assert.deepEqual(
      (await get(secret)).map(({ status }) => status),
      [200, 200, 200, 200],
    );
  assert.ok(at.known.filter(Boolean).length >= 4, at.known.join());
  await revokeKey(control, revoked.key.key_id, nowMs);
  await moveKey(control, pinned.key.key_id, Date.parse('2025-03-01T00:00:00Z'));
  nowMs += 301;
  for (const { status } of await get(expiring.secret)) assert.equal(status, 401);
  for (const { body } of await get(pinned.secret)) assert.match(body, /"count":0|no_data/);
  nowMs += 700;
  for (const { status } of await get(revoked.secret)) assert.equal(status, 401);
});

for (const [what, movedMs] of [
  ['after a second', httpLimits.knownMs],
  ['where the clock goes back', -3_600_000],
] as const) {
  test(`a request is asked of the stages again ${what}`, async () => {
    let nowMs = Date.now();
    await using at = await serving(
      openHandler({ nowMs: () => nowMs, keys: { verify: async () => storedKey, holds: () => true } }),
    );
    const connection = at.connection();
    await fourTimes(connection, text(`${BARS}?limit=9`, key));
    nowMs += movedMs;
    await fourTimes(connection, text(`${BARS}?limit=9`, key));
    assert.deepEqual(at.known, Array(5).fill(true), 'the parser had the others');
  });
}

test('a request that is not known any more has waited as long as before', async () => {
  const at = openHandler();
  const came: (number | undefined)[] = [];
  const met: number[] = [];
  await using server = await serving(at, {
    answerKnown: async ({ arrivedMs }) => {
      met.push(arrivedMs);
      return null;
    },
    handle: (request) => {
      came.push(request.arrivedMs);
      return at.handle(request);
    },
  });
  await fourTimes(server.connection(), text(`${BARS}?limit=9`, key));
  assert.equal(met.length, 2);
  assert.deepEqual(came.slice(2), met);
});

test('load shedding is asked by the stages alone whether a late request is answered', async () => {
  const asked: number[] = [];
  const admits = (_: string | null, waitedMs: number): boolean => asked.push(waitedMs) > 0;
  await using at = await serving(openHandler({ admits }), {
    answerKnown: (met) => at.handler.answerKnown({ ...met, waitedMs: limits.queueWaitMs + met.waitedMs + 1 }),
  });
  await fourTimes(at.connection(), text(`${BARS}?limit=9`, key));
  assert.deepEqual([at.known, asked.length], [[false, false], 4]);
});

test('where the store is away a request that was known is refused as any other (contract 6.3)', async () => {
  let isAway = false;
  const versioned = {
    get id() {
      return store.id;
    },
    version: () => (isAway ? Promise.reject(new StoreUnavailable('away')) : store.version()),
    changesAfter: store.changesAfter.bind(store),
  };
  await using at = await serving(openHandler({ cache: new ResponseCache(versioned) }));
  const connection = at.connection();
  await fourTimes(connection, text(`${BARS}?limit=9`, key));
  isAway = true;
  for (const { status } of await fourTimes(connection, text(`${BARS}?limit=9`, key)))
    assert.equal(status, 503);
  assert.deepEqual(at.known.slice(0, 2), [true, true]);
});

/** A known request whose answer waits for `go`. */
async function heldAnswer() {
  const handler = openHandler();
  const { promise, resolve: go } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const at = await serving(handler, {
    answerKnown: async (met) => {
      begun.resolve();
      await promise;
      return handler.answerKnown(met);
    },
  });
  const connection = at.connection();
  const bytes = text(`${BARS}?limit=9`, key);
  for (let count = 0; count < 2; count++) await one(connection, bytes);
  const answer = one(connection, bytes);
  await begun.promise;
  return { at, connection, answer, go };
}

test('a known request counts as one that is read and not answered yet', async () => {
  const { at, answer, go } = await heldAnswer();
  await using _ = at;
  assert.deepEqual([at.connections.unanswered, at.connections.unread], [1, 0]);
  go();
  assert.equal((await answer).status, 200);
  while (at.connections.unanswered > 0) await new Promise(setImmediate);
});

test('a stop while a known request is answered ends its connection with the answer', async () => {
  const { at, connection, answer, go } = await heldAnswer();
  at.connections.stop();
  at.connections.endIdle();
  go();
  assert.equal((await answer).status, 200);
  await connection.ended;
  await at.server.stop('test');
});

test('a known answer that its caller does not read takes no place of others', async () => {
  const handler = openHandler();
  const many = Buffer.alloc(16 * 1024 * 1024);
  const waited: number[] = [];
  const { promise: end, resolve } = Promise.withResolvers<null>();
  await using at = await serving(handler, {
    // The first is not read, the others wait, but for the last.
    answerKnown: async (met) => {
      waited.push(met.waitedMs);
      if (waited.length === 1) return { head: '', body: [many], owner: null, release: () => undefined };
      return waited.length > httpLimits.placesMax ? handler.answerKnown(met) : end;
    },
  });
  const bytes = text(`${BARS}?limit=9`, key);
  const connections = Array.from({ length: httpLimits.placesMax + 1 }, () => at.connection());
  for (const connection of connections) await one(connection, bytes);
  const unread = connect(at.server.port, '127.0.0.1');
  unread.write(bytes);
  await once(unread, 'data');
  unread.pause();
  unread.write(bytes);
  while (waited.length < 1) await new Promise(setImmediate);
  for (const connection of connections.slice(0, -2)) connection.write(bytes);
  while (waited.length < httpLimits.placesMax) await new Promise(setImmediate);
  await one(connections.at(-1)!, bytes);
  assert.equal(waited.at(-1), 0);
  unread.destroy();
  resolve(null);
});

test('an answer to a connection that has closed keeps nothing of it', async () => {
  const observe = (): void => undefined;
  const unsent = new UnsentBytes();
  const sending = new Sending({ unsent, observe, reset: () => undefined, pace: undefined }, () => ({
    family: 'IPv4',
    port: 1,
  }));
  const socket = new Socket().destroy();
  await once(socket, 'close');
  sending.forget(socket);
  const body = [Buffer.alloc(9)];
  await new Promise<void>((done) =>
    sending.sendWritten(socket, { head: '', body, owner: 'key', release: unsent.hold('key', 9) }, done),
  );
  assert.deepEqual([sending.ownerOf(socket), unsent.total], [null, 0]);
  sending.close();
});

const statusesIn = (got: string): string[] =>
  Array.from(got.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, one]) => one!);

/** The statuses of the first answers to bytes that are sent piece by piece. */
async function answersTo(port: number, pieces: readonly string[], count: number): Promise<string[]> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let got = '';
  socket.on('data', (piece) => {
    got += piece.toString('latin1');
  });
  for (const piece of pieces) {
    socket.write(piece);
    // This thread is the server's, too: by then it has read the piece.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  }
  while (statusesIn(got).length < count && !socket.closed) await new Promise(setImmediate);
  socket.destroy();
  return statusesIn(got);
}

test('the bytes of a known request in another request are a part of that one (RFC 9112, 9.3)', async () => {
  await using at = await serving();
  const known = text(`${BARS}?limit=10`, key);
  await fourTimes(at.connection(), known);
  const before = at.known.length;
  const { port } = at.server;
  const posted = (header: string): string => `POST ${BARS} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`;
  const withBody = [known, posted(`Content-Length: ${known.length}`), known];
  assert.deepEqual(await answersTo(port, withBody, 2), ['200', '405']);
  const inChunk = [known, posted('Transfer-Encoding: chunked'), `${known.length.toString(16)}\r\n`, known];
  assert.deepEqual(await answersTo(port, inChunk, 2), ['200', '405']);
  const head = [known, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ', known];
  assert.deepEqual(await answersTo(port, head, 2), ['200', '400']);
  assert.deepEqual(await answersTo(port, [known.slice(0, 9), known.slice(9), known], 2), ['200', '200']);
  assert.equal(at.known.length, before, 'the parser had all of them');
});

test('answers come in the order of their requests, whichever are known', async () => {
  await using at = await serving();
  const connection = at.connection();
  const [a, b] = [text(`${BARS}?limit=2`, key), text(`${BARS}?limit=3`, key)];
  for (const bytes of [a, b]) await fourTimes(connection, bytes);
  const cold = text(`${BARS}?limit=1`, key);
  const counts: number[] = [];
  for (const bytes of [a, cold, b, a + b, a, b, cold + a, b])
    connection.ask(bytes, Array(bytes.split('GET ').length - 1).fill(true)).forEach((answer, index) => {
      void index;
      void answer.then(({ body }) =>
        counts.push((JSON.parse(body) as { result: { count: number } }).result.count),
      );
    });
  while (counts.length < 10) await new Promise(setImmediate);
  assert.deepEqual(counts, [2, 1, 3, 2, 3, 2, 3, 1, 2, 3]);
});

test('requests that may not be known are parsed each time', async () => {
  await using at = await serving();
  const each = [
    text(`${BARS}?limit=5`, key, 'X-Request-Id: mine\r\n'),
    text(`${BARS}?limit=5`, 'not-a-key-not-a-key-not-a-key-not-a-key-000'),
    text('/api/v2/stock/bars/US:NONE/1M/latest', key),
    'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ];
  for (const bytes of each) {
    const [first, ...others] = await fourTimes(at.connection(), bytes);
    for (const { status } of others) assert.equal(status, first!.status);
  }
  assert.deepEqual(at.known, []);
  const closing = await one(at.connection(), text(`${BARS}?limit=5`, key, 'Connection: close\r\n'));
  assert.equal(closing.headers.get('connection'), 'close');
});

test('a stop ends connections with their next answer, known or not', async () => {
  const at = await serving();
  const connection = at.connection();
  await fourTimes(connection, text(`${BARS}?limit=5`, key));
  at.connections.stop();
  const last = await one(connection, text(`${BARS}?limit=5`, key));
  assert.equal(last.headers.get('connection'), 'close');
  await connection.ended;
  await at.server.stop('test');
});

test('over HTTPS a known answer tells browsers to come by HTTPS alone (RFC 6797)', async (t) => {
  if (withoutOpenssl) return t.skip(withoutOpenssl);
  const handler = openHandler({ address: { ...address, scheme: 'https' } });
  const observe = (): void => undefined;
  const server = await listen(
    { handler, connections: new OpenConnections(9, observe), unsent: new UnsentBytes(), observe },
    {
      host: '127.0.0.1',
      port: 0,
      reusePort: false,
      certificate: readCertificate(issue(temporary.folder, 'known')),
    },
  );
  const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
  const heads: string[] = [];
  for (let count = 0; count < 4; count++) {
    socket.write(text(`${BARS}?limit=5`, key));
    heads.push(((await once(socket, 'data')) as [Buffer])[0].toString().split('\r\n\r\n')[0]!);
  }
  socket.destroy();
  await server.stop('test');
  for (const head of heads) assert.match(head, /\r\nStrict-Transport-Security: max-age=\d+/);
});

const apart: readonly (readonly [what: string, bytes: string, isWhole: boolean])[] = [
  ['a request', 'GET /a HTTP/1.1\r\nHost: b\r\n\r\n', true],
  ['a kept connection', 'GET /a HTTP/1.1\r\nHost: b\r\nConnection: keep-alive\r\n\r\n', true],
  ['two', 'GET /a HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\n', false],
  ['no end', 'GET /a HTTP/1.1\r\nHost: b\r\n', false],
  ['more than the end', 'GET /a HTTP/1.1\r\nHost: b\r\n\r\nG', false],
  ['another method', 'HEAD /a HTTP/1.1\r\nHost: b\r\n\r\n', false],
  ['HTTP/1.0', 'GET /a HTTP/1.0\r\nHost: b\r\n\r\n', false],
  ['a body', 'GET /a HTTP/1.1\r\ncontent-length: 4\r\n\r\n', false],
  ['chunks', 'GET /a HTTP/1.1\r\nTransfer-Encoding:chunked\r\n\r\n', false],
  ['an upgrade', 'GET /a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n', false],
  ['an end', 'GET /a HTTP/1.1\r\nConnection: close\r\n\r\n', false],
  ['an end by a name of old', 'GET /a HTTP/1.1\r\nProxy-Connection: close\r\n\r\n', false],
  ['several tokens', 'GET /a HTTP/1.1\r\nConnection: keep-alive, close\r\n\r\n', false],
  ['a folded line', 'GET /a HTTP/1.1\r\nHost: b\r\n c\r\n\r\n', false],
  ['a bare line end', 'GET /a HTTP/1.1\r\nHost: b\nContent-Length: 3\r\n\r\n', false],
  ['a bare return', 'GET /a HTTP/1.1\r\nHost: b\rContent-Length: 3\r\n\r\n', false],
  ['a space before the colon', 'GET /a HTTP/1.1\r\nContent-Length : 3\r\n\r\n', false],
];
for (const [what, bytes, isWhole] of apart)
  test(`one whole request without a body: ${what}`, () =>
    assert.equal(isWholeRequest(Buffer.from(bytes, 'latin1')), isWhole));
