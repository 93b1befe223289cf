// Derived bars that were folded before: a range is folded once, until anything that it is made of is
// committed. Bars up to DAY are kept with the series of minutes that they are derived from, those of WEEK and
// MON with the instrument, whose series give the days.
//
// What is kept depends on the series, the calendar, the interval and the hours, and on nothing else: which
// bars are complete at the moment of a request is decided later, for kept bars as for others (contract 3.9).
// A series is another object once anything of it is committed, and so is an instrument with its series:
// nothing kept of the old one is found.
import { firstWhere } from '../base/ascending.ts';
import { SizedCache } from '../base/sized-cache.ts';
import { appendBars, emptyBars, lowerBound } from '../market/bars/columns.ts';
import { concatTimed, type TimedBars } from '../market/bars/grid.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { mapped, type Stream, type StreamRange } from './cursor.ts';
import { seriesLimits } from './limits.ts';
import type { Series, StoredInstrument } from './series.ts';
import type { BarStream, StreamContext } from './stream.ts';

/** The days of a period that come from one series: bit `n` is that of the `n`th day after the first. */
export type Share = { readonly series: Series; readonly days: number };

export type MadeOf = {
  readonly shares: readonly Share[];
  /**
   * True if a session is stored on another price basis only: then the bar is not served (contract 3.6).
   */
  readonly isMixed: boolean;
  /**
   * True if a stored bar is better, as without extended hours: it lacks them, or does not hold all that the
   * stored one has.
   */
  readonly yields: boolean;
};

/** All derived bars with keys in `[fromMs, toMs)`; there may be none. */
type Piece = { readonly fromMs: number; readonly toMs: number; readonly timed: TimedBars };

/** What bars are derived from. */
type Base = Series | StoredInstrument;

/** A part of timed bars, copied. */
const copyTimed = (timed: TimedBars, from: number, to: number): TimedBars => {
  const bars = emptyBars(to - from);
  appendBars(bars, timed.bars, from, to);
  return {
    bars,
    openMs: timed.openMs.slice(from, to),
    closeMs: timed.closeMs.slice(from, to),
    day: timed.day.slice(from, to),
    ...(timed.splitVolume && { splitVolume: timed.splitVolume.slice(from, to) }),
  };
};

/** The kept bars of one interval and its hours that are derived from a base. */
class Cells {
  readonly name: string;
  readonly calendar: Calendar;
  /** In order of time, none overlaps another. */
  readonly #pieces: Piece[] = [];
  /** What WEEK and MON bars are made of, by the first day of the period. */
  readonly madeOf = new Map<number, MadeOf>();
  #bars = 0;
  #countedBytes = 0;

  constructor(name: string, { calendar }: StreamContext) {
    this.name = name;
    this.calendar = calendar;
  }

  get bytes(): number {
    const { keptPieceBytes, keptBarBytes, keptMadeOfBytes } = seriesLimits;
    return (
      this.#pieces.length * keptPieceBytes + this.#bars * keptBarBytes + this.madeOf.size * keptMadeOfBytes
    );
  }

  /** How many bytes it has more than when this was called before. */
  grown(): number {
    const grown = this.bytes - this.#countedBytes;
    this.#countedBytes += grown;
    return grown;
  }

  /** Index of the first piece that ends after an instant. */
  #endingAfter(ms: number): number {
    return firstWhere(this.#pieces.length, (index) => this.#pieces[index]!.toMs > ms);
  }

  /**
   * The kept bars around the edge of a range at which its direction begins; undefined where they are not
   * kept.
   */
  atEdge({ fromMs, toMs, descending }: StreamRange): Piece | undefined {
    const edgeMs = descending ? toMs - 1 : fromMs;
    const piece = this.#pieces[this.#endingAfter(edgeMs)];
    return piece !== undefined && piece.fromMs <= edgeMs ? piece : undefined;
  }

  /** The part of a range from its edge to the first kept bars. */
  missing(range: StreamRange): StreamRange {
    const { fromMs, toMs, descending } = range;
    const next = this.#pieces[this.#endingAfter(descending ? toMs - 1 : fromMs) - (descending ? 1 : 0)];
    if (descending) return { ...range, fromMs: Math.max(fromMs, next?.toMs ?? fromMs) };
    return { ...range, toMs: Math.min(toMs, next?.fromMs ?? toMs) };
  }

