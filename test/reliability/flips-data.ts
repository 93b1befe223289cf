// What the store of the flips holds: every dataset, corrected by later imports. Each price tells its symbol,
// each text its row.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/instant.ts';
import type { FileRow, Filling } from '../importing.ts';

/** Files that one moment brings, in this order. */
export type Wave = { readonly nowMs: number; readonly fillings: readonly Filling[] };

/** Stocks with days. */
export const STOCKS = 40;

/** The symbol of a stock, by its number. */
export const stockSymbol = (index: number): string => `AB${String(index).padStart(2, '0')}`;

/** A symbol that an instrument had until a day in the middle of its bars. */
export const formerSymbol = (index: number): string => `OLD${index}`;
/** The number of the first stock that had one. */
export const firstWithFormer = 30;

/**
 * Names with bars of minutes. Their prices are 1,000 and more, those of days less: an answer tells which of
 * them it comes from.
 */
export const minuteNames = ['stock:US:AB00', 'stock:US:AB01', 'stock:UK:VOD.L', 'future:US:ESM25'] as const;
/** A name with bars of minutes over midnight. */
export const cryptoName = 'crypto:GLOBAL:BTC-USD';
/** A name with bars of hours. */
export const forexName = 'forex:GLOBAL:EUR/USD';

/** Trading days in the store: from the third week of February on. */
export const sessions: readonly string[] = Array.from({ length: 14 }, (_, index) => {
  const weeks = Math.floor(index / 5);
  return new Date(Date.UTC(2025, 1, 17 + 7 * weeks + (index % 5))).toISOString().slice(0, 10);
}).filter((day) => day !== '2025-02-17');

const nameOf = (name: string): FileRow => {
  const [asset_schema, country_iso_code, symbol] = name.split(':');
  return { asset_schema, country_iso_code, symbol };
};

const at = (ms: number): string => new Date(ms).toISOString();

/** A bar around a price; equal prices never come twice in a series. */
function bar(name: string, interval: string, datetime: string, price: number, step: number): FileRow {
  const close = price + step / 100;
  const [open, vwap] = [close - 0.03, Number((close - 0.015).toFixed(3))];
  const rounded = { open, high: close + 0.05, low: open - 0.02, close };
  const prices = Object.fromEntries(
    Object.entries(rounded).map(([field, value]) => [field, Number(value.toFixed(2))]),
  );
  return { ...nameOf(name), interval, datetime, ...prices, volume: 1_000 * (step + 1) + price, vwap };
}

const run = (name: string, interval: string, fromMs: number, stepMs: number, count: number, price: number) =>
  Array.from({ length: count }, (_, step) => bar(name, interval, at(fromMs + step * stepMs), price, step));

const stockName = (index: number): string => `stock:US:${stockSymbol(index)}`;
const priceOf = (index: number): number => 10 * (index + 1);

const stockDays = (days: readonly string[], firstStep = 0): FileRow[] =>
  Array.from({ length: STOCKS }, (_, index) =>
    days.map((day, step) => bar(stockName(index), 'DAY', day, priceOf(index), firstStep + step)),
  ).flat();

/** Days and a week of long ago: another block of each series. */
const oldDays = ['2023-03-06', '2023-03-07', '2023-03-08'];
const oldWeeks = Array.from({ length: STOCKS }, (_, index) =>
  bar(stockName(index), 'WEEK', '2023-02-27', priceOf(index), 40),
);

const OPEN_MS = 14.5 * HOUR_MS;
const dayMs = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** Minutes of two days of each name, for a stock from the pre-market on. */
const minuteBars = minuteNames.flatMap((name, index) =>
  ['2025-03-03', '2025-03-04'].flatMap((day, step) =>
    run(name, '1M', dayMs(day) + OPEN_MS - 10 * MINUTE_MS, MINUTE_MS, 70, 1_000 * (index + 1) + 100 * step),
  ),
);

const otherBars = [
  ...run(cryptoName, '1M', dayMs('2025-03-05') + 23 * HOUR_MS, MINUTE_MS, 120, 50_000),
  ...run(forexName, '60M', dayMs('2025-03-04'), HOUR_MS, 60, 6_000),
  ...['2025-02-18', '2025-02-26', '2025-03-05'].flatMap((day, step) =>
    run('stock:US:AB02', '5M', dayMs(day) + OPEN_MS, 5 * MINUTE_MS, 40, 7_000 + 100 * step),
  ),
  // Bars of the clock's hours are off the session grid (contract 3.10).
  ...run('stock:US:AB03', '60M', dayMs('2025-03-03') + 14 * HOUR_MS, HOUR_MS, 6, 8_000),
  ...['2024-12-30', '2025-01-06', '2025-01-13', '2025-01-20'].map((day, step) =>
    bar('stock:US:AB04', 'WEEK', day, 8_100, step),
  ),
  ...['2024-10-01', '2024-11-01', '2024-12-01'].map((day, step) =>
    bar('stock:US:AB05', 'MON', day, 8_200, step),
  ),
];

