// Errors of commands that were called with --json: one JSON object each, on standard error (contract 10).
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Workshop } from './service.ts';
import { testOfSqlite } from './stores.ts';

const shop = new Workshop();
after(() => shop.close());

const flags = '--schema stock --country US --symbol A --interval 1M --json'.split(' ');

before(async () => {
  writeFileSync(shop.path('good.csv'), 'datetime,open,high,low,close\n2024-01-02T14:30:00Z,1,1,1,1\n');
  writeFileSync(shop.path('empty.csv'), '');
  writeFileSync(shop.path('other.csv'), 'datetime,open\n2024-01-02T14:30:00Z,1\n');
  mkdirSync(shop.path('folder.db'));
  await shop.must('import', 'bars', 'good.csv', ...flags);
});

type Told = {
  readonly error: string;
  readonly message: string;
  readonly hint: string | null;
  readonly exit: number;
};

const toldIn = (stderr: string): Told[] =>
  stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Told);

type Wrong = readonly [call: string, error: string, exit: number, message: RegExp, hint: RegExp | null];

const wrongCalls: readonly Wrong[] = [
  ['import bars none.csv --json', 'usage', 2, /none\.csv: there is no such file/, null],
  ['import bras good.csv --json', 'usage', 2, /no dataset bras/, /^is it bars\?$/],
  ['import bars empty.csv --json', 'bad_file', 1, /empty\.csv: is empty/, null],
  ['import bars other.csv --json', 'unfit_file', 2, /other\.csv: required columns missing/, null],
  ['import bars good.csv --jsn --json', 'usage', 2, /unknown option '--jsn'/, /^Did you mean --json\?$/],
  ['import bars good.csv --store sqlite:folder.db --json', 'usage', 2, /is a folder/, null],
  ['status --store sqlite:none.db --json', 'store_unusable', 3, /there is no store/, null],
  ['status --store nosuch:x --json', 'usage', 2, /nosuch/, null],
  ['undo --json', 'usage', 2, /name the run to undo/, /run +finished/],
  ['undo 99 --json', 'usage', 2, /there is no run 99/, /good\.csv/],
  ['keys list --store sqlite:none.db --json', 'store_unusable', 3, /there is no store/, null],
  ['calendar NONE --json', 'usage', 2, /NONE/, null],
  ['delete bars --json', 'usage', 2, /\S/, null],
  ['export bars --symbol NONE --out x.csv --json', 'usage', 2, /NONE/, null],
  ['export news --out x.csv --json', 'no_data', 1, /no news to export/, null],
  ['config --port x --json', 'usage', 2, /--port/, null],
  ['backup . --json', 'usage', 2, /\S/, null],
  ['restore none.backup --json', 'usage', 2, /\S/, null],
  ['doctor --port x --json', 'usage', 2, /--port/, null],
];

for (const [call, error, exit, message, hint] of wrongCalls) {
  // A copy as a file is of SQLite alone.
  const testOfEngine = /^(?:backup|restore) /.test(call) ? testOfSqlite : test;
  testOfEngine(`bourse ${call} tells its error as one object (contract 10)`, async () => {
    const { status, stdout, stderr } = await shop.run(
      ...call.split(' '),
      ...(call.startsWith('import') ? flags.slice(0, -1) : []),
    );
    const [told, ...others] = toldIn(stderr);
    assert.deepEqual([status, stdout, others], [exit, '', []], stderr);
    assert.deepEqual(Object.keys(told!), ['error', 'message', 'hint', 'exit']);
    assert.deepEqual([told!.error, told!.exit], [error, exit], stderr);
    assert.match(told!.message, message);
    if (hint === null) assert.equal(told!.hint, null);
    else assert.match(told!.hint!, hint);
  });
}

test('of several files each that cannot be imported is one object, and the sums are another (contract 10)', async () => {
  const { status, stdout, stderr } = await shop.run(
    'import',
    'bars',
    'empty.csv',
    'good.csv',
    'other.csv',
    ...flags,
  );
  assert.equal(status, 1);
  assert.equal((JSON.parse(stdout) as { file: string }).file, 'good.csv');
  const [first, second, sums, ...rest] = toldIn(stderr);
  assert.deepEqual([first!.error, second!.error, rest], ['bad_file', 'unfit_file', []]);
  assert.deepEqual(sums, {
    files: 3,
    failed: 2,
    rowsNew: 0,
    rowsReplaced: 0,
    rowsUnchanged: 1,
    rowsRefused: 0,
  });
});
