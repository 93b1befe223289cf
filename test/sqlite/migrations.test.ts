// Stores that older programs wrote, in today's hands: what they answered, hashed and could take back is still
// so (contract 4.1, 10).
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { DiskFull } from '../../src/base/space.ts';
import { readKeys } from '../../src/store/control.ts';
import { openControl, openStore, restoreStore } from '../../src/store/engines.ts';
import { controlHistory, newestLayout } from '../../src/store/migrations/index.ts';
import { importRuns } from '../../src/store/schema/internal.ts';
import {
  type Answer,
  assertKeysWork,
  assertServesAs,
  hashesOfNew,
  hashOf,
  hoursAnswer,
} from '../old-answers.ts';
import { saidOf, unpack } from '../old-stores.ts';
import { noSmallDisk, SmallDisk } from '../reliability/tmpfs.ts';
import { Workshop } from '../service.ts';
import { endWatches, Watch } from '../watching.ts';
import { minuteFlags, plainly, writeDays } from './copies.ts';
import { contentOfFile } from './files.ts';

const shops: Workshop[] = [];
after(() => {
  endWatches();
  for (const shop of shops) shop.close();
});

function newShop(): Workshop {
  const shop = new Workshop();
  shops.push(shop);
  return shop;
}

/** A workshop with the store that an older program wrote. */
function shopOf(fixture: string): Workshop {
  const shop = newShop();
  for (const name of ['bourse.db', 'bourse.control.db']) unpack(fixture, name, shop.path(name));
  return shop;
}

async function lastRunOf(url: string): Promise<number> {
  const store = await openStore(url, 'read');
  const order = [['run_id', 'desc']] as const;
  const [last] = await store.snapshot((reader) => reader.rows(importRuns, { order, limit: 1 }));
  await store.close();
  return last!.run_id;
}

type Row = Readonly<Record<string, unknown>>;
const reference = newShop();
const hashes = hashesOfNew(reference, reference.store);

/** What a migration leaves as it was: all but what it is about, its sums, and the version. */
const changed = new Set([
  ...['run_coverage', 'unfinished_bars', 'run_spans'],
  ...['run_coverage_sums', 'unfinished_bars_sums', 'run_spans_sums', 'series_sums', 'economic_events_sums'],
  ...['row_sums', 'counters', 'counters_sums', 'changes'],
]);

/** A row without some of its columns. */
const without = (row: Row, columns: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([column]) => !columns.includes(column)));

/** Columns that a migration adds and drops; the checksum of a series is then another one. */
const changedColumns: Readonly<Record<string, readonly string[]>> = {
  corporate_actions: ['split_adjusted_on'],
  holidays: ['announced'],
  series: ['runs', 'off_grid', 'complete_ms', 'complete_run_id', 'row_check'],
};

/** The rows of a file that a migration leaves, by table. */
function keptOf(path: string): Readonly<Record<string, readonly Row[]>> {
  const kept = Object.entries(contentOfFile(path)).filter(([table]) => !changed.has(table));
  return Object.fromEntries(
    kept.map(([table, rows]) => [
      table,
      rows
        .filter(({ dataset }) => table !== 'row_changes' || dataset !== 'unfinished_bars')
        .map((row) => without(row, changedColumns[table] ?? [])),
    ]),
  );
}

/** Fixtures with the layout of their store; their control files have layout 6. */
const fixtures = [
  ['layout-12', 12],
  ['layout-13', 13],
] as const;

