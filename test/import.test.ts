// `bourse import` as its users have it: what files and flags it refuses, what is then in the store, and what
// is then served (contract 3, 10, 11).
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { importFile } from '../src/imports/load/importers.ts';
import { openStore } from '../src/store/engines.ts';
import { opened } from './importing.ts';
import { type Server, Workshop } from './service.ts';
import { fileStore } from './sqlite/files.ts';
import { barsOf } from './stored.ts';
import { contentOf, copyStore, rowsOf } from './stores.ts';

const shop = new Workshop();
const seed = new Workshop();
after(() => {
  shop.close();
  seed.close();
});

const header = 'datetime,open,high,low,close,volume';
const values = '10,12,9,11,100';
const clockOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}:00Z`;
const openMs = Date.UTC(2024, 0, 2, 14, 30);
const minute = (at: number, rest = values): string => `${clockOf(openMs + at * 60_000)},${rest}`;
const csvOf = (...lines: readonly string[]): string => `${lines.join('\n')}\n`;
const flagsOfA = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];

before(async () => {
  writeFileSync(seed.path('seed.csv'), csvOf(header, minute(0), minute(1), minute(2)));
  await seed.must('import', 'bars', 'seed.csv', ...flagsOfA);
});

let cases = 0;

/** A store of its own with the seed in it. */
function freshStore(): string {
  const url = seed.storeUrl(String(++cases));
  copyStore(seed.store, url);
  return url;
}

type Problem = {
  readonly what: string;
  readonly status: 1 | 2;
  readonly says: RegExp;
  /** What is in the file; the name of one that is not made. */
  readonly content?: string | Buffer;
  readonly name?: string;
  readonly flags?: readonly string[];
  readonly dataset?: string;
};

const good = csvOf(header, minute(3), minute(4));
const lines = Array.from({ length: 3000 }, (_, at) => minute(at));
const zipped = gzipSync(csvOf(header, ...lines));
const broken = Buffer.from(zipped);
broken[broken.length >> 1] = broken[broken.length >> 1]! ^ 0xff;
const wrongSum = Buffer.from(zipped);
wrongSum[wrongSum.length - 6] = wrongSum[wrongSum.length - 6]! ^ 0xff;

const problems: readonly Problem[] = [
  // What was asked for cannot be.
  { what: 'no such file', status: 2, name: 'none.csv', says: /none\.csv: there is no such file/ },
  { what: 'a folder', status: 2, name: '.', says: /is a folder/ },
  {
    what: 'a missing column',
    status: 2,
    content: csvOf('datetime,open,high,low,clsoe', minute(3)),
    says: /missing: close\. .*"close":"clsoe"/,
  },
  {
    what: 'no name of a series',
    status: 2,
    content: good,
    flags: ['--schema', 'stock', '--country', 'US'],
    says: /missing: symbol, interval\. .*give it as a flag: --symbol, --interval/,
  },
  {
    what: 'times without an offset and no zone',
    status: 2,
    content: csvOf(header, minute(3), `2024-01-02 09:34:00,${values}`),
    says: /no offset.*--zone America\/New_York/,
  },
  {
    what: 'an unknown dataset',
    status: 2,
    dataset: 'bras',
    content: good,
    says: /no dataset bras.*is it bars\?/,
  },
  {
    what: 'an unknown zone',
    status: 2,
    content: good,
    flags: [...flagsOfA, '--zone', 'America/NewYork'],
    says: /--zone America\/NewYork.*is it America\/New_York\?/,
  },
  ...(
    [
      ['--schema', 'bond'],
      ['--country', 'USA'],
      ['--symbol', 'A B'],
      ['--interval', '7X'],
      ['--prices', 'adjusted'],
      ['--allow-rejects', 'some'],
      ['--map', 'none.json'],
    ] as const
  ).map(([flag, value]) => ({
    what: `${flag} ${value}`,
    status: 2 as const,
    content: good,
    flags: [...flagsOfA, flag, value],
    says: new RegExp(`${flag}.*${value}`),
  })),
  {
    what: 'an unknown flag',
    status: 2,
    content: good,
    flags: [...flagsOfA, '--simbol', 'B'],
    says: /--simbol[\s\S]*--symbol/,
  },
  {
    what: 'a flag that says nothing of instruments',
    status: 2,
    dataset: 'instruments',
    content: csvOf('symbol,name', 'B,Barnes'),
    flags: ['--schema', 'stock', '--country', 'US', '--zone', 'UTC'],
    says: /--zone does not apply to instruments/,
  },
  {
    what: 'a value for the whole file of instruments that no instrument has',
    status: 2,
    dataset: 'instruments',
    content: csvOf('symbol,name', 'B,Barnes'),
    flags: ['--schema', 'stok', '--country', 'US'],
    says: /--schema stok/,
  },
  {
    what: 'prices of another basis',
    status: 2,
    content: good,
    flags: [...flagsOfA, '--prices', 'split'],
    says: /another basis.*--prices/,
  },
  // What was asked for is damaged.
  { what: 'an empty file', status: 1, content: '', says: /is empty/ },
  { what: 'gzip of nothing', status: 1, content: gzipSync(''), says: /is empty/ },
  { what: 'a header alone', status: 1, content: csvOf(header), says: /has no rows/ },
  {
    what: 'values in the place of a header',
    status: 1,
    content: csvOf(...lines.slice(0, 9)),
    says: /only values, no column names\. Add a header line/,
  },
  {
    what: 'a column twice',
    status: 1,
    content: csvOf(`${header},open`, `${minute(3)},10`),
    says: /two columns are named open/,
  },
  {
    what: 'a program',
    status: 1,
    content: readFileSync(process.execPath).subarray(0, 300_000),
    says: /not a text file/,
  },
  { what: 'gzip that was cut off', status: 1, content: zipped.subarray(0, -20), says: /gzip.*cut off/ },
  { what: 'gzip with a changed byte', status: 1, content: broken, says: /gzip data is damaged/ },
  { what: 'gzip with a wrong check sum', status: 1, content: wrongSum, says: /gzip data is damaged/ },
  {
    what: 'gzip whose second member was cut off',
    status: 1,
    content: Buffer.concat([gzipSync(good), zipped.subarray(0, 100)]),
    says: /gzip.*cut off/,
  },
  {
    what: 'a quote that is not closed',
    status: 1,
    content: csvOf(`${header},note`, ...lines.map((line, at) => `${line},${at === 1000 ? '"' : ''}note`)),
    says: /quote/,
  },
  {
    what: 'text behind a closing quote',
    status: 1,
    content: csvOf(header, ...lines, `"${minute(4000).replace(',', '"x,')}`),
    says: /line 3002.*quote/,
  },
  {
    what: 'bytes that are not UTF-8',
    status: 1,
    content: Buffer.concat([
      Buffer.from(csvOf(`${header},note`, ...lines.map((line) => `${line},x`))),
      Buffer.from(`${minute(4000)},`),
      Buffer.from([0xe9, 0x0a]),
    ]),
    says: /line 3002.*UTF-8/,
  },
  {
    what: 'refused rows and none else',
    status: 1,
    content: csvOf(
      `${header},exchange`,
      `${minute(3, '10,8,9,11,1')},XNAS`,
      `${minute(4, 'x,12,9,11,1')},XNAS`,
    ),
    says: /^$/,
  },
];

