// What the fuzzer's store holds: few rows of every area, some of them with texts that break what is careless.

/** A row of a file by the names of its columns. */
export type Row = Readonly<Record<string, string | number | null>>;

/** Names that have bars: minutes of two days and five days, every close 2. */
export const barNames = [
  'stock:US:AAPL',
  'stock:US:^GSPC',
  'stock:US:A$#!@~&=+_/.-B',
  'crypto:GLOBAL:BTC-USD',
  'forex:GLOBAL:EUR/USD',
  'future:US:ESH25',
] as const;

/** The close of every bar. */
export const CLOSE = 2;

const nasty = [
  'Quote "Q", said; \'twas\n=1+1',
  '=HYPERLINK("http://example.com","x")',
  'שלום \u202eמחר\u202c, עולם',
  '😀👩‍👩‍👧 e\u0301 \ufffd',
  'a,b\r\nc,"d",,\t|',
  "@SUM(A1)+cmd|'/c'!A0 \u2028 %00 \\u0000 </script><script>",
  'lone\rreturn',
  '-1',
  'Null',
  '""',
] as const;
const odd = (index: number): string => nasty[index % nasty.length]!;

const instrument = (name: string, rest: Row): Row => {
  const [asset_schema, country_iso_code, symbol] = name.split(':') as [string, string, string];
  return { asset_schema, country_iso_code, symbol, ...rest };
};

/** Names that have no bars. */
export const instruments: readonly Row[] = [
  instrument('stock:US:NOBARS', { name: odd(0), description: odd(4), industry: odd(2) }),
  instrument('stock:ZZ:ONLY', { name: odd(3), currency: 'EUR' }),
  instrument('stock:US:AA', {
    name: odd(1),
    status: 'inactive',
    tick_size: 0.01,
    listing_date: '1999-12-31',
  }),
  instrument('stock:UK:VOD.L', { name: odd(7), currency: 'GBP' }),
  instrument('forex:GLOBAL:AB/CD', { name: odd(5) }),
];

const about = (name: string): Row => {
  const [asset_name, country_iso_code, symbol] = name.split(':') as [string, string, string];
  return { asset_name, country_iso_code, symbol };
};

/** Items of instruments, of a name that nothing else has, and of none; several at one time. */
export const news: readonly Row[] = [
  'stock:US:AAPL',
  'stock:US:^GSPC',
  'stock:JP:7203',
  'stock:UK:VOD.L',
  'crypto:GLOBAL:BTC-USD',
  null,
].flatMap((name, kind) =>
  Array.from({ length: 6 }, (_, index) => ({
    ...(name === null ? { asset_name: null, country_iso_code: null, symbol: null } : about(name)),
    published_date: `2025-03-0${3 + (index % 3)}T${index < 3 ? '00:00:00' : `1${index}:30:0${kind % 2}`}+00:00`,
    title: `${odd(index + kind)} ${index}`,
    publisher_url: `https://example.com/${kind}/${index}?q="x",%20=1`,
    publisher: index === 0 ? null : odd(index + 2),
    text_content: index === 1 ? null : odd(index + 3),
    sentiment_label: [null, 'positive', 'neutral', 'negative'][index % 4]!,
    sentiment_score: index === 0 ? null : index / 10 - 0.25,
  })),
);

const dividend = (symbol: string, ex_date: string, cash_amount: number, rest: Row = {}): Row => ({
  ...{ country_iso_code: 'US', symbol, action_type: 'dividend', ex_date, cash_amount, currency: 'USD' },
  ...rest,
});
const split = (symbol: string, ex_date: string, split_from: number, split_to: number): Row => ({
  ...{ country_iso_code: 'US', symbol, action_type: 'split', ex_date, split_from, split_to },
});