for (const [fixture, layout] of fixtures) {
  suite(`the store of ${fixture}`, () => {
    const shop = shopOf(fixture);
    const said = saidOf(fixture);
    const [data, control] = [shop.path('bourse.db'), shop.path('bourse.control.db')];
    const before = [keptOf(data), contentOfFile(control)] as const;

    test('is served as its own program did, but for what contract 3.9 says: answers, key, and pages under its page keys', async () => {
      const server = await shop.serve();
      await assertServesAs(server, said);
      await server.stop();
      const copies = [`bourse.db.layout-${layout}`, 'bourse.control.db.layout-6'];
      const updating = server.log.filter((line) => line.includes('a copy of the old file'));
      assert.equal(updating.length, copies.length, server.log.join('\n'));
      const kept = readdirSync(shop.folder).filter((name) => name.includes('.layout-'));
      assert.deepEqual(kept.sort(), copies.sort());
    });

    test('has each row, block, run and entry of the journal that it had, and its keys and secrets', () => {
      assert.ok(Object.keys(before[0]).length > 15);
      const after = keptOf(data);
      for (const [table, rows] of Object.entries(before[0])) assert.deepEqual(after[table], rows, table);
      const { row_sums: _sums, api_keys: keys, scrubs, ...rest } = contentOfFile(control);
      const { row_sums: _before, api_keys: keysBefore, scrubs: scrubsBefore, ...restBefore } = before[1];
      assert.deepEqual(rest, restBefore);
      // The service that was started notes that it began.
      assert.deepEqual(
        scrubs!.filter(({ name }) => name !== 'serving'),
        scrubsBefore,
      );
      const withoutUse = (row: Row): Row => without(row, ['last_used_ms', 'row_check', 'scope']);
      assert.deepEqual(keys!.map(withoutUse), keysBefore!.map(withoutUse));
    });

    test('is sound: a reading of all of it finds nothing', async () => {
      assert.match(await shop.must('doctor', '--deep'), /every row, block and index is as it was written/);
      assert.doesNotMatch(await shop.must('doctor', '--deep'), /broken/);
    });

    test('has the content hash of a new store of the same commands, and its last run can be taken back', async () => {
      const { all, beforeLast } = await hashes;
      assert.equal(await hashOf(shop.store), all);
      await shop.must('undo', String(await lastRunOf(shop.store)));
      assert.equal(await hashOf(shop.store), beforeLast);
    });

    test('serves no bar as finished that no run finished, when the run that did is undone (contract 3.9 (5))', async () => {
      const minutes = async (symbol: string): Promise<string[]> => {
        const path = `/api/v2/stock/bars/US:${symbol}/1M/from/2025-03-03T16:45:00Z/to/2025-03-03T17:15:00Z`;
        const { result } = JSON.parse(await shop.must('query', path)) as { readonly result: Answer };
        return result.data.map(({ datetime }) => String(datetime).slice(11, 16));
      };
      // The import of noon had the minute of 17:00 of all three; that of the night had AAPL's again, and
      // MSFT's with the same values.
      assert.deepEqual(await minutes('AAPL'), ['16:50', '17:00', '17:10']);
      assert.deepEqual(await minutes('MSFT'), ['16:50', '17:00', '17:10']);
      assert.deepEqual(await minutes('NVDA'), ['16:50']);
      await shop.must('undo', '11');
      for (const symbol of ['AAPL', 'MSFT', 'NVDA'])
        assert.deepEqual(await minutes(symbol), ['16:50'], symbol);
    });

    test('serves hours of deleted minutes again when the deletion is undone (contract 3.9 (4))', async () => {
      const [path, answer] = hoursAnswer(said);
      await shop.must('undo', '12');
      const { result } = JSON.parse(await shop.must('query', path)) as { readonly result: Answer };
      const hoursOf = ({ data }: Answer) =>
        data.map(({ datetime }) => datetime).filter((time) => /^2025-02-27/.test(String(time)));
      assert.deepEqual(hoursOf(result), hoursOf(answer));
    });
  });
}

test('keys of layout 7 go on working, and the store stays as it is (contract 7.6)', async () => {
  const shop = shopOf('layout-16');
  const before = readFileSync(shop.path('bourse.db'));
  const server = await shop.serve();
  await assertKeysWork(server, saidOf('layout-16'));
  await server.stop();
  assert.deepEqual(
    readdirSync(shop.folder).filter((name) => name.includes('.layout-')),
    ['bourse.control.db.layout-7'],
  );
  assert.ok(readFileSync(shop.path('bourse.db')).equals(before));
  const keys = JSON.parse(await shop.must('keys', 'list', '--json')) as { scope: string }[];
  assert.deepEqual(
    keys.map(({ scope }) => scope),
    ['data', 'data', 'data', 'data'],
  );
  assert.match(await shop.must('doctor', '--deep'), /every row, block and index is as it was written/);
});

test('an undo of what an older program noted leaves a row as it is that nothing changed since', async () => {
  const shop = shopOf('layout-12');
  await hashOf(shop.store);
  // Run 5 imported three option contracts, made three instruments, and noted that it needs AAPL.
  const { stdout, stderr } = await shop.run('undo', '5');
  assert.match(`${stdout}${stderr}`, /6 rows removed/);
  assert.doesNotMatch(`${stdout}${stderr}`, /restored/);
});

test('a backup of layout 12 is restored and brought up to date, with a version that no store had before (contract 9.12)', async () => {
  const shop = newShop();
  const backup = shop.path('old.backup');
  unpack('layout-12', 'bourse.backup', backup);
  const { version } = await restoreStore(shop.store, backup, { ...plainly, nowMs: () => 1_764_000_000_000 });
  assert.equal(version, 1_764_000_000_000);
  const { data_version, oldest_version } = JSON.parse(await shop.must('status', '--json'));
  assert.deepEqual([data_version, oldest_version], [version, version]);
  assert.deepEqual(
    readdirSync(shop.folder).filter((name) => name.includes('layout')),
    [],
  );
  assert.equal(await hashOf(shop.store), (await hashes).all);
  const control = await openControl(shop.store, 'write');
  assert.deepEqual(
    (await readKeys(control)).map(({ name }) => name),
    ['fixture'],
  );
  await control.close();
});

