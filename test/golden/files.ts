// Files of made-up data: bars of several markets with holes, partial days, early closes and wrong rows, and
// rows of every other dataset.
import type { Random } from '../fuzz/random.ts';

/** The text of a CSV file. */
const csvOf = (header: string, rows: readonly (readonly (string | number | null)[])[]): string =>
  [header, ...rows.map((cells) => cells.map((cell) => quoted(String(cell ?? ''))).join(','))].join('\n');

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

const two = (number: number): string => String(number).padStart(2, '0');
const clockOf = (minute: number): string => `${two(Math.floor(minute / 60))}:${two(minute % 60)}:00`;

/** Dates from one to another, both included. */
export function datesBetween(from: string, to: string): string[] {
  const found: string[] = [];
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += 86_400_000)
    found.push(new Date(ms).toISOString().slice(0, 10));
  return found;
}

const weekday = (date: string): number => new Date(date).getUTCDay();
const isWeekend = (date: string): boolean => weekday(date) % 6 === 0;

/** Hours in minutes of the local day. */
type Hours = readonly (readonly [from: number, to: number])[];

/** A market as its files show it, in local time. */
type Market = {
  readonly schema: string;
  readonly country: string;
  readonly zone: string;
  readonly hours: Hours;
  /** Other hours of some dates; none where it is closed. */
  readonly other: Readonly<Record<string, Hours>>;
  readonly hasSaturday?: true;
};

const closed = (...dates: readonly string[]): Record<string, Hours> =>
  Object.fromEntries(dates.map((date) => [date, []]));
const newYork = { zone: 'America/New_York', country: 'US' };
const usEarly: Hours = [
  [240, 570],
  [570, 780],
  [780, 1020],
];
const hkHalf: Hours = [[570, 730]];
const ukHalf: Hours = [[480, 755]];
const allDay: Hours = [[0, 1440]];

export const markets = {
  us: {
    ...{ ...newYork, schema: 'stock' },
    hours: [
      [240, 570],
      [570, 960],
      [960, 1200],
    ],
    other: {
      ...closed('2024-11-28', '2024-12-25', '2025-01-01', '2025-01-09', '2025-04-18'),
      ...{ '2024-11-29': usEarly, '2024-12-24': usEarly, '2025-07-03': usEarly },
    },
  },
  hk: {
    ...{ schema: 'stock', country: 'HK', zone: 'Asia/Hong_Kong' },
    hours: [
      [570, 720],
      [780, 970],
    ],
    other: {
      ...closed('2024-12-25', '2024-12-26', '2025-01-01'),
      '2024-12-24': hkHalf,
      '2024-12-31': hkHalf,
    },
  },
  uk: {
    ...{ schema: 'stock', country: 'UK', zone: 'Europe/London', hours: [[480, 995]] },
    other: {
      ...closed('2024-12-25', '2024-12-26', '2025-01-01'),
      '2024-12-24': ukHalf,
      '2024-12-31': ukHalf,
    },
  },
  jp: {
    ...{ schema: 'stock', country: 'JP', zone: 'Asia/Tokyo' },
    hours: [
      [540, 690],
      [750, 930],
    ],
    other: closed('2024-12-31', '2025-01-01', '2025-01-02', '2025-01-03'),
  },
  de: {
    schema: 'stock',
    country: 'DE',
    zone: 'Europe/Berlin',
    hours: [[540, 1055]],
    other: closed('2024-12-25'),
  },
  au: {
    schema: 'stock',
    country: 'AU',
    zone: 'Australia/Sydney',
    hours: [[600, 972]],
    other: closed('2024-12-25'),
  },
  crypto: {
    ...{ schema: 'crypto', country: 'GLOBAL', zone: 'UTC' },
    ...{ hours: allDay, other: {}, hasSaturday: true as const },
  },
  forex: { schema: 'forex', country: 'GLOBAL', zone: 'America/New_York', hours: allDay, other: {} },
  future: {
    ...{ schema: 'future', country: 'US', zone: 'America/Chicago' },
    hours: [
      [0, 960],
      [1020, 1440],
    ],
    other: {},
  },
} as const satisfies Record<string, Market>;

/** The hours of a date. Forex and futures begin on Sunday evening and end on Friday. */
function hoursOf({ hours, other, schema, hasSaturday }: Market, date: string): Hours {
  const changed = other[date];
  if (changed !== undefined) return changed;
  if (hasSaturday) return hours;
  if (schema !== 'forex' && schema !== 'future') return isWeekend(date) ? [] : hours;
  if (weekday(date) === 0) return [[1020, 1440]];
  if (weekday(date) === 6) return [];
  return weekday(date) === 5 ? [[0, schema === 'forex' ? 1020 : 960]] : hours;
}

