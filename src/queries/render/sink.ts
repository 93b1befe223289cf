// Writes text, constants, decimals and instants as bytes into one growing buffer.
import { DECIMALS_MAX, MANTISSA_LIMIT, POWERS_OF_TEN, plainDecimal } from '../../base/decimal.ts';
import { DAY_MS, formatDay, MINUTE_MS, SECOND_MS } from '../../base/instant.ts';

const encoder = new TextEncoder();
const POINT = 46;
const MINUS = 45;

/** The most bytes that storing a word writes past its text; the next write covers them. */
const OVERHANG = 7;

/**
 * Text that is written often: encoded once, stored eight bytes at a time. The words are doubles.
 * A NaN could lose bits, but UTF-8 never makes one: it has no byte FF, and no 7F after F0 or above.
 */
export class Constant {
  readonly length: number;
  readonly words: Float64Array;

  constructor(text: string) {
    const bytes = encoder.encode(text);
    const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
    padded.set(bytes);
    this.length = bytes.length;
    this.words = new Float64Array(padded.buffer);
  }
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `T00:00:00+00:00` to `T23:59:00+00:00`, for every minute of a day: 15 bytes in two words. */
const minuteWords = new Float64Array(
  encoder.encode(
    Array.from(
      { length: 1440 },
      (_, minute) => `T${two(Math.floor(minute / 60))}:${two(minute % 60)}:00+00:00\0`,
    ).join(''),
  ).buffer,
);
const MINUTE_TEXT_BYTES = 15;

/** The place of the seconds in such a text. */
const SECONDS_AT = 7;

/** The most bytes of a decimal: 308 digits before the point or 324 after it, a sign and two more. */
export const DECIMAL_BYTES_MAX = 330;

const GROUP = 10_000;

/** Four digits of every number below 10,000 as one word: with zeros in front, and without (then followed by zeros). */
const paddedGroups = groupWords((group) => String(group).padStart(4, '0'));
const leadingGroups = groupWords((group) => String(group).padEnd(4, '0'));

/** How many of such a number's four digits are left without trailing zeros. */
const significant = Uint8Array.from(
  { length: GROUP },
  (_, group) =>
    String(group)
      .padStart(4, '0')
      .replace(/(?<!0)0+$/, '').length,
);

function groupWords(textOf: (group: number) => string): Int32Array {
  return new Int32Array(
    encoder.encode(Array.from({ length: GROUP }, (_, group) => textOf(group)).join('')).buffer,
  );
}

/** The most decimals that are written by groups of digits. */
const GROUPED_DECIMALS_MAX = 8;

/** Digits of a number below 10,000. */
const groupDigits = (group: number): number => (group < 100 ? (group < 10 ? 1 : 2) : group < 1000 ? 3 : 4);

/** A buffer that is filled and then copied as one piece. Each thread reuses one for all its answers. */
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

  /** Grows the buffer for `count` more bytes. Of the writers below only `text` calls it. */
  reserve(count: number): void {
    if (this.#at + count + OVERHANG <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + count + OVERHANG));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  /** A copy of the written bytes, in memory from `allocate`. */
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

  constant({ words, length }: Constant): void {
    const view = this.#view;
    let at = this.#at;
    this.#at = at + length;
    for (let index = 0; index < words.length; index++, at += 8) view.setFloat64(at, words[index]!, true);
  }

  /**
   * A finite double as the shortest plain decimal that reads back the same: at most `DECIMAL_BYTES_MAX` bytes. Returns its
   * number of decimals: pass it as the hint for the next number of the same field.
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
    if (mantissa <= 0x7fff_ffff && decimals <= GROUPED_DECIMALS_MAX) this.#small(mantissa | 0, decimals);
    else this.#large(mantissa, decimals);
    return decimals;
  }

  /** A 31-bit integer over 10^decimals, without trailing zeros. */
  #small(mantissa: number, decimals: number): void {
    const power = POWERS_OF_TEN[decimals]!;
    const whole = (mantissa / power) | 0;
    this.#whole(whole);
    const fraction = mantissa - whole * power;
    if (fraction !== 0) this.#fraction(fraction, decimals);
  }

  #whole(value: number): void {
    if (value < GROUP) {
      this.#view.setInt32(this.#at, leadingGroups[value]!, true);
      this.#at += groupDigits(value);
      return;
    }
    const rest = (value / GROUP) | 0;
    this.#whole(rest);
    this.#view.setInt32(this.#at, paddedGroups[value - rest * GROUP]!, true);
    this.#at += 4;
  }

  /** A point and up to eight decimals. */
  #fraction(fraction: number, decimals: number): void {
    const view = this.#view;
    view.setInt8(this.#at, POINT);
    const at = this.#at + 1;
    const digits = fraction * POWERS_OF_TEN[GROUPED_DECIMALS_MAX - decimals]!;
    const first = (digits / GROUP) | 0;
    const second = digits - first * GROUP;
    view.setInt32(at, paddedGroups[first]!, true);
    if (second !== 0) view.setInt32(at + 4, paddedGroups[second]!, true);
    this.#at = at + (second === 0 ? significant[first]! : 4 + significant[second]!);
  }

  /** The same for numbers with more digits, which are rare. */
  #large(mantissa: number, decimals: number): void {
    const text = String(mantissa).padStart(decimals + 1, '0');
    const whole = text.slice(0, text.length - decimals);
    const fraction = decimals === 0 ? '' : text.slice(text.length - decimals).replace(/(?<!0)0+$/, '');
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
    this.#view.setFloat64(start, minuteWords[2 * minute]!, true);
    this.#view.setFloat64(start + 8, minuteWords[2 * minute + 1]!, true);
    this.#at = start + MINUTE_TEXT_BYTES;
    const seconds = ((ms - day * DAY_MS - minute * MINUTE_MS) / SECOND_MS) | 0;
    if (seconds !== 0) this.#bytes.set(encoder.encode(two(seconds)), start + SECONDS_AT);
  }
}
