// `bourse check` as its users have it (contract 9.10, 10), and the findings in real series.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { textOf } from '../duckdb.ts';
import { sharedData, Workshop } from '../service.ts';
import { alterStore, changedByte, rowsOf } from '../stores.ts';

const shop = new Workshop();
after(() => shop.close());

type Printed = {
  readonly findings: readonly Readonly<Record<string, unknown>>[];
  readonly counts: Readonly<Record<string, number>>;
  readonly damaged: readonly unknown[];
};

const HEAD = 'datetime,open,high,low,close,volume,vwap\n';
const flags = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY'];

async function importRows(symbol: string, rows: string): Promise<void> {
  writeFileSync(shop.path('rows.csv'), HEAD + rows);
  await shop.must('import', 'bars', 'rows.csv', ...flags, '--symbol', symbol);
}

test('bourse check prints the findings and their numbers, and ends with 1 from a warning on (contract 9.10, 10)', async () => {
  await importRows('CLEAN', '2025-03-03,10,11,9,10,5,10\n2025-03-04,10,11,9,10,6,10\n');
  const clean = await shop.run('check');
  assert.deepEqual([clean.status, clean.stdout, clean.stderr], [0, '0 errors, 0 warnings, 0 info\n', '']);
  await importRows('STALE', '2025-03-03,10,11,9,10,5,10\n2025-03-04,10,11,9,10,5,10\n');
  const stale = await shop.run('check');
  assert.equal(stale.status, 0, 'an info is no failure');
  assert.match(
    stale.stdout,
    /^info {4}stale {15} stock:US:STALE DAY 2025-03-04T14:30:00\+00:00 to 2025-03-04T21:00:00\+00:00: open, high.* \(run 2\)\n0 errors, 0 warnings, 1 info\n$/,
  );
  await importRows('FLAW', '2025-03-03,10,11,9,10,5,12.5\n2025-03-04,10,11,9,10,6,10\n');
  const flawed = await shop.run('check', '--json');
  assert.equal(flawed.status, 1);
  const { findings, counts, damaged } = JSON.parse(flawed.stdout) as Printed;
  assert.deepEqual([counts, damaged], [{ info: 1, warning: 1, error: 0 }, []]);
  assert.deepEqual(findings[0], {
    ...{ asset_schema: 'STOCK', country_iso_code: 'US', symbol: 'FLAW', kind: 'vwap_outside' },
    ...{ severity: 'warning', interval: 'DAY', from_datetime: '2025-03-03T14:30:00+00:00' },
    ...{ to_datetime: '2025-03-03T21:00:00+00:00', value: 12.5, expected: 11 },
    message: 'vwap is below the low or above the high by more than half a unit of its last decimal',
    run_id: 3,
  });
  for (const [words, status] of [
    [['--symbol', 'STALE'], 0],
    [['--symbol', 'flaw', '--country', 'us', '--schema', 'Stock'], 1],
    [['corporate-actions'], 0],
    [['bars'], 1],
    [['--country', 'JP'], 0],
    [['news'], 2],
  ] as const)
    assert.equal((await shop.run('check', ...words)).status, status, words.join(' '));
});

/** The findings in a file as DuckDB reads it, instants as milliseconds. */
async function findingsIn(path: string): Promise<Record<string, unknown>[]> {
  const millis = (name: string): string => `epoch_ms(${name}::timestamptz) as ${name}`;
  const numbers = ['value', 'expected', 'run_id'].map((name) => `${name}::double as ${name}`);
  const columns = [millis('from_datetime'), millis('to_datetime'), ...numbers];
  const rows = `select * replace (${columns.join(', ')}) from '${path}'`;
  return JSON.parse(await textOf(`select to_json(list(found))::varchar from (${rows}) as found`));
}