test('a file or a flag that cannot be used is one message, and the store is exactly as before (contract 10)', {
  concurrency: 3,
}, async (t) => {
  const expected = contentOf(seed.store);
  const tests = problems.map((problem, index) =>
    t.test(problem.what, async () => {
      const { status, says, content, flags = flagsOfA, dataset = 'bars' } = problem;
      const name = problem.name ?? `bad ${index}.csv`;
      if (content !== undefined) writeFileSync(seed.path(name), content);
      const store = freshStore();
      const finished = await seed.run('import', dataset, name, ...flags, '--store', store);
      assert.equal(finished.status, status, finished.stderr + finished.stdout);
      if (says.source !== '^$') {
        assert.match(finished.stderr, says);
        assert.equal(finished.stdout, '');
        if (status === 1) assert.match(finished.stderr, new RegExp(`^bourse: (.*/)?${name}: .*\\n$`));
      }
      assert.doesNotMatch(finished.stderr, /^ +at /m);
      assert.deepEqual(contentOf(store), expected);
    }),
  );
  await Promise.all(tests);
});

test('the good rows of a file are stored, the refused ones lie beside it, and can be mended and imported', async () => {
  const store = freshStore();
  const more = ['--store', store, ...flagsOfA];
  const file = seed.path('some "good" rows.csv');
  writeFileSync(
    file,
    csvOf(
      `note,${header}`,
      `"a, b",${minute(10)}`,
      `"said ""x""",${minute(11, '10,"1,5 ?",9,11,100')}`,
      `"two\nlines",${minute(12, '10,8,9,11,100')}`,
      `,${minute(13)}`,
      `x,${minute(14, '10,12,9')}`,
    ),
  );
  const finished = await seed.run('import', 'bars', file, ...more);
  assert.equal(finished.status, 1);
  const told = finished.stdout + finished.stderr;
  assert.ok(told.includes(file), told);
  assert.match(told, /data row 2, column high: is not a number/);
  assert.match(
    told,
    /a mapping file removes signs and separators from numbers: --map, with "remove" and "decimal"/,
  );
  assert.match(told, /data row 3, column high: is below open, close or low \("8"\)/);
  assert.match(told, /data row 5, column row: has fewer cells/);
  assert.ok(told.includes('some "good" rows.rejected.csv'), told);
  assert.equal(barsOf(store)['stock:US:A:1M']!.length, 5);
  const rejected = seed.path('some "good" rows.rejected.csv');
  const reasons = ',rejected_row,rejected_column,rejected_reason';
  assert.equal(
    readFileSync(rejected, 'utf8'),
    [
      `note,${header}${reasons}`,
      `"said ""x""",${minute(11, '10,"1,5 ?",9,11,100')},2,high,is not a number`,
      `"two\nlines",${minute(12, '10,8,9,11,100')},3,high,"is below open, close or low"`,
      `x,${minute(14, '10,12,9,,')},5,row,has fewer cells than the header has columns`,
      '',
    ].join('\r\n'),
  );
  const mended = readFileSync(rejected, 'utf8')
    .replace('"1,5 ?"', '15')
    .replace(',10,8,', ',10,18,')
    .replace('9,,,5', '9,11,,5');
  writeFileSync(seed.path('mended.csv'), mended);
  const second = await seed.run('import', 'bars', 'mended.csv', ...more, '--json');
  assert.equal(second.status, 0, second.stderr);
  assert.equal((JSON.parse(second.stdout) as { rowsWritten: number }).rowsWritten, 3);
  assert.ok(!existsSync(seed.path('mended.rejected.csv')));
  assert.deepEqual(
    barsOf(store)
      ['stock:US:A:1M']!.slice(3)
      .map(([, , high]) => high),
    [12, 15, 18, 12, 12],
  );
});

