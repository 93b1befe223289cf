// `bourse status` as its users have it: numbers known from the files that were imported (contract 10).
import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { newestLayout, storeHistory } from '../src/store/migrations/index.ts';
import { Workshop } from './service.ts';
import { fileStore, storeFile } from './sqlite/files.ts';
import { alterStore, testOfSqlite, zeroBytes } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());

const DAY_MS = 86_400_000;
const firstMs = Date.UTC(2025, 2, 3, 15);
const instant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
const header = 'open,high,low,close,volume';

function write(name: string, ...lines: readonly string[]): string {
  writeFileSync(shop.path(name), `${lines.join('\n')}\n`);
  return name;
}

before(async () => {
  const stock = ['--schema', 'stock', '--country', 'US'];
  const runs = Array.from({ length: 11 }, (_, run) =>
    write(
      `run-${run}.csv`,
      `datetime,${header}`,
      ...[run, run + 1].map((day) => `${instant(firstMs + day * DAY_MS)},10,12,9,11,100`),
    ),
  );
  await shop.must('import', 'bars', ...runs, ...stock, '--symbol', 'B', '--interval', '1M');
  const days = ['A,2024-12-31', 'B,2025-01-02', 'B,2025-01-03'].map((day) => `${day},1,1,1,1,1`);
  write('days.csv', `symbol,datetime,${header}`, ...days);
  await shop.must('import', 'bars', 'days.csv', ...stock, '--interval', 'DAY', '--prices', 'split');
  write('names.csv', 'symbol,name', 'BTC,Bitcoin', 'ETH,Ether');
  await shop.must('import', 'instruments', 'names.csv', '--schema', 'crypto', '--country', 'GLOBAL');
});
test('counts what was imported, whole and by market and interval (contract 10)', async () => {
  const status = JSON.parse(await shop.must('status', '--series', '--json'));
  // One for each command: files that are imported together are one write.
  assert.equal(status.data_version, 3);
  assert.equal(status.layout, newestLayout(storeHistory));
  assert.deepEqual(status.totals, { instruments: 4, series: 3, bars: 15 });
  const market = { asset_schema: 'stock', country_iso_code: 'US' };
  const [first, last] = [instant(firstMs), instant(firstMs + 11 * DAY_MS)];
  assert.deepEqual(status.markets, [
    {
      asset_schema: 'crypto',
      country_iso_code: 'GLOBAL',
      instruments: 2,
      series: 0,
      bars: 0,
      intervals: [],
    },
    {
      ...market,
      instruments: 2,
      series: 3,
      bars: 15,
      intervals: [
        { interval: '1M', series: 1, bars: 12, first, last },
        { interval: 'DAY', series: 2, bars: 3, first: '2024-12-31', last: '2025-01-03' },
      ],
    },
  ]);
  assert.deepEqual(status.series, [
    {
      ...market,
      symbol: 'A',
      interval: 'DAY',
      bars: 1,
      first: '2024-12-31',
      last: '2024-12-31',
      prices: 'split',
      volumes: 'split',
    },
    { ...market, symbol: 'B', interval: '1M', bars: 12, first, last, prices: 'raw', volumes: 'raw' },
    {
      ...market,
      symbol: 'B',
      interval: 'DAY',
      bars: 2,
      first: '2025-01-02',
      last: '2025-01-03',
      prices: 'split',
      volumes: 'split',
    },
  ]);
});

