// What backup and restore refuse, through the store port: with the reason, and with nothing changed (contract
// 10).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { backupStore, openStore, restoreStore } from '../../src/store/engines.ts';
import { type CopyOptions, StoreUnusable, UnfitPlace, WouldReplace } from '../../src/store/store.ts';
import { Workshop } from '../service.ts';
import { alter, dataOf, forced, minuteFlags, plainly, SmallStores, writeDays } from './copies.ts';
import { contentOfFile, fileStore, rowsOfFile } from './files.ts';

const shop = new Workshop();
const stores = new SmallStores(shop);
before(() => stores.make());
after(() => shop.close());

type Kind = typeof StoreUnusable | typeof UnfitPlace | typeof WouldReplace;

async function refused(work: Promise<unknown>, says: RegExp, kind: Kind = StoreUnusable): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof kind, String(error));
    for (const usage of [UnfitPlace, WouldReplace]) assert.equal(error instanceof usage, kind === usage);
    assert.match(error.message, says);
    return true;
  });
}

suite('what a backup refuses', () => {
  type Refusal = readonly [
    what: string,
    place: (folder: string) => string,
    kind: Kind,
    says: RegExp,
    options?: CopyOptions,
  ];
  const refusals: readonly Refusal[] = [
    [
      'a file that is there',
      (folder) => join(folder, 'there'),
      WouldReplace,
      /there exists already: .*--force to replace it/,
    ],
    ['a folder', (folder) => folder, UnfitPlace, /is a folder, a link or a device/],
    [
      'a folder that is not there',
      (folder) => join(folder, 'no/a.backup'),
      UnfitPlace,
      /there is no folder .*no: make it first/,
    ],
    [
      'the store itself',
      (folder) => join(folder, 'bourse.db'),
      UnfitPlace,
      /belongs to the store itself/,
      forced,
    ],
    [
      'the file of keys',
      (folder) => join(folder, 'bourse.control.db'),
      UnfitPlace,
      /belongs to the store itself/,
      forced,
    ],
  ];
  for (const [what, place, kind, says, options = plainly] of refusals) {
    test(`a backup to ${what} is refused, and changes nothing`, async () => {
      const { folder, path, url } = stores.fresh();
      writeFileSync(join(folder, 'there'), 'mine');
      const data = contentOfFile(path);
      await refused(backupStore(url, place(folder), options), says, kind);
      assert.deepEqual(contentOfFile(path), data);
      assert.equal(readFileSync(join(folder, 'there'), 'utf8'), 'mine');
      assert.ok(!readdirSync(folder).some((name) => name.includes('.partial')));
    });
  }

  test('a backup of no store is refused and makes nothing', async () => {
    const place = shop.path('nothing.backup');
    await refused(backupStore(fileStore(shop.path('none/x.db')), place, plainly), /there is no store at/);
    assert.ok(!existsSync(place));
  });

  test('the place of the keys is the store’s own, also before there are any', async () => {
    const { folder, url } = stores.fresh();
    const place = join(folder, 'bourse.control.db');
    rmSync(place, { force: true });
    await refused(backupStore(url, place, plainly), /belongs to the store itself/, UnfitPlace);
    assert.ok(!existsSync(place));
  });

  test('a store is found through a link, and its keys with it', async () => {
    const { folder, path } = stores.fresh();
    const link = join(folder, 'link.db');
    symlinkSync(path, link);
    const place = join(folder, 'linked.backup');
    await backupStore(fileStore(link), place, plainly);
    await backupStore(fileStore(path), join(folder, 'direct.backup'), plainly);
    assert.equal(statSync(place).size, statSync(join(folder, 'direct.backup')).size);
    await refused(backupStore(fileStore(path), link, forced), /is a folder, a link or a device/, UnfitPlace);
  });

  test('--force replaces a file that is there', async () => {
    const { folder, path, url } = stores.fresh();
    writeFileSync(join(folder, 'there'), 'mine');
    await backupStore(url, join(folder, 'there'), forced);
    assert.deepEqual(dataOf(join(folder, 'there')), contentOfFile(path));
  });

  test('a damaged store is not backed up as if it were sound', async () => {
    const { folder, path, url } = stores.fresh();
    const good = join(folder, 'a.backup');
    await backupStore(url, good, plainly);
    const kept = readFileSync(good);
    truncateSync(path, statSync(path).size / 2);
    await refused(backupStore(url, good, forced), /bourse\.db is damaged|bourse\.db cannot be opened/);
    assert.ok(readFileSync(good).equals(kept));
  });
});

