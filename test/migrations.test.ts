// Stores that older programs wrote, in today's hands: what they answered, hashed and could take back is still so (contract 4.1, 10).
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { importRuns } from '../src/datasets/internal.ts';
import { contentHash } from '../src/store/content.ts';
import { readKeys } from '../src/store/control.ts';
import { openControl, openStore, restoreStore } from '../src/store/engines.ts';
import { searchInstruments } from '../src/store/instrument-terms.ts';
import { plainly } from './copies.ts';
import { saidOf, unpack } from './old-stores.ts';
import { Workshop } from './service.ts';

const shops: Workshop[] = [];
after(() => {
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

for (const fixture of ['layout-1', 'layout-2-first', 'layout-2']) {
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
      const updating = server.log.filter((line) => line.includes('"updating"'));
      assert.equal(updating.length, fixture === 'layout-1' ? 2 : 0, server.log.join('\n'));
      for (const name of ['bourse.db.layout-1', 'bourse.control.db.layout-1'])
        assert.equal(existsSync(shop.path(name)), fixture === 'layout-1');
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

test('instruments of layout 1 are found by the words of their names', async () => {
  const shop = shopOf('layout-1');
  const store = await openStore(shop.store, 'write');
  const search = { assetSchema: 'stock', country: 'US', symbol: 'PLATF', words: ['platf'], limit: 5 };
  const found = await store.snapshot((reader) => searchInstruments(reader, search));
  assert.deepEqual(found, [{ country_iso_code: 'US', symbol: 'META' }]);
  await store.close();
});

test('a backup of layout 1 is restored, and brought up to date by the first that opens it', async () => {
  const shop = newShop();
  const backup = shop.path('old.backup');
  unpack('layout-1', 'bourse.backup', backup);
  await restoreStore(shop.store, backup, plainly);
  await assert.rejects(openStore(shop.store, 'read'), /has an older layout/);
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
      `bourse: updating ${control} from layout 1 to 2; the old file is kept as ${control}.layout-1\n`,
    ),
    stderr,
  );
});
