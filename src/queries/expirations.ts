// The expirations of an underlying, read step by step along an index; the calendar gives their instants
// (spec 4.7, contract 8.5). The order of a search by them: the caller's fields, then coming expirations
// before past ones, then the strikes nearest to the price (contract 8.4). And which contracts a request
// sees: those listed at its moment, as far as it is known (contract 9.8), and without those that a
// corporate action adjusted, unless it asks for these too (contract 8.5).
import { DAY_MS } from '../base/instant.ts';
import { parseOptionSymbol } from '../contract/identifiers.ts';
import type { SortTerm } from '../contract/kinds.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import { rowsAmong } from '../store/all-rows.ts';
import { always, isKnown, type RowOf } from '../store/schema/dataset.ts';
import { ADJUSTED, isAdjustedRoot, morningRoots, optionContracts } from '../store/schema/options.ts';
import type { Instrument } from '../store/schema/reference.ts';
import type { Direction, RankedRead, Reader, TextSpan } from '../store/store.ts';
import { queryLimits } from './limits.ts';
import type { Found } from './lookup.ts';
import { takeRows } from './pages/dataset-page.ts';
import { type QueryContext, TooDear } from './query.ts';

type Places = readonly (readonly (string | number)[])[];

/** A value that is made of contracts alone, of those of an underlying: commits to its bars leave it kept. */
function ofContracts<T>(
  { reader, lookup }: QueryContext,
  { instrument }: Found,
  what: string,
  make: () => Promise<T>,
) {
  const { asset_schema, country_iso_code, symbol } = instrument;
  return lookup.ofName(reader, `${what}|${asset_schema}:${country_iso_code}:${symbol}`, make);
}

const contractDates = (context: QueryContext, found: Found) =>
  ofContracts(context, found, 'dates of contracts', () => datesOf(context.reader, found));

/**
 * The dates of the moment of a request, by which contracts are listed and their calendar is known: an
 * instrument may follow a calendar of another zone.
 */
function daysKnown({ moment }: QueryContext, { instrument, calendar }: Found): string {
  if (moment === always) return '';
  const day = moment.dayIn(instrument.asset_schema, instrument.country_iso_code);
  return `listed by ${day}, calendar of ${calendar.zone.dayAt(moment.ms)}`;
}

/** The expirations of all contracts of an underlying, and whether they were cached. */
export function knownExpirations(context: QueryContext, found: Found) {
  const { reader, lookup } = context;
  const name = `expirations|${found.instrument.instrument_id}|${daysKnown(context, found)}`;
  return lookup.cached(reader, name, async () => expirationsOf(found, await contractDates(context, found)));
}

/**
 * Reads the symbols of all contracts of an underlying, some microseconds for each, and gives those on
 * adjusted roots.
 */
async function symbolsOnAdjustedRoots(context: QueryContext, found: Found): Promise<readonly string[]> {
  const groups = (await contractDates(context, found)).map(({ expiration_date, expiration_datetime }) => ({
    at: [expiration_date, expiration_datetime],
    rank: 0,
  }));
  const symbols: string[] = [];
  for (const optionType of optionTypes)
    for (let at = 0; at < groups.length; at += queryLimits.expirationsPerReadMax) {
      const read = await context.reader.ranked(optionContracts, {
        where: contractsOf(found, optionType),
        groupBy: ['expiration_date', 'expiration_datetime'],
        groups: groups.slice(at, at + queryLimits.expirationsPerReadMax),
        order: [['symbol', 'asc']],
        limit: Number.MAX_SAFE_INTEGER,
      });
      for (const [symbol] of read as [string][])
        if (isAdjustedRoot(parseOptionSymbol(symbol)?.root ?? '')) symbols.push(symbol);
    }
  return symbols;
}

/** The contracts of an underlying that a corporate action adjusted: an index has their symbols alone. */
export async function adjustedContracts(context: QueryContext, found: Found): Promise<readonly Contract[]> {
  const { asset_schema, country_iso_code } = found.instrument;
  if (asset_schema !== 'stock' || country_iso_code !== 'US') return [];
  return ofContracts(context, found, 'adjusted', async () => {
    const symbols = await ofContracts(context, found, 'symbols on adjusted roots', () =>
      symbolsOnAdjustedRoots(context, found),
    );
    if (symbols.length === 0) return [];
    // A read by symbols depends on the contracts of all underlyings.
    const rows = await rowsAmong(context.reader, optionContracts, { country_iso_code }, 'symbol', symbols);
    return rows.filter(({ contract_type }) => contract_type === ADJUSTED);
  });
}

