// The sessions of a series of minute bars, each as a few numbers, and the bars where the calendar has none:
// bar by bar, in bounded memory.

import { DAY_MS, MINUTE_MS } from '../../base/instant.ts';
import { type Bars, emptyBars, valueColumns } from '../../market/bars/columns.ts';
import { datedBy } from '../../market/calendar/bar-end.ts';
import type { Calendar } from '../../market/calendar/calendar.ts';
import { type Segments, type Session, segmentKinds } from '../../market/calendar/session.ts';
import { vwapBound } from './bar-values.ts';
import { thresholds } from './thresholds.ts';

/** Time inside regular segments without a bar. */
export type Hole = { readonly fromMs: number; readonly toMs: number };

/** The sums of the bars of one session. Bars off the session grid are left out. */
export type MinuteSession = {
  readonly day: number;
  /** The ends of its regular hours, and how much time is in them without breaks. */
  readonly openMs: number;
  readonly closeMs: number;
  readonly regularMs: number;
  /** The open of the first regular bar, the close of the last, and the time in all of them. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly coveredMs: number;
  /** The longest hole between two bars, and those that may be gaps, in order. */
  readonly longestMs: number;
  readonly holes: readonly Hole[];
  /** Of regular hours and the closing auction: what a DAY bar has. A volume that a bar lacks is NaN. */
  readonly open: number;
  readonly close: number;
  readonly high: number;
  readonly low: number;
  readonly volume: number;
};

/**
 * Odd bars of one session or date, or of the whole series if they are off its grid, from the first to the
 * close of the last.
 */
export type OddBars = {
  readonly kind: 'closed_day' | 'outside_session' | 'off_grid' | 'vwap_outside';
  readonly fromMs: number;
  toMs: number;
  count: number;
  /** Of the first: its vwap, and the bound that it is beyond. */
  readonly value: number | null;
  readonly expected: number | null;
};

/** A dense session has no more holes of that length: in others nothing is a gap. */
const HOLES_MAX = 16;

const REGULAR = segmentKinds.indexOf('regular');
const AUCTION = segmentKinds.indexOf('auction');

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const newSession = (day: number) => ({
  ...{ day, openMs: 0, closeMs: 0, regularMs: 0, firstMs: Number.NaN, lastMs: Number.NaN, coveredMs: 0 },
  ...{ longestMs: 0, holes: [] as Hole[] },
  ...{ open: Number.NaN, close: Number.NaN },
  ...{ high: Number.NEGATIVE_INFINITY, low: Number.POSITIVE_INFINITY, volume: 0 },
});

const regularMsOf = ({ segments }: Session): number =>
  segments
    .filter(({ kind }) => kind === 'regular')
    .reduce((sum, { openMs, closeMs }) => sum + closeMs - openMs, 0);

/** The days that sessions make. */
export function daysMadeOf(sessions: readonly MinuteSession[]): Bars {
  const days = emptyBars(sessions.length);
  days.count = sessions.length;
  for (const [at, { day, open, high, low, close, volume }] of sessions.entries()) {
    days.keyMs[at] = day * DAY_MS;
    const values = { open, high, low, close, volume, vwap: Number.NaN };
    for (const column of valueColumns) days[column][at] = values[column];
  }
  return days;
}

/** Takes the bars of a series in order. */
export class MinuteSessions {
  /** Sessions with a regular bar on the session grid, in order. */
  readonly sessions: MinuteSession[] = [];
  /** Label dates of all sessions that have a bar. */
  readonly days: number[] = [];
  readonly odd: OddBars[] = [];
  /** Sessions whose bars all lie from one interval after the first open to the close itself, in order. */
  readonly shifted: Session[] = [];
  /** True if some session has a bar at its first open. */
  hasFirstOpen = false;
  /** The first and the last bar of the present label date; null after one that is nowhere. */
  #ends: { readonly day: number; readonly firstMs: number; lastMs: number } | null = null;
  readonly #calendar: Calendar;
  readonly #stepMs: number;
  #session: Mutable<ReturnType<typeof newSession>> | null = null;
  /** The ends of the segment of the last regular bar. */
  #segmentOpenMs = 0;
  #segmentCloseMs = 0;
  /** The latest of each kind, and the label date that it is of. */
  readonly #latest = new Map<OddBars['kind'], { readonly day: number; readonly bars: OddBars }>();

  constructor(calendar: Calendar, minutes: number) {
    this.#calendar = calendar;
    this.#stepMs = minutes * MINUTE_MS;
  }

  /** Takes bars that come after those before. */
  add(bars: Bars): void {
    const { keyMs, high, low, vwap, count } = bars;
    if (count === 0) return;
    const segments = this.#calendar.segments(keyMs[0]!, keyMs[count - 1]! + this.#stepMs, 'all');
    const { openMs, closeMs, day } = segments;
    let segment = 0;
    for (let bar = 0; bar < count; bar++) {
      const at = keyMs[bar]!;
      while (segment < openMs.length && closeMs[segment]! <= at) segment++;
      const isInside = segment < openMs.length && openMs[segment]! <= at;
      if (isInside) this.#addInside(bars, bar, segments, segment);
      else this.#addOutside(at, segments, segment);
      if (isInside) this.#addEnd(day[segment]!, at);
      else if (segment > 0 && closeMs[segment - 1] === at) this.#addEnd(day[segment - 1]!, at);
      else this.#ends = null;
      if (vwap[bar]! > high[bar]! || vwap[bar]! < low[bar]!) this.#addVwap(bars, bar);
    }
  }

