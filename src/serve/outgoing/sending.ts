// Sends answers: in pieces, counted until the other side has them, and no slower than a least speed.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EndReason, Observe } from '../../base/observe.ts';
import { moduleBeside } from '../../base/runtime.ts';
import { WorkerClient } from '../../base/worker-client.ts';
import { httpLimits } from '../limits.ts';
import type { HttpResponse, WrittenResponse } from '../message.ts';
import { type Listening, nameOf, type SendQueues } from './send-queues.ts';
import type { Owner, UnsentBytes } from './unsent-bytes.ts';

/** The thread does little; without bounds its heap would be sized for a whole program. */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 };

/**
 * Looks at the queues from a thread of their own: with many connections one takes many milliseconds, and
 * under overload the HTTP thread has none to spare.
 */
export const queueLooks = (): WorkerClient<Listening, SendQueues | null> =>
  new WorkerClient('the thread of send queues', moduleBeside('./send-queues-thread.ts', import.meta.url), {
    resourceLimits: MEMORY,
    isUnref: true,
  });

const defaultPace = { intervalMs: httpLimits.sendIntervalMs, checkMs: httpLimits.sendCheckMs };

/** Times in place of those in `limits`. */
export type SendingPace = { readonly [name in keyof typeof defaultPace]?: number };

/** What a connection has to send; kept until it closes. */
type Flow = {
  /** Its name in the kernel's tables: made once, because making it costs more than finding it. */
  readonly name: string;
  owner: Owner;
  /** Whether it has closed. */
  isForgotten: boolean;
  /** Bytes of its answers that the kernel has not taken yet. */
  waiting: number;
  /** Bytes that the kernel has taken since the connection began. */
  taken: number;
  /** How many of these the other side may not have acknowledged. */
  held: number;
  /** `taken` at the last look at the kernel's queues. */
  looked: number;
  /** Bytes that were acknowledged at the last progress, and when that was. */
  progressBytes: number;
  progressMs: number;
  /** Bytes that were acknowledged at the last look, and when any last were or there was nothing to read. */
  readBytes: number;
  readMs: number;
};

type Parts = {
  readonly unsent: UnsentBytes;
  readonly observe: Observe;
  /** Ends a connection at once, and with it what the kernel holds for it. */
  readonly reset: (socket: Socket) => void;
  readonly pace: SendingPace | undefined;
};

const newFlow = (socket: Socket, owner: Owner): Flow => ({
  ...{ name: nameOf(socket), owner, isForgotten: false, waiting: 0, taken: 0, held: 0, looked: -1 },
  ...{ progressBytes: 0, progressMs: performance.now(), readBytes: 0, readMs: performance.now() },
});

/** A connection that had nothing to send gets an answer: its caller has not been slow. */
function beginAnew(flow: Flow): void {
  flow.progressBytes = flow.taken;
  flow.progressMs = performance.now();
  flow.readMs = flow.progressMs;
}

/** The bytes of a connection that its caller has not got. */
const unsentOf = ({ waiting, held }: Flow): number => waiting + held;

/** The answers on their way from one server. */
export class Sending {
  readonly #parts: Parts;
  readonly #intervalMs: number;
  readonly #listening: () => Listening;
  /** Connections that have had something to send. */
  readonly #flows = new Map<Socket, Flow>();
  readonly #timer: NodeJS.Timeout;
  readonly #looks = queueLooks();
  /** The count whose look has not begun, and the one before it. */
  #comingCount: Promise<void> | null = null;
  #lastCount: Promise<unknown> = Promise.resolve();
  #pause: Promise<unknown> = Promise.resolve();
  /** Bytes that count as read since the last look because their callers asked again. */
  #assumedBytes = 0;
  /** When the last look at the kernel's queues began. */
  #lookedMs = 0;

  constructor(parts: Parts, listening: () => Listening) {
    const { intervalMs, checkMs } = { ...defaultPace, ...parts.pace };
    this.#parts = parts;
    this.#listening = listening;
    this.#intervalMs = intervalMs;
    this.#timer = setInterval(() => void this.#check(), checkMs);
    this.#timer.unref();
    parts.unsent.relieveWith({
      recount: () => this.#recount(),
      endUnread: (bytes) => this.#endUnread(bytes),
    });
  }