test('--out writes the findings to a file that has what --json prints, in each format (contract 9.10, 10)', async () => {
  const { findings } = JSON.parse((await shop.run('check', '--json')).stdout) as Printed;
  assert.ok(findings.length > 1);
  const expected = findings.map(({ from_datetime, to_datetime, ...rest }) => ({
    ...rest,
    ...{ from_datetime: Date.parse(String(from_datetime)), to_datetime: Date.parse(String(to_datetime)) },
  }));
  for (const name of ['found.ndjson', 'found.csv', 'found.tsv.gz', 'found.parquet']) {
    const done = await shop.run('check', '--out', name);
    assert.deepEqual([done.status, done.stderr], [1, '']);
    assert.equal(done.stdout, `${name}: ${findings.length} rows; 0 errors, 1 warning, 1 info\n`);
    assert.deepEqual(await findingsIn(shop.path(name)), expected);
    const again = await shop.run('check', '--out', name);
    assert.equal(again.status, 2);
    assert.match(again.stderr, /exists already: choose another name, or add --force/);
    assert.equal((await shop.run('check', '--out', name, '--force')).status, 1);
  }
  const streamed = await shop.run('check', '--out', '-');
  assert.equal(streamed.stdout, readFileSync(shop.path('found.csv'), 'utf8'));
  assert.equal(streamed.stderr, 'standard output: 2 rows; 0 errors, 1 warning, 1 info\n');
  const told = JSON.parse((await shop.run('check', '--json', '--out', 'told.csv')).stdout);
  assert.deepEqual([told.file, told.rows, told.counts.warning], ['told.csv', findings.length, 1]);
  const none = await shop.run('check', '--country', 'JP', '--out', 'none.csv');
  assert.deepEqual([none.status, none.stdout], [0, 'none.csv: 0 rows; 0 errors, 0 warnings, 0 info\n']);
  const [head] = readFileSync(shop.path('found.csv'), 'utf8').split('\r\n');
  assert.equal(readFileSync(shop.path('none.csv'), 'utf8'), `${head}\r\n`);
  // What was found before does not stand there as if it were found again.
  assert.equal((await shop.run('check', '--country', 'JP', '--out', 'found.parquet', '--force')).status, 0);
  assert.deepEqual(await findingsIn(shop.path('found.parquet')), null);
  const wrong = await shop.run('check', '--out', 'found.xlsx');
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /--out found\.xlsx: its name must end in \.csv, \.tsv, \.ndjson or \.parquet/);
});

test('bourse status tells the newest check of the whole store, and how much has changed since (contract 9.10, 10)', async () => {
  const own = new Workshop();
  const told = async () => JSON.parse(await own.must('status', '--json')) as Record<string, unknown>;
  const line = async () => /^findings +(.*)$/m.exec(await own.must('status'))![1];
  const add = async (symbol: string, vwap: number): Promise<void> => {
    writeFileSync(own.path('rows.csv'), `${HEAD}2025-03-03,10,11,9,10,5,${vwap}\n`);
    await own.must('import', 'bars', 'rows.csv', ...flags, '--symbol', symbol);
  };
  await add('FLAW', 12.5);
  assert.equal((await told()).newest_check, null);
  assert.equal(await line(), 'not known: run bourse check');
  const version = (await told()).data_version;
  for (const part of [['bars'], ['--symbol', 'FLAW']]) await own.run('check', ...part);
  assert.equal((await told()).newest_check, null, 'a check of a part says nothing of the store');
  const beganMs = Math.floor(Date.now() / 1_000) * 1_000;
  assert.equal((await own.run('check')).status, 1);
  const { checked, ...known } = (await told()).newest_check as Record<string, unknown>;
  assert.deepEqual(known, { data_version: version, error: 0, warning: 1, info: 0 });
  const checkedMs = Date.parse(checked as string);
  assert.ok(beganMs <= checkedMs && checkedMs <= Date.now(), checked as string);
  assert.equal(await line(), `0 errors, 1 warning, 0 info when checked at ${checked as string}`);
  assert.equal((await told()).data_version, version, 'a check changes no data');
  await add('FLAW', 10);
  assert.match((await line())!, /^0 errors, 1 warning, 0 info when checked at \S+, 1 change ago$/);
  assert.equal((await own.run('check')).status, 0);
  assert.equal(((await told()).newest_check as { warning: number }).warning, 0);
  own.close();
});

test('a kept check that is damaged counts as none, and the next one replaces it (contract 9.10)', async () => {
  const own = new Workshop();
  writeFileSync(own.path('rows.csv'), `${HEAD}2025-03-03,10,11,9,10,5,12.5\n`);
  await own.must('import', 'bars', 'rows.csv', ...flags, '--symbol', 'FLAW');
  const told = async () =>
    (JSON.parse(await own.must('status', '--json')) as { newest_check: unknown }).newest_check;
  await own.run('check');
  alterStore(own.store, 'update checks set warning = 0');
  assert.equal(await told(), null);
  assert.equal((await own.run('check')).status, 1);
  assert.equal(((await told()) as { warning: number }).warning, 1);
  own.close();
});

