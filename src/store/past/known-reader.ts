// Reads lists of rows as they were known at a moment (contract 9.8): those that were, by what their datasets
// declare (`knownBy`), and of these what was known then.
import { restOf } from '../all-rows.ts';
import { compareRows, keyOrder } from '../checked-rows.ts';
import { instrumentRows, rowsOfTerms, type Term } from '../instrument-terms.ts';
import { type Dataset, isKnown, type KnownMoment, type RowOf, type Values } from '../schema/dataset.ts';
import { events } from '../schema/economic.ts';
import { news } from '../schema/news.ts';
import {
  type FormerSymbol,
  type Instrument,
  instrumentTerms,
  isListedOn,
  symbolOn,
} from '../schema/reference.ts';
import type { KeyRead, Read, RowLists, RowReader } from '../store.ts';
import { ROWS_PER_READ_MAX } from './past-reader.ts';

type Event = RowOf<typeof events>;
type Item = RowOf<typeof news>;

/** Beside the reader of all that is stored and the moment: what the reading may use. */
type KnownTools = {
  /** Keeps what `make` makes of a name, until what that was read from is changed. */
  readonly keep: <T>(name: string, make: () => Promise<T>) => Promise<T>;
  /** Is called with the number of rows that a read passes over: they take time too. */
  readonly onPassed: (rows: number) => void;
};

/** The kinds of present terms that have been of a kind: a former symbol was once the symbol. */
const presentKinds = (kind: string): readonly string[] => (kind === 'symbol' ? ['symbol', 'former'] : [kind]);

const unpublished = { actual_value: null, change: null, change_percent: null };

/** A read without the rows that are behind the moment, where its order says so. */
function untilThen({ knownBy }: Dataset, read: Read, { ms }: KnownMoment): Read {
  const [column, direction] = read.order[0]!;
  // A place bounds that side of a descending read.
  if (column !== knownBy || (direction === 'desc' && read.after !== undefined)) return read;
  const { to = Number.MAX_SAFE_INTEGER } = read.range ?? {};
  return { ...read, range: { ...read.range, to: Math.min(to as number, ms + 1) } };
}

/**
 * The first rows that `sift` leaves of a read, whose order ends in a unique key. Once it passed over some,
 * nobody knows how many are needed: the reads grow.
 */
async function sifted(
  present: RowReader,
  dataset: Dataset,
  read: Read,
  sift: (rows: readonly Values[]) => readonly Values[] | Promise<readonly Values[]>,
  onPassed: (rows: number) => void,
): Promise<readonly Values[]> {
  const found: Values[] = [];
  for (let next = read; ; ) {
    const rows: Values[] = await present.rows(dataset, next);
    const known = await sift(rows);
    onPassed(rows.length - known.length);
    found.push(...known);
    if (found.length >= read.limit || rows.length < next.limit) return found.slice(0, read.limit);
    const last = rows.at(-1) as Readonly<Record<string, string | number | null>>;
    const limit = Math.max(read.limit, Math.min(2 * next.limit, ROWS_PER_READ_MAX));
    next = { ...read, range: restOf(read), after: read.order.map(([column]) => last[column]!), limit };
  }
}

/**
 * The first rows of a read that were known at a moment, with all that is stored of them: for what names them,
 * which a reader of lists would give only where all of its group is sound.
 */
export async function rowsKnown<D extends Dataset>(
  present: RowReader,
  dataset: D,
  given: Read<D>,
  moment: KnownMoment,
  onPassed: (rows: number) => void,
): Promise<readonly RowOf<D>[]> {
  const read = untilThen(dataset, given as unknown as Read, moment);
  const wasKnown = (some: readonly Values[]) =>
    some.filter((row) => isKnown(dataset, row as RowOf<D>, moment));
  return (await sifted(
    present,
    dataset,
    read,
    wasKnown,
    onPassed,
  )) as readonly Values[] as readonly RowOf<D>[];
}

/** The lists of one store as they were known at a moment. */
export class KnownReader implements RowLists {
  readonly #present: RowReader;
  readonly #moment: KnownMoment;
  readonly #tools: KnownTools;

  constructor(present: RowReader, moment: KnownMoment, tools: KnownTools) {
    this.#present = present;
    this.#moment = moment;
    this.#tools = tools;
  }

