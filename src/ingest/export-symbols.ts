// The symbol under which a file names a bar, so that its import finds the same instrument again (contract 9.6).
import type { Bars } from '../bars/bars.ts';
import { DAY_MS } from '../base/instant.ts';
import { calendarOf } from '../calendar/calendar.ts';
import type { Zone } from '../calendar/zone.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import { type Interval, intervalMinutes } from '../contract/interval.ts';
import type { RowOf } from '../datasets/dataset.ts';
import type { FormerSymbol, instruments } from '../datasets/reference.ts';
import { type FormerBearer, formerBearers } from '../store/instrument-terms.ts';
import type { Reader } from '../store/store.ts';

type Instrument = RowOf<typeof instruments>;

/** Bars one after the other that stand under one symbol. */
type Run = { readonly symbol: string; readonly from: number; readonly to: number };

/** Whom an import takes for the bearer of a symbol on a day; null where it is the one that has it now. */
const bearerOn = (bearers: readonly FormerBearer[], day: number): string | null =>
  bearers.find(({ fromDay, toDay }) => fromDay <= day && day <= toDay)?.symbol ?? null;

/**
 * The symbols of one series' bars: the instrument's own, except on days on which another instrument had it. There it is the one
 * that this instrument had, if an import finds it by that.
 */
export class BarSymbols {
  /** Bars under another symbol than the present one. */
  former = 0;
  /** Bars that an import would give to another instrument. */
  astray = 0;
  readonly #symbol: string;
  /** Those that had the instrument's symbol, and by each of its own former ones those that had that. */
  readonly #bearers: readonly FormerBearer[];
  readonly #former: readonly (FormerSymbol & { readonly bearers: readonly FormerBearer[] })[];
  /** Of the opens of minutes; null where keys are dates. */
  readonly #zone: Zone | null;

  private constructor(
    symbol: string,
    bearers: readonly FormerBearer[],
    former: readonly (FormerSymbol & { readonly bearers: readonly FormerBearer[] })[],
    zone: Zone | null,
  ) {
    this.#symbol = symbol;
    this.#bearers = bearers;
    this.#former = former;
    this.#zone = zone;
  }

  static async of(reader: Reader, instrument: Instrument, interval: string): Promise<BarSymbols> {
    const { asset_schema, country_iso_code, symbol } = instrument;
    const bearersOf = (name: string): Promise<FormerBearer[]> =>
      formerBearers(reader, { asset_schema, country_iso_code, symbol: name });
    const bearers = await bearersOf(symbol);
    const isMinutes = intervalMinutes(interval as Interval) !== null;
    const zone = isMinutes ? calendarOf(asset_schema as AssetSchema, country_iso_code).zone : null;
    const former = [];
    if (bearers.length > 0)
      for (const one of (instrument.former_symbols ?? []) as FormerSymbol[])
        former.push({ ...one, bearers: await bearersOf(one.symbol) });
    return new BarSymbols(symbol, bearers, former, zone);
  }

  /** All of some bars, in order. */
  runs({ count, keyMs }: Bars): Run[] {
    if (this.#bearers.length === 0) return [{ symbol: this.#symbol, from: 0, to: count }];
    const runs: Run[] = [];
    let from = 0;
    let before = this.#symbolOf(keyMs[0]!);
    for (let at = 1; at <= count; at++) {
      const symbol = at < count ? this.#symbolOf(keyMs[at]!) : null;
      if (symbol === before) continue;
      runs.push({ symbol: before, from, to: at });
      if (symbol === null) break;
      [before, from] = [symbol, at];
    }
    return runs;
  }

  #symbolOf(keyMs: number): string {
    const day = this.#zone === null ? keyMs / DAY_MS : this.#zone.dayAt(keyMs);
    if ((bearerOn(this.#bearers, day) ?? this.#symbol) === this.#symbol) return this.#symbol;
    const had = this.#former.find(
      ({ from_day, to_day, bearers }) =>
        from_day <= day && day <= to_day && bearerOn(bearers, day) === this.#symbol,
    );
    if (had === undefined) this.astray++;
    else this.former++;
    return had?.symbol ?? this.#symbol;
  }
}