test('of one kind about one series bourse check prints ten lines, and how many more there are (contract 9.10, 10)', async () => {
  const wrong = new Workshop();
  const rows = Array.from({ length: 25 }, (_, at) => `2025-01-${String(at + 1).padStart(2, '0')}`)
    .filter((date) => ![0, 6].includes(new Date(date).getUTCDay()))
    .filter((date) => !['2025-01-01', '2025-01-09', '2025-01-20'].includes(date))
    .map((date, at) => `${date},10,11,9,10,${at + 1},12.5\n`);
  writeFileSync(wrong.path('rows.csv'), HEAD + rows.join(''));
  await wrong.must('import', 'bars', 'rows.csv', ...flags, '--symbol', 'VWAPS');
  const { stdout } = await wrong.run('check');
  const lines = stdout.trimEnd().split('\n');
  assert.equal(
    lines.filter((line) => line.startsWith('warning vwap_outside') && line.includes(' to ')).length,
    10,
  );
  assert.deepEqual(lines.slice(-2), [
    `warning vwap_outside         stock:US:VWAPS DAY: ${rows.length - 10} more (--json prints all)`,
    `0 errors, ${rows.length} warnings, 0 info`,
  ]);
  const { findings } = JSON.parse((await wrong.run('check', '--json')).stdout) as Printed;
  assert.equal(findings.length, rows.length);
  wrong.close();
});

test('bourse check names damaged bars, goes on past them and ends with 1 (contract 9.10, 10)', async () => {
  const [{ series_id: id } = { series_id: 0 }] = rowsOf(
    shop.store,
    'select min(series_id) as series_id from series',
  );
  const where = `where series_id = ${String(id)}`;
  alterStore(shop.store, `update bar_blocks set bytes = ${changedByte(40, 7)} ${where}`);
  const { status, stdout, stderr } = await shop.run('check', '--symbol', 'CLEAN');
  assert.deepEqual([status, stdout], [1, '0 errors, 0 warnings, 0 info\n']);
  assert.match(stderr, /damaged, not checked: bars, stock:US:CLEAN DAY/);
});

/** The dates of isolated wicks by the letter of the definition, from lines of an export. */
function wickDates(lines: readonly (readonly string[])[]): string[] {
  const bars = lines.map((cells) => {
    const [open, high, low, close] = cells.slice(-6, -2).map(Number) as [number, number, number, number];
    return { date: cells.at(-7)!.slice(0, 10), open, high, low, close };
  });
  return bars.flatMap(({ date, open, high, low, close }, at) => {
    const [before, after] = [bars[at - 1], bars[at + 1]];
    if (before === undefined || after === undefined) return [];
    const first = Math.max(0, Math.min(at - 31, bars.length - 63));
    const ranges = bars.slice(first, first + 63).map((bar) => Math.log(bar.high / bar.low));
    const usual = ranges.sort((a, b) => a - b)[31]!;
    const top = high / Math.max(open, close, before.high, after.high);
    const bottom = Math.min(open, close, before.low, after.low) / low;
    const isHigh = top > 1.05 && Math.log(top) > 10 * usual;
    const isLow = 1 - 1 / bottom > 0.05 && Math.log(bottom) > 10 * usual;
    return [isHigh, isLow].filter(Boolean).map(() => date);
  });
}

const lean = join(sharedData, 'lean');

test('real series have no error, and as many doubts as a direct count (contract 9.10)', {
  skip: existsSync(lean) ? false : 'the shared data is not there',
}, async () => {
  const real = new Workshop();
  const import_ = (...words: readonly string[]) => real.must('import', ...words);
  await import_('bars', join(lean, 'equity/usa/daily/spy.zip'));
  await import_(
    'bars',
    join(lean, 'equity/usa/minute/spy/20131004_trade.zip'),
    join(lean, 'equity/usa/minute/spy/20131007_trade.zip'),
  );
  await import_('bars', join(lean, 'forex/oanda/daily/gbpusd.zip'));
  const early = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
  await import_('bars', join(sharedData, 'bars/GOOG_1M_2015-12-24.csv'), ...early);
  const { findings, counts } = JSON.parse((await real.run('check', '--json')).stdout) as Printed;
  const shown = JSON.stringify(findings, null, 1);
  assert.equal(counts.error, 0, shown);
  const exported = await real.must(
    'export',
    'bars',
    '--schema',
    'stock',
    '--country',
    'US',
    '--symbol',
    'SPY',
    '--interval',
    'DAY',
  );
  const days = exported
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  const of = (kind: string) =>
    findings
      .filter((finding) => finding.kind === kind && finding.interval === 'DAY' && finding.symbol === 'SPY')
      .map(({ from_datetime }) => String(from_datetime).slice(0, 10));
  assert.ok(days.length > 5_000, `${days.length}`);
  assert.deepEqual(of('isolated_wick'), wickDates(days));
  assert.deepEqual(of('isolated_wick').slice(0, 1), ['2002-04-02'], 'a false print that is known');
  const values = days.map((cells) => cells.slice(-6, -1).join());
  assert.deepEqual(of('stale').length, values.filter((text, at) => text === values[at - 1]).length);
  real.close();
});