/** Tells if a request sees a contract: it was listed at the request's moment, and is not `hidden`. */
export function seeing({ moment }: QueryContext, hidden: readonly Contract[]) {
  const symbols = new Set(hidden.map(({ symbol }) => symbol));
  return (contract: Contract): boolean =>
    isKnown(optionContracts, contract, moment) && !symbols.has(contract.symbol);
}

/**
 * The expirations of the contracts that a request sees, adjusted ones too where it asks for them; and whether
 * they were cached.
 */
export async function seenExpirations(context: QueryContext, found: Found, adjusted: boolean) {
  const { reader, lookup, moment } = context;
  const all = await knownExpirations(context, found);
  const hidden = adjusted ? [] : await adjustedContracts(context, found);
  const isWhole = hidden.length === 0 && all.value.every(({ spans }) => spans === null);
  if (moment === always && isWhole) return all;
  const sees = seeing(context, hidden);
  const has = async (one: Expiration, optionType: 'call' | 'put'): Promise<boolean> => {
    const where = contractsOf(found, optionType);
    const order = [['symbol', 'asc'] as const];
    // Most dates have contracts of one of the two instants that they may expire at.
    const read = { where, ...groupsOf([one], [], 0), order, limit: 1 };
    if (one.spans !== null && (await reader.ranked(optionContracts, read)).length === 0) return false;
    const expirationOf = expirationFinder([one]);
    const group = { ...where, expiration_date: one.day, expiration_datetime: one.givenMs };
    const rows = { where: group, order: [['strike_price', 'asc'] as const, ...order], limit: 0 };
    const isOfIt = (row: Contract): boolean => expirationOf(row) !== undefined && sees(row);
    return (await takeRows(context, rows, optionContracts, isOfIt)).hasMore;
  };
  const { instrument_id } = found.instrument;
  const name = `expirations|${instrument_id}|${hidden.length} hidden|${daysKnown(context, found)}`;
  return lookup.cached(reader, name, async () => {
    const seen: Expiration[] = [];
    for (const one of all.value) {
      const isOfIt = (row: Contract): boolean =>
        row.expiration_date === one.day && row.expiration_datetime === one.givenMs;
      const isSure = moment === always && one.spans === null && !hidden.some(isOfIt);
      if (isSure || (await has(one, 'call')) || (await has(one, 'put'))) seen.push(one);
    }
    return seen;
  });
}

/**
 * The first contracts of ranked reads that a request sees, with their places; `rowsAt` reads the rows of
 * places.
 * @throws TooDear where another lane must look through so many
 */
export async function seenContracts(
  { reader, lane }: QueryContext,
  sees: (contract: Contract) => boolean,
  reads: readonly RankedRead<typeof optionContracts>[],
  rowsAt: (places: Places) => Promise<readonly Contract[]>,
): Promise<{ readonly places: Places; readonly rows: readonly Contract[] }> {
  const places: (readonly (string | number)[])[] = [];
  const rows: Contract[] = [];
  const [read] = reads as [RankedRead<typeof optionContracts>];
  const limit = Math.max(read.limit, queryLimits.rowsPerReadMax);
  let { after } = read;
  for (let seen = 0; ; seen += limit) {
    if (seen > lane.baseBarsMax) throw new TooDear();
    const step = reads.map((read) => ({ ...read, ...(after && { after }), limit }));
    const sorted = await rankedContracts(reader, step);
    const found = await rowsAt(sorted);
    for (const [at, row] of found.entries()) {
      if (!sees(row)) continue;
      places.push(sorted[at]!);
      rows.push(row);
    }
    if (rows.length >= read.limit || sorted.length < limit)
      return { places: places.slice(0, read.limit), rows: rows.slice(0, read.limit) };
    after = sorted.at(-1)!;
  }
}

/** A stored contract. */
export type Contract = RowOf<typeof optionContracts>;

/** One expiration of an underlying's contracts. */
export type Expiration = {
  readonly day: number;
  /** The instant from a file; null where it has none. */
  readonly givenMs: number | null;
  /** The instant of a file, else the close of the last session on or before the day, or its open. */
  readonly expiresMs: number;
  /** The symbols of its contracts, where others of its underlying may settle in the morning; null for all. */
  readonly spans: readonly TextSpan[] | null;
};

