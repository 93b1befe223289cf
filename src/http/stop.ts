// The stop that loses no request: what is asked while it goes on is answered, and each connection ends with its last answer.
import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Observe } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';

/** A turn of the event loop in which nothing happened. */
const SHORT_TURN_MS = 0.05;

/** What a connection owes: the answers that have not ended, and the newest of them, which ends last. */
type Debt = {
  readonly responses: Set<ServerResponse>;
  newest: ServerResponse | undefined;
  isPaused: boolean;
};

/** The open connections, and the answers that each still owes, in the order of its requests. */
export class Owed {
  readonly #bySocket = new Map<Socket, Debt>();
  #stopping = false;

  /** How many connections are open. */
  get open(): number {
    return this.#bySocket.size;
  }

  /** A connection has come. */
  take(socket: Socket): void {
    this.#bySocket.set(socket, { responses: new Set(), newest: undefined, isPaused: false });
    socket.once('close', () => this.#bySocket.delete(socket));
  }

  /** An answer is owed. A caller who asks for many before taking the first is not read on. */
  add(socket: Socket, response: ServerResponse): void {
    const debt = this.#bySocket.get(socket);
    if (debt === undefined) return;
    debt.responses.add(response);
    debt.newest = response;
    if (debt.responses.size > limits.pipelinedMax && !debt.isPaused) {
      debt.isPaused = true;
      socket.pause();
    }
    response.once('close', () => this.#paid(socket, debt, response));
  }

  #paid(socket: Socket, debt: Debt, response: ServerResponse): void {
    debt.responses.delete(response);
    if (debt.isPaused && debt.responses.size <= limits.pipelinedMax / 2) {
      debt.isPaused = false;
      socket.resume();
    }
    if (debt.responses.size > 0) return;
    debt.newest = undefined;
    if (this.#stopping) socket.destroySoon();
  }

  /** The answer after which a connection owes nothing. */
  last(socket: Socket): ServerResponse | undefined {
    return this.#bySocket.get(socket)?.newest;
  }

  /** Whether a connection ends with this answer, of which its caller is told. */
  ends(response: ServerResponse): boolean {
    return this.#stopping && this.last(response.req.socket) === response;
  }

  /** From now on a connection ends with its last answer. */
  stop(): void {
    this.#stopping = true;
  }

  /** Ends the connections on which nothing was asked. */
  endIdle(): void {
    for (const [socket, { newest }] of this.#bySocket) if (newest === undefined) socket.destroySoon();
  }
}

/**
 * Closes the listener when the kernel holds no connection for it, for it would reset those. Node takes one a turn: until a turn
 * brings none and takes no time, what it takes is put aside; the callers are then served.
 */
async function closeListener(server: Server): Promise<void> {
  const serve = server.listeners('connection');
  const aside: Socket[] = [];
  server.removeAllListeners('connection');
  Object.assign(server, { pauseOnConnect: true });
  server.on('connection', (socket) => aside.push(socket));
  const deadlineMs = performance.now() + limits.stopIdleMs;
  for (let nowMs = performance.now(); nowMs < deadlineMs; ) {
    const [taken, beganMs] = [aside.length, nowMs];
    await setImmediate();
    nowMs = performance.now();
    if (aside.length === taken && nowMs - beganMs < SHORT_TURN_MS) break;
  }
  // The close of http.Server would cut idle connections at once, and answers that are on their way to a slow caller.
  NetServer.prototype.close.call(server);
  for (const socket of aside) {
    for (const listener of serve) listener.call(server, socket);
    socket.resume();
  }
}

/** Stops a server; resolves when every connection has ended. */
export async function stop(server: Server, owed: Owed, reason: string, observe: Observe): Promise<void> {
  observe({ kind: 'stopping', reason, open: owed.open });
  owed.stop();
  const ended = new Promise((resolve) => server.once('close', resolve));
  await closeListener(server);
  // What was asked on a kept connection a moment ago may not have been read yet: those that are idle get a moment, too.
  const idle = setTimeout(() => owed.endIdle(), limits.stopIdleMs);
  const cut = setTimeout(() => server.closeAllConnections(), limits.stopTimeoutMs);
  await ended;
  clearTimeout(idle);
  clearTimeout(cut);
}
