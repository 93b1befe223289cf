// Almost full disks, from nothing to 64 kB free: every command either works or says how many bytes are
// missing (contract 10).
import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openStore } from '../../src/store/engines.ts';
import { counters } from '../../src/store/schema/internal.ts';
import { type Finished, runAlone } from '../commands.ts';
import { minutesFile, named } from '../reliability/minutes.ts';
import { noSmallDisk, roomIn, SmallDisk } from '../reliability/tmpfs.ts';
import { Workshop } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';

const KILOBYTE = 1024;
const DISK_BYTES = 2 ** 25;
/** The least that a disk gives, and a step that meets each of SQLite's files. */
const STEP_BYTES = 8 * KILOBYTE;
const FREE_BYTES_MAX = 64 * KILOBYTE;

/** A full disk is met in the middle of a write, so each message asks for a little more. */
const TRIES_MAX = 12;

const skip = noSmallDisk();
const shop = new Workshop();
let disk: SmallDisk;
let keyId = '';
after(() => {
  shop.close();
  disk?.close();
});

const examples = join(import.meta.dirname, '../../examples');
const original = (name: string): string => shop.path(`original-${name}`);
const stores = ['bourse.db', 'bourse.control.db'];
const bars = (): string => shop.path('more.csv');

before(async () => {
  if (skip !== false) return;
  disk = new SmallDisk(DISK_BYTES);
  await shop.must('import', 'bars', minutesFile(shop.path('base.csv'), 3, 50), ...named);
  await shop.must('import', 'news', join(examples, 'news.csv'));
  await shop.must('keys', 'create', 'me');
  [{ id: keyId }] = JSON.parse(await shop.must('keys', 'list', '--json')) as [{ id: string }];
  await shop.must('backup', original('backup'));
  for (const name of stores) copyFileSync(shop.path(name), original(name));
  minutesFile(bars(), 3, 50, 50);
});

/** Puts a store on the disk that nobody has open, and leaves so many bytes free. */
function putStore(freeBytes: number): void {
  disk.resize(DISK_BYTES);
  for (const name of readdirSync(disk.folder)) rmSync(disk.path(name), { recursive: true });
  for (const name of stores) copyFileSync(original(name), disk.path(name));
  rmSync(shop.path('out'), { recursive: true, force: true });
  disk.leaveFree(freeBytes);
}

const stock = ['--schema', 'stock', '--country', 'US'];

/** Each command with its arguments; with the folder where it is not that of the store. */
const commands: Readonly<Record<string, () => readonly string[]>> = {
  'import bars': () => ['import', 'bars', bars(), ...named],
  'import bars --dry-run': () => ['import', 'bars', bars(), ...named, '--dry-run'],
  'import instruments': () => ['import', 'instruments', join(examples, 'instruments.csv')],
  undo: () => ['undo', '1'],
  'delete bars': () => ['delete', 'bars', ...stock, '--symbol', 'B0000'],
  'delete news': () => ['delete', 'news', '--from', '2000-01-01', '--to', '2030-01-01'],
  'keys create': () => ['keys', 'create', 'next'],
  'keys revoke': () => ['keys', 'revoke', keyId],
  'keys list': () => ['keys', 'list'],
  status: () => ['status'],
  'backup beside the store': () => ['backup', disk.path('store.backup')],
  'backup elsewhere': () => ['backup', shop.path('out')],
  'export CSV beside the store': () => ['export', 'bars', '--out', disk.path('bars.csv')],
  'export Parquet beside the store': () => ['export', 'bars', '--out', disk.path('bars.parquet')],
  'export elsewhere': () => ['export', 'bars', '--out', `${shop.path('out')}.csv`, '--force'],
};

const run = (args: readonly string[]): Promise<Finished> =>
  shop.run(...args, '--store', fileStore(disk.path('bourse.db')));

for (const [name, argsOf] of Object.entries(commands))
  test(`${name}: at any free space it works or names the missing bytes, and works once they are free`, {
    skip,
  }, async () => {
    for (let freeBytes = 0; freeBytes <= FREE_BYTES_MAX; freeBytes += STEP_BYTES) {
      putStore(freeBytes);
      const done = await run(argsOf());
      if (done.status !== 0) roomIn(done, disk.folder);
    }
    // Whoever frees what is missing, again and again, gets there.
    let freeBytes = 0;
    for (let tries = 1; ; tries++) {
      putStore(freeBytes);
      const done = await run(argsOf());
      if (done.status === 0) break;
      const room = roomIn(done, disk.folder);
      assert.ok(tries < TRIES_MAX, done.stderr);
      freeBytes += room.neededBytes - room.freeBytes;
    }
  });

test('a log that a killed process left needs space to be read: doctor reports the missing bytes, and programs get the word', {
  skip,
}, async () => {
  putStore(2 ** 20);
  const url = fileStore(disk.path('bourse.db'));
  const open = await openStore(url, 'write');
  await open.write((writer) => writer.upsert(counters, [{ name: 'test', value: 1 }]));
  copyFileSync(disk.path('bourse.db-wal'), original('wal'));
  await open.close();
  putStore(2 ** 20);
  copyFileSync(original('wal'), disk.path('bourse.db-wal'));
  disk.leaveFree(0);
  const { status, stdout } = await run(['doctor']);
  assert.equal(status, 1);
  assert.match(stdout, /^fail +store +the disk of \S+ has 0 bytes free, but about 32,768 bytes are needed/m);
  const { stderr } = await run(['status', '--json']);
  assert.equal((JSON.parse(stderr) as { error: string }).error, 'disk_full');
});

test('restore, serve and demo name the missing bytes too', { skip }, async () => {
  for (let freeBytes = 0; freeBytes <= 6 * STEP_BYTES; freeBytes += 2 * STEP_BYTES) {
    putStore(freeBytes);
    const target = fileStore(disk.path('restored.db'));
    roomIn(await shop.run('restore', original('backup'), '--store', target), disk.folder);
    const serving = ['serve', '--port', '0', '--store', fileStore(disk.path('bourse.db'))];
    const environment = { ...process.env, NO_COLOR: '1' };
    roomIn(await runAlone({ words: serving, folder: shop.folder, environment }), disk.folder);
    const { stderr, ...demo } = await runAlone({
      words: ['demo', '--port', '0'],
      folder: disk.folder,
      environment,
    });
    const [, ...lines] = stderr.split('\n');
    roomIn({ ...demo, stderr: lines.join('\n') }, join(disk.folder, 'data'));
  }
});
