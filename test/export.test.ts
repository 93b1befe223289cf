// `bourse export` as its users have it: what is selected, what is written where, and what is refused
// (contract 10).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ownMark } from '../src/base/temporary.ts';
import { csv } from '../src/queries/export/export-table.ts';
import { everything, exportTable } from '../src/queries/export/tables.ts';
import { engineAt, openStore } from '../src/store/engines.ts';
import { parseCsv } from './csv.ts';
import { textOf } from './duckdb.ts';
import { noSmallDisk, SmallDisk } from './reliability/tmpfs.ts';
import { command, type Finished, Workshop } from './service.ts';
import { fileStore } from './sqlite/files.ts';

const shop = new Workshop();
after(() => shop.close());

const head =
  'asset_schema,country_iso_code,symbol,interval,exchange,datetime,open,high,low,close,volume,vwap';
const minute = (symbol: string, datetime: string): string =>
  `stock,US,${symbol},1M,XNAS,${datetime},10,12.5,9,11,100,`;

async function imported(dataset: string, text: string, ...flags: readonly string[]): Promise<string> {
  writeFileSync(shop.path('in.csv'), text);
  return shop.must('import', dataset, shop.path('in.csv'), ...flags);
}

const rows = [
  minute('A', '2025-03-03T14:30:00Z'),
  minute('A', '2025-03-03T20:59:00Z'),
  minute('A', '2025-03-04T14:30:00Z'),
  'stock,US,A,DAY,XNAS,2025-03-03,10,12.5,9,11,0.000000123456789,10.5',
  'stock,US,A,WEEK,XNAS,2025-03-05,10,12.5,9,11,,',
  minute('AB', '2025-03-03T14:30:00Z'),
  'crypto,GLOBAL,A,1M,,2025-03-03T00:00:00Z,10,12.5,9,11,1e21,-0',
];

before(async () => {
  await imported('bars', [head, ...rows, ''].join('\n'));
  const split = [head, minute('OLD', '2010-03-03T14:30:00Z'), ''].join('\n');
  await imported('bars', split, '--prices', 'split');
});

/** Exports to standard output; the cells below the header. */
async function exported(...args: readonly string[]): Promise<(string | null)[][]> {
  const [header, ...found] = parseCsv(`${await shop.must('export', ...args)}\r\n`);
  assert.ok(header!.length > 0);
  return found;
}

test('bars leave as native rows, exact to the last digit, series after series (contract 10, 11, 3.12)', async () => {
  const { status, stdout, stderr } = await shop.run('export', 'bars', '--prices', 'raw');
  assert.equal(status, 0, stderr);
  const expected = [
    ...rows.slice(0, 4).map((row) => row.replace('0.000000123456789', '1.23456789e-7')),
    'stock,US,A,WEEK,XNAS,2025-03-03,10,12.5,9,11,,',
    rows[5]!,
    'crypto,GLOBAL,A,1M,GLOBAL,2025-03-03T00:00:00Z,10,12.5,9,11,1e+21,-0.0',
  ];
  assert.equal(stdout, [head, ...expected, ''].join('\r\n'));
  assert.match(stderr, /^standard output: 7 rows\n {2}Import it again with: bourse import bars FILE\n$/);
});

test('a selection means what it means to bourse delete: dates of minutes are those of the market (contract 2.3)', async () => {
  const one = ['--country', 'us', '--symbol', 'a', '--schema', 'stock'];
  const timesOf = async (...args: readonly string[]) =>
    (await exported('bars', ...one, ...args)).map((cells) => `${cells[3]} ${cells[5]}`);
  const [day, weeks, instants] = await Promise.all([
    timesOf('--from', '2025-03-03', '--to', '2025-03-03', '--interval', '1M'),
    timesOf('--interval', 'week', '--to', '2025-03-03'),
    timesOf('--from', '2025-03-03T14:31:00Z', '--interval', '1m'),
  ]);
  assert.deepEqual(day, ['1M 2025-03-03T14:30:00Z', '1M 2025-03-03T20:59:00Z']);
  assert.deepEqual(weeks, ['WEEK 2025-03-03']);
  assert.deepEqual(instants, ['1M 2025-03-03T20:59:00Z', '1M 2025-03-04T14:30:00Z']);
});

