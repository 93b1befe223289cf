// A stop that loses no request: requests that arrive meanwhile are answered, and each connection ends with its last response.
import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Observe } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';

/** A tick of the event loop in which nothing happened. */
const SHORT_TICK_MS = 0.05;

/** How many responses of a connection have not ended, and the newest of them, which ends last. */
type Unfinished = { count: number; newest: ServerResponse | undefined; isPaused: boolean };

/** The open connections, each with the responses that it still has to send. */
export class OpenConnections {
  readonly #bySocket = new Map<Socket, Unfinished>();
  #isStopping = false;

  /** How many connections are open. */
  get count(): number {
    return this.#bySocket.size;
  }

  /** Adds a new connection. */
  add(socket: Socket): void {
    this.#bySocket.set(socket, { count: 0, newest: undefined, isPaused: false });
    socket.once('close', () => this.#bySocket.delete(socket));
  }

  /** Adds a response to be sent. While a caller has many unanswered requests, its connection is not read. */
  addResponse(socket: Socket, response: ServerResponse): void {
    const unfinished = this.#bySocket.get(socket);
    if (unfinished === undefined) return;
    unfinished.count++;
    unfinished.newest = response;
    if (unfinished.count > limits.pipelinedMax && !unfinished.isPaused) {
      unfinished.isPaused = true;
      socket.pause();
    }
    response.once('close', () => this.#finish(socket, unfinished));
  }

  #finish(socket: Socket, unfinished: Unfinished): void {
    unfinished.count--;
    if (unfinished.isPaused && unfinished.count <= limits.pipelinedMax / 2) {
      unfinished.isPaused = false;
      socket.resume();
    }
    if (unfinished.count > 0) return;
    unfinished.newest = undefined;
    if (this.#isStopping) socket.destroySoon();
  }

  /** The last response that a connection still has to send. */
  lastResponse(socket: Socket): ServerResponse | undefined {
    return this.#bySocket.get(socket)?.newest;
  }

  /** Whether a connection ends with this response, which must then say so. */
  endsWith(response: ServerResponse): boolean {
    return this.#isStopping && this.lastResponse(response.req.socket) === response;
  }

  /** From now on a connection ends with its last response. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Ends the connections that have nothing to send. */
  endIdle(): void {
    for (const [socket, { newest }] of this.#bySocket) if (newest === undefined) socket.destroySoon();
  }
}

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
