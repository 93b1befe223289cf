// The TypeScript client, for Node.js and browsers: a method for each endpoint, the records of its pages, and
// what else programs import.
import type { AssetSchema, Bar, Endpoints, IntervalCode } from './contract.ts';
import { type AnyName, address, type Value } from './sent.ts';
import { BourseError, type Call, Service, type ServiceOptions } from './service.ts';

export type { AssetSchema, ErrorWord, IntervalCode } from './contract.ts';

/** The endpoints that answer in one piece. */
export type EndpointName = Exclude<AnyName, 'bulkBars'>;

/** The parameters that a program must give, some as arguments of a method. */
type Needs<N extends AnyName> = Endpoints[N]['needs'];

type Takes<N extends AnyName> = Endpoints[N]['takes'];

/**
 * The options of an endpoint's method: its parameters except those in `Named`, which are arguments; a signal;
 * a timeout. A range is `from` and `to`; the other names are those of the API.
 */
export type OptionsOf<N extends AnyName, Named extends keyof Needs<N> = never> = {
  readonly [K in Exclude<keyof Needs<N>, Named>]: Needs<N>[K];
} & {
  readonly [K in keyof Takes<N>]?: Takes<N>[K] | undefined;
} & Call;

/** The options of bars in bulk: they must give a format. */
export type BulkOptions = OptionsOf<'bulkBars', 'schema_asset' | 'country_iso_code' | 'interval'>;

/** One record of an endpoint, as it is on the wire. */
export type Row<N extends AnyName> = Endpoints[N]['record'];

export { BourseError, type Call, type ErrorCode, type ServiceOptions } from './service.ts';
export type { Bars, Rows };

/** The path parameters that name one instrument. */
type Instrument = 'schema_asset' | 'country_symbol';

type Values = Readonly<Record<string, Value>>;
type Listing = Call & { readonly limit?: number | undefined };

/**
 * A client of one service. Methods of lists with pages return `Rows` at once, which send requests when they
 * are read; the others return promises of the `result`. Options have the names of the API's parameters; a
 * range is `from` and `to`, and a `Date` is an instant. Every method throws `BourseError`, and the reason of
 * its signal.
 */
export class Bourse {
  readonly #service: Service;

  /** @throws TypeError if the address or the key is invalid; its message does not have the key */
  constructor(options: ServiceOptions) {
    this.#service = new Service(options);
  }

  /** Bars that open in a range. */
  bars(
    schema_asset: AssetSchema,
    country_symbol: string,
    interval: IntervalCode,
    options: OptionsOf<'historicalBars', Instrument | 'interval'>,
  ): Bars {
    const named = { schema_asset, country_symbol, interval };
    const walk = (some: typeof options) => this.#walk<Page<Bar>>('historicalBars', named, some);
    const whole = { ...options, columns: undefined, timestamps: undefined, tz: undefined };
    return new Bars(walk(options), new Rows(...walk(whole)));
  }

  /** The newest completed bars, in ascending order. */
  latest(
    schema_asset: AssetSchema,
    country_symbol: string,
    interval: IntervalCode,
    options: OptionsOf<'latestBars', Instrument | 'interval'> = {},
  ): Promise<Row<'latestBars'>[]> {
    return this.#list('latestBars', { schema_asset, country_symbol, interval }, options);
  }