test('prices of several bases are refused with the cure, and a file of one says how it comes back (contract 9.4)', async () => {
  const both = await shop.run('export', 'bars');
  assert.equal(both.status, 2);
  assert.equal(both.stdout, '');
  assert.match(
    both.stderr,
    /several bases.* by --prices raw --volumes raw \(5\), or --prices split --volumes split \(1\)$/m,
  );
  const out = shop.path('split.csv.gz');
  const said = await shop.must('export', 'bars', '--country', 'US', '--symbol', 'OLD', '--out', out);
  assert.match(said, /Import it again with: bourse import bars .*split\.csv\.gz --prices split$/);
  assert.match(gunzipSync(readFileSync(out)).toString(), /\r\nstock,US,OLD,1M,XNAS,2010-03-03T14:30:00Z/);
});

test('volumes of another basis than the prices leave and come back with their flag (contract 9.4)', async () => {
  const own = new Workshop();
  after(() => own.close());
  const day = (symbol: string) => `${head}\nstock,US,${symbol},DAY,,2020-08-28,504,506,498,499,187629916,\n`;
  for (const [symbol, ...flags] of [['A', '--volumes', 'split'], ['B']] as const) {
    writeFileSync(own.path(`${symbol}.csv`), day(symbol));
    await own.must('import', 'bars', `${symbol}.csv`, ...flags);
  }
  const both = await own.run('export', 'bars');
  assert.match(both.stderr, / by --prices raw --volumes split \(1\), or --prices raw --volumes raw \(1\)$/m);
  const only = await own.run('export', 'bars', '--volumes', 'split');
  assert.match(only.stdout, /,A,DAY,/);
  assert.match(only.stderr, /Import it again with: bourse import bars FILE --volumes split$/m);
  const again = await own.run('import', 'bars', 'A.csv');
  assert.equal(again.status, 2);
  assert.match(again.stderr, /with volumes of another basis than raw: give --volumes as they were imported/);
  const { series } = JSON.parse(await own.must('status', '--series', '--json')) as {
    series: readonly { symbol: string; prices: string; volumes: string }[];
  };
  assert.deepEqual(
    series.map(({ symbol, prices, volumes }) => [symbol, prices, volumes]),
    [
      ['A', 'raw', 'split'],
      ['B', 'raw', 'raw'],
    ],
  );
  assert.match(
    await own.must('import', 'bars', 'A.csv', '--explain', '--volumes', 'split'),
    /^ {2}volumes: split$/m,
  );
  writeFileSync(own.path('map.json'), '{"volumes": "split", "columns": {}}');
  await own.must('import', 'bars', 'A.csv', '--map', 'map.json');
  const other = await own.run('import', 'news', 'A.csv', '--volumes', 'raw');
  assert.match(other.stderr, /--volumes does not apply to news: it is for bars/);
});

/** The columns of a Parquet file and their types. */
const typesOf = (path: string): Promise<string> =>
  textOf(`select string_agg(column_name || ' ' || column_type) from (describe select * from '${path}')`);

test('Parquet has real instants of minutes, real dates of days, and text where a file has both (contract 11)', async () => {
  const cases = [
    ['1M', 'TIMESTAMP WITH TIME ZONE'],
    ['DAY', 'DATE'],
    [null, 'VARCHAR'],
  ] as const;
  for (const [interval, type] of cases) {
    const out = shop.path(`${interval}.parquet`);
    const flags = interval === null ? [] : ['--interval', interval];
    await shop.must('export', 'bars', '--prices', 'raw', ...flags, '--out', out);
    const found = await typesOf(out);
    assert.ok(found.includes(`datetime ${type},open DOUBLE,high DOUBLE`), found);
  }
});

test('nothing to export is exit status 1, and makes no file', async () => {
  const out = shop.path('none.csv');
  for (const args of [['news'], ['bars', '--country', 'US', '--prices', 'raw', '--to', '1999-12-31']]) {
    const { status, stdout, stderr } = await shop.run('export', ...args, '--out', out);
    assert.equal(stderr, `bourse: no ${args[0]} to export; no file was made\n`);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.ok(!existsSync(out));
  }
});

