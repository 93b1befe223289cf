// The end of a bar that its datetime names: weeks dated Sunday, and minutes labelled by their close (contract
// 3.6, 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';
import { barsOf } from './stored.ts';
import { rowsOf } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());

type Report = {
  readonly rowsNew: number;
  readonly rowsUnchanged: number;
  readonly rowsRefused: number;
  readonly refused: readonly { readonly row: number; readonly reason: string }[];
  readonly findings: Readonly<Record<string, number>>;
};

let stores = 0;

/** Imports rows into a store of their own, or that of `url`; the report, and the keys that are stored. */
async function imported(
  market: string,
  interval: string,
  times: readonly string[],
  flags: readonly string[] = [],
  url = shop.storeUrl(`labels${++stores}`),
): Promise<{ report: Report; keys: string[]; url: string }> {
  const [schema = '', country = ''] = market.split(':');
  writeFileSync(
    shop.path('rows.csv'),
    ['datetime,open,high,low,close', ...times.map((at) => `${at},1,1,1,1`), ''].join('\n'),
  );
  const about = ['--schema', schema, '--country', country, '--symbol', 'A', '--interval', interval];
  const { stdout, stderr } = await shop.run(
    ...['import', 'bars', 'rows.csv', '--json', '--no-check', '--store', url, ...about, ...flags],
  );
  assert.notEqual(stdout, '', stderr);
  const keys = Object.values(barsOf(url)).flatMap((bars) => bars.map(([key]) => key));
  return { report: JSON.parse(stdout) as Report, keys, url };
}

const weeks = (keys: readonly string[]): string[] => keys.map((key) => key.slice(0, 10));
const ends =
  'of weeks dated Sunday, stored as the week that ends with it (--label open: as the week that begins the day after)';
const begins =
  'of weeks dated Sunday, stored as the week that begins the day after (--label close: as the week that ends with it)';

const markets = [
  'stock:US',
  'stock:JP',
  'future:US',
  'forex:GLOBAL',
  'crypto:GLOBAL',
  'option:US',
  'stock:ZZ',
];

/** Sundays, written in each way, from 2024-01-07 on. */
const sundays = [
  '2024-01-07',
  '2024-01-14T00:00:00Z',
  '2024-01-21 00:00:00+02:00',
  '2024-01-28 00:00:00-05:00',
  String(Date.parse('2024-02-04') / 1000),
];

test('a WEEK row dated Sunday is of the week that ends with it, with --label open of the next one, and the report says which (contract 3.6)', async () => {
  const mondays = ['2024-01-01', '2024-01-08', '2024-01-15', '2024-01-22', '2024-01-29', '2024-02-05'];
  for (const market of markets)
    for (const [flags, expected, found] of [
      [[], mondays.slice(0, -1), ends],
      [['--label', 'close'], mondays.slice(0, -1), ends],
      [['--label', 'open'], mondays.slice(1), begins],
    ] as const) {
      const { report, keys } = await imported(market, 'WEEK', sundays, flags);
      assert.deepEqual(
        [weeks(keys), report.findings],
        [expected, { [found]: 5 }],
        `${market} ${flags.join(' ')}`,
      );
    }
});

test('other dates of a week, and months dated Sunday, have one meaning (contract 3.6)', async () => {
  for (const flags of [[], ['--label', 'open']]) {
    const week = await imported('stock:US', 'WEEK', ['2024-01-01', '2024-01-12', '2024-01-20'], flags);
    assert.deepEqual(
      [weeks(week.keys), week.report.findings],
      [['2024-01-01', '2024-01-08', '2024-01-15'], {}],
    );
    const month = await imported('stock:US', 'MON', ['2024-01-07', '2024-02-29', '2024-03-31'], flags);
    assert.deepEqual(
      [weeks(month.keys), month.report.findings],
      [['2024-01-01', '2024-02-01', '2024-03-01'], {}],
    );
  }
});

test('an instant of a Sunday evening on which forex or futures open is of the session of Monday, and of its week (contract 3.7, 3.10)', async () => {
  for (const [market, at] of [
    ['forex:GLOBAL', '2024-01-07T22:00:00Z'],
    ['future:US', '2024-01-07T23:00:00Z'],
  ] as const)
    for (const flags of [[], ['--label', 'open']]) {
      const { report, keys } = await imported(market, 'WEEK', [at], flags);
      assert.deepEqual([weeks(keys), report.findings], [['2024-01-08'], {}], market);
    }
  // Before that hour the week has not opened: the date counts.
  const early = await imported('forex:GLOBAL', 'WEEK', ['2024-01-07T21:00:00Z'], ['--label', 'open']);
  assert.deepEqual([weeks(early.keys), early.report.findings], [['2024-01-08'], { [begins]: 1 }]);
});