test('refused rows up to --allow-rejects leave the exit status 0, one more does not (contract 10)', async () => {
  const content = csvOf(header, minute(20), minute(21, 'x,1,1,1,1'), minute(22, 'x,1,1,1,1'));
  const runs = await Promise.all(
    ['2', '1'].map((allowed) => {
      const file = `rejects ${allowed}.csv`;
      writeFileSync(seed.path(file), content);
      const more = ['--store', freshStore(), '--allow-rejects', allowed];
      return seed.run('import', 'bars', file, ...flagsOfA, ...more);
    }),
  );
  assert.deepEqual(
    runs.map(({ status }) => status),
    [0, 1],
  );
});

test('files of any name and form are imported by one command, mixed series separated by their columns', async () => {
  const store = freshStore();
  const named = `${header},asset_schema,country_iso_code,symbol,interval`;
  const folder = seed.path("it's [a] *folder?");
  mkdirSync(folder);
  const rows = (symbol: string): string[] => [
    `${minute(1)},stock,US,${symbol},1M`,
    `2024-01-02,${values},stock,US,${symbol},DAY`,
    `${minute(0)},crypto,GLOBAL,${symbol},1M`,
    `${minute(0)},stock,US,${symbol},1m`,
    `2024-01-03,${values},Stock,us,${symbol},1d`,
  ];
  const half = (symbol: string, at: number): string => csvOf(...rows(symbol).slice(at, at + 3));
  const files: readonly (readonly [name: string, content: string | Buffer])[] = [
    ['plain.csv', csvOf(named, ...rows('S0'))],
    ['with space.csv', csvOf(named, ...rows('S1')).replaceAll('\n', '\r\n')],
    ['quote\'s and "marks".csv', `\ufeff${csvOf(named, ...rows('S2'))}`],
    ['[brackets]*?.csv', csvOf(`note,${named}`, ...rows('S3').map((line) => `"a\nb, ""c""",${line}`))],
    ['one.csv.gz', gzipSync(csvOf(named, ...rows('S4')))],
    ['several.gz', Buffer.concat([gzipSync(csvOf(named)), gzipSync(half('S5', 0)), gzipSync(half('S5', 3))])],
    ['zipped but not named so', gzipSync(csvOf(named, ...rows('S6')))],
    ['日本 é.csv', csvOf(named, ...rows('S7'))],
  ];
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  // What a pattern would find beside them.
  writeFileSync(join(folder, 'bxx.csv'), csvOf(named, ...rows('NEVER')));
  const paths = files.map(([name]) => join(basename(folder), name));
  const finished = await seed.run('import', 'bars', ...paths, '--store', store, '--json');
  assert.equal(finished.status, 0, finished.stderr);
  const reports = finished.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { file: string; rowsWritten: number });
  assert.deepEqual(
    reports.map(({ file, rowsWritten }) => [file, rowsWritten]),
    paths.map((path) => [path, 5]),
  );
  const found = barsOf(store);
  for (const index of files.keys()) {
    assert.deepEqual(
      found[`stock:US:S${index}:1M`]!.map(([key]) => key),
      ['2024-01-02T14:30', '2024-01-02T14:31'],
    );
    assert.equal(found[`stock:US:S${index}:DAY`]!.length, 2);
    assert.equal(found[`crypto:GLOBAL:S${index}:1M`]!.length, 1);
  }
  assert.equal(found['stock:US:NEVER:1M'], undefined);
});

