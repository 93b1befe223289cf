// Handshakes of TLS: connections wait for theirs in order of arrival, so that ordinary requests are answered
// in between.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Observe } from '../base/observe.ts';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';

const HANDSHAKE_RECORD = 22;
const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;

/**
 * Whether bytes hold a whole ClientHello, which may have several records (RFC 8446, 4 and 5.1). Also true for
 * bytes of any other kind: TLS refuses these at once.
 */
function isWholeHello(bytes: Buffer): boolean {
  let [read, wanted] = [0, MESSAGE_HEADER_BYTES];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE_RECORD) return true;
    if (at + RECORD_HEADER_BYTES > bytes.length) return false;
    const length = bytes.readUInt16BE(at + 3);
    const message = bytes.subarray(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + length);
    if (read === 0 && message.length >= MESSAGE_HEADER_BYTES)
      wanted = MESSAGE_HEADER_BYTES + message.readUIntBE(1, 3);
    read += message.length;
    if (read >= wanted) return true;
    at += RECORD_HEADER_BYTES + length;
  }
  return false;
}

/** Turns whose mean cost counts. */
const COSTS_KEPT = 16;

/** What a caller has sent so far: its hello, and what came after it. */
type Sent = { bytes: Buffer };

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/**
 * The connections whose handshake is not done. They arrive unread. What a caller sends first, its hello,
 * costs the service most: it is read, and waits, so that only callers who have sent it take part in the
 * order.
 */
export class Handshakes {
  readonly #start: (socket: Socket) => void;
  readonly #observe: Observe;
  /** All of them, by their address, in order of arrival. */
  readonly #all = new Map<string, Socket>();
  /** Those whose hello has arrived, in this order, with what they have sent and the moment of their hello. */
  readonly #waiting = new Map<Socket, { readonly sent: Sent; readonly sinceMs: number }>();
  /** Those that have begun, in this order. */
  readonly #begun = new Set<Socket>();
  readonly #raw = new WeakMap<Socket, Socket>();
  /**
   * Processor time of one, the mean of the last turns. By the clock, other work of the machine would count; a
   * single one is not known where the processor's time comes in steps of 4 ms.
   */
  #costMs: number = httpLimits.handshakeMs;
  #isScheduled = false;
  #restUntilMs = 0;
  #restShare = 1 / httpLimits.handshakeShare - 1;

  /** `start` gives a connection to TLS, which gets the bytes that were read. */
  constructor(start: (socket: Socket) => void, observe: Observe) {
    this.#start = start;
    this.#observe = observe;
  }

  /**
   * Adds an accepted connection that is paused, and whose buffer is full with the first byte: no more is read
   * than is asked for.
   */
  add(socket: Socket): void {
    const address = addressOf(socket);
    this.#all.set(address, socket);
    const timeout = setTimeout(() => socket.destroy(), limits.handshakeTimeoutMs);
    socket.once('close', () => {
      clearTimeout(timeout);
      if (this.#all.get(address) === socket) this.#all.delete(address);
      this.#waiting.delete(socket);
      this.#begun.delete(socket);
    });
    socket.on('error', () => undefined);
    this.#readHello(socket, (sent) => {
      clearTimeout(timeout);
      this.#wait(socket, sent);
    });
  }

  /**
   * Reads a hello, and then on: a caller that leaves before it is answered, or sends much more, is closed.
   * That it leaves is seen once all that it sent before is read.
   */
  #readHello(socket: Socket, receive: (sent: Sent) => void): void {
    const sent: Sent = { bytes: Buffer.alloc(0) };
    let isWhole = false;
    socket.on('readable', () => {
      if (sent.bytes.length + socket.readableLength > httpLimits.helloBytesMax) socket.destroy();
      const piece: Buffer | null = socket.read();
      if (piece === null || socket.destroyed) return;
      sent.bytes = Buffer.concat([sent.bytes, piece]);
      if (isWhole) return;
      isWhole = isWholeHello(sent.bytes);
      if (isWhole) receive(sent);
    });
  }

  #wait(socket: Socket, sent: Sent): void {
    if (this.#waiting.size >= httpLimits.handshakesWaitingMax) this.#refuse(socket);
    else {
      this.#waiting.set(socket, { sent, sinceMs: performance.now() });
      this.#schedule();
    }
  }

  #refuse(socket: Socket): void {
    socket.destroy();
    this.#observe({ kind: 'connection', reason: 'refused' });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    const restMs = this.#restUntilMs - performance.now();
    if (restMs > 0) setTimeout(() => this.#turn(), restMs);
    else setImmediate(() => this.#turn());
  }

  /** As many handshakes as take a few milliseconds of the processor, then a rest in proportion. */
  #turn(): void {
    const begin = process.threadCpuUsage();
    let count = 0;
    const next = (): void => {
      const hasTime = count === 0 || (count + 1) * this.#costMs <= httpLimits.handshakeTurnMs;
      if (hasTime && this.#beginNext()) {
        count++;
        // Node.js gives TLS the bytes that were read in a tick of its own, before this one.
        process.nextTick(next);
        return;
      }
      const { user, system } = process.threadCpuUsage(begin);
      if (count > 0) this.#costMs += ((user + system) / 1_000 / count - this.#costMs) / COSTS_KEPT;
      this.#restUntilMs = performance.now() + count * this.#costMs * this.#restShare;
      this.#isScheduled = false;
      this.#schedule();
    };
    next();
  }

  /** Begins the handshake that has waited for longest; false without one. */
  #beginNext(): boolean {
    const nowMs = performance.now();
    for (const [socket, { sent, sinceMs }] of this.#waiting) {
      this.#waiting.delete(socket);
      if (nowMs - sinceMs > httpLimits.handshakeWaitMaxMs) this.#refuse(socket);
      else {
        this.#begin(socket, sent);
        return true;
      }
    }
    return false;
  }

  /** Begins a handshake. At the bound the oldest makes room: its caller may never go on. */
  #begin(socket: Socket, { bytes }: Sent): void {
    const [oldest] = this.#begun;
    if (oldest !== undefined && this.#begun.size >= httpLimits.handshakesBegunMax) {
      this.#begun.delete(oldest);
      this.#refuse(oldest);
    }
    this.#begun.add(socket);
    socket.removeAllListeners('readable');
    socket.unshift(bytes);
    this.#start(socket);
  }

  /** Notes that a handshake is done. */
  done(secure: TLSSocket): void {
    const address = addressOf(secure);
    const socket = this.#all.get(address);
    if (socket === undefined) return;
    this.#raw.set(secure, socket);
    this.#all.delete(address);
    this.#begun.delete(socket);
  }

  /** The TCP socket of a connection; undefined once its handshake is done, so that it speaks HTTP. */
  bareSocket(socket: Socket): Socket | undefined {
    return this.#all.get(addressOf(socket));
  }

  /** The TCP socket of a connection whose handshake is done; undefined where that is not known. */
  rawSocket(socket: Socket): Socket | undefined {
    return this.#raw.get(socket);
  }

  /** Closes the connection whose handshake has taken longest; false without any. */
  endOldest(): boolean {
    const [oldest] = this.#all.values();
    oldest?.destroy();
    return oldest !== undefined;
  }

  /** Rests no more: the service stops, and who waits would be closed. */
  hasten(): void {
    this.#restShare = 0;
    this.#restUntilMs = 0;
  }

  /** Closes all connections whose handshake is not done. */
  endAll(): void {
    for (const socket of this.#all.values()) socket.destroy();
  }
}