test('rows of weeks dated Sunday are counted where they are stored, and again where they are known (contract 3.6)', async () => {
  const rows = ['2024-01-07', '2024-01-14', '2024-01-19', '2024-01-21T25:00'];
  const { report, url } = await imported('stock:US', 'WEEK', rows);
  assert.deepEqual([report.rowsNew, report.rowsRefused, report.findings], [3, 1, { [ends]: 2 }]);
  const again = await imported('stock:US', 'WEEK', rows, [], url);
  assert.deepEqual([again.report.rowsUnchanged, again.report.findings], [3, { [ends]: 2 }]);
  // Two rows of one week: the Sunday of one meaning is the Monday of the other.
  const both = await imported('stock:US', 'WEEK', ['2024-02-04', '2024-02-05'], ['--label', 'open']);
  assert.deepEqual([weeks(both.keys), both.report.rowsRefused], [['2024-02-05'], 0]);
});

test('minutes labelled by their close are stored under the open of the cell that closes then, or refused (contract 11)', async () => {
  const close = ['--label', 'close'];
  const hours = await imported(
    'stock:US',
    '60M',
    ['2024-01-02T15:30:00Z', '2024-01-02T21:00:00Z', '2024-01-02T16:00:00Z'],
    close,
  );
  // The last hour is cut at the close of the session; 16:00 closes no cell.
  assert.deepEqual(hours.keys, ['2024-01-02T14:30', '2024-01-02T20:30']);
  assert.deepEqual(
    hours.report.refused.map(({ row }) => row),
    [3],
  );
  assert.match(hours.report.refused[0]!.reason, /is not the close of a bar of 60M .*--label close/);
  const minutes = await imported(
    'stock:US',
    '1M',
    ['2024-01-02T14:31:00Z', '2024-01-02T14:30:00Z', '2024-01-02T05:00:00Z'],
    close,
  );
  // 14:30 closes the last minute of the pre-market.
  assert.deepEqual(minutes.keys, ['2024-01-02T14:29', '2024-01-02T14:30']);
  assert.deepEqual(
    minutes.report.refused.map(({ row }) => row),
    [3],
  );
  // An early close, a lunch break, and a doubled hour.
  const early = await imported('stock:US', '60M', ['2024-11-29T18:00:00Z'], close);
  assert.deepEqual(early.keys, ['2024-11-29T17:30']);
  const lunch = await imported('stock:JP', '60M', ['2024-01-04T02:30:00Z', '2024-01-04T04:30:00Z'], close);
  assert.deepEqual(lunch.keys, ['2024-01-04T02:00', '2024-01-04T03:30']);
  const local = ['00:00', '01:00', '01:00', '02:00'].map((at) => `2024-11-03 ${at}:00`);
  const doubled = await imported('crypto:GLOBAL', '60M', local, [...close, '--zone', 'America/New_York']);
  const opens = ['2024-11-03T03:00', '2024-11-03T04:00', '2024-11-03T05:00', '2024-11-03T06:00'];
  assert.deepEqual(doubled.keys, opens);
});

test('--explain shows the rows as they would be stored; a mapping file may have the label, and the flag wins (contract 3.6, 11)', async () => {
  writeFileSync(shop.path('week.csv'), 'when,open,high,low,close\n2024-01-07,1,1,1,1\n');
  writeFileSync(shop.path('label.json'), '{"columns": {"datetime": "when"}, "label": "open"}');
  const about = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', 'WEEK'];
  const explained = await shop.must(
    'import',
    'bars',
    'week.csv',
    ...about,
    '--map',
    'label.json',
    '--explain',
  );
  assert.match(explained, /label: open\n.*2024-01-08/s);
  const flagged = await shop.must(
    'import',
    'bars',
    'week.csv',
    ...about,
    '--map',
    'label.json',
    '--label',
    'close',
    '--explain',
  );
  assert.match(flagged, /label: close\n.*2024-01-01/s);
  writeFileSync(shop.path('hour.csv'), 'time,open,high,low,close\n2024-01-02T15:30:00Z,1,1,1,1\n');
  const hour = await shop.must(
    ...['import', 'bars', 'hour.csv', '--label', 'close', '--explain', '--write-map', 'close.json'],
    ...about.with(-1, '60M'),
  );
  assert.match(hour, /2024-01-02T14:30:00Z/);
  assert.match(
    await shop.must(
      'import',
      'bars',
      'hour.csv',
      '--map',
      'close.json',
      '--no-check',
      '--store',
      shop.storeUrl('mapped'),
    ),
    /1 new/,
  );
  assert.deepEqual(
    Object.values(barsOf(shop.storeUrl('mapped')))
      .flat()
      .map(([key]) => key),
    ['2024-01-02T14:30'],
  );
  const wrong = await shop.run('import', 'news', 'week.csv', '--label', 'open');
  assert.deepEqual(
    [wrong.status, /--label does not apply to news: it is for bars/.test(wrong.stderr)],
    [2, true],
  );
});

test('a bar that closes at midnight attaches by the day before (contract 9.6, 11)', async () => {
  writeFileSync(
    shop.path('coins.csv'),
    'asset_schema,country_iso_code,symbol,former_symbols\ncrypto,GLOBAL,NEW,A:2024-01-01..2024-01-01\n',
  );
  const url = shop.storeUrl('midnight');
  await shop.must('import', 'instruments', 'coins.csv', '--store', url);
  const closes = ['2024-01-02T00:00:00Z', '2024-01-02T01:00:00Z'];
  await imported('crypto:GLOBAL', '60M', closes, ['--label', 'close'], url);
  const held = Object.entries(barsOf(url)).map(([name, bars]) => [name, bars.map(([key]) => key)]);
  assert.deepEqual(held, [
    ['crypto:GLOBAL:A:60M', ['2024-01-02T00:00']],
    ['crypto:GLOBAL:NEW:60M', ['2024-01-01T23:00']],
  ]);
});

