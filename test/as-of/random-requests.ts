// Random requests to every endpoint about the instruments of a random world.
import type { EndpointName, StreamedName } from '../../src/contract/index.ts';
import type { Random } from '../fuzz/random.ts';

const names = [
  'stock/US:AAA',
  'stock/US:RNM',
  'stock/US:OLDN',
  'stock/US:LST',
  'stock/US:DEL',
  'crypto/GLOBAL:BTCUSD',
];
const intervals = ['1M', '5M', '15M', '60M', '60M', '120M', 'DAY', 'DAY', 'DAY', 'WEEK', 'MON'];
const date = (random: Random): string => `2025-03-${String(random.between(1, 24)).padStart(2, '0')}`;

function range(random: Random): [from: string, to: string] {
  const [from, to] = [date(random), date(random)].sort() as [string, string];
  return [from, to];
}

const params = (random: Random, choices: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(choices).flatMap(([name, values]) =>
    random.chance(0.5) ? [`${name}=${random.pick(values)}`] : [],
  );

const bars = { is_eth: ['true', 'false'], adjust: ['all', 'split', 'dividend'], session_date: ['true'] };
const sort = ['asc', 'desc'];
const limit = ['1', '2', '3', '7', '50'];
const code = { country_iso_code: ['US', 'ZZ'], event_code: ['ONE', 'TWO'], impact: ['high', 'low', 'all'] };

const seriesOf = (random: Random): string => {
  const [schema, symbol] = random.pick(['stock/US:AAA', 'stock/US:DEL', ...names]).split('/');
  return `${schema}/bars/${symbol}/${random.pick(intervals)}`;
};
const fullSymbols = ['stock:US:*', ...names.map((name) => name.replace('/', ':'))];
const underlying = (random: Random): string => random.pick(names.slice(0, 3));

/**
 * What tells of the service and of its store: of these both services differ, or `judged.test.ts` compares
 * them.
 */
type OfTheStore = 'runs' | 'addressInfo' | 'seriesCoverage' | 'sessionCoverage' | 'findings';

/** Path and query of one request, by endpoint. */
const makers: Readonly<
  Record<
    Exclude<EndpointName, OfTheStore> | StreamedName,
    (random: Random) => [path: string, query: string[]]
  >
> = {
  historicalBars: (random) => {
    const [from, to] = range(random);
    return [`${seriesOf(random)}/from/${from}/to/${to}`, params(random, { ...bars, sort, limit })];
  },
  bulkBars: (random) => {
    const [from, to] = range(random);
    const market = random.pick(['stock/bulk/bars/US', 'stock/bulk/bars/US', 'crypto/bulk/bars/GLOBAL']);
    const symbols = ['AAA', 'AAA,RNM', 'OLDN,DEL', 'DEL,AAA,LST', 'BTCUSD'];
    const named = random.chance(0.6) ? [] : [`symbols=${random.pick(symbols)}`];
    return [
      `${market}/${random.pick(intervals)}/from/${from}/to/${to}`,
      ['format=csv', ...named, ...params(random, bars)],
    ];
  },
  latestOfMany: (random) => [
    'stock/bars/latest',
    [
      `symbols=${random.shuffle(['US:AAA', 'US:RNM', 'US:OLDN', 'US:LST', 'US:DEL', 'US:NOPE']).slice(0, 4).join()}`,
      `interval=${random.pick(intervals)}`,
      ...params(random, { ...bars, limit: ['1', '2', '10'] }),
    ],
  ],
  latestBars: (random) => [`${seriesOf(random)}/latest`, params(random, { ...bars, limit })],
  corporateActions: (random) => [
    `stock/stock_corporate_action/list/${random.pick(names.slice(0, 5)).split('/')[1]}`,
    [`from_date=${date(random)}`, ...params(random, { action_type: ['split', 'dividend'], sort, limit })],
  ],
  newsList: (random) => {
    const [from, to] = range(random);
    return [
      'news/list',
      [`from_date=${from}`, `to_date=${to}`, ...params(random, { full_symbol: fullSymbols, sort, limit })],
    ];
  },
  latestNews: (random) => ['news/latest', params(random, { full_symbol: fullSymbols, sort, limit })],
  optionSearch: (random) => [
    `option/search/${underlying(random)}/${random.pick(['call', 'put'])}/moneyness/${random.pick(['in_the_money', 'out_of_the_money'])}`,
    params(random, {
      ref_asset_price: ['150'],
      adjusted: ['true', 'false'],
      quotes: ['true'],
      sort_by: ['strike_price', 'expiration_date desc'],
      sort,
      limit,
    }),
  ],
  optionExpirations: (random) => [
    `option/expiration_date_list/${underlying(random)}`,
    params(random, { sort, adjusted: ['true', 'false'] }),
  ],
  holidayList: (random) => [
    'holiday/list',
    [`full_symbol=${random.pick(fullSymbols)}`, ...params(random, { sort, limit })],
  ],
  holidayCodes: (random) => [`holiday/holiday_codes/${random.pick(['US', 'ZZ', 'UK'])}`, []],
  economicEvents: (random) => [
    'economic_calendar/event_list',
    params(random, { ...code, from_date: ['2025-03-05'], sort, limit }),
  ],
  economicEvent: (random) => [
    'economic_calendar/event',
    params(random, { ...code, from_date: ['2025-03-05'], to_date: ['2025-03-20'], sort }),
  ],
  economicEventCodes: (random) => [`economic_calendar/event_codes/${random.pick(['US', 'ZZ'])}`, []],
  latestEconomicEvents: (random) => [
    'economic_calendar/latest_event_list',
    params(random, { ...code, date_type: ['upcoming', 'historical', 'all'], sort, limit }),
  ],
  instrumentReference: (random) => {
    const [schema, symbol] = random.pick(names).split('/');
    return [`${schema}/reference/${symbol}`, []];
  },
  instrumentSearch: (random) => [
    'stock/reference/search',
    [
      `query=${random.pick(['A', 'R', 'O', 'L', 'OLDN', 'RNM', 'holdings', 'alpha', 'hold ren', 'D'])}`,
      ...params(random, { country_iso_code: ['US'], limit }),
    ],
  ],
};

/** The endpoints in turn. */
export const endpoints = Object.keys(makers) as (keyof typeof makers)[];

/** Without a `format`, or with one of their own. */
const withoutFormat: readonly (keyof typeof makers)[] = [
  'bulkBars',
  'holidayCodes',
  'economicEvent',
  'economicEventCodes',
  'instrumentReference',
  'instrumentSearch',
];

/** Path and query of a request to an endpoint, in JSON; in bulk as CSV. */
export function randomRequest(random: Random, endpoint: keyof typeof makers): string {
  const [path, query] = makers[endpoint](random);
  return `${path}?${[...query, ...(withoutFormat.includes(endpoint) ? [] : ['format=json'])].join('&')}`;
}
