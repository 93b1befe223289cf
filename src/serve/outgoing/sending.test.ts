// Answers on their way: unread ones are counted and bounded, slow callers finish, silent ones are cut
// (contract 6.3, 6.4).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { issue, withoutOpenssl } from '../../../test/certificates.ts';
import { TestFolder } from '../../../test/stores.ts';
import { until } from '../../../test/until.ts';
import type { Observation } from '../../base/observe.ts';
import { httpLimits } from '../limits.ts';
import type { HttpRequest, HttpResponse } from '../message.ts';
import { OpenConnections } from '../open-connections.ts';
import { listen } from '../server.ts';
import { type Certificate, readCertificate } from '../tls.ts';
import { nameOf, readSendQueues } from './send-queues.ts';
import type { SendingPace } from './sending.ts';
import { UnsentBytes } from './unsent-bytes.ts';

/** No connection is too slow, however busy the machine is. */
const NEVER_MS = 1e9;
/** Slow for a person, fast for a test. */
const PACE = { intervalMs: 600, checkMs: 50 };

const temporary = new TestFolder();
const callers: Socket[] = [];
const servers: { stop(reason: string): Promise<void> }[] = [];
after(async () => {
  for (const socket of callers) socket.destroy();
  for (const server of servers) await server.stop('end');
  temporary.close();
});

/** Unsent bytes that a test can have counted. */
class CountedBytes extends UnsentBytes {
  #relief: Parameters<UnsentBytes['relieveWith']>[0] | null = null;

  override relieveWith(relief: Parameters<UnsentBytes['relieveWith']>[0]): void {
    this.#relief = relief;
    super.relieveWith(relief);
  }

  /** Counts what the kernel holds, by a look that begins after this call. */
  async recount(): Promise<void> {
    await this.#relief!.recount();
  }
}

type Setup = {
  bounds?: ConstructorParameters<typeof UnsentBytes>[0];
  pace?: SendingPace;
  certificate?: Certificate;
};

/**
 * A server that answers a path `/BYTES/KEY` with so many bytes, counted for that key, or for none below 1 kB;
 * or refuses it, unless it is `/BYTES/KEY/kept`, as if it had the answer.
 */
async function serve({ bounds, pace = PACE, certificate }: Setup = {}) {
  const unsent = new CountedBytes(bounds);
  const observed: Observation[] = [];
  let handled = 0;
  const handler = {
    async handle({ target }: HttpRequest): Promise<HttpResponse> {
      handled++;
      const [, size, key = 'key', kept] = target.split('/');
      const bytes = Number(size);
      const owner = bytes < 1_000 ? null : key;
      const headers = { 'Content-Length': String(bytes) };
      if (kept !== undefined) return { status: 200, headers, body: [Buffer.alloc(bytes)], owner };
      const release = await unsent.admit(owner, bytes).catch(() => null);
      if (release === null) return { status: 503, headers: { 'Content-Length': '0' }, body: [], owner };
      return { status: 200, headers, body: [Buffer.alloc(bytes)], owner, release };
    },
  };
  const observe = (one: Observation): void => void observed.push(one);
  const connections = new OpenConnections(100, observe);
  const parts = { handler, connections, unsent, observe, pace };
  const address = { host: '127.0.0.1', port: 0, reusePort: false, certificate: certificate ?? null };
  const listening = await listen(parts, address);
  servers.push(listening);
  return { ...listening, unsent, observed, handled: () => handled, isSecure: certificate !== undefined };
}

type Served = Awaited<ReturnType<typeof serve>>;

/** A caller that has sent requests, and reads nothing yet. */
async function call({ port, isSecure }: Served, ...paths: readonly string[]): Promise<Socket> {
  const socket = isSecure
    ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : connect(port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  socket.pause();
  await once(socket, isSecure ? 'secureConnect' : 'connect');
  callers.push(socket);
  for (const path of paths) ask(socket, path);
  return socket;
}

const ask = (socket: Socket, path: string): void =>
  void socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);

const state =
  ({ unsent, observed }: Served) =>
  () =>
    `${unsent.total} bytes, ${JSON.stringify(observed)}`;

