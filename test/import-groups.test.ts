// Files that are imported together in one write: each whole, undone and refused alone (contract 10, 11).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ImportGroup, writeGroup } from '../src/imports/load/import-group.ts';
import { importFile, importInto } from '../src/imports/load/importers.ts';
import type { ImportReport, PendingImport } from '../src/imports/load/run.ts';
import { FileProblem } from '../src/imports/read/file-problem.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import type { Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { hashOf } from './reliability/minutes.ts';
import { fc, times } from './seed.ts';
import { Workshop } from './service.ts';
import { alterStore, contentOf, isWriting, openToWrite, rowsOf, TestFolder, zeroBytes } from './stores.ts';
import { zipOf } from './zip.ts';

const temporary = new TestFolder();
after(() => temporary.close());

const HEADER = 'symbol,datetime,open,high,low,close,volume';
const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
const nowMs = Date.UTC(2025, 2, 10);

const rowOf = (symbol: string, minute: number, price: number): string => {
  const at = new Date(Date.UTC(2025, 2, 3, 14, 30 + minute)).toISOString();
  return [symbol, at, price, price, price, price, 1].join();
};

/** What becomes of one file: its report without its times, or why it was refused. */
type Fate = { readonly file: string; readonly report?: unknown; readonly problem?: string };

const fateOf = (file: string, report: ImportReport): Fate => ({
  file,
  report: { ...report, durationMs: 0, rejectedFile: report.rejectedFile !== null },
});

const requestOf = async (path: string) => ({
  file: await opened(path),
  flags: new Map([
    ['asset_schema', 'stock'],
    ['country_iso_code', 'US'],
    ['interval', '1M'],
  ]),
  zone: null,
  basis: 'raw' as const,
  source: null,
  dryRun: false,
  nowMs: () => nowMs,
});

/** Imports files one by one. */
async function singly(store: Store, paths: readonly string[]): Promise<Fate[]> {
  const fates: Fate[] = [];
  for (const path of paths) {
    try {
      fates.push(fateOf(path, await importFile(store, 'bars', await requestOf(path))));
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      fates.push({ file: path, problem: error.message });
    }
  }
  return fates;
}

/** Imports files in groups of some sizes. */
async function grouped(store: Store, paths: readonly string[], sizes: readonly number[]): Promise<Fate[]> {
  const fates: Fate[] = [];
  for (let at = 0, turn = 0; at < paths.length; turn++) {
    const some = paths.slice(at, at + sizes[turn % sizes.length]!);
    at += some.length;
    const settled: (() => Fate)[] = [];
    await writeGroup(store, async (group: ImportGroup) => {
      for (const path of some) {
        try {
          const pending: PendingImport = await importInto(group, 'bars', await requestOf(path));
          settled.push(() => fateOf(path, pending.settle()));
        } catch (error) {
          if (!(error instanceof FileProblem)) throw error;
          settled.push(() => ({ file: path, problem: error.message }));
        }
      }
    });
    fates.push(...settled.map((settle) => settle()));
  }
  return fates;
}

