// A file that ends the process which reads it is refused by itself: the files beside it, and the next ones of
// a watch, are imported.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { runStatement } from './duckdb.ts';
import { Workshop } from './service.ts';
import { rowsOf } from './stores.ts';
import { until } from './until.ts';
import { endWatches, Watch } from './watching.ts';

const shops: Workshop[] = [];
after(() => {
  endWatches();
  for (const shop of shops) shop.close();
});

function newShop(): Workshop {
  const shop = new Workshop();
  shops.push(shop);
  mkdirSync(shop.path('in'));
  return shop;
}

const startMs = Date.parse('2000-01-03T15:00:00Z');
const named = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

/** Puts a whole file into the folder. */
function put(shop: Workshop, name: string, text: string): string {
  writeFileSync(shop.path('new'), text);
  renameSync(shop.path('new'), shop.path(`in/${name}`));
  return `in/${name}`;
}

const putCsv = (shop: Workshop, name: string, symbol: string): string =>
  put(shop, name, `symbol,datetime,open,high,low,close\n${symbol},2000-01-03T15:00:00Z,1,1,1,1\n`);

/** A file that only DuckDB reads. */
function putJson(shop: Workshop, name: string, symbol: string, rows: number): string {
  const price = { open: 1, high: 1, low: 1, close: 1 };
  const lines = Array.from({ length: rows }, (_, row) => {
    const datetime = new Date(startMs + row * 60_000).toISOString();
    return `${JSON.stringify({ symbol, datetime, ...price })}\n`;
  });
  return put(shop, name, lines.join(''));
}

/** The process that reads files for another one; null where there is none. */
function readerOf(pid: number): number | null {
  const found = readdirSync('/proc').find((one) => {
    try {
      const parent = / \S (\d+) /.exec(readFileSync(`/proc/${one}/stat`, 'utf8').replace(/.*\)/s, ' '))?.[1];
      return Number(parent) === pid && readFileSync(`/proc/${one}/cmdline`, 'utf8').includes('bar-reader');
    } catch {
      return false;
    }
  });
  return found === undefined ? null : Number(found);
}

/** True once a process has a file open. */
function hasOpen(pid: number, name: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith(name));
  } catch {
    return false;
  }
}

