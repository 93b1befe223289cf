// Files that nobody described, in many forms: each is imported whole, at once or after the flag or the map
// that the message names (contract 10, 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { holdReader } from '../../src/imports/read/reader-process.ts';
import { Random } from '../fuzz/random.ts';
import { seed, times } from '../seed.ts';
import { rowsOf } from '../stores.ts';
import { type Flags, type ServedBar, Vendor } from './vendor.ts';

const vendor = new Vendor();
process.once('exit', holdReader());
after(() => vendor.close());

const days = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'X', interval: 'DAY' };

/** Names of the columns of a date, open, high, low, close and volume. */
const headers = [
  ['Date', 'Open', 'High', 'Low', 'Close', 'Volume'],
  ['<DATE>', '<OPEN>', '<HIGH>', '<LOW>', '<CLOSE>', '<VOL>'],
  ['t', 'o', 'h', 'l', 'c', 'v'],
  ['Datum', 'Eröffnung', 'Hoch', 'Tief', 'Schluss', 'Stück'],
  ['日期', '开盘', '最高', '最低', '收盘', '成交量'],
  ['', 'Open', 'High', 'Low', 'Close', 'Volume'],
  // These are asked for.
  ['Date', 'Open', 'High', 'Low', 'Clsoe', 'Volume'],
  ['Date', 'Open', 'High', 'Low', 'Last', 'Volume', 'Settle'],
];

/** 14 and 15 March 2024. */
const dates = [
  ['2024-03-14', '2024-03-15'],
  ['14.03.2024', '15.03.2024'],
  ['03/14/2024', '03/15/2024'],
  ['20240314', '20240315'],
  ['14-Mar-2024', '15-Mar-2024'],
];
/** 4 and 5 March 2024, or 3 April and 3 May: the caller says which. */
const unsure = ['03/04/2024', '03/05/2024'];

/** Volumes as texts, with what they are. */
type Volumes = readonly [first: string, second: string, one: number | null, two: number];

/** How prices are written, and volumes beside them. */
const numbers: readonly (readonly [write: (price: string) => string, volumes: readonly Volumes[]])[] = [
  ...[(price: string) => price, (price: string) => `$${price}`].map((write): (typeof numbers)[number] => [
    write,
    [
      ['1200', '3400', 1200, 3400],
      ['1,200', '3,400,000', 1200, 3_400_000],
      ['1.2M', '900.5K', 1_200_000, 900_500],
      ['-', '1.5B', null, 1_500_000_000],
      ['N/A', '900', null, 900],
    ],
  ]),
  ...['', ' €'].map((sign): (typeof numbers)[number] => [
    (price) => price.replace('.', ',') + sign,
    [
      ['1200', '3400', 1200, 3400],
      ['1.200', '3.400.000', 1200, 3_400_000],
      ['1,2M', '900,5K', 1_200_000, 900_500],
      ['', '900', null, 900],
    ],
  ]),
];

