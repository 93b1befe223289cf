// Handshakes of TLS: they hold up no ordinary caller, however many come at once, and those that bring nothing
// hold up no other.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { issue, withoutOpenssl } from '../../test/certificates.ts';
import { TestFolder } from '../../test/stores.ts';
import type { Observation } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';
import { OpenConnections } from './open-connections.ts';
import { UnsentBytes } from './sending/unsent-bytes.ts';
import { listen } from './server.ts';
import { type Certificate, readCertificate } from './tls.ts';

const temporary = new TestFolder();
after(() => temporary.close());

// Limits of time are an hour here: how fast the machine is decides nothing.
Object.assign(limits, { handshakeTimeoutMs: 3_600_000 });
Object.assign(httpLimits, { handshakeWaitMaxMs: 3_600_000 });

const skip = withoutOpenssl;
const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let certificate: Certificate;
let hello: Buffer;
before(async () => {
  if (skip !== false) return;
  certificate = readCertificate(issue(temporary.folder, 'localhost'));
  hello = await recordedHello();
});

/** The first bytes of a TLS client: a server answers them as often as they are sent. */
async function recordedHello(): Promise<Buffer> {
  const recorder = createServer();
  await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve));
  const { port } = recorder.address() as { port: number };
  const client = connectTls({ port, host: '127.0.0.1' }).on('error', () => undefined);
  const [socket] = (await once(recorder, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  recorder.close();
  return bytes;
}

/** A server whose requests cost nothing; it ends with the test. */
async function serve(t: TestContext) {
  const observed: Observation[] = [];
  const observe = (one: Observation): void => void observed.push(one);
  const connections = new OpenConnections(4_000, observe);
  const handle = async () => ({ status: 200, headers: { 'Content-Length': '2' }, body: [Buffer.from('ok')] });
  const parts = { handler: { handle }, connections, unsent: new UnsentBytes(), observe };
  const server = await listen(parts, { host: '127.0.0.1', port: 0, reusePort: false, certificate });
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await server.stop('test');
  });
  return { server, connections, observed, sockets };
}

type Serving = Awaited<ReturnType<typeof serve>>;

/** A connection that speaks TLS, before its handshake. */
function begin({ server, sockets }: Serving): TLSSocket {
  const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
  sockets.push(socket);
  return socket.on('error', () => undefined);
}

/** A connection that speaks TLS. */
async function secure(at: Serving): Promise<TLSSocket> {
  const socket = begin(at);
  await once(socket, 'secureConnect');
  return socket;
}

async function answerOf(socket: TLSSocket): Promise<string> {
  socket.write(request);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return String(answer);
}

/**
 * Connections that have been accepted and have sent nothing; what has come back, and whether they have ended.
 */
async function callers({ server, connections, sockets }: Serving, count: number) {
  const before = connections.count;
  const all = Array.from({ length: count }, () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    const caller = { socket, received: 0, isClosed: false };
    socket.on('data', (piece: Buffer) => {
      caller.received += piece.length;
    });
    socket.on('close', () => {
      caller.isClosed = true;
    });
    return caller;
  });
  while (connections.count < before + count) await tick();
  return all;
}

type Callers = Awaited<ReturnType<typeof callers>>;
const answered = (all: Callers): number => all.filter(({ received }) => received > 0).length;
const closed = (all: Callers): number => all.filter(({ isClosed }) => isClosed).length;
const refusals = ({ observed }: Serving): number =>
  observed.filter((one) => one.kind === 'connection' && one.reason === 'refused').length;

test('hundreds of handshakes that begin at once hold up no open connection', { skip }, async (t) => {
  const at = await serve(t);
  const kept = await secure(at);
  const crowd = await callers(at, 300);
  for (const { socket } of crowd) socket.write(hello);
  assert.match(await answerOf(kept), /^HTTP\/1\.1 200/);
  const before = answered(crowd);
  assert.ok(before < 100, `${before} handshakes came before the answer`);
  while (answered(crowd) + closed(crowd) < 300) await tick();
});

test('connections that stay silent, or send a part, hold up no handshake', { skip }, async (t) => {
  const at = await serve(t);
  const crowd = await callers(at, 300);
  for (const { socket } of crowd.slice(150)) socket.write(hello.subarray(0, 100));
  const other = await secure(at);
  assert.match(await answerOf(other), /^HTTP\/1\.1 200/);
  assert.equal(answered(crowd) + closed(crowd), 0);
});