  /**
   * The newest completed bars of many instruments, such as `US:AAPL`: in the order of their symbols, each in
   * ascending order, and the symbols that have none.
   */
  async latestOfMany(
    schema_asset: AssetSchema,
    symbols: readonly string[],
    interval: IntervalCode,
    options: OptionsOf<'latestOfMany', 'schema_asset' | 'symbols' | 'interval'> = {},
  ): Promise<{ readonly data: Row<'latestOfMany'>[]; readonly missing: string[] }> {
    const named = { schema_asset, symbols, interval };
    const { data, missing } = await this.#result<{ data: Row<'latestOfMany'>[]; missing: string[] }>(
      'latestOfMany',
      named,
      options,
    );
    if (!isRows(data) || !Array.isArray(missing))
      throw new BourseError('the answer is not a Bourse list', { error: 'bad_answer' });
    return { data, missing };
  }

  /**
   * Bars of many symbols, or of a whole market without `symbols`: the bytes of a CSV, an Arrow stream or a
   * Parquet file as they come. If the answer breaks off, reading them fails: discard what came.
   * `timeoutMs` is the time until the first bytes come.
   */
  bulk(
    schema_asset: AssetSchema,
    country_iso_code: string,
    interval: IntervalCode,
    { signal, timeoutMs, ...options }: BulkOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const path = address('bulkBars', { schema_asset, country_iso_code, interval, ...options });
    return this.#service.stream(path, { signal, timeoutMs });
  }

  /** The record of an instrument. */
  reference(
    schema_asset: AssetSchema,
    country_symbol: string,
    options: OptionsOf<'instrumentReference', Instrument> = {},
  ): Promise<Row<'instrumentReference'>> {
    return this.#result('instrumentReference', { schema_asset, country_symbol }, options);
  }

  /** Instruments whose symbol or name matches a text. */
  search(
    schema_asset: AssetSchema,
    query: string,
    options: OptionsOf<'instrumentSearch', 'schema_asset' | 'query'> = {},
  ): Promise<Row<'instrumentSearch'>[]> {
    return this.#list('instrumentSearch', { schema_asset, query }, options);
  }

  /** Dividends and splits of a stock by ex-date. */
  actions(
    country_symbol: string,
    options: OptionsOf<'corporateActions', 'country_symbol'>,
  ): Rows<Row<'corporateActions'>> {
    return this.#rows('corporateActions', { country_symbol }, options);
  }

  /** News published in a range. */
  news(options: OptionsOf<'newsList'>): Rows<Row<'newsList'>> {
    return this.#rows('newsList', {}, options);
  }

  /** The newest news. */
  latestNews(options: OptionsOf<'latestNews'> = {}): Promise<Row<'latestNews'>[]> {
    return this.#list('latestNews', {}, options);
  }

  /** Option contracts of an underlying, in or out of the money; pages have them by expiration. */
  options(
    schema_asset: AssetSchema,
    country_symbol: string,
    option_type: Needs<'optionSearch'>['option_type'],
    moneyness: Needs<'optionSearch'>['moneyness'],
    options: OptionsOf<'optionSearch', Instrument | 'option_type' | 'moneyness'> = {},
  ): Rows<Row<'optionSearch'>, Groups<Row<'optionSearch'>>> {
    const named = { schema_asset, country_symbol, option_type, moneyness };
    return new Rows(...this.#walk<Groups<Row<'optionSearch'>>>('optionSearch', named, options));
  }

  /** The upcoming expirations of an underlying, nearest first. */
  expirations(
    schema_asset: AssetSchema,
    country_symbol: string,
    options: OptionsOf<'optionExpirations', Instrument> = {},
  ): Promise<Row<'optionExpirations'>[]> {
    return this.#result('optionExpirations', { schema_asset, country_symbol }, options);
  }

  /** Closed and shortened days of a market, such as `stock:US:*`. */
  holidays(
    full_symbol: string,
    options: OptionsOf<'holidayList', 'full_symbol'> = {},
  ): Rows<Row<'holidayList'>> {
    return this.#rows('holidayList', { full_symbol }, options);
  }

  /** The holiday codes of a country, each with what it means. */
  holidayCodes(
    country_iso_code: string,
    options: OptionsOf<'holidayCodes', 'country_iso_code'> = {},
  ): Promise<Row<'holidayCodes'>> {
    return this.#result('holidayCodes', { country_iso_code }, options);
  }

  /** Economic events in a range. */
  events(options: OptionsOf<'economicEvents'> = {}): Rows<Row<'economicEvents'>> {
    return this.#rows('economicEvents', {}, options);
  }

  /** The economic events nearest to now. */
  latestEvents(options: OptionsOf<'latestEconomicEvents'> = {}): Promise<Row<'latestEconomicEvents'>[]> {
    return this.#list('latestEconomicEvents', { format: 'json' }, options);
  }

  /** One economic event: the newest that matches, or one by its `source_id`. */
  event(options: OptionsOf<'economicEvent'> = {}): Promise<Row<'economicEvent'>> {
    return this.#result('economicEvent', {}, options);
  }

  /** The event codes of a country, each with what it means. */
  eventCodes(
    country_iso_code: string,
    options: OptionsOf<'economicEventCodes', 'country_iso_code'> = {},
  ): Promise<Row<'economicEventCodes'>> {
    return this.#result('economicEventCodes', { country_iso_code }, options);
  }

  /** The stored series of an asset type, ordered by symbol. */
  coverage(
    schema_asset: AssetSchema,
    options: OptionsOf<'seriesCoverage', 'schema_asset'> = {},
  ): Rows<Row<'seriesCoverage'>> {
    return this.#rows('seriesCoverage', { schema_asset }, options);
  }

  /** The sessions of one instrument: which have bars, did not trade, are missing or still to come. */
  sessions(
    schema_asset: AssetSchema,
    country_symbol: string,
    options: OptionsOf<'sessionCoverage', Instrument> = {},
  ): Rows<Row<'sessionCoverage'>> {
    return this.#rows('sessionCoverage', { schema_asset, country_symbol }, options);
  }

  /** Findings: possible faults of the stored data of an instrument, ordered by beginning. */
  findings(
    schema_asset: AssetSchema,
    country_symbol: string,
    options: OptionsOf<'findings', Instrument> = {},
  ): Rows<Row<'findings'>> {
    return this.#rows('findings', { schema_asset, country_symbol }, options);
  }

  /** The imports and deletions that the data come from, ordered by number. */
  runs(options: OptionsOf<'runs'> = {}): Rows<Row<'runs'>> {
    return this.#rows('runs', {}, options);
  }

  /** The base address and the version of the service. */
  addressInfo(options: OptionsOf<'addressInfo'> = {}): Promise<Row<'addressInfo'>> {
    return this.#result('addressInfo', {}, options);
  }

  async #result<T>(name: EndpointName, named: Values, { signal, timeoutMs, ...options }: Call): Promise<T> {
    const { result } = await this.#service.ask(address(name, { ...named, ...options }), {
      signal,
      timeoutMs,
    });
    return result as T;
  }

  async #list<N extends EndpointName>(name: N, named: Values, options: Call): Promise<Row<N>[]> {
    const { data } = await this.#result<{ readonly data: Row<N>[] }>(name, named, options);
    if (!isRows(data)) throw new BourseError('the answer is not a Bourse list', { error: 'bad_answer' });
    return data;
  }

  #rows<N extends EndpointName>(name: N, named: Values, options: Listing): Rows<Row<N>> {
    return new Rows(...this.#walk<Page<Row<N>>>(name, named, options));
  }

  /** What `Rows` needs: how to ask for a page, and the most records to give. */
  #walk<P>(name: EndpointName, named: Values, options: Listing): [AskPage<P>, number | undefined] {
    const { signal, timeoutMs, limit: most, ...filters } = options;
    const ask = async (limit: number, next_page_key: string | undefined): Promise<P> => {
      const values = { ...named, ...filters, format: 'json', limit, next_page_key };
      const { result, headers } = await this.#service.ask(address(name, values), { signal, timeoutMs });
      return { ...result, headers } as P;
    };
    return [ask, most];
  }
}