// What is served of it.

let server: Server;
let key = '';
before(async () => {
  server = await shop.serve();
  key = await shop.must('keys', 'create', 'test');
});

async function importServed(name: string, csv: string, ...flags: readonly string[]): Promise<string> {
  writeFileSync(shop.path(name), csv);
  return shop.must('import', 'bars', name, ...flags);
}

type Bar = { readonly datetime: string; readonly close_datetime: string; readonly session_date?: string };

async function ask(path: string, query = ''): Promise<{ status: number; bars: Bar[] }> {
  const response = await server.get(`/api/v2/${path}?secret_key=${key}&limit=1000${query}`);
  const answer = (await response.json()) as { result: { data: Bar[] } | null };
  return { status: response.status, bars: answer.result?.data ?? [] };
}

const served = async (path: string, query = ''): Promise<(string | undefined)[][]> =>
  (await ask(path, `&session_date=true${query}`)).bars.map((bar) => [
    bar.datetime.slice(0, 16),
    bar.close_datetime.slice(0, 16),
    bar.session_date,
  ]);

test('the next request sees what was imported, also of an instrument that was asked for before', async () => {
  const path = 'stock/bars/US:NEXT/1M/latest';
  assert.equal((await ask(path)).status, 404);
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'NEXT', '--interval', '1M'];
  await importServed('next.csv', csvOf(header, minute(0)), ...flags);
  assert.deepEqual(await served(path), [['2024-01-02T14:30', '2024-01-02T14:31', '2024-01-02']]);
  await importServed('next.csv', csvOf(header, minute(1)), ...flags);
  assert.equal((await ask(path)).bars.length, 2);
});

test('DAY, WEEK and MON rows get their hours from the calendar, on a closed date those of the date (contract 3.6, 3.10)', async () => {
  const rows = [
    ['2024-01-05', 'DAY'],
    ['2024-01-06', 'DAY'],
    ['2024-01-08T15:00:00Z', 'DAY'],
    ['2024-01-18', 'WEEK'],
    ['2024-01-27', 'WEEK'],
    ['2024-09-30', 'MON'],
  ].map(([when, interval]) => `${when},${values},${interval}`);
  await importServed(
    'label.csv',
    csvOf(`${header},interval`, ...rows),
    '--schema',
    'stock',
    '--country',
    'US',
    '--symbol',
    'LABEL',
  );
  const range = 'from/2024-01-01/to/2024-12-31';
  assert.deepEqual(await served(`stock/bars/US:LABEL/DAY/${range}`), [
    ['2024-01-05T14:30', '2024-01-05T21:00', '2024-01-05'],
    ['2024-01-06T14:30', '2024-01-06T21:00', '2024-01-06'],
    ['2024-01-08T14:30', '2024-01-08T21:00', '2024-01-08'],
  ]);
  // The first of these weeks begins with a holiday, the month with a weekend and one.
  assert.deepEqual(await served(`stock/bars/US:LABEL/WEEK/from/2024-01-15/to/2024-02-01`), [
    ['2024-01-16T14:30', '2024-01-19T21:00', '2024-01-16'],
    ['2024-01-22T14:30', '2024-01-26T21:00', '2024-01-22'],
  ]);
  assert.deepEqual(await served(`stock/bars/US:LABEL/MON/from/2024-09-01/to/2024-09-30`), [
    ['2024-09-03T13:30', '2024-09-30T20:00', '2024-09-03'],
  ]);
});

