// Bytes being written: text, constants, decimals and instants, straight into one growing buffer.
import { DECIMALS_MAX, MANTISSA_LIMIT, POWERS_OF_TEN, plainDecimal } from '../../base/decimal.ts';
import { DAY_MS, formatDay, MINUTE_MS, SECOND_MS } from '../../base/instant.ts';

const encoder = new TextEncoder();
const ZERO = 48;
const POINT = 46;
const MINUS = 45;

/** Bytes that a constant may put beyond its own end; what is written next covers them. */
const OVERHANG = 3;

/** Longer constants are copied faster whole than by words. */
const SHORT_BYTES_MAX = 48;

/** Text that is written again and again: encoded once, four bytes a store. */
export class Constant {
  readonly length: number;
  readonly words: Int32Array;
  readonly bytes: Uint8Array;

  constructor(text: string) {
    const bytes = encoder.encode(text);
    const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
    padded.set(bytes);
    this.length = bytes.length;
    this.bytes = bytes;
    this.words = new Int32Array(padded.buffer);
  }
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `T00:00:00+00:00` to `T23:59:00+00:00`, for every minute of a day. */
const minuteTexts = Array.from(
  { length: 1440 },
  (_, minute) => new Constant(`T${two(Math.floor(minute / 60))}:${two(minute % 60)}:00+00:00`),
);

/** Where the seconds stand in such a text. */
const SECONDS_AT = 7;

/** A decimal takes at most this many bytes: 308 digits before the point, or behind it 324, a sign and two more. */
export const DECIMAL_BYTES_MAX = 330;

/** Digits of a non-negative 32-bit integer. */
function digitsOf(value: number): number {
  if (value < 1e5) return value < 100 ? (value < 10 ? 1 : 2) : value < 1e3 ? 3 : value < 1e4 ? 4 : 5;
  if (value < 1e8) return value < 1e6 ? 6 : value < 1e7 ? 7 : 8;
  return value < 1e9 ? 9 : 10;
}

/** A buffer that is written to and then taken as one piece; one a thread is reused for every answer. */
export class Sink {
  #bytes: Uint8Array = new Uint8Array(256 * 1024);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #day = Number.NaN;
  #dayText = new Constant('');

  /** Bytes written since `start`. */
  get length(): number {
    return this.#at;
  }

  start(): void {
    this.#at = 0;
  }

  /** Makes room for `count` bytes more; the writers below, but `text`, do not check. */
  reserve(count: number): void {
    if (this.#at + count + OVERHANG <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + count + OVERHANG));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  /** A copy of what was written, in the memory that `allocate` gives for so many bytes. */
  take(allocate: (length: number) => Uint8Array): Uint8Array {
    const taken = allocate(this.#at);
    taken.set(this.#bytes.subarray(0, this.#at));
    return taken;
  }

  /** Text of any length. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.#at += encoder.encodeInto(text, this.#bytes.subarray(this.#at)).written;
  }

  constant({ words, bytes, length }: Constant): void {
    const view = this.#view;
    let at = this.#at;
    this.#at = at + length;
    if (length > SHORT_BYTES_MAX) this.#bytes.set(bytes, at);
    else for (let index = 0; index < words.length; index++, at += 4) view.setInt32(at, words[index]!, true);
  }

  /**
   * A finite double as the shortest plain decimal that reads back the same: at most `DECIMAL_BYTES_MAX` bytes. Gives the
   * decimals at which it was found, to be tried first for the next number of its kind.
   */
  decimal(value: number, hint = 0): number {
    let decimals = hint;
    let mantissa = Math.round(value * POWERS_OF_TEN[decimals]!);
    while (mantissa / POWERS_OF_TEN[decimals]! !== value) {
      decimals++;
      if (decimals > DECIMALS_MAX) break;
      mantissa = Math.round(value * POWERS_OF_TEN[decimals]!);
    }
    if (decimals > DECIMALS_MAX || mantissa >= MANTISSA_LIMIT || mantissa <= -MANTISSA_LIMIT) {
      this.text(plainDecimal(value));
      return 0;
    }
    if (mantissa < 0) {
      this.#bytes[this.#at++] = MINUS;
      mantissa = -mantissa;
    }
    if (mantissa <= 0x7fff_ffff) this.#small(mantissa | 0, decimals);
    else this.#large(mantissa, decimals);
    return decimals;
  }

  /** A 32-bit integer over 10^decimals, without zeros at its end. */
  #small(mantissa: number, decimals: number): void {
    let rest = mantissa | 0;
    let fraction = decimals;
    while (fraction > 0) {
      const next = (rest / 10) | 0;
      if (next * 10 !== rest) break;
      rest = next;
      fraction--;
    }
    const whole = Math.max(digitsOf(rest) - fraction, 1);
    const bytes = this.#bytes;
    let at = this.#at + whole + (fraction > 0 ? fraction + 1 : 0);
    this.#at = at;
    if (fraction > 0) {
      for (; fraction > 0; fraction--) {
        const next = (rest / 10) | 0;
        bytes[--at] = ZERO + rest - next * 10;
        rest = next;
      }
      bytes[--at] = POINT;
    }
    for (let left = whole; left > 0; left--) {
      const next = (rest / 10) | 0;
      bytes[--at] = ZERO + rest - next * 10;
      rest = next;
    }
  }

  /** The same for what is beyond 32 bits, which is rare. */
  #large(mantissa: number, decimals: number): void {
    const text = String(mantissa).padStart(decimals + 1, '0');
    const whole = text.slice(0, text.length - decimals);
    const fraction = decimals === 0 ? '' : text.slice(text.length - decimals).replace(/0+$/, '');
    this.text(fraction === '' ? whole : `${whole}.${fraction}`);
  }

  /** `YYYY-MM-DD`: 10 bytes. */
  date(day: number): void {
    if (day !== this.#day) {
      this.#day = day;
      this.#dayText = new Constant(formatDay(day));
    }
    this.constant(this.#dayText);
  }

  /** `2025-07-18T00:30:00+00:00`: 25 bytes (contract 2.4). */
  instant(ms: number): void {
    const day = Math.floor(ms / DAY_MS);
    this.date(day);
    const minute = ((ms - day * DAY_MS) / MINUTE_MS) | 0;
    const start = this.#at;
    this.constant(minuteTexts[minute]!);
    const seconds = ((ms - day * DAY_MS - minute * MINUTE_MS) / SECOND_MS) | 0;
    if (seconds !== 0) this.#bytes.set(encoder.encode(two(seconds)), start + SECONDS_AT);
  }
}