  /**
   * Sends a response. The connection of a caller that is over its bound, and has not read its earlier
   * answers, is ended instead.
   */
  send(outgoing: ServerResponse, response: HttpResponse): void | Promise<void> {
    const { release, owner = null } = response;
    if (outgoing.closed) return release?.();
    if (release !== undefined) outgoing.once('close', release);
    const { socket } = outgoing.req;
    // A look at the kernel's queues makes no caller's bytes more: who has few of them does not wait for it.
    if (!this.#holdsMuch(socket) || !this.#parts.unsent.isOwnerOver(owner))
      return this.#begin(outgoing, response, owner);
    return this.#parts.unsent.isOwnerStillOver(owner).then((isOver) => {
      if (isOver && this.#isUnread(socket)) this.#end(socket, 'unread');
      else this.#begin(outgoing, response, owner);
    });
  }

  /** Sends a response whose head is written; `done` once the kernel has taken it, or the connection ended. */
  sendWritten(socket: Socket, { head, body, owner, release }: WrittenResponse, done: () => void): void {
    const flow = this.#flowOf(socket, owner);
    const bytes = bytesIn(body);
    flow.waiting += bytes;
    const end = (error?: Error | null): void => {
      release();
      if (!error) this.#took(flow, bytes);
      done();
    };
    const last = body.at(-1);
    socket.cork();
    socket.write(head, 'latin1', last === undefined ? end : undefined);
    for (const piece of body.slice(0, -1)) socket.write(piece);
    if (last !== undefined) socket.write(last, end);
    socket.uncork();
  }

  /**
   * A connection whose answers the kernel has taken asks again: they count as read, far from the bounds. A
   * look, which comes once so many bytes count so, finds who asks without reading.
   */
  heard(socket: Socket): void {
    const flow = this.#flows.get(socket);
    if (flow === undefined || flow.waiting > 0 || this.#parts.unsent.isNear(flow.owner)) return;
    this.#parts.unsent.add(flow.owner, -flow.held);
    this.#assumedBytes += flow.held;
    flow.held = 0;
    if (this.#assumedBytes > httpLimits.assumedBytesMax) void this.#recount();
  }

  /**
   * Whether the kernel may hold so many bytes of a connection that its caller counts as one that does not
   * read.
   */
  #holdsMuch(socket: Socket): boolean {
    const flow = this.#flows.get(socket);
    return flow !== undefined && flow.held >= httpLimits.unreadBytesMax;
  }

  /**
   * Whether the caller has not read its earlier answers, for certain: a look at the queues came after them.
   */
  #isUnread(socket: Socket): boolean {
    const flow = this.#flows.get(socket);
    return flow !== undefined && flow.looked === flow.taken && this.#holdsMuch(socket);
  }

