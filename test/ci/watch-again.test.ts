// `bourse import --watch`: which files it imports again, which it skips, and where a file that failed shows.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { Workshop } from '../service.ts';
import { rowsOf, testOfSqlite } from '../stores.ts';
import { endWatches, Watch } from '../watching.ts';
import { zipOf } from '../zip.ts';

const shops: Workshop[] = [];
after(() => {
  endWatches();
  for (const shop of shops) shop.close();
});

/** A workshop with a folder to watch. */
function newShop(): Workshop & { readonly folder: string } {
  const shop = new Workshop();
  shops.push(shop);
  mkdirSync(shop.path('incoming'));
  return shop;
}

/** A file of one minute bar, whose price tells its version. */
const barOf = (price: number): string =>
  `datetime,open,high,low,close\n2025-03-03T15:00:00Z,${price},${price},${price},${price}\n`;

/** Puts a whole file into the watched folder at once. */
function put(shop: Workshop, name: string, content: string | Buffer): void {
  writeFileSync(shop.path(`${name}.new`), content);
  renameSync(shop.path(`${name}.new`), join(shop.path('incoming'), name));
}

const zipped = (price: number): Buffer => zipOf({ name: 'm.csv', bytes: Buffer.from(barOf(price)) });

const runsOf = (shop: Workshop): string[] =>
  rowsOf(shop.store, 'select file, undone_ms is null as live from import_runs order by run_id').map(
    ({ file, live }) => `${String(file)}${live ? '' : ' undone'}`,
  );

const flagsOf = (symbol: string): string[] => [
  ...['--schema', 'stock', '--country', 'US', '--interval', '1M'],
  ...['--symbol', symbol],
];

/** The close that the store has of a symbol's bar, as an export gives it. */
async function closeOf(shop: Workshop, symbol = 'A'): Promise<string | undefined> {
  const out = shop.path('out.csv');
  rmSync(out, { force: true });
  const { status, stderr } = await shop.run('export', 'bars', ...flagsOf(symbol), '--out', out);
  assert.equal(status, 0, stderr);
  const [header, row] = readFileSync(out, 'utf8')
    .split('\n')
    .map((line) => line.split(','));
  return row![header!.indexOf('close')];
}

