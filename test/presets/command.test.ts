// Presets and --explain on the command line (contract 10, contract 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { presets } from '../../src/imports/map/presets/index.ts';
import { engineAt } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';
import { barsOf } from '../stored.ts';
import { Vendor } from './vendor.ts';

const shop = new Workshop();
const vendor = new Vendor();
after(() => {
  shop.close();
  vendor.close();
});

const massive = [
  'ticker,volume,open,close,high,low,window_start,transactions',
  'AAPL,4930,200.29,200.5,200.63,200.11,1744810200000000000,129',
  'AAPL,18,200.5,200.6,200.61,200.34,1744810260000000000,57',
].join('\n');

test('a file is imported without a word of what it is, and the report says what was taken for granted', async () => {
  writeFileSync(shop.path('2025-04-16.csv'), `${massive}\n`);
  const told = await shop.must('import', 'bars', '2025-04-16.csv');
  assert.match(
    told,
    /read by the preset massive: asset_schema stock, country_iso_code US, interval 1M, prices raw/,
  );
  assert.deepEqual(Object.keys(barsOf(shop.store)), ['stock:US:AAPL:1M']);
});

test('a file with semicolons is imported, and the report says so; a separator is one character', async () => {
  writeFileSync(shop.path('semi.csv'), 'datetime;open;high;low;close\n2025-02-03T14:30:00Z;1;2;0.5;1.5\n');
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'SEMI', '--interval', '1M'];
  const told = await shop.must('import', 'bars', 'semi.csv', ...flags);
  assert.match(told, /1 row read, 1 new.*\n {2}read as text separated by ";", with a header\n/);
  const wrong = await shop.run('import', 'bars', 'semi.csv', ...flags, '--delimiter', ';;');
  assert.deepEqual([wrong.status, wrong.stderr], [2, 'bourse: --delimiter ;;: must be one character\n']);
  for (const [form, says] of [
    ['%d/%m', 'has no year, such as %Y or %y'],
    ['%d %k %Y', 'has %k, which is not part of a date format'],
  ] as const)
    for (const more of [[], ['--explain', '--write-map', 'no.json']]) {
      const told = await shop.run('import', 'bars', 'semi.csv', ...flags, '--date-format', form, ...more);
      assert.deepEqual([told.status, told.stderr], [2, `bourse: --date-format ${form}: ${says}\n`]);
    }
});

test('a file most of whose bars lie outside every session asks for its zone', async () => {
  const rows = [30, 31].map((minute) => `2025-02-03 09:${minute}:00,1,2,0.5,1.5`);
  writeFileSync(shop.path('local.csv'), `datetime,open,high,low,close\n${rows.join('\n')}\n`);
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'L', '--interval', '1M'];
  const told = await shop.must('import', 'bars', 'local.csv', ...flags, '--zone', 'Australia/Sydney');
  assert.match(told, /outside every session.*: 2 bars; is the zone of the times right \(--zone\)\?/);
});

test('--preset list shows every preset with its example, with a dataset and without', async () => {
  const [list, ofBars] = await Promise.all([
    shop.must('import', '--preset', 'list'),
    shop.must('import', 'bars', '--preset', 'list'),
  ]);
  assert.equal(list, ofBars);
  for (const { name, example } of presets) {
    assert.ok(list.includes(`  ${name}: `), name);
    for (const line of example) assert.ok(list.includes(line), name);
  }
});

test('--explain shows preset, columns and first rows, and writes nothing', async () => {
  const store = shop.storeUrl('none');
  const args = ['import', 'bars', '2025-04-16.csv', '--explain', '--store', store];
  const told = await shop.must(...args);
  assert.match(told, /text separated by commas, with a header; nothing was imported/);
  assert.match(told, /read by the preset massive/);
  assert.match(told, /datetime: window_start/);
  assert.match(told, /unused columns are ignored: transactions/);
  assert.match(told, /2025-04-16T13:30:00Z +200\.29 +200\.63 +200\.11 +200\.5/);
  const explained = JSON.parse(await shop.must(...args, '--json', '--symbol', 'X')) as Record<
    string,
    unknown
  >;
  assert.equal((explained.values as Record<string, string>).symbol, 'X');
  assert.equal((explained.rows as unknown[]).length, 2);
  assert.ok(!(await engineAt(store).isMade()));
});

