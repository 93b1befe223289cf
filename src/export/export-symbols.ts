// The symbol by which an import finds the same instrument again on a day (contract 9.6).
import { limits } from '../contract/limits.ts';
import {
  type FormerSymbol,
  type InstrumentName,
  instruments,
  instrumentTerms,
} from '../datasets/reference.ts';
import { bearerOn } from '../history/naming.ts';
import { rowWith } from '../store/all-rows.ts';
import { ignoreDamage } from '../store/damage.ts';
import { type FormerBearer, formerBearers } from '../store/instrument-terms.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import type { Reader } from '../store/store.ts';

/** The symbols of one instrument by day. */
export type SymbolsOfOne = {
  /** Whether it is the present symbol on every day. */
  readonly areOne: boolean;
  /** The symbol of a row that is about a day; counts the row for `notes`. */
  readonly on: (day: number) => string;
};

/** The symbols of one export, and how many of its rows have other symbols than the present ones. */
export class ExportSymbols {
  /** Rows under another symbol than the present one. */
  #former = 0;
  /** Rows that an import would give to another instrument. */
  #astray = 0;
  readonly #reader: Reader;
  readonly #known = new Map<string, SymbolsOfOne>();
  readonly #markets = new Map<string, boolean>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async of(name: InstrumentName): Promise<SymbolsOfOne> {
    const key = rowKeyOf(instruments, name);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= limits.instrumentCacheMax) this.#known.clear();
    const symbols = await this.#read(name);
    this.#known.set(key, symbols);
    return symbols;
  }

  /**
   * The present symbol, except on days on which another instrument had it: there the symbol that this one had, if an import
   * finds it by that.
   */
  async #read({ asset_schema, country_iso_code, symbol }: InstrumentName): Promise<SymbolsOfOne> {
    const market = { asset_schema, country_iso_code };
    const bearersOf = (had: string): Promise<FormerBearer[]> =>
      formerBearers(this.#reader, { ...market, symbol: had }, ignoreDamage);
    const bearers = (await this.#hasFormer(market)) ? await bearersOf(symbol) : [];
    if (bearers.length === 0) return { areOne: true, on: () => symbol };
    const row = await rowWith(this.#reader, instruments, { ...market, symbol });
    const former: (FormerSymbol & { readonly bearers: readonly FormerBearer[] })[] = [];
    for (const one of (row?.former_symbols ?? []) as FormerSymbol[])
      former.push({ ...one, bearers: await bearersOf(one.symbol) });
    const on = (day: number): string => {
      if ((bearerOn(bearers, day)?.symbol ?? symbol) === symbol) return symbol;
      const had = former.find(
        (one) => one.from_day <= day && day <= one.to_day && bearerOn(one.bearers, day)?.symbol === symbol,
      );
      if (had === undefined) this.#astray++;
      else this.#former++;
      return had?.symbol ?? symbol;
    };
    return { areOne: false, on };
  }

  /** Whether any instrument of a market had another symbol: in most none had, which saves a read for each instrument. */
  async #hasFormer(market: Pick<InstrumentName, 'asset_schema' | 'country_iso_code'>): Promise<boolean> {
    const key = Object.values(market).join(':');
    const known = this.#markets.get(key);
    if (known !== undefined) return known;
    const read = { where: { ...market, kind: 'former' }, order: [['term', 'asc']], limit: 1 } as const;
    const has = (await this.#reader.rows(instrumentTerms, read)).length > 0;
    this.#markets.set(key, has);
    return has;
  }

  /** What an importer of the file should know; `row` is what its rows are called. */
  notes(row: 'bar' | 'row'): string[] {
    const former =
      'under a symbol that their instrument had then, for another one had its present symbol; import the instruments before them';
    const astray =
      'of days on which another instrument had the symbol; a store that knows former symbols gives them to the other one';
    return [[this.#former, former] as const, [this.#astray, astray] as const]
      .filter(([count]) => count > 0)
      .map(([count, note]) => `${count} ${row}${count === 1 ? '' : 's'} ${note}`);
  }
}