suite('what a restore refuses', () => {
  /** Overwrites a byte where some bytes stand. */
  function flip(file: string, bytes: Uint8Array): void {
    const content = readFileSync(file);
    const at = content.indexOf(bytes);
    assert.ok(at > 0);
    content[at + 8] = content[at + 8]! ^ 0x40;
    writeFileSync(file, content);
  }
  const bytesIn = (file: string, sql: string): Uint8Array =>
    Object.values(rowsOfFile(file, sql)[0]!)[0] as Uint8Array;

  /** Puts another file of keys into a backup. */
  /** As a newer Bourse writes its layout, with the copy of its number. */
  function writtenBy(file: string, layout: number): void {
    alter(file, `pragma user_version = ${layout}`);
    alter(file, `update row_sums set rows = ${layout} where name = 'sqlite_schema'`);
  }

  function replaceKeys(backup: string, change: (control: string) => void): void {
    const control = `${backup}.control`;
    writeFileSync(control, bytesIn(backup, 'select control from backup'));
    change(control);
    const bytes = readFileSync(control);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    alter(backup, `update backup set control_sha256 = '${sha256}', control = ?`, bytes);
  }

  const damages: readonly (readonly [what: string, says: RegExp, damage: (backup: string) => void])[] = [
    ['a file that is not there', /there is no backup/, (backup) => rmSync(backup)],
    [
      'a text file',
      /is not a backup, or it is damaged/,
      (backup) => writeFileSync(backup, 'datetime,open\n'.repeat(100)),
    ],
    [
      'a database of another program',
      /is not a Bourse backup/,
      (backup) => alter(backup, 'pragma application_id = 7'),
    ],
    ['an empty file', /is empty/, (backup) => truncateSync(backup)],
    ['a backup cut short', /damaged/, (backup) => truncateSync(backup, statSync(backup).size - 20_000)],
    [
      'a backup with another bar',
      /is damaged: its data is not what was written/,
      (backup) => flip(backup, bytesIn(backup, 'select bytes from bar_blocks')),
    ],
    [
      'a backup with another run',
      /is damaged: its data is not what was written/,
      (backup) =>
        flip(backup, Buffer.from(String(rowsOfFile(backup, 'select sha256 from import_runs')[0]!.sha256))),
    ],
    [
      'a backup with another key',
      /is damaged: its keys are not what was written/,
      (backup) => {
        const control = `${backup}.control`;
        writeFileSync(control, bytesIn(backup, 'select control from backup'));
        flip(backup, bytesIn(control, 'select hash from api_keys'));
      },
    ],
    ['a backup of a newer layout', /newer Bourse \(layout 99/, (backup) => writtenBy(backup, 99)],
    [
      'a backup of which the number of the layout is too high',
      /is damaged: its layout is 99, and \d+ was written/,
      (backup) => alter(backup, 'pragma user_version = 99'),
    ],
    [
      'a backup of which the number of the layout is that of an older one',
      /is damaged: its layout is 7, and \d+ was written/,
      (backup) => alter(backup, 'pragma user_version = 7'),
    ],
    [
      'a backup of a newer layout of keys',
      /newer Bourse \(layout 98/,
      (backup) => replaceKeys(backup, (control) => writtenBy(control, 98)),
    ],
    [
      'a backup of which the number of the layout of keys is damaged',
      /is damaged: its layout is 98, and \d+ was written/,
      (backup) => replaceKeys(backup, (control) => alter(control, 'pragma user_version = 98')),
    ],
  ];
  for (const [what, says, damage] of damages) {
    test(`${what} is refused, and the store stays as it is`, async () => {
      const { folder, path, control, url } = stores.fresh();
      const backup = join(folder, 'a.backup');
      await backupStore(url, backup, plainly);
      damage(backup);
      const [data, keys] = [contentOfFile(path), contentOfFile(control)];
      const kind = existsSync(backup) ? StoreUnusable : UnfitPlace;
      await refused(restoreStore(url, backup, forced), says, kind);
      assert.deepEqual([contentOfFile(path), contentOfFile(control)], [data, keys]);
      assert.ok(!readdirSync(folder).some((name) => /partial|before-restore/.test(name)));
      await (await openStore(url, 'write')).close();
    });
  }

  for (const file of ['bourse.db', 'bourse.control.db']) {
    test(`${file} is no backup, and is named for what it is`, async () => {
      const { folder } = stores.fresh();
      const restored = restoreStore(fileStore(join(folder, 'x.db')), join(folder, file), plainly);
      await refused(restored, /is not a Bourse backup: it is (a Bourse store|the keys of a Bourse store)/);
      assert.ok(!existsSync(join(folder, 'x.db')));
    });
  }

  test('a backup is not served or imported into', async () => {
    const { folder, url } = stores.fresh();
    const backup = join(folder, 'a.backup');
    await backupStore(url, backup, plainly);
    await refused(openStore(fileStore(backup), 'write'), /not a Bourse store: it is a Bourse backup/);
  });

  test('a store that is there is replaced only with --force, and one kept earlier never', async () => {
    const { folder, path, url } = stores.fresh();
    const backup = join(folder, 'a.backup');
    await backupStore(url, backup, plainly);
    await refused(
      restoreStore(url, backup, plainly),
      /there is a store at .*--force replaces it and keeps it as/,
      WouldReplace,
    );
    writeFileSync(`${path}.before-restore`, 'mine');
    await refused(restoreStore(url, backup, forced), /is left from an earlier restore/, WouldReplace);
    assert.equal(readFileSync(`${path}.before-restore`, 'utf8'), 'mine');
  });

  test('a store that is being served is in use, idle or not, and goes on being served (contract 10)', async () => {
    const { folder, path, url } = stores.fresh();
    const backup = join(folder, 'a.backup');
    await backupStore(url, backup, plainly);
    const server = await shop.serve('--store', url);
    const data = contentOfFile(path);
    await refused(restoreStore(url, backup, forced), /is in use: stop bourse serve/);
    assert.deepEqual(contentOfFile(path), data);
    assert.equal((await server.get('/api/v2/stock/bars/US:A/1M/latest?secret_key=x')).status, 401);
    await server.stop();
    await restoreStore(url, backup, forced);
  });

  test('a store whose keys alone are in use is in use', async () => {
    const { folder, path, control, url } = stores.fresh();
    const backup = join(folder, 'a.backup');
    await backupStore(url, backup, plainly);
    const other = new DatabaseSync(control);
    other.prepare('select count(*) from api_keys').get();
    await refused(restoreStore(url, backup, forced), /bourse\.control\.db is in use/);
    other.close();
    assert.ok(!existsSync(`${path}.before-restore`));
  });

  test('a database of another program is not replaced, even with --force', async () => {
    const { folder, url } = stores.fresh();
    const backup = join(folder, 'a.backup');
    await backupStore(url, backup, plainly);
    const other = join(folder, 'other.db');
    alter(other, 'create table prices (close real)');
    const bytes = readFileSync(other);
    await refused(restoreStore(fileStore(other), backup, forced), /other\.db is not a Bourse store/);
    assert.ok(readFileSync(other).equals(bytes));
  });
});

test('a damaged store is what restoring is for: it is replaced, and kept with its log', async () => {
  const { folder, path, url } = stores.fresh();
  const backup = join(folder, 'a.backup');
  await backupStore(url, backup, plainly);
  const data = contentOfFile(path);
  // What a process leaves that was killed: a log with pages that are not in the file.
  const live = new DatabaseSync(path);
  live.exec('pragma wal_autocheckpoint = 0; delete from bar_blocks; delete from instruments');
  copyFileSync(`${path}-wal`, join(folder, 'log'));
  live.close();
  copyFileSync(join(folder, 'log'), `${path}-wal`);
  writeFileSync(path, 'no database any more'.repeat(1000));
  await restoreStore(url, backup, forced);
  // A restored store goes on with a version of its own (contract 9.12).
  const withoutVersions = (content: typeof data) =>
    Object.entries(content).filter(([table]) => !/^(changes|counters|former_rows)/.test(table));
  assert.deepEqual(withoutVersions(contentOfFile(path)), withoutVersions(data));
  assert.match(readFileSync(`${path}.before-restore`, 'utf8'), /^no database/);
  assert.ok(existsSync(`${path}.before-restore-wal`));
});

test('a backup that an older layout wrote is made a store, which is brought up to date when it is opened', async () => {
  const { folder, path, url } = stores.fresh();
  // The layout before the first: nothing but the marks.
  const older = join(folder, 'older.db');
  alter(older, 'pragma application_id = 1112691525');
  const backup = join(folder, 'a.backup');
  await backupStore(fileStore(older), backup, plainly);
  await restoreStore(url, backup, forced);
  await shop.must(
    'import',
    'bars',
    writeDays(shop, 'first.csv', [0]),
    ...minuteFlags,
    '--symbol',
    'A',
    '--store',
    url,
  );
  assert.equal(rowsOfFile(path, 'select bar_count from series')[0]!.bar_count, 1);
});