// Each test has a store of its own, and waits most of its time.
suite('a watch, again', { concurrency: true }, () => {
  test('a file whose import was undone is imported again, under other flags and under the same (contract 10)', async () => {
    const shop = newShop();
    put(shop, 'a.csv', barOf(10));
    await shop.must('import', 'bars', 'incoming/a.csv', ...flagsOf('WRONG'));
    await shop.must('undo', '1');
    const watches = ['A', 'WRONG'].map((symbol) => new Watch(shop, 'incoming', symbol));
    for (const watch of watches) await watch.until(/run [23],/);
    for (const watch of watches) await watch.end('SIGTERM');
    assert.deepEqual(runsOf(shop), ['a.csv undone', 'a.csv', 'a.csv']);
    for (const symbol of ['A', 'WRONG']) assert.equal(await closeOf(shop, symbol), '10');
  });

  testOfSqlite(
    'after a restore of an older backup an archive is imported again, though another run has its number (contract 10)',
    async () => {
      const shop = newShop();
      writeFileSync(shop.path('other.csv'), barOf(5));
      await shop.must('import', 'bars', 'other.csv', ...flagsOf('B'));
      await shop.must('backup', 'old.backup');
      put(shop, 'a.zip', zipped(10));
      await shop.must('import', 'bars', 'incoming/a.zip', ...flagsOf('A'));
      await shop.must('restore', 'old.backup', '--force');
      writeFileSync(shop.path('other.csv'), barOf(6));
      await shop.must('import', 'bars', 'other.csv', ...flagsOf('B'));
      const watch = new Watch(shop, 'incoming');
      await watch.until(/run 3,/);
      await watch.end('SIGTERM');
      assert.equal(await closeOf(shop), '10');
    },
  );

  test('each skip is reported once, with its run, and the newest run of a file decides: a correction is taken back (contract 10)', async () => {
    const shop = newShop();
    put(shop, 'a.csv', barOf(10));
    put(shop, 'b.zip', zipped(10));
    await shop.must('import', 'bars', 'incoming/a.csv', ...flagsOf('A'), '--source', 'by hand');
    const first = new Watch(shop, 'incoming');
    await first.until(/a\.csv: skipped: run 1 imported it with these flags\n/);
    await first.until(/run 2,/);
    put(shop, 'a.csv', barOf(10));
    put(shop, 'c.csv', barOf(11));
    await first.until(/run 3,/);
    put(shop, 'c.csv', barOf(12));
    await first.until(/run 4,/);
    put(shop, 'c.csv', barOf(11));
    await first.until(/run 5,/);
    await first.end('SIGTERM');
    assert.equal(first.times(/skipped/), 1);
    assert.equal(await closeOf(shop), '11');
    const second = new Watch(shop, 'incoming');
    await second.until(/b\.zip: skipped: run 2 imported it with these flags\n/);
    await second.until(/c\.csv: skipped: run 5/);
    await second.end('SIGTERM');
    assert.equal(second.times(/skipped/), 3);
    assert.deepEqual(runsOf(shop), ['a.csv', 'b.zip/m.csv', 'c.csv', 'c.csv', 'c.csv']);
  });

  test('a file that failed is in bourse status and in the metrics until it succeeds or goes (contract 9.3, 10)', async () => {
    const shop = newShop();
    const server = await shop.serve('--metrics-port', '0');
    const failedCount = async (): Promise<string | undefined> => {
      const line = server.log.find((one) => one.includes('"msg":"metrics"'))!;
      const text = await (await fetch((JSON.parse(line) as { url: string }).url)).text();
      return /^bourse_watch_failed_files (\d+)$/m.exec(text)?.[1];
    };
    const failed = async (): Promise<{ path: string; dataset: string; problem: string }[]> =>
      JSON.parse(await shop.must('status', '--json')).failed_files;
    assert.equal(await failedCount(), '0');
    put(shop, 'bad.csv', 'when,price\n1,2\n');
    put(shop, 'gone.csv', barOf(-1));
    put(
      shop,
      'half.zip',
      zipOf(
        { name: 'm.csv', bytes: Buffer.from(barOf(10)) },
        { name: 'n.csv', bytes: Buffer.from('x\n1\n') },
      ),
    );
    const first = new Watch(shop, 'incoming');
    await first.until(/half\.zip\/n\.csv: required/);
    await first.end('SIGTERM');
    assert.deepEqual(
      (await failed()).map(({ path, dataset }) => [path, dataset]),
      ['bad.csv', 'gone.csv', 'half.zip'].map((name) => [join(shop.path('incoming'), name), 'bars']),
    );
    assert.match((await failed())[0]!.problem, /^required columns missing/);
    assert.match((await failed())[1]!.problem, /^every row was refused: data row 1, column \w+: /);
    assert.match((await failed())[2]!.problem, /n\.csv: required columns missing/);
    const printed = await shop.must('status');
    assert.match(
      printed,
      /^FAILED-FILE +DATASET +SINCE +PROBLEM\n.*incoming\/bad\.csv +bars +20\S+ +required/m,
    );
    assert.equal(await failedCount(), '3');
    const second = new Watch(shop, 'incoming');
    // Tried again at each start; what was imported of an archive is not.
    await second.until(/bad\.csv: required columns missing/);
    await second.until(/half\.zip\/m\.csv: skipped: run 1 imported it with these flags\n/);
    rmSync(join(shop.path('incoming'), 'gone.csv'));
    put(shop, 'bad.csv', barOf(12));
    await second.until(/run 2,/);
    await second.end('SIGTERM');
    assert.deepEqual(
      (await failed()).map(({ path }) => path),
      [join(shop.path('incoming'), 'half.zip')],
    );
    put(shop, 'half.zip', zipped(13));
    await shop.must('import', 'bars', 'incoming/half.zip', ...flagsOf('A'));
    assert.deepEqual(await failed(), []);
    assert.equal(await failedCount(), '0');
    await server.stop();
  });
});
