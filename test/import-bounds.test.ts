// Small files that would take the memory, the time or the life of an import: each is refused by itself, and
// the files beside it are imported.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { limits } from '../src/contract/limits.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { runStatement } from './duckdb.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const columns = 'datetime,open,high,low,close,symbol';
const named = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
let files = 0;

type Report = Pick<ImportReport, 'file' | 'rowsRead' | 'rowsNew' | 'rowsRefused'>;

/** Imports a file beside a good one; the report of each that was imported, and what was said of the other. */
async function importBeside(name: string): Promise<{ reports: Report[]; stderr: string }> {
  const good = `good-${++files}.csv`;
  writeFileSync(shop.path(good), `${columns}\n2025-03-03T15:00:00Z,1,1,1,1,G${files}\n`);
  const { stdout, stderr } = await shop.run('import', 'bars', name, good, ...named, '--no-check', '--json');
  const reports = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Report);
  const last = reports.findIndex(({ file }) => file === good);
  assert.equal(reports[last]?.rowsNew, 1, `${stdout}\n${stderr}`);
  return { reports: reports.slice(0, last), stderr };
}

async function assertRefused(name: string, why: RegExp): Promise<void> {
  const { reports, stderr } = await importBeside(name);
  assert.deepEqual(reports, []);
  const { error, message } = JSON.parse(stderr.split('\n')[0]!) as { error: string; message: string };
  assert.equal(error, 'bad_file');
  assert.match(message, why);
}

async function assertImported(name: string, rows = 1): Promise<void> {
  const { reports, stderr } = await importBeside(name);
  assert.equal(reports[0]?.rowsRead, rows, stderr);
  assert.equal(reports[0]?.rowsRefused, 0);
}

const bar = { datetime: '2025-03-03T15:00:00Z', open: 1, high: 1, low: 1, close: 1, symbol: 'A' };
const alpaca = { t: '2025-04-16T13:30:00Z', o: 1, h: 1, l: 1, c: 1, v: 1, n: 1, vw: 1 };

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
/** JSON of a value that has a text in place of its `x`. */
const withX = (value: object, x: string): string => JSON.stringify(value).replace('"X"', () => x);

function put(name: string, text: string): string {
  writeFileSync(shop.path(name), text);
  return name;
}

const tooDeep = /has more than 100 objects and arrays within each other/;

test('JSON that is nested very deeply is refused by itself, in every form (contract 11)', async () => {
  await assertRefused(put('lists.json', withX([{ ...bar, x: 'X' }], lists(200_000))), tooDeep);
  await assertRefused(put('objects.ndjson', `${withX({ ...bar, x: 'X' }, objects(80_000))}\n`), tooDeep);
  const preset = { bars: { AAPL: [{ ...alpaca, x: 'X' }] }, next_page_token: null };
  await assertRefused(put('alpaca.json', withX(preset, lists(200_000))), tooDeep);
});

test('nesting counts up to its bound, and not within texts (contract 11)', async () => {
  const record = (x: string): string => withX([{ ...bar, x: 'X' }], x);
  await assertImported(put('deepest.json', record(objects(limits.jsonDepthMax - 2))));
  await assertRefused(put('deeper.json', record(objects(limits.jsonDepthMax - 1))), tooDeep);
  await assertRefused(put('open.json', record('['.repeat(200_000))), /the JSON is not well-formed/);
  const text = `${'['.repeat(500)}"${'{'.repeat(500)}\\`;
  await assertImported(put('text.json', record(JSON.stringify(text))));
  // The file is read in pieces of 4 MiB: in one of these it is cut within an escape.
  for (const shift of [0, 1, 2]) {
    const row = withX({ ...bar, x: 'X' }, JSON.stringify('"['.repeat(600_000)));
    await assertImported(put('pieces.ndjson', `${' '.repeat(shift)}${row}\n${row}\n${row}\n`), 3);
  }
});

test('a JSON object of too many keys is refused before its columns are made, and one of 2,000 is read (contract 11)', async () => {
  const keys = (count: number): string =>
    JSON.stringify({
      ...bar,
      ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at])),
    });
  const tooWide = /an object has more than 10000 keys/;
  await assertImported(put('wide.ndjson', `${keys(2_000)}\n`));
  await assertRefused(put('wider.ndjson', `${keys(40_000)}\n`), tooWide);
  await assertRefused(put('inside.json', withX([{ ...bar, x: 'X' }], keys(10_001))), tooWide);
});

/** Imports an object whose lists have bars, each of them beside a note; what is said. */
async function importNoted(note: number, outer: number, inner: number): Promise<string> {
  const { datetime, symbol, ...prices } = bar;
  const startMs = Date.parse(datetime);
  const barsOf = (from: number) =>
    Array.from({ length: inner }, (_, at) => ({
      datetime: new Date(startMs + (from + at) * 60_000).toISOString(),
      ...prices,
    }));
  const groups = Array.from({ length: outer }, (_, group) => ({ bars: barsOf(group * inner) }));
  const name = put('noted.json', JSON.stringify({ symbol, note: 'x'.repeat(note), groups }));
  const columns = ['datetime', ...Object.keys(prices)].map((field) => [field, `groups[].bars[].${field}`]);
  const map = put(
    'noted-map.json',
    JSON.stringify({ columns: { ...Object.fromEntries(columns), symbol: 'symbol' } }),
  );
  const { stdout, stderr } = await shop.run('import', 'bars', name, '--map', map, ...named, '--no-check');
  return stdout + stderr;
}