test('a command that opens an old store says what becomes of it', async () => {
  const shop = shopOf('layout-12');
  const { status, stderr } = await shop.run('keys', 'create', 'another');
  assert.equal(status, 0, stderr);
  const control = shop.path('bourse.control.db');
  assert.ok(
    stderr.includes(
      `bourse: updating ${control} from layout 6 to ${newestLayout(controlHistory)}; a copy of the old file is made: ${control}.layout-6\n`,
    ),
    stderr,
  );
});

test('an import updates both files of an old store, and the commands of keys go on (contract 10)', async () => {
  const shop = shopOf('layout-12');
  const file = writeDays(shop, 'new.csv', [0]);
  const { status, stderr } = await shop.run('import', 'bars', file, ...minuteFlags, '--symbol', 'NEW');
  assert.equal(status, 0, stderr);
  assert.deepEqual(
    [...stderr.matchAll(/updating \S+\/(\S+) from layout (?:12|6)/g)].map(([, name]) => name),
    ['bourse.db', 'bourse.control.db'],
  );
  assert.match(await shop.must('keys', 'list'), /fixture/);
});

for (const words of [
  ['undo', '14', '--dry-run'],
  ['undo', '14'],
  ['delete', 'news', '--all'],
])
  test(`bourse ${words.join(' ')} updates both files of an old store first, and keeps copies (contract 10)`, async () => {
    const shop = shopOf('layout-12');
    const { status, stderr } = await shop.run(...words);
    assert.equal(status, 0, stderr);
    assert.deepEqual(
      [...stderr.matchAll(/updating \S+\/(\S+) from layout (?:12|6)/g)].map(([, name]) => name),
      ['bourse.db', 'bourse.control.db'],
    );
    for (const copy of ['bourse.db.layout-12', 'bourse.control.db.layout-6'])
      assert.ok(readdirSync(shop.folder).includes(copy), copy);
  });

test('an undo makes no store where there is none (contract 10)', async () => {
  const shop = newShop();
  const { status, stderr } = await shop.run('undo', '1');
  assert.equal(status, 3);
  assert.match(stderr, /there is no store at/);
  assert.deepEqual(readdirSync(shop.folder), []);
});

test('an import makes no control file, and needs none that is whole (contract 10)', async () => {
  const shop = shopOf('layout-12');
  const control = shop.path('bourse.control.db');
  const words = ['import', 'bars', writeDays(shop, 'new.csv', [0]), ...minuteFlags, '--symbol', 'NEW'];
  writeFileSync(control, 'this is no database\n'.repeat(100));
  await shop.must(...words);
  rmSync(control);
  await shop.must(...words);
  assert.ok(!readdirSync(shop.folder).includes('bourse.control.db'));
});

test('without disk space for the copy an old store stays as it was, and opens when there is some', {
  skip: noSmallDisk(),
}, async () => {
  const disk = new SmallDisk(1_100_000);
  try {
    const path = disk.path('bourse.db');
    unpack('layout-12', 'bourse.db', path);
    const before = readFileSync(path);
    await assert.rejects(openStore(`sqlite:${path}`, 'write'), DiskFull);
    assert.ok(readFileSync(path).equals(before));
    assert.deepEqual(readdirSync(disk.folder), ['bourse.db']);
    disk.resize(8_000_000);
    assert.equal(await hashOf(`sqlite:${path}`), (await hashes).all);
  } finally {
    disk.close();
  }
});

test('a watch updates an old store when it starts (contract 10)', async () => {
  const shop = shopOf('layout-12');
  mkdirSync(shop.path('incoming'));
  writeDays(shop, 'incoming/new.csv', [0]);
  const watch = new Watch(shop, 'incoming');
  await watch.until(/updating .* from layout 12 to/);
  await watch.until(/new\.csv: 1 row read/);
  assert.equal(await watch.end('SIGTERM'), 0);
});

test('--explain touches no store that it would have to update (contract 10)', async () => {
  const shop = shopOf('layout-12');
  writeFileSync(shop.path('a.csv'), 'datetime,open,high,low,close\n2024-01-02T14:30:00Z,1,1,1,1\n');
  const picture = () => [readdirSync(shop.folder), readFileSync(shop.path('bourse.db'))];
  const before = picture();
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
  assert.match(await shop.must('import', 'bars', 'a.csv', ...flags, '--explain'), /nothing was imported/);
  assert.deepEqual(picture(), before);
});
