// Digits of numbers and dates as bytes, four at a time from tables.
import { dateOf } from '../../base/instant.ts';

const encoder = new TextEncoder();
const POINT = 46;
const GROUP = 10_000;
const TWO_GROUPS = GROUP * GROUP;

/** Digits of a group. */
export const GROUP_DIGITS = 4;

/** The most groups of decimals that `writeFraction` writes. */
export const FRACTION_GROUPS_MAX = 3;

function groupWords(textOf: (group: number) => string): Int32Array {
  const text = Array.from({ length: GROUP }, (_, group) => textOf(group)).join('');
  return new Int32Array(encoder.encode(text).buffer);
}

/**
 * Four digits of every number below 10,000 as one word: with zeros in front, and without (then followed by
 * zeros).
 */
const paddedGroups = groupWords((group) => String(group).padStart(GROUP_DIGITS, '0'));
const leadingGroups = groupWords((group) => String(group).padEnd(GROUP_DIGITS, '0'));

/** How many of such a number's four digits are left without trailing zeros. */
const significant = Uint8Array.from(
  { length: GROUP },
  (_, group) =>
    String(group)
      .padStart(GROUP_DIGITS, '0')
      .replace(/(?<!0)0+$/, '').length,
);

/** Digits of a number below 10,000. */
const groupDigits = (group: number): number => (group < 100 ? (group < 10 ? 1 : 2) : group < 1000 ? 3 : 4);

/** Writes a whole number from 0 to below 10^15; the place after it. Up to three bytes more are written. */
export function writeWhole(view: DataView, at: number, value: number): number {
  if (value < TWO_GROUPS) return writeSmall(view, at, value | 0);
  const high = Math.floor(value / TWO_GROUPS);
  const low = (value - high * TWO_GROUPS) | 0;
  const middle = (low / GROUP) | 0;
  const end = writeSmall(view, at, high | 0);
  view.setInt32(end, paddedGroups[middle]!, true);
  view.setInt32(end + GROUP_DIGITS, paddedGroups[low - middle * GROUP]!, true);
  return end + 2 * GROUP_DIGITS;
}

/** The same for a number below 2^31. */
export function writeSmall(view: DataView, at: number, value: number): number {
  if (value < GROUP) {
    view.setInt32(at, leadingGroups[value]!, true);
    return at + groupDigits(value);
  }
  const high = (value / GROUP) | 0;
  const end = writeSmall(view, at, high);
  view.setInt32(end, paddedGroups[value - high * GROUP]!, true);
  return end + GROUP_DIGITS;
}

/**
 * Writes a point and decimals without trailing zeros, at least one: `digits` over 10^(4 x groups), which is
 * not 0; the place after them.
 */
export function writeFraction(view: DataView, at: number, digits: number, groups: number): number {
  view.setInt8(at, POINT);
  if (groups <= 2) return writeSmallFraction(view, at, digits | 0, groups);
  const high = Math.floor(digits / TWO_GROUPS);
  const low = (digits - high * TWO_GROUPS) | 0;
  if (low === 0) return writeLast(view, at + 1, high | 0);
  view.setInt32(at + 1, paddedGroups[high]!, true);
  return writeLastTwo(view, at + 1 + GROUP_DIGITS, low);
}

/** The same for at most two groups. */
export function writeSmallFraction(view: DataView, at: number, digits: number, groups: number): number {
  view.setInt8(at, POINT);
  return groups === 1 ? writeLast(view, at + 1, digits) : writeLastTwo(view, at + 1, digits);
}

function writeLast(view: DataView, at: number, group: number): number {
  view.setInt32(at, paddedGroups[group]!, true);
  return at + significant[group]!;
}

function writeLastTwo(view: DataView, at: number, digits: number): number {
  const high = (digits / GROUP) | 0;
  const low = digits - high * GROUP;
  if (low === 0) return writeLast(view, at, high);
  view.setInt32(at, paddedGroups[high]!, true);
  return writeLast(view, at + GROUP_DIGITS, low);
}

/** Two digits of every number below 100, in the order of bytes of `setInt16`. */
const pairs = new Int16Array(
  encoder.encode(Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0')).join('')).buffer,
);

/** Writes two digits. */
export function writePair(view: DataView, at: number, value: number): void {
  view.setInt16(at, pairs[value]!, true);
}

/** Writes the digits of a date over `YYYY-MM-DD`. */
export function writeDate(view: DataView, at: number, day: number): void {
  const { year, month, day: ofMonth } = dateOf(day);
  view.setInt32(at, paddedGroups[year]!, true);
  writePair(view, at + 5, month);
  writePair(view, at + 8, ofMonth);
}
