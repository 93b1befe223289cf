// A stop that loses no request: requests that arrive meanwhile are answered, and each connection ends with its last response.
import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Observe } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';
import type { OpenConnections } from './open-connections.ts';

/** A tick of the event loop in which nothing happened. */
const SHORT_TICK_MS = 0.05;

/**
 * Closes the listener once the kernel holds no connection for it, because the kernel would reset those. Node accepts one a tick:
 * accepted connections are set aside until a tick brings none and takes no time, and are served after that.
 */
async function closeListener(server: Server): Promise<void> {
  const listeners = server.listeners('connection');
  const aside: Socket[] = [];
  server.removeAllListeners('connection');
  Object.assign(server, { pauseOnConnect: true });
  server.on('connection', (socket) => aside.push(socket));
  const deadlineMs = performance.now() + limits.stopIdleMs;
  for (let nowMs = performance.now(); nowMs < deadlineMs; ) {
    const [accepted, beganMs] = [aside.length, nowMs];
    await setImmediate();
    nowMs = performance.now();
    if (aside.length === accepted && nowMs - beganMs < SHORT_TICK_MS) break;
  }
  // The close of http.Server would also cut idle connections at once, and responses that a slow caller still reads.
  NetServer.prototype.close.call(server);
  for (const socket of aside) {
    for (const listener of listeners) listener.call(server, socket);
    socket.resume();
  }
}

/** Stops a server; resolves when every connection has ended. */
export async function stop(
  server: Server,
  connections: OpenConnections,
  reason: string,
  observe: Observe,
): Promise<void> {
  observe({ kind: 'stopping', reason, open: connections.count });
  connections.stop();
  const ended = new Promise((resolve) => server.once('close', resolve));
  await closeListener(server);
  // A request on a kept connection may not have been read yet: idle connections get a moment, too.
  const idle = setTimeout(() => connections.endIdle(), limits.stopIdleMs);
  const timeout = setTimeout(() => server.closeAllConnections(), limits.stopTimeoutMs);
  await ended;
  clearTimeout(idle);
  clearTimeout(timeout);
}
