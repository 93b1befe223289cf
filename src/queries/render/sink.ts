// A growing buffer of bytes that an answer is written into: texts here, rows of bars by `row-head.ts` and
// `number-column.ts`; and one cell of a CSV.

const encoder = new TextEncoder();

/** The most bytes that writers of words write past their text; the next write covers them. */
const OVERHANG = 8;

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

  /** Writes the text; the place after it. Up to seven bytes more are written. */
  write(view: DataView, at: number): number {
    const { words } = this;
    for (let index = 0, to = at; index < words.length; index++, to += 8)
      view.setFloat64(to, words[index]!, true);
    return at + this.length;
  }
}

/**
 * A buffer that is filled and then copied as one piece. Each thread reuses one for all its answers. Writers
 * of rows call `reserve`, write into `view` from `at` on, and move `at`.
 */
export class Sink {
  #bytes: Uint8Array = new Uint8Array(256 * 1024);
  /** The buffer: another one after `reserve` or `text`. */
  view = new DataView(this.#bytes.buffer);
  /** Bytes written since `start`. */
  at = 0;

  start(): void {
    this.at = 0;
  }

  /** Grows the buffer for `count` more bytes. */
  reserve(count: number): void {
    if (this.at + count + OVERHANG <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.at + count + OVERHANG));
    grown.set(this.#bytes.subarray(0, this.at));
    this.#bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  /** A copy of the written bytes, in memory from `allocate`. */
  take(allocate: (length: number) => Uint8Array): Uint8Array {
    const taken = allocate(this.at);
    taken.set(this.#bytes.subarray(0, this.at));
    return taken;
  }

  /** Text of any length. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.at += encoder.encodeInto(text, this.#bytes.subarray(this.at)).written;
  }
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/**
 * A text as a cell: quoted where RFC 4180 demands it, empty for null, `""` for the empty string (contract
 * 5.1).
 */
export function csvCell(value: string | null): string {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? quoted(value) : value;
}

/**
 * Text that a spreadsheet runs: a sign of a formula, plain or full-width, after invisible characters; and
 * text that may become that, because some programs drop the first character (OWASP, CSV Injection).
 */
const FORMULA = /^(?:[\t\r\n\0]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;

/**
 * As `csvCell`, with an apostrophe before text that a spreadsheet would run, and quoted where it holds what
 * other programs separate by.
 */
function safeCsvCell(value: string | null): string {
  if (value === null) return '';
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[;\t]/.test(text) ? quoted(text) : csvCell(text);
}

/** Gives the function that turns texts into cells: as they are, or safe for spreadsheets (contract 5.1). */
export const csvCellOf = (isSafe: boolean): typeof csvCell => (isSafe ? safeCsvCell : csvCell);