test('what is asked for wrongly is told with the cure, exit status 2, and nothing is touched', async () => {
  writeFileSync(shop.path('mine.csv'), 'mine');
  mkdirSync(shop.path('folder.csv'));
  symlinkSync(shop.path('mine.csv'), shop.path('link.csv'));
  const cases: readonly (readonly [args: readonly string[], said: RegExp])[] = [
    [['bars', '--country', 'US', '--symbol', 'AC'], /holds no instrument US:AC; is it AB?\?/],
    [['bars', '--symbol', 'A'], /--symbol A: name its country too, such as --country US/],
    [['bar'], /no dataset bar to export.* is it bars\?/],
    [['instruments', '--interval', '1M'], /--interval does not apply to instruments/],
    [['news', '--from', '2025-03-04', '--to', '2025-03-03'], /--from is after --to/],
    [
      ['corporate-actions', '--from', '2025-01-03T00:00:00+14:00', '--to', '2025-01-02T12:00:00Z'],
      /--from is after --to/,
    ],
    [['bars', '--out', shop.path('x.xlsx')], /must end in \.csv, \.tsv, \.ndjson or \.parquet/],
    [['bars', '--out', shop.path('x.parquet.gz')], /must end in/],
    [['bars', '--out', shop.path('mine.csv')], /mine\.csv exists already: .* --force to replace it/],
    [['bars', '--force', '--out', shop.path('folder.csv')], /folder\.csv is a folder/],
    [['bars', '--force', '--out', shop.path('link.csv')], /link\.csv is a link/],
  ];
  const all = await Promise.all(cases.map(([args]) => shop.run('export', ...args)));
  for (const [at, { status, stdout, stderr }] of all.entries()) {
    assert.match(stderr, cases[at]![1]);
    assert.equal(status, 2, stderr);
    assert.equal(stdout, '');
  }
  assert.equal(readFileSync(shop.path('mine.csv'), 'utf8'), 'mine');
});

test('a store is never replaced by an export of it, whatever its name', async () => {
  const store = fileStore(shop.path('store.csv'));
  writeFileSync(shop.path('one.csv'), `${head}\n${rows[0]}\n`);
  await shop.must('import', 'bars', shop.path('one.csv'), '--store', store);
  const out = ['--out', shop.path('store.csv'), '--force', '--store', store];
  const { status, stderr } = await shop.run('export', 'bars', ...out);
  assert.match(stderr, /belongs to the store itself/);
  assert.equal(status, 2);
});

test('--force replaces a file by the whole new one, and what a killed export left goes', async () => {
  const out = shop.path('again.ndjson');
  writeFileSync(out, 'old');
  const [, namespace] = ownMark.split('.');
  writeFileSync(`${out}.${2 ** 22 + 1}.${namespace}.part`, 'half');
  await shop.must('export', 'bars', '--schema', 'crypto', '--out', out, '--force');
  const { volume, vwap, ...said } = JSON.parse(readFileSync(out, 'utf8')) as Record<string, unknown>;
  assert.equal(volume, 1e21);
  assert.ok(Object.is(vwap, -0));
  assert.equal(said.datetime, '2025-03-03T00:00:00Z');
  assert.deepEqual(
    readdirSync(shop.folder).filter((name) => name.startsWith('again')),
    ['again.ndjson'],
  );
});

/** Rows of each other dataset: two of what is asked for below, and one beside it. */
const others: Readonly<Record<string, readonly string[]>> = {
  news: [
    'published_date,title,publisher_url,asset_name,country_iso_code,symbol',
    '2025-03-03T23:59:59Z,One,https://example.com,stock,US,A',
    '2025-03-02T00:00:00Z,Two,https://example.com,stock,US,A',
    '2025-03-04T00:00:00Z,Late,https://example.com,stock,US,A',
    '2025-03-03T00:00:00Z,Loose,https://example.com,,,',
  ],
  'corporate-actions': [
    'country_iso_code,symbol,action_type,ex_date,cash_amount',
    'US,A,dividend,2025-03-02,1',
    'US,A,dividend,2025-03-03,1',
    'US,A,dividend,2025-03-04,1',
    'US,AB,dividend,2025-03-03,1',
  ],
  'option-contracts': [
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type',
    'A250303C00010000,US,stock,A,10,2025-03-03,call',
    'A250303C00011000,US,stock,A,11,2025-03-03,call',
    'A250304C00011000,US,stock,A,11,2025-03-04,call',
    'AB250303C00011000,US,stock,AB,11,2025-03-03,call',
  ],
  holidays: [
    'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template',
    'One,HOLIDAY_ONE,2025-03-02,stock,US,A,CLOSED',
    'Two,HOLIDAY_ONE,2025-03-03,stock,US,A,CLOSED',
    'Late,HOLIDAY_ONE,2025-03-04,stock,US,A,CLOSED',
    'All,HOLIDAY_ONE,2025-03-03,stock,US,*,CLOSED',
  ],
  'economic-events': [
    'country_iso_code,event_code,event_name,event_timestamp,importance',
    'US,CPI,One,2025-03-02T00:00:00Z,3',
    'US,CPI,Two,2025-03-03T23:59:59Z,',
    'US,CPI,Late,2025-03-04T00:00:00Z,1',
    'UK,CPI,Elsewhere,2025-03-03T00:00:00Z,1',
  ],
  'economic-event-codes': [
    'country_iso_code,event_code,description',
    'US,X,One',
    'US,Y,Two',
    'UK,X,Elsewhere',
  ],
};

