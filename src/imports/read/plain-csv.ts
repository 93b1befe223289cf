// Reads a CSV without DuckDB, up to its first row that is not plain: no quotes, ASCII alone, as many cells as
// columns, numbers of digits. To find its cells, and to read numbers from their digits, is the innermost loop
// of a large import.
import { closeSync, openSync, readSync } from 'node:fs';
import type { TextCells } from './chunk.ts';
import type { CsvFormat } from './format.ts';
import type { ComputedColumn, ReadableFile, ReadPlan } from './scan.ts';

const [LF, CR, QUOTE, MINUS, POINT, ZERO, NINE] = [0x0a, 0x0d, 0x22, 0x2d, 0x2e, 0x30, 0x39];

/**
 * So many digits are exact as a whole number, and dividing that by a power of ten rounds once, as reading the
 * text does.
 */
const EXACT_DIGITS = 15;

const powersOfTen = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** The way in which a column is read. */
type Role = 'ignored' | 'text' | 'number';

const noBytes = new Uint8Array(0);

/** A column of texts: slices of bytes. */
class PlainTexts implements TextCells {
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
class PlainCells {
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

/** The most rows that are given at a time. */
const ROWS_MAX = 8_192;

/** Columns of some rows: texts and numbers, as `readChunks` gives them. The next rows overwrite them. */
type PlainColumns = {
  readonly count: number;
  readonly texts: readonly TextCells[];
  readonly numbers: readonly Float64Array[];
};

/** What is read of a file: columns of it, and computed ones. */
type PlainPlan = Omit<ReadPlan, 'careful'>;

/** A CSV on the disk, or in memory. */
type PlainFile = Pick<ReadableFile, 'path' | 'content' | 'header'> & { readonly format: CsvFormat };

/**
 * The rows of a CSV from the first one on, as columns of a plan; at the end whether these are all of its
 * rows.
 */
export function* plainRows(file: PlainFile, plan: PlainPlan): Generator<PlainColumns, boolean> {
  const { headerLines = 1, delimiter } = file.format;
  const table = headerLines > 1 || !isPlainDelimiter(delimiter) ? null : PlainTable.of(file.header, plan);
  if (table === null) return false;
  let cells: PlainCells | null = null;
  const pieces = linePieces(file.path, file.content);
  for (let next = pieces.next(); ; next = pieces.next()) {
    if (next.done === true) return next.value;
    const { bytes, to, hasCr } = next.value;
    let at = 0;
    if (cells === null) {
      cells = new PlainCells(table.roles, ROWS_MAX, delimiter.charCodeAt(0), hasCr);
      if (headerLines === 1) at = bytes.indexOf(LF) + 1;
      if (!isPlainHeader(bytes.subarray(0, Math.max(0, at - (hasCr ? 2 : 1))))) return false;
    }
    while (at < to) {
      const isPlain = cells.read(bytes, at, to);
      const columns = table.columnsOf(cells);
      if (columns === null) return false;
      if (columns.count > 0) yield columns;
      if (!isPlain) return false;
      ({ at } = cells);
    }
  }
}

/** A number ends at the delimiter: so that must be none of its characters. */
const isPlainDelimiter = (delimiter: string): boolean =>
  delimiter.length === 1 && delimiter < '\x80' && !/[-.\d"\r\n\0]/.test(delimiter);

const isPlainHeader = (line: Uint8Array): boolean =>
  line.every((byte) => byte > 0 && byte < 0x80 && byte !== CR && byte !== QUOTE);

/** Texts that are made of others, ASCII as these; null where one of them needs SQL. */
function madeTexts(
  cells: TextCells,
  count: number,
  make: (text: string) => string | undefined,
): PlainTexts | null {
  const column = new PlainTexts(count);
  let all = '';
  for (let row = 0; row < count; row++) {
    const text = cells.text(row);
    const made = text === null ? '' : make(text);
    if (made === undefined) return null;
    column.starts[row] = all.length;
    all += made;
    column.ends[row] = all.length;
  }
  column.bytes = Buffer.from(all, 'latin1');
  return column;
}

/** Numbers that are made of others; null where one of them needs SQL. */
function madeNumbers(column: Float64Array, make: (value: number) => number | undefined): Float64Array | null {
  const all = new Float64Array(column.length);
  for (let row = 0; row < column.length; row++) {
    const made = make(column[row]!);
    if (made === undefined) return null;
    all[row] = made;
  }
  return all;
}

/** Which columns of a file a plan reads, and what it makes of them. */
class PlainTable {
  /** By the place of the column in the file. */
  readonly roles: readonly Role[];
  readonly #header: readonly string[];
  readonly #plan: PlainPlan;
  readonly #derived: ReadonlyMap<string, ComputedColumn>;

  private constructor(header: readonly string[], plan: PlainPlan) {
    this.#header = header;
    this.#plan = plan;
    this.#derived = new Map(plan.derived?.map((column) => [column.name, column]));
    const [texts, numbers] = [plan.texts, plan.numbers].map(
      (names) => new Set(names.map((name) => this.#placeOf(name))),
    );
    this.roles = header.map((_, place) =>
      numbers!.has(place) ? 'number' : texts!.has(place) ? 'text' : 'ignored',
    );
  }

  /** Null where only SQL computes a column, or one is both text and number. */
  static of(header: readonly string[], plan: PlainPlan): PlainTable | null {
    // An empty line would be a row of one empty cell.
    if (header.length < 2) return null;
    const table = new PlainTable(header, plan);
    const isPlain = plan.texts.every((name) => table.#isReadAs('text', name));
    return isPlain && plan.numbers.every((name) => table.#isReadAs('number', name)) ? table : null;
  }

  #isReadAs(role: Role, name: string): boolean {
    const derived = this.#derived.get(name);
    return (
      this.roles[this.#placeOf(name)] === role && (derived === undefined || derived.plain?.kind === role)
    );
  }

  /** The place of a column, or of the one that it is computed from. */
  #placeOf(name: string): number {
    return this.#header.indexOf(this.#derived.get(name)?.inputs[0] ?? name);
  }

  /** The plan's columns of rows that were read; null where one of them needs SQL. */
  columnsOf(cells: PlainCells): PlainColumns | null {
    const { count } = cells;
    const texts = this.#plan.texts.map((name) => {
      const [column, plain] = [cells.texts[this.#placeOf(name)]!, this.#derived.get(name)?.plain];
      return plain?.kind === 'text' ? madeTexts(column, count, plain.of) : column;
    });
    const numbers = this.#plan.numbers.map((name) => {
      const column = cells.numbers[this.#placeOf(name)]!.subarray(0, count);
      const plain = this.#derived.get(name)?.plain;
      return plain?.kind === 'number' ? madeNumbers(column, plain.of) : column;
    });
    const isMade = <T>(columns: (T | null)[]): columns is T[] => !columns.includes(null);
    return isMade<TextCells>(texts) && isMade<Float64Array>(numbers) ? { count, texts, numbers } : null;
  }
}

/** Bytes that are read at a time: they stay in the processor's cache while their cells are read. */
const PIECE_BYTES = 256 * 1024;

/** Whole lines, `bytes[0 .. to)`; the next ones overwrite them. */
type Lines = {
  readonly bytes: Uint8Array;
  readonly to: number;
  /** True if the first line of the text ends in CR LF. */
  readonly hasCr: boolean;
};

/**
 * The lines of a text, a last one without an end as if it had one; at the end false where a line is too long
 * for a piece.
 */
function* linePieces(path: string, content: Uint8Array | undefined): Generator<Lines, boolean> {
  if (content === undefined) return yield* piecesOfFile(path);
  if (content.length > 0) yield endedLines(content, content.length, firstLineHasCr(content));
  return true;
}

function* piecesOfFile(path: string): Generator<Lines, boolean> {
  const file = openSync(path, 'r');
  try {
    const bytes = new Uint8Array(PIECE_BYTES);
    let hasCr: boolean | null = null;
    for (let rest = 0; ; ) {
      const count = readSync(file, bytes, rest, PIECE_BYTES - rest, null);
      const filled = rest + count;
      hasCr ??= firstLineHasCr(bytes);
      if (count === 0 && rest > 0) yield endedLines(bytes, rest, hasCr);
      if (count === 0) return true;
      const to = bytes.subarray(0, filled).lastIndexOf(LF) + 1;
      if (to > 0) yield { bytes, to, hasCr };
      else if (filled === PIECE_BYTES) return false;
      bytes.copyWithin(0, to, filled);
      rest = filled - to;
    }
  } finally {
    closeSync(file);
  }
}

const firstLineHasCr = (bytes: Uint8Array): boolean => bytes[bytes.indexOf(LF) - 1] === CR;

/** The lines of `bytes[0 .. to)`; a copy where the last one has no end. */
function endedLines(bytes: Uint8Array, to: number, hasCr: boolean): Lines {
  if (bytes[to - 1] === LF) return { bytes, to, hasCr };
  const ended = new Uint8Array(to + 2);
  ended.set(bytes.subarray(0, to));
  ended.set(hasCr ? [CR, LF] : [LF], to);
  return { bytes: ended, to: to + (hasCr ? 2 : 1), hasCr };
}
