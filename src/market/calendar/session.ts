// One year of a market's sessions as parallel arrays: label dates, segments, and what shortens them. And
// its hours as clock times, for the reference record (contract 8.1), and how long they usually are.
import { DAY_MS, dayOf, MINUTE_MS, weekdayOf } from '../../base/instant.ts';
import { calendarLimits } from './limits.ts';
import type { Clock, HolidayRule, Hours, Market, SegmentKind } from './market.ts';
import { holidaysOf, hoursOn, isClosing } from './rules.ts';
import type { Stretch, Zone } from './zone.ts';

/** Segment kinds as numbers, for the arrays. */
export const segmentKinds: readonly SegmentKind[] = ['pre', 'regular', 'auction', 'post'];

/** Index of the regular kind. */
export const REGULAR = segmentKinds.indexOf('regular');

/** Which segments of a session count: the regular ones, those of a DAY bar, or all (contract 3.5, 3.13). */
export type SegmentScope = 'regular' | 'day' | 'all';

/** The kinds of segment in each scope. */
export const scopeKinds: Readonly<Record<SegmentScope, readonly SegmentKind[]>> = {
  regular: ['regular'],
  day: ['regular', 'auction'],
  all: segmentKinds,
};

/** The form of a session: whole, or shortened by a rule. */
type SessionTemplate = 'REGULAR' | 'EARLY_CLOSE' | 'LATE_OPEN';

/** Segments in order of time: parallel arrays of equal length; instants in milliseconds, `[open, close)`. */
export type Segments = {
  readonly openMs: Float64Array;
  readonly closeMs: Float64Array;
  /** Index into `segmentKinds`. */
  readonly kind: Uint8Array;
  /** Label date of the session, as a day number. */
  readonly day: Int32Array;
  /**
   * 1 where the segment opens later than on other days, or is an auction that opens earlier: bars may be on
   * the usual grid.
   */
  readonly late: Uint8Array;
};

/** Columns for so many segments. */
export const emptySegments = (count: number): Segments => ({
  openMs: new Float64Array(count),
  closeMs: new Float64Array(count),
  kind: new Uint8Array(count),
  day: new Int32Array(count),
  late: new Uint8Array(count),
});

/**
 * One session: its label date, its regular hours as instants, the close of its DAY bar (the end of its
 * auction, if any), its segments.
 */
export type Session = {
  readonly day: number;
  readonly openMs: number;
  readonly closeMs: number;
  readonly dayCloseMs: number;
  readonly template: SessionTemplate;
  readonly holiday: HolidayRule | null;
  readonly segments: readonly {
    readonly kind: SegmentKind;
    readonly openMs: number;
    readonly closeMs: number;
    readonly late: boolean;
  }[];
};

/** The sessions of one year by label date, their label dates, and their segments by scope. */
export type SessionYear = {
  readonly sessions: readonly Session[];
  readonly days: Int32Array;
  readonly segments: Readonly<Record<SegmentScope, Segments>>;
};