/** Dividends and splits, each with the factor that it must have (contract 8.2). */
export const corporateActions: readonly (readonly [row: Row, factor: string])[] = [
  [dividend('AAPL', '1999-12-31', 1, { reference_price: 100, pay_date: '2000-01-31' }), '0.99000000'],
  [dividend('AAPL', '2000-02-29', 3, { reference_price: 3 }), '1.00000000'],
  [split('AAPL', '2000-02-29', 1, 5), '0.20000000'],
  [split('AAPL', '2025-03-02', 10, 1), '10.00000000'],
  [dividend('AAPL', '2025-03-05', 0.5), '0.75000000'],
  [dividend('AAPL', '2025-03-06', 0.25, { adjustment_factor: 0.875, reference_price: 2 }), '0.87500000'],
  [split('AAPL', '2025-03-07', 7, 3), '2.33333333'],
  [dividend('A$#!@~&=+_/.-B', '1998-01-15', 2, { reference_price: 3 }), '0.33333333'],
  [dividend('A$#!@~&=+_/.-B', '1999-01-15', 2, { reference_price: 3 }), '0.33333333'],
  [dividend('A$#!@~&=+_/.-B', '2025-03-03', 0.1, { reference_price: 0.3 }), '0.66666667'],
  [split('A$#!@~&=+_/.-B', '2025-03-04', 2, 3), '0.66666667'],
  [dividend('NOBARS', '2025-03-04', 1), '1.00000000'],
];

/** Dates and instants of expirations: given, and by the calendar (contract 8.5). */
const expirations: readonly (readonly [date: string, given: string | null, instant: string])[] = [
  ['2025-03-21', null, '2025-03-21T20:00:00Z'],
  // Good Friday: the last session is Thursday's.
  ['2025-04-18', null, '2025-04-17T20:00:00Z'],
  ['2099-12-18', '2099-12-18T14:30:00Z', '2099-12-18T14:30:00Z'],
  ['2099-12-18', '2099-12-18T21:00:00Z', '2099-12-18T21:00:00Z'],
];

const optionSymbol = (root: string, date: string, type: string, strike: number): string =>
  `${root}${date.slice(2).replaceAll('-', '')}${type === 'call' ? 'C' : 'P'}${String(strike * 1_000).padStart(8, '0')}`;

const chainOf = (
  name: string,
  strikes: readonly number[],
  dates: typeof expirations,
): (readonly [row: Row, instant: string])[] => {
  const [parent_asset_schema, country_iso_code, underlying_name] = name.split(':') as [
    string,
    string,
    string,
  ];
  return dates.flatMap(([expiration_date, given, instant], at) =>
    strikes.flatMap((strike_price) =>
      ['call', 'put'].map((option_type) => {
        // Contracts of one date that expire at different times have roots of their own.
        const root = given?.includes('14:30') ? `${underlying_name}W` : underlying_name;
        const symbol = optionSymbol(root, expiration_date, option_type, strike_price);
        const row = {
          ...{
            symbol,
            country_iso_code,
            parent_asset_schema,
            underlying_name,
            strike_price,
            expiration_date,
          },
          ...{ expiration_datetime: given, option_type, exercise_style: at === 2 ? 'european' : 'american' },
          ...{ status: at < 2 ? 'inactive' : 'active', contract_value: 100 },
        };
        return [row, instant] as const;
      }),
    ),
  );
};

/**
 * Contracts around the price of their underlying, and of an underlying without a price; each with its
 * expiration.
 */
export const optionContracts: readonly (readonly [row: Row, instant: string])[] = [
  ...chainOf('stock:US:AAPL', [1, 1.5, 2, 2.5, 3], expirations),
  ...chainOf('future:US:ESH25', [1, 3], expirations.slice(2)),
  ...chainOf('stock:US:NOBARS', [1], expirations.slice(2, 3)),
];

/** Names that have contracts. */
export const underlyingNames: readonly string[] = [
  ...new Set(
    optionContracts.map(
      ([row]) => `${row.parent_asset_schema}:${row.country_iso_code}:${row.underlying_name}`,
    ),
  ),
];

