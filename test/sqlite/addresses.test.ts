// The addresses of stores: which are refused, and which lead to one file under several names (contract 10).
import assert from 'node:assert/strict';
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { engineAt, openControl, openStore } from '../../src/store/engines.ts';
import { UnknownStoreAddress } from '../../src/store/store.ts';
import { Workshop } from '../service.ts';
import { SmallStores, writeDays } from './copies.ts';
import { fileStore } from './files.ts';

const shop = new Workshop();
after(() => shop.close());
const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M', '--symbol', 'A'];

const PASSWORD = 'hunter2';

const refused: readonly [address: string, says: RegExp][] = [
  [':memory:', /a store is a file that stays.*--store sqlite:data\/bourse\.db/],
  ['sqlite::memory:', /a store is a file that stays.*--store sqlite:data\/bourse\.db/],
  ['SQLite::MEMORY:', /a store is a file that stays.*--store sqlite:data\/bourse\.db/],
  ['file:data/x.db', /write sqlite:PATH.*such as sqlite:data\/x\.db/],
  ['file:///srv/x.db', /such as sqlite:\/srv\/x\.db/],
  ['sqlite:file:data/x.db?mode=memory', /such as sqlite:data\/x\.db/],
  ['sqlite:file://localhost/srv/x.db', /such as sqlite:\/srv\/x\.db/],
  ['sqlite:sqlite:data/x.db', /such as sqlite:data\/x\.db/],
  [`sqlite:postgres://me:${PASSWORD}@db/x`, /or postgres:\/\/USER@HOST\/DATABASE/],
  [`postgres://me:${PASSWORD}@db`, /cannot be read: write it as postgres:\/\//],
  [`PostgreSQL://:${PASSWORD}@db/x`, /names no user/],
  [`postgres://me:${PASSWORD}@db/x?sslmod=require`, /has the parameter sslmod; it may have schema/],
  [`postgres://me:${PASSWORD}@db/x?sslmode=on`, /sslmode=on, which is not one of disable, require/],
  [
    `mysql://me:a/${PASSWORD}@x@db/x`,
    /^mysql:\/\/me:\*\*\*@db\/x is not the address of a store: write sqlite:PATH, such as sqlite:data/,
  ],
  [`host=db password=${PASSWORD}`, /is not the address of a store: write sqlite:PATH/],
  ['', /is not the address of a store/],
];

for (const [address, says] of refused) {
  test(`${address.replace(PASSWORD, '***')} is refused as a store, with what to write (contract 10)`, async () => {
    for (const open of [engineAt, (url: string) => openStore(url, 'write').then((store) => store.close())])
      await assert.rejects(
        async () => open(address),
        (error: Error) => {
          assert.ok(error instanceof UnknownStoreAddress, String(error));
          assert.match(error.message, says);
          assert.doesNotMatch(error.message, new RegExp(PASSWORD));
          return true;
        },
      );
  });
}

test('a wrong store is refused wherever it is named: nothing is made, and no password is printed (contract 10)', async () => {
  const file = writeDays(shop, 'a.csv', [0]);
  const before = readdirSync(shop.folder);
  mkdirSync(shop.path('incoming'));
  for (const address of [':memory:', 'file:x.db', `postgres://me:${PASSWORD}@db`]) {
    const runs = [
      shop.run('status', '--store', address),
      shop.run('import', 'bars', file, ...flags, '--store', address),
      shop.run('import', 'bars', '--watch', 'incoming', ...flags, '--store', address),
      shop.runWith({ BOURSE_STORE: address }, 'keys', 'list'),
      shop.runWith({ BOURSE_STORE: address }, 'serve', '--port', '0'),
      shop.run('backup', 'x.backup', '--store', address),
      shop.run('restore', file, '--store', address),
    ];
    writeFileSync(shop.path('bourse.config.json'), JSON.stringify({ store: address }));
    runs.push(shop.runWith({ BOURSE_STORE: '' }, 'status'));
    for (const { status, stdout, stderr } of await Promise.all(runs)) {
      assert.equal(status, 2, stderr);
      assert.match(
        stderr,
        /is not the address of a store|the address of the store cannot be read|is a file that stays/,
      );
      assert.doesNotMatch(stdout + stderr, new RegExp(PASSWORD));
    }
    rmSync(shop.path('bourse.config.json'));
  }
  rmSync(shop.path('incoming'), { recursive: true });
  assert.deepEqual(readdirSync(shop.folder), before);
});

test('an address in place of the file of a backup is refused, without its password (contract 10)', async () => {
  const { url } = await freshStore();
  for (const name of ['backup', 'restore'])
    for (const file of [':memory:', 'file:x.backup', 'sqlite:x.backup', `postgres://me:${PASSWORD}@db/x`]) {
      const { status, stderr } = await shop.run(name, file, '--store', url, '--force');
      assert.equal(status, 2, stderr);
      assert.match(stderr, /a backup is a file: name its path, such as /);
      assert.doesNotMatch(stderr, new RegExp(PASSWORD));
    }
});

test('bourse config shows no password, wherever an address has it (contract 10)', async () => {
  for (const address of [
    `postgres://me:${PASSWORD}@db/x`,
    `postgres://me:a/${PASSWORD}@b@db/x`,
    `postgres://db/x?user=me&password=${PASSWORD}&sslmode=require`,
    `host=db password=${PASSWORD} user=me`,
  ]) {
    const shown = await shop.must('config', '--store', address);
    assert.doesNotMatch(shown, new RegExp(PASSWORD));
    assert.match(shown, /^store +\S.*\bdb\b/m);
  }
});

const stores = new SmallStores(shop);
let isMade = false;
async function freshStore() {
  if (!isMade) await stores.make();
  isMade = true;
  return stores.fresh();
}

test('a store whose file has a second hard link is opened by neither name: each would have its own log (contract 10)', async () => {
  const { path, url, folder } = await freshStore();
  const second = join(folder, 'second.db');
  linkSync(path, second);
  const file = writeDays(shop, 'b.csv', [3]);
  for (const [name, command] of [
    [path, ['status']],
    [second, ['status']],
    [second, ['import', 'bars', file, ...flags]],
    [path, ['backup', join(folder, 'x.backup')]],
    [path, ['serve', '--port', '0']],
  ] as const) {
    const { status, stderr } = await shop.run(...command, '--store', fileStore(name));
    assert.equal(status, 3, stderr);
    assert.ok(stderr.includes(`${name} has 2 hard links`), stderr);
    assert.match(stderr, /find .* -samefile .*remove the others/);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => /-(?:wal|shm)$/.test(name)),
    [],
  );
  const { stdout } = await shop.run('doctor', '--store', url);
  assert.match(stdout, /has 2 hard links/);
  rmSync(second);
  await shop.must('status', '--store', url);
});

