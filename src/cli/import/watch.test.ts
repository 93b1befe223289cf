// `bourse import --watch`: files are taken when they are whole, each once, across kills and restarts.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Workshop } from '../../../test/service.ts';
import { writeDays } from '../../../test/sqlite/copies.ts';
import { fileStore } from '../../../test/sqlite/files.ts';
import { rowsOf } from '../../../test/stores.ts';
import { endWatches, Watch } from '../../../test/watching.ts';
import { watchFolder } from './watch.ts';

const shop = new Workshop();
after(() => {
  endWatches();
  shop.close();
});

const recorded = (): string[] =>
  rowsOf(shop.store, 'select file, rows_written from import_runs order by run_id').map(
    (run) => `${String(run.file)} ${String(run.rows_written)}`,
  );

test('a file is taken once it has not changed for three seconds, and no other waits for it', async (t) => {
  const folder = shop.path('resting');
  mkdirSync(folder);
  let nowMs = 0;
  let looks = 0;
  t.mock.method(performance, 'now', () => {
    looks++;
    return nowMs;
  });
  const taken: string[] = [];
  const watching = watchFolder({
    folder,
    dataset: 'bars',
    recordedFlags: {},
    storeUrl: fileStore(shop.path('none.db')),
    async take(paths, onTaken) {
      for await (const path of paths) {
        taken.push(basename(path));
        await onTaken(path, null);
      }
    },
    tellFailed: () => Promise.resolve(),
  });
  t.after(() => {
    process.emit('SIGTERM');
    return watching;
  });
  /**
   * The files that are taken by a moment of the watch's clock: at the second look from now on those of the
   * first are.
   */
  const takenAt = async (ms: number): Promise<readonly string[]> => {
    nowMs = ms;
    for (const before = looks; looks < before + 2; ) await wait(5);
    return taken;
  };
  await takenAt(0);
  writeFileSync(join(folder, 'grows.csv'), 'a\n');
  assert.deepEqual(await takenAt(1_000), []);
  writeFileSync(join(folder, 'whole.csv'), 'a\n');
  assert.deepEqual(await takenAt(2_000), []);
  appendFileSync(join(folder, 'grows.csv'), '1\n');
  assert.deepEqual(await takenAt(3_000), []);
  assert.deepEqual(await takenAt(4_999), []);
  assert.deepEqual(await takenAt(5_000), ['whole.csv']);
  assert.deepEqual(await takenAt(5_999), ['whole.csv']);
  assert.deepEqual(await takenAt(6_000), ['whole.csv', 'grows.csv']);
});

const UNREADABLE = '/proc/self/mem';

test('a watched folder’s files are imported as they arrive whole, each once, whatever ends the watch', async (t) => {
  const folder = shop.path('incoming');
  mkdirSync(folder);
  const place = (name: string): string => join(folder, name);
  const header = 'datetime,open,high,low,close\n';
  renameSync(writeDays(shop, 'b.csv', [1]), place('b.csv'));
  renameSync(writeDays(shop, 'a.csv', [0]), place('a.csv'));
  writeFileSync(place('bad.csv'), 'when,price\n1,2\n');
  for (const name of ['.hidden.csv', 'c.csv.part', 'a.rejected.csv']) writeFileSync(place(name), header);
  // Nobody can read it at its beginning.
  const isOdd = existsSync(UNREADABLE);
  if (isOdd) symlinkSync(UNREADABLE, place('odd.csv'));
  else t.diagnostic(`no file that cannot be read: ${UNREADABLE} is not there`);

  const first = new Watch(shop, folder);
  await first.until(/bad\.csv: required columns missing/);
  assert.match(first.said, /^bourse: watching .*incoming for files of bars\n/);
  assert.match(first.said, /a\.csv: 1 row read, 1 new.*\n.*b\.csv: 1 row read, 1 new/);
  renameSync(writeDays(shop, 'y.csv', [4]), place('y.csv'));
  await first.until(/y\.csv: 1 row read, 1 new/);
  // A file that cannot be read is reported once, and keeps no other out.
  assert.equal(first.times(/odd\.csv: it cannot be read \(\w+\)\n/), isOdd ? 1 : 0);
  await first.end('SIGKILL');

  const second = new Watch(shop, folder);
  renameSync(writeDays(shop, 'z.csv', [5]), place('z.csv'));
  await second.until(/z\.csv: 1 row read/);
  writeFileSync(place('bad.csv'), `${header}2025-05-05T15:00:00Z,1,1,1,1\n2025-05-05T15:01:00Z,1,0,1,1\n`);
  await second.until(/bad\.csv: 2 rows read, 1 new.*1 row refused, kept in [^;]*rejected\.csv: data row 2/);
  assert.equal(await second.end('SIGTERM'), 0);
  assert.equal(second.times(/skipped: run \d imported it with these flags/), 3);
  assert.match(second.said, /bourse: stopped\n$/);
  const all = ['a.csv 1', 'b.csv 1', 'y.csv 1', 'z.csv 1', 'bad.csv 1'];
  assert.deepEqual(recorded(), all);
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
