// What was imported, exported and imported again is the same: every dataset, every format, with all that its
// cells may hold (contract 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cellText } from '../src/base/decimal.ts';
import { type BarBasis, barBasis, type SymbolTime, volumeBasis } from '../src/contract/file-words.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { writeToFile } from '../src/queries/export/export-file.ts';
import { everything, exportTable } from '../src/queries/export/tables.ts';
import { contentHash } from '../src/store/copy.ts';
import type { Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { fc, times } from './seed.ts';
import { openToWrite, TestFolder } from './stores.ts';

const temporary = new TestFolder();
const { folder } = temporary;
after(() => temporary.close());

type Row = Readonly<Record<string, unknown>>;
/** In the order in which the documentation says to import them. */
const datasets = [
  ...['instruments', 'holidays', 'option-contracts', 'bars', 'corporate-actions', 'news', 'economic-events'],
  'economic-event-codes',
];

const nasty = [
  ...[
    '"',
    '""',
    'a,b',
    'a\tb',
    'x\ny',
    'x\r\ny',
    '\rx',
    'x\n',
    '=1+1',
    '@x',
    "it's",
    ' around ',
    '\u0001',
    '\u001f',
  ],
  ...[
    'nullable',
    'true',
    '1e5',
    '007',
    '-0',
    'é🎉中',
    '\ufeffx',
    '\\',
    '\\N',
    '\\"',
    '\u2028',
    '\u007f',
    '{}',
    '[',
    '`',
  ],
];
const text = fc
  .oneof(
    fc.constantFrom(...nasty),
    fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }),
    fc.array(fc.constantFrom(...nasty), { minLength: 2, maxLength: 4 }).map((parts) => parts.join('')),
  )
  // A word such as NaN or - stands for no value in a file (contract 11).
  .filter((value) => cellText(value) !== '' && !value.includes('\0') && value.isWellFormed());
const trimmed = text.map((value) => value.trim());
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 });

/** Up to 15 digits with up to 12 decimals, and what needs an exponent. */
const positive = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 999_999_999_999_999 }), fc.integer({ min: 0, max: 12 }))
    .map(([digits, decimals]) => Number(`${digits}e-${decimals}`)),
  fc.constantFrom(1, 0.1, 1e-9, 123456789012345, 1e21, 0.000123456789012345, 100),
);
const number = fc.oneof(
  positive,
  positive.map((value) => -value),
  fc.constant(0),
);
const day = fc
  .integer({ min: -25_000, max: 84_000 })
  .map((at) => new Date(at * 86_400_000).toISOString().slice(0, 10));
const instant = fc
  .integer({ min: -2_000_000_000, max: 7_000_000_000 })
  .map((at) => new Date(at * 1000).toISOString());

const markets = [
  ['stock', 'US'],
  ['stock', 'ZZ'],
  ['crypto', 'GLOBAL'],
  ['future', 'US'],
] as const;
const symbolOf = fc.constantFrom('A', 'B', 'C', 'BRK.B', 'X_Y', '^GSPC', '=F');
const market = fc.constantFrom(...markets).map(([asset_schema, country_iso_code]) => ({
  asset_schema,
  country_iso_code,
}));

const former = fc
  .uniqueArray(fc.tuple(symbolOf, fc.integer({ min: 2000, max: 2024 })), {
    maxLength: 2,
    selector: ([, year]) => year,
  })
  .map(
    (list) => list.map(([symbol, year]) => `${symbol}:${year}-01-01..${year + 1}-06-30`).join(' ') || null,
  );

const instrument = fc.tuple(
  market,
  fc.record({
    symbol: symbolOf,
    name: maybe(text),
    exchange: maybe(trimmed),
    currency: maybe(text),
    description: maybe(text),
    status: maybe(fc.constantFrom('active', 'inactive')),
    time_zone: maybe(fc.constantFrom('Asia/Tokyo', 'UTC')),
    trading_hours: maybe(fc.constantFrom({ regular_trading: ['09:00:00-15:00:00'] }, {})),
    is_indices: maybe(fc.boolean()),
    price_precision: maybe(fc.integer({ min: 0, max: 9 })),
    tick_size: maybe(number),
    contract_value: maybe(text),
    listing_date: maybe(day),
    delisting_date: maybe(fc.constantFrom('2199-12-30', '2199-12-31')),
    former_symbols: former,
  }),
);

