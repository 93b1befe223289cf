// The records of all pages: one by one, page by page, or bars as columns.
import type { Bar } from './contract.ts';
import { BourseError } from './service.ts';

/** One page as it is on the wire, and the headers of its answer, such as `X-Data-Version`. */
export type Page<R> = {
  readonly count: number;
  readonly next_page_key: string | null;
  readonly next_page_url: string | null;
  readonly data: readonly R[];
  readonly headers: Headers;
};

/**
 * A page of option contracts: groups by expiration, in the order of `expiration_datetimes`. A group may go on
 * in the next page.
 */
export type Groups<R> = Omit<Page<R>, 'data'> & {
  readonly expiration_datetimes: readonly string[];
  readonly data: Readonly<Record<string, readonly R[]>>;
};

/** Asks for one page: of at most so many records, after a page key. */
export type AskPage<P> = (limit: number, pageKey: string | undefined) => Promise<P>;

/** The most records that every endpoint gives in a page. */
const PAGE_ROWS = 1_000;

type AnyPage<R> = Page<R> | Groups<R>;

const rowsOf = <R>(page: AnyPage<R>): readonly R[] =>
  'expiration_datetimes' in page ? page.expiration_datetimes.flatMap((at) => page.data[at]!) : page.data;

/** True if a value is a list of records. */
export const isRows = (value: unknown): value is readonly object[] =>
  Array.isArray(value) && value.every((row) => typeof row === 'object' && row !== null);

/** True if a page has the form of one: a proxy may answer with an envelope that looks like the service's. */
const isPage = <R>({ data, ...page }: AnyPage<R>): boolean =>
  'expiration_datetimes' in page
    ? Array.isArray(page.expiration_datetimes) &&
      page.expiration_datetimes.every((at) => isRows((data as Groups<R>['data'] | undefined)?.[at]))
    : isRows(data);

/**
 * The records of all pages; each iteration sends the requests again. It ends after the last record, or the
 * `limit` that was given, or throws: a part is never taken for the whole.
 */
export class Rows<R, P extends AnyPage<R> = Page<R>> implements AsyncIterable<R> {
  readonly #ask: AskPage<P>;
  readonly #limit: number;

  constructor(ask: AskPage<P>, limit = Number.POSITIVE_INFINITY) {
    this.#ask = ask;
    this.#limit = limit;
  }

  /** Page by page. @throws BourseError; the reason of the call's signal */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let left = this.#limit;
    for (let key: string | undefined; ; ) {
      const page = await this.#ask(Math.min(left, PAGE_ROWS), key);
      const { count, next_page_key } = page;
      if (!isPage(page)) throw new BourseError('this is no page of a Bourse', { error: 'bad_answer' });
      if (next_page_key !== null && (!next_page_key || next_page_key === key || !count))
        throw new BourseError('this page has no right one after it', { error: 'bad_answer' });
      yield page;
      left -= count;
      if (next_page_key === null || left <= 0) return;
      key = next_page_key;
    }
  }

  /** Record by record. @throws BourseError; the reason of the call's signal */
  async *[Symbol.asyncIterator](): AsyncGenerator<R, void, undefined> {
    for await (const page of this.pages()) yield* rowsOf<R>(page);
  }

  /** All records at once. @throws BourseError; the reason of the call's signal */
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
  /** Label dates; empty unless they were asked for by `session_date: true`. */
  readonly session_date: readonly string[];
};

/** The bars of all pages. */
export class Bars extends Rows<Bar> {
  /**
   * All bars as columns: instants in epoch milliseconds; a null, of `volume` or `vwap`, is NaN.
   * @throws BourseError; the reason of the call's signal
   */
  async columns(): Promise<BarColumns> {
    const parts: BarColumns[] = [];
    for await (const { data } of this.pages()) parts.push(columnsOf(data));
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
