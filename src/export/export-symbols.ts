// The symbol under which a file names an instrument on a day, so that its import finds the same one again (contract 9.6).
import { limits } from '../contract/limits.ts';
import { type FormerSymbol, instruments, instrumentTerms } from '../datasets/reference.ts';
import { rowKeyOf } from '../history/journal.ts';
import type { InstrumentName } from '../history/new-instrument.ts';
import { type FormerBearer, formerBearers } from '../store/instrument-terms.ts';
import type { Reader } from '../store/store.ts';

/** Whom an import takes for the bearer of a symbol on a day; null where it is the one that has it now. */
const bearerOn = (bearers: readonly FormerBearer[], day: number): string | null =>
  bearers.find(({ fromDay, toDay }) => fromDay <= day && day <= toDay)?.symbol ?? null;

/** The symbols of one export, and how many of its rows have others than the present ones. */
export class ExportSymbols {
  /** Rows under another symbol than the present one. */
  former = 0;
  /** Rows that an import would give to another instrument. */
  astray = 0;
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

  async #read({ asset_schema, country_iso_code, symbol }: InstrumentName): Promise<SymbolsOfOne> {
    const market = { asset_schema, country_iso_code };
    const bearers = (await this.#hasFormer(market))
      ? await formerBearers(this.#reader, { ...market, symbol })
      : [];
    const former: FormerName[] = [];
    if (bearers.length > 0)
      for (const one of await this.#formerOf({ ...market, symbol }))
        former.push({
          ...one,
          bearers: await formerBearers(this.#reader, { ...market, symbol: one.symbol }),
        });
    return new SymbolsOfOne(this, symbol, bearers, former);
  }

  /** Whether any instrument of a market had another symbol: in most none did, and no row needs to be asked about. */
  async #hasFormer(market: Pick<InstrumentName, 'asset_schema' | 'country_iso_code'>): Promise<boolean> {
    const key = `${market.asset_schema}:${market.country_iso_code}`;
    const known = this.#markets.get(key);
    if (known !== undefined) return known;
    const read = { where: { ...market, kind: 'former' }, order: [['term', 'asc']], limit: 1 } as const;
    const has = (await this.#reader.rows(instrumentTerms, read)).length > 0;
    this.#markets.set(key, has);
    return has;
  }

  async #formerOf(name: InstrumentName): Promise<readonly FormerSymbol[]> {
    const where = { ...name };
    const [row] = await this.#reader.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 });
    return (row?.former_symbols ?? []) as FormerSymbol[];
  }

  /** What whoever imports the file should know of its rows, which are called so. */
  notes(row: 'bar' | 'row'): string[] {
    const told = [
      [
        this.former,
        'under a symbol that their instrument had then, for another one had its present symbol; import the instruments before them',
      ],
      [
        this.astray,
        'of days on which another instrument had the symbol; a store that knows former symbols takes them for the other one’s',
      ],
    ] as const;
    return told
      .filter(([count]) => count > 0)
      .map(([count, what]) => `${count} ${row}${count === 1 ? '' : 's'} ${what}`);
  }
}

type FormerName = FormerSymbol & { readonly bearers: readonly FormerBearer[] };

/**
 * The symbols of one instrument: its own, except on days on which another one had that. There it is the one that this instrument had,
 * if an import finds it by that.
 */
export class SymbolsOfOne {
  readonly #tally: ExportSymbols;
  readonly #symbol: string;
  /** Those that had the instrument's symbol, and by each of its own former ones those that had that. */
  readonly #bearers: readonly FormerBearer[];
  readonly #former: readonly FormerName[];

  constructor(
    tally: ExportSymbols,
    symbol: string,
    bearers: readonly FormerBearer[],
    former: readonly FormerName[],
  ) {
    this.#tally = tally;
    this.#symbol = symbol;
    this.#bearers = bearers;
    this.#former = former;
  }

  /** Whether the symbol is the present one on every day. */
  get areOne(): boolean {
    return this.#bearers.length === 0;
  }

  /** The symbol of a row that is about a day, which is counted. */
  on(day: number): string {
    if ((bearerOn(this.#bearers, day) ?? this.#symbol) === this.#symbol) return this.#symbol;
    const had = this.#former.find(
      ({ from_day, to_day, bearers }) =>
        from_day <= day && day <= to_day && bearerOn(bearers, day) === this.#symbol,
    );
    if (had === undefined) this.#tally.astray++;
    else this.#tally.former++;
    return had?.symbol ?? this.#symbol;
  }
}
