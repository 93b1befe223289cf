// Bars <-> bytes: the stored block. Exact (every double comes back), versioned, checksummed, with a directory of runs.
//
// Layout, little-endian:
//   0  u32  CRC-32 of everything after it
//   4  u8   version
//   5  u8   key unit: 0 minutes, 1 days
//   6  i8   decimals of the prices, -1: plain doubles
//   7  i8   decimals of the volume, -1: plain doubles, -2: all null
//   8  i8   decimals of the vwap, likewise
//   9  u8   bit 0: some volumes are null; bit 1: some vwaps are null
//   10 u16  reserved
//   12 u32  count of bars
//   16 f64  first key, in units
//   24 directory: for every run of 128 bars u32 first key minus the block's, in units, and u32 offset of the run
//   then the runs. A run holds its columns one after the other and needs no other run to be read:
//   key steps (one byte 0: all are 1; else varints), open, close, high, low, volume, vwap.
// A scaled column holds integers: open as steps from the close before, close as steps from its open, high and low as
// distances from the greater and the lesser of the two, vwap as its distance from the close; in variable-length bytes.
import { crc32 } from 'node:zlib';
import { DECIMALS_MAX, MANTISSA_LIMIT, POWERS_OF_TEN } from '../base/decimal.ts';
import { DAY_MS, MINUTE_MS } from '../base/instant.ts';
import { type Bars, emptyBars, reserve, valueColumns } from './bars.ts';

const VERSION = 1;
const HEADER_BYTES = 24;
const ENTRY_BYTES = 8;

/** Bars in one run: what is decoded at the least. */
export const RUN_BARS = 128;

const PLAIN = -1;
const ALL_NULL = -2;
const SOME_VOLUME_NULL = 1;
const SOME_VWAP_NULL = 2;
const UNITS_MS = [MINUTE_MS, DAY_MS];

/** The bytes of a block are not what was written. The store names the block when it lets this through. */
export class DamagedBlock extends Error {
  constructor(problem: string) {
    super(`damaged block: ${problem}`);
    this.name = 'DamagedBlock';
  }
}

/** A growing buffer that a block is written to. */
class ByteWriter {
  bytes = new Uint8Array(64 * 1024);
  view = new DataView(this.bytes.buffer);
  at = 0;

  reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.at + count));
    grown.set(this.bytes);
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  double(value: number): void {
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }
}

/** An integer of either sign as one without: its sign in the lowest bit. */
const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);

