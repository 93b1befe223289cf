// Requests to every endpoint about what both stores hold, right and wrong ones, by chance.
import { endpoints as ofRandomWorld, randomRequest } from '../as-of/random-requests.ts';
import type { Known } from '../fuzz/answers.ts';
import type { Random } from '../fuzz/random.ts';
import { makeTrial } from '../fuzz/trial.ts';
import { eras, names } from './world.ts';

/** A request, its keys as placeholders. */
export type Request = {
  readonly endpoint: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How many pages behind the answer are asked for. */
  readonly pages: number;
  /** Whether a good answer is asked for again with its tag. */
  readonly again: boolean;
};

/** What stands for a key in a request; each store has a key of its own. */
export const placeholders = {
  live: 'live-key-of-this-store-00000000000000000000',
  pinned: 'pinned-key-of-this-store-000000000000000000',
} as const;

const known: Known = {
  liveKey: placeholders.live,
  deadKeys: ['never-issued-never-issued-never-issued-00000', 'short-and-dead'],
  // Keys of pages are signed by each store itself: this one is wrong for both.
  pageKeys: [{ endpoint: 'newsList', texts: {}, key: 'A'.repeat(96), skip: 0 }],
};

const intervals = ['1M', '3M', '5M', '10M', '15M', '30M', '60M', '120M', '240M', 'DAY', 'WEEK', 'MON'];
const oddIntervals = ['45M', '7M', '1h', '1d', '2min', '390M', '1440M', '1w', '1mo'];
const mistakes = ['1Y', '0M', '1441M', 'M'];
const sort = ['asc', 'desc', 'DESC'];
const limits = ['1', '2', '5', '20', '100', '1000'];
const flags = ['true', 'false', '1', 'no'];
const formats = ['json', 'csv'];

/** A date of the stretches of bars, of the years of days, or of the real files. */
function someDate(random: Random): string {
  if (random.chance(0.12))
    return random.pick(['2013-10-04', '2013-10-07', '2015-12-24', '2018-04-05', '2020-04-20']);
  if (random.chance(0.2))
    return `${random.between(2023, 2025)}-0${random.between(1, 9)}-${random.between(10, 28)}`;
  const [from, to] = random.pick(eras);
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
  return new Date(Date.parse(from) + random.between(-1, days + 1) * 86_400_000).toISOString().slice(0, 10);
}

const clocks = [
  'T00:00:00',
  ' 00:00:00',
  'T14:30:00Z',
  'T09:30:00-05:00',
  'T20:59:00+00:00',
  'T13:07:00.5',
  'T08:00',
];

/** A bound of a range: a date, mostly. */
const bound = (random: Random, date: string): string =>
  random.chance(0.75) ? date : `${date}${random.pick(clocks)}`;

/** Two bounds at most so many days apart, now and then in the wrong order. */
function range(random: Random, daysMax: number): [from: string, to: string] {
  const date = someDate(random);
  const end = new Date(Date.parse(date) + random.below(daysMax + 1) * 86_400_000).toISOString().slice(0, 10);
  const [from, to] = random.chance(0.01) ? [end, date] : [date, end];
  return [bound(random, from), bound(random, to)];
}

const instant = (random: Random): string =>
  random.chance(0.2)
    ? someDate(random)
    : `${someDate(random)}T${random.pick(['14:30:00Z', '21:00:00Z', '16:00:30Z', '05:00:00+08:00', '20:20:00Z'])}`;

const interval = (random: Random): string =>
  random.chance(0.9) ? random.pick(intervals) : random.pick(random.chance(0.8) ? oddIntervals : mistakes);

/** What is written for a symbol: other cases, separators, prefixes, and now and then no instrument. */
function written(random: Random, name: string): string {
  if (random.chance(0.85)) return encodeURI(name);
  if (random.chance(0.2))
    return random.pick(['US:NOPE', 'US:AAY', 'XX', 'US:', 'USA:AAX', 'US:AAX1', 'ZZ:AAX']);
  return encodeURI(
    random.pick([
      name.toLowerCase(),
      name.replace(':', '%3A'),
      name.replace('/', '-'),
      name.replace('/', ''),
      name.replace('.', '-'),
      name.replace('GLOBAL:', 'X:'),
      name.replace('UK:', 'GB:'),
    ]),
  );
}

