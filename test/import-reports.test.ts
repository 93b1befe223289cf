// What `bourse import` reports: files that cannot be imported, rows that are new, replaced or unchanged,
// doubts (contract 10, 11).
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { DAY_MS } from '../src/base/instant.ts';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { encodeBlock } from '../src/market/bars/block-writer.ts';
import { emptyBars } from '../src/market/bars/columns.ts';
import { rowWith } from '../src/store/all-rows.ts';
import { openStore } from '../src/store/engines.ts';
import { blockChanges, counters, importRuns } from '../src/store/schema/internal.ts';
import { opened } from './importing.ts';
import { Workshop } from './service.ts';
import { barsOf } from './stored.ts';
import { contentOf } from './stores.ts';
import { zipOf } from './zip.ts';

const shops: Workshop[] = [];
after(() => {
  for (const shop of shops) shop.close();
});

const header = 'datetime,open,high,low,close,volume';
const openMs = Date.UTC(2024, 0, 2, 14, 30);
const clockOf = (at: number): string => `${new Date(openMs + at * 60_000).toISOString().slice(0, 16)}:00Z`;
/** A bar of minute `at`, whose prices are all `price`. */
const bar = (at: number, price = 10): string => `${clockOf(at)},${price},${price},${price},${price},1`;
const csvOf = (...lines: readonly string[]): string => `${lines.join('\n')}\n`;
const minutes = (from: number, to: number, price?: number): string =>
  csvOf(header, ...Array.from({ length: to - from }, (_, index) => bar(from + index, price)));
const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
const flagsOfA = [...flags, '--symbol', 'A'];

/** A workshop with some files in it. */
function shopWith(files: Readonly<Record<string, string | Buffer>>): Workshop {
  const shop = new Workshop();
  shops.push(shop);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(shop.path(name)), { recursive: true });
    writeFileSync(shop.path(name), content);
  }
  return shop;
}

test('a pattern goes on after every file that cannot be imported, whatever is wrong with it (contract 10)', async () => {
  const named = `${header},symbol`;
  const rowsOf = (symbol: string, ...lines: readonly string[]): string =>
    csvOf(named, ...lines.map((line) => `${line},${symbol}`));
  const shop = shopWith({
    'p1.csv': rowsOf('A', bar(0)),
    'p2.csv': rowsOf('B', bar(0).replace('T', ' ').replace('Z', '')),
    'p3.csv': rowsOf('C', bar(0)),
    'p4.csv': rowsOf('D', bar(0)).replace('open', 'first'),
    'p5.csv': rowsOf('E', bar(0)),
    'split.csv': rowsOf('C', bar(1)),
    'map.json': JSON.stringify({ columns: { open: 'open' } }),
  });
  await shop.must('import', 'bars', 'split.csv', ...flags, '--prices', 'split');
  const { status, stdout, stderr } = await shop.run(
    'import',
    'bars',
    'p*.csv',
    '--map',
    'map.json',
    ...flags,
  );
  assert.equal(status, 1, stderr);
  assert.match(stdout, /^p1\.csv: [\s\S]*^p5\.csv: /m);
  assert.match(stderr, /p2\.csv: its times have no offset/);
  assert.match(stderr, /p3\.csv: the store has the 1M bars of C with prices of another basis/);
  assert.match(stderr, /p4\.csv: has no column open/);
  assert.match(stderr, /5 files: 3 failed; rows: 2 new, 0 replaced, 0 unchanged, 0 refused\n$/);
  assert.deepEqual(Object.keys(barsOf(shop.store)).sort(), [
    'stock:US:A:1M',
    'stock:US:C:1M',
    'stock:US:E:1M',
  ]);
});

test('a name that a preset takes from a file’s name keeps only that file out (contract 10)', async () => {
  const row = '34200000,1680400,1680800,1680300,1680700,152036\n';
  const shop = shopWith({
    'equity/usa/minute/a b/20131007_trade.csv': row,
    'equity/usa/minute/spy/20131007_trade.csv': row,
  });
  const { status, stdout, stderr } = await shop.run('import', 'bars', 'equity/usa/minute/*/*.csv');
  assert.equal(status, 1, stderr);
  assert.match(stderr, /a b\/20131007_trade\.csv: its symbol A B must be .*: give it as a flag: --symbol/);
  assert.match(stdout, /^equity\/usa\/minute\/spy\/20131007_trade\.csv: 1 row read/);
});

