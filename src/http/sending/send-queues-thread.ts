// The thread that looks at the kernel's send queues: the answer to a port is what its connections hold.
import { parentPort } from 'node:worker_threads';
import { readSendQueues } from './send-queues.ts';

parentPort!.on('message', (port: number) => parentPort!.postMessage(readSendQueues(port)));