/** Parameters, each there by half. */
const some = (random: Random, choices: Readonly<Record<string, readonly string[]>>, share = 0.5): string[] =>
  Object.entries(choices).flatMap(([name, values]) =>
    random.chance(share) ? [`${name}=${random.pick(values)}`] : [],
  );

/** A moment, a version, or neither. */
function past(random: Random, versions: number, share = 0.35): string[] {
  if (!random.chance(share)) return [];
  const version = `data_version=${random.between(0, versions + 1)}`;
  const moment = `as_of=${instant(random)}`;
  return random.pick([[version], [version], [moment], [moment], [version, moment]]);
}

const barChoices = (random: Random): string[] => [
  ...some(random, { is_eth: flags, session_date: flags }),
  ...(random.chance(0.3) ? [`adjust=${random.pick(['none', 'split', 'dividend', 'all'])}`] : []),
  ...some(
    random,
    { adjustment: ['raw', 'all'], adjust_as_of: ['2025-03-05', '2025-03-06', '2024-06-10', '2026-01-01'] },
    0.05,
  ),
  ...some(
    random,
    {
      columns: ['datetime,close', 'close', 'nope'],
      timestamps: ['unix', 'unix_ms', 'iso'],
      tz: ['America/New_York', 'Mars/One'],
    },
    0.04,
  ),
];

const fullSymbols = [
  ...names.map(([schema, name]) => `${schema}:${encodeURI(name)}`),
  'stock:US:*',
  'stock:HK:*',
  'stock:ZA:*',
  'crypto:GLOBAL:*',
  'stock:US:NOPE',
];
const codes = {
  event_code: ['INFLATION_CPI', 'EMPLOYMENT_NFP_HEADLINE', 'GOLDEN_INDEX'],
  country_iso_code: ['US', 'ZA', 'de'],
  impact: ['low', 'high', 'all'],
};
const markets = [
  'stock/{}/US',
  'stock/{}/US',
  'stock/{}/HK',
  'stock/{}/UK',
  'crypto/{}/GLOBAL',
  'forex/{}/GLOBAL',
  'future/{}/US',
];
const searched = [
  'a',
  'AAX',
  'brx-b',
  'btcusd',
  'example',
  'box',
  'bøx',
  'olx',
  'exam ple',
  '*',
  '0700',
  'nothing',
  'ten',
];
const kinds = ['gap', 'missing_session', 'isolated_wick', 'closed_day', 'off_grid', 'short_session', 'none'];

/**
 * Path and query of a request without the beginning `/api/v2/`; `versions` is the newest version of the
 * stores.
 */
type Maker = (random: Random, versions: number) => readonly [path: string, query: readonly string[]];

const pick = (random: Random) => {
  const [schema, name] = random.pick(names);
  return { schema, name: written(random, name) };
};

