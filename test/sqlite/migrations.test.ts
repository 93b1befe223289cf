// Stores that older programs wrote, in today's hands: what they answered, hashed and could take back is still so (contract 4.1, 10).
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { importRuns } from '../../src/datasets/internal.ts';
import { DiskFull } from '../../src/disk/space.ts';
import { contentHash } from '../../src/store/content.ts';
import { readKeys } from '../../src/store/control.ts';
import { openControl, openStore, restoreStore } from '../../src/store/engines.ts';
import { searchInstruments } from '../../src/store/instrument-terms.ts';
import { controlSteps, storeSteps } from '../../src/store/migrations/index.ts';
import { saidOf, unpack } from '../old-stores.ts';
import { noSmallDisk, SmallDisk } from '../reliability/tmpfs.ts';
import { Workshop } from '../service.ts';
import { endWatches, Watch } from '../watching.ts';
import { minuteFlags, plainly, writeDays } from './copies.ts';

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

async function hashOf(url: string): Promise<string> {
  const store = await openStore(url, 'write');
  try {
    return await store.snapshot(contentHash);
  } finally {
    await store.close();
  }
}

/** Fixtures with the layouts of their store and their control file. */
const fixtures = [
  ['layout-1', 1, 1],
  ['layout-2-first', 2, 2],
  ['layout-2', 2, 2],
  ['layout-3', 3, 2],
  ['layout-4', 4, 2],
  ['layout-5', 5, 2],
  ['layout-6', 6, 4],
] as const;

for (const [fixture, storeLayout, controlLayout] of fixtures) {
  suite(`the store of ${fixture}`, () => {
    const shop = shopOf(fixture);
    const said = saidOf(fixture);

    test('is served as its own program did: answers, key, and pages under its page keys', async () => {
      const server = await shop.serve();
      const paths = Object.keys(said.answers);
      assert.ok(paths.some((path) => path.includes('next_page_key=')));
      for (const path of paths) {
        const mark = path.includes('?') ? '&' : '?';
        const response = await server.get(`${path}${mark}secret_key=${said.key}`);
        const { result } = (await response.json()) as { readonly result: Record<string, unknown> };
        assert.equal(response.status, 200, path);
        // They hold the moment of the request.
        delete result.next_page_key;
        delete result.next_page_url;
        assert.deepEqual(result, said.answers[path], path);
      }
      await server.stop();
      const copies = [
        ...(storeLayout < storeSteps.length ? [`bourse.db.layout-${storeLayout}`] : []),
        ...(controlLayout < controlSteps.length ? [`bourse.control.db.layout-${controlLayout}`] : []),
      ];
      const updating = server.log.filter((line) => line.includes('a copy of the old file'));
      assert.equal(updating.length, copies.length, server.log.join('\n'));
      const kept = readdirSync(shop.folder).filter((name) => name.includes('.layout-'));
      assert.deepEqual(kept.sort(), copies.sort());
    });

    test('has the content hash that is known of it, and its last run can be taken back', async () => {
      assert.equal(await hashOf(shop.store), said.contentHash);
      const store = await openStore(shop.store, 'read');
      const [last] = await store.snapshot((reader) =>
        reader.rows(importRuns, { order: [['run_id', 'desc']], limit: 1 }),
      );
      await store.close();
      await shop.must('undo', String(last!.run_id));
      assert.equal(await hashOf(shop.store), said.contentHashBeforeLastRun);
    });
  });
}

test('an undo of what an older program noted leaves a row as it is that nothing changed since', async () => {
  const shop = shopOf('layout-2');
  await hashOf(shop.store);
  // Run 6 imported six option contracts, made six instruments, and noted that it needs AAPL.
  const { stdout, stderr } = await shop.run('undo', '6');
  assert.match(`${stdout}${stderr}`, /12 rows removed/);
  assert.doesNotMatch(`${stdout}${stderr}`, /restored/);
});

test('instruments of layout 1 are found by the words of their names', async () => {
  const shop = shopOf('layout-1');
  const store = await openStore(shop.store, 'write');
  const search = { assetSchema: 'stock', country: 'US', symbol: 'PLATF', words: ['platf'], limit: 5 };
  const found = await store.snapshot((reader) => searchInstruments(reader, search));
  assert.deepEqual(found, [{ country_iso_code: 'US', symbol: 'META' }]);
  await store.close();
});