test('an object is refused whose lists would repeat a long text too often, with the key of that text (contract 11)', async () => {
  const tooLong =
    /noted\.json: a list repeats note in each of its rows, which would have more than 67108864 bytes/;
  assert.match(await importNoted(3_000_000, 5_000, 1), tooLong);
  assert.match(await importNoted(1_000_000, 1, 5_000), tooLong);
  assert.match(await importNoted(1_000_000, 50, 50), tooLong);
  // Each row is short enough, all of them are too many.
  assert.match(
    await importNoted(30_000, 10, 1_200),
    /noted\.json: its lists repeat note in each of their rows, which have more than 268435456 bytes/,
  );
  assert.match(await importNoted(1_000_000, 5, 10), /noted\.json: 50 rows read/);
  assert.match(await importNoted(300, 4, 5_000), /noted\.json: 20,000 rows read/);
});

/** Makes a Parquet file of bars; `texts` are SQL of more columns. */
async function parquet(name: string, rows: number, ...texts: readonly string[]): Promise<string> {
  const cells = [
    "timestamptz '2025-03-03 15:00:00+00' as datetime",
    ...['open', 'high', 'low', 'close'].map((column) => `1.0::double as ${column}`),
    ...texts,
  ];
  await runStatement(
    `copy (select ${cells.join()} from range(${rows}) t(i)) to '${shop.path(name)}' (format parquet, compression zstd)`,
  );
  assert.ok(statSync(shop.path(name)).size < 500_000);
  return name;
}

test('a small Parquet file of very long texts is refused by itself, and leaves no refused rows (contract 11)', async () => {
  const tooLong = /a row is longer than 4100000 bytes/;
  const symbol = "repeat('x', 20000000) as symbol";
  await assertRefused(await parquet('long.parquet', 1, symbol), tooLong);
  const one = `case when i = 7 then repeat('x', 20000000) else 'A' end as symbol`;
  await assertRefused(await parquet('one-long.parquet', 1_000, one), tooLong);
  const two = ["repeat('x', 3000000) as symbol", "repeat('y', 3000000) as other"];
  await assertRefused(await parquet('two-long.parquet', 1, ...two), tooLong);
  const list = "[repeat('x', 3000000), repeat('y', 3000000)] as other";
  await assertRefused(await parquet('list.parquet', 1, "'A' as symbol", list), tooLong);
  assert.ok(!existsSync(shop.path('long.parquet.rejected.csv')));
});

test('a small Parquet file of very many rows, or of texts that are one, is refused by itself; a wide one is read (contract 11)', async () => {
  const unpacks = /unpacks to more than 200 times its size/;
  await assertRefused(await parquet('rows.parquet', 6_000_000, "'A' as symbol"), unpacks);
  await assertRefused(await parquet('texts.parquet', 300, "repeat('x', 1000000) as symbol"), unpacks);
  const wide = Array.from({ length: 2_000 }, (_, at) => `i + ${at} as k${at}`);
  await assertImported(await parquet('wide.parquet', 1, "'A' as symbol", ...wide));
  await assertImported(
    await parquet('news.parquet', 20, "'A' as symbol", "repeat('x', 1000000) as body"),
    20,
  );
});

test('refused rows are kept for the owner alone, and never for more than may read their source (contract 11)', async () => {
  for (const [mode, kept] of [
    [0o644, 0o600],
    [0o400, 0o400],
    [0o660, 0o600],
  ] as const) {
    const name = put(`mode-${mode}.csv`, `${columns}\n2025-03-03T15:00:00Z,x,1,1,1,A\n`);
    chmodSync(shop.path(name), mode);
    await shop.run('import', 'bars', name, ...named);
    assert.equal(statSync(shop.path(`mode-${mode}.rejected.csv`)).mode & 0o777, kept);
  }
  await shop.pipe(`${columns}\n2025-03-03T15:00:00Z,x,1,1,1,A\n`, 'import', 'bars', '-', ...named);
  assert.equal(statSync(shop.path('stdin.rejected.csv')).mode & 0o777, 0o600);
});

test('a file of refused rows is bounded: its cells are cut, and the rows beyond are counted (contract 11)', async () => {
  const { rejectedBytesMax, rejectedCellMax } = limits;
  const rows = Math.ceil((1.2 * rejectedBytesMax) / rejectedCellMax);
  const text = 'x'.repeat(1.1 * rejectedCellMax);
  const line = `2025-03-03T15:00:00Z,x,1,1,1,${text}\n`;
  const name = put('many.csv', `${columns}\n${line.repeat(rows)}`);
  const { stdout } = await shop.run('import', 'bars', name, ...named);
  const [, refused, first, path] = /(\d+) rows refused, the first (\d+) kept in (\S+):/.exec(stdout)!;
  assert.equal(Number(refused), rows);
  const kept = readFileSync(path!, 'utf8').trimEnd().split('\r\n').slice(1);
  assert.ok(statSync(path!).size <= rejectedBytesMax);
  assert.ok(kept.length > 0.5 * rows && kept.length < rows);
  assert.equal(kept.length, Number(first));
  for (const row of kept) assert.equal(row.split(',')[5]!.length, rejectedCellMax);
});