test('--explain tells what is missing, and what a cell would be refused for', async () => {
  writeFileSync(shop.path('a.csv'), 'datetime,open,high,low,close\n2025-02-03 09:30:00,x,2,0.5,1.5\n');
  const missing = await shop.run('import', 'bars', 'a.csv', '--explain', '--schema', 'stock');
  assert.equal(missing.status, 2);
  assert.match(missing.stderr, /missing: country_iso_code, symbol, interval/);
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
  const told = await shop.run('import', 'bars', 'a.csv', '--explain', ...flags);
  assert.equal(told.status, 1);
  assert.match(
    told.stdout,
    /1 of 1 row would be refused:\n {2}data row 1, column open: is not a number \("x"\)/,
  );
  assert.match(
    told.stdout,
    /2025-02-03 09:30:00 \(has no offset: name its zone by --zone\) +x \(refused: is not a number\)/,
  );
});

test('--explain shows a text that begins as a cell that could not be made is marked', async () => {
  writeFileSync(
    shop.path('marked.csv'),
    'asset_schema,country_iso_code,symbol,name\nstock,US,A,\u0001 a name\n',
  );
  assert.match(await shop.must('import', 'instruments', 'marked.csv', '--explain'), /a name/);
});

test('a flag that no file of a dataset could have is told before any file is read, also of a folder that is watched', async () => {
  for (const [args, message] of [
    [['bars', '--interval', '2X'], /--interval 2X: must be one of 1M/],
    [['bars', '--schema', 'shares'], /--schema shares: must be one of stock/],
    [['news', '--interval', '1M'], /--interval does not apply to news: it is for bars/],
    [['economic-events', '--symbol', 'X'], /--symbol does not apply to economic-events: it is for bars, /],
    [['bars', '--zone', 'Amerika/New_York'], /is not a time zone; is it America\/New_York\?/],
  ] as const)
    for (const source of [['none.csv'], ['--watch', '.']]) {
      const { status, stderr } = await shop.run('import', ...args, ...source);
      assert.equal(status, 2);
      assert.match(stderr, message);
    }
});

test('holidays of a whole market may be given by --symbol', async () => {
  writeFileSync(
    shop.path('days.csv'),
    'name,holiday_code,calendar_date,session_template\nX,HOLIDAY_X,2025-03-04,CLOSED\n',
  );
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', '*', '--dry-run'];
  assert.match(await shop.must('import', 'holidays', 'days.csv', ...flags), /1 row read, 1 new/);
});

test('--explain shows the rows that a file is converted to', async () => {
  writeFileSync(
    shop.path('leanx.csv'),
    '20120518,0.97,0.25,1\n20190805,0.97,0.25,100\n20200828,1,0.25,499\n20501231,1,1,0\n',
  );
  const said = await shop.must('import', 'corporate-actions', 'leanx.csv', '--explain');
  assert.match(said, /leanx\.csv: converted as a whole; nothing was imported/);
  assert.match(said, /country_iso_code: US, in every row\n +symbol: LEANX, in every row/);
  assert.match(
    said,
    /US +LEANX +dividend +2019-08-06 +3\.00 +USD +100\s+US +LEANX +split +2020-08-31 +1 +4 +499$/,
  );
  assert.doesNotMatch(said, /unused columns|lean_date/);
});

test('--watch goes with no file, and without what stores nothing', async () => {
  for (const flag of ['--explain', '--dry-run', 'a.csv']) {
    const { status, stderr } = await shop.run('import', 'bars', '--watch', '.', flag);
    assert.equal(status, 2);
    assert.match(stderr, /--watch imports the files of its folder/);
  }
});

test('a preset that is not there, or of another dataset, or beside a map, is wrong usage', async () => {
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { status, stderr } = await shop.run('import', ...args);
    assert.equal(status, 2);
    return stderr;
  };
  assert.match(await refused('bars', 'a.csv', '--preset', 'masive'), /no preset masive.*is it massive\?/);
  assert.match(
    await refused('news', 'a.csv', '--preset', 'yahoo'),
    /the preset yahoo reads bars\. Use bourse import bars/,
  );
  assert.match(
    await refused('bars', 'a.csv', '--preset', 'yahoo', '--map', 'm.json'),
    /Give only one of them/,
  );
});

for (const { name, dataset, example } of presets) {
  test(`the example of ${name} is a file of ${name}, and of no other preset`, async () => {
    const fitting = presets.filter((preset) => {
      const sample = { name: 'x', isCut: false, text: `${example.join('\n')}\n` };
      return preset.fits(sample) === 'surely' || (preset.name === name && preset.fits(sample) === 'perhaps');
    });
    assert.deepEqual(
      fitting.map((preset) => preset.name),
      [name],
    );
    if (dataset !== 'bars' || name === 'lean') return;
    const fields = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A', interval: 'DAY' };
    const { interval: _, ...given } = fields;
    const own = ['databento', 'stooq'].includes(name) ? given : fields;
    const report = await vendor.import('x.txt', `${example.join('\n')}\n`, {
      preset: name,
      zone: 'UTC',
      fields: own,
    });
    assert.deepEqual([report.rowsRead, report.rowsRefused], [1, 0]);
  });
}