test('hours by the clock are counted, served as they are, and never used to derive others (contract 3.10)', async () => {
  const hours = Array.from({ length: 5 }, (_, hour) => `2024-01-02T${15 + hour}:00:00Z,${values}`);
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'CLOCK', '--interval', '60M'];
  const told = await importServed('clock.csv', csvOf(header, ...hours), ...flags);
  assert.match(told, /off the session grid, .*: 5 bars/);
  const range = 'from/2024-01-02/to/2024-01-02';
  assert.deepEqual(
    await served(`stock/bars/US:CLOCK/60M/${range}`),
    [15, 16, 17, 18, 19].map((hour) => [`2024-01-02T${hour}:00`, `2024-01-02T${hour + 1}:00`, '2024-01-02']),
  );
  for (const interval of ['120M', 'DAY', 'WEEK'])
    assert.deepEqual(await served(`stock/bars/US:CLOCK/${interval}/${range}`), [], interval);
});

test('a file whose rows stand in any order is served as the ordered one is, at every interval', async () => {
  const rows = ['A', 'B'].flatMap((symbol) =>
    Array.from({ length: 60 }, (_, at) => {
      const ms = openMs + (at % 5) * 86_400_000 + Math.floor(at / 5) * 7 * 60_000;
      return `${clockOf(ms)},${10 + (at % 3)},${20 + at},${5 - at / 100},${11 + (at % 7)},${at + 0.5}`.concat(
        `,@${symbol}`,
      );
    }),
  );
  const ordered = rows.map((row) => row.replace('@', 'O')).sort();
  let state = 7;
  const random = (): number => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state;
  };
  const mixed = rows
    .map((row) => [random(), row.replace('@', 'M')] as const)
    .sort(([a], [b]) => a - b)
    .map(([, row]) => row);
  await importServed(
    'mixed.csv',
    csvOf(`${header},symbol`, ...ordered, ...mixed),
    '--schema',
    'stock',
    '--country',
    'US',
    '--interval',
    '1M',
  );
  for (const symbol of ['A', 'B']) {
    for (const interval of ['1M', '15M', '60M', 'DAY', 'WEEK']) {
      const [first, second] = await Promise.all(
        ['O', 'M'].map(async (kind) => {
          const path = `/api/v2/stock/bars/US:${kind}${symbol}/${interval}/from/2024-01-01/to/2024-01-31`;
          const response = await server.get(`${path}?secret_key=${key}&limit=1000&format=csv`);
          return (await response.text()).replaceAll(`${kind}${symbol}`, '');
        }),
      );
      assert.ok(first!.split('\r\n').length > 2, interval);
      assert.equal(second, first, `${symbol} ${interval}`);
    }
  }
});

test('minutes of a day that was running when they were imported never become a finished day (contract 3.9)', async () => {
  const dayMs = Date.UTC(2024, 2, 5);
  const importAt = async (fromMinute: number, toMinute: number, nowMs: number): Promise<void> => {
    const file = shop.path('running.csv');
    const rows = Array.from(
      { length: toMinute - fromMinute },
      (_, at) => `${clockOf(dayMs + (fromMinute + at) * 60_000)},${values}`,
    );
    writeFileSync(file, csvOf(header, ...rows));
    const store = await openStore(shop.store, 'write');
    const flags = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'RUNNING', interval: '1M' };
    const about = {
      file: await opened(file),
      source: null,
      dryRun: false,
      zone: null,
      basis: 'raw' as const,
    };
    await importFile(store, 'bars', { ...about, flags: new Map(Object.entries(flags)), nowMs: () => nowMs });
    await store.close();
  };
  const range = 'from/2024-03-05/to/2024-03-05';
  const counts = async (): Promise<number[]> =>
    Promise.all(
      ['1M', '60M', '240M', 'DAY', 'WEEK'].map(
        async (interval) => (await ask(`crypto/bars/GLOBAL:RUNNING/${interval}/${range}`)).bars.length,
      ),
    );
  await importAt(0, 750, dayMs + 750 * 60_000);
  assert.deepEqual(await counts(), [750, 12, 3, 0, 0]);
  await importAt(750, 1440, dayMs + 1440 * 60_000 - 1);
  assert.deepEqual(await counts(), [1000, 23, 5, 0, 0]);
  await importAt(1439, 1440, dayMs + 1440 * 60_000);
  assert.deepEqual(await counts(), [1000, 24, 6, 1, 0]);
});

