// The thread that flips bits, one flip after the other: where a flip hangs it, it is ended, and another goes
// on behind that flip.
import { parentPort, workerData } from 'node:worker_threads';
import { bitOf, type FlipsJob } from './flips-job.ts';
import { Trials } from './flips-trial.ts';

const job = workerData as FlipsJob;
const port = parentPort!;
const bytes = new Uint8Array(job.bytes);
const trials = await Trials.open(job.folder, bytes);
port.postMessage('ready');
for (let number = job.from; number < job.to; number++) {
  const { offset, bit } = bitOf(job, number);
  const damaged = Uint8Array.from(bytes);
  damaged[offset]! ^= 1 << bit;
  const effect = await trials.run(damaged, (index) => index % job.share === number % job.share);
  port.postMessage({ number, ...effect });
}
port.postMessage('done');