  #begin(outgoing: ServerResponse, response: HttpResponse, owner: Owner): void {
    const { status, headers, body, rest } = response;
    if (outgoing.destroyed) return;
    outgoing.writeHead(status, headers);
    if (outgoing.req.method === 'HEAD') this.#write(outgoing, [], owner);
    else if (rest === undefined) this.#write(outgoing, body, owner);
    else void this.#stream(outgoing, body, rest, owner);
  }

  /** Whose answer a connection had last; null where it had none. */
  ownerOf(socket: Socket): Owner {
    return this.#flows.get(socket)?.owner ?? null;
  }

  /** Forgets a connection that has closed. */
  forget(socket: Socket): void {
    const flow = this.#flows.get(socket);
    if (flow === undefined) return;
    this.#flows.delete(socket);
    flow.isForgotten = true;
    this.#parts.unsent.add(flow.owner, -flow.held);
  }

  /** Sends no more. */
  close(): void {
    clearInterval(this.#timer);
    void this.#looks.stop();
  }

  #flowOf(socket: Socket, owner: Owner): Flow {
    const flow = this.#flows.get(socket) ?? newFlow(socket, owner);
    if (unsentOf(flow) === 0) beginAnew(flow);
    // What the kernel holds of a connection belongs to its last caller.
    this.#parts.unsent.add(flow.owner, -flow.held);
    this.#parts.unsent.add(owner, flow.held);
    flow.owner = owner;
    if (!socket.destroyed) this.#flows.set(socket, flow);
    return flow;
  }

  #write(outgoing: ServerResponse, body: readonly Uint8Array[], owner: Owner): void {
    const { socket } = outgoing.req;
    const steps = stepsOf(body);
    const last = steps.pop() ?? [];
    const flow = this.#flowOf(socket, owner);
    const took = (bytes: number): void => this.#took(flow, bytes);
    flow.waiting += bytesIn(body);
    const writeNext = (index: number): void => {
      const step = steps[index];
      if (step === undefined) {
        for (const piece of last.slice(0, -1)) outgoing.write(piece);
        outgoing.end(last.at(-1), () => took(bytesIn(last)));
        return;
      }
      for (const piece of step.slice(0, -1)) outgoing.write(piece);
      outgoing.write(step.at(-1)!, (error) => {
        if (error) return;
        took(bytesIn(step));
        writeNext(index + 1);
      });
    };
    writeNext(0);
  }

  /** The kernel has taken bytes of a connection. */
  #took(flow: Flow, bytes: number): void {
    flow.waiting -= bytes;
    if (flow.isForgotten) return;
    flow.taken += bytes;
    flow.held += bytes;
    this.#parts.unsent.add(flow.owner, bytes);
    this.#parts.unsent.lookAhead(flow.owner);
  }

  /**
   * Sends an answer that is made while it is sent. Where its rest cannot be had, the connection is ended: a
   * caller must not take a part for the whole.
   */
  async #stream(
    outgoing: ServerResponse,
    body: readonly Uint8Array[],
    rest: () => Promise<Uint8Array | null>,
    owner: Owner,
  ): Promise<void> {
    const { socket } = outgoing.req;
    try {
      for (const piece of body) await this.#writePiece(outgoing, piece, owner);
      for (let piece = await rest(); piece !== null; piece = await rest())
        await this.#writePiece(outgoing, piece, owner);
      outgoing.end();
    } catch {
      if (!socket.destroyed) this.#end(socket, 'cut');
    }
  }

  /**
   * Writes a piece of a streamed answer; resolves once the kernel has taken it. @throws where the connection
   * has closed
   */
  async #writePiece(outgoing: ServerResponse, piece: Uint8Array, owner: Owner): Promise<void> {
    const flow = this.#flowOf(outgoing.req.socket, owner);
    for (const [step] of stepsOf([piece])) {
      const { length } = step!;
      flow.waiting += length;
      await new Promise<void>((resolve, reject) => {
        const closed = (): void => reject(new Error('the connection has closed'));
        if (outgoing.destroyed) return closed();
        outgoing.once('close', closed);
        outgoing.write(step!, (error) => {
          outgoing.off('close', closed);
          if (error) return reject(error);
          this.#took(flow, length);
          resolve();
        });
      });
    }
  }

  #end(socket: Socket, reason: EndReason): void {
    this.#parts.reset(socket);
    this.#parts.observe({ kind: 'connection', reason });
  }

  /**
   * Ends unread connections of the key that has the most unread bytes, the largest first, until so many bytes
   * are free.
   */
  async #endUnread(bytes: number): Promise<boolean> {
    const sinceMs = performance.now() - httpLimits.unreadMs;
    const unread = this.#unreadOfGreediest().filter(([, { readMs }]) => readMs <= sinceMs);
    const closed: Promise<unknown>[] = [];
    let freed = 0;
    for (const [socket, flow] of unread.sort(([, a], [, b]) => unsentOf(b) - unsentOf(a))) {
      if (freed >= bytes) break;
      freed += unsentOf(flow);
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      this.#end(socket, 'unread');
    }
    // Their bytes count until they have closed.
    await Promise.all(closed);
    return closed.length > 0;
  }

  /**
   * The connections of which nothing was read at the last look, of the key with the most bytes on such ones.
   */
  #unreadOfGreediest(): [Socket, Flow][] {
    const byOwner = new Map<Owner, { bytes: number; connections: [Socket, Flow][] }>();
    for (const [socket, flow] of this.#flows) {
      if (flow.readMs >= this.#lookedMs || unsentOf(flow) === 0 || socket.destroyed) continue;
      const unread = byOwner.get(flow.owner) ?? { bytes: 0, connections: [] };
      unread.bytes += unsentOf(flow);
      unread.connections.push([socket, flow]);
      byOwner.set(flow.owner, unread);
    }
    let greediest = { bytes: 0, connections: [] as [Socket, Flow][] };
    for (const unread of byOwner.values()) if (unread.bytes > greediest.bytes) greediest = unread;
    return greediest.connections;
  }

  /** Ends the connections that make no progress. */
  async #check(): Promise<void> {
    if (!this.#flows.values().some((flow) => unsentOf(flow) > 0)) return;
    await this.#recount();
    // A look may take long, and callers may have read since it began: they are judged by that time.
    const nowMs = this.#lookedMs;
    for (const [socket, flow] of this.#flows) {
      // Another check that waited for the same count has ended it.
      if (socket.destroyed || unsentOf(flow) === 0) continue;
      const bytes = flow.taken - flow.held;
      if (bytes - flow.progressBytes >= httpLimits.sendBytesLeast) {
        flow.progressBytes = bytes;
        flow.progressMs = nowMs;
      } else if (nowMs - flow.progressMs >= this.#intervalMs) this.#end(socket, 'slow');
    }
  }

  /**
   * Asks the kernel what it holds; soon after the time before only when a pause is over. Whoever waits for it
   * is judged by a look that begins later: a caller that reads fast has read much meanwhile.
   */
  #recount(): Promise<void> {
    this.#comingCount ??= this.#recountSoon();
    return this.#comingCount;
  }

  async #recountSoon(): Promise<void> {
    await this.#lastCount;
    await this.#pause;
    const count = this.#recountNow();
    this.#lastCount = count;
    this.#comingCount = null;
    await count;
    this.#pause = sleep(httpLimits.lookPauseMs, undefined, { ref: false });
  }

  async #recountNow(): Promise<void> {
    this.#assumedBytes = 0;
    const before = Array.from(this.#flows.values(), (flow) => ({ flow, taken: flow.taken }));
    const lookedMs = performance.now();
    const queues = await this.#looks.ask(this.#listening()).catch(() => null);
    this.#lookedMs = lookedMs;
    for (const { flow, taken } of before) {
      if (flow.isForgotten) continue;
      // Where the kernel does not tell, what it has taken counts as sent.
      const queued = queues === null || queues.size === 0 ? 0 : (queues.get(flow.name) ?? 0);
      const held = queued + flow.taken - taken;
      this.#parts.unsent.add(flow.owner, held - flow.held);
      flow.held = held;
      flow.looked = taken;
      const read = flow.taken - held;
      if (read > flow.readBytes || unsentOf(flow) === 0) {
        flow.readBytes = read;
        flow.readMs = this.#lookedMs;
      }
    }
  }
}

const bytesIn = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0);

/** The pieces of a body in steps that are given to a connection at once. */
function stepsOf(body: readonly Uint8Array[]): (readonly Uint8Array[])[] {
  const { sendPieceBytes } = httpLimits;
  if (bytesIn(body) <= sendPieceBytes) return [body];
  const steps: Uint8Array[][] = [];
  let room = 0;
  for (const whole of body) {
    for (let at = 0; at < whole.length; ) {
      if (room === 0) {
        steps.push([]);
        room = sendPieceBytes;
      }
      const piece = whole.subarray(at, at + room);
      steps.at(-1)!.push(piece);
      at += piece.length;
      room -= piece.length;
    }
  }
  return steps;
}