  #addEnd(day: number, at: number): void {
    if (this.#ends?.day === day) {
      this.#ends.lastMs = at;
      return;
    }
    this.#judgeEnds();
    this.#ends = { day, firstMs: at, lastMs: at };
  }

  /** Notes the last session if each of its bars has the time of its close, by the regular or by all hours. */
  #judgeEnds(): void {
    if (this.#ends === null) return;
    const { day, firstMs, lastMs } = this.#ends;
    const session = this.#calendar.sessionOn(day)!;
    const dated = datedBy(session, this.#stepMs, firstMs, lastMs);
    if (dated === 'open') this.hasFirstOpen = true;
    if (dated === 'close') this.shifted.push(session);
  }

  /** Ends the last session. */
  end(): void {
    this.#judgeEnds();
    this.#ends = null;
    this.#endSession();
  }

  #endSession(): void {
    const session = this.#session;
    this.#session = null;
    if (session === null || Number.isNaN(session.firstMs)) return;
    const known = this.#calendar.sessionOn(session.day)!;
    const { openMs, closeMs } = known;
    this.sessions.push({ ...session, openMs, closeMs, regularMs: regularMsOf(known) });
  }

  #addInside(bars: Bars, bar: number, segments: Segments, segment: number): void {
    const at = bars.keyMs[bar]!;
    const day = segments.day[segment]!;
    this.#see(day);
    const openMs = segments.openMs[segment]!;
    if ((at - openMs) % this.#stepMs !== 0) {
      if (!this.#mayBeOff(at, segments, segment)) this.#addOdd('off_grid', day, at);
      return;
    }
    const kind = segments.kind[segment];
    if (kind !== REGULAR && kind !== AUCTION) return;
    const session = this.#sessionOf(day);
    if (kind === REGULAR) this.#cover(session, at, openMs, segments.closeMs[segment]!);
    if (Number.isNaN(session.open)) session.open = bars.open[bar]!;
    session.close = bars.close[bar]!;
    if (bars.high[bar]! > session.high) session.high = bars.high[bar]!;
    if (bars.low[bar]! < session.low) session.low = bars.low[bar]!;
    session.volume += bars.volume[bar]!;
  }

  #see(day: number): void {
    if (this.days.at(-1) !== day) this.days.push(day);
  }

  /**
   * Whether a bar may be off the grid of its segment: one that opened late, or that such a one follows within
   * the bar (contract 3.3).
   */
  #mayBeOff(at: number, { late, openMs }: Segments, segment: number): boolean {
    return late[segment] === 1 || (late[segment + 1] === 1 && openMs[segment + 1]! < at + this.#stepMs);
  }

  #sessionOf(day: number): Mutable<ReturnType<typeof newSession>> {
    if (this.#session?.day !== day) {
      this.#endSession();
      this.#session = newSession(day);
    }
    return this.#session!;
  }

  /** Adds a regular bar of a segment `[openMs, closeMs)`. */
  #cover(session: Mutable<ReturnType<typeof newSession>>, at: number, openMs: number, closeMs: number): void {
    if (Number.isNaN(session.firstMs)) session.firstMs = at;
    else if (openMs === this.#segmentOpenMs) addHole(session, session.lastMs, at);
    else {
      addHole(session, session.lastMs, this.#segmentCloseMs);
      addHole(session, openMs, at);
    }
    this.#segmentOpenMs = openMs;
    this.#segmentCloseMs = closeMs;
    session.lastMs = Math.min(at + this.#stepMs, closeMs);
    session.coveredMs += session.lastMs - at;
  }

  /** A bar that opens outside all segments; `next` is the first one after it. */
  #addOutside(at: number, { openMs, day }: Segments, next: number): void {
    if (next < openMs.length && openMs[next]! < at + this.#stepMs) {
      this.#see(day[next]!);
      this.#addOdd('off_grid', day[next]!, at);
      return;
    }
    const date = this.#calendar.zone.dayAt(at);
    const isClosed = this.#calendar.sessionOn(this.#calendar.labelOfRow(date)) === null;
    this.#addOdd(isClosed ? 'closed_day' : 'outside_session', date, at);
  }

  #addVwap(bars: Bars, bar: number): void {
    const expected = vwapBound(bars, bar);
    if (expected === null) return;
    const at = bars.keyMs[bar]!;
    const day = this.#calendar.labelAt(at) ?? this.#calendar.zone.dayAt(at);
    this.#addOdd('vwap_outside', day, at, bars.vwap[bar]!, expected);
  }

  #addOdd(
    kind: OddBars['kind'],
    day: number,
    at: number,
    value: number | null = null,
    expected: number | null = null,
  ) {
    const latest = this.#latest.get(kind);
    const toMs = at + this.#stepMs;
    // Clock hours are off the grid in every session: one finding tells it.
    if (latest !== undefined && (latest.day === day || kind === 'off_grid')) {
      latest.bars.toMs = toMs;
      latest.bars.count++;
      return;
    }
    const bars = { kind, fromMs: at, toMs, count: 1, value, expected };
    this.#latest.set(kind, { day, bars });
    this.odd.push(bars);
  }
}

function addHole(session: Mutable<ReturnType<typeof newSession>>, fromMs: number, toMs: number): void {
  const lengthMs = toMs - fromMs;
  if (lengthMs > session.longestMs) session.longestMs = lengthMs;
  if (lengthMs >= thresholds.gapMinutes * MINUTE_MS && session.holes.length < HOLES_MAX)
    session.holes.push({ fromMs, toMs });
}
