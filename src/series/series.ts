// The shape of an instrument's stored series, stretches of time, half-open, and when an instrument stopped
// trading (contract 3.9 (3)).

import { firstWhere } from '../base/ascending.ts';
import { dayOf, FIRST_MS, parseDay } from '../base/instant.ts';
import {
  INTERVAL_MINUTES_MAX,
  type Interval,
  intervalMinutes,
  namedIntervals,
} from '../contract/interval.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import type { Market } from '../market/calendar/market.ts';
import { rowWith } from '../store/all-rows.ts';
import type { series } from '../store/schema/bars.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { optionContracts } from '../store/schema/options.ts';
import type { Instrument } from '../store/schema/reference.ts';
import type { Reader } from '../store/store.ts';

const MONTH_LETTERS = 'FGHJKMNQUVXZ';
const FUTURE = new RegExp(`^[A-Z0-9]+([${MONTH_LETTERS}])(\\d{2}|\\d{4})$`);

/** Years of two digits from this one on are of the last century. */
const LAST_CENTURY = 70;

/**
 * A future may trade after the month in its symbol: a three-month interest rate future does so for three
 * months, to their end.
 */
const MONTHS_AFTER = 6;

const OPTION = /(\d{2})(\d{2})(\d{2})[CP]\d{8}$/;

/** A day on which a future such as `ESU23` has expired for certain; null for another symbol. */
function dayAfterFuture(symbol: string): number | null {
  const [, letter, digits] = FUTURE.exec(symbol) ?? [];
  if (letter === undefined) return null;
  const year =
    digits!.length > 2 ? Number(digits) : Number(digits) + (Number(digits) < LAST_CENTURY ? 2000 : 1900);
  const months = MONTH_LETTERS.indexOf(letter) + 1 + MONTHS_AFTER;
  return dayOf(year + Math.floor(months / 12), (months % 12) + 1, 1);
}

/** The day after the expiration in an option's symbol (contract 1.4). */
function dayAfterExpiration(symbol: string): number | null {
  const [, year, month, day] = OPTION.exec(symbol) ?? [];
  const expiration = year === undefined ? null : parseDay(`20${year}-${month}-${day}`);
  return expiration === null ? null : expiration + 1;
}

/** The expiration of an option: that of its contract, else the end of the date in its symbol. */
async function expirationOf(reader: Reader, { country_iso_code, symbol }: Instrument, calendar: Calendar) {
  const contract = await rowWith(reader, optionContracts, { country_iso_code, symbol });
  if (contract?.expiration_datetime != null) return contract.expiration_datetime;
  const after = contract === null ? dayAfterExpiration(symbol) : contract.expiration_date + 1;
  return after === null ? null : calendar.zone.instantOf(after, 0);
}

/** The end of the day on which an instrument was delisted, or its expiration; null where none is known. */
export async function tradedUntil(
  reader: Reader,
  instrument: Instrument,
  calendar: Calendar,
): Promise<number | null> {
  const { delisting_date, asset_schema, symbol } = instrument;
  const delisted = delisting_date === null ? null : parseDay(delisting_date);
  if (delisted !== null) return calendar.zone.instantOf(delisted + 1, 0);
  if (asset_schema === 'option') return expirationOf(reader, instrument, calendar);
  const after = asset_schema === 'future' ? dayAfterFuture(symbol) : null;
  return after === null ? null : calendar.zone.instantOf(after, 0);
}

/**
 * The instant from which on an instrument does not trade: long ago where it is inactive, null while nothing
 * says so.
 */
export async function endOf(
  reader: Reader,
  instrument: Instrument,
  calendar: Calendar,
): Promise<number | null> {
  return instrument.status === 'inactive' ? FIRST_MS : tradedUntil(reader, instrument, calendar);
}

