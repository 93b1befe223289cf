// Arrow IPC, as a file (Feather) or as a stream, as a CSV, or as lines of JSON where it has lists or
// objects: batch by batch, in constant memory. The layout is that of
// https://arrow.apache.org/docs/format/Columnar.html.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import { limits } from '../../contract/limits.ts';
import { contentProblem, FileProblem } from './file-problem.ts';
import { lineOf } from './sample.ts';

/** Something that makes no sense in the bytes. */
const damaged = (how: string): Error => new RangeError(how);

/** A table of FlatBuffers: fields by their numbers, in the order of the schema of the format. */
class Table {
  readonly #view: DataView;
  readonly #at: number;

  constructor(view: DataView, at: number) {
    this.#view = view;
    this.#at = at;
  }

  #field(number: number): number | null {
    const fields = this.#at - this.#view.getInt32(this.#at, true);
    const entry = 4 + 2 * number;
    if (entry >= this.#view.getUint16(fields, true)) return null;
    const offset = this.#view.getUint16(fields + entry, true);
    return offset === 0 ? null : this.#at + offset;
  }

  #target(number: number): number | null {
    const at = this.#field(number);
    return at === null ? null : at + this.#view.getUint32(at, true);
  }

  number(number: number, bytes: 1 | 2 | 4 | 8, otherwise = 0): number {
    const at = this.#field(number);
    if (at === null) return otherwise;
    if (bytes === 8) return Number(this.#view.getBigInt64(at, true));
    return bytes === 4
      ? this.#view.getInt32(at, true)
      : bytes === 2
        ? this.#view.getInt16(at, true)
        : this.#view.getUint8(at);
  }

  table(number: number): Table | null {
    const at = this.#target(number);
    return at === null ? null : new Table(this.#view, at);
  }

  text(number: number): string | null {
    const at = this.#target(number);
    if (at === null) return null;
    const { buffer, byteOffset } = this.#view;
    return Buffer.from(buffer, byteOffset + at + 4, this.#view.getUint32(at, true)).toString('utf8');
  }

  tables(number: number): Table[] {
    return this.#entries(number, 4).map((at) => new Table(this.#view, at + this.#view.getUint32(at, true)));
  }

  /** Pairs of numbers of 64 bits. */
  pairs(number: number): (readonly [number, number])[] {
    const long = (at: number): number => Number(this.#view.getBigInt64(at, true));
    return this.#entries(number, 16).map((at) => [long(at), long(at + 8)]);
  }

  /** The first numbers of entries of so many bytes: those of a footer, with positions of messages, have 24. */
  longs(number: number, bytes = 8): number[] {
    return this.#entries(number, bytes).map((at) => Number(this.#view.getBigInt64(at, true)));
  }

  #entries(number: number, bytes: number): number[] {
    const at = this.#target(number);
    const count = at === null ? 0 : this.#view.getUint32(at, true);
    if (count * bytes > this.#view.byteLength) throw damaged('a list is longer than the message');
    return Array.from({ length: count }, (_, index) => at! + 4 + index * bytes);
  }
}

/** The root of a message. */
function rootOf({ buffer, byteOffset, byteLength }: Buffer): Table {
  const view = new DataView(buffer, byteOffset, byteLength);
  return new Table(view, view.getUint32(0, true));
}

/** Gives the text of a value of a column; texts are Latin-1, so that they keep their bytes. */
type Cells = (row: number) => string;

/**
 * How a column is read: the buffers that it has beside that of its nulls, which one without values has not,
 * and its cells of them. A column of views has further buffers; the cells of lists and objects are JSON,
 * made of those of the columns within them.
 */
type Reading = {
  readonly buffers: number | null;
  readonly hasViews?: true;
  readonly isNested?: true;
  readonly cellsOf: (parts: readonly DataView[], inner: readonly Cells[]) => Cells;
};

/** A column; the values of a dictionary are its indexes, which are read as `index` says. */
type Column = Reading & {
  readonly name: string;
  readonly inner: readonly Column[];
  readonly dictionary: { readonly id: number; readonly index: Reading } | null;
};

const isNested = (column: Column): boolean => column.isNested === true;

/** The cells of a column as JSON, all of them texts. */
const jsonOf =
  (column: Column, cells: Cells): Cells =>
  (row) => {
    const text = cells(row);
    return text === '' ? 'null' : isNested(column) ? text : JSON.stringify(text);
  };

/** The cells of some columns as objects of JSON. */
function objectOf(columns: readonly Column[], cells: readonly Cells[]): Cells {
  const keyed = columns.map((column, at) => {
    const key = JSON.stringify(Buffer.from(column.name).toString('latin1'));
    const json = jsonOf(column, cells[at]!);
    return (row: number): string => `${key}:${json(row)}`;
  });
  return (row) => `{${keyed.map((cell) => cell(row)).join()}}`;
}

const textOf = ({ buffer, byteOffset }: DataView, start: number, end: number, bytes: number): string => {
  if (start < 0 || start > end || end > bytes) throw damaged('a text is outside its buffer');
  return Buffer.from(buffer, byteOffset + start, end - start).toString('latin1');
};

/** The shortest text of a number of 32 bits. */
function singleText(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const near = Number(value.toPrecision(digits));
    if (Math.fround(near) === value) return String(near);
  }
  return String(value);
}

const PER_SECOND = [1n, 1_000n, 1_000_000n, 1_000_000_000n];

/** A moment in a unit since 1970 as text; with `mark` Z for an instant. */
function momentText(value: bigint, unit: number, mark: string): string {
  const per = PER_SECOND[unit]!;
  const rest = ((value % per) + per) % per;
  const second = new Date(Number((value - rest) / per) * 1000).toISOString().slice(0, 19);
  const digits = rest === 0n ? '' : `.${String(rest).padStart(String(per).length - 1, '0')}`;
  return second + digits + mark;
}

/** A whole number with a point before its last digits. */
function decimalText(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const cut = digits.length - scale;
  return `${value < 0n ? '-' : ''}${digits.slice(0, cut)}${scale > 0 ? `.${digits.slice(cut)}` : ''}`;
}

/** Gives the text of a row's value in a buffer. */
type ReadText = (view: DataView, row: number) => string;

/** Values of a fixed size in one buffer. */
const fixed = (read: ReadText): Reading => ({
  buffers: 1,
  cellsOf:
    ([view]) =>
    (row) =>
      read(view!, row),
});

/** Integers by their bits and sign. */
function integerText(bits: number, isSigned: boolean): ReadText {
  if (bits === 8) return (view, row) => String(isSigned ? view.getInt8(row) : view.getUint8(row));
  if (bits === 16)
    return (view, row) => String(isSigned ? view.getInt16(row * 2, true) : view.getUint16(row * 2, true));
  if (bits === 32)
    return (view, row) => String(isSigned ? view.getInt32(row * 4, true) : view.getUint32(row * 4, true));
  return (view, row) => String(isSigned ? view.getBigInt64(row * 8, true) : view.getBigUint64(row * 8, true));
}

const integers = (type: Table): Reading => fixed(integerText(type.number(0, 4), type.number(1, 1) === 1));

/** The whole numbers of a buffer, of 32 bits or of 64. */
const wholeAt = (view: DataView, row: number, isLong: boolean): number =>
  isLong ? Number(view.getBigInt64(row * 8, true)) : view.getInt32(row * 4, true);

/** Texts whose first bytes, or all of at most 12, are beside their lengths. */
const viewed: Reading['cellsOf'] =
  ([views, ...parts]) =>
  (row) => {
    const at = row * 16;
    const length = views!.getInt32(at, true);
    if (length <= 12) return textOf(views!, at + 4, at + 4 + length, at + 16);
    const part = parts[views!.getInt32(at + 8, true)];
    const start = views!.getInt32(at + 12, true);
    if (part === undefined) throw damaged('a text is in no buffer');
    return textOf(part, start, start + length, part.byteLength);
  };

/** Lists of JSON; `ends` gives where the values of a row begin and end. */
const lists = (
  inner: readonly Column[],
  buffers: number,
  ends: (row: number, starts: DataView) => readonly [number, number],
): Reading => ({
  buffers,
  isNested: true,
  cellsOf: ([starts], [values]) => {
    const json = jsonOf(inner[0]!, values!);
    return (row) => {
      const [start, end] = ends(row, starts!);
      if (start < 0 || start > end || end - start > limits.importRowBytesMax)
        throw damaged('a list is outside its values');
      return `[${Array.from({ length: end - start }, (_, at) => json(start + at)).join()}]`;
    };
  },
});

const DAY_MS = 86_400_000;

/**
 * The reading of the values of a type; null for a kind that is not read. The numbers are those of the format.
 */
function readingOf(kind: number, type: Table, inner: readonly Column[]): Reading | null {
  const unit = type.number(0, 2);
  switch (kind) {
    case 1:
      return { buffers: null, cellsOf: () => () => '' };
    case 2:
      return integers(type);
    case 3:
      if (unit === 0) return null;
      return fixed((view, row) => {
        const value = unit === 2 ? view.getFloat64(row * 8, true) : view.getFloat32(row * 4, true);
        return Number.isNaN(value) ? '' : unit === 2 ? String(value) : singleText(value);
      });
    case 5:
    case 20: {
      const at = (view: DataView, row: number): number => wholeAt(view, row, kind === 20);
      const cellsOf: Reading['cellsOf'] =
        ([starts, bytes]) =>
        (row) =>
          textOf(bytes!, at(starts!, row), at(starts!, row + 1), bytes!.byteLength);
      return { buffers: 2, cellsOf };
    }
    case 6:
      return fixed((view, row) => String((view.getUint8(row >> 3) & (1 << (row & 7))) !== 0));
    case 7: {
      if (type.number(2, 4, 128) !== 128) return null;
      const scale = type.number(1, 4);
      return fixed((view, row) => {
        const [low, high] = [view.getBigUint64(row * 16, true), view.getBigInt64(row * 16 + 8, true)];
        return decimalText((high << 64n) | low, scale);
      });
    }
    case 8: {
      const isMs = type.number(0, 2, 1) !== 0;
      return fixed((view, row) =>
        new Date(wholeAt(view, row, isMs) * (isMs ? 1 : DAY_MS)).toISOString().slice(0, 10),
      );
    }
    case 10: {
      const mark = type.text(1) === null ? '' : 'Z';
      return fixed((view, row) => momentText(view.getBigInt64(row * 8, true), unit, mark));
    }
    case 12:
    case 21:
      return lists(inner, 1, (row, starts) => [
        wholeAt(starts, row, kind === 21),
        wholeAt(starts, row + 1, kind === 21),
      ]);
    case 13:
      return { buffers: 0, isNested: true, cellsOf: (_, cells) => objectOf(inner, cells) };
    case 16: {
      const count = type.number(0, 4);
      return lists(inner, 0, (row) => [row * count, (row + 1) * count]);
    }
    case 24:
      return { buffers: 1, hasViews: true, cellsOf: viewed };
    default:
      return null;
  }
}

/** The kinds of lists: with offsets of 32 bits, all of one length, with offsets of 64 bits. */
const LISTS: ReadonlySet<number> = new Set([12, 16, 21]);

/** A column with those within it; `known` counts the columns of the file. */
function columnOf(name: string, field: Table, known: { count: number }): Column {
  const [column, encoding] = [field.text(0) ?? '', field.table(4)];
  if (++known.count > limits.jsonKeysMax)
    throw contentProblem(name, `has more than ${limits.jsonKeysMax} columns`);
  const kind = field.number(2, 1);
  const inner = field.tables(5).map((one) => columnOf(name, one, known));
  const reading = readingOf(kind, field.table(3)!, inner);
  if (reading === null)
    throw contentProblem(
      name,
      `the column ${column} has an Arrow type that is not read. Write only columns of numbers, texts, times, lists and objects`,
    );
  if (LISTS.has(kind) && inner.length !== 1) throw damaged('a list has no values');
  const index = encoding?.table(1) ?? null;
  const indexes = index === null ? fixed(integerText(32, true)) : integers(index);
  const dictionary = encoding === null ? null : { id: encoding.number(0, 8), index: indexes };
  return { name: column, inner, dictionary, ...reading };
}

/** The bytes of a frame of LZ4 (lz4_Frame_format.md). */
function unpackLz4(frame: Buffer, bytes: number): Buffer {
  const output = Buffer.alloc(bytes);
  const flags = frame.readUInt8(4);
  let [at, to] = [7 + ((flags & 8) === 0 ? 0 : 8) + ((flags & 1) === 0 ? 0 : 4), 0];
  if (frame.readUInt32LE(0) !== 0x184d_2204) throw damaged('no frame of LZ4');
  for (let size = frame.readUInt32LE(at); size !== 0; size = frame.readUInt32LE(at)) {
    const end = at + 4 + (size & 0x7fff_ffff);
    at += 4;
    if (end > frame.length) throw damaged('a block of LZ4 is cut off');
    if (size > 0x7fff_ffff) to += frame.copy(output, to, at, end);
    else to = unpackBlock(frame.subarray(at, end), output, to);
    at = end + ((flags & 16) === 0 ? 0 : 4);
  }
  if (to !== bytes) throw damaged('a buffer has another size than it says');
  return output;
}

/** Unpacks a block of LZ4 behind what was unpacked before it; the new end. */
function unpackBlock(block: Buffer, output: Buffer, start: number): number {
  let [at, to] = [0, start];
  const length = (nibble: number): number => {
    let count = nibble;
    for (let more = nibble === 15 ? 255 : 0; more === 255; count += more) more = block.readUInt8(at++);
    return count;
  };
  for (;;) {
    const token = block.readUInt8(at++);
    const literals = length(token >> 4);
    if (at + literals > block.length || to + literals > output.length) throw damaged('LZ4 beyond its end');
    to += block.copy(output, to, at, at + literals);
    at += literals;
    if (at === block.length) return to;
    const from = to - block.readUInt16LE(at);
    at += 2;
    const copied = length(token & 15) + 4;
    if (from < 0 || from === to || to + copied > output.length) throw damaged('LZ4 outside its output');
    for (let count = 0; count < copied; count++) output[to + count] = output[from + count]!;
    to += copied;
  }
}

/** Columns and those within them. */
const withInner = (columns: readonly Column[]): readonly Column[] =>
  columns.flatMap((column) => [column, ...withInner(column.inner)]);

/** Bytes that the values of a batch may have. */
const BATCH_BYTES_MAX = 256 * 1024 * 1024;

/** The cells of the columns of a batch, whose body is `bytes` long and begins at `start` of the file. */
function cellsOf(
  batch: Table,
  columns: readonly Column[],
  dictionaries: ReadonlyMap<number, Cells>,
  read: (start: number, bytes: number) => Buffer,
): Cells[] {
  const [nodes, buffers, compression] = [batch.pairs(1), batch.pairs(2), batch.table(3)];
  const views = batch.longs(4);
  let left = BATCH_BYTES_MAX;
  const viewOf = (buffer: readonly [number, number] | undefined): DataView => {
    if (buffer === undefined) throw damaged('a batch has other buffers than its columns');
    const [start, bytes] = buffer;
    let data = read(start, bytes);
    const size = compression === null || bytes === 0 ? -1 : Number(data.readBigInt64LE(0));
    left -= size < 0 ? bytes : size;
    if (left < 0) throw damaged(`a batch has more than ${BATCH_BYTES_MAX} bytes`);
    if (compression !== null && bytes > 0) {
      data = data.subarray(8);
      if (size >= 0)
        data =
          compression!.number(0, 1) === 0
            ? unpackLz4(data, size)
            : zstdDecompressSync(data, { maxOutputLength: size + 1 });
    }
    return new DataView(data.buffer, data.byteOffset, data.byteLength);
  };
  let next = 0;
  // Before the columns within one are its own buffers.
  const cellsIn = (column: Column): Cells => {
    const { dictionary } = column;
    const reading: Reading = dictionary?.index ?? column;
    const [, nullCount] = nodes.shift() ?? [0, 0];
    if (reading.buffers === null) return reading.cellsOf([], []);
    const nulls = viewOf(buffers[next++]);
    const more = reading.hasViews === true ? views.shift()! : 0;
    const parts = Array.from({ length: reading.buffers + more }, () => viewOf(buffers[next++]));
    const inner = dictionary === null ? column.inner.map(cellsIn) : [];
    const own = reading.cellsOf(parts, inner);
    const cells: Cells = (row) =>
      nullCount > 0 && (nulls.getUint8(row >> 3) & (1 << (row & 7))) === 0 ? '' : own(row);
    if (dictionary === null) return cells;
    const values = dictionaries.get(dictionary.id);
    if (values === undefined) throw damaged('a dictionary is missing');
    return (row) => (cells(row) === '' ? '' : values(Number(cells(row))));
  };
  const found = columns.map(cellsIn);
  if (next !== buffers.length) throw damaged('a batch has other buffers than its columns');
  return found;
}

const MARK = 'ARROW1';
const [SCHEMA, DICTIONARY, BATCH] = [1, 2, 3];

/** True if a file begins as Arrow IPC does: as a file, or as a stream whose first message is short. */
export const isArrow = (start: Buffer): boolean =>
  start.toString('latin1', 0, 6) === MARK ||
  (start.length > 8 && start.readUInt32LE() === 0xffff_ffff && start.readUInt32LE(4) < 0x100_0000);

/**
 * Writes the rows of Arrow IPC as lines of a CSV; the names of the columns. Where it has lists or objects,
 * as lines of JSON; null. @throws FileProblem where it is cut off or damaged, or has a kind of column that
 * is not read
 */
export function arrowRows(name: string, path: string, add: (line: string) => void): string[] | null {
  const file = openSync(path, 'r');
  try {
    return messagesTo(name, file, add);
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    const { message, code = '' } = error as NodeJS.ErrnoException;
    if (!(error instanceof RangeError) && !/^(ERR_|ZSTD_|Z_)/.test(code)) throw error;
    throw contentProblem(name, `the Arrow data is damaged: ${message}. Nothing was imported.`, error);
  } finally {
    closeSync(file);
  }
}

function messagesTo(name: string, file: number, add: (line: string) => void): string[] | null {
  const { size } = fstatSync(file);
  const read = (start: number, bytes: number): Buffer => {
    if (start < 0 || bytes < 0 || start + bytes > size || bytes > BATCH_BYTES_MAX)
      throw damaged('it is incomplete: the file was cut off');
    const data = Buffer.alloc(bytes);
    if (readSync(file, data, 0, bytes, start) !== bytes)
      throw damaged('it is incomplete: the file was cut off');
    return data;
  };
  const isFile = read(0, MARK.length).toString('latin1') === MARK;
  if (isFile && read(size - MARK.length, MARK.length).toString('latin1') !== MARK)
    throw damaged('it is incomplete: the file was cut off');
  let columns = null as Column[] | null;
  const take = (schema: Table): void => {
    if (schema.number(0, 2) !== 0) throw contentProblem(name, 'is big-endian Arrow, which is not read');
    if (columns !== null) return;
    const known = { count: 0 };
    columns = schema.tables(1).map((field) => columnOf(name, field, known));
    if (!columns.some(isNested))
      add(lineOf(columns.map((column) => Buffer.from(column.name).toString('latin1'))).slice(0, -2));
  };
  // The footer of a file repeats the schema, which some programs write there alone, and says where its messages
  // are: what is before them is none for some.
  const end = isFile ? size - MARK.length - 4 - read(size - MARK.length - 4, 4).readUInt32LE() : Infinity;
  const footer = isFile ? rootOf(read(end, size - MARK.length - 4 - end)) : null;
  if (footer !== null) take(footer.table(1)!);
  const dictionaries = new Map<number, Cells>();
  const places = footer === null ? [0] : [...footer.longs(2, 24), ...footer.longs(3, 24)];
  for (let next = 0; next < places.length; next++) {
    const at = places[next]!;
    const mark = read(at, 8);
    const bytes = mark.readUInt32LE(4);
    if (mark.readUInt32LE() !== 0xffff_ffff) throw damaged('a message does not begin where it should');
    if (bytes === 0) break;
    const message = rootOf(read(at + 8, bytes));
    const [kind, header, start] = [message.number(1, 1), message.table(2)!, at + 8 + bytes];
    const body = message.number(3, 8);
    read(start + body, 0);
    const inBody = (from: number, count: number): Buffer => {
      if (from + count > body) throw damaged('a buffer is outside its message');
      return read(start + from, count);
    };
    if (kind === SCHEMA) take(header);
    else if (kind === DICTIONARY && columns !== null) {
      const id = header.number(0, 8);
      if (header.number(2, 1) !== 0)
        throw contentProblem(name, 'has a dictionary in parts, which is not read. Write it as Parquet');
      const column = withInner(columns).find(({ dictionary }) => dictionary?.id === id)!;
      const values = { ...column, dictionary: null };
      dictionaries.set(id, cellsOf(header.table(1)!, [values], dictionaries, inBody)[0]!);
    } else if (kind === BATCH && columns !== null) {
      const cells = cellsOf(header, columns, dictionaries, inBody);
      const lineAt = columns.some(isNested)
        ? objectOf(columns, cells)
        : (row: number): string => lineOf(cells.map((cell) => cell(row))).slice(0, -2);
      const count = header.number(0, 8);
      for (let row = 0; row < count; row++) add(lineAt(row));
    } else throw damaged(`there is a message of the kind ${kind}`);
    if (footer === null) places.push(start + body);
  }
  if (columns === null || columns.length === 0) throw damaged('it has no columns');
  return columns.some(isNested) ? null : columns.map((column) => column.name);
}
