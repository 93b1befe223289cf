// Bars -> a stored block (layout: block.ts).
import { crc32 } from 'node:zlib';
import { DECIMALS_MAX, MANTISSA_LIMIT, POWERS_OF_TEN } from '../../base/decimal.ts';
import { DAY_MS } from '../../base/instant.ts';
import {
  ALL_NULL,
  ENTRY_BYTES,
  expectedVwap,
  HEADER_BYTES,
  RUN_BARS,
  SOME_VOLUME_NULL,
  SOME_VWAP_NULL,
  TWO_TO_32,
  UNITS_MS,
  VERSION,
} from './block.ts';
import { type Bars, emptyBars, type ValueColumn } from './columns.ts';

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

  doubles(values: Float64Array, from: number, to: number): void {
    for (let index = from; index < to; index++) this.double(values[index]!);
  }

  /**
   * The first `count` integers of `steps`: their width, then each of them. Up to a word is written beyond the
   * last.
   */
  integers(count: number): void {
    let least = 0;
    let most = 0;
    for (let index = 0; index < count; index++) {
      const step = steps[index]!;
      if (step < least) least = step;
      if (step > most) most = step;
    }
    const width = widthOf(least, most);
    const { bytes, view } = this;
    bytes[this.at] = width;
    let at = this.at + 1;
    this.at = at + width * count;
    if (width === 1) for (let index = 0; index < count; index++) bytes[at++] = steps[index]!;
    else if (width === 2)
      for (let index = 0; index < count; index++, at += 2) view.setInt16(at, steps[index]!, true);
    else if (width === 3 || width === 4)
      for (let index = 0; index < count; index++, at += width) view.setInt32(at, steps[index]!, true);
    else if (width === 6)
      for (let index = 0; index < count; index++, at += 6) {
        view.setUint32(at, steps[index]!, true);
        view.setInt16(at + 4, Math.floor(steps[index]! / TWO_TO_32), true);
      }
    else if (width === 8)
      for (let index = 0; index < count; index++, at += 8) view.setFloat64(at, steps[index]!, true);
  }
}

/** Bytes of a signed integer between two bounds, zero being between them. */
function widthOf(least: number, most: number): number {
  if (least === most) return 0;
  const reach = Math.max(most, -least - 1);
  if (reach < 0x8000) return reach < 0x80 ? 1 : 2;
  if (reach < 0x8000_0000) return reach < 0x80_0000 ? 3 : 4;
  return reach < 0x8000 * TWO_TO_32 ? 6 : 8;
}

/** The integers of one column of a run. */
const steps = new Float64Array(RUN_BARS);

/** How many of the first values of a column are null. */
function countNulls(values: Float64Array, count: number): number {
  let nulls = 0;
  for (let index = 0; index < count; index++) if (Number.isNaN(values[index]!)) nulls++;
  return nulls;
}

/** Scaled integers of the current columns; the arrays are reused by the next block. */
let scratch = emptyBars();

const priceColumns = ['open', 'high', 'low', 'close'] as const;

/**
 * Writes a column as integers to `into`. False at the first value that is no integer of at most 15 digits at
 * the scale; NaN is ignored.
 */
function scaleColumn(values: Float64Array, into: Float64Array, count: number, decimals: number): boolean {
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
    if (!Number.isNaN(value)) return false;
  }
  return true;
}

/** Special values of decimals. */
const PLAIN = -1;

/**
 * The fewest decimals at which all values of some columns are integers of at most 15 digits, put into the
 * scratch; else -1.
 */
function scale(bars: Bars, columns: readonly ValueColumn[]): number {
  for (let decimals = 0; decimals <= DECIMALS_MAX; decimals++) {
    const fits = (column: ValueColumn): boolean =>
      scaleColumn(bars[column], scratch[column], bars.count, decimals);
    if (columns.every(fits)) return decimals;
  }
  return PLAIN;
}

/**
 * One scale for the four prices, or -1 when a price has none or a bar's extremes do not enclose its open and
 * close.
 */
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

const out = new ByteWriter();

/** Encodes bars whose keys ascend strictly and are whole minutes. Up to 2^32 - 1 bars; any doubles. */
export const encodeBlock = (bars: Bars): Uint8Array => passingBlock(bars).slice();