/** True if a symbol is in a span. */
export const isWithin = (symbol: string, { from, below }: TextSpan): boolean =>
  from <= symbol && symbol < below;

/** A day and an instant of files, null where they gave none, that contracts have. */
type ContractDate = Pick<Contract, 'expiration_date' | 'expiration_datetime'>;

/** The part of a contract that says when it expires. */
type Dated = ContractDate & Pick<Contract, 'symbol'>;

/** Finds the one expiration, among all of an underlying, of each of its contracts. */
export function expirationFinder(expirations: readonly Expiration[]) {
  const places = Map.groupBy(expirations, ({ day, givenMs }) => `${day} ${givenMs}`);
  return ({ expiration_date, expiration_datetime, symbol }: Dated): Expiration | undefined =>
    places
      .get(`${expiration_date} ${expiration_datetime}`)
      ?.find(({ spans }) => spans === null || spans.some((span) => isWithin(symbol, span)));
}

type Underlying = { readonly instrument: Instrument; readonly calendar: Calendar };

/** After every symbol (contract 1.3). */
const SYMBOLS_END = '\u007f';

/** The roots of an underlying whose contracts settle in the morning. */
const morningRootsOf = ({ country_iso_code, asset_schema, symbol }: Instrument): readonly string[] =>
  country_iso_code === 'US' && asset_schema === 'stock' ? morningRoots(symbol) : [];

/**
 * The expirations of the contracts of a day and an instant of files: two where contracts of `roots` settle in
 * the morning.
 */
function expirationsAt(
  { calendar }: Underlying,
  { expiration_date: day, expiration_datetime: givenMs }: ContractDate,
  roots: readonly string[],
): Expiration[] {
  const session = calendar.sessionOnOrBefore(day);
  const closeMs = givenMs ?? session?.closeMs ?? (day + 1) * DAY_MS;
  if (roots.length === 0) return [{ day, givenMs, expiresMs: closeMs, spans: null }];
  const all = { from: '', below: SYMBOLS_END };
  if (givenMs !== null || session === null) return [{ day, givenMs, expiresMs: closeMs, spans: [all] }];
  // A symbol of a root goes on with a digit.
  const morning = roots.map((root) => ({ from: `${root}0`, below: `${root}:` }));
  const edges = [all.from, ...morning.flatMap(({ from, below }) => [from, below]), all.below];
  const rest = [...morning, all].map((_, at) => ({ from: edges[2 * at]!, below: edges[2 * at + 1]! }));
  return [
    { day, givenMs, expiresMs: session.openMs, spans: morning },
    { day, givenMs, expiresMs: closeMs, spans: rest },
  ];
}

/** Both types of contracts. */
export const optionTypes = ['call', 'put'] as const;

/** The filter that finds the contracts of an underlying. */
export const contractsOf = ({ instrument }: Pick<Underlying, 'instrument'>, optionType: 'call' | 'put') => ({
  country_iso_code: instrument.country_iso_code,
  parent_asset_schema: instrument.asset_schema,
  underlying_name: instrument.symbol,
  option_type: optionType,
});

/**
 * Steps from one expiration to the next in the index: one read for each expiration, however many contracts it
 * has.
 */
async function* walk(
  reader: Reader,
  underlying: Underlying,
  optionType: 'call' | 'put',
): AsyncGenerator<ContractDate> {
  const where = contractsOf(underlying, optionType);
  let from = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const [first] = await reader.rows(optionContracts, {
      where,
      range: { from },
      order: [
        ['expiration_date', 'asc'],
        ['expiration_datetime', 'asc'],
      ],
      limit: 1,
    });
    if (first === undefined) return;
    const day = first.expiration_date;
    let row: ContractDate | undefined = first;
    while (row !== undefined) {
      const givenMs: number | null = row.expiration_datetime;
      yield row;
      [row] = await reader.rows(optionContracts, {
        where: { ...where, expiration_date: day },
        range: { from: givenMs === null ? Number.MIN_SAFE_INTEGER : givenMs + 1 },
        order: [['expiration_datetime', 'asc']],
        limit: 1,
      });
    }
    from = day + 1;
  }
}

const byTime = (a: Expiration, b: Expiration): number => a.expiresMs - b.expiresMs || a.day - b.day;

