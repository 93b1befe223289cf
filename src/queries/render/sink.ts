// Bytes being written: text, integers, decimals and instants, straight into one growing buffer.
import { DECIMALS_MAX, MANTISSA_LIMIT, POWERS_OF_TEN, plainDecimal } from '../../base/decimal.ts';
import { DAY_MS, formatDay } from '../../base/instant.ts';

const encoder = new TextEncoder();
const ZERO = 48;
const POINT = 46;
const MINUS = 45;

/** A buffer that is written to and then taken as one piece; one a thread is reused for every answer. */
export class Sink {
  #bytes: Uint8Array = new Uint8Array(256 * 1024);
  #at = 0;
  #decimals = 0;
  readonly #dates = new Map<number, Uint8Array>();

  /** Bytes written since `start`. */
  get length(): number {
    return this.#at;
  }

  start(): void {
    this.#at = 0;
  }

  /** Makes room for `count` bytes more; the writers below do not check. */
  reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + count));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
  }

  /** What was written, as a buffer of its own that can be handed to another thread. */
  take(): Uint8Array {
    const taken = Buffer.allocUnsafeSlow(this.#at);
    taken.set(this.#bytes.subarray(0, this.#at));
    return taken;
  }

  /** Text of any length. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.#at += encoder.encodeInto(text, this.#bytes.subarray(this.#at)).written;
  }

  bytes(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A finite double as the shortest plain decimal that reads back the same; at most 350 bytes. */
  decimal(value: number): void {
    // Most numbers of an answer share a scale: the last one that fitted is tried first.
    let decimals = this.#decimals;
    let mantissa = Math.round(value * POWERS_OF_TEN[decimals]!);
    while (mantissa / POWERS_OF_TEN[decimals]! !== value) {
      decimals++;
      if (decimals > DECIMALS_MAX) break;
      mantissa = Math.round(value * POWERS_OF_TEN[decimals]!);
    }
    if (decimals > DECIMALS_MAX || mantissa >= MANTISSA_LIMIT || mantissa <= -MANTISSA_LIMIT) {
      this.#decimals = 0;
      this.text(plainDecimal(value));
      return;
    }
    this.#decimals = Math.min(decimals, 4);
    this.#scaled(mantissa, decimals);
  }

  #scaled(mantissa: number, decimals: number): void {
    let rest = mantissa;
    let fraction = decimals;
    if (rest < 0) {
      this.#bytes[this.#at++] = MINUS;
      rest = -rest;
    }
    while (fraction > 0 && rest % 10 === 0) {
      rest /= 10;
      fraction--;
    }
    let digits = 1;
    while (digits <= DECIMALS_MAX && rest >= POWERS_OF_TEN[digits]!) digits++;
    if (digits <= fraction) digits = fraction + 1;
    const end = this.#at + digits + (fraction > 0 ? 1 : 0);
    let at = end - 1;
    // Digits are split off in 32-bit arithmetic as soon as the rest fits it.
    let written = 0;
    while (rest >= 0x7fff_ffff) {
      const next = Math.floor(rest / 10);
      if (written === fraction && fraction > 0) this.#bytes[at--] = POINT;
      this.#bytes[at--] = ZERO + (rest - next * 10);
      rest = next;
      written++;
    }
    let small = rest | 0;
    while (written < digits) {
      if (written === fraction && fraction > 0) this.#bytes[at--] = POINT;
      const next = (small / 10) | 0;
      this.#bytes[at--] = ZERO + (small - next * 10);
      small = next;
      written++;
    }
    this.#at = end;
  }

  /** `YYYY-MM-DD`: 10 bytes. */
  date(day: number): void {
    let known = this.#dates.get(day);
    if (known === undefined) {
      if (this.#dates.size > 4096) this.#dates.clear();
      known = encoder.encode(formatDay(day));
      this.#dates.set(day, known);
    }
    this.#bytes.set(known, this.#at);
    this.#at += 10;
  }

  /** `2025-07-18T00:30:00+00:00`: 25 bytes (contract 2.4). */
  instant(ms: number): void {
    const day = Math.floor(ms / DAY_MS);
    this.date(day);
    const seconds = ((ms - day * DAY_MS) / 1000) | 0;
    const minutes = (seconds / 60) | 0;
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = 84;
    at = this.#two(at, (minutes / 60) | 0);
    bytes[at++] = 58;
    at = this.#two(at, minutes % 60);
    bytes[at++] = 58;
    at = this.#two(at, seconds % 60);
    bytes[at++] = 43;
    at = this.#two(at, 0);
    bytes[at++] = 58;
    this.#at = this.#two(at, 0);
  }

  #two(at: number, value: number): number {
    const tens = (value / 10) | 0;
    this.#bytes[at] = ZERO + tens;
    this.#bytes[at + 1] = ZERO + (value - tens * 10);
    return at + 2;
  }
}