  /** Keeps a copy of bars, unless another request has kept some of the same meanwhile. */
  add({ fromMs, toMs, timed }: Piece): void {
    const at = this.#endingAfter(fromMs);
    if (fromMs >= toMs || (this.#pieces[at]?.fromMs ?? toMs) < toMs) return;
    this.#pieces.splice(at, 0, { fromMs, toMs, timed: copyTimed(timed, 0, timed.bars.count) });
    this.#bars += timed.bars.count;
    this.#join(at);
    this.#join(at - 1);
  }

  /** Joins a small piece with the next one, where no key is between them. */
  #join(at: number): void {
    const [one, next] = [this.#pieces[at], this.#pieces[at + 1]];
    if (one === undefined || next === undefined || one.toMs !== next.fromMs) return;
    if (one.timed.bars.count + next.timed.bars.count > seriesLimits.keptPieceBarsMax) return;
    const timed = concatTimed([one.timed, next.timed]);
    this.#pieces.splice(at, 2, { fromMs: one.fromMs, toMs: next.toMs, timed });
  }
}

/**
 * The kept bars of a thread. Those of a base that nothing else knows any more are never asked for, and go as
 * others do.
 */
class KeptCells {
  readonly #kept = new SizedCache<Cells>(seriesLimits.keptBytesMax);
  readonly #numbers = new WeakMap<Base, number>();
  #numbered = 0;

  /** The kept bars that are derived from a base. */
  of(base: Base, context: StreamContext): Cells {
    const { calendar, interval, extended } = context;
    const name = `${this.#numberOf(base)} ${interval} ${extended}`;
    const known = this.#kept.get(name);
    // Of another calendar nothing is used again.
    if (known?.calendar === calendar) return known;
    const cells = new Cells(name, context);
    this.#kept.set(name, cells, seriesLimits.keptCellsBytes);
    return cells;
  }

  #numberOf(base: Base): number {
    const known = this.#numbers.get(base);
    if (known !== undefined) return known;
    this.#numbers.set(base, ++this.#numbered);
    return this.#numbered;
  }

  /** Counts what was added to kept bars. */
  count(cells: Cells): void {
    this.#kept.grow(cells.name, cells, cells.grown());
  }
}

const kept = new KeptCells();

/** The bars of a range from kept ones; those that are missing come from `fold`, and are kept. */
class KeptStream implements BarStream {
  readonly #cells: Cells;
  readonly #fold: (range: StreamRange) => BarStream;
  /** What is left of the range. */
  #left: StreamRange;
  /** Bars that are being folded, and the part of the range that they end. */
  #folded: { readonly stream: BarStream; readonly range: StreamRange } | null = null;

  constructor(cells: Cells, range: StreamRange, fold: (range: StreamRange) => BarStream) {
    this.#cells = cells;
    this.#left = range;
    this.#fold = fold;
  }

  async next(atLeast: number): Promise<TimedBars | null> {
    while (this.#folded !== null || this.#left.fromMs < this.#left.toMs) {
      const piece = this.#folded === null ? this.#cells.atEdge(this.#left) : undefined;
      const step = piece === undefined ? await this.#missing(atLeast) : this.#taken(piece, atLeast);
      if (step !== null && step.bars.count > 0) return step;
    }
    return null;
  }

  /** Up to so many kept bars. */
  #taken({ fromMs, toMs, timed }: Piece, atMost: number): TimedBars {
    const { descending } = this.#left;
    let from = lowerBound(timed.bars, this.#left.fromMs);
    let to = lowerBound(timed.bars, this.#left.toMs);
    const isPart = to - from > atMost;
    if (isPart && descending) from = to - atMost;
    else if (isPart) to = from + atMost;
    if (descending) this.#advance(isPart ? timed.bars.keyMs[from]! : fromMs);
    else this.#advance(isPart ? timed.bars.keyMs[to - 1]! + 1 : toMs);
    // A caller changes the bars that it gets, such as to adjust them.
    return copyTimed(timed, from, to);
  }

  /** The next bars that are not kept; null where there are none before kept ones. */
  async #missing(atLeast: number): Promise<TimedBars | null> {
    this.#folded ??= this.#begin();
    const { stream, range } = this.#folded;
    const step = await stream.next(atLeast);
    const { descending } = range;
    const left = this.#left;
    if (step === null) {
      this.#folded = null;
      this.#advance(descending ? range.fromMs : range.toMs);
    } else {
      const { keyMs, count } = step.bars;
      this.#advance(descending ? keyMs[0]! : keyMs[count - 1]! + 1);
    }
    const [fromMs, toMs] = descending ? [this.#left.toMs, left.toMs] : [left.fromMs, this.#left.fromMs];
    this.#keep({ fromMs, toMs, timed: step ?? noBars });
    return step;
  }

  #begin() {
    const range = this.#cells.missing(this.#left);
    return { stream: this.#fold(range), range };
  }

  #keep(piece: Piece): void {
    this.#cells.add(piece);
    kept.count(this.#cells);
  }

  /** Goes on behind an instant of the range. */
  #advance(ms: number): void {
    const { descending, fromMs, toMs } = this.#left;
    this.#left = descending
      ? { ...this.#left, toMs: Math.max(fromMs, ms) }
      : { ...this.#left, fromMs: Math.min(toMs, ms) };
  }
}

const noBars = concatTimed([]);

/** The bars up to DAY of a range that are derived from a series; `fold` makes those that are not kept. */
export const keptStream = (
  context: StreamContext,
  series: Series,
  range: StreamRange,
  fold: (range: StreamRange) => BarStream,
): BarStream => new KeptStream(kept.of(series, context), range, fold);

/** WEEK or MON bars in order, and what each is made of, by the first day of its period. */
export type PeriodPart = { readonly timed: TimedBars; readonly madeOf: (start: number) => MadeOf };

/**
 * The folded WEEK or MON bars of a range of an instrument; `fold` makes those that are not kept, and notes
 * what they are made of.
 */
export function keptPeriods(
  context: StreamContext,
  stored: StoredInstrument,
  range: StreamRange,
  fold: (range: StreamRange, madeOf: Map<number, MadeOf>) => BarStream,
): Stream<PeriodPart> {
  // What was known at a moment is asked for once.
  const cells = stored.series.some(({ isPart }) => isPart) ? null : kept.of(stored, context);
  const madeOf = cells?.madeOf ?? new Map<number, MadeOf>();
  const bars =
    cells === null ? fold(range, madeOf) : new KeptStream(cells, range, (missing) => fold(missing, madeOf));
  return mapped(bars, (timed) => ({ timed, madeOf: (start) => madeOf.get(start)! }));
}