/** The days and instants that the contracts of an underlying have, calls and puts together. */
async function datesOf(reader: Reader, underlying: Underlying): Promise<readonly ContractDate[]> {
  const found = new Map<string, ContractDate>();
  for (const optionType of optionTypes)
    for await (const { expiration_date, expiration_datetime } of walk(reader, underlying, optionType))
      found.set(`${expiration_date} ${expiration_datetime}`, { expiration_date, expiration_datetime });
  return [...found.values()];
}

/**
 * The expirations of an underlying by time. Where contracts settle in the morning, each date has both
 * instants, whatever contracts it has.
 */
function expirationsOf(underlying: Underlying, dates: readonly ContractDate[]): readonly Expiration[] {
  const roots = morningRootsOf(underlying.instrument);
  return dates.flatMap((date) => expirationsAt(underlying, date, roots)).sort(byTime);
}

type Contracts = typeof optionContracts;
type Term = RankedRead<Contracts>['order'][number];

/**
 * The side of the price on which all contracts of a search are; below it the highest strike is the nearest.
 * Any: the lowest strike comes first.
 */
type Side = 'below' | 'above' | 'any';

/** Above every instant, so that past expirations sort after all coming ones. */
const EXPIRED_RANK = 1e15;

const EXPIRATION = 'expiration_datetime';

const termOf = ({ field, direction }: SortTerm): Term =>
  [field === EXPIRATION ? 'rank' : (field as Term[0]), direction] as const;

const reversed = ([column, direction]: Term): Term => [column, direction === 'asc' ? 'desc' : 'asc'];

/**
 * The terms of the order, `desc` for all of it reversed; the last one is the symbol, which is unique in a
 * country.
 */
export function orderOf(
  sortBy: readonly SortTerm[],
  side: Side,
  sort: Direction,
  hasBothTypes: boolean,
): Term[] {
  const asked = sortBy.map(termOf);
  const rest: readonly Term[] = [
    ['rank', 'asc'],
    ['strike_price', side === 'below' ? 'desc' : 'asc'],
    ...(hasBothTypes ? [['option_type', 'asc'] as const] : []),
    ['symbol', 'asc'],
  ];
  const whole = [...asked, ...rest.filter(([column]) => !asked.some(([other]) => other === column))];
  const unique = whole.slice(0, whole.findIndex(([column]) => column === 'symbol') + 1);
  return sort === 'desc' ? unique.map(reversed) : unique;
}

/**
 * The groups of a read of some expirations, with their ranks: by time where the caller sorts by it; else
 * coming ones first, then past ones, the latest first. At its very instant an expiration has passed (contract
 * 8.5).
 */
export function groupsOf(
  expirations: readonly Expiration[],
  sortBy: readonly SortTerm[],
  nowMs: number,
): Pick<RankedRead<Contracts>, 'groupBy' | 'within' | 'groups'> {
  const isByTime = sortBy.some(({ field }) => field === EXPIRATION);
  return {
    groupBy: ['expiration_date', 'expiration_datetime'],
    ...(expirations.some(({ spans }) => spans !== null) && { within: 'symbol' as const }),
    groups: expirations.flatMap(({ day, givenMs, expiresMs, spans }) => {
      const rank = isByTime || expiresMs > nowMs ? expiresMs : EXPIRED_RANK - expiresMs;
      return (spans ?? [{}]).map((span) => ({ at: [day, givenMs], rank, ...span }));
    }),
  };
}

type ContractsRead = RankedRead<Contracts>;
type Place = readonly (string | number)[];

/** The place that comes first in an order. */
function comparePlaces(order: ContractsRead['order'], one: Place, other: Place): number {
  for (const [at, [, direction]] of order.entries()) {
    const [a, b] = [one[at]!, other[at]!];
    if (a !== b) return a < b === (direction === 'asc') ? -1 : 1;
  }
  return 0;
}

/** The first places of ranked reads of one order and limit: one for each type of contracts (contract 9.17). */
export async function rankedContracts(
  reader: Reader,
  reads: readonly ContractsRead[],
): Promise<readonly Place[]> {
  const [{ order, limit }] = reads as [ContractsRead];
  const places: Place[] = [];
  for (const read of reads) places.push(...(await reader.ranked(optionContracts, read)));
  return reads.length === 1 ? places : places.sort((a, b) => comparePlaces(order, a, b)).slice(0, limit);
}
