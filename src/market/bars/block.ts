// The stored block: bars as bytes, and how they are read, whole or in part. Exact (every double comes
// back), versioned, checksummed, with a directory of runs.
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
//   key steps less one, open, close, high, low, volume, vwap.
// A scaled column holds integers: open as steps from the close before, close as steps from its open, high and
// low as distances from the greater and the lesser of the two, vwap as its distance from the close. Integers
// of a run are u8 width, then each as a signed integer of so many bytes: 0 (all are 0), 1, 2, 3, 4, 6, or 8
// for a double. Null is 0 in them. A plain column holds doubles, nulls left out. A column with nulls begins
// with a bitmap of them.
import { crc32 } from 'node:zlib';
import { MANTISSA_LIMIT, POWERS_OF_TEN } from '../../base/decimal.ts';
import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import { type Interval, intervalMinutes } from '../../contract/interval.ts';
import { appendBars, type Bars, copyRun, emptyBars, lowerBound, reserve } from './columns.ts';

export const VERSION = 2;
export const HEADER_BYTES = 24;
export const ENTRY_BYTES = 8;

/** Bars in one run, the smallest unit that is decoded. */
export const RUN_BARS = 128;
export const ALL_NULL = -2;

export const SOME_VOLUME_NULL = 1;
export const SOME_VWAP_NULL = 2;

export const UNITS_MS = [MINUTE_MS, DAY_MS];

export const TWO_TO_32 = 2 ** 32;

/**
 * The bytes of a block were changed after they were written. The reader of the store adds the block's name.
 */
export class DamagedBlock extends Error {
  override readonly name = 'DamagedBlock';
  readonly problem: string;

  constructor(problem: string) {
    super(`damaged block: ${problem}`);
    this.problem = problem;
  }
}

/** Gives the expected vwap: the close, in the vwap's own scale, a power of ten. */
export function expectedVwap(close: number, power: number): number {
  const expected = Math.round(close * power);
  return Math.abs(expected) < MANTISSA_LIMIT ? expected : 0;
}

/** Days that one block of an interval spans; null where the whole series is one block. */
export function bucketDays(interval: Interval): number | null {
  const minutes = intervalMinutes(interval);
  if (minutes === null) return interval === 'DAY' ? 1024 : null;
  if (minutes < 5) return 1;
  return minutes < 30 ? 7 : 91;
}

/** The bucket of a bar's key: a whole number, ascending with time. */
export function bucketOf(interval: Interval, keyMs: number): number {
  const days = bucketDays(interval);
  return days === null ? 0 : Math.floor(keyMs / (days * DAY_MS));
}

/** Reads the bytes of a block from an offset on. */
class ByteReader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  double(): number {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  /** Reads integers of one width into the elements `from` (included) to `to` (not) of a column. */
  integers(values: Float64Array, from: number, to: number): void {
    const { view } = this;
    const width = this.bytes[this.at]!;
    let at = this.at + 1;
    this.at = at + width * (to - from);
    if (width === 0) values.fill(0, from, to);
    else if (width === 1) for (let index = from; index < to; index++) values[index] = view.getInt8(at++);
    else if (width === 2)
      for (let index = from; index < to; index++, at += 2) values[index] = view.getInt16(at, true);
    else if (width === 3)
      for (let index = from; index < to; index++, at += 3)
        values[index] = view.getUint16(at, true) + view.getInt8(at + 2) * 0x1_0000;
    else if (width === 4)
      for (let index = from; index < to; index++, at += 4) values[index] = view.getInt32(at, true);
    else if (width === 6)
      for (let index = from; index < to; index++, at += 6)
        values[index] = view.getUint32(at, true) + view.getInt16(at + 4, true) * TWO_TO_32;
    else if (width === 8)
      for (let index = from; index < to; index++, at += 8) values[index] = view.getFloat64(at, true);
    else throw new DamagedBlock(`integers of ${width} bytes are not known`);
  }
}

