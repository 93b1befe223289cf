// A file that is followed where its name leads: what becomes of the service when that fails, or ends
// meanwhile.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { StoreUnavailable } from '../store.ts';
import { Database } from './connection.ts';
import { Followed } from './followed.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-followed-'));
after(() => rmSync(folder, { recursive: true }));

/** The path of a new file in a folder of its own. */
function newFile(name: string): string {
  mkdirSync(join(folder, name));
  const path = join(folder, name, 'bourse.db');
  const database = new Database(path, 'write', 'store');
  database.exec('create table things (id integer)');
  database.close();
  return path;
}

test('a file whose name cannot be looked up is away, and there again later (contract 6.3)', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const path = newFile('loop');
  const open = async (): Promise<Database> => new Database(path, 'read', 'store');
  const told: string[] = [];
  const file = await Followed.begin(
    open,
    (database) => database,
    (doing) => told.push(doing),
  );
  const [own, aside] = [join(folder, 'loop'), join(folder, 'aside')];
  for (const times of [1, 2]) {
    renameSync(own, aside);
    // A link to itself: the system says ELOOP, not that there is nothing.
    symlinkSync(own, own);
    t.mock.timers.tick(3_000);
    await assert.rejects(file.now(), StoreUnavailable);
    assert.equal(told.length, times);
    rmSync(own);
    renameSync(aside, own);
    t.mock.timers.tick(1_000);
    assert.deepEqual((await file.now()).rows('select count(*) from things'), [[0]]);
  }
  file.close();
});

test('a file that is opened while the service ends is closed again', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const path = newFile('ending');
  const opened: Database[] = [];
  let mayOpen = Promise.resolve();
  const open = async (): Promise<Database> => {
    await mayOpen;
    opened.push(new Database(path, 'read', 'store'));
    return opened.at(-1)!;
  };
  const file = await Followed.begin(
    open,
    (database) => database,
    () => undefined,
  );
  renameSync(newFile('next'), path);
  const turn = Promise.withResolvers<void>();
  mayOpen = turn.promise;
  t.mock.timers.tick(1_000);
  file.close();
  turn.resolve();
  await assert.rejects(file.now(), StoreUnavailable);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  assert.equal(opened.length, 2);
  for (const database of opened) assert.throws(() => database.pragma('user_version'), /not open/);
});
