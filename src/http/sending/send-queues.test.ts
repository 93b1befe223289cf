// The kernel's send queues: how soon they are read. (What is read of them: sending.test.ts.)
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { readSendQueues } from './send-queues.ts';

const CONNECTIONS = 300;

const accepted: Socket[] = [];
const server = createServer((socket) => accepted.push(socket));
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address() as { port: number };
const callers = await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    const caller = connect(port, '127.0.0.1');
    await once(caller, 'connect');
    return caller.pause();
  }),
);
after(() => {
  for (const socket of [...callers, ...accepted]) socket.destroy();
  server.close();
});

const isKnown = process.platform === 'linux';

test('a look at many connections takes few turns of the event loop', {
  skip: !isKnown && 'Linux alone tells',
}, async () => {
  let turns = 0;
  let timer = setImmediate(function count() {
    turns++;
    timer = setImmediate(count);
  });
  await readSendQueues(port);
  clearImmediate(timer);
  assert.ok(turns < 20, `${turns} turns`);
});