/** True if signals were sent to a process: it may have ended by itself. */
function sent(pid: number, signals: readonly NodeJS.Signals[]): boolean {
  try {
    for (const signal of signals) process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

const hasEnded = ({ exitCode }: ChildProcess): boolean => exitCode !== null;

const skip = process.platform !== 'linux' && 'the processes of others are seen on Linux alone';

const symbolsOf = (shop: Workshop): string[] =>
  rowsOf(shop.store, 'select symbol from instruments order by symbol').map(({ symbol }) => String(symbol));

const endedBy = (signal: string): RegExp =>
  new RegExp(
    `the process that reads it ended by ${signal}: its data may be damaged, or take too much memory`,
  );

test('a file whose reader dies is refused by name, and those before and after it are stored (contract 11)', {
  skip,
}, async () => {
  // A file that was read too soon is followed by a longer one.
  for (const signal of ['SIGSEGV', 'SIGKILL'] as const)
    for (let rows = 50_000, isKilled = false; !isKilled; rows *= 4) {
      const shop = newShop();
      const files = [putCsv(shop, 'a.csv', 'A'), putJson(shop, 'bad.ndjson', 'BAD', rows)];
      const parquet = shop.path('in/c.parquet');
      await runStatement(
        `copy (select 'C' as symbol, timestamptz '2000-01-03 15:00:00+00' as datetime, ${['open', 'high', 'low', 'close'].map((name) => `1.0::double as ${name}`).join()}) to '${parquet}' (format parquet)`,
      );
      const importing = shop.start([
        'import',
        'bars',
        ...files,
        'in/c.parquet',
        ...named,
        '--no-check',
        '--json',
      ]);
      const { stdout, stderr } = importing;
      const [printed, said, ended] = [text(stdout!), text(stderr!), once(importing, 'close')];
      const reader = await until('a reader process', () => readerOf(importing.pid!) ?? hasEnded(importing));
      if (typeof reader === 'number') process.kill(reader, signal);
      const problem = (await said).split('\n')[0]!;
      isKilled = problem.includes('bad.ndjson');
      if (!isKilled) continue;
      const { error, message } = JSON.parse(problem) as Record<string, string>;
      assert.equal(error, 'bad_file');
      assert.match(message!, /^in\/bad\.ndjson: /);
      assert.match(message!, endedBy(signal));
      // As of any other file that is refused beside good ones.
      assert.deepEqual(await ended, [1, null]);
      assert.match(await printed, /"file":"in\/a\.csv"[\s\S]*"file":"in\/c\.parquet"/);
      assert.deepEqual(symbolsOf(shop), ['A', 'C']);
    }
});

test('a watch whose reader dies reports that file, and imports the next one by a new reader (contract 10)', {
  skip,
}, async () => {
  for (let rows = 50_000, isKilled = false; !isKilled; rows *= 4) {
    const shop = newShop();
    const watch = new Watch(shop, 'in', null, [...named, '--no-check']);
    await watch.until(/watching/);
    putCsv(shop, 'a.csv', 'A');
    await watch.until(/a\.csv: 1 row read/);
    putJson(shop, 'bad.ndjson', 'BAD', rows);
    const reader = await until(
      'a reader process',
      () => readerOf(watch.pid) ?? /bad\.ndjson/.test(watch.said),
    );
    if (typeof reader === 'number') process.kill(reader, 'SIGSEGV');
    await watch.until(/bad\.ndjson: .*\n/);
    isKilled = !/rows read/.test(watch.said);
    putJson(shop, 'c.ndjson', 'C', 1);
    await watch.until(/c\.ndjson: 1 row read/);
    assert.equal(await watch.end('SIGTERM'), 0);
    if (!isKilled) continue;
    assert.match(watch.said, endedBy('SIGSEGV'));
    assert.deepEqual(symbolsOf(shop), ['A', 'C']);
    const [failed, ...more] = rowsOf(shop.store, 'select path, problem from failed_files');
    assert.deepEqual(more, []);
    assert.match(String(failed!.path), /bad\.ndjson$/);
    assert.match(String(failed!.problem), endedBy('SIGSEGV'));
  }
});

test('a watch that systemd stops with its reader imports the file that this reads (contract 10)', {
  skip,
}, async () => {
  for (let rows = 50_000, isSignalled = false; !isSignalled; rows *= 4) {
    const shop = newShop();
    const watch = new Watch(shop, 'in', null, [...named, '--no-check']);
    await watch.until(/watching/);
    putJson(shop, 'a.ndjson', 'A', rows);
    const isRead = (): boolean => /a\.ndjson: .* read/.test(watch.said);
    const reader = await until('a reader that reads', () => {
      const found = readerOf(watch.pid);
      return isRead() || (found !== null && hasOpen(found, 'in/a.ndjson') ? found : false);
    });
    isSignalled = typeof reader === 'number' && sent(reader, ['SIGHUP', 'SIGINT', 'SIGTERM']);
    assert.equal(await watch.end('SIGTERM'), 0);
    assert.match(watch.said, new RegExp(`a\\.ndjson: ${rows.toLocaleString('en')} rows read`));
    assert.deepEqual(symbolsOf(shop), ['A']);
  }
});

test('a reader ends when the command is killed that started it', { skip }, async () => {
  const shop = newShop();
  const importing = shop.start(['import', 'bars', putJson(shop, 'a.ndjson', 'A', 50_000), ...named]);
  const reader = await until('a reader process', () => readerOf(importing.pid!) ?? hasEnded(importing));
  importing.kill('SIGKILL');
  await until('the reader has ended', () => {
    try {
      return !readFileSync(`/proc/${reader}/cmdline`, 'utf8').includes('bar-reader');
    } catch {
      return true;
    }
  });
});
