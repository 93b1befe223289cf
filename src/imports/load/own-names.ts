// The names that the store's instruments have, for those that a file writes (contract 9.21).
import { upperAscii } from '../../contract/identifiers.ts';
import { seriesWithBars } from '../../runs/naming.ts';
import { nameOf } from '../../runs/new-instrument.ts';
import { rowsAmong } from '../../store/all-rows.ts';
import {
  instrumentNamed,
  namesOf,
  type SymbolKind,
  symbolsLike,
  symbolsOfRoot,
} from '../../store/instrument-terms.ts';
import { rowKeyOf } from '../../store/journal-entries.ts';
import { symbolRule } from '../../store/schema/dataset.ts';
import { importRuns, rowChanges } from '../../store/schema/internal.ts';
import { areAlike, groupOfAlike, placeOfAlike, plainOf, unsignedPair } from '../../store/schema/notations.ts';
import { type InstrumentName, instruments, instrumentTerms } from '../../store/schema/reference.ts';
import type { Writer } from '../../store/store.ts';

/** The symbol of an instrument for one that a file writes, or why it is of none. */
type OwnSymbol = { readonly symbol: string } | { readonly reason: string };

/** A name in the file, and the symbol under which its rows are stored. */
type Spelling = { readonly written: string; readonly symbol: string };

/** Symbols that a message names. */
const TOLD_MAX = 3;

const marketOf = ({ asset_schema, country_iso_code }: InstrumentName): string =>
  `${asset_schema} ${country_iso_code}`;

/** The names of one import. */
export class OwnNames {
  readonly #writer: Writer;
  /** By name. Symbols that no other can be like, which are nearly all, are left out. */
  readonly #own = new Map<string, OwnSymbol>();
  /**
   * Names of the file by what they have in common: a file has one notation, so two spellings are two
   * securities.
   */
  readonly #spellings = new Map<string, Spelling[]>();
  readonly #kinds = new Map<string, readonly SymbolKind[]>();
  /** Symbols of the file that it has under others, and its rows with them. */
  readonly #renamed = new Map<string, string>();
  #rows = 0;
  /**
   * New stocks of the file that the store may have under the root of their options, by symbol, and the rows
   * of each.
   */
  readonly #rooted = new Map<string, RootStock & { rows: number }>();

  /** True if the file names stocks by the roots of their options. */
  readonly #areRoots: boolean;

  constructor(writer: Writer, areRoots = false) {
    this.#writer = writer;
    this.#areRoots = areRoots;
  }

  /** Looks up the names of rows that come next, together. */
  async lookUp(names: readonly InstrumentName[]): Promise<void> {
    const unknown = new Map<string, InstrumentName>();
    for (const name of names) {
      if (!this.#areRoots && placeOfAlike(name, name.symbol) === null) continue;
      const key = nameOf(name);
      if (!this.#own.has(key)) unknown.set(key, name);
    }
    for (const some of Map.groupBy(unknown.values(), marketOf).values()) {
      const stored = await this.#storedOf(some);
      const { true: known = [], false: others = [] } = Object.groupBy(some, ({ symbol }) =>
        stored.has(symbol) ? 'true' : 'false',
      );
      // No other spelling joins an instrument that the file names by its own symbol.
      for (const name of known) this.#own.set(nameOf(name), this.#stored(name, name.symbol));
      for (const name of others) this.#own.set(nameOf(name), await this.#find(name));
    }
  }

  /** Which symbols of one market an instrument has or had. */
  async #storedOf(names: readonly InstrumentName[]): Promise<ReadonlySet<string>> {
    const { asset_schema, country_iso_code } = names[0]!;
    const symbols = names.map(({ symbol }) => symbol);
    const stored = new Set<string>();
    for (const kind of ['symbol', 'former'] as const) {
      const where = { asset_schema, country_iso_code, kind };
      for (const { term } of await rowsAmong(this.#writer, instrumentTerms, where, 'term', symbols))
        stored.add(term);
    }
    return stored;
  }

  /** The kinds of symbols that a market has: hardly any has former ones. */
  async #kindsIn({ asset_schema, country_iso_code }: InstrumentName): Promise<readonly SymbolKind[]> {
    const market = `${asset_schema} ${country_iso_code}`;
    let kinds = this.#kinds.get(market);
    if (kinds === undefined) {
      const where = { asset_schema, country_iso_code, kind: 'former' };
      const former = await this.#writer.rows(instrumentTerms, { where, order: [['term', 'asc']], limit: 1 });
      kinds = former.length === 0 ? ['symbol'] : ['symbol', 'former'];
      this.#kinds.set(market, kinds);
    }
    return kinds;
  }

  /** The names of the file that may be like one. */
  #spellingsBeside(name: InstrumentName): Spelling[] {
    const group = `${marketOf(name)} ${groupOfAlike(name, name.symbol)}`;
    const spellings = this.#spellings.get(group) ?? [];
    this.#spellings.set(group, spellings);
    return spellings;
  }

  /** A symbol of the store for a name, unless another name of the file was joined to it. */
  #stored(name: InstrumentName, symbol: string): OwnSymbol {
    const spellings = this.#spellingsBeside(name);
    const joined = spellings.find(
      (one) =>
        one.written !== one.symbol && (one.symbol === symbol || areAlike(name, one.written, name.symbol)),
    );
    if (joined !== undefined) {
      const names = [...new Set([joined.symbol, joined.written, name.symbol])].join(', ');
      return {
        reason: `is like ${joined.written} of this file, which is stored as ${joined.symbol}: where these are one instrument, write one of them; else undo this import, and import instruments with the symbols ${names} first`,
      };
    }
    spellings.push({ written: name.symbol, symbol });
    return { symbol };
  }