const contract = fc
  .record({
    strike: fc.integer({ min: 1, max: 99_999 }),
    option_type: fc.constantFrom('call', 'put'),
    underlying_name: symbolOf,
    parent_asset_schema: fc.constantFrom('stock', 'future'),
    expiration_date: fc.constantFrom('2025-07-18', '1999-01-15'),
    expiration_datetime: maybe(fc.integer({ min: 0, max: 5e12 }).map((ms) => new Date(ms).toISOString())),
    exercise_style: maybe(fc.constantFrom('american', 'european')),
    status: maybe(fc.constantFrom('active', 'inactive')),
    contract_value: maybe(positive),
    option_exchange: maybe(trimmed),
    tick_size: maybe(number),
    is_indices: maybe(fc.boolean()),
  })
  .map(({ strike, ...said }) => ({
    ...said,
    symbol: `Q${said.expiration_date.replaceAll('-', '').slice(2)}${said.option_type === 'call' ? 'C' : 'P'}${String(strike * 1000).padStart(8, '0')}`,
    country_iso_code: 'US',
    strike_price: strike,
  }));

const bar = fc
  .record({
    market,
    symbol: symbolOf,
    interval: fc.constantFrom('1M', '7M', '60M', 'DAY', 'WEEK', 'MON'),
    exchange: maybe(trimmed.filter((value) => value.toUpperCase().length <= 20)),
    minute: fc.integer({ min: 500_000, max: 30_000_000 }),
    prices: fc.array(positive, { minLength: 4, maxLength: 4 }),
    sign: fc.constantFrom(1, -1, 0),
    volume: maybe(fc.oneof(positive, fc.constant(0))),
    vwap: maybe(number),
  })
  .map(({ market: named, symbol, interval, exchange, minute, prices, sign, volume, vwap }) => {
    const isFuture = named.asset_schema === 'future';
    const ordered = prices.map((price) => (isFuture ? sign * price : price)).sort((a, b) => a - b);
    const [low, open, close, high] = ordered;
    const at = new Date(minute * 60_000).toISOString();
    const datetime = interval.endsWith('M') ? at : at.slice(0, 10);
    return { ...named, symbol, interval, exchange, datetime, open, high, low, close, volume, vwap };
  });

const action = fc
  .record({
    country_iso_code: fc.constantFrom('US', 'ZZ'),
    symbol: symbolOf,
    ex_date: day,
    exchange: maybe(trimmed),
    currency: maybe(fc.constantFrom('USD', 'EUR', 'GBp')),
    pay_date: maybe(day),
    split_adjusted_on: maybe(day),
    kind: fc.oneof(
      // A factor must be that of the row, so it stands beside what makes none.
      fc.constantFrom('dividend', 'special_dividend').chain((action_type) =>
        fc.oneof(
          fc.record({
            action_type: fc.constant(action_type),
            cash_amount: positive,
            adjustment_factor: maybe(positive),
          }),
          fc.record({
            action_type: fc.constant(action_type),
            cash_amount: positive,
            reference_price: maybe(positive),
          }),
        ),
      ),
      fc
        .constantFrom('spinoff', 'stock_dividend')
        .chain((action_type) =>
          fc.record({ action_type: fc.constant(action_type), adjustment_factor: positive }),
        ),
      fc.integer({ min: 1, max: 1e9 }).map((to) => ({ action_type: 'split', split_from: 3, split_to: to })),
    ),
  })
  .map(({ kind, ...said }) => ({ ...said, ...kind }));

