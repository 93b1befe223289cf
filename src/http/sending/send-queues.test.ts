// The kernel's send queues: who looks at them (contract 6.3). What is read of them: sending.test.ts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { QueueLooks } from './queue-looks.ts';
import { nameOf, readSendQueues } from './send-queues.ts';

const CONNECTIONS = 20;
const UNREAD_BYTES = 6_000_000;

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
while (accepted.length < CONNECTIONS) await sleep(1);
after(() => {
  for (const socket of [...callers, ...accepted]) socket.destroy();
  server.close();
});

const skip = process.platform !== 'linux' && 'Linux alone tells';

test('another thread looks, again and again, and sees what this one would', { skip }, async () => {
  const looks = new QueueLooks();
  assert.deepEqual(await looks.look(port), new Map());
  for (const socket of accepted.slice(0, 3)) socket.write(Buffer.alloc(UNREAD_BYTES));
  await sleep(50);
  const seen = await looks.look(port);
  assert.deepEqual([...seen!.keys()].sort(), accepted.slice(0, 3).map(nameOf).sort());
  assert.deepEqual(seen, readSendQueues(port));
  looks.close();
});

test('a look that the end of the thread overtakes tells nothing, and the next one is a look again', {
  skip,
}, async () => {
  const looks = new QueueLooks();
  const overtaken = looks.look(port);
  looks.close();
  assert.equal(await overtaken, null);
  assert.ok((await looks.look(port)) instanceof Map);
  looks.close();
});