  /**
   * The symbol of the only instrument that a name is like, and that the file does not name itself; its own
   * where there is none.
   */
  async #find(name: InstrumentName): Promise<OwnSymbol> {
    const { symbol } = name;
    const spellings = this.#spellingsBeside(name);
    const named = new Set(spellings.map((one) => (one.written === one.symbol ? one.symbol : null)));
    const kinds = await this.#kindsIn(name);
    const terms = await symbolsLike(this.#writer, name, kinds);
    if (this.#areRoots) terms.push(...(await symbolsOfRoot(this.#writer, name, kinds)));
    const others = new Set(terms.filter(({ term }) => named.has(term)).map((term) => term.symbol));
    const names = namesOf(terms.filter((term) => !others.has(term.symbol)));
    if (names.length > 1)
      return { reason: `may be ${names.slice(0, TOLD_MAX).join(' or ')} of the store: write one of these` };
    if (names.length === 1) return this.#stored(name, names[0]!);
    if (symbol.includes(' ')) return { reason: symbolRule.reason };
    const pair = unsignedPair(name, symbol);
    // Yahoo's sign is no part of a new pair, unless the file names that as well.
    if (pair !== symbol && !named.has(pair)) return this.#stored(name, pair);
    const joined = spellings.find((one) => one.symbol === symbol && one.written !== symbol);
    if (joined !== undefined) return this.#stored(name, symbol);
    spellings.push({ written: symbol, symbol });
    const rooted = this.#areRoots ? null : await rootStockOf(this.#writer, name);
    if (rooted !== null) this.#rooted.set(symbol, { ...rooted, rows: 0 });
    return { symbol };
  }

  /** The symbol of a name that was looked up. */
  of(name: InstrumentName): OwnSymbol {
    return this.#own.get(nameOf(name)) ?? name;
  }

  /**
   * Counts rows in which the file writes a symbol otherwise than it is stored, and those of stocks that may
   * have two names.
   */
  count(written: string, symbol: string, rows = 1): void {
    const rooted = this.#rooted.get(symbol);
    if (rooted !== undefined) rooted.rows += rows;
    if (upperAscii(written.trim()) === symbol) return;
    this.#renamed.set(written, symbol);
    this.#rows += rows;
  }

  /** The rows that were stored under other symbols than the file's: words, and their number. */
  findings(): Record<string, number> {
    const told = [...this.#renamed].slice(0, TOLD_MAX).map(([written, symbol]) => `${written} as ${symbol}`);
    const others = this.#renamed.size - told.length;
    const renamed = `stored under another notation of their symbol, ${told.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
    const found = [...this.#rooted].filter(([, { rows }]) => rows > 0).slice(0, TOLD_MAX);
    const rooted = found.map(([symbol, { root, runs, rows }]) => {
      const undo = runs.slice(0, TOLD_MAX).map((run) => `bourse undo ${run}`);
      const more = runs.length > TOLD_MAX ? `, and ${runs.length - TOLD_MAX} more runs` : '';
      const words = `stored as ${symbol}, while options name it ${root}, by their root: if these are one stock, undo the runs that named ${root} (${undo.join(', ')}${more}) and import it again`;
      return [words, rows];
    });
    return { ...(this.#rows > 0 && { [renamed]: this.#rows }), ...Object.fromEntries(rooted) };
  }
}

/**
 * A stock that only options name, by the root of their symbols, and the runs that named it: a root has no
 * separator, so `BRKB` may be the class BRK.B (contract 9.21).
 */
type RootStock = { readonly root: string; readonly runs: readonly number[] };

/** Datasets whose rows may name a stock by the root of its options. */
const rooted: readonly string[] = ['option-contracts', 'bars'];

/** Runs that are looked at. */
const RUNS_MAX = 256;

/**
 * The stock that options may have made for a US stock whose symbol has a separator; null if there is none.
 */
async function rootStockOf(writer: Writer, name: InstrumentName): Promise<RootStock | null> {
  const { asset_schema, country_iso_code, symbol } = name;
  const root = plainOf(symbol);
  if (asset_schema !== 'stock' || country_iso_code !== 'US' || root === symbol) return null;
  const stock = await instrumentNamed(writer, { asset_schema, country_iso_code, symbol: root });
  if (stock === null) return null;
  // Bars of its own are of a stock that is called so.
  if ((await seriesWithBars(writer, stock)).length > 0) return null;
  const entries = await writer.rows(rowChanges, {
    where: { dataset: instruments.name, row_key: rowKeyOf(instruments, stock) },
    order: [['run_id', 'asc']],
    limit: RUNS_MAX,
  });
  const runs = entries.map(({ run_id }) => run_id);
  const known = await rowsAmong(writer, importRuns, {}, 'run_id', runs);
  const isRooted = known.length > 0 && known.every(({ dataset }) => rooted.includes(dataset));
  return isRooted ? { root, runs } : null;
}