const item = fc
  .record({
    published_date: instant,
    title: text,
    publisher_url: fc.constantFrom('https://example.com/a,b', 'http://example.com/"q"?x=1'),
    tie: maybe(fc.tuple(market, symbolOf)),
    sentiment_label: maybe(fc.constantFrom('positive', 'negative', 'neutral')),
    sentiment_score: maybe(number),
    link_type: maybe(text),
    publisher: maybe(text),
    text_content: maybe(fc.oneof(text, fc.constant('  '))),
  })
  .map(({ tie, ...said }) => {
    if (tie === null) return said;
    const [{ asset_schema, country_iso_code }, symbol] = tie;
    return { ...said, asset_name: asset_schema, country_iso_code, symbol };
  });

const code = fc.constantFrom('CPI', 'NFP_HEADLINE', 'GDP_2');
const event = fc.record({
  country_iso_code: fc.constantFrom('US', 'UK', 'ZZ'),
  event_code: code,
  event_name: text,
  event_timestamp: instant,
  event_driven_type: maybe(fc.constantFrom('time_driven', 'data_driven')),
  importance: maybe(fc.integer({ min: 1, max: 3 })),
  actual_value: maybe(number),
  previous_value: maybe(number),
  forecast_value: maybe(number),
  change: maybe(number),
  change_percent: maybe(number),
  period: maybe(text),
  unit: maybe(text),
  source_id: fc.integer({ min: 0, max: 1e9 }).map((at) => String(at).padStart(64, 'a')),
});

const holiday = fc.oneof(
  fc.record({
    name: text.map((value) => value.trim()),
    holiday_code: fc.constant('HOLIDAY_OWN'),
    calendar_date: day,
    asset_name: fc.constant('stock'),
    country_iso_code: fc.constantFrom('US', 'ZZ'),
    symbol: fc.constantFrom('*', 'A'),
    session_template: fc.constantFrom('CLOSED', 'REGULAR'),
    priority: maybe(fc.integer({ min: 0, max: 99 })),
  }),
  fc.constant({
    name: 'Half a day',
    holiday_code: 'HOLIDAY_HALF',
    calendar_date: '2025-03-05',
    asset_name: 'stock',
    country_iso_code: 'US',
    symbol: '*',
    session_template: 'EARLY_CLOSE',
    close_timestamp: '2025-03-05T18:00:00Z',
  }),
);

/** Rows without two of one key. */
const rowsWith = <T extends object>(
  row: fc.Arbitrary<T>,
  keyOf: (row: Row) => readonly unknown[],
): fc.Arbitrary<Row[]> =>
  fc
    .array(row, { minLength: 30, maxLength: 60 })
    .map((rows) => [...new Map((rows as Row[]).map((one) => [JSON.stringify(keyOf(one)), one])).values()]);

const rowsBy = <T extends object>(row: fc.Arbitrary<T>, ...key: readonly string[]): fc.Arbitrary<Row[]> =>
  rowsWith(row, (one) => key.map((name) => one[name] ?? null));

/** The week or month that a bar's date lies in, else its time (contract 3.6). */
function periodOf(interval: string, datetime: string): string | number {
  if (interval === 'MON') return datetime.slice(0, 7);
  return interval === 'WEEK' ? Math.floor((Date.parse(datetime) / 86_400_000 + 3) / 7) : datetime;
}