test('while a file is imported, others see nothing of it, and then all of it at once', async () => {
  const symbols = ['EURUSD', 'GBPUSD', 'USDJPY', 'AUDUSD'];
  const perSymbol = 20_000;
  const from = Date.UTC(2023, 0, 2);
  const rows = symbols.flatMap((symbol) =>
    Array.from(
      { length: perSymbol },
      (_, at) => `${clockOf(from + at * 60_000)},1.${at % 97},2,1,1.5,${at % 13},${symbol}`,
    ),
  );
  const file = seed.path('large.csv');
  writeFileSync(file, csvOf(`${header},symbol`, rows.join('\n')));
  const store = freshStore();
  const [before] = rowsOf(store, 'select count(*) as blocks from bar_blocks');
  const look = (): string =>
    JSON.stringify(
      rowsOf(
        store,
        `select (select count(*) from bar_blocks) as blocks, (select sum(bar_count) from series) as bars,
          (select count(*) from instruments) as instruments, (select count(*) from import_runs) as runs`,
      )[0],
    );
  let isDone = false;
  const running = seed
    .run(
      'import',
      'bars',
      file,
      '--schema',
      'forex',
      '--country',
      'GLOBAL',
      '--interval',
      '1M',
      '--store',
      store,
    )
    .finally(() => {
      isDone = true;
    });
  const seen = new Set<string>();
  while (!isDone) {
    seen.add(look());
    await pause(2);
  }
  const finished = await running;
  assert.equal(finished.status, 0, finished.stderr);
  const last = look();
  const first = JSON.stringify({ blocks: before!.blocks, bars: 3, instruments: 1, runs: 1 });
  assert.equal((JSON.parse(last) as { bars: number }).bars, 3 + symbols.length * perSymbol);
  assert.deepEqual(
    [...seen].filter((counts) => counts !== first && counts !== last),
    [],
  );
});

test('a dry run on a store that is not there tells what an import would do, and leaves nothing (contract 10)', async () => {
  writeFileSync(seed.path('trial.csv'), csvOf(header, minute(0), minute(1), minute(2, 'x,1,1,1,1')));
  const path = seed.path('not/there/trial.db');
  const temporary = seed.path('temporary');
  mkdirSync(temporary);
  const call = ['import', 'bars', 'trial.csv', ...flagsOfA, '--store', fileStore(path)];
  const trial = await seed.runWith({ TMPDIR: temporary }, ...call, '--dry-run');
  assert.equal(trial.status, 1, trial.stderr);
  assert.match(trial.stdout, /3 rows read, 2 new, 0 replaced, 0 unchanged, 1 refused; nothing was stored/);
  assert.ok(!existsSync(seed.path('not')));
  assert.deepEqual(readdirSync(temporary), []);

  writeFileSync(seed.path('empty.db'), '');
  await seed.run('import', 'bars', 'trial.csv', ...flagsOfA, '--store', fileStore('empty.db'), '--dry-run');
  assert.equal(statSync(seed.path('empty.db')).size, 0);
});

test('a name with line ends and control characters is printed in one line, escaped, wherever it stands', async () => {
  const name = 'two\nlines\u001b[2J';
  const shown = 'two\\nlines\\u001b[2J';
  writeFileSync(seed.path(`${name}.csv`), csvOf(header, minute(0), minute(1, 'x,1,1,1,1')));
  writeFileSync(seed.path(`${name}.txt`), 'what is this\n');
  const store = ['--store', freshStore()];
  const done = await seed.run(
    'import',
    'bars',
    `${name}.csv`,
    `${name}.txt`,
    `${name}.no*`,
    ...flagsOfA,
    ...store,
  );
  assert.equal(done.status, 2);
  assert.equal(done.stderr, `bourse: ${shown}.no*: no file matches this pattern\n`);
  const { stdout, stderr } = await seed.run(
    'import',
    'bars',
    `${name}.csv`,
    `${name}.txt`,
    ...flagsOfA,
    ...store,
  );
  assert.ok(stdout.startsWith(`${shown}.csv: 2 rows read`), stdout);
  assert.ok(stdout.includes(`${shown}.rejected.csv:\n`), stdout);
  assert.ok(stderr.startsWith(`bourse: ${shown}.txt: required columns missing`), stderr);
  const [status, undone] = [await seed.must('status', ...store), await seed.run('undo', ...store)];
  for (const text of [stdout, stderr, status, undone.stderr]) {
    assert.ok(text.includes(`${shown}.`), text);
    assert.ok(!text.includes('\u001b'), text);
  }
});
