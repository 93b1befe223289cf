// Sockets, with a handler that costs nothing: the order of requests (contract 6.4).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { issue, withoutOpenssl } from '../../test/certificates.ts';
import { TestFolder } from '../../test/stores.ts';
import type { Observation } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';
import type { HttpRequest } from './message.ts';
import { connectionsMax, OpenConnections } from './open-connections.ts';
import { UnsentBytes } from './outgoing/unsent-bytes.ts';
import { listen } from './server.ts';
import { readCertificate } from './tls.ts';

const temporary = new TestFolder();
after(() => temporary.close());

const CROWD = 100;
const EACH = 30;

const address = { host: '127.0.0.1', port: 0, reusePort: false, certificate: null };

/** A server's parts, with a bound on its connections. */
function partsWith(handler: Parameters<typeof listen>[0]['handler'], connectionsMax = 200) {
  const observed: Observation[] = [];
  const observe = (one: Observation): void => void observed.push(one);
  const connections = new OpenConnections(connectionsMax, observe);
  return { handler, connections, unsent: new UnsentBytes(), observe, observed };
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test('callers with many requests at once hold up nobody: others are answered in between', async () => {
  const asked: string[] = [];
  const handler = {
    handle: async ({ target }: HttpRequest) => {
      if (target !== '/hello') asked.push(target);
      return { status: 200, headers: { 'Content-Length': '2' }, body: [Buffer.from('ok')] };
    },
  };
  const server = await listen(partsWith(handler), address);
  const open = async () => {
    const socket = connect(server.port, '127.0.0.1').resume();
    socket.write(request('/hello'));
    await once(socket, 'data');
    return socket;
  };
  const crowd = await Promise.all(Array.from({ length: CROWD }, open));
  const other = await open();
  try {
    for (const socket of crowd) socket.write(request('/crowd').repeat(EACH));
    while (asked.length === 0) await new Promise(setImmediate);
    other.write(request('/other'));
    while (asked.length <= CROWD * EACH) await new Promise(setImmediate);
    assert.ok(asked.indexOf('/other') < 5 * CROWD, `${asked.indexOf('/other')} came before it`);
  } finally {
    for (const socket of [...crowd, other]) socket.destroy();
    await server.stop('test');
  }
});

test('a request’s time begins when it arrives, not when its batch is handled (docs/operating/metrics.md)', async () => {
  const waits: number[] = [];
  const handler = {
    handle: async ({ arrivedMs }: HttpRequest) => {
      waits.push(performance.now() - arrivedMs!);
      const endMs = performance.now() + 2;
      while (performance.now() < endMs);
      return { status: 200, headers: { 'Content-Length': '2' }, body: [Buffer.from('ok')] };
    },
  };
  const server = await listen(partsWith(handler), address);
  const socket = connect(server.port, '127.0.0.1').resume();
  const others = Array.from({ length: 9 }, () => connect(server.port, '127.0.0.1').resume());
  try {
    for (const one of [socket, ...others]) {
      one.write(request('/'));
      await once(one, 'data');
    }
    waits.length = 0;
    for (const one of [socket, ...others]) one.write(request('/'));
    while (waits.length < 10) await new Promise(setImmediate);
    assert.ok(
      Math.max(...waits) >= 2,
      `the one that came last waited ${Math.max(...waits)} ms for the others`,
    );
  } finally {
    for (const one of [socket, ...others]) one.destroy();
    await server.stop('test');
  }
});

test('the bound of connections is below that of open files, and leaves room for the store', () => {
  const { connectionsMax: most, connectionsMin: least, filesReserved } = httpLimits;
  assert.deepEqual([null, Number.POSITIVE_INFINITY, 1_024, filesReserved, 20].map(connectionsMax), [
    most,
    most,
    1_024 - filesReserved,
    least,
    least,
  ]);
});

/** A handler that answers at once, or for `/wait` once `finish` is called. */
function waitingHandler() {
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const handle = async ({ target }: HttpRequest) => {
    if (target === '/wait') await promise;
    return { status: 200, headers: { 'Content-Length': '2' }, body: [Buffer.from('ok')] };
  };
  return { handle, finish };
}

/** Connects and sends a request; the text that comes back within the connection's life. */
function caller(port: number, path: string | null) {
  const socket = connect(port, '127.0.0.1');
  const told = { text: '', isClosed: false };
  socket.on('error', () => undefined);
  socket.on('data', (piece) => {
    told.text += piece;
  });
  socket.on('close', () => {
    told.isClosed = true;
  });
  if (path !== null) socket.write(request(path));
  return { socket, told };
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test('at the bound the connection that was idle for longest makes room, also a silent one; one with a request does not', async () => {
  const { handle, finish } = waitingHandler();
  const parts = partsWith({ handle }, 4);
  const server = await listen(parts, address);
  const open = async (path: string | null) => {
    const one = caller(server.port, path);
    await once(one.socket, 'connect');
    if (path === '/') while (one.told.text === '') await tick();
    else for (let count = 0; count < 10; count++) await tick();
    return one;
  };
  const [busy, silent, first, second] = [
    await open('/wait'),
    await open(null),
    await open('/'),
    await open('/'),
  ];
  first.socket.write(request('/'));
  while (first.told.text.split('HTTP/1.1').length < 3) await tick();
  const third = await open('/');
  assert.deepEqual(
    [silent, first, second].map(({ told }) => told.isClosed),
    [true, false, false],
  );
  const fourth = await open('/');
  while (!second.told.isClosed) await tick();
  assert.deepEqual(
    [busy, first, third].map(({ told }) => told.isClosed),
    [false, false, false],
    'the second was idle for longest',
  );
  for (const { socket } of [first, third, fourth]) socket.write(request('/wait'));
  for (let count = 0; count < 10; count++) await tick();
  const refused = caller(server.port, '/');
  while (!refused.told.isClosed) await tick();
  assert.equal(refused.told.text, '');
  finish();
  for (const { told } of [busy, first, third, fourth]) while (!told.text.endsWith('ok')) await tick();
  assert.deepEqual(
    parts.observed.map((one) => one.kind === 'connection' && one.reason),
    ['idle', 'idle', 'refused'],
  );
  await open('/');
  assert.equal(parts.connections.count, 4);
  for (const { socket } of [busy, first, third, fourth]) socket.destroy();
  await server.stop('test');
  while (parts.connections.count > 0) await tick();
});

test('callers that send thousands of requests at once are ended where there are too many; others are answered', async () => {
  const { handle, finish } = waitingHandler();
  const parts = partsWith({ handle });
  const server = await listen(parts, address);
  const many = `GET /wait HTTP/1.1\r\n\r\n`.repeat(2_500);
  const crowd = Array.from({ length: 115 }, () => caller(server.port, null));
  for (const { socket } of crowd) socket.write(many);
  while (!crowd.some(({ told }) => told.isClosed)) await tick();
  const other = caller(server.port, '/');
  while (!other.told.text.endsWith('ok')) await tick();
  const ended = parts.observed.filter((one) => one.kind === 'connection' && one.reason === 'pipelined');
  assert.equal(ended.length, crowd.filter(({ told }) => told.isClosed).length);
  finish();
  for (const { socket } of [...crowd, other]) socket.destroy();
  await server.stop('test');
});

for (const isSecure of [false, true])
  test(`what a caller sends at once is read in pieces, others are answered between these, over ${isSecure ? 'HTTPS' : 'HTTP'}`, {
    skip: isSecure && withoutOpenssl,
  }, async () => {
    const asked: string[] = [];
    const handle = async ({ target }: HttpRequest) => {
      asked.push(target);
      return { status: 200, headers: { 'Content-Length': '2' }, body: [Buffer.from('ok')] };
    };
    const certificate = isSecure ? readCertificate(issue(temporary.folder, 'localhost')) : null;
    const server = await listen(partsWith({ handle }), { ...address, certificate });
    const open = async () => {
      const socket = isSecure
        ? connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
        : connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, isSecure ? 'secureConnect' : 'connect');
      return socket;
    };
    const [many, chunks] = [await open(), await open()];
    let answers = '';
    many.on('data', (piece) => {
      answers += piece;
    });
    // All of these, and no byte twice or in another order, although the pieces end within requests.
    const targets = Array.from({ length: 3_000 }, (_, index) => `/${index}`);
    many.write(targets.map(request).join(''));
    while (asked.length < targets.length) await tick();
    while (answers.split('HTTP/1.1 200').length <= targets.length) await tick();
    assert.deepEqual(asked, targets);
    // A body of any length and kind does not change the request after it.
    asked.length = 0;
    const body = 'x'.repeat(100_000);
    many.write(`GET /long HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}${request('/next')}`);
    while (asked.length < 2) await tick();
    assert.deepEqual(asked, ['/long', '/next']);
    let told = '';
    chunks.on('data', (piece) => {
      told += piece;
    });
    chunks.write(`GET /chunks HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(20_000)}`);
    await once(chunks, 'close');
    assert.ok(told.includes('Connection: close') && told.endsWith('ok'), told);
    many.destroy();
    await server.stop('test');
  });

test('while a caller’s requests wait, no more than a piece of what it sent is taken in', async () => {
  const { handle, finish } = waitingHandler();
  const parts = partsWith({ handle });
  const server = await listen(parts, address);
  const [many, other] = [caller(server.port, null), caller(server.port, null)];
  let ended = 0;
  many.socket.on('data', (piece) => {
    ended += String(piece).split('HTTP/1.1 200').length - 1;
  });
  const sent = 2_500;
  many.socket.write('GET /wait HTTP/1.1\r\n\r\n'.repeat(sent));
  other.socket.write(request('/'));
  while (!other.told.text.endsWith('ok')) await tick();
  assert.ok(
    parts.connections.unanswered <= httpLimits.readPieceBytes / 20,
    `${parts.connections.unanswered}`,
  );
  finish();
  while (ended < sent) await tick();
  for (const { socket } of [many, other]) socket.destroy();
  await server.stop('test');
});

const { placesMax } = httpLimits;

/**
 * Stops the clock of the gate: on a busy machine places would become free because they were kept for long. It
 * shows whole milliseconds: with others 300 more may be a little less.
 */
function stopClock({ mock }: TestContext): { nowMs: number } {
  const clock = { nowMs: Math.ceil(performance.now()) };
  mock.method(performance, 'now', () => clock.nowMs);
  return clock;
}

/**
 * Callers of which each has asked for `/wait`, as many as there are places, and others whose requests wait
 * unread.
 */
async function crowd(port: number, parts: ReturnType<typeof partsWith>, others: number) {
  const first = Array.from({ length: placesMax }, () => caller(port, '/wait'));
  while (parts.connections.unanswered < placesMax) await tick();
  const held = Array.from({ length: others }, () => caller(port, '/held'));
  while (parts.connections.unread < others) await tick();
  return { first, held };
}

test('above the places requests wait unread; all are answered', async (t) => {
  stopClock(t);
  const { handle, finish } = waitingHandler();
  const parts = partsWith({ handle }, 1_000);
  const server = await listen(parts, address);
  const { first, held } = await crowd(server.port, parts, 200);
  assert.ok(parts.connections.unanswered <= placesMax, `${parts.connections.unanswered} were read`);
  finish();
  while (![...first, ...held].every(({ told }) => told.text.endsWith('ok'))) await tick();
  // A connection that waited is like any other: its next request is answered.
  held[0]!.socket.write(request('/'));
  while (held[0]!.told.text.split('HTTP/1.1 200').length < 3) await tick();
  for (const { socket } of [...first, ...held]) socket.destroy();
  await server.stop('test');
});

test('requests that take long hold up others for a moment only', async (t) => {
  const clock = stopClock(t);
  const { handle, finish } = waitingHandler();
  const parts = partsWith({ handle }, 1_000);
  const server = await listen(parts, address);
  const { first, held } = await crowd(server.port, parts, 20);
  clock.nowMs += limits.queueWaitMs;
  while (!held.every(({ told }) => told.text.endsWith('ok'))) await tick();
  assert.ok(first.every(({ told }) => told.text === ''));
  finish();
  for (const { socket } of [...first, ...held]) socket.destroy();
  await server.stop('test');
});

test('a stop answers requests that have not been read yet; a caller that leaves meanwhile is passed over', async (t) => {
  stopClock(t);
  const { handle, finish } = waitingHandler();
  const parts = partsWith({ handle }, 1_000);
  const server = await listen(parts, address);
  const { first, held } = await crowd(server.port, parts, 50);
  const [gone, ...staying] = held;
  gone!.socket.destroy();
  const stopped = server.stop('test');
  await tick();
  finish();
  await stopped;
  while (![...first, ...staying].every(({ told }) => told.isClosed)) await tick();
  for (const { told } of [...first, ...staying]) assert.ok(told.text.endsWith('ok'), told.text);
});

test('at the bound of connections one whose request has not been read yet is not taken for idle', async (t) => {
  stopClock(t);
  const { handle, finish } = waitingHandler();
  const parts = partsWith({ handle }, placesMax + 10);
  const server = await listen(parts, address);
  const { first, held } = await crowd(server.port, parts, 10);
  const last = caller(server.port, '/held');
  await once(last.socket, 'close');
  finish();
  while (![...first, ...held].every(({ told }) => told.text.endsWith('ok'))) await tick();
  for (const { socket } of [...first, ...held]) socket.destroy();
  await server.stop('test');
});
