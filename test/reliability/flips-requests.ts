// The requests of the flips: with their pages they read every row of every table and index that an answer
// comes from.
import {
  cryptoName,
  firstWithFormer,
  forexName,
  formerSymbol,
  minuteNames,
  STOCKS,
  sourceIds,
  stockSymbol,
} from './flips-data.ts';

type Query = Readonly<Record<string, string | number>>;

function target(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `/api/v2/${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}

const everyStock = Array.from({ length: STOCKS }, (_, index) => stockSymbol(index));

/** The path of an endpoint of one instrument. */
const about = (name: string, area: string, rest = ''): string => {
  const [schema, country, symbol] = name.split(':') as [string, string, string];
  return `${schema}/${area}/${country}:${encodeURIComponent(symbol)}${rest}`;
};

const history = (name: string, interval: string, query: Query = {}): string =>
  target(about(name, 'bars', `/${interval}/from/2022-01-01/to/2025-03-31`), { limit: 1000, ...query });

const latest = (name: string, interval: string, query: Query = {}): string =>
  target(about(name, 'bars', `/${interval}/latest`), { limit: 1000, ...query });

const stock = (symbol: string): string => `stock:US:${symbol}`;
const eth = { is_eth: 'true' };
const desc = { sort: 'desc' };
const json = { format: 'json' };

/** Each stock is asked for one of them; every bar of all is in the exports. */
const dailyOf = [
  (name: string) => history(name, 'DAY'),
  (name: string) => history(name, 'DAY', desc),
  (name: string) => latest(name, 'WEEK'),
  (name: string) => latest(name, 'MON'),
];

const days = everyStock.map((symbol, index) => dailyOf[index % dailyOf.length]!(stock(symbol)));

const bars: readonly string[] = [
  ...minuteNames.flatMap((name) => [history(name, '1M', { ...eth, limit: 90 }), history(name, '30M', desc)]),
  ...[cryptoName, minuteNames[0], minuteNames[3]].map((name) => latest(name, 'DAY', eth)),
  history(cryptoName, '1M', { ...desc, limit: 70 }),
  history(forexName, '60M', { limit: 40 }),
  history(forexName, 'DAY'),
  history(stock('AB02'), '5M', { limit: 50 }),
  history(stock('AB02'), '60M', desc),
  history(stock('AB03'), '60M'),
  ...['AB04', 'AB05'].map((symbol) => history(stock(symbol), symbol === 'AB04' ? 'WEEK' : 'MON', desc)),
  ...['AB00', 'AB01', 'AB07'].map((symbol) => history(stock(symbol), 'DAY', { adjust: 'all' })),
  history(minuteNames[0], '5M', { adjust: 'split', session_date: 'true' }),
  target(`stock/bars/US:${formerSymbol(firstWithFormer)}/DAY/from/2025-02-17/to/2025-02-21`),
];

const newsTimes = { from_date: '2025-01-01', to_date: '2025-12-31' };

const lists: readonly string[] = [
  target('news/list', { ...newsTimes, limit: 20 }),
  target('news/list', { ...newsTimes, full_symbol: 'stock:US:*', ...desc, limit: 15 }),
  ...[1, 4, 8].map((index) =>
    target('news/list', { ...newsTimes, full_symbol: `stock:US:${stockSymbol(index)}`, limit: 3 }),
  ),
  target('news/latest', { limit: 1000 }),
  target('news/latest', { limit: 1000, full_symbol: `stock:US:${stockSymbol(2)}` }),
  ...everyStock.slice(0, 6).map((symbol, index) =>
    target(`stock/stock_corporate_action/list/US:${symbol}`, {
      ...{ from_date: '2020-01-01', limit: 1 },
      ...(index % 2 ? desc : {}),
    }),
  ),
  target('holiday/list', { full_symbol: 'stock:ZZ:*', ...json, limit: 12 }),
  target('holiday/list', { full_symbol: 'stock:ZZ:ONLY', ...json, ...desc, limit: 20 }),
  target('holiday/holiday_codes/ZZ'),
  target('economic_calendar/event_list', { ...json, limit: 20 }),
  target('economic_calendar/event_list', { ...json, ...desc, country_iso_code: 'JP', limit: 7 }),
  target('economic_calendar/event_list', { ...json, event_code: 'SAMPLE_1', limit: 9 }),
  target('economic_calendar/event_list', { ...json, ...desc, impact: 'high', limit: 10 }),
  ...[0, 1, 2, 3].map((code) =>
    target('economic_calendar/event_list', {
      ...{ ...json, country_iso_code: ['US', 'JP', 'ZZ'][code % 3]!, event_code: `SAMPLE_${code}` },
      ...(code % 2 ? desc : {}),
    }),
  ),
  target('economic_calendar/latest_event_list', { ...json, limit: 1000 }),
  target('server/runs', { ...json, limit: 1000 }),
  ...sourceIds
    .filter((_, index) => index % 4 === 2)
    .map((id) => target('economic_calendar/event', { source_id: id })),
  target('economic_calendar/event_codes/ZZ'),
];

const underlyings = everyStock.slice(0, 2);
const search = (symbol: string, type: string, moneyness: string, query: Query): string =>
  target(`option/search/stock/US:${symbol}/${type}/moneyness/${moneyness}`, { limit: 1000, ...query });

const options: readonly string[] = underlyings.flatMap((symbol) => [
  search(symbol, 'call', 'in_the_money', { ref_asset_price: 5_000, limit: 7 }),
  search(symbol, 'put', 'in_the_money', { ref_asset_price: 1, ...desc }),
  search(symbol, 'call', 'out_of_the_money', {}),
  target(`option/expiration_date_list/stock/US:${symbol}`),
]);

const instruments: readonly string[] = [
  ...everyStock.filter((_, index) => index % 3 === 1).map((symbol) => target(`stock/reference/US:${symbol}`)),
  ...[...minuteNames.slice(2), cryptoName, forexName].map((name) => target(about(name, 'reference'))),
  target('stock/reference/search', { query: 'AB', limit: 100 }),
  target('stock/reference/search', { query: 'alpha', country_iso_code: 'US', limit: 100 }),
  target('stock/reference/search', { query: 'holdings', limit: 100 }),
  target('stock/reference/search', { query: 'OLD', limit: 100 }),
  target('option/reference/search', { query: 'AB00', limit: 100 }),
  target('option/reference/search', { query: 'AB01', country_iso_code: 'US', limit: 100 }),
  target('stock/coverage', { limit: 7 }),
  target(about(minuteNames[0]!, 'findings')),
  target(about(cryptoName, 'findings'), desc),
  target('forex/coverage', desc),
  target(about(forexName, 'coverage'), { limit: 40 }),
  target(`stock/coverage/US:${everyStock[0]}`, { interval: 'DAY', ...desc }),
];

const bulk: readonly string[] = [
  ['stock', 'US', 'DAY', { adjust: 'all' }] as const,
  ['stock', 'US', '5M', eth] as const,
  ['future', 'US', '1M', {}] as const,
].map(([schema, country, interval, query]) =>
  target(`${schema}/bulk/bars/${country}/${interval}/from/2025-02-17/to/2025-03-08`, {
    ...query,
    format: 'csv',
  }),
);

const others: readonly string[] = [...instruments, ...bars, ...lists, ...options, ...bulk];

/** At a version among those of the imports, and as of a moment among them (contract 9.12, 9.8). */
const times = ['data_version=20', `as_of=${encodeURIComponent('2025-03-05T16:00:00Z')}`] as const;

/**
 * The same requests at an earlier time: of the two by turns; of the days of stocks, which are alike, some.
 */
const past = [...others, ...days.slice(0, 6)].map(
  (one, index) => `${one}${one.includes('?') ? '&' : '?'}${times[index % times.length]}`,
);

/** The first page of each walk. */
export const targets: readonly string[] = [...others, ...days, ...past];
