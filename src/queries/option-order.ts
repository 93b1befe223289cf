// The order of option search: the caller's fields, then coming expirations before past ones, then the strikes
// nearest to the price (contract 8.4).
import type { SortTerm } from '../contract/kinds.ts';
import type { optionContracts } from '../store/schema/options.ts';
import type { Direction, RankedRead } from '../store/store.ts';
import type { Expiration } from './expirations.ts';

type Contracts = typeof optionContracts;
type Term = RankedRead<Contracts>['order'][number];

/**
 * The side of the price on which all contracts of a search are; below it the highest strike is the nearest.
 */
type Side = 'below' | 'above';

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
export function orderOf(sortBy: readonly SortTerm[], side: Side, sort: Direction): Term[] {
  const asked = sortBy.map(termOf);
  const rest: readonly Term[] = [
    ['rank', 'asc'],
    ['strike_price', side === 'below' ? 'desc' : 'asc'],
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
