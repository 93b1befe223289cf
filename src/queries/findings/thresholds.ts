// Every threshold of every finding, of which a message prints those that its finding passed; and the usual
// values around a bar: medians of windows.
import { CLOSE_SESSIONS_MIN } from '../../market/calendar/bar-end.ts';

export const thresholds = {
  /**
   * Bars around a bar that say what is usual, the bar itself included; with fewer than the minimum nothing is
   * usual.
   */
  windowBars: 63,
  windowBarsMin: 21,

  /** isolated_wick: how far beyond all that is around it, in usual ranges and as a share of the price. */
  wickRanges: 10,
  wickShare: 0.05,
  /** From this share on it is an error. */
  wickErrorShare: 0.5,
  /** So many instruments of a market have it at once: then it is real. */
  wickInstruments: 3,

  /** unrecorded_split: how near to a ratio, how unusual, and at least how many ticks of price before. */
  splitShare: 0.01,
  splitDeviations: 8,
  splitTicks: 20,
  /**
   * The most by which a close may differ from the split price, and an open from that of a recorded split:
   * natural logarithms.
   */
  splitLogMax: 0.2,

  /** action_without_jump: splits that change the price by less are not judged. */
  jumpShare: 0.2,
  /** Calendar days within which there must be a bar on each side of an ex-date. */
  jumpDays: 7,

  /** identity_break: more missing sessions than these. */
  breakSessions: 60,
  /** missing_session: the share of the sessions around on which the series has bars. */
  tradedShare: 0.8,

  /** short_session: minutes that may be missing at an end of a session. */
  edgeMinutes: 15,
  /**
   * short_session, gap and missing_session: so many sessions around. Of the first two also the share of their
   * minutes with bars, and the fewest sessions that tell it.
   */
  denseShare: 0.8,
  aroundSessions: 20,
  aroundSessionsMin: 5,
  /**
   * short_session: a session that is dense for so long, then stops while others go on, needs no sessions
   * around.
   */
  stopMinutes: 60,

  /** gap: how much longer than the usual longest hole of a session, and how long at least. */
  gapTimes: 10,
  gapMinutes: 5,

  /**
   * minute_day_mismatch: the volume by minutes as a share of that of the day, against the usual share of so
   * many sessions.
   */
  mismatchSessions: 60,
  mismatchSessionsMin: 20,
  volumeShareMin: 0.5,
  volumeShareMax: 1.02,
  /** The share of the price by which a high or low may differ. */
  extremeShare: 0.01,

  /** impossible_dividend: the most cash, as a share of the close before. */
  dividendShare: 0.5,
  /** factor_mismatch: by how much a file's factor may differ, as a part of the cash's share of the price. */
  factorShare: 0.01,

  /** conflicting_imports: prices that differ by more are those of another instrument, or in another unit. */
  otherCompanyShare: 0.5,
  /** close_labelled: so many sessions show it. */
  labelledSessionsMin: CLOSE_SESSIONS_MIN,
} as const;

/** The ratios of shares of usual splits: new to old, and the other way round. */
export const splitRatios: readonly (readonly [number, number])[] = [
  ...[2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 50].map((many) => [many, 1] as const),
  ...([
    [3, 2],
    [4, 3],
    [5, 4],
  ] as const),
];

/**
 * The indexes `[from, to)` of up to `size` of `count` items: as many before one as after it, where there are
 * so many.
 */
export function windowAround(
  count: number,
  at: number,
  size: number,
): { readonly from: number; readonly to: number } {
  const from = Math.max(0, Math.min(at - Math.floor(size / 2), count - size));
  return { from, to: Math.min(count, from + size) };
}

/** The median; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The values around a bar of those that are numbers; null where they are too few to say what is usual. */
export function valuesAround(
  count: number,
  at: number,
  valueAt: (index: number) => number,
): readonly number[] | null {
  const { from, to } = windowAround(count, at, thresholds.windowBars);
  const values: number[] = [];
  for (let index = from; index < to; index++) {
    const value = valueAt(index);
    if (Number.isFinite(value)) values.push(value);
  }
  return values.length < thresholds.windowBarsMin ? null : values;
}