const day = (calendar_date: string, symbol: string, session_template: string, priority: number): Row => ({
  ...{ name: `${odd(priority)} day`, holiday_code: `HOLIDAY_ODD_${priority % 2}`, calendar_date },
  ...{ asset_name: 'stock', country_iso_code: 'ZZ', symbol, session_template, priority },
});

/** Days of a market that has no others, and of one of its instruments. */
export const holidays: readonly Row[] = [
  day('1900-01-01', '*', 'CLOSED', 1),
  day('2025-03-03', '*', 'CLOSED', 2),
  day('2025-03-04', '*', 'CLOSED', 3),
  day('2025-03-04', '*', 'REGULAR', 50),
  day('2025-03-05', '*', 'CLOSED', 4),
  day('2025-03-05', 'ONLY', 'CLOSED', 60),
  day('2025-03-06', 'ONLY', 'CLOSED', 5),
  day('2025-03-07', '*', 'CLOSED', 6),
  day('2200-12-31', '*', 'CLOSED', 8),
];

const SOURCE_DIGITS = 64;
/** An identifier of an event. */
export const sourceIdOf = (index: number): string =>
  `${index.toString(16)}ab`.repeat(SOURCE_DIGITS).slice(0, SOURCE_DIGITS);

const importances = [null, 1, 2, 3] as const;
const values: readonly (readonly [actual: number | null, previous: number | null])[] = [
  [0.3, 0.1],
  [-0.1, 0.2],
  [5, 0],
  [null, 1],
  [13_832.1, null],
];
/** Changes of the values above (contract 8.7), computed by hand. */
const changes: readonly (readonly [change: number | null, percent: number | null])[] = [
  [0.2, 200],
  [-0.3, -150],
  [5, null],
  [null, null],
  [null, null],
];

/** Events long past and far ahead, several at one time; each with what is to come out of it. */
export const events: readonly (readonly [row: Row, worked: Row])[] = Array.from(
  { length: 26 },
  (_, index) => {
    const importance = importances[index % 4]!;
    const [actual_value, previous_value] = values[index % 5]!;
    const [change, change_percent] = changes[index % 5]!;
    const year = index < 22 ? 2025 : 2150;
    const row = {
      ...{ country_iso_code: ['US', 'ZZ', 'JP'][index % 3]!, event_code: ['ODD_ONE', 'ODD_TWO'][index % 2]! },
      ...{
        event_name: `${odd(index)} ${index}`,
        event_timestamp: `${year}-03-0${1 + (index % 7)}T12:30:00Z`,
      },
      ...{ importance, actual_value, previous_value, forecast_value: index / 8 },
      ...{
        event_driven_type: [null, 'time_driven', 'data_driven'][index % 3]!,
        period: index % 2 ? odd(index + 1) : null,
      },
      ...{ unit: index % 3 ? '%' : null, source_id: sourceIdOf(index) },
    };
    const impact = importance === null ? null : ['low', 'medium', 'high'][importance - 1]!;
    return [row, { ...row, impact, change, change_percent }] as const;
  },
);

/** What codes mean in a country that ships none. */
export const eventCodes: readonly Row[] = ['ODD_ONE', 'ODD_TWO', '__PROTO__'].map((event_code, index) => ({
  ...{ country_iso_code: 'ZZ', event_code, description: odd(index) },
}));

/** Every instrument that the service holds data of. */
export const names: readonly string[] = [
  ...new Set([
    ...barNames,
    ...instruments.map((row) => `${row.asset_schema}:${row.country_iso_code}:${row.symbol}`),
    ...news
      .filter(({ symbol }) => symbol !== null)
      .map((row) => `${row.asset_name}:${row.country_iso_code}:${row.symbol}`),
    ...optionContracts.map(([row]) => `option:${row.country_iso_code}:${row.symbol}`),
  ]),
];