/** Ways to ask, each as often as its weight says. */
const makers: Readonly<Record<string, readonly [weight: number, make: Maker]>> = {
  historicalBars: [
    34,
    (random, versions) => {
      const { schema, name } = pick(random);
      const [from, to] = range(random, random.pick([0, 1, 5, 30, 700]));
      const query = [
        ...barChoices(random),
        ...some(random, { sort, limit: limits, format: formats }),
        ...past(random, versions),
      ];
      return [`${schema}/bars/${name}/${interval(random)}/from/${from}/to/${to}`, query];
    },
  ],
  latestBars: [
    10,
    (random, versions) => {
      const { schema, name } = pick(random);
      return [
        `${schema}/bars/${name}/${interval(random)}/latest`,
        [
          ...barChoices(random),
          ...some(random, { limit: limits, format: formats }),
          ...past(random, versions),
        ],
      ];
    },
  ],
  latestOfMany: [
    2,
    (random, versions) => [
      'stock/bars/latest',
      [
        `symbols=${random.pick(['US:AAX,US:BBX', 'US:AAX', 'HK:0700,US:NOPE,US:CCX'])}`,
        `interval=${interval(random)}`,
        ...some(random, { limit: ['1', '10', '11'], format: formats }),
        ...past(random, versions),
      ],
    ],
  ],
  bulkBars: [
    6,
    (random, versions) => {
      const [from, to] = range(random, random.pick([0, 1, 3]));
      const symbols = random.chance(0.5)
        ? []
        : [`symbols=${random.pick(['AAX,BBX', 'aax', 'RNX,OLX', 'BTC/USD', '0700', 'NOPE', 'AAX,AAX'])}`];
      // A parquet file is made by a process of its own.
      const format = random.chance(0.06) ? 'parquet' : random.pick(['csv', 'arrow', 'CSV', 'json']);
      return [
        `${random.pick(markets).replace('{}', 'bulk/bars')}/${interval(random)}/from/${from}/to/${to}`,
        [`format=${format}`, ...symbols, ...barChoices(random), ...past(random, versions)],
      ];
    },
  ],
  seriesCoverage: [
    3,
    (random, versions) => [
      `${random.pick(['stock', 'crypto', 'forex', 'future', 'bond'])}/coverage`,
      [
        ...some(
          random,
          { country_iso_code: ['US', 'HK', 'GLOBAL'], query: ['A', 'B', '07'], interval: intervals },
          0.3,
        ),
        ...some(random, { sort, limit: limits, format: formats }),
        ...past(random, versions),
      ],
    ],
  ],
  sessionCoverage: [
    7,
    (random, versions) => {
      const { schema, name } = pick(random);
      const [from_date, to_date] = range(random, 30);
      return [
        `${schema}/coverage/${name}`,
        [
          ...some(random, {
            interval: intervals,
            from_date: [from_date],
            to_date: [to_date],
            sort,
            limit: limits,
            format: formats,
          }),
          ...past(random, versions),
        ],
      ];
    },
  ],
  findings: [
    5,
    (random, versions) => {
      const { schema, name } = pick(random);
      const [from_date, to_date] = range(random, 60);
      return [
        `${schema}/findings/${name}`,
        [
          ...some(random, { interval: intervals, kind: kinds, severity: ['info', 'warning', 'error'] }, 0.2),
          ...some(random, {
            from_date: [from_date],
            to_date: [to_date],
            sort,
            limit: limits,
            format: formats,
          }),
          ...past(random, versions),
        ],
      ];
    },
  ],
  instrumentReference: [
    4,
    (random, versions) => {
      const { schema, name } = pick(random);
      return [`${schema}/reference/${name}`, past(random, versions)];
    },
  ],
  instrumentSearch: [
    3,
    (random, versions) => [
      `${random.pick(['stock', 'crypto', 'option', 'future'])}/reference/search`,
      [
        `query=${encodeURIComponent(random.pick(searched))}`,
        ...some(random, { country_iso_code: ['US', 'HK'], limit: ['1', '3', '100', '101'] }, 0.3),
        ...past(random, versions),
      ],
    ],
  ],
  corporateActions: [
    4,
    (random, versions) => [
      `stock/stock_corporate_action/list/${written(random, random.pick(['US:AAX', 'US:CCX', 'US:RNX', 'US:DEX', 'US:OLX', 'US:AAPL', 'US:BRX.B']))}`,
      [
        `from_date=${random.pick(['1990-01-01', '2024-01-01', '2025-03-05'])}`,
        ...some(
          random,
          {
            to_date: ['2025-03-10', '2026-01-01'],
            action_type: ['dividend', 'split', 'spinoff'],
            extended: flags,
          },
          0.3,
        ),
        ...some(random, { sort, limit: limits, format: formats }),
        ...past(random, versions),
      ],
    ],
  ],
  newsList: [
    4,
    (random, versions) => {
      const [from, to] = range(random, 60);
      return [
        'news/list',
        [
          `from_date=${from}`,
          `to_date=${to}`,
          ...some(random, { full_symbol: fullSymbols, sort, limit: limits, format: formats }),
          ...past(random, versions),
        ],
      ];
    },
  ],
  latestNews: [
    2,
    (random, versions) => [
      'news/latest',
      [
        ...some(random, { full_symbol: fullSymbols, sort, limit: limits, format: formats }),
        ...past(random, versions),
      ],
    ],
  ],
  optionSearch: [
    5,
    (random, versions) => [
      `option/search/${random.pick(['stock/US:AAX', 'stock/US:AAX', 'stock/US:RNX', 'future/US:ESH25', 'stock/US:NONE', 'stock/US:TWX', 'stock/US:OLX'])}/${random.pick(['call', 'put', 'any'])}/moneyness/${random.pick(['in_the_money', 'out_of_the_money', 'any'])}`,
      [
        ...some(
          random,
          {
            ref_asset_price: ['45', '45.5', '5950', '71.22'],
            expiration_date: ['2025-03-14', '2025-03-21', '2014-06-21'],
            strike_price: ['45'],
            sort_by: ['strike_price', 'expiration_date desc,symbol', 'nope'],
          },
          0.25,
        ),
        ...some(
          random,
          { adjusted: flags, quotes: flags, strike_from: ['40'], expiration_to: ['2025-06-20'] },
          0.1,
        ),
        ...some(random, { sort, limit: limits, format: formats }),
        ...past(random, versions),
      ],
    ],
  ],
  optionExpirations: [
    2,
    (random, versions) => [
      `option/expiration_date_list/${random.pick(['stock/US:AAX', 'stock/US:RNX', 'future/US:ESH25', 'stock/US:TWX'])}`,
      [...some(random, { sort, format: formats }), ...past(random, versions)],
    ],
  ],
  holidayList: [
    3,
    (random, versions) => [
      'holiday/list',
      [
        `full_symbol=${random.pick([...fullSymbols, 'stock:US:*', 'stock:HK:*', 'stock:UK:*'])}`,
        ...some(
          random,
          {
            from_date: ['2024-11-01', '2025-03-01'],
            to_date: ['2025-03-31', '2025-12-31'],
            holiday_code: ['HOLIDAY_CHRISTMAS', 'HOLIDAY_GOLDEN_1'],
          },
          0.4,
        ),
        ...some(random, { sort, limit: limits, format: formats }),
        ...past(random, versions),
      ],
    ],
  ],
  holidayCodes: [
    1,
    (random, versions) => [
      `holiday/holiday_codes/${random.pick(['US', 'HK', 'ZZ', 'gb', 'USA'])}`,
      past(random, versions),
    ],
  ],
  economicEvents: [
    4,
    (random, versions) => {
      const [from_date, to_date] = range(random, 90);
      return [
        'economic_calendar/event_list',
        [
          ...some(random, codes, 0.3),
          ...some(random, {
            from_date: [from_date],
            to_date: [to_date],
            sort,
            limit: limits,
            format: formats,
          }),
          ...past(random, versions),
        ],
      ];
    },
  ],
  economicEvent: [
    2,
    (random, versions) => [
      'economic_calendar/event',
      [
        ...some(random, codes),
        ...some(random, { to_date: [someDate(random)], sort, source_id: ['0'.repeat(64)] }, 0.2),
        ...past(random, versions),
      ],
    ],
  ],
  latestEconomicEvents: [
    2,
    (random, versions) => [
      'economic_calendar/latest_event_list',
      [
        ...some(random, { ...codes, date_type: ['upcoming', 'historical', 'all'] }),
        ...some(random, { sort, limit: limits, format: formats }),
        ...past(random, versions),
      ],
    ],
  ],
  economicEventCodes: [
    1,
    (random, versions) => [
      `economic_calendar/event_codes/${random.pick(['US', 'ZA', 'DE'])}`,
      past(random, versions),
    ],
  ],
  runs: [
    3,
    (random, versions) => [
      'server/runs',
      [...some(random, { sort, limit: limits, format: formats }), ...past(random, versions, 0.1)],
    ],
  ],
  addressInfo: [0.5, () => ['server/address_info', []]],
  operateStatus: [0.5, () => ['operate/status', []]],
};