/** Writes a non-negative integer below 2^53, 7 bits a byte, lowest first; gives the place behind it. */
function putVarint(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 0x1000_0000) {
    bytes[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  while (rest >= 128) {
    bytes[at++] = (rest & 127) | 128;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  return at;
}

/** Reads what was written, from a place on. */
class ByteReader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
  }

  varint(): number {
    const bytes = this.bytes;
    let byte = bytes[this.at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    let shift = 7;
    while (shift < 28) {
      byte = bytes[this.at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
      shift += 7;
    }
    let scale = 2 ** 28;
    do {
      byte = bytes[this.at++]!;
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  signed(): number {
    const value = this.varint();
    if (value < 0x4000_0000) return (value >>> 1) ^ -(value & 1);
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  double(): number {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }
}

function hasNull(values: Float64Array, count: number): boolean {
  for (let index = 0; index < count; index++) if (Number.isNaN(values[index]!)) return true;
  return false;
}

function allNull(values: Float64Array, count: number): boolean {
  for (let index = 0; index < count; index++) if (!Number.isNaN(values[index]!)) return false;
  return true;
}

/** Scaled integers of the columns at hand, kept from one block to the next. */
const scratch = {
  open: new Float64Array(0),
  high: new Float64Array(0),
  low: new Float64Array(0),
  close: new Float64Array(0),
  volume: new Float64Array(0),
  vwap: new Float64Array(0),
};

const priceColumns = ['open', 'high', 'low', 'close'] as const;

/** Index of the first value that is no integer of at most 15 digits at a scale; up to it `into` has the integers. NaN is passed over. */
function scaleColumn(values: Float64Array, into: Float64Array, count: number, decimals: number): number {
  const power = POWERS_OF_TEN[decimals]!;
  for (let index = 0; index < count; index++) {
    const value = values[index]!;
    const mantissa = Math.round(value * power);
    into[index] = mantissa;
    if (
      mantissa / power === value &&
      mantissa < MANTISSA_LIMIT &&
      mantissa > -MANTISSA_LIMIT &&
      (mantissa !== 0 || 1 / value > 0)
    )
      continue;
    if (!Number.isNaN(value)) return index;
  }
  return count;
}

/** The fewest decimals at which all values of some columns are integers of at most 15 digits, put into the scratch; else -1. */
function scale(bars: Bars, columns: readonly (keyof typeof scratch)[]): number {
  for (let decimals = 0; decimals <= DECIMALS_MAX; decimals++) {
    if (
      columns.every(
        (column) => scaleColumn(bars[column], scratch[column], bars.count, decimals) === bars.count,
      )
    )
      return decimals;
  }
  return PLAIN;
}

/** One scale for the four prices, or -1 when a price has none or a bar's extremes do not enclose its open and close. */
function priceDecimals(bars: Bars): number {
  const decimals = scale(bars, priceColumns);
  const { open, high, low, close } = bars;
  for (let index = 0; index < bars.count; index++) {
    // NaN makes a comparison false: such prices stay plain.
    const enclosed =
      high[index]! >= open[index]! &&
      high[index]! >= close[index]! &&
      low[index]! <= open[index]! &&
      low[index]! <= close[index]!;
    if (!enclosed) return PLAIN;
  }
  return decimals;
}

function columnDecimals(bars: Bars, column: 'volume' | 'vwap'): number {
  return allNull(bars[column], bars.count) ? ALL_NULL : scale(bars, [column]);
}

/** Where the vwap is expected: at the close, in the vwap's own scale. */
function expectedVwap(close: number, decimals: number): number {
  const expected = Math.round(close * POWERS_OF_TEN[decimals]!);
  return Math.abs(expected) < MANTISSA_LIMIT ? expected : 0;
}

function reserveScratch(count: number): void {
  if (scratch.open.length >= count) return;
  for (const column of valueColumns) scratch[column] = new Float64Array(count * 2);
}

const writer = new ByteWriter();

/** Encodes bars whose keys ascend strictly and are whole minutes. Up to 2^32 - 1 bars; any doubles. */
export function encodeBlock(bars: Bars): Uint8Array {
  const { count, keyMs } = bars;
  let unit = 1;
  for (let index = 0; index < count; index++) if (keyMs[index]! % DAY_MS !== 0) unit = 0;
  const unitMs = UNITS_MS[unit]!;
  reserveScratch(count);
  const prices = priceDecimals(bars);
  const volumes = columnDecimals(bars, 'volume');
  const vwaps = columnDecimals(bars, 'vwap');
  const volumeNulls = volumes >= PLAIN && hasNull(bars.volume, count);
  const vwapNulls = vwaps >= PLAIN && hasNull(bars.vwap, count);
  const runs = Math.ceil(count / RUN_BARS);
  const out = writer;
  out.at = 0;
  out.reserve(HEADER_BYTES + runs * ENTRY_BYTES);
  const firstKey = count === 0 ? 0 : keyMs[0]! / unitMs;
  out.view.setUint8(4, VERSION);
  out.view.setUint8(5, unit);
  out.view.setInt8(6, prices);
  out.view.setInt8(7, volumes);
  out.view.setInt8(8, vwaps);
  out.view.setUint8(9, (volumeNulls ? SOME_VOLUME_NULL : 0) | (vwapNulls ? SOME_VWAP_NULL : 0));
  out.view.setUint16(10, 0);
  out.view.setUint32(12, count, true);
  out.view.setFloat64(16, firstKey, true);
  out.at = HEADER_BYTES + runs * ENTRY_BYTES;
  for (let run = 0; run < runs; run++) {
    const from = run * RUN_BARS;
    const to = Math.min(from + RUN_BARS, count);
    // No column of a run takes more than nine bytes a bar.
    out.reserve((to - from) * 9 * 7 + 64);
    out.view.setUint32(HEADER_BYTES + run * ENTRY_BYTES, keyMs[from]! / unitMs - firstKey, true);
    out.view.setUint32(HEADER_BYTES + run * ENTRY_BYTES + 4, out.at, true);
    writeKeys(out, keyMs, from, to, unitMs);
    writePrices(out, bars, from, to, prices);
    writeColumn(out, bars.volume, scratch.volume, null, from, to, volumes, volumeNulls);
    writeColumn(out, bars.vwap, scratch.vwap, prices < 0 ? null : bars.close, from, to, vwaps, vwapNulls);
  }
  out.view.setUint32(0, crc32(out.bytes.subarray(4, out.at)), true);
  return out.bytes.slice(0, out.at);
}

function writeKeys(out: ByteWriter, keyMs: Float64Array, from: number, to: number, unitMs: number): void {
  let steady = true;
  for (let index = from + 1; index < to && steady; index++)
    steady = keyMs[index]! - keyMs[index - 1]! === unitMs;
  out.bytes[out.at++] = steady ? 0 : 1;
  if (steady) return;
  for (let index = from + 1; index < to; index++)
    out.at = putVarint(out.bytes, out.at, (keyMs[index]! - keyMs[index - 1]!) / unitMs - 1);
}

function writePrices(out: ByteWriter, bars: Bars, from: number, to: number, decimals: number): void {
  if (decimals < 0) {
    for (const column of [bars.open, bars.close, bars.high, bars.low]) {
      for (let index = from; index < to; index++) out.double(column[index]!);
    }
    return;
  }
  const { open, high, low, close } = scratch;
  const { bytes } = out;
  let { at } = out;
  let before = 0;
  for (let index = from; index < to; index++) {
    const step = zigzag(open[index]! - before);
    before = close[index]!;
    if (step < 128) bytes[at++] = step;
    else at = putVarint(bytes, at, step);
  }
  for (let index = from; index < to; index++) {
    const step = zigzag(close[index]! - open[index]!);
    if (step < 128) bytes[at++] = step;
    else at = putVarint(bytes, at, step);
  }
  for (let index = from; index < to; index++) {
    const above = high[index]! - Math.max(open[index]!, close[index]!);
    if (above < 128) bytes[at++] = above;
    else at = putVarint(bytes, at, above);
  }
  for (let index = from; index < to; index++) {
    const below = Math.min(open[index]!, close[index]!) - low[index]!;
    if (below < 128) bytes[at++] = below;
    else at = putVarint(bytes, at, below);
  }
  out.at = at;
}

function writeNulls(out: ByteWriter, values: Float64Array, from: number, to: number): void {
  for (let index = from; index < to; index += 8) {
    let bits = 0;
    for (let bit = 0; bit < 8 && index + bit < to; bit++) {
      if (Number.isNaN(values[index + bit]!)) bits |= 1 << bit;
    }
    out.bytes[out.at++] = bits;
  }
}

function writeColumn(
  out: ByteWriter,
  values: Float64Array,
  mantissas: Float64Array,
  expected: Float64Array | null,
  from: number,
  to: number,
  decimals: number,
  nulls: boolean,
): void {
  if (decimals === ALL_NULL) return;
  if (nulls) writeNulls(out, values, from, to);
  if (decimals < 0) {
    for (let index = from; index < to; index++) if (!Number.isNaN(values[index]!)) out.double(values[index]!);
    return;
  }
  const { bytes } = out;
  let { at } = out;
  for (let index = from; index < to; index++) {
    if (nulls && Number.isNaN(values[index]!)) continue;
    const value = zigzag(
      mantissas[index]! - (expected === null ? 0 : expectedVwap(expected[index]!, decimals)),
    );
    if (value < 128) bytes[at++] = value;
    else at = putVarint(bytes, at, value);
  }
  out.at = at;
}

type Header = {
  readonly unitMs: number;
  readonly prices: number;
  readonly volumes: number;
  readonly vwaps: number;
  readonly nulls: number;
  readonly count: number;
  readonly firstKey: number;
  readonly runs: number;
};

function readHeader(bytes: Uint8Array, view: DataView): Header {
  if (bytes.length < HEADER_BYTES) throw new DamagedBlock(`${bytes.length} bytes are less than a header`);
  if (crc32(bytes.subarray(4)) !== view.getUint32(0, true))
    throw new DamagedBlock('its checksum does not match');
  const version = view.getUint8(4);
  if (version !== VERSION) throw new DamagedBlock(`version ${version} is not known`);
  const count = view.getUint32(12, true);
  return {
    unitMs: UNITS_MS[view.getUint8(5)] ?? MINUTE_MS,
    prices: view.getInt8(6),
    volumes: view.getInt8(7),
    vwaps: view.getInt8(8),
    nulls: view.getUint8(9),
    count,
    firstKey: view.getFloat64(16, true),
    runs: Math.ceil(count / RUN_BARS),
  };
}

/** What to read of a block: keys in `[fromMs, toMs)`, and no more runs than give `atLeast` bars from that end of them. */
export type BlockRange = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly atLeast: number;
  readonly descending: boolean;
};

/** The whole block. */
export const wholeBlock: BlockRange = {
  fromMs: Number.NEGATIVE_INFINITY,
  toMs: Number.POSITIVE_INFINITY,
  atLeast: Number.POSITIVE_INFINITY,
  descending: false,
};

/**
 * Appends the bars of a block that a range asks for to `target`, in ascending order: at least `atLeast` of them where the
 * range holds as many, taken from its start, or from its end when descending.
 * @throws DamagedBlock when the bytes are not what `encodeBlock` gave.
 */
export function decodeBlock(bytes: Uint8Array, range: BlockRange, target: Bars = emptyBars()): Bars {
  const reader = new ByteReader(bytes, 0);
  const header = readHeader(bytes, reader.view);
  const firstOf = (run: number): number =>
    (header.firstKey + reader.view.getUint32(HEADER_BYTES + run * ENTRY_BYTES, true)) * header.unitMs;
  let first = 0;
  let last = header.runs - 1;
  while (first < last && firstOf(first + 1) <= range.fromMs) first++;
  while (last > first && firstOf(last) >= range.toMs) last--;
  // From the end one run more than the count needs is read, because the last may be cut by the range.
  if (range.descending) first = Math.max(first, last - Math.ceil(range.atLeast / RUN_BARS));
  const start = target.count;
  let wanted = range.descending ? Number.POSITIVE_INFINITY : start + range.atLeast;
  for (let run = first; run <= last && target.count < wanted; run++) {
    reserve(target, target.count + RUN_BARS);
    reader.at = reader.view.getUint32(HEADER_BYTES + run * ENTRY_BYTES + 4, true);
    readRun(reader, header, firstOf(run), Math.min(RUN_BARS, header.count - run * RUN_BARS), target);
    if (run === first) wanted += before(target, start, range.fromMs);
  }
  trim(target, start, range);
  return target;
}

/** How many bars from `start` on lie before an instant. */
function before(bars: Bars, start: number, fromMs: number): number {
  let at = start;
  while (at < bars.count && bars.keyMs[at]! < fromMs) at++;
  return at - start;
}

function readRun(reader: ByteReader, header: Header, firstMs: number, count: number, target: Bars): void {
  const from = target.count;
  const to = from + count;
  readKeys(reader, target.keyMs, from, to, firstMs, header.unitMs);
  readPrices(reader, target, from, to, header.prices);
  readColumn(reader, target.volume, null, from, to, header.volumes, (header.nulls & SOME_VOLUME_NULL) !== 0);
  const expected = header.prices < 0 ? null : target.close;
  readColumn(reader, target.vwap, expected, from, to, header.vwaps, (header.nulls & SOME_VWAP_NULL) !== 0);
  target.count = to;
}

function readKeys(
  reader: ByteReader,
  keyMs: Float64Array,
  from: number,
  to: number,
  firstMs: number,
  unitMs: number,
): void {
  let at = firstMs;
  keyMs[from] = at;
  const steady = reader.bytes[reader.at++] === 0;
  for (let index = from + 1; index < to; index++) {
    at += steady ? unitMs : (reader.varint() + 1) * unitMs;
    keyMs[index] = at;
  }
}

function readPrices(reader: ByteReader, bars: Bars, from: number, to: number, decimals: number): void {
  const { open, high, low, close } = bars;
  if (decimals < 0) {
    for (const column of [open, close, high, low]) {
      for (let index = from; index < to; index++) column[index] = reader.double();
    }
    return;
  }
  const power = POWERS_OF_TEN[decimals]!;
  // Opens are kept as steps from the close before, so they are held as steps until the closes are known.
  for (let index = from; index < to; index++) open[index] = reader.signed();
  let before = 0;
  for (let index = from; index < to; index++) {
    const opened = open[index]! + before;
    before = opened + reader.signed();
    open[index] = opened;
    close[index] = before;
  }
  for (let index = from; index < to; index++) {
    high[index] = (Math.max(open[index]!, close[index]!) + reader.varint()) / power;
  }
  for (let index = from; index < to; index++) {
    low[index] = (Math.min(open[index]!, close[index]!) - reader.varint()) / power;
    open[index] = open[index]! / power;
    close[index] = close[index]! / power;
  }
}

function readColumn(
  reader: ByteReader,
  values: Float64Array,
  expected: Float64Array | null,
  from: number,
  to: number,
  decimals: number,
  nulls: boolean,
): void {
  if (decimals === ALL_NULL) {
    values.fill(Number.NaN, from, to);
    return;
  }
  const bitsAt = reader.at;
  if (nulls) reader.at += Math.ceil((to - from) / 8);
  const power = decimals < 0 ? 1 : POWERS_OF_TEN[decimals]!;
  for (let index = from; index < to; index++) {
    const offset = index - from;
    if (nulls && ((reader.bytes[bitsAt + (offset >>> 3)]! >>> (offset & 7)) & 1) === 1)
      values[index] = Number.NaN;
    else if (decimals < 0) values[index] = reader.double();
    else {
      const base = expected === null ? 0 : expectedVwap(expected[index]!, decimals);
      values[index] = (base + reader.signed()) / power;
    }
  }
}

/** Drops the bars outside the range from what was appended at `start`. */
function trim(bars: Bars, start: number, range: BlockRange): void {
  const from = start + before(bars, start, range.fromMs);
  let to = bars.count;
  while (to > from && bars.keyMs[to - 1]! >= range.toMs) to--;
  if (from > start) {
    for (const column of ['keyMs', 'open', 'high', 'low', 'close', 'volume', 'vwap'] as const) {
      bars[column].copyWithin(start, from, to);
    }
  }
  bars.count = start + to - from;
}