test('counts the rows of every other dataset, with the time that they span (contract 10)', async () => {
  const files: Readonly<Record<string, readonly string[]>> = {
    'corporate-actions': [
      'country_iso_code,symbol,action_type,ex_date,cash_amount',
      'US,A,dividend,2024-02-09,0.1',
      'US,B,dividend,2020-05-08,0.1',
    ],
    news: [
      'published_date,title,publisher_url',
      '2025-03-03T12:00:00Z,One,https://example.com/1',
      '2025-03-01T12:00:00Z,Two,https://example.com/2',
      '2025-03-02T12:00:00Z,Three,https://example.com/3',
    ],
    'option-contracts': [
      'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type',
      'B250919C00010000,US,stock,B,10,2025-09-19,call',
      'A250620P00010000,US,stock,A,10,2025-06-20,put',
    ],
    holidays: [
      'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template',
      'Flood,HOLIDAY_FLOOD,2025-03-05,stock,US,*,CLOSED',
    ],
    'economic-events': [
      'country_iso_code,event_code,event_name,event_timestamp',
      'US,EMPLOYMENT_NFP_HEADLINE,Payrolls,2025-03-07T13:30:00Z',
      'US,EMPLOYMENT_NFP_HEADLINE,Payrolls,2025-02-07T13:30:00Z',
    ],
    'economic-event-codes': ['country_iso_code,event_code,description', 'US,OWN_CODE,Ours'],
  };
  const none = JSON.parse(await shop.must('status', '--json')).datasets;
  assert.deepEqual(
    none,
    Object.keys(files).map((dataset) => ({ dataset, rows: 0, first: null, last: null })),
  );
  const other = new Workshop();
  for (const [dataset, lines] of Object.entries(files)) {
    writeFileSync(other.path('rows.csv'), `${lines.join('\n')}\n`);
    await other.must('import', dataset, 'rows.csv');
  }
  const status = JSON.parse(await other.must('status', '--json'));
  assert.deepEqual(status.datasets.map(Object.values), [
    ['corporate-actions', 2, '2020-05-08', '2024-02-09'],
    ['news', 3, '2025-03-01T12:00:00+00:00', '2025-03-03T12:00:00+00:00'],
    ['option-contracts', 2, '2025-06-20', '2025-09-19'],
    ['holidays', 1, '2025-03-05', '2025-03-05'],
    ['economic-events', 2, '2025-02-07T13:30:00+00:00', '2025-03-07T13:30:00+00:00'],
    ['economic-event-codes', 1, null, null],
  ]);
  assert.deepEqual(
    status.markets.map(Object.values),
    ['option', 'stock'].map((schema) => [schema, 'US', 2, 0, 0, []]),
  );
  const printed = await other.must('status');
  assert.match(printed, /^corporate-actions +2 +2020-05-08 +2024-02-09$/m);
  assert.match(printed, /^economic-event-codes +1$/m);
  assert.doesNotMatch(await shop.must('status'), /^news/m);
  other.close();
});

test('names the ten newest imports, newest first', async () => {
  const status = JSON.parse(await shop.must('status', '--json'));
  assert.deepEqual(
    status.runs.map((run: { run_id: number; file: string }) => [run.run_id, run.file]),
    [
      [13, 'names.csv'],
      [12, 'days.csv'],
      ...Array.from({ length: 8 }, (_, at) => [11 - at, `run-${10 - at}.csv`]),
    ],
  );
  const { rows_read, rows_written, rows_unchanged, rows_refused } = status.runs[2];
  assert.deepEqual([rows_read, rows_written, rows_unchanged, rows_refused], [2, 1, 1, 0]);
  assert.equal(status.series, undefined);
});

testOfSqlite('names the files with their sizes', async () => {
  const { files } = JSON.parse(await shop.must('status', '--json'));
  const data = files.find((file: { what: string }) => file.what === 'data');
  assert.equal(data.bytes, statSync(storeFile(shop.store)).size);
});

test('prints tables for a person', async () => {
  const printed = await shop.must('status', '--series');
  assert.match(printed, /^bars +15$/m);
  assert.match(printed, /^stock +US +1M +1 +12 +2025-03-03T15:00:00\+00:00 +2025-03-14T15:00:00\+00:00$/m);
  assert.match(printed, /^stock +US +A +DAY +1 +2024-12-31 +2024-12-31 +split +split$/m);
  assert.match(printed, /^ *13 +import +instruments +names\.csv +2 +2 +0 +0 /m);
});

test('reads no bar, so that a big store is told as fast as a small one', async () => {
  const before = await shop.must('status', '--series', '--json');
  alterStore(shop.store, `update bar_blocks set bytes = ${zeroBytes(1)}`);
  // The size of a database counts the stores of other tests too.
  const { runs: _, files: __, server: ___, ...told } = JSON.parse(before);
  const after = JSON.parse(await shop.must('status', '--series', '--json'));
  for (const name of Object.keys(told)) assert.deepEqual(after[name], told[name], name);
});

test('makes no store where there is none', async () => {
  const finished = await shop.run('status', '--store', fileStore(shop.path('none/x.db')));
  assert.equal(finished.status, 3);
  assert.equal(finished.stdout, '');
  assert.match(
    finished.stderr,
    /^bourse: there is no store at .*x\.db: bourse import or bourse serve makes one\n$/,
  );
  assert.ok(!existsSync(shop.path('none')));
});
