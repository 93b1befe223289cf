// The kernel's send queues: who looks at them (contract 6.3). What is read of them: sending.test.ts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { nameOf, readSendQueues } from './send-queues.ts';
import { queueLooks } from './sending.ts';

const CONNECTIONS = 20;
const UNREAD_BYTES = 6_000_000;

const accepted: Socket[] = [];
const server = createServer((socket) => accepted.push(socket));
await once(server.listen(0, '127.0.0.1'), 'listening');
const listening = server.address() as AddressInfo;
const { port } = listening;
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
  const looks = queueLooks();
  assert.deepEqual(await looks.ask(listening), new Map());
  for (const socket of accepted.slice(0, 3)) socket.write(Buffer.alloc(UNREAD_BYTES));
  const names = accepted.slice(0, 3).map(nameOf).sort();
  for (let isStill = false; !isStill; ) {
    await sleep(50);
    const before = readSendQueues(listening);
    const seen = await looks.ask(listening);
    // The kernel may still move bytes from one side to the other.
    isStill = isDeepStrictEqual(before, readSendQueues(listening)) && before?.size === names.length;
    if (!isStill) continue;
    assert.deepEqual([...seen!.keys()].sort(), names);
    assert.deepEqual(seen, before);
  }
  await looks.stop();
});

test('the thread holds no process that has nothing else to do', { skip }, async () => {
  const module = new URL('./sending.ts', import.meta.url).href;
  const program = `const { queueLooks } = await import('${module}'); void queueLooks().ask(${JSON.stringify(listening)});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
  const [status] = (await Promise.race([once(child, 'exit'), sleep(120_000, ['late'], { ref: false })])) as [
    number | string,
  ];
  child.kill('SIGKILL');
  assert.equal(status, 0);
});
