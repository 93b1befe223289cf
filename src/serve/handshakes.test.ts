// Handshakes of TLS: they hold up no ordinary caller, however many come at once, and those that bring nothing
// hold up no other.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { after, before, type TestContext, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { issue, withoutOpenssl } from '../../test/certificates.ts';
import { TestFolder } from '../../test/stores.ts';
import { limits } from '../contract/limits.ts';
import { Handshakes } from './handshakes.ts';
import { httpLimits } from './limits.ts';
import { OpenConnections } from './open-connections.ts';
import { UnsentBytes } from './outgoing/unsent-bytes.ts';
import { listen } from './server.ts';
import { type Certificate, readCertificate } from './tls.ts';

const temporary = new TestFolder();
after(() => temporary.close());

// The limit of time is an hour here: how fast the machine is decides nothing.
Object.assign(limits, { handshakeTimeoutMs: 3_600_000 });

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
async function serve(t: TestContext, connectionsMax = 4_000) {
  const observe = (): void => undefined;
  const connections = new OpenConnections(connectionsMax, observe);
  const handle = async () => ({ status: 200, headers: { 'Content-Length': '2' }, body: [Buffer.from('ok')] });
  const parts = { handler: { handle }, connections, unsent: new UnsentBytes(), observe };
  const server = await listen(parts, { host: '127.0.0.1', port: 0, reusePort: false, certificate });
  const sockets: Socket[] = [];
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await server.stop('test');
  });
  return { server, connections, sockets };
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

test('who sends what is no first message is closed', { skip }, async (t) => {
  const at = await serve(t);
  const [caller] = await callers(at, 1);
  caller!.socket.write(Buffer.alloc(20_000, Buffer.from([22, 3, 1, 0, 100, 1, 1, 0, 0])));
  while (!caller!.isClosed) await tick();
  assert.match(await answerOf(await secure(at)), /^HTTP\/1\.1 200/);
});

test('who sends more than a first message before an answer is closed, and does not wait', async () => {
  const begun: Socket[] = [];
  const handshakes = new Handshakes((socket) => begun.push(socket));
  const [most, more] = [httpLimits.helloBytesMax, httpLimits.helloBytesMax + 1].map((bytes) => {
    const socket = new Socket();
    handshakes.add(socket);
    socket.push(Buffer.alloc(bytes, 22));
    return socket;
  });
  while (!more!.closed || begun.length === 0) await tick();
  assert.deepEqual(begun, [most]);
  most!.destroy();
});

test('a handshake that is not done in time is closed, begun or not', { skip }, async (t) => {
  const at = await serve(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const all = await callers(at, 2);
  all[0]!.socket.write(hello);
  while (answered(all) === 0) await tick();
  t.mock.timers.tick(limits.handshakeTimeoutMs - 1);
  for (let count = 0; count < 100; count++) await tick();
  assert.equal(closed(all), 0);
  t.mock.timers.tick(1);
  while (closed(all) < 2) await tick();
});

test('handshakes that callers leave unfinished make room for others', { skip }, async (t) => {
  const at = await serve(t, 50);
  const crowd = await callers(at, 50);
  for (const { socket } of crowd) socket.write(hello);
  while (answered(crowd) < crowd.length) await tick();
  assert.match(await answerOf(await secure(at)), /^HTTP\/1\.1 200/);
  while (closed(crowd) === 0) await tick();
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
