// The open connections of a port, and their bound: room for a new one is made by closing the one that has
// been idle for longest.
import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Observe } from '../base/observe.ts';
import { openFilesMax } from '../base/runtime.ts';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';

/** How many responses of a connection have not ended, and the newest of them, which ends last. */
type Unfinished = {
  count: number;
  newest: ServerResponse | undefined;
  isPaused: boolean;
  /** Whether a request of it has arrived that is not read yet. */
  isHeld: boolean;
};

/**
 * The connections that a process may have open: below its bound of open files, because the store needs some
 * too.
 */
export function connectionsMax(filesMax = openFilesMax()): number {
  const { connectionsMax: most, connectionsMin: least, filesReserved } = httpLimits;
  return Math.max(least, Math.min(most, (filesMax ?? Number.POSITIVE_INFINITY) - filesReserved));
}

/** The open connections, each with the responses that it still has to send. */
export class OpenConnections {
  readonly #max: number;
  readonly #observe: Observe;
  readonly #bySocket = new Map<Socket, Unfinished>();
  /** Connections without an unanswered request, idle for longest first. */
  readonly #idle = new Set<Socket>();
  /** Connections of the listener; under TLS these are more, because of handshakes. */
  #accepted = 0;
  #unanswered = 0;
  #isStopping = false;

  constructor(max: number, observe: Observe) {
    this.#max = max;
    this.#observe = observe;
  }

  /** How many connections are open. */
  get count(): number {
    return this.#accepted;
  }

  /** How many requests of all connections are not answered yet. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** How many connections have sent a request that waits to be read. */
  get unread(): number {
    let unread = 0;
    for (const { isHeld } of this.#bySocket.values()) if (isHeld) unread++;
    return unread;
  }

  /**
   * Counts an accepted connection. At the bound an idle one is closed for it; without one `endOther` may, or
   * it is closed itself.
   */
  accept(socket: Socket, endOther: () => boolean): void {
    this.#accepted++;
    socket.once('close', () => this.#accepted--);
    if (this.#accepted <= this.#max) return;
    const [idle] = this.#idle;
    idle?.destroy();
    const hasMadeRoom = idle !== undefined || endOther();
    this.#observe({ kind: 'connection', reason: hasMadeRoom ? 'idle' : 'refused' });
    if (idle !== undefined) this.#idle.delete(idle);
    if (!hasMadeRoom) socket.destroy();
  }

  /** Adds a new connection that can send requests. */
  add(socket: Socket): void {
    this.#bySocket.set(socket, { count: 0, newest: undefined, isPaused: false, isHeld: false });
    this.#idle.add(socket);
    socket.once('close', () => {
      this.#bySocket.delete(socket);
      this.#idle.delete(socket);
    });
  }

  /** Counts a request of a connection that is answered now, until the result is called. */
  begin(socket: Socket): () => void {
    const unfinished = this.#bySocket.get(socket)!;
    this.#idle.delete(socket);
    this.#unanswered++;
    unfinished.count++;
    return () => this.#finish(socket, unfinished);
  }

  /**
   * Adds a response to be sent. While a caller has several unanswered requests, its connection is not read.
   * One read may bring thousands: where all callers together have too many, the result is false, and the
   * connection must be ended.
   */
  addResponse(socket: Socket, response: ServerResponse): boolean {
    const unfinished = this.#bySocket.get(socket);
    if (unfinished === undefined) return false;
    if (this.#unanswered >= httpLimits.unansweredMax && unfinished.count > httpLimits.pipelinedMax)
      return false;
    response.once('close', this.begin(socket));
    unfinished.newest = response;
    if (unfinished.count > httpLimits.pipelinedMax && !unfinished.isPaused) {
      unfinished.isPaused = true;
      socket.pause();
    }
    return true;
  }

  #finish(socket: Socket, unfinished: Unfinished): void {
    this.#unanswered--;
    unfinished.count--;
    if (unfinished.isPaused && unfinished.count <= httpLimits.pipelinedMax / 2) {
      unfinished.isPaused = false;
      socket.resume();
    }
    if (unfinished.count > 0) return;
    unfinished.newest = undefined;
    if (this.#bySocket.has(socket)) this.#idle.add(socket);
    if (this.#isStopping) socket.destroySoon();
  }

  /** A request of a connection without another one has arrived, and waits to be read. */
  hold(socket: Socket): void {
    this.#idle.delete(socket);
    const unfinished = this.#bySocket.get(socket);
    if (unfinished !== undefined) unfinished.isHeld = true;
  }

  /** What waited is read now. */
  letGo(socket: Socket): void {
    const unfinished = this.#bySocket.get(socket);
    if (unfinished === undefined) return;
    unfinished.isHeld = false;
    if (unfinished.count === 0) this.#idle.add(socket);
  }

  /** Whether a connection is not read because its caller has several unanswered requests. */
  isPaused(socket: Socket): boolean {
    return this.#bySocket.get(socket)?.isPaused ?? false;
  }

  /** The last response that a connection still has to send. */
  lastResponse(socket: Socket): ServerResponse | undefined {
    return this.#bySocket.get(socket)?.newest;
  }

  /** Whether a connection ends with this response, which must then say so. */
  endsWith(response: ServerResponse): boolean {
    return this.#isStopping && this.lastResponse(response.req.socket) === response;
  }

  /** Whether a connection has an unanswered request, or ends with its next response. */
  isBusy(socket: Socket): boolean {
    return this.#isStopping || this.lastResponse(socket) !== undefined;
  }

  /** From now on a connection ends with its last response. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Ends the connections that have nothing to send. */
  endIdle(): void {
    for (const [socket, { count, isHeld }] of this.#bySocket)
      if (count === 0 && !isHeld) socket.destroySoon();
  }
}

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

/** A server to stop: `listener` accepts the connections of `server`, and may be the same. */
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