/** TradingView's datafeed has its own paths, with the key in them (contract 9.19). */
function udfTarget(random: Random): string {
  const from = Date.parse(someDate(random)) / 1_000;
  const symbol = random.pick(['stock:US:AAX', 'US:AAX', 'AAX', 'crypto:GLOBAL:BTC/USD', 'stock:HK:0700']);
  const path = random.pick([
    ...['config', 'time', `symbols?symbol=${symbol}`, 'search?query=a&limit=10', 'symbol_info?group=US'],
    ...['1', '60', '1D', '1W', '1M'].map(
      (resolution) =>
        `history?symbol=${symbol}&resolution=${resolution}&from=${from}&to=${from + 900_000}${random.chance(0.5) ? '&countback=50' : ''}`,
    ),
    ...['marks', 'timescale_marks'].map(
      (name) => `${name}?symbol=${symbol}&from=${from}&to=${from + 9_000_000}&resolution=1D`,
    ),
  ]);
  return `/udf/${placeholders.live}/${path}`;
}

const weighted = Object.entries(makers).flatMap(([endpoint, [weight, make]]) =>
  Array.from({ length: Math.ceil(weight * 2) }, () => [endpoint, make] as const),
);

const host = { host: 'localhost' };

/** Many pages of a long answer would be the only thing that is asked. */
const PAGES_MAX = 4;

