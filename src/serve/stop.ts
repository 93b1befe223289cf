// A stop that loses no request: requests that arrive meanwhile are answered, and each connection ends with
// its last response.
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Observe } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';
import type { OpenConnections } from './open-connections.ts';

/** A tick of the event loop in which nothing happened. */
const SHORT_TICK_MS = 0.05;

/**
 * Closes the listener once the kernel holds no connection for it, because the kernel would reset those. Node
 * accepts one a tick: accepted connections are set aside until a tick brings none and takes no time, and are
 * served after that.
 */
async function closeListener(listener: NetServer): Promise<void> {
  const listeners = listener.listeners('connection');
  const aside: Socket[] = [];
  const { pauseOnConnect: isPausing } = listener as NetServer & { pauseOnConnect: boolean };
  listener.removeAllListeners('connection');
  Object.assign(listener, { pauseOnConnect: true });
  listener.on('connection', (socket) => aside.push(socket));
  const deadlineMs = performance.now() + limits.stopIdleMs;
  for (let nowMs = performance.now(); nowMs < deadlineMs; ) {
    const [accepted, beganMs] = [aside.length, nowMs];
    await setImmediate();
    nowMs = performance.now();
    if (aside.length === accepted && nowMs - beganMs < SHORT_TICK_MS) break;
  }
  // The close of http.Server would also cut idle connections at once, and responses that a slow caller still
  // reads.
  NetServer.prototype.close.call(listener);
  for (const socket of aside) {
    for (const receive of listeners) receive.call(listener, socket);
    // Handshakes are begun with paused connections.
    if (!isPausing) socket.resume();
  }
}

/** What is stopped: `listener` accepts the connections of `server`, and may be the same. */
type Stopping = {
  readonly listener: NetServer;
  readonly server: Server;
  readonly connections: OpenConnections;
};

/** Stops a server; resolves when every connection has ended. */
export async function stop(
  { listener, server, connections }: Stopping,
  reason: string,
  observe: Observe,
): Promise<void> {
  observe({ kind: 'stopping', reason, open: connections.count });
  connections.stop();
  const ended = new Promise((resolve) => listener.once('close', resolve));
  await closeListener(listener);
  // A request on a kept connection may not have been read yet: idle connections get a moment, too.
  const idle = setTimeout(() => connections.endIdle(), limits.stopIdleMs);
  const timeout = setTimeout(() => server.closeAllConnections(), limits.stopTimeoutMs);
  await ended;
  clearTimeout(idle);
  clearTimeout(timeout);
}