const quotedCell = (cell: string): string => (/[",]/.test(cell) ? `"${cell}"` : cell);
const text = (mark: string, title: string, end: string) => (rows: readonly (readonly string[])[]) =>
  title + rows.map((row) => (mark === ',' ? row.map(quotedCell) : row).join(mark) + end).join('');
const objects = ([header = [], ...rows]: readonly (readonly string[])[]): object[] =>
  rows.map((row) => Object.fromEntries(row.map((cell, place) => [header[place], cell])));
/** Without a name only a column of a text is told by its place. */
const named = (rows: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  rows.map((row, place) => (place === 0 && row[0] === '' ? ['date', ...row.slice(1)] : row));
const layouts = [
  text(',', '', '\n'),
  text(',', '\ufeff', '\r\n'),
  text(',', 'Prices of X, exported\n\n', '\n'),
  text(';', '', '\n'),
  text(';', 'Prices of X\n2024\n', '\n'),
  text('\t', '', '\n'),
  text('|', '', '\n'),
  (rows: readonly (readonly string[])[]) => JSON.stringify(objects(named(rows))),
  (rows: readonly (readonly string[])[]) =>
    objects(named(rows))
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(''),
];

/** What the caller does after a message: the flag that it asks for, or a mapping file with what it prints. */
function followed(message: string, flags: Flags, decimal: string): Flags {
  const { told } = flags;
  if (/--decimal , or --decimal \./.test(message)) return { ...flags, told: { ...told, decimal } };
  if (/--date-format '%m\/%d\/%Y'/.test(message))
    return { ...flags, told: { ...told, dateFormat: '%m/%d/%Y' } };
  const [, map] = /--map FILE with (\{.*\})\./.exec(message) ?? [];
  assert.ok(map !== undefined && flags.map === undefined, message);
  const path = vendor.shop.path('proposed.json');
  writeFileSync(path, map);
  return { fields: days, map: path };
}

const random = new Random(seed, 0);

test('a file is imported whole, at once or by what its message says (contract 10, 11)', async () => {
  for (let round = 0; round < times(150); round++) {
    const [layout, header] = [random.pick(layouts), random.pick(headers)];
    const isUnsure = random.chance(0.2);
    const [first, second] = isUnsure ? unsure : random.pick(dates);
    const [write, volumes] = random.pick(numbers);
    const [volume, next, one, two] = random.pick(volumes);
    const row = (date: string, prices: readonly string[], last: string): string[] => [
      ...[date, ...prices.map(write), last],
      ...header.slice(6).map(() => write('7.25')),
    ];
    const content = layout([
      header,
      row(first!, ['10.00', '11.00', '9.00', '10.50'], volume),
      row(second!, ['10.50', '1234.50', '9.50', '10.25'], next),
    ]);
    const label = JSON.stringify([seed, round, content]);
    let flags: Flags = { fields: days };
    const decimal = write('1.5').includes(',') ? ',' : '.';
    for (let step = 0; ; step++) {
      const said = await vendor.import('a.txt', content, flags).catch((error: Error) => error);
      if (!(said instanceof Error)) {
        assert.deepEqual([said.rowsNew, said.rowsRefused], [2, 0], label);
        break;
      }
      assert.ok(step < 3, `${label} ${said.message}`);
      flags = followed(said.message, flags, decimal);
    }
    const day = isUnsure ? ['2024-03-04', '2024-03-05'] : ['2024-03-14', '2024-03-15'];
    const bars: ServedBar[] = [
      [day[0]!, 10, 11, 9, 10.5, one, null],
      [day[1]!, 10.5, 1234.5, 9.5, 10.25, two, null],
    ];
    assert.deepEqual(await vendor.served('stock/US:X', 'DAY'), bars, label);
  }
});

/** Names of columns that say UTC, and times in them. */
const inUtc: readonly (readonly [name: string, time: string])[] = [
  ['time_utc', '2024-03-14 13:30'],
  ['open_utc', '2024-03-14T13:30:00'],
  ['open_time_utc', '14.03.2024 13:30'],
  ['timestamp_utc', '2024-03-14T13:30:00Z'],
  ['timestamp_utc', '2024-03-14T09:30:00-04:00'],
  ['timestamp_utc', '1710423000'],
  ['Timestamp (UTC)', '2024-03-14 1:30 PM'],
  ['UTC time', '20240314 1330'],
];

test('times of a column whose name says UTC are in UTC, also with a zone (contract 11)', async () => {
  for (const [name, time] of inUtc)
    for (const told of [{}, { zone: 'America/New_York' }]) {
      const content = `${name},open,high,low,close\n${time},10,11,9,10.5\n`;
      await vendor.import('a.csv', content, { fields: { ...days, interval: '1M' }, ...told });
      const bars = await vendor.served('stock/US:X', '1M');
      assert.deepEqual(bars, [['2024-03-14T13:30:00+00:00', 10, 11, 9, 10.5, null, null]], `${name} ${time}`);
    }
});

/** Volumes, and what is stored of them. */
const suffixed: readonly (readonly [text: string, volume: number | null])[] = [
  ['1.2M', 1_200_000],
  ['1.2m', 1_200_000],
  ['3K', 3000],
  ['2.5B', 2_500_000_000],
  ['0.1T', 100_000_000_000],
  ['1.2mn', 1_200_000],
  ['1.2mln', 1_200_000],
  ['1.2Mrd', 1_200_000_000],
  ['1.2bn', 1_200_000_000],
  ['1,234.5K', 1_234_500],
  ['$7', 7],
  ['', null],
  ['-', null],
];

test('letters for the size of a volume and signs of currencies are found (contract 11)', async () => {
  const rows = suffixed.map(
    ([volume], day) => `2024-03-${String(day + 1).padStart(2, '0')},$10,$11,$9,$10.5,"${volume}"\n`,
  );
  const content = `Date,Open,High,Low,Close,Volume\n${rows.join('')}`;
  const { map, rowsRefused } = await vendor.import('a.csv', content, {
    fields: { ...days, asset_schema: 'crypto', country_iso_code: 'GLOBAL' },
  });
  assert.deepEqual(map?.volume, { column: 'Volume', thousands: ',', scale: 'suffix' });
  assert.deepEqual(map?.open, { column: 'Open', scale: 'suffix' });
  const bars = await vendor.served('crypto/GLOBAL:X', 'DAY');
  assert.deepEqual([rowsRefused, bars.map((bar) => bar[5])], [0, suffixed.map(([, volume]) => volume)]);
});

test('letters behind a number that are no size of it are refused by a map (contract 11)', async () => {
  const map = vendor.shop.path('sizes.json');
  const columns = { datetime: 'Date', open: 'Open', high: 'High', low: 'Low', close: 'Close' };
  writeFileSync(
    map,
    JSON.stringify({ columns: { ...columns, volume: { column: 'Volume', scale: 'suffix' } } }),
  );
  const sizes = ['1.2mrn', '1.2brn', '1.2brd', '1.2trd', '1.2lots'];
  const rows = sizes.map((volume, day) => `2024-03-0${day + 1},10,11,9,10.5,${volume}\n`);
  const content = `Date,Open,High,Low,Close,Volume\n${rows.join('')}`;
  const { refused } = await vendor.import('a.csv', content, { fields: days, map });
  assert.deepEqual(
    refused.map(({ column, reason, value }) => [column, reason, value]),
    sizes.map((value) => ['Volume', 'is not a number', value]),
  );
});

test('values of economic events may be percents, a volume is none (contract 11)', async () => {
  const lines = ['A,A,2024-03-14T13:30:00Z,0.3%,-1.25 %', 'B,B,2024-03-14T13:30:00Z,−0.3%,1.2bn'];
  const events = ['event_code,event,date,actual,previous', ...lines, ''].join('\n');
  const { map } = await vendor.import('e.csv', events, {
    dataset: 'economic-events',
    fields: { country_iso_code: 'US' },
  });
  assert.deepEqual(map?.actual_value, { column: 'actual', scale: 'suffix' });
  const rows = 'select actual_value, previous_value from economic_events order by event_code';
  assert.deepEqual(
    rowsOf(vendor.url, rows).map((row) => Object.values(row)),
    [
      [0.3, -1.25],
      [-0.3, 1_200_000_000],
    ],
  );
  const bars = 'Date,Open,High,Low,Close,Vol\n2024-03-14,10,11,9,10.5,12%\n';
  const report = await vendor.import('a.csv', bars, { fields: days });
  assert.deepEqual([report.rowsNew, report.ignoredColumns], [1, ['Vol']]);
});

/** Texts whose first line is no header of commas: what is read of them, or what is said. */
const texts: readonly (readonly [what: string, content: string, found: string | RegExp])[] = [
  [
    'a title',
    'X, daily\nDate,Open,High,Low,Close\n2024-03-14,10,11,9,10.5\n',
    'text separated by commas, with a header below 1 line',
  ],
  [
    'a title and a blank line',
    'X\n\nDate;Open;High;Low;Close\n2024-03-14;10;11;9;10,5\n',
    'text separated by ";", with a header below 2 lines',
  ],
  [
    'semicolons, and the fields’ own names',
    'datetime;open;high;low;close\n2024-03-14;10;11;9;10.5\n',
    'text separated by ";", with a header',
  ],
  [
    'semicolons, own names and decimal commas',
    'datetime;open;high;low;close\n2024-03-14;10,0;11,0;9,0;10,5\n',
    'text separated by ";", with a header',
  ],
  [
    'a separator of which nobody can tell the decimals',
    'Date;Open;High;Low;Close\n2024-03-14;1,000;1,100;0,900;1,050\n',
    /may be a number of thousands or one with decimals.*--decimal ,/,
  ],
  [
    'a blank line first',
    '\nDate,Open,High,Low,Close\n2024-03-14,10,11,9,10.5\n',
    'text separated by commas, with a header below 1 line',
  ],
  [
    'semicolons and a column that is missing',
    'Date;Open;High;Low;Foo\n2024-03-14;10;11;9;10.5\n',
    /missing: close\. .*--map FILE with \{"delimiter":";","columns":\{"datetime":"Date",.*"close":"…"\}\}/,
  ],
  ['commas in its texts, and commas', 'Date,Open,High,Low,Close,Note\n2024-03-14,10,11,9,10.5,a;b\n', 'null'],
];

for (const [what, content, found] of texts) {
  test(`a text with ${what} is told, or the message says what to do (contract 11)`, async () => {
    if (typeof found !== 'string')
      return assert.match(await vendor.refusal('a.csv', content, { fields: days }), found);
    const { shape } = await vendor.import('a.csv', content, { fields: days });
    assert.equal(String(shape), found);
    const [bar] = await vendor.served('stock/US:X', 'DAY');
    assert.deepEqual(bar, ['2024-03-14', 10, 11, 9, 10.5, null, null]);
  });
}

test('the report and --explain list each conversion (contract 10, 11)', async () => {
  const { shop } = vendor;
  const lines = ['Datum;Zeit;Open;High;Low;Close;Vol', '14.03.2024;09:30;10,1;11,5;9,0;10,5;1.200', ''];
  writeFileSync(shop.path('c.csv'), lines.join('\n'));
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'X', '--interval', '1M'];
  const call = ['import', 'bars', 'c.csv', ...flags, '--zone', 'America/New_York'];
  const store = ['--store', shop.storeUrl('conversions')];
  const conversions = {
    datetime: 'Datum, join "Zeit", format "%d.%m.%Y %H:%M"',
    ...Object.fromEntries(
      ['Open', 'High', 'Low', 'Close'].map((name) => [
        name.toLowerCase(),
        `${name}, thousands ".", decimal ","`,
      ]),
    ),
    volume: 'Vol, thousands ".", decimal ","',
  };
  const explained = await shop.must(...call, '--explain', ...store);
  for (const [field, how] of Object.entries(conversions))
    assert.match(explained, new RegExp(`\\n {2}${field}: ${RegExp.escape(how)}\\n`));
  const report = JSON.parse(await shop.must(...call, '--json', ...store)) as { conversions: object };
  assert.deepEqual(report.conversions, conversions);
  const again = await shop.must(...call, ...store);
  for (const [field, how] of Object.entries(conversions))
    assert.match(again, new RegExp(`\\n {2}converted: ${field} is ${RegExp.escape(how)}(\\n|$)`));
  // Those of a preset too.
  const klines = '1704067200000,10,12,9,11,71.5,1704070799999,786.5,11,40,440,0\n';
  const binance = await vendor.import('BTCUSDT-1h-2024-01.csv', klines);
  assert.deepEqual(binance.conversions, { vwap: 'made of quote_volume, volume' });
});

test('new instruments of a market that is not built in are told as such (contract 3.7, 11)', async () => {
  const content = `Date,Open,High,Low,Close\n2024-03-14,10,11,9,10.5\n`;
  const marketsOf = async (country: string) => {
    const report = await vendor.import('a.csv', content, { fields: { ...days, country_iso_code: country } });
    return [report.newInstruments, report.unknownMarkets];
  };
  assert.deepEqual(await marketsOf('US'), [1, []]);
  assert.deepEqual(await marketsOf('NG'), [1, ['stock:NG']]);
  writeFileSync(vendor.shop.path('n.csv'), content);
  const flags = ['--schema', 'stock', '--country', 'NG', '--symbol', 'X', '--interval', 'DAY'];
  assert.match(
    await vendor.shop.must('import', 'bars', 'n.csv', ...flags, '--store', vendor.shop.storeUrl('ng')),
    /1 new instrument \(not built in: stock:NG; its days are those of --zone, else of UTC, and its currency/,
  );
});
