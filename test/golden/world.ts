// What both stores hold: files, and the commands that import, correct, delete and undo them, each at a moment
// of a false clock.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomWorld } from '../as-of/random-world.ts';
import { Random } from '../fuzz/random.ts';
import { fillings } from '../fuzz/store.ts';
import { sharedData } from '../service.ts';
import {
  actionsFile,
  barFile,
  chainFile,
  chainRows,
  datesBetween,
  dayRows,
  eventsFile,
  holidaysFile,
  instrumentsFile,
  intradayRows,
  markets,
  newsFile,
  periodRows,
  type Shape,
} from './files.ts';

/** A command at a moment. */
export type Step = {
  readonly at: string;
  readonly words: readonly string[];
  /** The file, or the dataset of a deletion, whose newest run the command is given as its last word. */
  readonly runOf?: string;
};

/** Commands, and the moment at which requests are answered after them. */
export type Phase = { readonly steps: readonly Step[]; readonly askedAt: string };

/** All that is done to a store. */
export type World = {
  /** Contents of the files that the commands name. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  readonly phases: readonly Phase[];
};

/** How much of it there is: the small one has the same files with fewer rows, for the test of the tool. */
export type WorldSize = 'whole' | 'small';

const shapes: Readonly<Record<string, Shape>> = {
  aax: { symbol: 'AAX', market: 'us', ticks: 18_000, digits: 2, split: ['2025-03-06', 4] },
  bbx: { symbol: 'BBX', market: 'us', ticks: 4_123_456, digits: 5, density: 0.8 },
  ccx: { symbol: 'CCX', market: 'us', ticks: 5_000, digits: 2 },
  thx: { symbol: 'THX', market: 'us', ticks: 120, digits: 2, density: 0.04 },
  dex: { symbol: 'DEX', market: 'us', ticks: 900, digits: 2 },
  lsx: { symbol: 'LSX', market: 'us', ticks: 2_500, digits: 2 },
  rnx: { symbol: 'RNX', market: 'us', ticks: 7_700, digits: 2 },
  brx: { symbol: 'BRX.B', market: 'us', ticks: 44_000, digits: 2, density: 0.9 },
  hkx: { symbol: '0700', market: 'hk', ticks: 40_000, digits: 2 },
  ukx: { symbol: 'VOX', market: 'uk', ticks: 70_125, digits: 2 },
  jpx: { symbol: '7203', market: 'jp', ticks: 2_900, digits: 0 },
  dex2: { symbol: 'SAX', market: 'de', ticks: 23_450, digits: 2 },
  aux: { symbol: 'BHX', market: 'au', ticks: 4_100, digits: 2 },
  btc: { symbol: 'BTC/USD', market: 'crypto', ticks: 9_512_345_678, digits: 5 },
  pep: { symbol: 'PEP/USD', market: 'crypto', ticks: 2_345, digits: 14 },
  eur: { symbol: 'EUR/USD', market: 'forex', ticks: 104_321, digits: 5 },
  gbp: { symbol: 'GBP/USD', market: 'forex', ticks: 125_000, digits: 5 },
  esx: { symbol: 'ESH25', market: 'future', ticks: 598_775, digits: 2 },
  clx: { symbol: 'CLK20', market: 'future', ticks: 300, digits: 2, isBelowZero: true },
};

/** Instruments that the made-up files name, for requests: asset type and name. */
export const names: readonly (readonly [schema: string, name: string])[] = [
  ...Object.values(shapes).map(
    ({ symbol, market }) => [markets[market].schema, `${markets[market].country}:${symbol}`] as const,
  ),
  ...([
    ['stock', 'US:OLX'],
    ['stock', 'US:NONE'],
    ['option', 'US:AAX250321C00045000'],
  ] as const),
  // The real files.
  ...([
    ['stock', 'US:SPY'],
    ['stock', 'US:GOOG'],
    ['crypto', 'GLOBAL:BTCUSD'],
    ['stock', 'US:AAPL'],
    ['forex', 'GLOBAL:GBPUSD'],
  ] as const),
];

/** Stretches of days with bars below DAY. */
export const eras = [
  ['2025-03-05', '2025-03-14'],
  ['2024-11-27', '2024-12-02'],
  ['2024-12-23', '2025-01-03'],
  ['2025-03-28', '2025-04-02'],
] as const;

const US = ['--schema', 'stock', '--country', 'US'];

/** The files and the commands, in the order in which they are given. */
class Plan {
  readonly files = new Map<string, string | Uint8Array>();
  readonly phases: Phase[] = [];
  #steps: Step[] = [];

  file(name: string, content: string | Uint8Array): void {
    this.files.set(name, content);
  }

  /** Imports a file; one that has no content yet is given it. */
  import(
    at: string,
    dataset: string,
    name: string,
    content: string | Uint8Array | null,
    ...flags: readonly string[]
  ): void {
    if (content !== null) this.file(name, content);
    this.#steps.push({ at, words: ['import', dataset, name, ...flags, '--json'] });
  }

  do(at: string, ...words: readonly string[]): void {
    this.#steps.push({ at, words: [...words, '--json'] });
  }

  undo(at: string, runOf: string): void {
    this.#steps.push({ at, words: ['undo', '--json'], runOf });
  }

  /** Requests are sent here. */
  ask(askedAt: string): void {
    this.phases.push({ steps: this.#steps, askedAt });
    this.#steps = [];
  }
}

/** Bars of every market below DAY, in the years before. */
function importIntraday(plan: Plan, random: Random, dates: readonly string[]): void {
  const at = '2025-01-06T02:00:00Z';
  const rows = (shape: keyof typeof shapes, minutes: number, offset = 0) =>
    intradayRows(random, shapes[shape]!, { dates, minutes, offset });
  const zoned = (market: keyof typeof markets, interval: string) => [
    '--zone',
    markets[market].zone,
    '--interval',
    interval,
  ];
  plan.import(
    at,
    'bars',
    'us-minutes.csv',
    barFile([...rows('aax', 1), ...rows('bbx', 1), ...rows('thx', 1)]),
    ...zoned('us', '1M'),
  );
  plan.import(
    at,
    'bars',
    'us-fives.csv',
    barFile([...rows('rnx', 5), ...rows('dex', 5)]),
    ...zoned('us', '5M'),
    '--source',
    'fives',
  );
  plan.import(at, 'bars', 'us-clock-hours.csv', barFile(rows('bbx', 60, 30)), ...zoned('us', '60M'));
  plan.import(at, 'bars', 'hk-minutes.csv', barFile(rows('hkx', 1)), ...zoned('hk', '1M'));
  plan.import(at, 'bars', 'uk-minutes.csv', barFile(rows('ukx', 1)), ...zoned('uk', '1M'));
  plan.import(at, 'bars', 'jp-fives.csv', barFile(rows('jpx', 5)), ...zoned('jp', '5M'));
  plan.import(at, 'bars', 'de-quarters.csv', barFile(rows('dex2', 15)), ...zoned('de', '15M'));
  plan.import(at, 'bars', 'au-hours.csv', barFile(rows('aux', 60)), ...zoned('au', '60M'));
  plan.import(
    at,
    'bars',
    'crypto-minutes.csv',
    barFile(intradayRows(random, shapes.btc!, { dates: dates.slice(0, 5), minutes: 1 })),
    ...zoned('crypto', '1M'),
  );
  plan.import(at, 'bars', 'crypto-hours.csv', barFile(rows('pep', 60)), ...zoned('crypto', '60M'));
  plan.import(
    at,
    'bars',
    'forex-minutes.csv',
    barFile(intradayRows(random, shapes.eur!, { dates: dates.slice(0, 6), minutes: 1 })),
    ...zoned('forex', '1M'),
  );
  plan.import(
    at,
    'bars',
    'future-minutes.csv',
    barFile(intradayRows(random, shapes.esx!, { dates: dates.slice(0, 6), minutes: 1 })),
    ...zoned('future', '1M'),
  );
}

/** Shapes with daily bars, each with the last of its days. */
const daily = [
  'aax',
  'ccx',
  'brx',
  'dex',
  'rnx',
  'thx',
  'hkx',
  'ukx',
  'jpx',
  'dex2',
  'aux',
  'btc',
  'eur',
  'gbp',
  'esx',
] as const;

/** Weeks and months by a date in each. */
const everyDays = (dates: readonly string[], step: number): string[] =>
  dates.filter((_, at) => at % step === 0);

function importDays(plan: Plan, random: Random, from: string): void {
  const at = '2025-01-06T03:00:00Z';
  const dates = datesBetween(from, '2025-01-03');
  const rows = daily.flatMap((name) =>
    dayRows(random, shapes[name]!, name === 'dex' ? dates.filter((date) => date <= '2024-12-06') : dates),
  );
  plan.import(at, 'bars', 'days.csv', barFile(rows), '--interval', 'DAY');
  const old = datesBetween('2020-03-02', '2020-04-21');
  plan.import(at, 'bars', 'oil-days.csv', barFile(dayRows(random, shapes.clx!, old)), '--interval', 'DAY');
  plan.import(
    at,
    'bars',
    'weeks.csv',
    barFile(periodRows(random, shapes.ccx!, everyDays(dates, 7))),
    '--interval',
    'WEEK',
  );
  plan.import(
    at,
    'bars',
    'months.csv',
    barFile(periodRows(random, shapes.ccx!, everyDays(dates, 31))),
    '--interval',
    'MON',
  );
  const adjusted = dayRows(random, { ...shapes.ccx!, symbol: 'ADJ' }, dates.slice(-200));
  plan.import(at, 'bars', 'adjusted.csv', barFile(adjusted), '--interval', 'DAY', '--prices', 'split');
}

function importRows(plan: Plan, random: Random): void {
  const at = '2025-01-06T04:00:00Z';
  const stocks = [
    'stock:US:AAX',
    'stock:US:BBX',
    'stock:US:RNX',
    'stock:US:DEX',
    'stock:HK:0700',
    'crypto:GLOBAL:BTC/USD',
    'stock:UK:VOX',
  ];
  plan.import(
    at,
    'corporate-actions',
    'actions.csv',
    actionsFile(random, ['AAX', 'CCX', 'RNX', 'DEX'], datesBetween('2023-02-01', '2025-06-30'), [
      ['AAX', '2025-03-06', 1, 4],
      ['CCX', '2024-06-10', 10, 1],
      ['BRX.B', '2024-01-16', 2, 3],
    ]),
  );
  plan.import(
    at,
    'news',
    'news.csv',
    newsFile(random, stocks, datesBetween('2024-12-01', '2025-01-05'), 150),
  );
  const expirations = [
    '2024-12-20',
    '2025-01-17',
    '2025-03-14',
    '2025-03-21',
    '2025-04-18',
    '2025-06-20',
    '2026-01-16',
  ];
  const strikes = (first: number, step: number): number[] =>
    Array.from({ length: 9 }, (_, index) => first + step * index);
  plan.import(
    at,
    'option-contracts',
    'chains.csv',
    chainFile([
      ...chainRows('stock', 'AAX', ['AAX', 'AAX7'], expirations, strikes(30, 5)),
      ...chainRows('stock', 'RNX', ['RNX'], expirations.slice(3), strikes(70, 2.5)),
      ...chainRows('future', 'ESH25', ['ESH25'], expirations.slice(2, 4), strikes(5_900, 25)),
      ...chainRows('stock', 'NONE', ['NONE'], expirations.slice(4), strikes(5, 1)),
    ]),
  );
  plan.import(
    at,
    'economic-events',
    'events.csv',
    eventsFile(random, datesBetween('2024-10-01', '2025-09-30'), 250),
  );
  plan.import(
    at,
    'economic-event-codes',
    'codes.csv',
    'country_iso_code,event_code,description\nUS,GOLDEN_INDEX,"A, made-up index"\nZA,GOLDEN_INDEX,Another\n',
  );
}

/** Corrections, deletions, undos and files that come again. */
function correct(plan: Plan, random: Random): void {
  const some = intradayRows(random, shapes.aax!, { dates: ['2024-11-29'], minutes: 1 });
  const zoned = ['--zone', markets.us.zone, '--interval', '1M'];
  plan.import('2025-01-07T01:00:00Z', 'bars', 'us-corrected.csv', barFile(some), ...zoned);
  plan.undo('2025-01-07T02:00:00Z', 'us-corrected.csv');
  plan.import('2025-01-07T03:00:00Z', 'bars', 'us-corrected.csv', null, ...zoned);
  plan.import('2025-01-07T04:00:00Z', 'bars', 'us-minutes.csv', null, ...zoned);
  plan.do(
    '2025-01-08T01:00:00Z',
    'delete',
    'bars',
    '--symbol',
    'BBX',
    '--country',
    'US',
    '--interval',
    '1M',
    '--from',
    '2024-12-02',
    '--to',
    '2024-12-02',
  );
  plan.do(
    '2025-01-08T02:00:00Z',
    'delete',
    'news',
    '--schema',
    'stock',
    '--country',
    'US',
    '--symbol',
    'RNX',
    '--from',
    '2024-12-20',
    '--to',
    '2024-12-24',
  );
  plan.undo('2025-01-08T03:00:00Z', 'news');
  plan.do('2025-01-08T04:00:00Z', 'delete', 'corporate-actions', '--country', 'US', '--symbol', 'DEX');
  const wrong = [
    'US,AAX,2024-12-23 09:30:00,5,4,3,5,1,',
    'US,AAX,2024-12-23 09:31:10,1,1,1,1,1,',
    'US,AAX,2024-11-03 01:30:00,1,1,1,1,1,',
    'US,WRONG,2024-12-23 09:31:00,0,1,0,1,1,',
  ];
  plan.import(
    '2025-01-08T05:00:00Z',
    'bars',
    'wrong.csv',
    ['country_iso_code,symbol,datetime,open,high,low,close,volume,vwap', ...wrong].join('\n'),
    '--schema',
    'stock',
    ...zoned,
  );
}

/**
 * A week as it is lived: days file by file, minutes imported at midday and again at night, a window that
 * moves.
 */
function live(plan: Plan, random: Random, size: WorldSize): void {
  const zoned = ['--zone', markets.us.zone, '--interval', '1M'];
  const first = size === 'small' ? '2025-03-11' : '2025-03-05';
  const dates = datesBetween(first, '2025-03-14').filter(
    (date) => ![0, 6].includes(new Date(date).getUTCDay()),
  );
  const series = (['aax', 'bbx', 'lsx'] as const).map((name) =>
    intradayRows(random, shapes[name]!, { dates, minutes: 1 }),
  );
  const rows = (until: string) => series.map((one) => one.filter(([, , , time]) => String(time) < until));
  for (const date of dates) {
    const at = `${date}T22:30:00Z`;
    if (date > '2025-03-11') continue;
    const names = (['aax', 'ccx', 'brx', 'rnx', 'thx'] as const).filter(() => random.chance(0.9));
    plan.import(
      at,
      'bars',
      `us-days-${date}.csv`,
      barFile(names.flatMap((name) => dayRows(random, shapes[name]!, [date]))),
      '--interval',
      'DAY',
    );
  }
  plan.import('2025-03-11T23:00:00Z', 'bars', 'us-week.csv', barFile(rows('2025-03-12').flat()), ...zoned);
  plan.import(
    '2025-03-12T16:00:30Z',
    'bars',
    'us-midday.csv',
    barFile(rows('2025-03-12 12:00').flat()),
    ...zoned,
  );
  plan.ask('2025-03-12T16:30:00Z');
  plan.import(
    '2025-03-12T23:00:00Z',
    'bars',
    'us-window.csv',
    barFile(rows('2025-03-12 15:30').flatMap((one) => one.slice(-1_000))),
    ...zoned,
  );
  plan.import(
    '2025-03-14T20:10:00Z',
    'bars',
    'us-friday.csv',
    barFile(rows('2025-03-14 16:00').flat()),
    ...zoned,
  );
  plan.import(
    '2025-03-14T20:20:00Z',
    'bars',
    'crypto-friday.csv',
    barFile(
      intradayRows(random, shapes.btc!, {
        dates: ['2025-03-13', '2025-03-14'],
        minutes: 1,
        until: '2025-03-14 20:20',
      }),
    ),
    '--zone',
    'UTC',
    '--interval',
    '1M',
  );
  plan.import(
    '2025-03-14T20:30:00Z',
    'bars',
    'thin-friday.csv',
    barFile(
      intradayRows(random, shapes.thx!, {
        dates: ['2025-03-13', '2025-03-14'],
        minutes: 1,
        until: '2025-03-14 15:00',
      }),
    ),
    ...zoned,
    '--complete-through',
    '2025-03-14T20:00:00Z',
  );
  plan.import(
    '2025-03-14T20:40:00Z',
    'news',
    'news-march.csv',
    newsFile(random, ['stock:US:AAX', 'stock:US:LSX'], datesBetween('2025-03-05', '2025-03-14'), 60),
  );
  plan.ask('2025-03-14T21:00:00Z');
}

/** What comes later: names, days that were not known, and old files again. */
function later(plan: Plan, random: Random, seed: number, size: WorldSize): void {
  plan.import(
    '2025-04-01T08:00:00Z',
    'instruments',
    'instruments-april.csv',
    instrumentsFile([
      ['stock', 'US:DEX', 'Delisted Example', { status: 'inactive', delisting_date: '2024-12-06' }],
      ['stock', 'US:RNX', 'Renamed Example', { former_symbols: 'OLX:2015-01-02..2025-03-11' }],
      ['stock', 'US:AAX', 'Alpha Example Inc.', { exchange: 'XNYS', tick_size: '0.05' }],
    ]),
  );
  plan.import(
    '2025-04-02T08:00:00Z',
    'holidays',
    'holidays.csv',
    holidaysFile([
      ['US', '*', '2025-03-13', 'CLOSED', null, null],
      ['US', '*', '2025-01-09', 'REGULAR', null, null],
      ['US', 'AAX', '2025-03-11', 'CLOSED', null, null],
      ['HK', '*', '2025-03-12', 'EARLY_CLOSE', '2025-03-12T01:30:00Z', '2025-03-12T04:00:00Z'],
      ['ZA', '*', '2025-03-10', 'CLOSED', null, null],
    ]),
  );
  plan.import('2025-04-03T08:00:00Z', 'bars', 'days.csv', null, '--interval', 'DAY');
  plan.undo('2025-04-04T08:00:00Z', 'us-window.csv');
  plan.do(
    '2025-04-05T08:00:00Z',
    'delete',
    'bars',
    '--symbol',
    'CCX',
    '--country',
    'US',
    '--from',
    '2024-05-01',
    '--to',
    '2024-05-10',
  );
  const symbols = ['stock:US:AAX', 'stock:US:RNX', 'stock:UK:VOX', 'crypto:GLOBAL:PEP/USD'];
  plan.import(
    '2025-05-01T08:00:00Z',
    'news',
    'news-april.csv',
    newsFile(random, symbols, datesBetween('2025-03-15', '2025-04-30'), 60),
    '--source',
    'april',
  );
  if (size === 'whole') importOtherWorlds(plan, random, seed);
  plan.ask('2025-07-11T12:00:00Z');
}

/** The days since, the rows that other tests ask about, and real files. */
function importOtherWorlds(plan: Plan, random: Random, seed: number): void {
  const days = datesBetween('2025-03-17', '2025-07-03');
  const rows = daily.flatMap((name) => dayRows(random, shapes[name]!, name === 'dex' ? [] : days));
  plan.import('2025-07-04T08:00:00Z', 'bars', 'days-july.csv', barFile(rows), '--interval', 'DAY');
  const lines = (list: readonly unknown[]): string => list.map((row) => `${JSON.stringify(row)}\n`).join('');
  for (const [dataset, list] of fillings)
    plan.import('2025-06-01T00:00:00Z', dataset, `fuzz-${dataset}.ndjson`, lines(list));
  for (const [dataset, list] of randomWorld(new Random(seed)).all)
    plan.import('2025-07-05T00:00:00Z', dataset, `random-${dataset}.ndjson`, lines(list));
  importRealFiles(plan);
}

/** The real files of others, where they are. */
function importRealFiles(plan: Plan): void {
  if (!existsSync(sharedData)) return;
  const at = '2025-07-06T00:00:00Z';
  const real = (dataset: string, path: string, ...flags: readonly string[]): void => {
    if (existsSync(join(sharedData, path)))
      plan.import(at, dataset, path, readFileSync(join(sharedData, path)), ...flags);
  };
  real('bars', 'bars/SPY_1M_2013-10-04_07.csv', ...US, '--interval', '1M');
  real('bars', 'bars/GOOG_1M_2015-12-24.csv', ...US, '--interval', '1M');
  plan.file('btc-map.json', JSON.stringify({ columns: { datetime: 'open_utc' } }));
  real(
    'bars',
    'bars/BTCUSD_1M_2018-04-05.csv',
    '--schema',
    'crypto',
    '--country',
    'GLOBAL',
    '--interval',
    '1M',
    '--map',
    'btc-map.json',
  );
  plan.file(
    'actions-map.json',
    JSON.stringify({
      columns: { cash_amount: 'cash_amount_derived', reference_price: 'reference_price_prev_close' },
    }),
  );
  real('corporate-actions', 'corporate-actions/AAPL.csv', '--map', 'actions-map.json');
  plan.file(
    'chain-map.json',
    JSON.stringify({
      columns: { symbol: 'occ_symbol', underlying_name: 'underlying' },
      values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
    }),
  );
  real('option-contracts', 'options/TWX_2014-06-05.csv', '--map', 'chain-map.json');
  plan.file(
    'sp-map.json',
    JSON.stringify({
      columns: { symbol: 'Symbol', name: 'Security', industry: 'GICS Sector' },
      values: { asset_schema: 'stock', country_iso_code: 'US' },
    }),
  );
  real('instruments', 'reference/sp500_constituents.csv', '--map', 'sp-map.json');
  for (const name of ['equity/usa/daily/spy.zip', 'equity/usa/hour/spy.zip', 'forex/oanda/daily/gbpusd.zip'])
    real('bars', `lean/${name}`);
}

/** The files and commands of a seed. */
export function makeWorld(seed: number, size: WorldSize): World {
  const plan = new Plan();
  const random = new Random(seed, 1_000_000);
  const [, ...before] = eras;
  const stretches = size === 'small' ? [['2024-11-29', '2024-12-02'] as const] : before.slice(0, 2);
  const dates = stretches.flatMap(([from, to]) => datesBetween(from, to));
  plan.import(
    '2025-01-06T01:00:00Z',
    'instruments',
    'instruments.csv',
    instrumentsFile([
      [
        'stock',
        'US:AAX',
        'Alpha Example',
        { exchange: 'XNAS', currency: 'USD', listing_date: '1999-12-31', asset_subtype: 'common_stock' },
      ],
      ['stock', 'US:LSX', 'Listed Example', { listing_date: '2025-03-05' }],
      ['stock', 'US:BRX.B', 'Bøx Example, "B"', { industry: 'Boxes' }],
      ['stock', 'HK:0700', 'Ten Example'],
      ['stock', 'UK:VOX', 'Voice Example', { currency: 'GBp' }],
      ['crypto', 'GLOBAL:BTC/USD', 'Coin Example'],
    ]),
  );
  importIntraday(plan, random, dates);
  importDays(plan, random, size === 'small' ? '2024-11-01' : '2023-01-02');
  importRows(plan, random);
  correct(plan, random);
  live(plan, random, size);
  later(plan, random, seed, size);
  return { files: plan.files, phases: plan.phases };
}