test('a wrong call is reported once, not for every file (contract 10)', async () => {
  const shop = shopWith({
    'p1.csv': minutes(0, 1),
    'p2.csv': minutes(1, 2),
    'map.json': JSON.stringify({ columns: { opening: 'open' } }),
  });
  const { status, stderr } = await shop.run('import', 'bars', 'p*.csv', '--map', 'map.json', ...flagsOfA);
  assert.equal(status, 2);
  assert.match(stderr, /^bourse: --map map\.json, line 1: [^\n]*a field opening[^\n]*\n$/);
});

const notEnded = /the last line has no newline/;

test('a last line without an end is reported only where the file may have been cut off (contract 11)', async () => {
  const open = minutes(0, 2).trimEnd();
  const row = '34200000,1680400,1680800,1680300,1680700,152036';
  const node = `timestamp,open,high,low,close,volume\n${openMs},1,1,1,1,93.5\n${openMs + 60_000},1,1,1,1,93.5`;
  const yahoo =
    'Date,Open,High,Low,Close,Adj Close,Volume\n2020-08-31,1.5,1.5,1.5,1.5,1.5,2257\n2020-09-01,1,1,1,1,1,22';
  const shop = shopWith({
    'plain.csv': open,
    'quoted.csv': open.replaceAll(/(?<=,)1$/gm, '"1"'),
    'packed.csv.gz': gzipSync(open),
    'packed.zip': zipOf({ name: 'a.csv', bytes: Buffer.from(open) }),
    'equity/usa/minute/spy/20131007_trade.csv': row,
    'eurusd.csv': node,
    'AAPL.csv': yahoo,
  });
  const told = async (...words: readonly string[]): Promise<boolean> =>
    notEnded.test(await shop.must('import', 'bars', ...words, '--dry-run'));
  assert.equal(await told('plain.csv', ...flagsOfA), true);
  assert.equal(await told('quoted.csv', ...flagsOfA), false);
  assert.equal(await told('packed.csv.gz', ...flagsOfA), false);
  assert.equal(await told('packed.zip', ...flagsOfA), false);
  assert.equal(await told('equity/usa/minute/spy/20131007_trade.csv'), false);
  assert.equal(
    await told('eurusd.csv', '--preset', 'dukascopy-node', '--symbol', 'EURUSD', '--interval', '1M'),
    false,
  );
  assert.equal(await told('AAPL.csv', '--schema', 'stock', '--country', 'US'), false);
});