async function end(server: Served, sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await until(state(server), () => server.unsent.total === 0);
  await server.stop('test');
}

/**
 * Reads everything, so many bytes in each step, and tells each that brought some; how many there were before
 * the end.
 */
async function readSlowly(
  socket: Socket,
  step: number,
  pauseMs: number,
  bytes: number,
  onStep = (): void => undefined,
): Promise<number> {
  let read = 0;
  while (read < bytes && !socket.destroyed) {
    const piece = socket.read(Math.min(step, socket.readableLength || step)) as Buffer | null;
    if (piece !== null) {
      read += piece.length;
      onStep();
    }
    await sleep(pauseMs);
  }
  return read;
}

/** How long the kernel is watched: it sends what it has within less, also where it waits to acknowledge. */
const STILL_MS = 1_000;

/**
 * Waits until callers that do not read count as such: the kernel moves nothing for them any more, and a look
 * has seen that.
 */
async function untilUnread({ port, unsent }: Served): Promise<void> {
  let [last, sinceMs] = ['', performance.now()];
  await until('the kernel moves nothing', () => {
    const now = [...readSendQueues({ port, family: 'IPv4' })!].join(' ');
    if (now !== last) [last, sinceMs] = [now, performance.now()];
    return performance.now() - sinceMs >= STILL_MS;
  });
  // The first may be the one that sees the last bytes move.
  await unsent.recount();
  await unsent.recount();
  await sleep(httpLimits.unreadMs);
}

const LARGE = 8_000_000;

test('an unread answer counts until its caller has it, also the part that the kernel holds', async () => {
  const server = await serve({ pace: { ...PACE, intervalMs: NEVER_MS } });
  const socket = await call(server, `/${LARGE}`);
  await until(state(server), () => server.unsent.of('key') >= LARGE);
  socket.resume();
  await until(state(server), () => server.unsent.total === 0);
  await end(server, [socket]);
});

test('answers from the cache are looked at before their caller is at its bound, so that who reads at once waits for no look', async () => {
  const server = await serve({
    pace: { intervalMs: NEVER_MS, checkMs: NEVER_MS },
    bounds: { perKeyMax: 1_000_000 },
  });
  const socket = await call(server);
  for (let answer = 0; answer < 40; answer++) {
    ask(socket, '/60000/key/kept');
    assert.ok((await readSlowly(socket, 65_536, 1, 60_000)) >= 60_000);
    await until(state(server), () => server.unsent.of('key') < 900_000);
  }
  await end(server, [socket]);
});

test('a further request on a connection shows that its answers were read; a look finds who does not read', {
  skip: process.platform !== 'linux' && 'only Linux tells',
}, async (t) => {
  const server = await serve({ pace: { intervalMs: NEVER_MS, checkMs: NEVER_MS } });
  const reader = await call(server);
  for (let answer = 0; answer < 40; answer++) {
    ask(reader, '/60000/reader/kept');
    assert.ok((await readSlowly(reader, 65_536, 1, 60_000)) >= 60_000);
    assert.ok(server.unsent.of('reader') <= 60_000, state(server)());
  }
  const before = httpLimits.assumedBytesMax;
  t.after(() => Object.assign(httpLimits, { assumedBytesMax: before }));
  Object.assign(httpLimits, { assumedBytesMax: 1_000_000 });
  const greedy = await Promise.all(Array.from({ length: 10 }, () => call(server)));
  while (server.unsent.of('greedy') < 3_000_000) {
    for (const socket of greedy) ask(socket, '/100000/greedy/kept');
    await sleep(httpLimits.lookPauseMs);
  }
  await end(server, [reader, ...greedy]);
});

test('answers that fit into the kernel’s buffers count while their callers do not read them', {
  skip: process.platform !== 'linux' && 'only Linux tells',
}, async () => {
  const server = await serve({ pace: { ...PACE, intervalMs: NEVER_MS } });
  const sockets = await Promise.all(Array.from({ length: 20 }, () => call(server, '/600000')));
  await until(state(server), () => server.handled() === sockets.length);
  await untilUnread(server);
  assert.ok(server.unsent.of('key') > (20 * 600_000) / 4, state(server)());
  await end(server, sockets);
});