const instruments: readonly FileRow[] = [
  ...Array.from({ length: STOCKS }, (_, index) => ({
    ...nameOf(stockName(index)),
    name: `Alpha ${index} Holdings`,
    description: `The company of the symbol ${stockSymbol(index)}, made up`,
    exchange: ['XNAS', 'XNYS'][index % 2],
    industry: `Industry ${index % 7}`,
    tick_size: 0.01,
    ...(index >= firstWithFormer && { former_symbols: `${formerSymbol(index)}:2020-01-01..2025-02-23` }),
    ...(index === 39 && { delisting_date: '2025-03-05' }),
  })),
  { ...nameOf('stock:UK:VOD.L'), name: 'Vodafone sample', currency: 'GBP' },
  { ...nameOf('future:US:ESM25'), name: 'Sample future', contract_value: '50' },
];

const corporateActions: readonly FileRow[] = Array.from({ length: 30 }, (_, index) => {
  const { country_iso_code, symbol } = nameOf(stockName(index % 15));
  const ex_date = sessions[3 + (index % 8)];
  const about = { country_iso_code, symbol, ex_date };
  if (index % 3 === 0) return { ...about, action_type: 'split', split_from: 1, split_to: 2 + (index % 3) };
  const cash = { action_type: 'dividend', cash_amount: 0.1 + index / 100, currency: 'USD' };
  return { ...about, ...cash, declaration_date: '2025-02-03', pay_date: '2025-03-31' };
});

const news: readonly FileRow[] = Array.from({ length: 36 }, (_, index) => ({
  published_date: at(Date.UTC(2025, 2, 3, 12) + Math.floor(index / 2) * 7 * HOUR_MS),
  title: `Headline ${index} of the sample wire`,
  publisher_url: `https://news.example.com/items/${index}`,
  publisher: `Wire ${index % 4}`,
  text_content: `First paragraph of item ${index}: ${'words of it '.repeat(1 + (index % 12))}`,
  sentiment_label: ['positive', 'neutral', 'negative'][index % 3],
  sentiment_score: index / 50,
  ...(index % 5 > 0 && {
    asset_name: 'stock',
    country_iso_code: 'US',
    symbol: stockSymbol(index % 9),
  }),
}));

const expirations = ['2025-03-07', '2025-03-21', '2025-06-20', '2025-12-19'];

const optionContracts: readonly FileRow[] = [0, 1].flatMap((underlying) =>
  expirations.flatMap((expiration_date, group) =>
    [-2, -1, 0, 1, 2].flatMap((step) =>
      ['call', 'put'].map((option_type) => {
        const strike_price = 1_000 * (underlying + 1) + 100 + 5 * step + 0.5;
        const digits = String(strike_price * 1_000).padStart(8, '0');
        const root = `${stockSymbol(underlying)}${expiration_date.slice(2).replaceAll('-', '')}`;
        return {
          ...{ country_iso_code: 'US', symbol: `${root}${option_type === 'call' ? 'C' : 'P'}${digits}` },
          ...{ parent_asset_schema: 'stock', underlying_name: stockSymbol(underlying) },
          ...{ strike_price, expiration_date, option_type, contract_value: 100 + group },
          ...(group === 2 && { expiration_datetime: '2025-06-20T13:30:00Z', exercise_style: 'european' }),
        };
      }),
    ),
  ),
);

const holidays: readonly FileRow[] = Array.from({ length: 36 }, (_, index) => ({
  name: `Day ${index} of the sample`,
  holiday_code: `HOLIDAY_SAMPLE_${index % 5}`,
  calendar_date: at(Date.UTC(2025, 0, 1) + 11 * index * DAY_MS).slice(0, 10),
  ...{ asset_name: 'stock', country_iso_code: 'ZZ', session_template: 'CLOSED', priority: 10 + index },
  symbol: index % 4 === 0 ? 'ONLY' : '*',
}));

const events: readonly FileRow[] = Array.from({ length: 48 }, (_, index) => ({
  country_iso_code: ['US', 'JP', 'ZZ'][index % 3],
  event_code: `SAMPLE_${index % 4}`,
  event_name: `Sample event ${index}`,
  event_timestamp: at(Date.UTC(2025, 1, 20, 13, 30) + Math.floor(index / 2) * DAY_MS),
  event_driven_type: ['time_driven', 'data_driven'][index % 2],
  importance: 1 + (index % 3),
  actual_value: 100 + index,
  previous_value: 90 + index / 2,
  forecast_value: index / 8,
  unit: 'K',
  source_id: `${index.toString(16).padStart(2, '0')}ab`.repeat(16),
}));

