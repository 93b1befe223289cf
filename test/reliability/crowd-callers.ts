// Callers that are slow, silent or greedy, in a process of their own: reads a plan from standard input, ends
// after its time.
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';

/** What the callers are to do. */
export type CrowdPlan = {
  readonly url: string;
  readonly callers: number;
  readonly seconds: number;
  /** Targets of the largest answer and of a large one, for each key. */
  readonly largest: readonly string[];
  readonly large: readonly string[];
};

/** What they came to. */
export type CrowdOutcome = {
  /** Connections that the service closed or refused. */
  readonly ended: number;
  readonly megabytesRead: number;
  readonly statuses: Readonly<Record<string, number>>;
};

const RECONNECT_MS = 1_000;
const SLOW_BYTES = 2_048;
const SLOW_MS = 100;
const GREEDY_PAUSE_MS = 1_000;
const PIPELINED = 200;

const plan = JSON.parse(await text(process.stdin)) as CrowdPlan;
const { hostname, port, protocol } = new URL(plan.url);
const endMs = performance.now() + plan.seconds * 1_000;
const outcome = { ended: 0, bytes: 0, statuses: {} as Record<string, number> };

const request = (target: string, host = 'localhost'): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

/** A connection that reads nothing by itself, once it is open. */
async function open(): Promise<Socket> {
  const address = { host: hostname, port: Number(port), rejectUnauthorized: false };
  const socket = protocol === 'https:' ? connectSecurely(address) : connect(address);
  socket.on('error', () => socket.destroy());
  socket.pause();
  await new Promise<void>((resolve) => {
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', resolve);
    socket.once('close', () => resolve());
  });
  return socket;
}

function note(piece: Buffer): void {
  outcome.bytes += piece.length;
  if (piece.subarray(0, 9).toString('latin1') !== 'HTTP/1.1 ') return;
  const status = piece.subarray(9, 12).toString('latin1');
  outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1;
}

/** Looks at a connection from time to time until it has closed: a write shows a close that is not read. */
async function untilClosed(socket: Socket, everyMs: number, look: () => void): Promise<void> {
  while (!socket.destroyed && performance.now() < endMs) {
    look();
    await sleep(everyMs);
  }
}

const kinds: readonly ((index: number, socket: Socket) => Promise<void>)[] = [
  /** Says nothing. */
  async (_, socket) => untilClosed(socket.resume(), RECONNECT_MS, () => undefined),
  /** Never ends the head of its request. */
  async (_, socket) =>
    untilClosed(socket.resume(), RECONNECT_MS, () => socket.write('GET / HTTP/1.1\r\nX: ')),
  /** Asks for the largest answer, and for more, and reads nothing. */
  async (index, socket) => {
    const asked = request(plan.largest[index % plan.largest.length]!);
    await untilClosed(socket, RECONNECT_MS, () => socket.write(asked));
  },
  /** Sends hundreds of requests at once, and reads nothing. */
  async (_, socket) => {
    socket.write('GET /nowhere HTTP/1.1\r\n\r\n'.repeat(PIPELINED));
    await untilClosed(socket, RECONNECT_MS, () => socket.write('\r\n'));
  },
  /** Asks for pages without a key, by another address each time, and reads nothing. */
  async (index, socket) => {
    let count = 0;
    await untilClosed(socket, RECONNECT_MS, () =>
      socket.write(request('/openapi.json', `10.0.${index % 250}.1:${++count}`)),
    );
  },
  /** Reads the largest answer slowly. */
  async (index, socket) => {
    socket.write(request(plan.largest[index % plan.largest.length]!));
    await untilClosed(socket, SLOW_MS, () => {
      const piece = socket.read(Math.min(SLOW_BYTES, socket.readableLength || SLOW_BYTES)) as Buffer | null;
      if (piece !== null) note(piece);
    });
  },
  /** Asks for a large answer again and again, and reads it. */
  async (index, socket) => {
    const asked = request(plan.large[index % plan.large.length]!);
    socket.on('data', note).resume();
    await untilClosed(socket, GREEDY_PAUSE_MS, () => socket.write(asked));
  },
];

/** One caller, who comes again whenever its connection ends. */
async function call(index: number): Promise<void> {
  while (performance.now() < endMs) {
    const socket = await open();
    if (!socket.destroyed) await kinds[index % kinds.length]!(index, socket);
    if (performance.now() < endMs) outcome.ended++;
    socket.destroy();
    await sleep(RECONNECT_MS);
  }
}

await Promise.all(Array.from({ length: plan.callers }, (_, index) => call(index)));
const { ended, bytes, statuses } = outcome;
process.stdout.write(
  JSON.stringify({ ended, megabytesRead: Math.round(bytes / 2 ** 20), statuses } satisfies CrowdOutcome),
);
process.exit(0);
