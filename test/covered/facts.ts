// The facts that contract 3.9 decides by: which runs there were and in which order, and what they held,
// removed and changed.
import { DAY_MS, MINUTE_MS } from '../../src/base/instant.ts';
import { barEnd } from '../../src/market/calendar/bar-end.ts';
import type { Calendar } from '../../src/market/calendar/calendar.ts';
import type { Session } from '../../src/market/calendar/session.ts';

/** An interval of which files have bars. */
export type Stored = '1M' | '5M' | '30M' | '60M' | 'DAY';

/**
 * A bar of a file: all its prices are `price`, its volume is 1. The key of a DAY bar is its date as midnight
 * UTC.
 */
export type FileBar = { readonly symbol: string; readonly keyMs: number; readonly price: number };

/** One file of bars, which is one run. */
export type FileRun = {
  readonly kind: 'file';
  /** Runs of one command have one number. */
  readonly command: number;
  readonly startMs: number;
  /** Equal for equal bytes. */
  readonly sha: string;
  readonly interval: Stored;
  /** The name of the zone of the file's times, null without one. */
  readonly zone: string | null;
  readonly bars: readonly FileBar[];
  /** The series that flags name, where the file is without rows. */
  readonly named: readonly string[];
  /** `--complete-from` and `--complete-through`. */
  readonly fromMs: number | null;
  readonly throughMs: number | null;
};

/** A deletion of the bars of one symbol: from a date of the market through another one, or of instants. */
export type Deletion = {
  readonly kind: 'deletion';
  readonly symbol: string;
  /** Null: each interval. */
  readonly interval: Stored | null;
  readonly range:
    | { readonly fromDay: number; readonly toDay: number }
    | { readonly fromMs: number; readonly toMs: number };
};

/** Whether a fact is in force: it is not once its run is undone. */
export type Fact<Run> = { readonly run: Run; isUndone: boolean };

/** What is known of an instrument now. Dates are day numbers. */
export type Instrument = {
  /** Equal for instruments of one market. */
  readonly market: string;
  /** With the holidays that are known now. */
  readonly calendar: Calendar;
  readonly listing: number | null;
  readonly delisting: number | null;
  readonly isInactive: boolean;
};

/** All that decides, in the order of the journal. */
export type Facts = {
  readonly runs: readonly Fact<FileRun | Deletion>[];
  readonly instrumentOf: (symbol: string) => Instrument;
};

/** A half-open span of time. */
export type Span = { readonly fromMs: number; readonly toMs: number };

const minutes: Readonly<Record<Exclude<Stored, 'DAY'>, number>> = { '1M': 1, '5M': 5, '30M': 30, '60M': 60 };

/** The length of the bars of an intraday interval. */
export const stepOf = (interval: Exclude<Stored, 'DAY'>): number => minutes[interval] * MINUTE_MS;

/** First segment to last. */
export const hoursOf = ({ segments }: Session): Span => ({
  fromMs: segments[0]!.openMs,
  toMs: segments.at(-1)!.closeMs,
});

/** The session that a bar is in; null outside every one. */
export function sessionOf(calendar: Calendar, interval: Stored, keyMs: number): Session | null {
  const day = interval === 'DAY' ? keyMs / DAY_MS : calendar.labelAt(keyMs);
  return day === null ? null : calendar.sessionOn(day);
}

/** The open of a bar: that of a DAY bar is the regular open of its session. */
export function openOf(calendar: Calendar, interval: Stored, keyMs: number): number {
  if (interval !== 'DAY') return keyMs;
  return calendar.sessionOn(keyMs / DAY_MS)?.openMs ?? keyMs;
}

/**
 * The close of a bar by the calendar (contract 3.2, 3.3): cut at the end of its segment; at DAY the close of
 * the session.
 */
export const closeOf = (calendar: Calendar, interval: Stored, keyMs: number): number =>
  barEnd(calendar, interval as Parameters<typeof barEnd>[1], keyMs).closeMs;

/** The sum of spans, in order and without overlaps. */
export function union(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (span.fromMs >= span.toMs) continue;
    const last = found.at(-1);
    if (last !== undefined && span.fromMs <= last.toMs)
      found[found.length - 1] = { ...last, toMs: Math.max(last.toMs, span.toMs) };
    else found.push(span);
  }
  return found;
}

/** A span without another one. */
export const without = (span: Span, hole: Span): Span[] =>
  [
    { fromMs: span.fromMs, toMs: Math.min(span.toMs, hole.fromMs) },
    { fromMs: Math.max(span.fromMs, hole.toMs), toMs: span.toMs },
  ].filter(({ fromMs, toMs }) => fromMs < toMs);

/** What two spans have in common; it may be empty. */
export const common = (one: Span, other: Span): Span => ({
  fromMs: Math.max(one.fromMs, other.fromMs),
  toMs: Math.min(one.toMs, other.toMs),
});
