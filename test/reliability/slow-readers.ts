// Callers that ask for large pages and read a byte a second: what they cost the server and the others.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bourse, startServer } from '../../bench/process.ts';
import type { Workshop } from '../service.ts';

/** What they came to. */
export type SlowReaders = {
  /** Milliseconds in which another caller was answered meanwhile: in the middle, and at the most. */
  readonly othersP50Ms: number;
  readonly othersMaxMs: number;
  /** By how much the server's memory grew. */
  readonly grownMegabytes: number;
  /** Seconds after which the first and the last of them were cut. */
  readonly endedSeconds: readonly [first: number, last: number];
  /** Those that were not cut. */
  readonly left: number;
};

const PAGES_EACH = 250;
const OTHERS = 100;
const PATIENCE_MS = 120_000;

/** Lets slow readers at a server of their own, and waits until it has ended them. */
export async function slowReaders(shop: Workshop, target: string, count: number): Promise<SlowReaders> {
  const server = await startServer(shop.folder, bourse, [
    'serve',
    '--store',
    shop.store,
    '--log-level',
    'silent',
  ]);
  try {
    await timesOf(server.url + target);
    const before = residentOf(server.pid);
    const startedMs = performance.now();
    const ends: number[] = [];
    const sockets = Array.from({ length: count }, () => readSlowly(server.url, target));
    for (const socket of sockets)
      socket.once('close', () => ends.push((performance.now() - startedMs) / 1_000));
    const times = await timesOf(server.url + target);
    const grownMegabytes = residentOf(server.pid) - before;
    const seconds = (): number => (performance.now() - startedMs) / 1_000;
    let left = openTo(server.url);
    // The last connection of another caller may not be closed yet.
    const most = Math.min(left, count);
    let firstSeconds = 0;
    while (left > 0 && seconds() * 1_000 < PATIENCE_MS) {
      await sleep(100);
      left = openTo(server.url);
      if (left < most) firstSeconds ||= seconds();
    }
    const lastSeconds = seconds();
    for (const socket of sockets) socket.destroy();
    return {
      othersP50Ms: times[OTHERS / 2]!,
      othersMaxMs: times.at(-1)!,
      grownMegabytes,
      endedSeconds: [firstSeconds, lastSeconds],
      left,
    };
  } finally {
    await server.stop();
  }
}

function readSlowly(url: string, target: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(PAGES_EACH));
  socket.on('error', () => socket.destroy());
  socket.pause();
  const timer = setInterval(() => socket.read(1), 1_000);
  socket.once('close', () => clearInterval(timer));
  return socket;
}

/** Milliseconds of some requests, one after the other, in ascending order; some may be told to come again. */
async function timesOf(url: string): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < OTHERS; index++) {
    const startedMs = performance.now();
    // A kept connection of our own would be counted among theirs.
    const response = await fetch(url, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    if (response.status !== 200 && response.status !== 503)
      throw new Error(`another caller was answered ${response.status}`);
    times.push(performance.now() - startedMs);
    await sleep(10);
  }
  return times.sort((a, b) => a - b);
}

/**
 * Connections that a server has open, as the kernel knows them: who does not read does not see the end
 * (proc(5), net/tcp).
 */
function openTo(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  return (
    readFileSync('/proc/net/tcp', 'utf8').match(new RegExp(`^ *\\d+: \\w+:${port} \\w+:\\w+ 01 `, 'gm'))
      ?.length ?? 0
  );
}

const residentOf = (pid: number): number =>
  Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
