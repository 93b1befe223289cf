// The shape of one market's data: hours with effective dates, closings and shortened days, each with its source.
import type { AssetSchema } from '../contract/identifiers.ts';

/** The kinds of trading segment: pre-market, regular, post-market (contract 3.3). A break is the gap between two regular ones. */
export type SegmentKind = 'pre' | 'regular' | 'post';

/** A clock time on the label date, `HH:MM`; negative before its midnight (`-07:00` is 17:00 the day before), up to `24:00`. */
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

/** The dates a rule falls on, before observance; `plus` moves by days (the day after Thanksgiving). `nth` -1 is the last. */
export type When =
  | { readonly month: number; readonly day: number; readonly plus?: number }
  | { readonly month: number; readonly weekday: number; readonly nth: number; readonly plus?: number }
  | { readonly easter: number }
  | { readonly dates: readonly string[]; readonly plus?: number };

/**
 * Where a date that falls on a weekend moves to. `…-to-weekday`: the next weekday on which no other rule closes the market.
 * A date that moves nowhere falls away with the weekend.
 */
export type Observance =
  | 'sunday-to-monday'
  | 'nearest-weekday'
  | 'sunday-to-weekday'
  | 'weekend-to-weekday'
  | 'weekend-to-friday';

/** One closing or shortened day, by rule or by date. */
export type HolidayRule = {
  readonly code: string;
  readonly name: string;
  readonly when: When;
  readonly observed?: Observance;
  /** Falls away on other weekdays. */
  readonly weekdays?: readonly number[];
  /** First and last label date on which it holds. */
  readonly from?: string;
  readonly to?: string;
  /** A day as every other: what a later rule says of it does not hold. */
  readonly regular?: true;
  /** Neither: the market is closed. `close`: it ends early. `open`: it starts late. */
  readonly open?: Clock;
  readonly close?: Clock;
  readonly source: string;
};

/** What a rule says beside what it is called and where it stands. */
export type HolidayTerms = Omit<HolidayRule, 'code' | 'name' | 'source'>;

/** Makes the rules of one market, whose codes begin with `HOLIDAY_`; without a source of their own they have the usual one. */
export const rulesFrom =
  (usualSource: string) =>
  (code: string, name: string, terms: HolidayTerms, source = usualSource): HolidayRule => ({
    code: `HOLIDAY_${code}`,
    name,
    source,
    ...terms,
  });

/** One market, as data. */
export type Market = {
  /** `US_STOCK`: also `calendar_key` on the wire (contract 8.1). */
  readonly key: string;
  readonly assetSchema: AssetSchema;
  readonly country: string;
  readonly zone: string;
  /** The zone in which a date-only bound is a day (contract 2.3); the market's own unless named. */
  readonly dateZone?: string;
  readonly sessionTemplate: string;
  readonly currency: string | null;
  /** Exchange of an instrument that no file gives one: only where the market has none but itself. */
  readonly exchange: string | null;
  /** Years, first and last, for which `holidays` is complete; outside them the weekly pattern alone holds (contract 3.7). */
  readonly years: readonly [number, number];
  readonly hours: readonly Hours[];
  /** What each code of `holidays` means (spec 2.9). */
  readonly codes: Readonly<Record<string, string>>;
  /** The first that matches a date wins; what falls on its own date comes before what moves there. */
  readonly holidays: readonly HolidayRule[];
  /** Days of an operator's own, one date each, also outside `years`: they come before `holidays`. */
  readonly own?: readonly HolidayRule[];
};