test('the kernel’s queue of a connection is found by its addresses, IPv4 and IPv6', {
  skip: process.platform !== 'linux' && 'only Linux tells',
}, async () => {
  for (const [host, at] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['::', '127.0.0.1'],
  ] as const) {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    const listening = server.address() as AddressInfo;
    const caller = connect(listening.port, at).pause();
    const [accepted] = (await once(server, 'connection')) as [Socket];
    for (let index = 0; index < 100; index++) accepted.write(Buffer.alloc(65_536));
    await until(
      () => `${host}: ${nameOf(accepted)}`,
      () => (readSendQueues(listening)!.get(nameOf(accepted)) ?? 0) > 10_000,
    );
    caller.destroy();
    accepted.destroy();
    server.close();
  }
});

for (const isSecure of [false, true]) {
  const name = isSecure ? 'HTTPS' : 'HTTP';
  const skip = isSecure && withoutOpenssl;
  const certificate = (): Setup =>
    isSecure ? { certificate: readCertificate(issue(temporary.folder, 'localhost')) } : {};

  test(`a slow caller gets its whole answer over ${name}, however long it takes; a silent one is cut`, {
    skip,
  }, async (t) => {
    // The clock goes on with what the caller reads: it makes progress in each interval, however late this
    // process gets to it. A kernel that has received much tells no progress until some megabytes of it were
    // read, which takes less than an interval.
    const [whole, stepMs] = [4 * LARGE, 4];
    const startMs = performance.now();
    let nowMs = startMs;
    t.mock.method(performance, 'now', () => nowMs);
    const server = await serve(certificate());
    const [silent, slow] = [await call(server, `/${LARGE}`), await call(server, `/${whole}/slow`)];
    const read = await readSlowly(slow, 65_536, 1, whole, () => {
      nowMs += stepMs;
    });
    assert.ok(read >= whole, `${read} bytes`);
    assert.ok(nowMs - startMs > 2 * PACE.intervalMs, 'it was slow');
    const ends = () => server.observed.filter(({ kind }) => kind === 'connection');
    await until(state(server), () => ends().length > 0);
    assert.deepEqual(ends(), [{ kind: 'connection', reason: 'slow' }]);
    await until(state(server), () => server.unsent.total === 0);
    assert.equal(
      readSendQueues({ port: server.port, family: 'IPv4' })?.size ?? 0,
      0,
      'the kernel holds nothing for it',
    );
    await end(server, [silent, slow]);
  });

  test(`at the bound a caller with unread answers is cut over ${name}, others are answered`, {
    skip,
  }, async () => {
    const bounds = { perKeyMax: 1_000_000 };
    const server = await serve({ ...certificate(), bounds, pace: { ...PACE, intervalMs: NEVER_MS } });
    // Each fits into the kernel's buffers, so the next request of its connection is read.
    const greedy = await Promise.all(Array.from({ length: 12 }, () => call(server)));
    while (server.observed.length === 0) {
      for (const socket of greedy) ask(socket, '/500000');
      // A caller is cut by a look at the kernel's queues that came after its earlier answers.
      await sleep(3 * httpLimits.lookPauseMs);
    }
    assert.deepEqual(server.observed[0], { kind: 'connection', reason: 'unread' });
    // The others of the same key may still hold as much as it may have.
    const honest = await call(server, '/2000/honest');
    assert.ok((await readSlowly(honest, 65_536, 1, 2_000)) >= 2_000);
    await end(server, [...greedy, honest]);
  });
}

/** The whole answer to a request on a connection of its own: its status and the bytes of its body. */
async function answerOf(server: Served, path: string): Promise<{ status: string; bytes: number }> {
  const socket = await call(server);
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece)).resume();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  const whole = Buffer.concat(pieces);
  return { status: whole.toString('latin1', 9, 12), bytes: whole.length - whole.indexOf('\r\n\r\n') - 4 };
}

