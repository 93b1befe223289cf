// One year of a market's sessions as parallel arrays: label dates, segments, and what shortens them.
import { DAY_MS, dayOf, MINUTE_MS, weekdayOf } from '../base/instant.ts';
import type { Clock, HolidayRule, Market, SegmentHours, SegmentKind } from './market.ts';
import { dayOfText, holidaysOf } from './rules.ts';
import type { Stretch, Zone } from './zone.ts';

/** Segment kinds as numbers, for the arrays. */
export const segmentKinds: readonly SegmentKind[] = ['pre', 'regular', 'post'];
export const REGULAR = 1;

/** Whether a session is whole, or how a rule shortens it. */
export type SessionTemplate = 'REGULAR' | 'EARLY_CLOSE' | 'LATE_OPEN';

/** Segments in order of time: parallel arrays of equal length; instants in milliseconds, `[open, close)`. */
export type Segments = {
  readonly openMs: Float64Array;
  readonly closeMs: Float64Array;
  /** Index into `segmentKinds`. */
  readonly kind: Uint8Array;
  /** Label date of the session, as a day number. */
  readonly day: Int32Array;
  /** 1 where the segment opens later than on other days. */
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

/** One session: its label date, its regular hours as instants, and its segments. */
export type Session = {
  readonly day: number;
  readonly openMs: number;
  readonly closeMs: number;
  readonly template: SessionTemplate;
  readonly holiday: HolidayRule | null;
  readonly segments: readonly {
    readonly kind: SegmentKind;
    readonly openMs: number;
    readonly closeMs: number;
    readonly late: boolean;
  }[];
};

/** The sessions whose label dates are in one year, their label dates, and their segments. */
export type SessionYear = {
  readonly sessions: readonly Session[];
  readonly days: Int32Array;
  readonly segments: Segments;
};

/** Minutes after the label date's midnight; negative before it. */
export function clockMinutes(clock: Clock): number {
  const before = clock.startsWith('-');
  const [hours, minutes] = (before ? clock.slice(1) : clock).split(':');
  return (before ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

type Span = {
  readonly kind: SegmentKind;
  readonly open: number;
  readonly close: number;
  /** Opens later than on other days. */
  readonly late: boolean;
};

/** The regular hours of a day, first open to last close. */
function regularHours(spans: readonly Span[]): { readonly open: number; readonly close: number } {
  const regular = spans.filter(({ kind }) => kind === 'regular');
  return { open: regular[0]!.open, close: regular[regular.length - 1]!.close };
}

/** The segments of a shortened day: regular hours are cut, the pre-market ends where they begin, the post-market follows them at its full length. */
function shorten(spans: readonly Span[], rule: HolidayRule): Span[] {
  const open = rule.open === undefined ? Number.NEGATIVE_INFINITY : clockMinutes(rule.open);
  const close = rule.close === undefined ? Number.POSITIVE_INFINITY : clockMinutes(rule.close);
  const earlier = Math.max(0, regularHours(spans).close - close);
  const cut = spans.map((span) => {
    if (span.kind === 'pre') return { ...span, close: Math.max(span.close, open) };
    if (span.kind === 'post') return { ...span, open: span.open - earlier, close: span.close - earlier };
    return {
      ...span,
      open: Math.max(span.open, open),
      close: Math.min(span.close, close),
      late: open > span.open,
    };
  });
  return cut.filter((span) => span.open < span.close);
}

function spansOf(segments: readonly SegmentHours[]): Span[] {
  return segments.map(([kind, open, close]) => ({
    kind,
    open: clockMinutes(open),
    close: clockMinutes(close),
    late: false,
  }));
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

  /** Turns clock minutes of a date into instants: by one subtraction where the offset does not change around the date. */
  of(day: number): (minutes: number) => number {
    const midnight = day * DAY_MS;
    if (midnight + 2 * DAY_MS >= this.#stretch.toMs)
      this.#stretch = this.#zone.stretchAt(midnight + 2 * DAY_MS);
    const { fromMs, offsetMs } = this.#stretch;
    if (midnight - DAY_MS < fromMs) return (minutes) => this.#zone.instantOf(day, minutes);
    return (minutes) => midnight + minutes * MINUTE_MS - offsetMs;
  }
}

function buildSession(
  instant: (minutes: number) => number,
  day: number,
  spans: readonly Span[],
  template: SessionTemplate,
  rule: HolidayRule | null,
): Session {
  const segments = spans.map((span) => ({
    kind: span.kind,
    openMs: instant(span.open),
    closeMs: instant(span.close),
    late: span.late,
  }));
  const { open, close } = regularHours(spans);
  return {
    day,
    openMs: instant(open),
    closeMs: instant(close),
    template,
    holiday: rule,
    segments,
  };
}

function flatten(sessions: readonly Session[]): Segments {
  const segments = emptySegments(sessions.reduce((sum, session) => sum + session.segments.length, 0));
  let index = 0;
  for (const session of sessions) {
    for (const segment of session.segments) {
      segments.openMs[index] = segment.openMs;
      segments.closeMs[index] = segment.closeMs;
      segments.kind[index] = segmentKinds.indexOf(segment.kind);
      segments.day[index] = session.day;
      segments.late[index] = segment.late ? 1 : 0;
      index++;
    }
  }
  return segments;
}

/** Builds the sessions of one year of a market. */
export function buildYear(market: Market, zone: Zone, year: number): SessionYear {
  const holidays = holidaysOf(market, year);
  const patterns = market.hours.map((hours) => ({
    ...hours,
    fromDay: dayOfText(hours.from),
    spans: spansOf(hours.segments),
  }));
  const sessions: Session[] = [];
  const clocks = new Clocks(zone, dayOf(year, 1, 1) * DAY_MS);
  const end = dayOf(year + 1, 1, 1);
  for (let day = dayOf(year, 1, 1); day < end; day++) {
    const pattern = patterns.findLast((candidate) => candidate.fromDay <= day) ?? patterns[0]!;
    if (!pattern.weekdays.includes(weekdayOf(day))) continue;
    const rule = holidays.get(day) ?? null;
    if (rule !== null && rule.open === undefined && rule.close === undefined) continue;
    if (rule === null) {
      sessions.push(buildSession(clocks.of(day), day, pattern.spans, 'REGULAR', null));
      continue;
    }
    const spans = shorten(pattern.spans, rule);
    if (spans.some(({ kind }) => kind === 'regular'))
      sessions.push(buildSession(clocks.of(day), day, spans, templateOf(spans, pattern.spans), rule));
  }
  return {
    sessions,
    days: Int32Array.from(sessions, ({ day }) => day),
    segments: flatten(sessions),
  };
}
