// A thread that reads a bars file, a few batches ahead of the thread that started it and loads them.
import { parentPort, workerData } from 'node:worker_threads';
import { FileProblem } from '../files/file-problem.ts';
import { NeedsCare } from '../files/read.ts';
import { type BarBatch, type BarReading, type BatchArrays, readBatches, SpareArrays } from './bar-batches.ts';

/** Batches that may be on their way, so that neither thread waits for the other. */
const BATCHES_MAX = 4;

/** A message of the thread; `care`: the file needs a careful reading. */
export type BarThreadMessage =
  | { readonly kind: 'batch'; readonly batch: BarBatch }
  | { readonly kind: 'end' }
  | { readonly kind: 'care' }
  | { readonly kind: 'problem'; readonly problem: FileProblem['kind']; readonly message: string };

/** Batches that were sent and not loaded yet. */
let pending = 0;
let wake: () => void = () => undefined;
const spare = new SpareArrays();

/** Sends a batch; waits while too many are on their way. */
async function send(batch: BarBatch): Promise<void> {
  const message: BarThreadMessage = { kind: 'batch', batch };
  parentPort!.postMessage(message, [batch.arrays.ms.buffer as ArrayBuffer]);
  pending++;
  while (pending >= BATCHES_MAX) {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    await promise;
  }
}

async function run(reading: BarReading): Promise<BarThreadMessage> {
  try {
    for await (const batch of readBatches(reading, spare)) await send(batch);
    return { kind: 'end' };
  } catch (error) {
    if (error instanceof NeedsCare) return { kind: 'care' };
    if (!(error instanceof FileProblem)) throw error;
    return { kind: 'problem', problem: error.kind, message: error.message };
  }
}

// Each message gives the arrays of a batch back, which was loaded.
parentPort!.on('message', (arrays: BatchArrays) => {
  spare.give(arrays);
  pending--;
  wake();
});
parentPort!.postMessage(await run(workerData as BarReading));
parentPort!.close();
