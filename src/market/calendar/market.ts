// The shape of one market's data: hours with effective dates, closed and shortened days, each with its
// source.
import type { AssetSchema } from '../../contract/identifiers.ts';

/**
 * The kinds of trading segment: pre-market, regular, closing auction, post-market (contract 3.3). A break is
 * the gap between two regular ones. An auction begins where the regular segment before it ends, and ends
 * after the minute of the latest possible print (contract 3.13).
 */
export type SegmentKind = 'pre' | 'regular' | 'auction' | 'post';

/**
 * A clock time on the label date, `HH:MM`; negative before its midnight (`-07:00` is 17:00 the day before),
 * up to `24:00`.
 */
export type Clock = string;

/** One segment of a session by local clock, open included, close not. */
export type SegmentHours = readonly [kind: SegmentKind, open: Clock, close: Clock];

/** The weekly pattern from a label date on. Weekdays are ISO: 1 Monday .. 7 Sunday. */
export type Hours = {
  readonly from: string;
  readonly weekdays: readonly number[];
  readonly segments: readonly SegmentHours[];
  readonly source: string;
};

/** Hours of Monday to Friday from a label date on. */
export const weekdayHours = (from: string, source: string, segments: readonly SegmentHours[]): Hours => ({
  from,
  weekdays: [1, 2, 3, 4, 5],
  segments,
  source,
});

/**
 * The dates of a rule, before observance; `plus` moves them by days (the day after Thanksgiving). `nth` -1 is
 * the last. `dates` are separated by white space; `first/last` means the weekdays from one date to another.
 */
type RuleDates =
  | { readonly month: number; readonly day: number; readonly plus?: number }
  | { readonly month: number; readonly weekday: number; readonly nth: number; readonly plus?: number }
  | { readonly easter: number }
  | { readonly dates: string; readonly plus?: number };

/**
 * The rule by which a date on a weekend moves. `…-to-weekday`: to the next weekday on which no other rule
 * closes the market. A rule without observance has no effect on weekends.
 */
export type Observance =
  | 'sunday-to-monday'
  | 'nearest-weekday'
  | 'sunday-to-weekday'
  | 'weekend-to-weekday'
  | 'weekend-to-friday';

/** When the market is closed or shortened, by rule or by date. */
export type HolidayTerms = RuleDates & {
  readonly observed?: Observance;
  /** The rule applies on these weekdays only. */
  readonly weekdays?: readonly number[];
  /** First and last label date on which it applies. */
  readonly from?: string;
  readonly to?: string;
  /**
   * The date of the market from which its days were known, none of them before it; absent where they are
   * known in advance. Where a source leaves the date open, it is the last possible one (contract 9.8).
   */
  readonly announced?: string;
  /** An ordinary trading day; overrides later rules. */
  readonly regular?: true;
  /** Without both the market is closed. `close`: it ends early. `open`: it starts late. */
  readonly open?: Clock;
  readonly close?: Clock;
  /**
   * The end of the closing auction after an early close; by default it is as long as usual. One that ends at
   * `close` is none.
   */
  readonly auction?: Clock;
};

/** One closed or shortened day. */
export type HolidayRule = HolidayTerms & {
  readonly code: string;
  readonly name: string;
  readonly source: string;
  /** Whose day an operator imported, `*` for the whole market, and its priority; absent on days that ship. */
  readonly imported?: { readonly symbol: string; readonly priority: number };
};

/** Makes rules of one source, which may share some of their terms. Codes get the prefix `HOLIDAY_`. */
export const rulesFrom =
  (source: string, shared: Pick<HolidayTerms, 'observed' | 'close' | 'auction' | 'announced'> = {}) =>
  (code: string, name: string, terms: HolidayTerms): HolidayRule => ({
    code: `HOLIDAY_${code}`,
    name,
    source,
    ...shared,
    ...terms,
  });

/**
 * A holiday of one year that was moved from its usual date to another. It stands before the rule of the usual
 * date.
 */
export const moved = (
  rule: ReturnType<typeof rulesFrom>,
  code: string,
  name: string,
  from: string,
  to: string,
): HolidayRule[] => [rule(code, name, { dates: from, regular: true }), rule(code, name, { dates: to })];

/** One market, as data. */
export type Market = {
  /** `US_STOCK`: also `calendar_key` on the wire (contract 8.1). */
  readonly key: string;
  /** Asset type and country of the instruments that follow it by default. */
  readonly assetSchema: AssetSchema;
  readonly country: string;
  /** A further venue of its asset type and country: only instruments that name its key follow it. */
  readonly onlyByKey?: true;
  readonly zone: string;
  /** The zone in which a date-only bound is a day (contract 2.3); the market's own unless named. */
  readonly dateZone?: string;
  readonly sessionTemplate: string;
  readonly currency: string | null;
  /** The default exchange of its instruments; null where the market has several exchanges. */
  readonly exchange: string | null;
  /**
   * First and last year for which `holidays` is complete; outside them only the weekly pattern applies
   * (contract 3.7).
   */
  readonly years: readonly [number, number];
  readonly hours: readonly Hours[];
  /** What each code of `holidays` means (spec 2.9). */
  readonly codes: Readonly<Record<string, string>>;
  /** The first rule of a date wins; a rule on its own date overrides one that moves there. */
  readonly holidays: readonly HolidayRule[];
  /**
   * Calendar overrides, one date each, also outside `years`: they override `holidays`. The first rule of a
   * date wins.
   */
  readonly overrides?: readonly HolidayRule[];
};

/** A market of stocks: its key and its session template are named after its country. */
export const stockMarket = (
  country: string,
  market: Omit<Market, 'key' | 'assetSchema' | 'country' | 'sessionTemplate'>,
): Market => ({
  key: `${country}_STOCK`,
  assetSchema: 'stock',
  country,
  sessionTemplate: `${country}_STOCK_RTH`,
  ...market,
});