/** As `encodeBlock`: bytes that the next block overwrites. */
export function passingBlock(bars: Bars): Uint8Array {
  const { count, keyMs } = bars;
  let days = 0;
  while (days < count && keyMs[days]! % DAY_MS === 0) days++;
  const unit = days === count ? 1 : 0;
  const unitMs = UNITS_MS[unit]!;
  if (scratch.open.length < count) scratch = emptyBars(count * 2);
  const prices = priceDecimals(bars);
  const [nullVolumes, nullVwaps] = [countNulls(bars.volume, count), countNulls(bars.vwap, count)];
  const volumes = nullVolumes === count ? ALL_NULL : scale(bars, ['volume']);
  const vwaps = nullVwaps === count ? ALL_NULL : scale(bars, ['vwap']);
  const volumeNulls = nullVolumes > 0 && nullVolumes < count;
  const vwapNulls = nullVwaps > 0 && nullVwaps < count;
  const runs = Math.ceil(count / RUN_BARS);
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
    // No column of a run takes more than eight bytes a bar, its width, and its bitmap.
    out.reserve((to - from) * 9 * 7 + 64);
    out.view.setUint32(HEADER_BYTES + run * ENTRY_BYTES, keyMs[from]! / unitMs - firstKey, true);
    out.view.setUint32(HEADER_BYTES + run * ENTRY_BYTES + 4, out.at, true);
    writeKeys(keyMs, from, to, unitMs);
    writePrices(bars, from, to, prices);
    writeColumn(bars.volume, scratch.volume, null, from, to, volumes, volumeNulls);
    writeColumn(bars.vwap, scratch.vwap, prices < 0 ? null : bars.close, from, to, vwaps, vwapNulls);
  }
  out.view.setUint32(0, crc32(out.bytes.subarray(4, out.at)), true);
  return out.bytes.subarray(0, out.at);
}

function writeKeys(keyMs: Float64Array, from: number, to: number, unitMs: number): void {
  for (let index = from + 1; index < to; index++)
    steps[index - from - 1] = (keyMs[index]! - keyMs[index - 1]!) / unitMs - 1;
  out.integers(to - from - 1);
}

function writePrices(bars: Bars, from: number, to: number, decimals: number): void {
  if (decimals < 0) {
    for (const column of [bars.open, bars.close, bars.high, bars.low]) out.doubles(column, from, to);
    return;
  }
  const { open, high, low, close } = scratch;
  const count = to - from;
  steps[0] = open[from]!;
  for (let index = 1; index < count; index++) steps[index] = open[from + index]! - close[from + index - 1]!;
  out.integers(count);
  for (let index = 0; index < count; index++) steps[index] = close[from + index]! - open[from + index]!;
  out.integers(count);
  for (let index = 0; index < count; index++)
    steps[index] = high[from + index]! - Math.max(open[from + index]!, close[from + index]!);
  out.integers(count);
  for (let index = 0; index < count; index++)
    steps[index] = Math.min(open[from + index]!, close[from + index]!) - low[from + index]!;
  out.integers(count);
}

function writeNulls(values: Float64Array, from: number, to: number): void {
  for (let index = from; index < to; index += 8) {
    let bits = 0;
    for (let bit = 0; bit < 8 && index + bit < to; bit++) {
      if (Number.isNaN(values[index + bit]!)) bits |= 1 << bit;
    }
    out.bytes[out.at++] = bits;
  }
}

function writeColumn(
  values: Float64Array,
  mantissas: Float64Array,
  expected: Float64Array | null,
  from: number,
  to: number,
  decimals: number,
  nulls: boolean,
): void {
  if (decimals === ALL_NULL) return;
  if (nulls) writeNulls(values, from, to);
  if (decimals < 0) {
    for (let index = from; index < to; index++) if (!Number.isNaN(values[index]!)) out.double(values[index]!);
    return;
  }
  const power = POWERS_OF_TEN[decimals]!;
  for (let index = from; index < to; index++) {
    const step = mantissas[index]! - (expected === null ? 0 : expectedVwap(expected[index]!, power));
    steps[index - from] = Number.isNaN(step) ? 0 : step;
  }
  out.integers(to - from);
}
