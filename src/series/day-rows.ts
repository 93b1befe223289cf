// The rows of a series as bars: those of DAY one a session, whatever dates their file gave them (contract
// 3.10).

import { DAY_MS } from '../base/instant.ts';
import { type CellBars, CellRanges, splitCells } from '../market/bars/cells.ts';
import { type Bars, concatBars, copyBar, emptyBars, lowerBound, sliceBars } from '../market/bars/columns.ts';
import { Fold } from '../market/bars/resample.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import type { Reader } from '../store/store.ts';
import { type BarSource, type StreamRange, servedBars } from './cursor.ts';
import { isUnfinished, type Series } from './series.ts';

/**
 * The bars of a series at its own interval, by key. Of DAY the key is the label of the session: the row of a
 * closed date whose evening opens that session is merged into it.
 */
export function rowsOf(
  { reader, calendar }: { readonly reader: Reader; readonly calendar: Calendar },
  series: Series,
  range: StreamRange,
): BarSource {
  if (series.interval !== 'DAY' || !calendar.opensEvenings) return servedBars(reader, series, range);
  // The evening before the first session of the range belongs to it.
  const rows = servedBars(reader, series, { ...range, fromMs: range.fromMs - DAY_MS });
  return new SessionRows({ calendar, series, rows, range });
}

/** The rows by the label of their session. */
function cellsOf(calendar: Calendar, bars: Bars): CellBars {
  const ranges = new CellRanges();
  for (let row = 0; row < bars.count; row++)
    ranges.add(row, row + 1, calendar.labelOfRow(bars.keyMs[row]! / DAY_MS) * DAY_MS);
  return { bars, ranges };
}

/**
 * Whether the rows of a session, of which the last has a key, are all of it: the row of its own date is
 * there, and none that is unfinished is missing. The row of an evening alone is a remnant (contract 3.9,
 * 3.10).
 */
function isWhole(calendar: Calendar, series: Series, cellMs: number, lastMs: number): boolean {
  if (lastMs !== cellMs) return false;
  return (
    !isUnfinished(series, cellMs - DAY_MS) || calendar.labelOfRow(cellMs / DAY_MS - 1) !== cellMs / DAY_MS
  );
}

/** One bar of each cell that is `whole`. A row that has its cell for itself keeps its digits. */
function merge({ bars, ranges }: CellBars, whole: (cellMs: number, lastMs: number) => boolean): Bars {
  const merged = emptyBars(ranges.count);
  for (let range = 0; range < ranges.count; range++) {
    const [from, to, cellMs] = [ranges.from[range]!, ranges.to[range]!, ranges.cellMs[range]!];
    if (!whole(cellMs, bars.keyMs[to - 1]!)) continue;
    copyBar(merged, merged.count, to - from === 1 ? sliceBars(bars, from, to) : folded(bars, from, to), 0);
    merged.keyMs[merged.count++] = cellMs;
  }
  return merged;
}

/** One bar of some rows. */
function folded(bars: Bars, from: number, to: number): Bars {
  const fold = new Fold();
  fold.add(bars, from, to, bars.keyMs[from]!);
  fold.end();
  return fold.take();
}

type SessionSource = {
  readonly calendar: Calendar;
  readonly series: Series;
  readonly rows: BarSource;
  readonly range: StreamRange;
};

/** DAY rows of one series, merged to one bar a session, with keys in a range. */
class SessionRows implements BarSource {
  readonly #calendar: Calendar;
  readonly #rows: BarSource;
  readonly #range: StreamRange;
  readonly #isWhole: (cellMs: number, lastMs: number) => boolean;
  /** Rows of a session that the next step may still add to. */
  #carried = emptyBars();
  #ended = false;

  constructor({ calendar, series, rows, range }: SessionSource) {
    this.#calendar = calendar;
    this.#rows = rows;
    this.#range = range;
    this.#isWhole = (cellMs, lastMs) => isWhole(calendar, series, cellMs, lastMs);
  }

  async next(atLeast: number): Promise<Bars | null> {
    let found = emptyBars();
    while (!this.#ended && found.count < atLeast) {
      const cells = await this.#cells(atLeast - found.count + 1);
      found = this.#join(found, this.#within(merge(cells, this.#isWhole)));
    }
    return found.count === 0 ? null : found;
  }

  /** The next rows, whose sessions no later step adds to. */
  async #cells(atLeast: number): Promise<CellBars> {
    const step = await this.#rows.next(atLeast);
    this.#ended = step === null;
    const cells = cellsOf(this.#calendar, this.#join(this.#carried, step ?? emptyBars()));
    if (this.#ended) return cells;
    const { whole, rest } = splitCells(cells, this.#range.descending);
    this.#carried = rest;
    return whole;
  }

  /** Bars in the direction of reading, as one ascending piece. */
  #join(before: Bars, after: Bars): Bars {
    return concatBars(this.#range.descending ? [after, before] : [before, after]);
  }

  #within(bars: Bars): Bars {
    return sliceBars(bars, lowerBound(bars, this.#range.fromMs), lowerBound(bars, this.#range.toMs));
  }
}