const world = fc.record({
  instruments: rowsBy(
    instrument.map(([where, said]) => ({ ...where, ...said })),
    'asset_schema',
    'country_iso_code',
    'symbol',
  ),
  // The priority that is not given is 1.
  holidays: rowsWith(holiday, (one) => [
    one.country_iso_code,
    one.symbol,
    one.calendar_date,
    one.priority ?? 1,
  ]),
  'option-contracts': rowsBy(contract, 'symbol'),
  // Two symbols may be one instrument, by the former symbols of any: they are in no key of what is named by
  // day.
  bars: rowsWith(bar, (one) => {
    const { asset_schema, country_iso_code, interval, datetime } = one as Record<string, string>;
    return [asset_schema, country_iso_code, interval, periodOf(interval!, datetime!)];
  }),
  'corporate-actions': rowsBy(action, 'country_iso_code', 'ex_date', 'action_type'),
  news: rowsBy(item, 'publisher_url', 'title', 'asset_name', 'country_iso_code'),
  'economic-events': rowsBy(event, 'source_id'),
  'economic-event-codes': rowsBy(
    fc.record({ country_iso_code: fc.constantFrom('US', 'UK'), event_code: code, description: text }),
    'country_iso_code',
    'event_code',
  ),
  basis: fc.constantFrom(
    barBasis('raw'),
    barBasis('split'),
    barBasis('all'),
    barBasis('raw', 'split'),
    barBasis('all', 'raw'),
  ),
});

/** Why a row of some symbol is refused in a file with the symbols of each day (contract 9.6). */
const isAnothers = /the symbol of .*another company's/s;

async function importInto(
  store: Store,
  dataset: string,
  path: string,
  basis: BarBasis,
  symbols: SymbolTime = 'now',
): Promise<void> {
  const plain = await opened(path);
  const file = { ...plain, mapping: { ...plain.mapping, symbols } };
  try {
    const request = { file, flags: new Map(), source: null, dryRun: false, nowMs: Date.now };
    const report = await importFile(store, dataset, {
      ...request,
      ...(dataset === 'bars' && { basis: basis.prices, volumes: volumeBasis(basis) }),
    });
    const odd = report.refused.filter(({ reason }) => symbols === 'now' || !isAnothers.test(reason));
    assert.deepEqual(odd, [], `${dataset} ${path}`);
  } finally {
    await file.close();
  }
}

let stores = 0;

/** Runs `work` on a store of its own, and gives its content's hash. */
async function hashAfter(work: (store: Store) => Promise<void>): Promise<string> {
  const store = await openToWrite(temporary.storeUrl(String(++stores)));
  try {
    await work(store);
    return await store.snapshot(contentHash);
  } finally {
    await store.close();
  }
}

/** A store with the rows of every dataset, brought as JSON. */
async function fillStore(
  store: Store,
  rows: Readonly<Record<string, readonly Row[]>>,
  basis: BarBasis,
): Promise<void> {
  for (const dataset of datasets) {
    const path = join(folder, 'first.ndjson');
    writeFileSync(path, rows[dataset]!.map((row) => `${JSON.stringify(row)}\n`).join(''));
    await importInto(store, dataset, path, basis, 'then');
  }
}

test('what is exported and imported into an empty store has the same content hash, in every format (contract 10)', async () => {
  const names = ['csv', 'tsv.gz', 'ndjson.zst', 'parquet'];
  await fc.assert(
    fc.asyncProperty(world, async ({ basis, ...rows }) => {
      const files = (name: string, dataset: string) => join(folder, `${dataset}.${name}`);
      const expected = await hashAfter(async (store) => {
        await fillStore(store, rows, basis);
        for (const name of names)
          for (const dataset of datasets)
            await store.snapshot(async (reader) => {
              const table = await exportTable(reader, dataset, everything);
              await writeToFile(table, files(name, dataset), true, () => undefined);
              const { prices, volumes } = basis;
              const flags = [
                ...(prices === 'raw' ? [] : ['--prices', prices]),
                ...(volumes === null ? [] : ['--volumes', volumes]),
              ];
              const symbols =
                !dataset.startsWith('economic') && dataset !== 'instruments' ? ['--symbols', 'now'] : [];
              assert.deepEqual(table.flags, [...(dataset === 'bars' ? flags : []), ...symbols]);
            });
      });
      for (const name of names) {
        const found = await hashAfter(async (store) => {
          for (const dataset of datasets) await importInto(store, dataset, files(name, dataset), basis);
        });
        assert.equal(found, expected, name);
      }
    }),
    // Worlds are large: to make one smaller takes longer than to read it.
    { numRuns: times(2), endOnFailure: true },
  );
});