/** The days that are served of `A`: session dates and volumes. */
async function days(url: string, name: string): Promise<string[]> {
  const path = `/api/v2/${name}/DAY/from/2024-01-01/to/2024-12-31?format=csv&session_date=true`;
  const lines = (await shop.must('query', path, '--store', url)).trim().split(/\r?\n/).slice(1);
  return lines.map((line) => line.split(',').slice(5, 6).join());
}

const stored = (url: string) => rowsOf(url, 'select time_zone from instruments')[0]!.time_zone;

test('the zone of an import is that of the instruments it makes in a market that is not built in, and of no other (contract 11)', async () => {
  const auckland = ['--zone', 'Pacific/Auckland'];
  const minutes = (day: string, from = 10): string[] =>
    Array.from({ length: 7 - (from - 10) }, (_, at) => `2024-03-${day} ${from + at}:00:00`);
  const two = [...minutes('13'), ...minutes('14')];
  const made = await imported('stock:NZ', '60M', two, auckland);
  assert.equal(stored(made.url), 'Pacific/Auckland');
  // Midnight of Auckland is 11:00 UTC of the day before.
  assert.deepEqual(await days(made.url, 'stock/bars/NZ:A'), [
    '2024-03-12T11:00:00+00:00',
    '2024-03-13T11:00:00+00:00',
  ]);
  // A file that begins later on its first day than on the next began in the middle of it.
  const late = await imported('stock:NZ', '60M', [...minutes('13', 12), ...minutes('14')], auckland);
  assert.deepEqual(await days(late.url, 'stock/bars/NZ:A'), ['2024-03-13T11:00:00+00:00']);
  const instants = await imported(
    'future:JP',
    'DAY',
    ['2021-06-02T23:45:00Z', '2021-06-03T23:45:00Z'],
    ['--zone', 'Asia/Tokyo'],
  );
  assert.deepEqual(weeks(instants.keys), ['2021-06-03', '2021-06-04']);
  const known = await imported('stock:US', '60M', two.slice(0, 1), auckland);
  assert.equal(stored(known.url), null, 'the market has its own zone');
  const before = await imported('stock:NZ', '60M', ['2024-03-13T00:00:00Z']);
  await imported('stock:NZ', '60M', two, auckland, before.url);
  assert.equal(stored(before.url), null, 'an instrument that is stored keeps what it has');
});

test('midnight as written is a date, whatever its offset; another time is of its session, else of its local date (contract 3.10)', async () => {
  for (const [market, at, key, flags] of [
    ['stock:US', '2024-03-04T00:00:00Z', '2024-03-04', []],
    ['stock:SE', '2024-03-04T00:00:00+01:00', '2024-03-04', []],
    ['stock:SE', '2024-03-04 00:00:00-05:00', '2024-03-04', []],
    ['stock:NZ', '2024-03-04T00:00:00+13:00', '2024-03-04', ['--zone', 'Pacific/Auckland']],
    ['stock:NZ', '1709510400', '2024-03-04', ['--zone', 'Pacific/Auckland']],
    ['stock:NZ', '1709510400000', '2024-03-04', []],
    ['future:JP', '2021-06-02T23:45:00Z', '2021-06-03', ['--zone', 'Asia/Tokyo']],
    ['stock:US', '2024-03-04T14:30:00Z', '2024-03-04', []],
    ['forex:GLOBAL', '2024-03-03T22:00:00Z', '2024-03-04', []],
    ['crypto:GLOBAL', '2024-03-03T23:59:00Z', '2024-03-03', []],
  ] as const)
    assert.deepEqual(weeks((await imported(market, 'DAY', [at], flags)).keys), [key], `${market} ${at}`);
});

test('the order of the rows tells the readings of a doubled hour, newest first too (contract 2.5)', async () => {
  const ascending = ['00:30', '01:00', '01:30', '01:00', '01:30', '02:00'];
  const instants = ['04:30', '05:00', '05:30', '06:00', '06:30', '07:00'].map((at) => `2024-11-03T${at}`);
  const zone = ['--zone', 'America/New_York'];
  const local = (some: readonly string[]) => some.map((at) => `2024-11-03 ${at}:00`);
  for (const clocks of [ascending, ascending.toReversed()]) {
    const { keys, report } = await imported('crypto:GLOBAL', '30M', local(clocks), zone);
    assert.deepEqual([keys.toSorted(), report.rowsRefused], [instants, 0], clocks.join(' '));
  }
  // Rows in no order tell nothing: 02:00 after 02:30 may begin another part of the file.
  const mixed = ['02:30', '03:00', '01:30'];
  assert.equal((await imported('crypto:GLOBAL', '30M', local(mixed), zone)).report.rowsRefused, 1);
});