/** One page as the service sent it, and the headers of its answer, such as `X-Data-Version`. */
export type Page<R> = {
  readonly count: number;
  readonly next_page_key: string | null;
  readonly next_page_url: string | null;
  readonly data: readonly R[];
  readonly headers: Headers;
};

/**
 * A page of option contracts: groups by expiration, in the order of `expiration_datetimes`. A group may
 * continue on the next page.
 */
export type Groups<R> = Omit<Page<R>, 'data'> & {
  readonly expiration_datetimes: readonly string[];
  readonly data: Readonly<Record<string, readonly R[]>>;
};

/** Asks for one page: of at most so many records, after a page key. */
type AskPage<P> = (limit: number, pageKey: string | undefined) => Promise<P>;

/** The most records that every endpoint gives in a page. */
const PAGE_ROWS = 1_000;

type AnyPage<R> = Page<R> | Groups<R>;

const rowsOf = <R>(page: AnyPage<R>): readonly R[] =>
  'expiration_datetimes' in page ? page.expiration_datetimes.flatMap((at) => page.data[at]!) : page.data;

/** True if a value is a list of records. */
const isRows = (value: unknown): value is readonly object[] =>
  Array.isArray(value) && value.every((row) => typeof row === 'object' && row !== null);

/** True if a page has the form of one: a proxy may answer with an envelope that looks like the service's. */
const isPage = <R>({ data, ...page }: AnyPage<R>): boolean =>
  'expiration_datetimes' in page
    ? Array.isArray(page.expiration_datetimes) &&
      page.expiration_datetimes.every((at) => isRows((data as Groups<R>['data'] | undefined)?.[at]))
    : isRows(data);