/** How the bars of a series come about. */
export type Shape = {
  readonly symbol: string;
  readonly market: keyof typeof markets;
  /** First price in ticks, and the decimals of one. */
  readonly ticks: number;
  readonly digits: number;
  /** Share of the intervals with a bar, by default nearly all of them. */
  readonly density?: number;
  /** Before a date prices are a multiple: that of its split. */
  readonly split?: readonly [date: string, factor: number];
  /** Below zero too. */
  readonly isBelowZero?: true;
};

/** Prices by chance, each near the one before it. */
class Prices {
  readonly #random: Random;
  readonly #shape: Shape;
  #ticks: number;

  constructor(random: Random, shape: Shape) {
    [this.#random, this.#shape, this.#ticks] = [random, shape, shape.ticks];
  }

  /** Open, high, low, close, volume and vwap of the next bar. */
  next(date: string): (string | number | null)[] {
    const random = this.#random;
    const { ticks, digits, split, isBelowZero } = this.#shape;
    const factor = split !== undefined && date < split[0] ? split[1] : 1;
    const step = Math.max(2, Math.round(ticks / 400));
    const move = (): number => random.between(-step, step);
    const least = isBelowZero ? Number.NEGATIVE_INFINITY : step * 3;
    const open = Math.max(least, this.#ticks + move());
    const close = Math.max(least, open + move());
    const wick = random.chance(0.001) ? ticks : 0;
    const high = Math.max(open, close) + random.below(step) + wick;
    const low = Math.min(open, close) - random.below(step);
    this.#ticks = close;
    const texts = [open, high, low, close].map((price) => ((price * factor) / 10 ** digits).toFixed(digits));
    const volume = random.chance(0.02)
      ? 0
      : random.chance(0.1)
        ? random.below(1_000_000) / 1_000
        : random.between(1, 9_000);
    const typical = ((high + low + close) * factor) / 3 / 10 ** digits;
    return [...texts, volume, volume === 0 || random.chance(0.005) ? null : typical.toFixed(digits + 2)];
  }
}

export const barHeader = 'asset_schema,country_iso_code,symbol,datetime,open,high,low,close,volume,vwap';

/**
 * Bars of some dates in local time, up to a moment of the local clock; `offset` minutes off the session's
 * grid.
 */
export function intradayRows(
  random: Random,
  shape: Shape,
  {
    dates,
    minutes,
    until = '9',
    offset = 0,
  }: { dates: readonly string[]; minutes: number; until?: string; offset?: number },
): (string | number | null)[][] {
  const market: Market = markets[shape.market];
  const prices = new Prices(random, shape);
  return dates.flatMap((date) =>
    hoursOf(market, date).flatMap(([from, to]) => {
      const found: (string | number | null)[][] = [];
      for (let minute = from - offset; minute < to; minute += minutes) {
        const time = `${date} ${clockOf(minute)}`;
        if (time >= until || !random.chance(shape.density ?? 0.97)) continue;
        found.push([market.schema, market.country, shape.symbol, time, ...prices.next(date)]);
      }
      return found;
    }),
  );
}

/** A file of intraday bars of several series; times without an offset. */
export const barFile = (rows: readonly (readonly (string | number | null)[])[]): string =>
  csvOf(barHeader, rows);

/** Rows of days; of forex and futures some of Sundays. */
export function dayRows(
  random: Random,
  shape: Shape,
  dates: readonly string[],
): (string | number | null)[][] {
  const market: Market = markets[shape.market];
  const prices = new Prices(random, shape);
  return dates
    .filter((date) => hoursOf(market, date).length > 0 && random.chance(shape.density ?? 0.995))
    .map((date) => [market.schema, market.country, shape.symbol, date, ...prices.next(date)]);
}

/** Rows of weeks or months, some of them missing, each dated by a day in it. */
export function periodRows(
  random: Random,
  shape: Shape,
  dates: readonly string[],
): (string | number | null)[][] {
  const { schema, country } = markets[shape.market];
  const prices = new Prices(random, shape);
  return dates
    .filter(() => random.chance(0.8))
    .map((date) => [schema, country, shape.symbol, date, ...prices.next(date)]);
}

const texts = [
  'Results beat, "by far"',
  'Møller raises =1+1',
  'שלום עולם',
  'a, b\nand c',
  '@cmd',
  'İş Bankası and Łódź 😀',
] as const;

/** News of some symbols, and of none. */
export function newsFile(
  random: Random,
  symbols: readonly string[],
  dates: readonly string[],
  count: number,
): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const name = random.chance(0.1) ? [null, null, null] : random.pick(symbols).split(':');
    const time = `${random.pick(dates)}T${clockOf(random.pick([0, 570, random.below(1440)]))}Z`;
    const score = random.chance(0.3) ? null : random.between(-100, 100) / 100;
    const label = score === null ? null : score < -0.3 ? 'negative' : score > 0.3 ? 'positive' : 'neutral';
    const title = `${random.pick(texts)} ${index}`;
    const rest = [title, `https://news.example.com/${index}?a=1,2`, random.pick([null, 'Wire', texts[1]])];
    return [...name, time, ...rest, random.pick([null, ...texts]), label, score];
  });
  return csvOf(
    'asset_name,country_iso_code,symbol,published_date,title,publisher_url,publisher,text_content,sentiment_label,sentiment_score',
    rows,
  );
}