/** A file: rows of some symbols, some of them corrected or repeated; or one that cannot be imported. */
const fileArbitrary = fc.record({
  rows: fc.array(
    fc.record({
      symbol: fc.constantFrom('A', 'B', 'C'),
      minute: fc.nat(40),
      price: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 1, maxLength: 25 },
  ),
  spoilt: fc.constantFrom('no', 'no', 'no', 'row', 'quote', 'all rows'),
});

/** What a store holds, without its version and what each write changed and found: of a group there is one. */
function dataOf(url: string) {
  const {
    changes: _changes,
    former_rows: _former,
    counters,
    counters_sums: _counterSums,
    row_sums: _rowSums,
    ...data
  } = contentOf(url);
  const { import_runs: runs } = data;
  return {
    ...data,
    import_runs: runs!.map(({ data_version: _version, row_check: _check, ...run }) => run),
    // Files in a group are one write.
    counters: counters!.filter(({ name }) => name !== 'data_version' && name !== 'former_rows'),
  };
}

let cases = 0;

test('files in groups fill a store as one by one, row for row, whatever is refused or undone (contract 11)', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fileArbitrary, { minLength: 2, maxLength: 7 }),
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
      fc.nat(),
      async (files, sizes, chosen) => {
        const name = `case-${++cases}`;
        mkdirSync(temporary.path(name));
        const paths = files.map(({ rows, spoilt }, index) => {
          const path = join(temporary.path(name), `${index}.csv`);
          const good = rows.map(({ symbol, minute, price }) => rowOf(symbol, minute, price));
          const bad = 'A,2025-03-03T20:00:00Z,none,1,1,1,1';
          const lines = spoilt === 'all rows' ? [bad] : spoilt === 'row' ? [...good, bad] : good;
          writeFileSync(path, `${[HEADER, ...lines].join('\n')}\n${spoilt === 'quote' ? '"' : ''}`);
          return path;
        });
        const [one, other] = ['one', 'other'].map((which) => temporary.storeUrl(`${name}-${which}`));
        const stores = await Promise.all([one!, other!].map((url) => openToWrite(url)));
        try {
          assert.deepEqual(await grouped(stores[0]!, paths, sizes), await singly(stores[1]!, paths));
          assert.deepEqual(dataOf(one!), dataOf(other!));
          const runs = rowsOf(one!, 'select run_id from import_runs order by run_id');
          if (runs.length === 0) return;
          const { run_id: runId } = runs[chosen % runs.length]!;
          for (const store of stores)
            await undoRun(store, { runId: Number(runId), dryRun: false, nowMs: () => nowMs });
          assert.deepEqual(dataOf(one!), dataOf(other!));
        } finally {
          for (const store of stores) await store.close();
        }
      },
    ),
    { numRuns: times(10) },
  ));

test('a group takes no further file after 1,000 files, or 64 MiB of text (contract 11)', async (t) => {
  // Time ends a group too: here it stands still.
  const startMs = performance.now();
  t.mock.method(performance, 'now', () => startMs);
  const store = await openToWrite(temporary.storeUrl('full'));
  const path = temporary.path('any.csv');
  writeFileSync(path, `${HEADER}\n${rowOf('A', 0, 1)}\n`);
  const { file } = await requestOf(path);
  const work = async () => ({ result: null, isTrial: true });
  try {
    for (const [count, bytes] of [
      [1_000, 10],
      [4, 16 * 1024 * 1024],
    ] as const)
      await writeGroup(store, async (group) => {
        for (let taken = 0; taken < count; taken++) {
          assert.equal(group.isFull, false, `${taken} files`);
          const one = { ...file, bytes };
          // A file that is read twice counts once.
          for (let reading = 0; reading < 2; reading++) await group.run(one, work);
        }
        assert.equal(group.isFull, true);
      });
  } finally {
    await store.close();
  }
});

/** A workshop with some small files. */
class Shop extends Workshop {
  write(name: string, ...rows: readonly string[]): string {
    writeFileSync(this.path(name), `${[HEADER, ...rows].join('\n')}\n`);
    return name;
  }
}