/** Minutes after the label date's midnight; negative before it. */
export function clockMinutes(clock: Clock): number {
  const before = clock.startsWith('-');
  const [hours, minutes] = (before ? clock.slice(1) : clock).split(':');
  return (before ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** A segment in clock minutes; `late` is that of `Segments`. */
type Span = {
  readonly kind: SegmentKind;
  readonly open: number;
  readonly close: number;
  readonly late: boolean;
};

/** The regular hours of a day, first open to last close. */
function regularHours(spans: readonly Span[]): { readonly open: number; readonly close: number } {
  const regular = spans.filter(({ kind }) => kind === 'regular');
  return { open: regular[0]!.open, close: regular[regular.length - 1]!.close };
}

/**
 * The segments of a shortened day: regular hours are cut, the pre-market ends where they begin. The closing
 * auction follows them, and the post-market, at its full length.
 */
function shorten(spans: readonly Span[], rule: HolidayRule): Span[] {
  const open = rule.open === undefined ? Number.NEGATIVE_INFINITY : clockMinutes(rule.open);
  const close = rule.close === undefined ? Number.POSITIVE_INFINITY : clockMinutes(rule.close);
  const earlier = Math.max(0, regularHours(spans).close - close);
  const closing = spans.findLast(({ kind }) => kind === 'auction');
  const cut = spans.map((span): Span => {
    if (span.kind === 'pre') return { ...span, close: Math.max(span.close, open) };
    const moved = { ...span, open: span.open - earlier, close: span.close - earlier };
    if (span.kind === 'post') return moved;
    if (span === closing) {
      const end = rule.auction === undefined ? moved.close : clockMinutes(rule.auction);
      return { ...moved, close: end, late: earlier > 0 };
    }
    return {
      ...span,
      open: Math.max(span.open, open),
      close: Math.min(span.close, close),
      late: open > span.open,
    };
  });
  return cut.filter((span) => span.open < span.close);
}

const wholeSpans = ({ segments }: Hours): readonly Span[] =>
  segments.map(([kind, from, to]) => ({
    kind,
    open: clockMinutes(from),
    close: clockMinutes(to),
    late: false,
  }));

/** The regular hours that the weekly pattern of a market gives a date, of whatever weekday, as instants. */
export function patternHours(market: Market, zone: Zone, day: number): { openMs: number; closeMs: number } {
  const { open, close } = regularHours(wholeSpans(hoursOn(market, day)));
  return { openMs: zone.instantOf(day, open), closeMs: zone.instantOf(day, close) };
}

/** How regular hours are shortened; a day shortened at both ends counts as an early close. */
function templateOf(spans: readonly Span[], whole: readonly Span[]): SessionTemplate {
  const [cut, usual] = [regularHours(spans), regularHours(whole)];
  if (cut.close < usual.close) return 'EARLY_CLOSE';
  return cut.open > usual.open ? 'LATE_OPEN' : 'REGULAR';
}

/** Clock times of label dates as instants. */
class Clocks {
  readonly #zone: Zone;
  #stretch: Stretch;

  constructor(zone: Zone, startMs: number) {
    this.#zone = zone;
    this.#stretch = zone.stretchAt(startMs);
  }

  /**
   * Turns clock minutes of a date into instants: by one subtraction where the offset does not change around
   * the date.
   */
  of(day: number): (minutes: number) => number {
    const midnight = day * DAY_MS;
    if (midnight + 2 * DAY_MS >= this.#stretch.toMs)
      this.#stretch = this.#zone.stretchAt(midnight + 2 * DAY_MS);
    const { fromMs, offsetMs } = this.#stretch;
    if (midnight - DAY_MS < fromMs) return (minutes) => this.#zone.instantOf(day, minutes);
    return (minutes) => midnight + minutes * MINUTE_MS - offsetMs;
  }
}

type Row = { readonly day: number; readonly segment: Session['segments'][number] };

function flatten(rows: readonly Row[]): Segments {
  const flat = emptySegments(rows.length);
  for (const [index, { day, segment }] of rows.entries()) {
    flat.openMs[index] = segment.openMs;
    flat.closeMs[index] = segment.closeMs;
    flat.kind[index] = segmentKinds.indexOf(segment.kind);
    flat.day[index] = day;
    flat.late[index] = segment.late ? 1 : 0;
  }
  return flat;
}

/** Builds the sessions of one year of a market. */
export function buildYear(market: Market, zone: Zone, year: number): SessionYear {
  const holidays = holidaysOf(market, year);
  const spansOf = new Map(market.hours.map((hours) => [hours, wholeSpans(hours)]));
  const sessions: Session[] = [];
  const clocks = new Clocks(zone, dayOf(year, 1, 1) * DAY_MS);
  const end = dayOf(year + 1, 1, 1);
  for (let day = dayOf(year, 1, 1); day < end; day++) {
    const hours = hoursOn(market, day);
    const rule = holidays.get(day) ?? null;
    if (!hours.weekdays.includes(weekdayOf(day)) || isClosing(rule)) continue;
    const whole = spansOf.get(hours)!;
    const spans = rule === null ? whole : shorten(whole, rule);
    if (!spans.some(({ kind }) => kind === 'regular')) continue;
    const instant = clocks.of(day);
    const ofDay = spans.filter(({ kind }) => scopeKinds.day.includes(kind));
    const { open, close } = regularHours(spans);
    sessions.push({
      day,
      openMs: instant(open),
      closeMs: instant(close),
      dayCloseMs: instant(ofDay.at(-1)!.close),
      template: rule === null ? 'REGULAR' : templateOf(spans, whole),
      holiday: rule,
      segments: spans.map((span) => ({
        kind: span.kind,
        openMs: instant(span.open),
        closeMs: instant(span.close),
        late: span.late,
      })),
    });
  }
  const days = Int32Array.from(sessions, ({ day }) => day);
  const rows = sessions.flatMap(({ day, segments }) => segments.map((segment) => ({ day, segment })));
  const scoped = (scope: SegmentScope): Segments =>
    flatten(rows.filter(({ segment }) => scopeKinds[scope].includes(segment.kind)));
  return { sessions, days, segments: { regular: scoped('regular'), day: scoped('day'), all: flatten(rows) } };
}

const scopes: readonly SegmentScope[] = ['regular', 'day', 'all'];

/** Bytes that a built year takes, as measured. */
export function yearBytes({ sessions, segments }: SessionYear): number {
  const { sessionBytes, segmentBytes } = calendarLimits;
  const columnBytes = scopes.reduce(
    (sum, scope) => sum + Object.values(segments[scope]).reduce((all, column) => all + column.byteLength, 0),
    0,
  );
  return sessions.length * sessionBytes + segments.all.openMs.length * segmentBytes + columnBytes;
}

const DAY_MINUTES = 1440;

/** The end of a day on the wire, which has no 24:00. */
const DAY_END = '23:59:59';

/**
 * Ranges of clock times, `HH:MM:SS-HH:MM:SS`; a range that ends at or before its start ends on the next day.
 * Auctions are left out (contract 3.13).
 */
export type TradingHours = Readonly<Record<'pre' | 'regular' | 'post', readonly string[]>>;

function clockText(minutes: number): string {
  const ofDay = ((minutes % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES;
  const parts = [Math.floor(ofDay / 60), ofDay % 60, 0];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** The hours of a market on a date, without holidays. */
export function tradingHours(market: Market, day: number): TradingHours {
  const found: Record<keyof TradingHours, string[]> = { pre: [], regular: [], post: [] };
  for (const [kind, open, close] of hoursOn(market, day).segments) {
    if (kind === 'auction') continue;
    const end = clockMinutes(close);
    found[kind].push(`${clockText(clockMinutes(open))}-${end === DAY_MINUTES ? DAY_END : clockText(end)}`);
  }
  return found;
}

/** The sum of the minutes of ranges of clock times. */
export const minutesOf = (ranges: readonly string[]): number =>
  ranges.reduce((sum, range) => sum + minutesOfRange(range), 0);

function minutesOfRange(range: string): number {
  const [open, close] = range.split('-').map((clock) => {
    const [hours, minutes, seconds] = (clock === DAY_END ? '24:00:00' : clock).split(':').map(Number);
    return hours! * 60 + minutes! + seconds! / 60;
  });
  return Math.round(close! > open! ? close! - open! : close! - open! + DAY_MINUTES);
}

const DAYS_OF_A_WEEK = 7;

type Usual = {
  /** The share of days that have a session. */
  readonly sessionShare: number;
  /** The minutes of the longest session, by scope. */
  readonly minutes: Readonly<Record<SegmentScope, number>>;
};

const known = new WeakMap<Market, Usual>();

export function usualOf(market: Market): Usual {
  const found = known.get(market) ?? findUsual(market);
  known.set(market, found);
  return found;
}

function findUsual({ hours }: Market): Usual {
  const minutesOf = (scope: SegmentScope): number =>
    Math.max(
      ...hours.map(({ segments }) =>
        segments
          .filter(([kind]) => scopeKinds[scope].includes(kind))
          .reduce((sum, [, open, close]) => sum + clockMinutes(close) - clockMinutes(open), 0),
      ),
    );
  return {
    sessionShare: Math.max(...hours.map(({ weekdays }) => weekdays.length)) / DAYS_OF_A_WEEK,
    minutes: { regular: minutesOf('regular'), day: minutesOf('day'), all: minutesOf('all') },
  };
}
