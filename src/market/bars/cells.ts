// Which base bars make which coarser bar: every cell is a bar of the coarser interval (contract 3.3, 3.6,
// 3.8).
import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { type PeriodInterval, periodEnd, periodHours, periodStart } from '../calendar/period.ts';
import { REGULAR, type Segments } from '../calendar/session.ts';
import type { Bars } from './columns.ts';

const CAPACITY_MIN = 64;

/**
 * Ranges of base bars and the keys of their cells, both ascending. A cell may have several ranges; bars in
 * none have no cell.
 */
export class CellRanges {
  count = 0;
  from = new Int32Array(CAPACITY_MIN);
  to = new Int32Array(CAPACITY_MIN);
  cellMs = new Float64Array(CAPACITY_MIN);
  /** 1 for bars that make a bar of their cell; 0 for those that only add to it. */
  makes = new Uint8Array(CAPACITY_MIN);

  /** Adds the bars `from` (included) to `to` (not). Neighbours of one cell are one range. */
  add(from: number, to: number, cellMs: number, makes = 1): void {
    if (from >= to) return;
    const last = this.count - 1;
    if (last >= 0 && this.cellMs[last] === cellMs && this.to[last] === from) {
      this.to[last] = to;
      this.makes[last]! |= makes;
      return;
    }
    if (this.count === this.from.length) this.#grow();
    this.from[this.count] = from;
    this.to[this.count] = to;
    this.makes[this.count] = makes;
    this.cellMs[this.count++] = cellMs;
  }

  /**
   * Removes all ranges. The arrays are used again: to make them takes a tenth of the time that a day of
   * minutes takes.
   */
  clear(): void {
    this.count = 0;
  }

  #grow(): void {
    const { from, to, cellMs, makes } = this;
    this.from = new Int32Array(2 * this.count);
    this.to = new Int32Array(2 * this.count);
    this.cellMs = new Float64Array(2 * this.count);
    this.makes = new Uint8Array(2 * this.count);
    this.from.set(from);
    this.to.set(to);
    this.cellMs.set(cellMs);
    this.makes.set(makes);
  }

  /** Index of the first range that is not of the first cell. */
  get firstCellEnd(): number {
    let range = 0;
    while (range < this.count && this.cellMs[range] === this.cellMs[0]) range++;
    return range;
  }

  /** Index of the first range of the last cell. */
  get lastCellStart(): number {
    let range = this.count;
    while (range > 0 && this.cellMs[range - 1] === this.cellMs[this.count - 1]) range--;
    return range;
  }

  /** The ranges `first` (included) to `end` (not), of bars that begin `skipped` bars later. */
  slice(first: number, end: number, skipped: number): CellRanges {
    const sliced = new CellRanges();
    for (let range = first; range < end; range++)
      sliced.add(
        this.from[range]! - skipped,
        this.to[range]! - skipped,
        this.cellMs[range]!,
        this.makes[range]!,
      );
    return sliced;
  }
}

/** Bars and their cells. */
export type CellBars = { readonly bars: Bars; readonly ranges: CellRanges };

/**
 * Cells of a minute interval over bars of `baseMinutes`: anchored at the open of the segment (contract 3.3).
 * The key is the cell's open. In a segment that opened late, bars on the usual grid would span two cells:
 * they have none (contract 3.8). They are added to `ranges`.
 */
export function minuteCells(
  bars: Bars,
  segments: Segments,
  minutes: number,
  baseMinutes: number,
  ranges = new CellRanges(),
): CellBars {
  const { keyMs, count } = bars;
  const stepMs = minutes * MINUTE_MS;
  const baseMs = baseMinutes * MINUTE_MS;
  let bar = 0;
  for (let segment = 0; segment < segments.openMs.length && bar < count; segment++) {
    const openMs = segments.openMs[segment]!;
    const closeMs = segments.closeMs[segment]!;
    const isLate = segments.late[segment] === 1;
    while (bar < count && keyMs[bar]! < openMs) bar++;
    while (bar < count && keyMs[bar]! < closeMs) {
      const from = bar++;
      const sinceMs = keyMs[from]! - openMs;
      if (isLate && sinceMs % baseMs !== 0) continue;
      const cellMs = openMs + Math.floor(sinceMs / stepMs) * stepMs;
      const endMs = isLate ? keyMs[from]! : Math.min(cellMs + stepMs, closeMs);
      while (bar < count && keyMs[bar]! < endMs) bar++;
      ranges.add(from, bar, cellMs);
    }
  }
  return { bars, ranges };
}

/**
 * Cells of DAY over bars of minutes: the key is the midnight of the label date. Bars of extended hours, where
 * the segments have some, make no DAY bar without regular ones (contract 3.6). They are added to `ranges`.
 */
export function sessionCells(
  bars: Bars,
  segments: Segments,
  extended: boolean,
  ranges = new CellRanges(),
): CellBars {
  const { keyMs, count } = bars;
  let bar = 0;
  for (let segment = 0; segment < segments.openMs.length && bar < count; segment++) {
    while (bar < count && keyMs[bar]! < segments.openMs[segment]!) bar++;
    const from = bar;
    while (bar < count && keyMs[bar]! < segments.closeMs[segment]!) bar++;
    const makes = extended && segments.kind[segment] !== REGULAR ? 0 : 1;
    ranges.add(from, bar, segments.day[segment]! * DAY_MS, makes);
  }
  return { bars, ranges };
}

/**
 * Cells of WEEK or MON over DAY bars. A bar of a closed date after the last session of its period has none
 * (contract 3.10).
 */
export function dayCells(bars: Bars, interval: PeriodInterval, calendar: Calendar): CellBars {
  const ranges = new CellRanges();
  const { count, keyMs } = bars;
  const sessions = count === 0 ? [] : calendar.sessions(keyMs[0]! / DAY_MS, keyMs[count - 1]! / DAY_MS + 1);
  let [start, end] = [0, Number.NEGATIVE_INFINITY];
  for (let bar = 0, at = 0; bar < count; bar++) {
    const day = keyMs[bar]! / DAY_MS;
    if (day >= end) {
      start = periodStart(interval, day);
      end = periodEnd(interval, start);
    }
    while (at < sessions.length && sessions[at]!.day < day) at++;
    if (sessions[at]?.day !== day && closesAfterPeriod(calendar, day, interval, start)) continue;
    ranges.add(bar, bar + 1, start * DAY_MS);
  }
  return { bars, ranges };
}

/** Whether the bar of a closed date closes after the bar of its period. */
const closesAfterPeriod = (
  calendar: Calendar,
  day: number,
  interval: PeriodInterval,
  start: number,
): boolean =>
  periodHours(calendar, 'DAY', day, false).closeMs > periodHours(calendar, interval, start, false).closeMs;