test('rows that are new, replaced and unchanged are counted, and the runs that were replaced are named (contract 11)', async () => {
  const shop = shopWith({
    'one.csv': minutes(0, 10, 1),
    'two.csv': minutes(5, 12, 2),
    'three.csv': csvOf(header, bar(0, 1), bar(1, 3), bar(6, 3), bar(7, 3), bar(20, 3)),
    'names.csv': 'symbol,name\nA,Alpha\nB,Beta\n',
    'more.csv': 'symbol,name\nA,Alpha Inc.\nB,Beta\nC,Gamma\n',
  });
  assert.match(
    await shop.must('import', 'bars', 'one.csv', ...flagsOfA),
    /: 10 rows read, 10 new, 0 replaced, 0 unchanged, 0 refused \(run 1/,
  );
  const two = await shop.must('import', 'bars', 'two.csv', ...flagsOfA);
  assert.match(
    two,
    /: 7 rows read, 2 new, 5 replaced, 0 unchanged, 0 refused \(run 2.*\n {2}replaced 5 of run 1 \(one\.csv\)$/,
  );
  const three = JSON.parse(await shop.must('import', 'bars', 'three.csv', ...flagsOfA, '--json')) as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    [three.rowsNew, three.rowsReplaced, three.rowsUnchanged, three.rowsWritten, three.replaced],
    [
      1,
      3,
      1,
      4,
      [
        { runId: 1, file: 'one.csv', source: null, rows: 1 },
        { runId: 2, file: 'two.csv', source: null, rows: 2 },
      ],
    ],
  );
  const named = ['--schema', 'stock', '--country', 'US'];
  const names = await shop.must('import', 'instruments', 'names.csv', ...named);
  assert.match(names, /2 rows read, 1 new, 1 replaced.*\n {2}replaced 1 of run 1 \(one\.csv\)/);
  const more = await shop.must('import', 'instruments', 'more.csv', ...named);
  assert.match(more, /3 rows read, 1 new, 1 replaced, 1 unchanged.*\n {2}replaced 1 of run 4 \(names\.csv\)/);
});

test('an import over bars of another source says so, and how many differ (contract 11)', async () => {
  const massive = csvOf(
    'ticker,volume,open,close,high,low,window_start,transactions',
    ...Array.from(
      { length: 39 },
      (_, at) => `A,1,${at < 5 ? 11 : 10},10,11,10,${openMs + at * 60_000}000000,1`,
    ),
  );
  const own = csvOf(header, ...Array.from({ length: 39 }, (_, at) => `${clockOf(at)},10,11,10,10,1`));
  const shop = shopWith({
    'minute_aggs.csv': massive,
    'own.csv': own,
    'again.csv': own.replace(',10,11,10,10,1', ',10,12,10,10,1'),
  });
  await shop.must('import', 'bars', 'minute_aggs.csv');
  const over = await shop.must('import', 'bars', 'own.csv', ...flagsOfA, '--source', 'desk');
  assert.match(
    over,
    /5 of the 39 bars that are not new differ from those of run 1 \(source massive\), replaced$/m,
  );
  const again = await shop.must('import', 'bars', 'again.csv', ...flagsOfA, '--source', 'desk');
  assert.match(again, /replaced 1 of run 2 \(own\.csv\)$/m);
  assert.doesNotMatch(again, /differ/);
});

/** Imports bars in this process at a moment; null where the moment is that of the machine. */
async function importedAt(
  shop: Workshop,
  now: string,
  file: string,
  fields: Readonly<Record<string, string>>,
): Promise<ImportReport> {
  const store = await openStore(shop.store, 'write');
  try {
    const about = { source: null, dryRun: false, nowMs: () => Date.parse(now) };
    return await importFile(store, 'bars', {
      file: await opened(shop.path(file)),
      flags: new Map(Object.entries(fields)),
      ...about,
    });
  } finally {
    await store.close();
  }
}

const opensLater = (report: ImportReport): [string, number][] =>
  Object.entries(report.findings).filter(([what]) => what.startsWith('opening after now'));

test('bars that open after the import are counted, with the first and what to check (contract 3.9)', async () => {
  const values = '10,10,10,10,1';
  const shop = shopWith({
    'days.csv': csvOf(
      `asset_schema,country_iso_code,symbol,interval,${header}`,
      `stock,US,A,DAY,2024-01-02,${values}`,
      // The day has begun in UTC, its session has not.
      `stock,US,A,DAY,2024-01-03,${values}`,
      // Its session began on the evening before, in UTC.
      `forex,GLOBAL,EURUSD,DAY,2024-01-03,${values}`,
      `stock,AU,BHP,DAY,2024-01-04,${values}`,
      `stock,US,A,WEEK,2024-01-01,${values}`,
      `stock,US,A,MON,2024-02-01,${values}`,
      `stock,US,A,1M,2024-01-03T14:00:00Z,${values}`,
      `stock,US,A,1M,2024-01-03T14:01:00Z,${values}`,
    ),
  });
  const [found, ...others] = opensLater(await importedAt(shop, '2024-01-03T14:00:00Z', 'days.csv', {}));
  assert.deepEqual(others, []);
  assert.match(found![0], /the first at 2024-01-03T14:01:00\+00:00.*--zone.*clock/);
  // A's day and month, BHP's day, and the last minute.
  assert.equal(found![1], 4);
  assert.deepEqual(opensLater(await importedAt(shop, '2024-02-03T14:00:00Z', 'days.csv', {})), []);
});

test('an import by a clock that is behind the newest run says so, and one that waited for another does not (contract 3.9)', async () => {
  const shop = shopWith({ 'a.csv': minutes(0, 2) });
  const at = (now: string) =>
    importedAt(shop, now, 'a.csv', {
      asset_schema: 'stock',
      country_iso_code: 'US',
      symbol: 'A',
      interval: '1M',
    });
  assert.equal((await at('2024-03-01T00:00:00Z')).aheadRun, null);
  assert.deepEqual((await at('2024-02-01T00:00:00Z')).aheadRun, {
    runId: 1,
    finishedAt: '2024-03-01T00:00:00.000Z',
  });
  assert.equal((await at('2024-02-02T00:00:00Z')).aheadRun, null);
  // Its call came before the other run had ended, its write after it.
  const store = await openStore(shop.store, 'write');
  const times = ['2024-02-03T00:00:00Z', '2024-02-05T00:00:00Z'].map((text) => Date.parse(text));
  const nowMs = (): number => (times.length > 1 ? times.shift()! : times[0]!);
  const fields = new Map(
    Object.entries({ asset_schema: 'stock', country_iso_code: 'US', symbol: 'A', interval: '1M' }),
  );
  await at('2024-02-04T00:00:00Z');
  const late = await importFile(store, 'bars', {
    file: await opened(shop.path('a.csv')),
    flags: fields,
    source: null,
    dryRun: false,
    nowMs,
  });
  assert.equal(late.aheadRun, null);
  await store.write(async (writer) => {
    const run = (await rowWith(writer, importRuns, { run_id: 5 }))!;
    await writer.upsert(importRuns, [{ ...run, finished_ms: Date.now() + 3_600_000 }]);
  });
  await store.close();
  assert.match(
    await shop.must('import', 'bars', 'a.csv', ...flagsOfA),
    /but run 5 ended at .*: set the clock of this machine/,
  );
});

test('--explain refuses what the import would refuse, each reason once with the first value (contract 10, 11)', async () => {
  const bad = Array.from({ length: 500 }, (_, at) => `${clockOf(600 + at)},x${at},9,9,9,1`);
  const high = Array.from({ length: 30 }, (_, at) => `${clockOf(2000 + at)},9,${at / 10 + 1},9,9,1`);
  const shop = shopWith({
    'bad.csv': csvOf(header, ...bad, ...high, bar(0), '2024-01-02,9,9,9,9,1'),
    'good.csv': minutes(0, 3),
    'local.csv': minutes(0, 3).replaceAll('Z,', ','),
    'split.csv': minutes(0, 3),
    'events.csv':
      'country_iso_code,event_code,event_name,event_timestamp,importance\nUS,CPI,CPI,2024-01-01T00:00:00Z,9\n',
  });
  await shop.must('import', 'bars', 'good.csv', ...flagsOfA);
  const before = [contentOf(shop.store), readdirSync(shop.folder)];
  const explain = (...words: readonly string[]) => shop.run('import', ...words, '--explain');
  const told = await explain('bars', 'bad.csv', ...flagsOfA);
  assert.equal(told.status, 1, told.stderr);
  const lines = told.stdout.split('\n').filter((line) => /data row/.test(line));
  assert.deepEqual(lines, [
    '  data row 1 and 499 more, column open: is not a number ("x0")',
    '  data row 501 and 29 more, column high: is below open, close or low ("1")',
    '  data row 532, column datetime: is a date without a time: a bar of minutes needs its open; bars of days go with --interval DAY ("2024-01-02")',
  ]);
  assert.match(told.stdout, /531 of 532 rows would be refused:/);
  const { rowsRead, rowsRefused, refusals } = JSON.parse(
    (await explain('bars', 'bad.csv', ...flagsOfA, '--json')).stdout,
  ) as Record<string, unknown>;
  assert.deepEqual([rowsRead, rowsRefused], [532, 531]);
  assert.deepEqual((refusals as unknown[])[0], {
    row: 1,
    column: 'open',
    reason: 'is not a number',
    value: 'x0',
    rows: 500,
  });
  const local = await explain('bars', 'local.csv', ...flagsOfA);
  assert.deepEqual([local.status, /its times have no offset/.test(local.stderr)], [2, true]);
  const split = await explain('bars', 'split.csv', ...flagsOfA, '--prices', 'split');
  assert.deepEqual([split.status, /prices of another basis/.test(split.stderr)], [2, true]);
  const events = await explain('economic-events', 'events.csv');
  assert.equal(events.status, 1);
  assert.match(events.stdout, /1 of 1 row would be refused:\n {2}data row 1, column importance: .* \("9"\)/);
  assert.equal((await explain('bars', 'good.csv', ...flagsOfA)).status, 0);
  assert.deepEqual([contentOf(shop.store), readdirSync(shop.folder)], before);
});

test('a refused row is reported with the value of its cell (contract 11)', async () => {
  const shop = shopWith({
    'one.csv': csvOf(header, bar(0), `${clockOf(1)},abc,9,9,9,1`, `${clockOf(2)},9,9,9,9`),
  });
  const { stdout } = await shop.run('import', 'bars', 'one.csv', ...flagsOfA);
  assert.match(
    stdout,
    /data row 2, column open: is not a number \("abc"\)\n {2}data row 3, column row: has fewer cells than the header has columns\n/,
  );
  assert.doesNotMatch(stdout, /signs and separators/, 'a word has none');
});

test('rows that are refused alike are said once, with their first numbers (contract 11)', async () => {
  const alike = Array.from({ length: 25 }, (_, at) => `${clockOf(0)},9,${10 + at},9,9,1`);
  const shop = shopWith({
    'many.csv': csvOf(header, bar(0), ...alike),
    'mixed.csv': csvOf(header, ...['x', 'y', 'x', 'x'].map((open, at) => `${clockOf(at)},${open},9,9,9,1`)),
  });
  const told = async (name: string): Promise<string[]> => {
    const { stdout } = await shop.run('import', 'bars', name, ...flagsOfA);
    return stdout.split('\n').filter((line) => /data row|and \d+ more$/.test(line));
  };
  const reason = 'column datetime: the file has this bar already, with other values';
  assert.deepEqual(await told('many.csv'), [
    `  data rows 2, 3, 4 and 22 more, ${reason} (${JSON.stringify(clockOf(0))})`,
  ]);
  assert.equal(readFileSync(join(shop.folder, 'many.rejected.csv'), 'utf8').trimEnd().split('\n').length, 26);
  assert.deepEqual(await told('mixed.csv'), [
    '  data rows 1, 3, 4, column open: is not a number ("x")',
    '  data row 2, column open: is not a number ("y")',
  ]);
});

test('of a long journal only the newest entries are searched, and no wrong run is named (contract 11)', async () => {
  const shop = shopWith({ 'a.csv': minutes(0, 2, 1), 'b.csv': minutes(0, 3, 2) });
  await shop.must('import', 'bars', 'a.csv', ...flagsOfA);
  const store = await openStore(shop.store, 'write');
  await store.write(async (writer) => {
    const order = [['run_id', 'asc']] as const;
    const [entry] = await writer.rows(blockChanges, { where: { run_id: 1 }, order, limit: 1 });
    const nothing = { ...entry!, added: encodeBlock(emptyBars()), before: null };
    for (let run = 2; run <= 300; run++) await writer.upsert(blockChanges, [{ ...nothing, run_id: run }]);
    await writer.upsert(counters, [{ name: 'run_id', value: 300 }]);
  });
  await store.close();
  const told = await shop.must('import', 'bars', 'b.csv', ...flagsOfA);
  assert.match(told, /1 new, 2 replaced.*\(run 301.*\n {2}replaced 2 of other runs$/);
});

test('the command that finishes a session names the file as it can be imported again (contract 3.9)', async () => {
  // Crypto trades always: the present day is never finished.
  const openedMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const csv = csvOf(header, `${new Date(openedMs).toISOString()},1,1,1,1,1`);
  const flagsOfB = ['--schema', 'crypto', '--country', 'GLOBAL', '--symbol', 'B', '--interval', '1M'];
  const shop = shopWith({ 'b.csv': csv, 'b.zip': zipOf({ name: 'm.csv', bytes: Buffer.from(csv) }) });
  for (const [file, ...more] of [['b.csv'], ['b.zip'], ['b.csv', '--dry-run']] as const) {
    const told = await shop.must('import', 'bars', file, ...flagsOfB, ...more);
    // Midnight has passed: the day is finished.
    if (Date.now() >= openedMs + DAY_MS) return;
    const [, command, instant] = /after \S+ run: bourse (import .*) --complete-through (\S+)$/m.exec(told)!;
    assert.equal(new Date(instant!).getUTCHours(), 0);
    assert.equal(command, ['import', 'bars', file, ...flagsOfB].join(' '));
    await shop.must(...command!.split(' '), '--complete-through', new Date(openedMs).toISOString());
  }
});
