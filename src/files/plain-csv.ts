// Reads a small CSV without DuckDB, where every cell is plain: no quotes, ASCII alone, whole rows, numbers of digits. Any other file is DuckDB's.
import type { ComputedColumn } from './computed-column.ts';
import type { CsvFormat } from './format.ts';
import type { ScanPlan } from './scan.ts';
import type { TextCells } from './text-column.ts';

const [LF, CR, QUOTE, MINUS, POINT, ZERO, NINE] = [0x0a, 0x0d, 0x22, 0x2d, 0x2e, 0x30, 0x39];

/** So many digits are exact as a whole number, and dividing that by a power of ten rounds once, as reading the text does. */
const EXACT_DIGITS = 15;

const powersOfTen = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** Where the cells of a file begin and end: those of row 0, then those of row 1, and so on. */
type Cells = { readonly rows: number; readonly starts: Int32Array; readonly ends: Int32Array };

/** The cells of a text below its header; null where they are not plain. */
function cellsOf(bytes: Uint8Array, { delimiter, headerLines = 1 }: CsvFormat, width: number): Cells | null {
  const mark = delimiter.charCodeAt(0);
  if (headerLines > 1 || mark >= 0x80 || width < 2) return null;
  const found = new CellList(bytes.length >> 2);
  let isHeader = headerLines === 1;
  /** How the first line ends: lines that end in different ways are a problem, which DuckDB reports. */
  let hasCr: boolean | null = null;
  let cell = 0;
  for (let at = 0, start = 0; at < bytes.length || start < bytes.length; at++) {
    // A last line may have no end.
    const byte = at < bytes.length ? bytes[at]! : LF;
    if (byte !== mark && byte !== LF) {
      if (byte === QUOTE || byte >= 0x80 || byte === 0 || (byte === CR && bytes[at + 1] !== LF)) return null;
      continue;
    }
    const endsInCr = byte === LF && at > start && bytes[at - 1] === CR;
    if (!isHeader) {
      found.add(start, endsInCr ? at - 1 : at);
      cell++;
      if (byte === LF ? cell !== width : cell === width) return null;
    }
    if (byte === LF) {
      if (at < bytes.length) {
        if (endsInCr !== (hasCr ?? endsInCr)) return null;
        hasCr = endsInCr;
      }
      isHeader = false;
      cell = 0;
    }
    start = at + 1;
  }
  // The text ends behind a delimiter.
  return cell === 0 ? { rows: found.count / width, starts: found.starts, ends: found.ends } : null;
}

/** A growing list of cells. */
class CellList {
  starts: Int32Array;
  ends: Int32Array;
  count = 0;

  constructor(room: number) {
    this.starts = new Int32Array(room + 16);
    this.ends = new Int32Array(room + 16);
  }

  add(start: number, end: number): void {
    if (this.count === this.starts.length) {
      const grown = new CellList(2 * this.count);
      grown.starts.set(this.starts);
      grown.ends.set(this.ends);
      [this.starts, this.ends] = [grown.starts, grown.ends];
    }
    this.starts[this.count] = start;
    this.ends[this.count++] = end;
  }
}

/** A column of texts: slices of the file's bytes. */
class PlainTexts implements TextCells {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;

  constructor(bytes: Uint8Array, starts: Int32Array, ends: Int32Array) {
    this.bytes = bytes;
    this.starts = starts;
    this.ends = ends;
  }

  gather(): void {
    // The cells are in the bytes as they are.
  }

  isNull(row: number): boolean {
    return this.starts[row] === this.ends[row];
  }

  repeats(row: number): boolean {
    if (row === 0) return false;
    const [from, before] = [this.starts[row]!, this.starts[row - 1]!];
    const length = this.ends[row]! - from;
    if (length === 0 || this.ends[row - 1]! - before !== length) return false;
    for (let at = 0; at < length; at++) if (this.bytes[from + at] !== this.bytes[before + at]) return false;
    return true;
  }

  text(row: number): string | null {
    return this.isNull(row) ? null : asciiText(this.bytes, this.starts[row]!, this.ends[row]!);
  }
}

const asciiText = (bytes: Uint8Array, start: number, end: number): string =>
  String.fromCharCode(...bytes.subarray(start, end));

/** The number of a cell of digits, with a sign before or a point among them; NaN for an empty cell, undefined for any other. */
function numberIn(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (start === end) return Number.NaN;
  const from = bytes[start] === MINUS ? start + 1 : start;
  let whole = 0;
  let point = -1;
  for (let at = from; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= ZERO && byte <= NINE) whole = whole * 10 + (byte - ZERO);
    else if (byte === POINT && point < 0 && at > from && at < end - 1) point = at;
    else return undefined;
  }
  const digits = end - from - (point < 0 ? 0 : 1);
  if (digits === 0) return undefined;
  if (digits > EXACT_DIGITS) return Number(asciiText(bytes, start, end));
  const value = point < 0 ? whole : whole / powersOfTen[end - point - 1]!;
  return from === start ? value : -value;
}

