// `bourse check` beside a control file that is none (contract 9.10, 10).
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Workshop } from '../service.ts';
import { storeFile } from './files.ts';

const flags = ['--schema', 'stock', '--country', 'US', '--interval', 'DAY', '--symbol', 'FLAW'];

test('a check that cannot be kept tells its findings all the same, and bourse status the store (contract 9.10, 10)', async () => {
  const own = new Workshop();
  writeFileSync(
    own.path('rows.csv'),
    `datetime,open,high,low,close,volume,vwap\n2025-03-03,10,11,9,10,5,12.5\n`,
  );
  await own.must('import', 'bars', 'rows.csv', ...flags);
  await own.run('check');
  writeFileSync(
    storeFile(own.store).replace('.db', '.control.db'),
    'no database at all, but a text of some length'.repeat(99),
  );
  const { status, stdout, stderr } = await own.run('check');
  assert.equal(status, 1);
  assert.match(stdout, /\n0 errors, 1 warning, 0 info\n$/);
  assert.match(stderr, /^bourse: this check is not kept for bourse status: .*\.control\.db/);
  const { newest_check, totals } = JSON.parse(await own.must('status', '--json'));
  assert.deepEqual([newest_check, totals.bars], [null, 1]);
  own.close();
});

test('a check of a store that stood here before is not told of the one that is here now (contract 10)', async () => {
  const own = new Workshop();
  writeFileSync(
    own.path('rows.csv'),
    `datetime,open,high,low,close,volume,vwap\n2025-03-03,10,11,9,10,5,12.5\n`,
  );
  const told = async (): Promise<unknown> =>
    (JSON.parse(await own.must('status', '--json')) as { newest_check: unknown }).newest_check;
  await own.must('import', 'bars', 'rows.csv', ...flags);
  await own.run('check');
  assert.notEqual(await told(), null);
  for (const end of ['', '-wal', '-shm']) rmSync(`${storeFile(own.store)}${end}`, { force: true });
  await own.must('import', 'bars', 'rows.csv', ...flags);
  assert.equal(await told(), null);
  own.close();
});
