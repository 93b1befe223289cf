// A thread that reads a whole file for its hash, while the file is imported.
import { parentPort, workerData } from 'node:worker_threads';
import { digestOf } from './digest.ts';

parentPort!.postMessage(digestOf(workerData as string));