/** `[fromMs, toMs)`. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/** The rest of some spans, ascending and apart, outside another one. */
const without = (spans: readonly Span[], { fromMs, toMs }: Span): Span[] =>
  spans.flatMap((span) => {
    if (span.toMs <= fromMs || span.fromMs >= toMs) return [span];
    return [
      { fromMs: span.fromMs, toMs: Math.min(span.toMs, fromMs) },
      { fromMs: Math.max(span.fromMs, toMs), toMs: span.toMs },
    ].filter((rest) => rest.fromMs < rest.toMs);
  });

/** The rest of some spans, ascending and apart, that no other spans cover. */
export const lacking = (spans: readonly Span[], others: readonly Span[]): Span[] =>
  others.reduce<Span[]>(without, [...spans]);

/**
 * Spans in any order as ascending ones that are apart: two are one where `isNothing` says that nothing is
 * between them.
 */
export function united(spans: readonly Span[], isNothing: (fromMs: number, toMs: number) => boolean): Span[] {
  const apart: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = apart.at(-1);
    if (last === undefined || (span.fromMs > last.toMs && !isNothing(last.toMs, span.fromMs)))
      apart.push(span);
    else if (span.toMs > last.toMs) apart[apart.length - 1] = { ...last, toMs: span.toMs };
  }
  return apart;
}

/** Neighbouring stored bars by the keys of the first and the last one. */
export type Stretch = { readonly first_ms: number; readonly last_ms: number };

/** One stored series of an instrument. Its first and last key are those of bars that are served. */
export type Series = Omit<RowOf<typeof series>, 'interval' | 'runs'> & {
  readonly interval: Interval;
  /**
   * Whether a stored bar opens off the session grid: nothing is derived from such a series (contract 3.10).
   */
  readonly isOffGrid: boolean;
  /** Bars that are not served, ascending (contract 3.9 (5)). */
  readonly unfinished: readonly Stretch[];
  /**
   * The times that are covered for certain, ascending and apart: `Completeness` knows of others (contract
   * 3.9).
   */
  readonly covered: readonly Span[];
  /**
   * It is what was known of the series or its calendar at a moment (`read-stored.ts`): bars that are made of
   * it are not kept.
   */
  readonly isPart?: true;
};

/** A series as its row has it, without what follows from facts and bars. */
export const asStored = (row: RowOf<typeof series>): Series => ({
  instrument_id: row.instrument_id,
  interval: row.interval as Interval,
  series_id: row.series_id,
  prices: row.prices,
  volumes: row.volumes,
  first_ms: row.first_ms,
  last_ms: row.last_ms,
  bar_count: row.bar_count,
  isOffGrid: false,
  unfinished: [],
  covered: [],
});

/** An instrument with its calendar and those of its series that have bars. */
export type StoredInstrument = {
  readonly instrument: Instrument;
  readonly calendar: Calendar;
  readonly series: readonly Series[];
  /** As `marketName` gives it. */
  readonly market: string;
  /** From this instant on all its series are complete; null while it is traded (contract 3.9). */
  readonly endedMs: number | null;
};

/** Minutes, for comparing how coarse series are; DAY, WEEK and MON come after all of them. */
export const coarseness = ({ interval }: { readonly interval: string }): number =>
  intervalMinutes(interval as Interval) ?? INTERVAL_MINUTES_MAX + namedIntervals.indexOf(interval);

/** The market of an instrument, as runs record it: `stock/US_STOCK`; without a known market `stock/BR`. */
export const marketName = (
  { asset_schema, country_iso_code }: Pick<Instrument, 'asset_schema' | 'country_iso_code'>,
  market: Market | null,
): string => `${asset_schema}/${market?.key ?? country_iso_code}`;

/** True if a stored bar is not served (contract 3.9). */
export function isUnfinished({ unfinished }: Pick<Series, 'unfinished'>, keyMs: number): boolean {
  const next = firstWhere(unfinished.length, (index) => unfinished[index]!.first_ms > keyMs);
  return next > 0 && unfinished[next - 1]!.last_ms >= keyMs;
}