/** A request about the made-up files. */
function ownRequest(random: Random, versions: number): Request {
  const headers = {
    ...host,
    ...(random.chance(0.05) && { accept: random.pick(['application/json', 'text/csv', '*/*']) }),
    ...(random.chance(0.04) && { 'accept-encoding': random.pick(['gzip', 'zstd']) }),
  };
  const rest = { pages: random.chance(0.3) ? random.between(1, PAGES_MAX) : 0, again: random.chance(0.04) };
  if (random.chance(0.015))
    return { endpoint: 'udf', method: 'GET', target: udfTarget(random), headers, ...rest };
  const [endpoint, make] = random.pick(weighted);
  const [path, query] = make(random, versions);
  const key = random.chance(0.06) ? placeholders.pinned : placeholders.live;
  const inQuery = random.chance(0.3);
  const pairs = [...random.shuffle(query), ...(inQuery ? [`secret_key=${key}`] : [])].map((pair) =>
    pair.replaceAll('+', '%2B').replaceAll(' ', '%20'),
  );
  return {
    ...{ endpoint, method: random.chance(0.02) ? 'HEAD' : 'GET' },
    target: `/api/v2/${path.replaceAll(' ', '%20')}${pairs.length > 0 ? '?' : ''}${pairs.join('&')}`,
    headers: inQuery ? headers : { ...headers, authorization: `Bearer ${key}` },
    ...rest,
  };
}

/** A request of the fuzzer, about its own rows: half of them have something wrong. */
function fuzzedRequest(random: Random): Request {
  const { endpoint, method, target, headers } = makeTrial(random, known);
  return { endpoint, method, target, headers, pages: random.chance(0.2) ? 2 : 0, again: false };
}

/** A request about the rows of a random world, as of a moment or a version or now. */
function worldRequest(random: Random, versions: number): Request {
  const endpoint = random.pick(ofRandomWorld);
  const written = `/api/v2/${randomRequest(random, endpoint).replaceAll(' ', '%20')}`;
  const target = [written, ...past(random, versions, 0.6)].join('&').replaceAll('?&', '?');
  return {
    ...{ endpoint, method: 'GET', target },
    headers: { ...host, authorization: `Bearer ${placeholders.live}` },
    pages: random.chance(0.4) ? 3 : 0,
    again: false,
  };
}

/** One request; the same for the same chance. `isWhole`: the rows of the other tests are stored too. */
export function makeRequest(random: Random, versions: number, isWhole: boolean): Request {
  const share = random.next();
  if (share < 0.2) return fuzzedRequest(random);
  return isWhole && share < 0.3 ? worldRequest(random, versions) : ownRequest(random, versions);
}