/** Texts that are made of others, ASCII as these; null where one of them needs SQL. */
function madeTexts(cells: PlainTexts, make: (text: string) => string | undefined): PlainTexts | null {
  const count = cells.starts.length;
  const [starts, ends] = [new Int32Array(count), new Int32Array(count)];
  let all = '';
  for (let row = 0; row < count; row++) {
    const text = cells.text(row);
    const made = text === null ? '' : make(text);
    if (made === undefined) return null;
    starts[row] = all.length;
    all += made;
    ends[row] = all.length;
  }
  return new PlainTexts(Buffer.from(all, 'latin1'), starts, ends);
}

/** Columns of a file: its texts and its numbers, as `readChunks` gives them. */
export type PlainColumns = {
  readonly count: number;
  readonly texts: readonly TextCells[];
  readonly numbers: readonly Float64Array[];
};

/** What is read of a file: columns of it, and computed ones. */
type PlainPlan = Pick<ScanPlan, 'numbers' | 'derived'> & { readonly texts: readonly string[] };

/** The cells of a text, by row and column. */
class PlainTable {
  readonly #bytes: Uint8Array;
  readonly #cells: Cells;
  readonly #header: readonly string[];
  readonly #derived: ReadonlyMap<string, ComputedColumn>;

  constructor(
    bytes: Uint8Array,
    cells: Cells,
    header: readonly string[],
    derived: readonly ComputedColumn[],
  ) {
    this.#bytes = bytes;
    this.#cells = cells;
    this.#header = header;
    this.#derived = new Map(derived.map((column) => [column.name, column]));
  }

  get rows(): number {
    return this.#cells.rows;
  }

  /** The number of a column's cell in a row, among all cells; null where the file has no such column. */
  #cellOf(name: string, row: number): number | null {
    const place = this.#header.indexOf(name);
    return place < 0 ? null : row * this.#header.length + place;
  }

  /** The texts of a column in some rows; null where they are not plain. */
  texts(name: string, row: number, count: number): PlainTexts | null {
    let cell = this.#cellOf(name, row);
    if (cell === null) {
      const { plain, inputs } = this.#derived.get(name) ?? {};
      if (plain?.kind !== 'text') return null;
      const cells = this.texts(inputs![0]!, row, count);
      return cells === null ? null : madeTexts(cells, plain.of);
    }
    const [starts, ends] = [new Int32Array(count), new Int32Array(count)];
    for (let at = 0; at < count; at++, cell += this.#header.length) {
      starts[at] = this.#cells.starts[cell]!;
      ends[at] = this.#cells.ends[cell]!;
    }
    return new PlainTexts(this.#bytes, starts, ends);
  }

  /** The numbers of a column in some rows; null where they are not plain. */
  numbers(name: string, row: number, count: number): Float64Array | null {
    let cell = this.#cellOf(name, row);
    if (cell === null) {
      const { plain, inputs } = this.#derived.get(name) ?? {};
      return plain?.kind === 'number' ? (this.numbers(inputs![0]!, row, count)?.map(plain.of) ?? null) : null;
    }
    const column = new Float64Array(count);
    for (let at = 0; at < count; at++, cell += this.#header.length) {
      const number = numberIn(this.#bytes, this.#cells.starts[cell]!, this.#cells.ends[cell]!);
      if (number === undefined) return null;
      column[at] = number;
    }
    return column;
  }
}

/** Some columns of a text by their names, in parts of at most `rowsMax` rows; null where any of their cells is not plain. */
export function plainColumns(
  bytes: Uint8Array,
  { format, header }: { readonly format: CsvFormat; readonly header: readonly string[] },
  plan: PlainPlan,
  rowsMax: number,
): PlainColumns[] | null {
  const cells = cellsOf(bytes, format, header.length);
  if (cells === null) return null;
  const table = new PlainTable(bytes, cells, header, plan.derived ?? []);
  const parts: PlainColumns[] = [];
  for (let row = 0; row < table.rows; row += rowsMax) {
    const count = Math.min(rowsMax, table.rows - row);
    const texts = wholeList(plan.texts, (name) => table.texts(name, row, count));
    const numbers = texts && wholeList(plan.numbers, (name) => table.numbers(name, row, count));
    if (texts === null || numbers === null) return null;
    parts.push({ count, texts, numbers });
  }
  return parts;
}

/** What each name gives; null where one gives null. */
function wholeList<T>(names: readonly string[], of: (name: string) => T | null): T[] | null {
  const list: T[] = [];
  for (const name of names) {
    const one = of(name);
    if (one === null) return null;
    list.push(one);
  }
  return list;
}
