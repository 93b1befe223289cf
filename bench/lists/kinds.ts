// What is asked of the store of lists: kinds of requests, each with many different targets, without the key.
import { formatDay } from '../../src/base/instant.ts';
import { random, symbolOf } from '../minutes.ts';
import { DAYS, eventCodes, eventCountries, FIRST_DAY, type ListSize, nameOf } from './store.ts';

/** Records of one page. */
export const LIMIT = 100;

/** Of most kinds so many different requests are made. */
const VARIETY = 200;
/** Of kinds whose answers are small, or depend on their first letters alone. */
const VARIETY_MORE = 2_000;

/** A kind of request. */
export type Kind = { readonly name: string; targets(size: ListSize): string[] };

/** A kind that is asked for one by one, and what it may take. */
export type TimedKind = Kind & { readonly atMostMs: number };

/** A kind of which a late page is asked for too. */
export type PagedKind = TimedKind & { readonly late: 'lateSearchPage' | 'lateNewsPage' };

const next = random(23);
const below = (count: number): number => Math.floor(next() * count);
const some = <T>(values: readonly T[]): T => values[below(values.length)]!;
const variety = (make: () => string, count = VARIETY): string[] => Array.from({ length: count }, make);
const dayAt = (offset: number): string => formatDay(FIRST_DAY + offset);
const stock = (count: number): string => `US:${symbolOf(below(count))}`;

/** Kinds whose answers are cached. */
export const warmKinds: readonly Kind[] = [
  {
    name: 'reference record',
    targets: (size) => variety(() => `/api/v2/stock/reference/${stock(size.instruments)}`),
  },
  {
    name: 'expiration list',
    targets: (size) => variety(() => `/api/v2/option/expiration_date_list/stock/${stock(size.underlyings)}`),
  },
  {
    name: 'holiday list of a year',
    targets: () =>
      Array.from({ length: 26 }, (_, index) => {
        const year = 2001 + index;
        return `/api/v2/holiday/list?full_symbol=stock:US:*&from_date=${year}-01-01&to_date=${year}-12-31`;
      }),
  },
];

const search = (text: string, limit: number): string =>
  `/api/v2/stock/reference/search?query=${encodeURIComponent(text)}&limit=${limit}`;

const beginnings =
  (limit: number, count: number) =>
  (size: ListSize): string[] =>
    variety(() => search(symbolOf(below(size.instruments)).slice(0, 2 + below(3)), limit), count);

const wordOf = (size: ListSize, at: number): string =>
  nameOf(below(size.instruments)).split(' ')[at]!.toLowerCase();

const searchKinds: readonly TimedKind[] = [
  {
    name: 'instrument search, beginning of a symbol',
    targets: beginnings(20, VARIETY),
    atMostMs: 5,
  },
  {
    name: 'instrument search, beginning of a symbol, limit 100',
    targets: beginnings(100, VARIETY_MORE),
    atMostMs: 5,
  },
  {
    name: 'instrument search, a word',
    targets: (size) => variety(() => search(wordOf(size, 2), 20)),
    atMostMs: 5,
  },
  {
    name: 'instrument search, two words out of order',
    targets: (size) => variety(() => search(`${wordOf(size, 2)} ${wordOf(size, 0)}`, 20)),
    atMostMs: 5,
  },
];

const actions =
  (type: string) =>
  (size: ListSize): string[] =>
    variety(
      () =>
        `/api/v2/stock/stock_corporate_action/list/${stock(size.actionStocks)}?from_date=${2000 + below(5)}-01-01${type}&limit=${LIMIT}`,
      VARIETY_MORE,
    );

const actionKinds: readonly TimedKind[] = [
  { name: 'corporate actions of a stock', targets: actions(''), atMostMs: 2 },
  { name: 'corporate actions of a stock, splits', targets: actions('&action_type=split'), atMostMs: 2 },
];

const country = (): string => `&country_iso_code=${some(eventCountries)}`;
const code = (): string => `&event_code=${some(eventCodes)}`;
const impact = (): string => `&impact=${some(['low', 'medium', 'high'])}`;

const eventKinds: readonly TimedKind[] = (
  [
    ['', () => ''],
    [' of a country', country],
    [' of a code', code],
    [' of an impact', impact],
    [' of a country and a code', () => country() + code()],
    [' of a country and an impact', () => country() + impact()],
    [' of a code and an impact', () => code() + impact()],
    [' of all three', () => country() + code() + impact()],
  ] as const
).map(([name, filters]) => ({
  name: `events${name}`,
  targets: () =>
    variety(
      () =>
        `/api/v2/economic_calendar/event_list?from_date=${dayAt(below(2_000))}&sort=asc&limit=${LIMIT}${filters()}`,
    ),
  atMostMs: 2,
}));

/** Kinds that are asked for one by one. */
export const timedKinds: readonly TimedKind[] = [...searchKinds, ...actionKinds, ...eventKinds];

/** All 10,000 calls of the first underlying are in the money. */
const optionTargets = (sort: string) => (): string[] =>
  variety(
    () =>
      `/api/v2/option/search/stock/US:${symbolOf(0)}/call/moneyness/in_the_money?ref_asset_price=${300 + below(4_000) / 10}&limit=${LIMIT}${sort}`,
  );

const newsTargets = (symbol: string | null, sort: 'asc' | 'desc') => (): string[] =>
  variety(() => {
    const offset = below(600);
    const range =
      sort === 'asc'
        ? `from_date=${dayAt(offset)}&to_date=${dayAt(DAYS)}`
        : `from_date=${dayAt(0)}&to_date=${dayAt(DAYS - offset)}`;
    return `/api/v2/news/list?${symbol === null ? '' : `full_symbol=stock:US:${symbol}&`}${range}&sort=${sort}&limit=${LIMIT}`;
  });

/** Kinds of which a first and a late page are asked for. */
export const pagedKinds: readonly PagedKind[] = [
  {
    name: 'option search, 100 of 10,000 contracts',
    targets: optionTargets(''),
    atMostMs: 3,
    late: 'lateSearchPage',
  },
  {
    name: 'option search, 100 of 10,000 contracts by two fields',
    targets: optionTargets('&sort_by=strike_price%20desc,expiration_date'),
    atMostMs: 3,
    late: 'lateSearchPage',
  },
  ...(
    [
      ['a stock', symbolOf(0)],
      ['a market', '*'],
      ['everything', null],
    ] as const
  ).flatMap(([of, symbol]) =>
    (['asc', 'desc'] as const).map(
      (sort): PagedKind => ({
        name: `news of ${of}, ${sort}`,
        targets: newsTargets(symbol, sort),
        atMostMs: 2,
        late: 'lateNewsPage',
      }),
    ),
  ),
];