  async rows<D extends Dataset>(dataset: D, given: Read<D>): Promise<RowOf<D>[]> {
    const read = given as unknown as Read;
    return (await this.#rows(dataset, read)) as readonly Values[] as RowOf<D>[];
  }

  async rowsByKey<D extends Dataset>(
    dataset: D,
    keys: readonly Partial<RowOf<D>>[],
    read?: KeyRead<D>,
  ): Promise<RowOf<D>[][]> {
    if (dataset !== (instrumentTerms as Dataset)) {
      if (dataset.knownBy === undefined) return this.#present.rowsByKey(dataset, keys, read);
      throw new Error(`${dataset.name} has rows that were not known, and is not read by keys as of a moment`);
    }
    const [first] = keys as readonly unknown[] as readonly Term[];
    if (first === undefined) return [];
    const { kind } = first;
    const found = keys.map((): Values[] => []);
    for (const present of presentKinds(kind)) {
      const some = await this.#present.rowsByKey(
        dataset,
        keys.map((key) => ({ ...key, kind: present })),
        read,
      );
      for (const [at, terms] of some.entries())
        found[at]!.push(...(await this.#termsOfThen(kind, terms as Values[] as Term[])));
    }
    return found as RowOf<D>[][];
  }

  async #rows(dataset: Dataset, read: Read): Promise<readonly Values[]> {
    if (dataset === instrumentTerms) return this.#terms(read);
    const rows = await rowsKnown(this.#present, dataset, read, this.#moment, this.#tools.onPassed);
    if (dataset === news) return this.#newsOfThen(rows as readonly Item[]);
    if (dataset !== events) return rows;
    const found: Values[] = [];
    for (const row of rows) found.push(await this.#eventOfThen(row as Event));
    return found;
  }

  /** The terms of a read: those of kind `symbol` are the symbols at the moment, each with the present one. */
  async #terms(read: Read): Promise<readonly Values[]> {
    const { kind } = read.where as Values as Pick<Term, 'kind'>;
    const { onPassed } = this.#tools;
    const found: Values[] = [];
    for (const present of presentKinds(kind)) {
      const where = { ...read.where, kind: present } as NonNullable<Read['where']>;
      const ofThen = (terms: readonly Values[]) => this.#termsOfThen(kind, terms as readonly Term[]);
      found.push(...(await sifted(this.#present, instrumentTerms, { ...read, where }, ofThen, onPassed)));
    }
    const order = [...read.order, ...keyOrder(instrumentTerms)];
    return found.sort((a, b) => compareRows(order, a, b)).slice(0, read.limit);
  }

  /** Those of some present terms that were of a kind, of instruments that were listed. */
  async #termsOfThen(kind: string, terms: readonly Term[]): Promise<readonly Term[]> {
    const rows = await rowsOfTerms(this.#present, terms);
    const wasSo = (row: Instrument, term: string): boolean => {
      const day = this.#moment.dayIn(row.asset_schema, row.country_iso_code);
      if (!isListedOn(row, day)) return false;
      if (kind === 'symbol') return symbolOn(row, day) === term;
      const former = (row.former_symbols ?? []) as FormerSymbol[];
      return kind === 'name' || former.some(({ symbol, to_day }) => symbol === term && to_day < day);
    };
    return terms.filter(({ term }, at) => wasSo(rows[at]!, term)).map((term) => ({ ...term, kind }));
  }

  /**
   * An event that was still to come has no result. Where another of its code came before it, nobody knew then
   * what would be measured last before it, or what would be expected of it.
   */
  async #eventOfThen(event: Event): Promise<Event> {
    const { ms } = this.#moment;
    const { country_iso_code, event_code } = event;
    if (event.event_timestamp <= ms) return event;
    // All of them: a lost one would bring forward what is known of the next.
    const times = await this.#tools.keep(`events|${country_iso_code}:${event_code}`, async () =>
      (await this.#present.group(events, { country_iso_code, event_code })).map((one) => one.event_timestamp),
    );
    if (!times.some((other) => other > ms && other < event.event_timestamp))
      return { ...event, ...unpublished };
    return { ...event, ...unpublished, previous_value: null, forecast_value: null };
  }

  /** News under the symbols of then. */
  async #newsOfThen(items: readonly Item[]): Promise<readonly Item[]> {
    const named = items.filter((item) => item.asset_name && item.country_iso_code && item.symbol);
    const names = named.map(({ asset_name, country_iso_code, symbol }) => ({
      ...{ asset_schema: asset_name!, country_iso_code: country_iso_code!, symbol: symbol! },
    }));
    const rows = await instrumentRows(this.#present, names);
    const instrumentOf = new Map(named.map((item, at) => [item, rows[at]]));
    return items.map((item) => {
      const row = instrumentOf.get(item);
      if (!row) return item;
      return { ...item, symbol: symbolOn(row, this.#moment.dayIn(row.asset_schema, row.country_iso_code)) };
    });
  }
}