function readHeader({ bytes, view }: ByteReader) {
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

/** Counts the bars that a block holds. */
export function blockCount(bytes: Uint8Array): number {
  return readHeader(new ByteReader(bytes)).count;
}

/**
 * The part of a block to read: keys in `[fromMs, toMs)`, and only as many runs from one end as hold `atLeast`
 * bars.
 */
type BlockRange = {
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
 * Appends the bars of a range of a block to `target`, in ascending order: at least `atLeast` where the range
 * has so many, from its start, or from its end when descending.
 * @throws DamagedBlock when the bytes are not those of `encodeBlock`.
 */
export function decodeBlock(bytes: Uint8Array, range: BlockRange, target: Bars = emptyBars()): Bars {
  const reader = new ByteReader(bytes);
  const header = readHeader(reader);
  const firstOf = (run: number): number =>
    (header.firstKey + reader.view.getUint32(HEADER_BYTES + run * ENTRY_BYTES, true)) * header.unitMs;
  let first = 0;
  let last = header.runs - 1;
  while (first < last && firstOf(first + 1) <= range.fromMs) first++;
  while (last > first && firstOf(last) >= range.toMs) last--;
  // From the end, read one run more than the count needs: the range may cut the last one.
  if (range.descending) first = Math.max(first, last - Math.ceil(range.atLeast / RUN_BARS));
  const wanted = range.descending ? Number.POSITIVE_INFINITY : target.count + range.atLeast;
  for (let run = first; run <= last && target.count < wanted; run++) {
    reader.at = reader.view.getUint32(HEADER_BYTES + run * ENTRY_BYTES + 4, true);
    const count = Math.min(RUN_BARS, header.count - run * RUN_BARS);
    readRun(reader, header, { firstMs: firstOf(run), count, range }, target);
  }
  return target;
}

type Header = ReturnType<typeof readHeader>;

/** A run of which a part is wanted is read here first. */
const spare = emptyBars(RUN_BARS);

/** Appends the bars of one run that are in a range. */
function readRun(
  reader: ByteReader,
  header: Header,
  { firstMs, count, range }: { firstMs: number; count: number; range: BlockRange },
  target: Bars,
): void {
  const { keyMs } = spare;
  reader.integers(keyMs, 1, count);
  let atMs = firstMs;
  keyMs[0] = atMs;
  for (let index = 1; index < count; index++) {
    atMs += (keyMs[index]! + 1) * header.unitMs;
    keyMs[index] = atMs;
  }
  spare.count = count;
  const [from, to] = [lowerBound(spare, range.fromMs), lowerBound(spare, range.toMs)];
  if (to - from === count) {
    const at = target.count;
    reserve(target, at + count);
    copyRun(target.keyMs, at, keyMs, 0, count);
    readValues(reader, header, target, at, at + count);
    target.count = at + count;
  } else if (from < to) {
    readValues(reader, header, spare, 0, count);
    appendBars(target, spare, from, to);
  }
}

function readValues(reader: ByteReader, header: Header, bars: Bars, from: number, to: number): void {
  readPrices(reader, bars, from, to, header.prices);
  readColumn(reader, bars.volume, null, from, to, header.volumes, (header.nulls & SOME_VOLUME_NULL) !== 0);
  const expected = header.prices < 0 ? null : bars.close;
  readColumn(reader, bars.vwap, expected, from, to, header.vwaps, (header.nulls & SOME_VWAP_NULL) !== 0);
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
  for (const column of [open, close, high, low]) reader.integers(column, from, to);
  let before = 0;
  for (let index = from; index < to; index++) {
    const opened = before + open[index]!;
    before = opened + close[index]!;
    open[index] = opened / power;
    close[index] = before / power;
    high[index] = (Math.max(opened, before) + high[index]!) / power;
    low[index] = (Math.min(opened, before) - low[index]!) / power;
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
  const isNull = (index: number): boolean =>
    nulls && ((reader.bytes[bitsAt + ((index - from) >>> 3)]! >>> ((index - from) & 7)) & 1) === 1;
  if (decimals < 0) {
    for (let index = from; index < to; index++) values[index] = isNull(index) ? Number.NaN : reader.double();
    return;
  }
  const power = POWERS_OF_TEN[decimals]!;
  reader.integers(values, from, to);
  if (expected !== null)
    for (let index = from; index < to; index++)
      values[index] = (expectedVwap(expected[index]!, power) + values[index]!) / power;
  else if (power !== 1) for (let index = from; index < to; index++) values[index] = values[index]! / power;
  if (nulls) for (let index = from; index < to; index++) if (isNull(index)) values[index] = Number.NaN;
}
