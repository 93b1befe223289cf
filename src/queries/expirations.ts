// The expirations of an underlying, read step by step along an index; the calendar gives their instants (spec
// 4.7, contract 8.5). And the order of a search by them: the caller's fields, then coming expirations before
// past ones, then the strikes nearest to the price (contract 8.4).
import { DAY_MS } from '../base/instant.ts';
import type { SortTerm } from '../contract/kinds.ts';
import type { Calendar } from '../market/calendar/calendar.ts';
import type { RowOf } from '../store/schema/dataset.ts';
import { morningRoots, optionContracts } from '../store/schema/options.ts';
import type { Instrument } from '../store/schema/reference.ts';
import type { Direction, RankedRead, Reader, TextSpan } from '../store/store.ts';

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
export async function datesOf(reader: Reader, underlying: Underlying): Promise<readonly ContractDate[]> {
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
export function expirationsOf(underlying: Underlying, dates: readonly ContractDate[]): readonly Expiration[] {
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
