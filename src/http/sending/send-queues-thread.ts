// The thread that looks at the kernel's send queues: the answer to where a server listens is what its
// connections hold, and what the look has cost.
import { parentPort } from 'node:worker_threads';
import { type Listening, type Look, readSendQueues } from './send-queues.ts';

parentPort!.on('message', (server: Listening) => {
  const before = process.threadCpuUsage();
  const queues = readSendQueues(server);
  const { user, system } = process.threadCpuUsage(before);
  parentPort!.postMessage({ queues, processorMs: (user + system) / 1_000 } satisfies Look);
});