test('rows of every other dataset are selected by instrument and by their own time (contract 2.2, 10)', async () => {
  for (const [dataset, lines] of Object.entries(others)) await imported(dataset, `${lines.join('\n')}\n`);
  const range = ['--from', '2025-03-02', '--to', '2025-03-03'];
  const one = ['--schema', 'stock', '--symbol', 'A'];
  const counts = await Promise.all(
    Object.keys(others).map(async (dataset) => {
      const flags = dataset.startsWith('economic') ? [] : one;
      const times = dataset === 'economic-event-codes' ? [] : range;
      return `${dataset} ${(await exported(dataset, '--country', 'US', ...flags, ...times)).length}`;
    }),
  );
  assert.deepEqual(
    counts,
    Object.keys(others).map((dataset) => `${dataset} 2`),
  );
  const whole = ['--country', 'US', '--symbol', 'A'];
  assert.equal((await exported('news', ...whole)).length, 3, 'of any asset type');
  // On dates a bound counts by its date as it was written.
  const sameDay = ['--from', '2025-03-02T23:00:00', '--to', '2025-03-02T01:00:00'];
  assert.equal((await exported('corporate-actions', '--country', 'US', ...sameDay)).length, 1);
  const market = await exported('holidays', '--country', 'US', '--symbol', '*');
  assert.deepEqual(
    market.map(([name]) => name),
    ['All'],
  );
  const events = await exported('economic-events', '--country', 'US', ...range);
  assert.deepEqual(events[0]!.slice(0, 7), ['US', 'CPI', 'One', '2025-03-02T00:00:00Z', null, '3', 'high']);
});

test('an export is one state of the store: what is imported meanwhile is not in it', async () => {
  const store = await openStore(shop.store, 'read');
  try {
    const text = await store.snapshot(async (reader) => {
      const table = await exportTable(reader, 'bars', { ...everything, basis: 'raw' });
      await imported('bars', [head, minute('ZZZ', '2025-03-03T14:30:00Z'), ''].join('\n'));
      const pieces = [];
      for await (const lines of table.lines(csv)) pieces.push(lines.text);
      return pieces.join('');
    });
    assert.equal(text.split('\r\n').length - 1, rows.length);
    assert.ok(!text.includes('ZZZ'));
  } finally {
    await store.close();
  }
});

/** The flags with which an export says that its file is imported. */
const flagsIn = (said: string): string[] =>
  /Import it again with: bourse import \S+ \S+ ?(.*)/.exec(said)![1]!.split(' ');

