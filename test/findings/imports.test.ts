// What `bourse import` tells of the findings in what it has stored (contract 9.10, 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from '../service.ts';

const shops: Workshop[] = [];
after(() => {
  for (const shop of shops) shop.close();
});

function newShop(): Workshop {
  const shop = new Workshop();
  shops.push(shop);
  return shop;
}

const HEAD = 'datetime,open,high,low,close,volume,vwap\n';
const flags = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY'];
const isSession = (date: string): boolean =>
  ![0, 6].includes(new Date(date).getUTCDay()) && !['2025-01-01', '2025-01-09', '2025-01-20'].includes(date);
const january = Array.from({ length: 31 }, (_, at) => `2025-01-${String(at + 1).padStart(2, '0')}`).filter(
  isSession,
);

type Printed = {
  readonly findings: readonly Readonly<Record<string, unknown>>[];
  readonly counts: Readonly<Record<string, number>>;
  readonly not_checked: string | null;
};

/** Rows of January, each with a vwap of its own. */
const rowsOf = (vwapOf: (at: number) => number): string =>
  january.map((date, at) => `${date},10,11,9,10,${at + 1},${vwapOf(at)}\n`).join('');

function importBars(shop: Workshop, file: string, rows: string, ...more: readonly string[]) {
  writeFileSync(shop.path(file), HEAD + rows);
  return shop.run('import', 'bars', file, ...flags, '--symbol', file.replace('.csv', ''), ...more);
}

test('an import tells the findings in its bars, at most ten of a kind, and its status stays (contract 9.10, 10)', async () => {
  const shop = newShop();
  const clean = await importBars(
    shop,
    'CLEAN.csv',
    rowsOf(() => 10),
  );
  assert.deepEqual([clean.status, clean.stderr], [0, '']);
  const { status, stderr } = await importBars(
    shop,
    'FLAW.csv',
    rowsOf(() => 12.5),
  );
  assert.equal(status, 0);
  const lines = stderr.trimEnd().split('\n');
  assert.equal(
    lines[0],
    `bourse: findings in the imported bars and next to them: 0 errors, ${january.length} warnings, 0 info`,
  );
  assert.match(
    lines[1]!,
    /^bourse: warning vwap_outside + stock:US:FLAW DAY 2025-01-02T14:30:00\+00:00 to .*: vwap is below the low or above the high by more than half a unit of its last decimal \(run 2\)$/,
  );
  assert.equal(lines.filter((line) => line.includes(' stock:US:FLAW ')).length, 10);
  assert.deepEqual(lines.slice(11), [
    `bourse: vwap_outside: ${january.length - 10} more (bourse check prints them)`,
  ]);
});

test('an import tells no findings with --no-check or --quiet, and none where it changes nothing (contract 9.10, 10)', async () => {
  const flawed = rowsOf((at) => (at === 3 ? 12.5 : 10));
  for (const flag of ['--dry-run', '--no-check', '--quiet']) {
    const shop = newShop();
    const { status, stderr } = await importBars(shop, 'FLAW.csv', flawed, flag);
    assert.deepEqual([status, stderr], [0, ''], flag);
  }
  const shop = newShop();
  const told = await importBars(shop, 'FLAW.csv', flawed);
  assert.match(told.stderr, /vwap/);
  const again = await importBars(shop, 'FLAW.csv', flawed);
  assert.deepEqual([again.status, again.stderr], [0, '']);
});

test('with --json the findings of an import are those of bourse check near its bars, in one record (contract 9.10, 10)', async () => {
  const shop = newShop();
  const flaw = (at: number): number => (at === 0 || at === january.length - 1 ? 12.5 : 10);
  const first = await importBars(shop, 'FLAW.csv', rowsOf(flaw), '--json');
  assert.equal(first.stdout.trimEnd().split('\n').length, 1, 'the report of the file');
  const { findings, counts, not_checked } = JSON.parse(first.stderr) as Printed;
  const checked = JSON.parse((await shop.run('check', '--json')).stdout) as Printed;
  assert.deepEqual([findings, counts, not_checked], [checked.findings, checked.counts, null]);
  assert.equal(findings.length, 2);
  const next = await importBars(shop, 'FLAW.csv', '2025-02-03,10,11,9,10,9,12.5\n', '--json');
  const near = JSON.parse(next.stderr) as Printed;
  assert.deepEqual(
    near.findings.map(({ from_datetime }) => String(from_datetime).slice(0, 10)),
    ['2025-01-31', '2025-02-03'],
    'what is long before the new bars has been told',
  );
});

test('several files are checked once, and more than a hundred series are left to bourse check (contract 9.10, 10)', async () => {
  const shop = newShop();
  const symbols = Array.from({ length: 101 }, (_, at) => `S${at}`);
  const row = (symbol: string): string => `2025-01-02,10,11,9,10,5,12.5,${symbol}\n`;
  const head = HEAD.replace('\n', ',symbol\n');
  writeFileSync(shop.path('a.csv'), head + row('A'));
  writeFileSync(shop.path('b.csv'), head + row('B'));
  const two = await shop.run('import', 'bars', 'a.csv', 'b.csv', ...flags);
  assert.equal(two.stderr.match(/findings in the imported bars.*0 errors, 2 warnings, 0 info/g)?.length, 1);
  assert.match(two.stderr, /\n2 files: 0 failed;[^\n]*\n$/);
  writeFileSync(shop.path('all.csv'), head + symbols.map(row).join(''));
  const all = await shop.run('import', 'bars', 'all.csv', ...flags);
  assert.deepEqual(
    [all.status, all.stderr],
    [0, 'bourse: findings were not searched, run bourse check: more than 100 series were imported\n'],
  );
});

test('a gap of a whole market is told where it is near the bars of any of the files (contract 9.10)', async () => {
  const shop = newShop();
  const hours = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
  const gap = (day: string, minute: number): boolean => day === '2025-01-15' && minute >= 100 && minute < 200;
  const minutes = (days: readonly string[]): string =>
    days
      .flatMap((day) => Array.from({ length: 390 }, (_, minute) => ({ day, minute })))
      .filter(({ day, minute }) => !gap(day, minute))
      .map(({ day, minute }) => {
        const at = new Date(Date.parse(`${day}T14:30:00Z`) + minute * 60_000).toISOString();
        return `${at},10,11,9,10,${minute + 1},10\n`;
      })
      .join('');
  const put = (file: string, days: readonly string[]): void =>
    writeFileSync(shop.path(file), HEAD + minutes(days));
  put('first.csv', january);
  await shop.must('import', 'bars', 'first.csv', ...hours, '--symbol', 'A', '--no-check');
  writeFileSync(
    shop.path('A.csv'),
    `symbol,${HEAD}${minutes(['2024-01-16', '2024-01-17']).replaceAll(/^/gm, 'A,').replace(/A,$/, '')}`,
  );
  writeFileSync(
    shop.path('B.csv'),
    `symbol,${HEAD}${minutes(january).replaceAll(/^/gm, 'B,').replace(/B,$/, '')}`,
  );
  const { stderr } = await shop.run('import', 'bars', 'A.csv', 'B.csv', ...hours, '--json');
  const checked = await shop.run('check', '--json');
  assert.match(checked.stdout, /of the whole market at once/);
  assert.match(stderr, /of the whole market at once/);
});
