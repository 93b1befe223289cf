// `--quiet`: only results and errors are printed (contract 10.4).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const header = 'datetime,open,high,low,close,extra\n';
const good = '2025-05-05T15:00:00Z,1,1,1,1,x\n';
const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M', '--symbol', 'A'];

/** What a command prints, without `--quiet` and with it. */
async function both(...words: string[]): Promise<{ readonly loud: string[]; readonly quiet: string[] }> {
  const loud = await shop.run(...words);
  const quiet = await shop.run(...words, '--quiet');
  assert.equal(loud.status, quiet.status, words.join(' '));
  return { loud: [loud.stdout, loud.stderr], quiet: [quiet.stdout, quiet.stderr] };
}

test('an import prints its line and the refused rows, and what went wrong (contract 10.4)', async () => {
  writeFileSync(shop.path('bars.csv'), `${header}${good}2025-05-05T15:01:00Z,1,0,1,1,x\n`);
  writeFileSync(shop.path('bad.csv'), 'when,price\n1,2\n');
  const { loud, quiet } = await both('import', 'bars', 'bars.csv', 'bad.csv', ...flags);
  assert.match(loud[0]!, /unused columns are ignored: extra/);
  assert.match(
    quiet[0]!,
    /^bars\.csv: 2 rows read, 0 new, 0 replaced, 1 unchanged, 1 refused \(run \d+, .* s\)\n {2}1 row refused, kept in .*\n {2}data row 2, column high: .*\n$/,
  );
  assert.match(quiet[1]!, /^bourse: bad\.csv: required columns missing/);
});

test('--quiet is not recorded among the flags of a run (contract 10.4)', async () => {
  writeFileSync(shop.path('bars.csv'), `${header}${good}`);
  await shop.must('import', 'bars', 'bars.csv', ...flags, '--quiet');
  const report = JSON.parse(await shop.must('status', '--json')) as { runs: { flags?: unknown }[] };
  assert.ok(!JSON.stringify(report.runs[0]).includes('quiet'));
});

test('exports, deletions and keys print their results without hints (contract 10.4)', async () => {
  const exported = await both('export', 'bars', '--out', 'out.csv', '--force');
  assert.match(exported.loud[0]!, /Import it again with: bourse import bars out\.csv/);
  assert.match(exported.quiet[0]!, /^out\.csv: 1 row, \d+ bytes\n$/);
  const streamed = await both('export', 'bars');
  assert.match(streamed.loud[1]!, /standard output: 1 row/);
  assert.deepEqual(streamed.quiet, [streamed.loud[0], '']);
  const secret = await shop.run('keys', 'create', 'me', '--quiet');
  assert.match(secret.stdout, /^\S{20,}\n$/);
  assert.equal(secret.stderr, '');
  const deleted = await shop.must('delete', 'bars', '--symbol', 'A', '--country', 'US', '--quiet');
  assert.match(deleted.trimEnd(), /^stock:US:A: 1 bar at 1M deleted \(run \d+\)$/);
});

test('errors are printed as ever, also wrong usage (contract 10.4)', async () => {
  for (const words of [
    ['undo', '999'],
    ['restore', 'nowhere.backup'],
    ['import', 'bars', 'nowhere.csv', ...flags],
    ['keys', 'revoke', 'ffffff'],
  ]) {
    const { loud, quiet } = await both(...words);
    assert.deepEqual(quiet, loud);
    assert.match(quiet[1]!, /^bourse: /);
  }
});

test('every command that shows progress or prints notes has --quiet (contract 10.4)', async () => {
  for (const path of [
    ...['import', 'export', 'undo', 'check', 'backup', 'restore', 'copy', 'doctor'],
    ...['delete bars', 'delete news', 'keys create', 'keys move', 'keys revoke'],
  ])
    assert.match(await shop.must(...path.split(' '), '--help'), /^ {2}--quiet /m, path);
});