test('a control file with a second hard link is not opened (contract 10)', async () => {
  const { control, url, folder } = await freshStore();
  linkSync(control, join(folder, 'second'));
  const { status, stderr } = await shop.run('keys', 'list', '--store', url);
  assert.equal(status, 3, stderr);
  assert.ok(stderr.includes(`${control} has 2 hard links`), stderr);
});

test('a store of which a killed restore left a link under the name of the old store is opened (contract 10)', async () => {
  const { path, url } = await freshStore();
  linkSync(path, `${path}.before-restore`);
  await shop.must('status', '--store', url);
  await shop.must('keys', 'list', '--store', url);
});

test('a store is made where a symbolic link leads, with its keys beside it, whatever the link’s folder (contract 10)', async () => {
  const [linked, real] = [shop.path('linked'), shop.path('real')];
  for (const folder of [linked, real]) mkdirSync(folder);
  symlinkSync('../real/market.db', join(linked, 'bourse.db'));
  const url = fileStore(join(linked, 'bourse.db'));
  await (await openControl(url, 'write')).close();
  await (await shop.serve('--store', url)).stop();
  await shop.must('keys', 'create', 'me', '--store', url);
  await shop.must('import', 'bars', writeDays(shop, 'c.csv', [0]), ...flags, '--store', url);
  assert.deepEqual(readdirSync(linked), ['bourse.db']);
  assert.match(await shop.must('keys', 'list', '--store', url), /\bme\b/);
  assert.equal(engineAt(url).address, fileStore(join(real, 'market.db')));
  assert.ok(existsSync(join(real, 'market.control.db')));
});

test('a path that ends in .db is the store in that file; another word before it is no path (contract 10)', () => {
  for (const path of ['/srv/x.db', 'x.db', './data/x.db', 'd.a:ta/x.db'])
    assert.equal(engineAt(path).address, engineAt(`sqlite:${path}`).address);
  for (const address of [
    'file:x.db',
    'sqlit:x.db',
    'http://host/x.db',
    '/srv/x.sqlite',
    'host=db dbname=x.db password=hunter2:x',
  ])
    assert.throws(() => engineAt(address).address, UnknownStoreAddress, address);
});
