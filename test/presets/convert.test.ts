// Files that a preset converts whole, by every way in which a file comes (contract 10, contract 11).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { limits } from '../../src/contract/limits.ts';
import { Workshop } from '../service.ts';
import { rowsOf } from '../stores.ts';
import { until } from '../until.ts';
import { zipOf } from '../zip.ts';
import { Vendor } from './vendor.ts';

const shop = new Workshop();
const vendor = new Vendor();
after(() => {
  shop.close();
  vendor.close();
});

const FACTORS = 'equity/usa/factor_files/abc.csv';
const asActions = { dataset: 'corporate-actions' };
const END = '20501231,1,1,0\n';
const split = `20200828,1,0.25,499\n${END}`;

const actionsIn = (path: string) =>
  rowsOf(
    path,
    'select symbol, action_type, cash_amount from corporate_actions order by symbol, ex_date, action_type',
  ).map((row) => Object.values(row));

test('the run keeps name and hash of the file as it came, and nothing of it stays in the temporary folder', async () => {
  const temporary = shop.path('temporary');
  mkdirSync(temporary);
  writeFileSync(shop.path('abc.csv'), split);
  const args = ['import', 'corporate-actions', 'abc.csv', '--json'];
  const { status, stdout } = await shop.runWith({ TMPDIR: temporary }, ...args);
  assert.equal(status, 0);
  const sha256 = createHash('sha256').update(split).digest('hex');
  const report = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  assert.deepEqual(
    [report.sha256, report.ignoredColumns, report.preset],
    [
      sha256,
      [],
      { name: 'lean-factors', says: { country_iso_code: 'US', symbol: 'ABC', symbols: 'now' }, doubt: null },
    ],
  );
  const [run] = rowsOf(shop.store, 'select file, sha256 from import_runs');
  assert.deepEqual({ ...run }, { file: 'abc.csv', sha256 });
  assert.deepEqual(readdirSync(temporary), []);
  assert.match(await shop.must(...args.slice(0, 3)), /1 row read, 0 new, 0 replaced, 1 unchanged/);
});

test('standard input has no name: the symbol is a flag, and asked for without it', async () => {
  const args = ['import', 'corporate-actions', '-', '--preset', 'lean-factors'];
  const asked = await shop.pipe(split, ...args);
  assert.equal(asked.status, 2);
  assert.match(asked.stderr, /required column missing: symbol\. .*give it as a flag: --symbol/);
  const { status, stdout } = await shop.pipe(split, ...args, '--symbol', 'PIPED');
  assert.equal(status, 0);
  assert.match(stdout, /standard input: 1 row read, 1 new/);
  assert.deepEqual(actionsIn(shop.store).at(-1), ['PIPED', 'split', null]);
});

test('each file of an archive is converted, and one that cannot be keeps no other out', async () => {
  const twice = `20200828,1,0.25,499\n20200828,1,0.5,499\n${END}`;
  const members = { 'za.csv': split, 'zb.csv': twice, 'zc.csv': split };
  const zip = zipOf(...Object.entries(members).map(([name, text]) => ({ name, bytes: Buffer.from(text) })));
  mkdirSync(shop.path('factor_files'));
  writeFileSync(shop.path('factor_files/all.zip'), zip);
  const { status, stdout, stderr } = await shop.run('import', 'corporate-actions', 'factor_files/all.zip');
  assert.equal(status, 1);
  assert.match(stderr, /all\.zip\/zb\.csv: has two rows of 20200828/);
  assert.match(stdout, /all\.zip\/za\.csv: 1 row read[\s\S]*all\.zip\/zc\.csv: 1 row read/);
  assert.deepEqual(
    actionsIn(shop.store)
      .map(([symbol]) => symbol)
      .filter((symbol) => String(symbol).startsWith('Z')),
    ['ZA', 'ZC'],
  );
});