test('a backup of layout 1 is restored and brought up to date, with a version that no store had before (contract 9.12)', async () => {
  const shop = newShop();
  const backup = shop.path('old.backup');
  unpack('layout-1', 'bourse.backup', backup);
  const { version } = await restoreStore(shop.store, backup, { ...plainly, nowMs: () => 1_764_000_000_000 });
  assert.equal(version, 1_764_000_000_000);
  const { data_version, oldest_version } = JSON.parse(await shop.must('status', '--json'));
  assert.deepEqual([data_version, oldest_version], [version, version]);
  assert.deepEqual(
    readdirSync(shop.folder).filter((name) => name.includes('layout')),
    [],
  );
  assert.equal(await hashOf(shop.store), saidOf('layout-1').contentHash);
  const control = await openControl(shop.store, 'write');
  assert.deepEqual(
    (await readKeys(control)).map(({ name }) => name),
    ['fixture'],
  );
  await control.close();
});

test('a command that opens an old store says what becomes of it', async () => {
  const shop = shopOf('layout-1');
  const { status, stderr } = await shop.run('keys', 'create', 'another');
  assert.equal(status, 0, stderr);
  const control = shop.path('bourse.control.db');
  assert.ok(
    stderr.includes(
      `bourse: updating ${control} from layout 1 to ${controlSteps.length}; a copy of the old file is made: ${control}.layout-1\n`,
    ),
    stderr,
  );
});

test('an import updates both files of an old store, and the commands of keys go on (contract 10)', async () => {
  const shop = shopOf('layout-2');
  const file = writeDays(shop, 'new.csv', [0]);
  const { status, stderr } = await shop.run('import', 'bars', file, ...minuteFlags, '--symbol', 'NEW');
  assert.equal(status, 0, stderr);
  assert.deepEqual(
    [...stderr.matchAll(/updating \S+\/(\S+) from layout 2/g)].map(([, name]) => name),
    ['bourse.db', 'bourse.control.db'],
  );
  assert.match(await shop.must('keys', 'list'), /fixture/);
});

for (const words of [
  ['undo', '6', '--dry-run'],
  ['undo', '6'],
  ['delete', 'news', '--all'],
])
  test(`bourse ${words.join(' ')} updates both files of an old store first, and keeps copies (contract 10)`, async () => {
    const shop = shopOf('layout-2');
    const { status, stderr } = await shop.run(...words);
    assert.equal(status, 0, stderr);
    assert.deepEqual(
      [...stderr.matchAll(/updating \S+\/(\S+) from layout 2/g)].map(([, name]) => name),
      ['bourse.db', 'bourse.control.db'],
    );
    for (const copy of ['bourse.db.layout-2', 'bourse.control.db.layout-2'])
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
  const shop = shopOf('layout-2');
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
  const disk = new SmallDisk(400_000);
  try {
    const path = disk.path('bourse.db');
    unpack('layout-1', 'bourse.db', path);
    const before = readFileSync(path);
    await assert.rejects(openStore(`sqlite:${path}`, 'write'), DiskFull);
    assert.ok(readFileSync(path).equals(before));
    assert.deepEqual(readdirSync(disk.folder), ['bourse.db']);
    disk.resize(4_000_000);
    assert.equal(await hashOf(`sqlite:${path}`), saidOf('layout-1').contentHash);
  } finally {
    disk.close();
  }
});

test('a watch updates an old store when it starts (contract 10)', async () => {
  const shop = shopOf('layout-2');
  mkdirSync(shop.path('incoming'));
  writeDays(shop, 'incoming/new.csv', [0]);
  const watch = new Watch(shop, 'incoming');
  await watch.until(/updating .* from layout 2 to/);
  await watch.until(/new\.csv: 1 row read/);
  assert.equal(await watch.end('SIGTERM'), 0);
});

test('--explain touches no store that it would have to update (contract 10)', async () => {
  const shop = shopOf('layout-1');
  writeFileSync(shop.path('a.csv'), 'datetime,open,high,low,close\n2024-01-02T14:30:00Z,1,1,1,1\n');
  const picture = () => [readdirSync(shop.folder), readFileSync(shop.path('bourse.db'))];
  const before = picture();
  const flags = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
  assert.match(await shop.must('import', 'bars', 'a.csv', ...flags, '--explain'), /nothing was imported/);
  assert.deepEqual(picture(), before);
});