/** Dividends and splits of US stocks, some declared, some with their price. */
export function actionsFile(
  random: Random,
  symbols: readonly string[],
  dates: readonly string[],
  splits: readonly (readonly [symbol: string, date: string, from: number, to: number])[],
): string {
  const dividends = symbols.flatMap((symbol) =>
    [...new Set(Array.from({ length: 9 }, () => random.pick(dates)))].map((date) => [
      ...['US', symbol, 'dividend', date, random.between(1, 300) / 100, 'USD', null, null],
      random.chance(0.5)
        ? new Date(Date.parse(date) - random.between(3, 40) * 86_400_000).toISOString().slice(0, 10)
        : null,
      random.chance(0.4) ? date : null,
      random.chance(0.3) ? random.between(4_000, 20_000) / 100 : null,
    ]),
  );
  const others = splits.map(([symbol, date, from, to]) => [
    'US',
    symbol,
    'split',
    date,
    null,
    null,
    from,
    to,
    null,
    null,
    null,
  ]);
  return csvOf(
    'country_iso_code,symbol,action_type,ex_date,cash_amount,currency,split_from,split_to,declaration_date,record_date,reference_price',
    [...dividends, ...others],
  );
}

/** A chain of every expiration, strike and type; one root of its own is an adjusted contract. */
export function chainRows(
  schema: string,
  underlying: string,
  roots: readonly string[],
  expirations: readonly string[],
  strikes: readonly number[],
): (string | number | null)[][] {
  return roots.flatMap((root) =>
    expirations.flatMap((date, at) =>
      strikes.flatMap((strike) =>
        ['call', 'put'].map((type) => [
          `${root}${date.slice(2).replaceAll('-', '')}${type === 'call' ? 'C' : 'P'}${String(Math.round(strike * 1_000)).padStart(8, '0')}`,
          ...['US', schema, underlying, strike, date, type],
          at % 3 === 1 ? '2025-02-03' : null,
          at === 0 ? 'inactive' : 'active',
        ]),
      ),
    ),
  );
}

export const chainFile = (rows: readonly (readonly (string | number | null)[])[]): string =>
  csvOf(
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type,listing_date,status',
    rows,
  );

const countries = ['US', 'UK', 'DE', 'JP', 'ZA'];

/** Economic events of some months, past and still to come; some rows lack their values. */
export function eventsFile(random: Random, dates: readonly string[], count: number): string {
  const value = (share: number): number | null =>
    random.chance(share) ? random.between(-500, 5_000) / 10 : null;
  const rows = Array.from({ length: count }, (_, index) => [
    ...[random.pick(countries), random.pick(['INFLATION_CPI', 'EMPLOYMENT_NFP_HEADLINE', 'GOLDEN_INDEX'])],
    ...[
      `Event ${random.pick(texts)}`,
      `${random.pick(dates)}T${clockOf(random.pick([510, 750, random.below(1440)]))}Z`,
    ],
    ...[random.pick([null, 'time_driven', 'data_driven']), random.pick([null, 'low', 'medium', 'high'])],
    ...[
      value(0.7),
      value(0.8),
      value(0.6),
      random.pick([null, '%', 'points']),
      random.chance(0.7) ? `P${index}` : null,
    ],
  ]);
  return csvOf(
    'country_iso_code,event_code,event_name,event_timestamp,event_driven_type,impact,actual_value,previous_value,forecast_value,unit,period',
    rows,
  );
}

/** Days of markets: closed, shortened, and one that is cancelled. */
export const holidaysFile = (
  rows: readonly (readonly [
    country: string,
    symbol: string,
    date: string,
    template: string,
    open: string | null,
    close: string | null,
  ])[],
): string =>
  csvOf(
    'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template,open_timestamp,close_timestamp,priority',
    rows.map(([country, symbol, date, template, open, close], at) => [
      ...[
        `Golden day ${at}`,
        `HOLIDAY_GOLDEN_${at % 3}`,
        date,
        'stock',
        country,
        symbol,
        template,
        open,
        close,
        100 + at,
      ],
    ]),
  );

/** Instruments with what is known of them. */
export const instrumentsFile = (
  rows: readonly (readonly [
    schema: string,
    name: string,
    title: string | null,
    more?: Readonly<Record<string, string>>,
  ])[],
): string => {
  const fields = [
    'currency',
    'exchange',
    'status',
    'listing_date',
    'delisting_date',
    'former_symbols',
    'asset_subtype',
    'industry',
    'tick_size',
  ];
  return csvOf(
    ['asset_schema,country_iso_code,symbol,name', ...fields].join(','),
    rows.map(([schema, name, title, more = {}]) => [
      ...[schema, ...name.split(':'), title],
      ...fields.map((field) => more[field] ?? null),
    ]),
  );
};
