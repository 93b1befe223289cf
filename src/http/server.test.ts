// Sockets, with an answer that costs nothing: who comes when (contract 6.4).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { DoorRequest } from './door.ts';
import { listen } from './server.ts';

const CROWD = 100;
const EACH = 30;

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test('callers who ask for much at once hold up nobody: between the answers of a crowd others come to theirs', async () => {
  const asked: string[] = [];
  const door = {
    answer: async ({ target }: DoorRequest) => {
      if (target !== '/hello') asked.push(target);
      return { status: 200, headers: { 'Content-Length': '2' }, body: [Buffer.from('ok')] };
    },
  };
  const place = { host: '127.0.0.1', port: 0, reusePort: false, certificate: null };
  const server = await listen(door, place, () => undefined);
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