test('of the files of one command each is reported in its place, and a bad one is refused alone (contract 10, 11)', async () => {
  const shop = new Shop();
  try {
    shop.write('a.csv', rowOf('A', 0, 1));
    writeFileSync(shop.path('b.csv'), 'nothing,of,use\n1,2,3\n');
    shop.write('c.csv', rowOf('C', 0, 1), 'C,2025-03-03T14:31:00Z,none,1,1,1,1');
    shop.write('d.csv', 'D,2025-03-03T14:31:00Z,none,1,1,1,1');
    // The same file again, one that corrects a row, and an archive with a good file and a bad one.
    shop.write('e.csv', rowOf('A', 0, 2));
    const csv = (...rows: string[]): Buffer => Buffer.from(`${[HEADER, ...rows].join('\n')}\n`);
    const members = [
      { name: 'good.csv', bytes: csv(rowOf('Z', 0, 1)) },
      { name: 'bad.csv', bytes: Buffer.from(`${HEADER}\n"`) },
    ];
    writeFileSync(shop.path('f.zip'), zipOf(...members));
    const names = ['a.csv', 'b.csv', 'c.csv', 'a.csv', 'd.csv', 'e.csv', 'f.zip'];
    const { status, stdout, stderr } = await shop.run('import', 'bars', ...names, ...flags, '--json');
    assert.equal(status, 1);
    const reports = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ImportReport);
    assert.deepEqual(
      reports.map(({ file, runId, rowsNew, rowsReplaced, rowsUnchanged, rowsRefused }) =>
        [file, runId, rowsNew, rowsReplaced, rowsUnchanged, rowsRefused].join(' '),
      ),
      [
        'a.csv 1 1 0 0 0',
        'c.csv 2 1 0 0 1',
        'a.csv 3 0 0 1 0',
        'd.csv  0 0 0 1',
        'e.csv 4 0 1 0 0',
        'f.zip/good.csv 5 1 0 0 0',
      ],
    );
    assert.deepEqual(reports[4]!.replaced, [{ runId: 1, file: 'a.csv', source: null, rows: 1 }]);
    assert.deepEqual(
      reports.map(({ rejectedFile }) => rejectedFile !== null && existsSync(rejectedFile)),
      [false, true, false, true, false, false],
    );
    const errors = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { message: string; failed?: number });
    assert.match(errors[0]!.message, /^b\.csv: required columns missing/);
    assert.match(errors[1]!.message, /^f\.zip\/bad\.csv: a quote is not closed/);
    assert.equal(errors.at(-1)!.failed, 2);
    assert.deepEqual(
      readdirSync(shop.folder).filter((name) => name.endsWith('.part')),
      [],
    );
    // A file of the group is undone alone: what it corrected comes back, and the others stay.
    await shop.must('undo', '4');
    const left = await shop.must(
      'export',
      'bars',
      '--schema',
      'stock',
      '--country',
      'US',
      '--interval',
      '1M',
      '--out',
      '-',
    );
    assert.match(left, /A,.*2025-03-03T14:30:00Z,1,1,1,1/);
    assert.equal(left.split('\n').length, 4, left);
  } finally {
    shop.close();
  }
});

test('a dry run of several files stores nothing, and tries each against the store as it is (contract 10)', async () => {
  const shop = new Shop();
  try {
    const first = shop.write('a.csv', rowOf('A', 0, 1));
    await shop.must('import', 'bars', first, ...flags);
    const before = contentOf(shop.store);
    const again = shop.write('b.csv', rowOf('A', 0, 2));
    const printed = await shop.must('import', 'bars', again, again, ...flags, '--dry-run', '--json');
    for (const line of printed.split('\n')) {
      const { runId, rowsReplaced } = JSON.parse(line) as ImportReport;
      assert.deepEqual([runId, rowsReplaced], [null, 1]);
    }
    assert.deepEqual(contentOf(shop.store), before);
  } finally {
    shop.close();
  }
});

test('wrong usage in a later file ends the call, and the files before it are imported and reported (contract 10)', async () => {
  const shop = new Shop();
  try {
    shop.write('a.csv', rowOf('A', 0, 1));
    writeFileSync(shop.path('b.csv'), `${HEADER},interval\n${rowOf('B', 0, 1)},1M\n`);
    writeFileSync(shop.path('map.json'), '{"columns": {}, "values": {"interval": "7X"}}');
    const { status, stdout, stderr } = await shop.run(
      ...['import', 'bars', 'a.csv', 'b.csv', '--schema', 'stock', '--country', 'US', '--map', 'map.json'],
    );
    assert.deepEqual([status, stdout], [2, ''], stderr);
    assert.match(stderr, /7X/);
    const named = await shop.run('import', 'bars', 'a.csv', '-', ...flags.slice(0, 4), '--interval', '1M');
    // An empty standard input is a problem of its own: the file before it stays.
    assert.equal(named.status, 1, named.stderr);
    assert.match(named.stdout, /^a\.csv: 1 row read, 1 new/);
    assert.match(named.stderr, /standard input: is empty/);
  } finally {
    shop.close();
  }
});

