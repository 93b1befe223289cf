// A market's calendar: its sessions and segments over any range; and which market an instrument follows.

import { firstWhere } from '../../base/ascending.ts';
import { DAY_MS, dateOf, YEAR_MAX, YEAR_MIN } from '../../base/instant.ts';
import { SizedCache } from '../../base/sized-cache.ts';
import type { AssetSchema } from '../../contract/identifiers.ts';
import { calendarLimits } from './limits.ts';
import type { HolidayRule, Market } from './market.ts';
import { crypto } from './markets/crypto.ts';
import { markets } from './markets/index.ts';
import { dayOfText, holidaysOf } from './rules.ts';
import {
  buildYear,
  clockMinutes,
  emptySegments,
  type SegmentScope,
  type Segments,
  type Session,
  type SessionYear,
  scopeKinds,
  yearBytes,
} from './session.ts';
import { findZone, type Zone, zoneOf } from './zone.ts';

/** Index of the first element that is greater than `value` in an ascending array. */
const upperBound = (values: ArrayLike<number>, value: number): number =>
  firstWhere(values.length, (at) => values[at]! > value);

function slice(segments: Segments, from: number, to: number): Segments {
  return {
    openMs: segments.openMs.subarray(from, to),
    closeMs: segments.closeMs.subarray(from, to),
    kind: segments.kind.subarray(from, to),
    day: segments.day.subarray(from, to),
    late: segments.late.subarray(from, to),
  };
}

function concat(parts: readonly Segments[]): Segments {
  const joined = emptySegments(parts.reduce((sum, part) => sum + part.openMs.length, 0));
  let at = 0;
  for (const part of parts) {
    for (const column of ['openMs', 'closeMs', 'kind', 'day', 'late'] as const)
      joined[column].set(part[column], at);
    at += part.openMs.length;
  }
  return joined;
}

const yearOfOverride = (rule: HolidayRule): number =>
  'dates' in rule ? dateOf(dayOfText(rule.dates)).year : 0;

/** The built years of all calendars of this thread, by the number of the calendar and the year. */
const builtYears = new SizedCache<SessionYear, number>(calendarLimits.yearBytesMax);

/** Numbers of calendars are so far apart that the years of no two of them meet. */
const NUMBERS_APART = 10_000;

let calendarCount = 0;

/** The calendar of one market. Years are built on first use and kept in `builtYears`. */
export class Calendar {
  readonly market: Market;
  readonly zone: Zone;
  /** The zone in which a date-only bound is a day (contract 2.3). */
  readonly dateZone: Zone;
  /**
   * Whether sessions open on the evening before their label date: those of foreign exchange and futures
   * (contract 3.7).
   */
  readonly opensEvenings: boolean;
  readonly #number = NUMBERS_APART * calendarCount++;
  readonly #base: Calendar | null;
  readonly #overridesByYear: ReadonlyMap<number, readonly HolidayRule[]>;
  /**
   * The first year in which it differs from `base` for what was not announced yet; null where it knows
   * everything.
   */
  readonly #unannouncedFrom: number | null;
  /** The days of announcements, ascending, each once. */
  readonly #announcements: readonly number[];
  /** As the calendar was known before some of the announcements, by their days. */
  readonly #knownBefore = new SizedCache<Calendar, number>(calendarLimits.knownBeforeMax);

  /**
   * `base` is the same calendar without overrides, and serves the years that have none; or, from the year
   * `unannouncedFrom` on, the same calendar with what was not announced yet, and serves the years before it.
   */
  constructor(market: Market, base: Calendar | null = null, unannouncedFrom: number | null = null) {
    this.market = market;
    this.#base = base;
    this.#unannouncedFrom = unannouncedFrom;
    this.#overridesByYear = Map.groupBy(market.overrides ?? [], yearOfOverride);
    const announced = [...market.holidays, ...(market.overrides ?? [])].flatMap(
      (rule) => rule.announced ?? [],
    );
    this.#announcements = [...new Set(announced.map(dayOfText))].sort((a, b) => a - b);
    this.zone = zoneOf(market.zone);
    this.dateZone = zoneOf(market.dateZone ?? market.zone);
    this.opensEvenings = market.hours.some((hours) => clockMinutes(hours.segments[0]![1]) < 0);
  }

