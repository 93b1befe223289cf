// `bourse import --watch`: files are taken when they are whole, each once, across kills and restarts.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Workshop } from '../../test/service.ts';
import { writeDays } from '../../test/sqlite/copies.ts';
import { rowsOf } from '../../test/stores.ts';
import { endWatches, Watch } from '../../test/watching.ts';

const shop = new Workshop();
after(() => {
  endWatches();
  shop.close();
});

const recorded = (): string[] =>
  rowsOf(shop.store, 'select file, rows_written from import_runs order by run_id').map(
    (run) => `${String(run.file)} ${String(run.rows_written)}`,
  );

test('a watched folder’s files are imported as they arrive whole, each once, whatever ends the watch', async () => {
  const folder = shop.path('incoming');
  mkdirSync(folder);
  const place = (name: string): string => join(folder, name);
  const header = 'datetime,open,high,low,close\n';
  renameSync(writeDays(shop, 'b.csv', [1]), place('b.csv'));
  renameSync(writeDays(shop, 'a.csv', [0]), place('a.csv'));
  writeFileSync(place('bad.csv'), 'when,price\n1,2\n');
  for (const name of ['.hidden.csv', 'c.csv.part', 'a.rejected.csv']) writeFileSync(place(name), header);

  const first = new Watch(shop, folder);
  await first.until(/bad\.csv: required columns missing/);
  assert.match(first.said, /^bourse: watching .*incoming for files of bars\n/);
  assert.match(first.said, /a\.csv: 1 row read, 1 new.*\n.*b\.csv: 1 row read, 1 new/);
  writeFileSync(place('grows.csv'), header);
  // Longer than a file rests before it is taken, with pauses far below that.
  for (const day of ['10', '11', '12', '13', '14', '15', '16', '17']) {
    await wait(500);
    appendFileSync(place('grows.csv'), `2025-04-${day}T15:00:00Z,1,1,1,1\n`);
  }
  await first.until(/grows\.csv: 8 rows read, 8 new/);
  await first.end('SIGKILL');

  const second = new Watch(shop, folder);
  renameSync(writeDays(shop, 'z.csv', [5]), place('z.csv'));
  await second.until(/z\.csv: 1 row read/);
  writeFileSync(place('bad.csv'), `${header}2025-05-05T15:00:00Z,1,1,1,1\n2025-05-05T15:01:00Z,1,0,1,1\n`);
  await second.until(/bad\.csv: 2 rows read, 1 new.*1 row refused, kept in [^;]*rejected\.csv: data row 2/);
  assert.equal(await second.end('SIGTERM'), 0);
  assert.equal(second.times(/skipped: run \d imported it with these flags/), 3);
  assert.match(second.said, /bourse: stopped\n$/);
  const all = ['a.csv 1', 'b.csv 1', 'grows.csv 8', 'z.csv 1', 'bad.csv 1'];
  assert.deepEqual(recorded(), all);
});

const UNREADABLE = '/proc/self/mem';

test('a file that cannot be read is reported once, and keeps no other out', {
  skip: existsSync(UNREADABLE)
    ? false
    : `${UNREADABLE}, which nobody can read at its beginning, is not there`,
}, async () => {
  const folder = shop.path('odd');
  mkdirSync(folder);
  symlinkSync(UNREADABLE, join(folder, 'odd.csv'));
  const watch = new Watch(shop, folder);
  await watch.until(/odd\.csv: it cannot be read \(\w+\)\n/);
  renameSync(writeDays(shop, 'good.csv', [9]), join(folder, 'good.csv'));
  await watch.until(/good\.csv: 1 row read/);
  await watch.end('SIGTERM');
  assert.equal(watch.said.split('cannot be read').length - 1, 1);
});

test('a watch is asked for without files, without --dry-run, and of a folder that is there', async () => {
  const cases = [
    [[], /name the files to import, or with --watch the folder/],
    [['x.csv', '--watch', '.'], /--watch imports the files of its folder/],
    [['--watch', '.', '--dry-run'], /--watch imports the files of its folder/],
    [['--watch', 'nowhere'], /--watch nowhere: there is no such folder/],
  ] as const;
  for (const [args, said] of cases) {
    const { status, stderr } = await shop.run('import', 'bars', ...args);
    assert.match(stderr, said);
    assert.equal(status, 2);
  }
});