test('a watched folder takes such files', async () => {
  const folder = shop.path('incoming');
  mkdirSync(folder);
  const child = shop.start(['import', 'corporate-actions', '--watch', folder]);
  let said = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (piece) => (said += piece));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    writeFileSync(join(folder, 'arrived.part'), `20190805,1,0.5,100\n${END}`);
    renameSync(join(folder, 'arrived.part'), join(folder, 'arrived.csv'));
    await until(
      () => `the file is imported: ${said}`,
      () => /arrived\.csv: 1 row read, 1 new/.test(said),
    );
  } finally {
    child.kill('SIGTERM');
  }
  assert.equal(await ended, 0);
  assert.match(said, /read by the preset lean-factors: country_iso_code US, symbol ARRIVED/);
});

const old = '19980102,0.9,0.25\n19991119,0.9,0.25\n20110103,1,1\n20501231,1,1\n';

test('refused rows are native rows with the numbers of the file; mended, they are actions of the file’s own instrument', async () => {
  const asInstruments = { dataset: 'instruments' };
  await vendor.import('equity/usa/map_files/twx.1.csv', '19980102,twx\n20010111,twx\n', asInstruments);
  await vendor.import(
    'equity/usa/map_files/twx.csv',
    '19980102,aol\n20031015,aol\n20501231,twx\n',
    asInstruments,
    false,
  );
  const report = await vendor.import('equity/usa/factor_files/twx.csv', old, asActions, false);
  assert.deepEqual(report.refused, [
    { row: 2, column: 'cash_amount', reason: 'is missing: a dividend needs it', value: null },
  ]);
  const [header, row] = readFileSync(report.rejectedFile!, 'utf8').split('\r\n');
  assert.equal(
    row,
    'US,TWX,19991119,dividend,1999-11-22,,USD,,,,2,cash_amount,is missing: a dividend needs it',
  );
  const mended = `${header}\r\n${row!.replace('1999-11-22,,', '1999-11-22,0.5,')}\r\n`;
  const again = await vendor.import('equity/usa/factor_files/twx.rejected.csv', mended, asActions, false);
  assert.deepEqual([again.rowsRead, again.rowsWritten, again.preset?.name], [1, 1, 'lean-factors']);
  assert.deepEqual(actionsIn(vendor.url), [
    ['TWX', 'dividend', 0.5],
    ['TWX', 'split', null],
  ]);
});

test('refused rows that are mended and refused again say so once, and the report names their preset', async () => {
  writeFileSync(shop.path('equity.csv'), old);
  const first = await shop.run('import', 'corporate-actions', 'equity.csv', '--preset', 'lean-factors');
  assert.match(first.stdout, /data row 2, column cash_amount: is missing/);
  const again = await shop.run('import', 'corporate-actions', 'equity.rejected.csv');
  assert.equal(again.status, 1);
  assert.match(again.stdout, /\n {2}read by the preset lean-factors: symbols now\n/);
  const [header, row] = readFileSync(shop.path('equity.rejected.rejected.csv'), 'utf8').split('\r\n');
  assert.equal(header!.split(',').filter((name) => name.startsWith('rejected_')).length, 3);
  assert.match(row!, /,1,cash_amount,is missing: a dividend needs it$/);
});

test('a row further down that is of another form, or no text, is told with its number, and nothing is taken', async () => {
  const days = Array.from({ length: 4000 }, (_, index) => String(19_000_000 + index));
  const rows = days.map((day) => `${day},1,1,100.1234567890\n`).join('');
  assert.match(
    await vendor.refusal(FACTORS, `${rows}20200828,one,1,10\n${END}`, asActions),
    /row 4001 does not have the form of the first one/,
  );
  assert.match(
    await vendor.refusal(FACTORS, `${rows}"20200828\n${END}`, asActions),
    /row 4001 cannot be read as CSV: check its quotes/,
  );
  const bytes = Buffer.concat([Buffer.from(rows), Buffer.from('20200828,1,1,10,Ä\n', 'latin1')]);
  assert.match(await vendor.refusal(FACTORS, bytes, asActions), /is not UTF-8/);
});

test('a file that memory is not to hold is refused with its bound', async () => {
  const line = '20200828,1,1,100.1234567890\n';
  const text = line.repeat(Math.ceil(limits.convertedBytesMax / line.length) + 1);
  assert.match(
    await vendor.refusal(FACTORS, text, asActions),
    new RegExp(`larger than ${limits.convertedBytesMax} bytes`),
  );
});