for (const [what, damage] of [
  ['instrument that is lost', "delete from instruments where symbol = 'A'"],
  ['series', 'update series set bar_count = bar_count + 1'],
  ['block', `update bar_blocks set bytes = ${zeroBytes(90)}`],
] as const)
  test(`a damaged ${what} keeps out no file of the group that does not need it (contract 10)`, async () => {
    const shop = new Shop();
    try {
      await shop.must('import', 'bars', shop.write('a.csv', rowOf('A', 0, 1), rowOf('A', 1, 1)), ...flags);
      alterStore(shop.store, damage);
      shop.write('b.csv', rowOf('B', 0, 1));
      shop.write('c.csv', rowOf('A', 1, 2));
      shop.write('d.csv', rowOf('D', 0, 1));
      const { status, stdout, stderr } = await shop.run(
        'import',
        'bars',
        'b.csv',
        'c.csv',
        'd.csv',
        ...flags,
      );
      assert.match(stdout, /^b\.csv: 1 row read, 1 new.*run 2, /m);
      assert.match(stdout, /^d\.csv: 1 row read, 1 new.*run \d, /m);
      assert.match(stderr, /^3 files: 1 failed/m);
      assert.equal(status, 1);
    } finally {
      shop.close();
    }
  });

test('an import of many files that is killed leaves whole groups, and has reported no file that is not stored (contract 11)', async (t) => {
  const shop = new Shop();
  try {
    const names = Array.from({ length: 150 }, (_, at) =>
      shop.write(
        `${1000 + at}.csv`,
        ...Array.from({ length: 60 }, (_, minute) => rowOf(`S${at % 7}`, minute, 1 + at)),
      ),
    );
    await shop.must('import', 'bars', names[0]!, ...flags);
    const [before] = [await hashOf(shop.store)];
    const counts = { before: 0, after: 0 };
    // A group is also stored when it has taken long: by its own clock it never has.
    const slowClock =
      'data:text/javascript,{let%20now=performance.now.bind(performance);performance.now=()=>now()/1e3}';
    for (let round = 0; round < 4; round++) {
      const child = shop.start(['import', 'bars', '1*.csv', ...flags], {
        NODE_OPTIONS: `--import=${slowClock}`,
      });
      let printed = '';
      child.stdout!.on('data', (piece) => {
        printed += piece;
      });
      const ended = once(child, 'close');
      while (child.exitCode === null && !isWriting(shop.store)) await sleep(1);
      await sleep(round * 60);
      child.kill('SIGKILL');
      await ended;
      const runs = new Set(
        rowsOf(shop.store, 'select run_id from import_runs').map(({ run_id }) => Number(run_id)),
      );
      for (const [, run] of printed.matchAll(/\(run (\d+), /g))
        assert.ok(runs.has(Number(run)), `run ${run}`);
      const isBefore = runs.size % names.length === 1;
      assert.ok(
        isBefore || runs.size % names.length === 0 || runs.size % names.length === 1,
        `${runs.size} runs`,
      );
      if ((await hashOf(shop.store)) === before) counts.before++;
      else counts.after++;
    }
    t.diagnostic(`killed before, after the commit: ${counts.before}, ${counts.after}`);
    // Whatever a kill left, the call can be repeated.
    await shop.must('import', 'bars', '1*.csv', ...flags);
    assert.equal(rowsOf(shop.store, 'select sum(bar_count) as bars from series')[0]!.bars, 7 * 60);
  } finally {
    shop.close();
  }
});

test('a small file and one that a thread reads give the same bars where columns are computed (contract 11)', async () => {
  const shop = new Shop();
  try {
    const minutes = Array.from({ length: 30_000 }, (_, minute) => {
      const at = new Date(Date.UTC(2020, 0, 1, 0, minute)).toISOString();
      return `X,${at},${[1, 1, 1, 1].map(() => 12_345 + minute).join()},7`;
    });
    writeFileSync(shop.path('large.csv'), `${[HEADER, ...minutes].join('\n')}\n`);
    assert.ok(statSync(shop.path('large.csv')).size > 1024 * 1024);
    for (let part = 0; part < 3; part++)
      shop.write(`small-${part}.csv`, ...minutes.slice(part * 10_000, (part + 1) * 10_000));
    const columns = Object.fromEntries(
      ['open', 'high', 'low', 'close'].map((column) => [column, { column, scale: 0.0001 }]),
    );
    writeFileSync(shop.path('map.json'), JSON.stringify({ columns }));
    const [large, small] = ['large', 'small'].map((name) => shop.storeUrl(name));
    await shop.must('import', 'bars', 'large.csv', ...flags, '--map', 'map.json', '--store', large!);
    await shop.must('import', 'bars', 'small-*.csv', ...flags, '--map', 'map.json', '--store', small!);
    assert.equal(await hashOf(large!), await hashOf(small!));
  } finally {
    shop.close();
  }
});