/**
 * The records of all pages; each iteration sends the requests again. It ends after the last record or at
 * `limit`, or throws: you never get a part unnoticed.
 */
class Rows<R, P extends AnyPage<R> = Page<R>> implements AsyncIterable<R> {
  readonly #ask: AskPage<P>;
  readonly #limit: number;

  constructor(ask: AskPage<P>, limit = Number.POSITIVE_INFINITY) {
    this.#ask = ask;
    this.#limit = limit;
  }

  /** Page by page. @throws BourseError, or the reason of the call's signal */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let left = this.#limit;
    for (let key: string | undefined; ; ) {
      const page = await this.#ask(Math.min(left, PAGE_ROWS), key);
      const { count, next_page_key } = page;
      if (!isPage(page)) throw new BourseError('the answer is not a Bourse page', { error: 'bad_answer' });
      if (next_page_key !== null && (!next_page_key || next_page_key === key || !count))
        throw new BourseError('the next page does not follow this one', { error: 'bad_answer' });
      yield page;
      left -= count;
      if (next_page_key === null || left <= 0) return;
      key = next_page_key;
    }
  }

  /** Record by record. @throws BourseError, or the reason of the call's signal */
  async *[Symbol.asyncIterator](): AsyncGenerator<R, void, undefined> {
    for await (const page of this.pages()) yield* rowsOf<R>(page);
  }

  /** All records at once. @throws BourseError, or the reason of the call's signal */
  async toArray(): Promise<R[]> {
    const rows: R[] = [];
    for await (const page of this.pages()) rows.push(...rowsOf<R>(page));
    return rows;
  }
}

/** The fields of a bar that are numbers or null. */
type NumberField = { [K in keyof Bar]-?: Bar[K] extends number | null ? K : never }[keyof Bar];

/** Bars as columns, as long as there are bars. */
export type BarColumns = Readonly<Record<NumberField | 'datetime' | 'close_datetime', Float64Array>> & {
  readonly length: number;
  /** Label dates; empty without `session_date: true`. */
  readonly session_date: readonly string[];
};

/** The bars of all pages. */
class Bars extends Rows<Bar> {
  readonly #whole: Rows<Bar>;

  /** `whole`: the same bars with all fields and with instants as texts, for `columns()`. */
  constructor(walk: ConstructorParameters<typeof Rows<Bar>>, whole: Rows<Bar>) {
    super(...walk);
    this.#whole = whole;
  }

  /**
   * All bars as columns: instants in epoch milliseconds; a null `volume` or `vwap` is NaN. The options
   * `columns`, `timestamps` and `tz` do not change them.
   * @throws BourseError, or the reason of the call's signal
   */
  async columns(): Promise<BarColumns> {
    const parts: BarColumns[] = [];
    for await (const { data } of this.#whole.pages()) parts.push(columnsOf(data));
    return joined(parts);
  }
}

/** Columns of some length, each made by its field. */
const columnsBy = (
  length: number,
  session_date: readonly string[],
  column: (field: NumberField | 'datetime' | 'close_datetime') => Float64Array,
): BarColumns => ({
  length,
  datetime: column('datetime'),
  close_datetime: column('close_datetime'),
  session_date,
  open: column('open'),
  high: column('high'),
  low: column('low'),
  close: column('close'),
  volume: column('volume'),
  vwap: column('vwap'),
});

function columnsOf(bars: readonly Bar[]): BarColumns {
  const numberOf = (value: string | number | null): number =>
    typeof value === 'string' ? Date.parse(value) : (value ?? Number.NaN);
  const days = bars.flatMap(({ session_date }) => session_date ?? []);
  return columnsBy(bars.length, days, (field) => Float64Array.from(bars, (bar) => numberOf(bar[field])));
}

function joined(parts: readonly BarColumns[]): BarColumns {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const days = parts.flatMap(({ session_date }) => session_date);
  return columnsBy(length, days, (field) => {
    const whole = new Float64Array(length);
    let at = 0;
    for (const part of parts) {
      whole.set(part[field], at);
      at += part.length;
    }
    return whole;
  });
}