for (const isSecure of [false, true]) {
  test(`a key that does not read costs the others no answer over ${isSecure ? 'HTTPS' : 'HTTP'}: its connections make room for theirs`, {
    skip: (isSecure && withoutOpenssl) || (process.platform !== 'linux' && 'only Linux tells'),
  }, async () => {
    const bounds = { totalMax: 3 * LARGE, perKeyMax: 100_000_000 };
    const certificate = isSecure ? readCertificate(issue(temporary.folder, 'localhost')) : undefined;
    const pace = { ...PACE, intervalMs: NEVER_MS };
    const server = await serve({ bounds, pace, ...(certificate && { certificate }) });
    const reader = await call(server, '/3000000/reader');
    const modest = await call(server, '/600000/modest');
    const greedy = await Promise.all(Array.from({ length: 4 }, () => call(server, `/${LARGE}/greedy`)));
    await until(state(server), () => server.unsent.total >= bounds.totalMax);
    await untilUnread(server);
    const whole = readSlowly(reader, 65_536, 20, 3_000_000);
    const honest = await Promise.all(
      Array.from({ length: 10 }, (_, index) => answerOf(server, `/100000/honest-${index}`)),
    );
    assert.deepEqual(honest, Array(10).fill({ status: '200', bytes: 100_000 }), state(server)());
    const kept = await readSlowly(modest, 65_536, 1, 600_000);
    assert.ok(kept >= 600_000, 'the key with fewer unread bytes keeps its answer');
    assert.ok((await whole) >= 3_000_000, 'a caller that reads is not ended');
    const ends = server.observed.filter(({ kind }) => kind === 'connection');
    assert.ok(ends.length > 0 && ends.length <= greedy.length, state(server)());
    await end(server, [reader, modest, ...greedy]);
  });
}

test('a large answer is given to its connection in pieces, whatever their limits cut', async () => {
  const server = await serve();
  for (const bytes of [0, 1, httpLimits.sendPieceBytes, httpLimits.sendPieceBytes + 1, 3_000_001]) {
    const socket = await call(server, `/${bytes}`);
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece)).resume();
    const length = (): number => {
      const whole = Buffer.concat(pieces);
      return whole.length - whole.indexOf('\r\n\r\n') - 4;
    };
    await until(
      () => `${bytes}: ${length()}`,
      () => pieces.length > 0 && length() === bytes,
    );
    socket.destroy();
  }
  await end(server, []);
});

/** Asks once more on the connection of an agent that has one; the status of the answer, once it is read. */
async function statusOn(agent: Agent, port: number, path: string): Promise<number> {
  const [answer] = (await once(get({ host: '127.0.0.1', port, path, agent }), 'response')) as [
    IncomingMessage,
  ];
  for await (const _ of answer);
  return answer.statusCode!;
}

test('a caller that reads each answer at once is not refused while a look can tell so, however many bytes it gets (contract 6.3)', async (t) => {
  const [each, times] = [50_000, 100];
  const server = await serve({ bounds: { perKeyMax: 2 * each } });
  // One connection: each request acknowledges the answer before it. A request on another connection does not,
  // and the kernel then waits up to 200 ms: no look can tell that the answer was read.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  let [answered, refused, longestMs] = [0, 0, 0];
  while (answered < times) {
    const startMs = performance.now();
    if ((await statusOn(agent, server.port, `/${each}`)) === 200) answered++;
    else refused++;
    // On a busy machine a look may take longer than a request waits for it. Later requests do not wait for
    // that look again.
    longestMs = Math.max(longestMs, Math.ceil(performance.now() - startMs));
    assert.ok(refused === 0 || longestMs >= httpLimits.lookWaitMs, `refused after ${longestMs} ms`);
    assert.ok(refused < 100 * times, `answered: ${answered}; ${state(server)()}`);
  }
  t.diagnostic(`refused: ${refused}`);
});

test('of many requests that wait for a new count only as many get through as there is room for', async () => {
  const unsent = new UnsentBytes({ perKeyMax: 1_000 });
  const held = new DisposableStack();
  held.defer(unsent.hold('key', 1_000));
  unsent.relieveWith({
    recount: async () => {
      await sleep(1);
      held.dispose();
    },
    endUnread: async () => false,
  });
  const admitted = await Promise.allSettled(Array.from({ length: 50 }, () => unsent.admit('key', 400)));
  assert.equal(admitted.filter(({ status }) => status === 'fulfilled').length, 3);
});