test('a first message in pieces, or in several records, is answered', {
  skip,
}, async (t) => {
  const at = await serve(t);
  const message = hello.subarray(5);
  const records = [message.subarray(0, 2), message.subarray(2, 50), message.subarray(50)].map((part) =>
    Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part]),
  );
  const all = await callers(at, 2);
  const [bytewise, split] = all.map(({ socket }) => socket);
  for (let index = 0; index < hello.length; index++) {
    bytewise!.write(hello.subarray(index, index + 1));
    if (index % 100 === 0) await tick();
  }
  for (const record of records) {
    split!.write(record);
    await tick();
  }
  while (answered(all) < 2) await tick();
});

test('who sends more than a first message may have is closed, before its handshake and while it waits', {
  skip,
}, async (t) => {
  const at = await serve(t);
  const long = Buffer.alloc(20_000, Buffer.from([22, 3, 1, 0, 100, 1, 1, 0, 0]));
  const [caller, ...others] = await callers(at, 100);
  for (const { socket } of others) socket.write(hello);
  caller!.socket.write(long);
  while (!caller!.isClosed) await tick();
  assert.equal(caller!.received, 0);
  assert.equal((await answerOf(await secure(at))).slice(0, 12), 'HTTP/1.1 200');
});

test('who leaves before its handshake costs none', { skip }, async (t) => {
  const at = await serve(t);
  const crowd = await callers(at, 200);
  for (const { socket } of crowd.slice(2)) socket.write(hello);
  const leaving = crowd.slice(0, 2);
  leaving[0]!.socket.end(hello);
  leaving[1]!.socket.end(hello.subarray(0, 100));
  while (closed(leaving) < 2) await tick();
  assert.equal(answered(leaving), 0);
});

test('who sends a first message and leaves in order while it waits costs no handshake', {
  skip,
}, async (t) => {
  const at = await serve(t);
  const crowd = await callers(at, 400);
  const leaving = crowd.slice(200);
  for (const { socket } of crowd) socket.write(hello);
  while (answered(crowd) === 0) await tick();
  assert.equal(answered(leaving), 0, 'they wait behind the others');
  // An alert, as some programs send before they leave.
  for (const { socket } of leaving) socket.write(Buffer.of(21, 3, 1, 0, 2, 1, 0));
  await tick();
  for (const { socket } of leaving) socket.end();
  while (closed(leaving) < leaving.length) await tick();
  const begun = answered(leaving);
  assert.ok(begun < 50, `${begun} of those who left were answered`);
});

test('who does not send a first message in time is closed', { skip }, async (t) => {
  const at = await serve(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [caller] = await callers(at, 1);
  t.mock.timers.tick(limits.handshakeTimeoutMs - 1);
  for (let count = 0; count < 100; count++) await tick();
  assert.equal(caller!.isClosed, false);
  t.mock.timers.tick(1);
  while (!caller!.isClosed) await tick();
});

test('above the bound of those that wait the newest is closed', { skip }, async (t) => {
  const at = await serve(t);
  const crowd = await callers(at, httpLimits.handshakesWaitingMax + 500);
  for (const { socket } of crowd) socket.write(hello);
  while (refusals(at) === 0) await tick();
  while (closed(crowd) === 0) await tick();
  assert.equal(crowd[0]!.isClosed, false);
  assert.ok(answered(crowd) < 500);
});

test('who has waited for longer than callers do is closed', { skip }, async (t) => {
  const at = await serve(t);
  const crowd = await callers(at, 200);
  for (const { socket } of crowd) socket.write(hello);
  while (answered(crowd) === 0) await tick();
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + httpLimits.handshakeWaitMaxMs);
  while (closed(crowd) === 0) await tick();
  assert.ok(refusals(at) > 0);
});

test('handshakes that callers leave unfinished make room for others', { skip }, async (t) => {
  const at = await serve(t);
  // Without rests all of them begin before the first is closed for its age, on a busy machine too.
  t.mock.method(process, 'threadCpuUsage', () => ({ user: 0, system: 0 }));
  const crowd = await callers(at, httpLimits.handshakesBegunMax);
  for (const { socket } of crowd) socket.write(hello);
  while (answered(crowd) < crowd.length) await tick();
  assert.match(await answerOf(await secure(at)), /^HTTP\/1\.1 200/);
  while (closed(crowd) === 0) await tick();
  assert.equal(refusals(at), 1);
});

test('a stop answers the connections that nobody has accepted yet', { skip }, async (t) => {
  const at = await serve(t);
  const sockets = Array.from({ length: 20 }, () => begin(at));
  const answers = sockets.map((socket) => once(socket, 'secureConnect').then(() => answerOf(socket)));
  await once(sockets.at(-1)!, 'connect');
  // On a busy machine a caller may be connected before the kernel holds its connection for the listener.
  // Nothing is accepted meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  const stopped = at.server.stop('test');
  for (const answer of answers) assert.match(await answer, /^HTTP\/1\.1 200/);
  await stopped;
});
