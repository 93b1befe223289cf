// Finds the cells of plain rows of a CSV, and reads numbers from their digits: the innermost loop of a large
// import.
import type { TextCells } from './chunk.ts';

const [LF, CR, QUOTE, MINUS, POINT, ZERO, NINE] = [0x0a, 0x0d, 0x22, 0x2d, 0x2e, 0x30, 0x39];

/**
 * So many digits are exact as a whole number, and dividing that by a power of ten rounds once, as reading the
 * text does.
 */
const EXACT_DIGITS = 15;

const powersOfTen = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** The way in which a column is read. */
export type Role = 'ignored' | 'text' | 'number';

const noBytes = new Uint8Array(0);

/** A column of texts: slices of bytes. */
export class PlainTexts implements TextCells {
  bytes: Uint8Array = noBytes;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** 1 where a cell is surely the same as the one before it. */
  readonly same: Uint8Array;

  constructor(room: number) {
    this.starts = new Int32Array(room);
    this.ends = new Int32Array(room);
    this.same = new Uint8Array(room);
  }

  gather(): void {
    // The cells are in the bytes as they are.
  }

  isNull(row: number): boolean {
    return this.starts[row] === this.ends[row];
  }

  repeats(row: number): boolean {
    return this.same[row] === 1;
  }

  text(row: number): string | null {
    return this.isNull(row) ? null : asciiText(this.bytes, this.starts[row]!, this.ends[row]!);
  }
}

const asciiText = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, end));

/** The columns of a CSV, some rows at a time. */
export class PlainCells {
  /** Rows that the columns have. */
  count = 0;
  /** Where the first row begins that was not read. */
  at = 0;
  /** By the place of the column in the file; null for any other role. */
  readonly texts: readonly (PlainTexts | null)[];
  readonly numbers: readonly (Float64Array | null)[];
  readonly #room: number;
  readonly #width: number;
  readonly #hasCr: boolean;
  readonly #mark: number;
  /** 1 for each byte that ends a cell, or that no plain cell has. */
  readonly #stops = new Uint8Array(256).fill(1, 0x80);

  /** `room` is the most rows at a time; `mark` separates cells; `hasCr`: lines end in CR LF. */
  constructor(roles: readonly Role[], room: number, mark: number, hasCr: boolean) {
    this.texts = roles.map((role) => (role === 'text' ? new PlainTexts(room) : null));
    this.numbers = roles.map((role) => (role === 'number' ? new Float64Array(room) : null));
    this.#room = room;
    this.#width = roles.length;
    this.#mark = mark;
    this.#hasCr = hasCr;
    for (const stop of [0, LF, CR, QUOTE, mark]) this.#stops[stop] = 1;
  }

  /**
   * Reads rows from `from` on, until the columns are full or at `to`, where a line ends: true. False at the
   * first row that is not plain. Behind `to` must be no line that goes on.
   */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    for (const column of this.texts) if (column !== null) column.bytes = bytes;
    this.count = 0;
    this.at = from;
    while (this.at < to && this.count < this.#room) {
      const end = this.#row(bytes, this.at, this.count);
      if (end < 0) return false;
      this.at = end;
      this.count++;
    }
    return true;
  }

  /** Reads one row; where the next one begins, -1 where it is not plain. */
  #row(bytes: Uint8Array, from: number, row: number): number {
    const last = this.#width - 1;
    let at = from;
    for (let place = 0; place <= last; place++) {
      const numbers = this.numbers[place]!;
      at = numbers === null ? this.#text(bytes, at, place, row) : numberCell(bytes, at, numbers, row);
      const end = place < last ? this.#mark : this.#hasCr ? CR : LF;
      if (at < 0 || bytes[at] !== end) return -1;
      at++;
    }
    if (!this.#hasCr) return at;
    return bytes[at] === LF ? at + 1 : -1;
  }

  /** Finds the end of a text. */
  #text(bytes: Uint8Array, from: number, place: number, row: number): number {
    const stops = this.#stops;
    const column = this.texts[place]!;
    let at = from;
    if (column === null) {
      while (stops[bytes[at]!] === 0) at++;
      return at;
    }
    const { starts, ends } = column;
    // The bytes that are those of the cell before are plain: its end is where they differ, or behind them.
    let before = row === 0 ? 0 : starts[row - 1]!;
    const end = row === 0 ? 0 : ends[row - 1]!;
    while (before < end && bytes[at] === bytes[before]) {
      at++;
      before++;
    }
    const common = at;
    while (stops[bytes[at]!] === 0) at++;
    starts[row] = from;
    ends[row] = at;
    column.same[row] = before === end && at === common && at > from ? 1 : 0;
    return at;
  }
}

/**
 * Reads digits, with a sign before or a point among them: NaN for none. The end of the cell, -1 where it has
 * anything else.
 */
function numberCell(bytes: Uint8Array, start: number, into: Float64Array, row: number): number {
  const from = bytes[start] === MINUS ? start + 1 : start;
  let at = from;
  let whole = 0;
  let byte = bytes[at]!;
  while (byte >= ZERO && byte <= NINE) {
    whole = whole * 10 + (byte - ZERO);
    byte = bytes[++at]!;
  }
  let digits = at - from;
  let decimals = 0;
  if (byte === POINT) {
    const point = at;
    byte = bytes[++at]!;
    while (byte >= ZERO && byte <= NINE) {
      whole = whole * 10 + (byte - ZERO);
      byte = bytes[++at]!;
    }
    decimals = at - point - 1;
    if (digits === 0 || decimals === 0) return -1;
    digits += decimals;
  }
  if (digits === 0) {
    if (from !== start) return -1;
    into[row] = Number.NaN;
  } else if (digits > EXACT_DIGITS) into[row] = Number(asciiText(bytes, start, at));
  else {
    const value = decimals === 0 ? whole : whole / powersOfTen[decimals]!;
    into[row] = from === start ? value : -value;
  }
  return at;
}
