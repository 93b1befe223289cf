// What was done to the store of the year, as a plain reading takes it: files of bars, deletions, undos, and
// rows about instruments.
import { DAY_MS, dayOf, type Market, MINUTE_MS, markets } from './calendar.ts';

/** An interval of files. Every instrument has one. */
export type Interval = '30M' | '60M' | 'DAY';

/** Open, high, low, close, volume. */
export type Values = readonly [number, number, number, number, number];

export type Row = {
  readonly instrument: Instrument;
  /** The open of a bar; of a day its date as midnight UTC. */
  readonly keyMs: number;
  readonly closeMs: number;
  readonly day: number;
  readonly values: Values;
};

/** One file of bars; all its rows are of one market and interval. */
export type FileRun = {
  readonly kind: 'file';
  readonly name: string;
  readonly text: string;
  /** When its import began. */
  readonly startMs: number;
  /** Files that were taken up in one look have one number. */
  readonly look: number;
  readonly market: Market;
  readonly interval: Interval;
  /** By time. */
  readonly rows: readonly Row[];
  /** Its rows by series. */
  readonly holds: ReadonlyMap<Instrument, readonly Row[]>;
  isUndone: boolean;
};

/** A deletion of all bars of an instrument. */
type Deletion = { readonly kind: 'deletion'; readonly instrument: Instrument };

export type Instrument = {
  readonly symbol: string;
  readonly market: Market;
  interval: Interval;
  /** Symbols that it had, with the first and the last day of each. */
  former: readonly { readonly symbol: string; readonly from: number; readonly to: number }[];
  listing: number | null;
  delisting: number | null;
};

/** A split that was recorded: so many shares became so many. */
export type Split = {
  readonly symbol: string;
  readonly day: number;
  readonly from: number;
  readonly to: number;
};

export const stepOf = (interval: Exclude<Interval, 'DAY'>): number =>
  Number.parseInt(interval, 10) * MINUTE_MS;

/**
 * The cells of a session in files and answers: from the open of each segment, cut at its end (contract 3.3).
 */
export function closeOf(market: Market, interval: Interval, keyMs: number): number {
  if (interval === 'DAY') return market.sessionOn(keyMs / DAY_MS)!.closeMs;
  const segment = market
    .sessionAt(keyMs)!
    .segments.find(({ fromMs, toMs }) => fromMs <= keyMs && keyMs < toMs)!;
  return Math.min(keyMs + stepOf(interval), segment.toMs);
}

export class Facts {
  readonly entries: (FileRun | Deletion)[] = [];
  readonly splits: Split[] = [];
  readonly #instruments = new Map<string, Instrument>();
  #looks = 0;

  get instruments(): Instrument[] {
    return [...this.#instruments.values()];
  }

  /** The instrument of a symbol, made where it is not known yet. */
  instrument(symbol: string, schema: Market['schema'] = 'stock'): Instrument {
    const known = this.#instruments.get(symbol);
    if (known !== undefined) return known;
    const terms = { former: [], listing: null, delisting: null, interval: 'DAY' as const };
    const fresh: Instrument = { symbol, market: markets[schema], ...terms };
    this.#instruments.set(symbol, fresh);
    return fresh;
  }

  /** Whose a row is: the symbols of files are those of the day (contract 9.6). */
  #ownerOf(symbol: string, day: number, schema: Market['schema']): Instrument {
    const had = this.instruments.find(({ former }) =>
      former.some((one) => one.symbol === symbol && one.from <= day && day <= one.to),
    );
    return had ?? this.instrument(symbol, schema);
  }

  /** Files that an import took up in one look at a moment, by name. */
  files(startMs: number, files: readonly { readonly name: string; readonly text: string }[]): void {
    const look = ++this.#looks;
    for (const { name, text } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const [, ...lines] = text.trimEnd().split('\n');
      const rows = lines.map((line) => this.#rowOf(line));
      const { market, interval } = rows[0]!.instrument;
      rows.sort((a, b) => a.keyMs - b.keyMs);
      const holds = Map.groupBy(rows, ({ instrument }) => instrument);
      this.entries.push({
        ...({ kind: 'file', name, text, startMs, look, market, interval } as const),
        ...{ rows, holds, isUndone: false },
      });
    }
  }

  #rowOf(line: string): Row {
    const [schema, , symbol, interval, datetime, ...values] = line.split(',');
    const market = markets[schema as Market['schema']];
    const keyMs = Date.parse(interval === 'DAY' ? `${datetime}T00:00:00Z` : datetime!);
    const day = interval === 'DAY' ? keyMs / DAY_MS : market.sessionAt(keyMs)!.day;
    const instrument = this.#ownerOf(symbol!, day, market.schema);
    instrument.interval = interval as Interval;
    const closeMs = closeOf(market, instrument.interval, keyMs);
    return { instrument, keyMs, closeMs, day, values: values.map(Number) as unknown as Values };
  }

  /** Takes the newest live run of a file back. */
  undo(name: string): void {
    const run = this.live.findLast((one) => one.kind === 'file' && one.name === name) as FileRun;
    run.isUndone = true;
  }

  delete(symbol: string): void {
    this.entries.push({ kind: 'deletion', instrument: this.#instruments.get(symbol)! });
  }

  /** A file of instruments of US stocks. */
  terms(text: string): void {
    for (const line of text.trimEnd().split('\n').slice(1)) {
      const [, , symbol, listing, delisting, , former] = line.split(',');
      const one = this.instrument(symbol!);
      one.listing = listing === '' ? one.listing : dayOf(listing!);
      // An active one is delisted no more.
      one.delisting = delisting === '' ? null : dayOf(delisting!);
      if (former !== '') {
        const [had, from, to] = former!.split(/:|\.\./);
        one.former = [{ symbol: had!, from: dayOf(from!), to: dayOf(to!) }];
      }
    }
  }

  /** A file of splits. */
  actions(text: string): void {
    for (const line of text.trimEnd().split('\n').slice(1)) {
      const [, symbol, , date, from, to] = line.split(',');
      this.splits.push({ symbol: symbol!, day: dayOf(date!), from: Number(from), to: Number(to) });
    }
  }

  /**
   * What is in force, in the order of the journal: an undo leaves all as if the run had never been (contract
   * 3.9 (4)).
   */
  get live(): (FileRun | Deletion)[] {
    return this.entries.filter((one) => one.kind === 'deletion' || !one.isUndone);
  }
}