test('rows of an instrument stand under its present symbol on all days, and --symbols now finds it again (contract 9.6)', async () => {
  const former = new Workshop();
  const rows = {
    bars: `${head}\n${minute('@', '2021-07-01T14:30:00Z')}\n`,
    'corporate-actions':
      'country_iso_code,symbol,ex_date,action_type,cash_amount\nUS,@,2021-07-01,dividend,1\n',
    news: 'published_date,title,publisher_url,asset_name,country_iso_code,symbol\n2021-07-01T12:00:00Z,x,https://example.com/x,stock,US,@\n',
    holidays:
      'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template\nx,HOLIDAY_X,2021-07-01,stock,US,@,CLOSED\n',
    'option-contracts':
      'symbol,parent_asset_schema,country_iso_code,underlying_name,expiration_date,option_type,strike_price\n@210701C00001000,stock,US,@,2021-07-01,call,1\n',
  };
  try {
    // AA and BB had each other's symbol; of the two that had BB in July, CC came later.
    const names = [
      'asset_schema,country_iso_code,symbol,former_symbols',
      'stock,US,META,FB:2012-05-18..2022-06-08',
      'stock,US,METV,META:2021-06-30..2022-01-31',
      'stock,US,AA,BB:2020-01-01..2021-12-31',
      'stock,US,BB,AA:2020-01-01..2021-12-31',
      'stock,US,CC,BB:2020-06-01..2021-12-31',
    ];
    writeFileSync(former.path('names.csv'), `${names.join('\n')}\n`);
    const copy = former.storeUrl('copy');
    for (const store of [former.store, copy])
      await former.must('import', 'instruments', former.path('names.csv'), '--store', store);
    for (const [dataset, text] of Object.entries(rows)) {
      const out = former.path(`${dataset}.csv`);
      const [header, row] = text.split('\n') as [string, string];
      for (const [symbols, ...flags] of [
        ['FB META AA', '--symbols', 'then'],
        ['BB', '--symbols', 'now'],
      ]) {
        const lines = symbols!.split(' ').map((symbol) => row.replaceAll('@', symbol));
        writeFileSync(former.path('in.csv'), `${[header, ...lines].join('\n')}\n`);
        await former.must('import', dataset, former.path('in.csv'), ...flags);
      }
      const flags = flagsIn(await former.must('export', dataset, '--out', out));
      assert.deepEqual(flags, ['--symbols', 'now'], dataset);
      const [columns, ...found] = parseCsv(readFileSync(out, 'utf8'));
      const at = columns!.indexOf(dataset === 'option-contracts' ? 'underlying_name' : 'symbol');
      // The row of AA is of BB, as is the one of BB: it is the same row but for contracts, which have symbols
      // of their own.
      const held = new Set(found.map((cells) => cells[at]));
      assert.deepEqual(held, new Set(['META', 'METV', 'BB']), dataset);
      await former.must('import', dataset, out, ...flags, '--store', copy);
      const again = former.path(`${dataset}-again.csv`);
      await former.must('export', dataset, '--out', again, '--store', copy);
      assert.equal(readFileSync(again, 'utf8'), readFileSync(out, 'utf8'), dataset);
    }
  } finally {
    former.close();
  }
});

test('who reads standard output may have had enough: that is no fault', async () => {
  const script = `"${command}" export bars --prices raw | head -c 10; exit "\${PIPESTATUS[0]}"`;
  const child = spawn('bash', ['-c', script], { env: { ...process.env, BOURSE_STORE: shop.store } });
  let said = '';
  child.stderr.on('data', (piece) => {
    said += piece;
  });
  const status = await new Promise((resolve) => child.once('exit', resolve));
  assert.equal(status, 0, said);
});

const skip = noSmallDisk();

test('a full disk and a closed folder are told, exit status 3, and leave nothing (contract 10)', {
  skip,
}, async () => {
  const bars = Array.from({ length: 20_000 }, (_, at) =>
    minute('BIG', new Date(Date.UTC(2024, 0, 2, 14, 30) + at * 60_000).toISOString()),
  );
  await imported('bars', [head, ...bars, ''].join('\n'));
  const disk = new SmallDisk(256 * 1024);
  try {
    const ask = (name: string): Promise<Finished> =>
      shop.run('export', 'bars', '--country', 'US', '--symbol', 'BIG', '--out', disk.path(name));
    for (const name of ['x.csv', 'x.parquet']) {
      const { status, stdout, stderr } = await ask(name);
      assert.match(stderr, new RegExp(`^bourse: the disk of ${disk.folder} has [\\d,]+ bytes free, .*\n$`));
      assert.equal(status, 3);
      assert.equal(stdout, '');
      assert.deepEqual(readdirSync(disk.folder), []);
    }
    disk.makeReadOnly();
    const closed = await ask('x.csv');
    assert.match(closed.stderr, /the folder .* cannot be used: its disk is read-only; name another/);
    assert.equal(closed.status, 3);
    const nowhere = await shop.run('export', 'bars', '--prices', 'raw', '--out', shop.path('no/such/x.csv'));
    assert.match(nowhere.stderr, /the folder .*no\/such cannot be used/);
    assert.equal(nowhere.status, 3);
  } finally {
    disk.close();
  }
  assert.ok(await engineAt(shop.store).isMade());
});
