// Handshakes of TLS: connections wait for theirs in order of arrival, a few begin in each turn of the event
// loop, and ordinary requests are answered in between.
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { limits } from '../contract/limits.ts';
import { httpLimits } from './limits.ts';

const addressOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/**
 * The connections whose handshake is not done. They arrive unread. What a caller sends first costs the
 * service most: only callers who have sent something take part in the order.
 */
export class Handshakes {
  readonly #start: (socket: Socket) => void;
  /** All of them, by their address, in order of arrival. */
  readonly #all = new Map<string, Socket>();
  /** Those that have sent something and have not begun, in this order. */
  readonly #waiting = new Set<Socket>();
  readonly #raw = new WeakMap<Socket, Socket>();
  readonly #timeouts = new WeakMap<Socket, NodeJS.Timeout>();

  /** `start` gives a connection to TLS, with what has been read of it. */
  constructor(start: (socket: Socket) => void) {
    this.#start = start;
  }

  /**
   * Adds an accepted connection that is paused, and whose buffer is full with the first byte: no more is read
   * than is asked for.
   */
  add(socket: Socket): void {
    const address = addressOf(socket);
    this.#all.set(address, socket);
    this.#timeouts.set(
      socket,
      setTimeout(() => socket.destroy(), limits.handshakeTimeoutMs),
    );
    socket.once('close', () => {
      clearTimeout(this.#timeouts.get(socket));
      if (this.#all.get(address) === socket) this.#all.delete(address);
      this.#waiting.delete(socket);
    });
    socket.on('error', () => undefined);
    socket.once('readable', () => {
      // Its first read may have 64 kB, which wait with it.
      if (socket.readableLength > httpLimits.helloBytesMax) {
        socket.destroy();
        return;
      }
      this.#waiting.add(socket);
      if (this.#waiting.size === 1) this.#beginSoon();
    });
  }

  #beginSoon(): void {
    setImmediate(() => {
      let count = 0;
      for (const socket of this.#waiting) {
        if (++count > httpLimits.handshakesPerTurn) return this.#beginSoon();
        this.#waiting.delete(socket);
        this.#start(socket);
      }
    });
  }

  /** Notes that a handshake is done. */
  done(secure: TLSSocket): void {
    const address = addressOf(secure);
    const socket = this.#all.get(address);
    if (socket === undefined) return;
    clearTimeout(this.#timeouts.get(socket));
    this.#raw.set(secure, socket);
    this.#all.delete(address);
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

  /** Closes all connections whose handshake is not done. */
  endAll(): void {
    for (const socket of this.#all.values()) socket.destroy();
  }
}