  /** Whether the market has segments of kinds that a scope leaves out (contract 3.5). */
  hasBeyond(scope: SegmentScope): boolean {
    return this.market.hours.some(({ segments }) =>
      segments.some(([kind]) => !scopeKinds[scope].includes(kind)),
    );
  }

  /** The years that have overrides. */
  get overrideYears(): readonly number[] {
    return [...this.#overridesByYear.keys()];
  }

  /**
   * The calendar as it was known at a moment: without the days that were announced on a later date of the
   * market (contract 9.8). Days up to that date are the same, because none is announced after it. In the end
   * everything is announced.
   */
  knownAt(ms: number): Calendar {
    if (ms === Number.POSITIVE_INFINITY) return this;
    const next = this.#announcements[upperBound(this.#announcements, this.zone.dayAt(ms))];
    if (next === undefined) return this;
    const isKnown = ({ announced }: HolidayRule): boolean =>
      announced === undefined || dayOfText(announced) < next;
    const known =
      this.#knownBefore.get(next) ??
      new Calendar(
        {
          ...this.market,
          holidays: this.market.holidays.filter(isKnown),
          overrides: (this.market.overrides ?? []).filter(isKnown),
        },
        this,
        yearOfDay(next),
      );
    if (!this.#knownBefore.has(next)) this.#knownBefore.set(next, known, 1);
    return known;
  }

  /** The rule of each closed or shortened day of a year. */
  holidays(year: number): Map<number, HolidayRule> {
    return holidaysOf(this.#marketIn(year), year);
  }

  #marketIn(year: number): Market {
    return { ...this.market, overrides: this.#overridesByYear.get(year) ?? [] };
  }

  #year(year: number): SessionYear {
    const isOwn =
      this.#unannouncedFrom === null ? this.#overridesByYear.has(year) : year >= this.#unannouncedFrom;
    if (this.#base !== null && !isOwn) return this.#base.#year(year);
    const known = builtYears.get(this.#number + year);
    if (known !== undefined) return known;
    const built = buildYear(this.#marketIn(year), this.zone, year);
    builtYears.set(this.#number + year, built, yearBytes(built));
    return built;
  }

  /** The segments of a scope that overlap `[fromMs, toMs)`, in order. */
  segments(fromMs: number, toMs: number, scope: SegmentScope): Segments {
    if (toMs <= fromMs) return emptySegments(0);
    // A session may begin on the day before its label or end on the day after it, in the zone's own date.
    const first = yearOf(fromMs - 2 * DAY_MS);
    const last = yearOf(toMs + 2 * DAY_MS);
    const parts: Segments[] = [];
    for (let year = first; year <= last; year++) {
      const segments = this.#year(year).segments[scope];
      const from = upperBound(segments.closeMs, fromMs);
      const to = upperBound(segments.openMs, toMs - 1);
      if (to > from) parts.push(slice(segments, from, to));
    }
    return parts.length === 1 ? parts[0]! : concat(parts);
  }

  /** The sessions with label dates in `[fromDay, toDay)`, in order. */
  sessions(fromDay: number, toDay: number): Session[] {
    const found: Session[] = [];
    for (let year = yearOfDay(fromDay); year <= yearOfDay(toDay - 1); year++) {
      const { sessions, days } = this.#year(year);
      found.push(...sessions.slice(upperBound(days, fromDay - 1), upperBound(days, toDay - 1)));
    }
    return found;
  }

  /** Counts the sessions with label dates in `[fromDay, toDay)`. */
  countSessions(fromDay: number, toDay: number): number {
    let count = 0;
    for (let year = yearOfDay(fromDay); year <= yearOfDay(toDay - 1); year++) {
      const { days } = this.#year(year);
      count += upperBound(days, toDay - 1) - upperBound(days, fromDay - 1);
    }
    return count;
  }

  /** The session whose label date is `day`; null where the market is closed. */
  sessionOn(day: number): Session | null {
    const session = this.sessionOnOrBefore(day);
    return session?.day === day ? session : null;
  }

  /**
   * The label date of the session that a DAY row of a date belongs to: of a closed date whose evening opens a
   * session, that session's; else the date itself (contract 3.10).
   */
  labelOfRow(day: number): number {
    if (!this.opensEvenings || this.sessionOn(day) !== null) return day;
    const next = this.sessionOn(day + 1);
    return next !== null && this.zone.dayAt(next.openMs) === day ? next.day : day;
  }

  /** The session whose label date is `day`, or the nearest one before it. */
  sessionOnOrBefore(day: number): Session | null {
    for (let year = yearOfDay(day); year >= YEAR_MIN; year--) {
      const { sessions, days } = this.#year(year);
      const index = upperBound(days, day) - 1;
      if (index >= 0) return sessions[index]!;
    }
    return null;
  }

  /** The first session whose label date is `day` or later. */
  sessionOnOrAfter(day: number): Session | null {
    for (let year = yearOfDay(day); year <= YEAR_MAX; year++) {
      const { sessions, days } = this.#year(year);
      const index = upperBound(days, day - 1);
      if (index < sessions.length) return sessions[index]!;
    }
    return null;
  }

  /** The label date of the session that contains an instant, first segment to last; null between sessions. */
  labelAt(ms: number): number | null {
    for (const day of [this.zone.dayAt(ms), this.zone.dayAt(ms) + 1]) {
      const session = this.sessionOn(day);
      if (session === null) continue;
      const { segments } = session;
      if (ms >= segments[0]!.openMs && ms < segments[segments.length - 1]!.closeMs) return day;
    }
    return null;
  }
}

const yearOfDay = (day: number): number => Math.min(Math.max(dateOf(day).year, YEAR_MIN), YEAR_MAX);
const yearOf = (ms: number): number => yearOfDay(Math.floor(ms / DAY_MS));

const calendars = new Map<string, Calendar>();

/** The asset type of the market that instruments follow by default: options follow stocks (contract 3.7). */
export const marketSchema = (assetSchema: AssetSchema): AssetSchema =>
  assetSchema === 'option' ? 'stock' : assetSchema;

const byKey = new Map(markets.map((market) => [market.key, market]));
const byCountry = new Map(
  markets
    .filter(({ onlyByKey }) => onlyByKey === undefined)
    .map((market) => [`${market.assetSchema}:${market.country}`, market]),
);

/** The market of a calendar key; null for an unknown key. */
export const marketOfKey = (key: string | null): Market | null =>
  key === null ? null : (byKey.get(key) ?? null);

/**
 * The market that instruments follow: that of their calendar key, else of their asset type and country. Null
 * without one.
 */
export function findMarket(
  assetSchema: AssetSchema,
  country: string,
  key: string | null = null,
): Market | null {
  return marketOfKey(key) ?? byCountry.get(`${marketSchema(assetSchema)}:${country}`) ?? null;
}

/**
 * The calendar of the market that `findMarket` finds. Without a market, trading goes on all day in `zone`, by
 * default UTC (contract 3.7).
 */
export function calendarOf(
  assetSchema: AssetSchema,
  country: string,
  zone: string | null = null,
  key: string | null = null,
): Calendar {
  const market = findMarket(assetSchema, country, key);
  const zoneName = zone !== null && findZone(zone) !== null ? zone : 'UTC';
  const name = market?.key ?? zoneName;
  let calendar = calendars.get(name);
  if (calendar === undefined) {
    const alwaysOpen = { ...crypto, key: '', assetSchema, country, zone: zoneName };
    calendar = new Calendar(market ?? { ...alwaysOpen, sessionTemplate: '', exchange: null });
    calendars.set(name, calendar);
  }
  return calendar;
}
