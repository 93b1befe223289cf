// Sockets, with a handler that costs nothing: the order of requests (contract 6.4).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { HttpRequest } from './message.ts';
import { UnsentBytes } from './sending/unsent-bytes.ts';
import { listen } from './server.ts';

const CROWD = 100;
const EACH = 30;

const address = { host: '127.0.0.1', port: 0, reusePort: false, certificate: null };

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test('callers with many requests at once hold up nobody: others are answered in between', async () => {
  const asked: string[] = [];
  const handler = {
    handle: async ({ target }: HttpRequest) => {
      if (target !== '/hello') asked.push(target);
      return { status: 200, headers: { 'Content-Length': '2' }, body: [Buffer.from('ok')] };
    },
  };
  const server = await listen({ handler, unsent: new UnsentBytes(), observe: () => undefined }, address);
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
  const server = await listen({ handler, unsent: new UnsentBytes(), observe: () => undefined }, address);
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
