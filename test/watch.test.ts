// `bourse import --watch`: files are taken when they are whole, each once, across kills and restarts.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Workshop } from './service.ts';
import { writeDays } from './sqlite/copies.ts';
import { rowsOf } from './stores.ts';

const shop = new Workshop();
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  shop.close();
});

const PATIENCE_MS = 60_000;

/** A watch under way, and what it says. */
class Watch {
  said = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(folder: string) {
    const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M', '--symbol', 'A'];
    this.#child = shop.start(['import', 'bars', '--watch', folder, ...flags]);
    children.push(this.#child);
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.on('data', (piece) => {
        this.said += piece;
      });
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve));
  }

  async until(said: RegExp): Promise<void> {
    const endMs = performance.now() + PATIENCE_MS;
    while (!said.test(this.said)) {
      assert.ok(performance.now() < endMs, `${said} was not said: ${this.said}`);
      await wait(50);
    }
  }

  end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.#ended;
  }
}

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

  const first = new Watch(folder);
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

  const second = new Watch(folder);
  renameSync(writeDays(shop, 'z.csv', [5]), place('z.csv'));
  await second.until(/z\.csv: 1 row read/);
  writeFileSync(place('bad.csv'), `${header}2025-05-05T15:00:00Z,1,1,1,1\n2025-05-05T15:01:00Z,1,0,1,1\n`);
  await second.until(/bad\.csv: 2 rows read, 1 new.*1 row refused, kept in [^;]*rejected\.csv: data row 2/);
  assert.equal(await second.end('SIGTERM'), 0);
  assert.match(second.said, /^bourse: watching.*\n.*z\.csv.*\n.*bad\.csv.*new.*\nbourse: stopped\n$/);
  const all = ['a.csv 1', 'b.csv 1', 'grows.csv 8', 'z.csv 1', 'bad.csv 1'];
  assert.deepEqual(recorded(), all);
});

const UNREADABLE = '/proc/self/mem';

test('a file that cannot be read is told once, and keeps no other out', {
  skip: existsSync(UNREADABLE)
    ? false
    : `${UNREADABLE}, which nobody can read at its beginning, is not there`,
}, async () => {
  const folder = shop.path('odd');
  mkdirSync(folder);
  symlinkSync(UNREADABLE, join(folder, 'odd.csv'));
  const watch = new Watch(folder);
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