const eventCodes: readonly FileRow[] = Array.from({ length: 40 }, (_, index) => ({
  country_iso_code: 'ZZ',
  event_code: `SAMPLE_CODE_${index}`,
  description: `What sample code ${index} means`,
}));

/** Every event by its identifier. */
export const sourceIds: readonly string[] = events.map(({ source_id }) => String(source_id));

/** A few rows, other ones in each round, with other values. */
const corrected = (rows: readonly FileRow[], round: number, change: (row: FileRow) => FileRow): FileRow[] =>
  rows.filter((_, index) => index % 16 === 3 * round).map((row) => ({ ...row, ...change(row) }));

/** Changes a text. */
const longer =
  (field: string, round: number) =>
  (row: FileRow): FileRow => ({
    [field]: `${String(row[field])}, corrected ${round}`,
  });

/** A correction of some rows of the datasets whose journal is small; the bars are given. */
const corrections = (round: number, bars: readonly FileRow[]): Filling[] => [
  ['bars', bars],
  ['holidays', corrected(holidays, round, longer('name', round))],
  ['economic-events', corrected(events, round, () => ({ actual_value: 200 + round }))],
  ['economic-event-codes', corrected(eventCodes, round, longer('description', round))],
];

/** A correction of some rows of the others. */
const otherCorrections = (round: number): Filling[] => [
  ['instruments', corrected(instruments, round, longer('description', round))],
  ['corporate-actions', corrected(corporateActions, round, () => ({ record_date: `2025-03-1${round}` }))],
  ['news', corrected(news, round, longer('text_content', round))],
  ['option-contracts', corrected(optionContracts, round, () => ({ lot_size: round }))],
];

const dearer = (rows: readonly FileRow[], by: number): FileRow[] =>
  rows.map((row) => ({ ...row, high: Number(row.high) + by, volume: Number(row.volume) + 1 }));

/**
 * The day of the last two imports, at noon in New York: bars of these days close later, and are not served.
 */
const lastDays = ['2025-03-06', '2025-03-07'] as const;

/** The imports, by time. */
export const waves: readonly Wave[] = [
  {
    nowMs: Date.parse('2025-03-05T23:30:00Z'),
    fillings: [
      ['instruments', instruments],
      [
        'bars',
        [
          ...stockDays(oldDays, 50),
          ...oldWeeks,
          ...stockDays(sessions.slice(0, -2)),
          ...minuteBars,
          ...otherBars.slice(0, 60),
        ],
      ],
      ['corporate-actions', corporateActions],
      ['news', news],
      ['option-contracts', optionContracts],
      ['holidays', holidays],
      ['economic-events', events],
      ['economic-event-codes', eventCodes],
    ],
  },
  {
    nowMs: Date.parse('2025-03-06T12:00:00Z'),
    fillings: corrections(1, [...otherBars, ...dearer(minuteBars.slice(20, 60), 0.5)]),
  },
  {
    nowMs: Date.parse('2025-03-06T17:00:00Z'),
    fillings: corrections(2, [...stockDays([lastDays[0]], 20), ...dearer(minuteBars.slice(100, 160), 0.25)]),
  },
  {
    nowMs: Date.parse('2025-03-07T15:00:00Z'),
    fillings: corrections(3, dearer(otherBars.slice(100, 200), 0.5)),
  },
  {
    nowMs: Date.parse('2025-03-07T17:00:00Z'),
    fillings: [
      ...corrections(4, [
        ...stockDays([lastDays[1]], 30),
        ...dearer(minuteBars.slice(0, 30), 0.75),
        ...dearer(stockDays(sessions.slice(2, 4), 2).slice(0, 50), 0.5),
        ...dearer(otherBars.slice(150, 180), 0.75),
      ]),
      ...otherCorrections(4),
    ],
  },
];

/** An import that is undone at once: its pages are free then. */
export const undoneWave: Wave = {
  nowMs: Date.parse('2025-03-07T17:30:00Z'),
  fillings: [
    [
      'economic-event-codes',
      Array.from({ length: 150 }, (_, index) => ({
        country_iso_code: 'YY',
        event_code: `UNDONE_${index}`,
        description: `A code of an import that was undone, the ${index}th`,
      })),
    ],
  ],
};

/** The moment of every request: after all imports. */
export const ASKED_MS = Date.parse('2025-03-08T12:00:00Z');
