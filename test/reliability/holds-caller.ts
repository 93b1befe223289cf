// One caller in a thread of its own: writes what it is told to a new connection, and tells when the service
// has nothing more to say.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

const WRITE_PAUSE_MS = 5;
const SILENCE_MS = 100;

/** What to write, and where. */
export type HoldingWrites = { readonly port: number; readonly writes: readonly string[] };

async function call({ port, writes }: HoldingWrites): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setTimeout(SILENCE_MS);
  socket.on('error', () => socket.destroy());
  socket.on('timeout', () => socket.destroy());
  socket.resume();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const text of writes) {
    if (!socket.destroyed) socket.write(text, 'latin1');
    await sleep(WRITE_PAUSE_MS);
  }
  await closed;
  parentPort!.postMessage('done');
}

parentPort!.on('message', (work: HoldingWrites) => void call(work));
