// The whole suite takes its stores by one setting: which tests are about SQLite's files, and that no other
// names them.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');

/** Tests that are about a store's file, with what of it they need. */
const aboutFiles: Readonly<Record<string, string>> = {
  'src/cli/import/watch.test.ts': 'small files of bars',
  'src/cli/serve/workers.test.ts': 'a store that cannot be opened',
  'src/serve/threads/query-queue.test.ts': 'a store that goes away under a server',
  'src/serve/keys/control-client.test.ts': 'a control file that cannot be opened',
  'test/ci/copies-under-way.test.ts': 'copies of files',
  'test/ci/full-disk.test.ts': 'files on a small disk',
  'test/ci/little-space.test.ts': 'files on a small disk',
  'test/cli.test.ts': 'the default store, and what stands where a store should',
  'test/contract-walk.test.ts': 'the store of bourse demo',
  'test/deep-check.test.ts': 'a file that is gone, and its header',
  'test/doctor.test.ts': 'what is wrong with files',
  'test/examples/desk.ts': 'backups',
  'test/explorer/explorer-world.ts': 'the store of bourse demo',
  'test/export.test.ts': 'an export in place of the store',
  'test/golden/checkout.ts': 'the store of another commit, which knows no engine of tests',
  'test/import-law.test.ts': 'who may open a database',
  'test/import.test.ts': 'a dry run beside a file that is not there, or empty',
  'test/leak.test.ts': 'every byte of the files',
  'test/postgres/commands.test.ts': 'the answers of SQLite beside those of PostgreSQL',
  'test/postgres/copy.test.ts': 'copies from and to files',
  'test/postgres/passwords.test.ts': 'copies from and to files',
  'test/postgres/differential.ts': 'the answers of SQLite beside those of PostgreSQL',
  'test/postgres/plans-run.ts': 'the plans of SQLite beside those of PostgreSQL',
  'test/postgres/plans.ts': 'the judgement of plans, which both engines share',
  'test/postgres/stores.ts': 'the form of a row, which both engines share',
  'test/reliability/flips-damage.ts': 'damage in a file',
  'test/reliability/flips-pages.ts': 'the pages of a file',
  'test/reliability/flips-store.ts': 'the size of the pages of a file',
  'test/reliability/flips-trial.ts': 'damage in a file',
  'test/reliability/room.ts': 'what files take of a disk',
  'test/ci/turns.test.ts': 'the process that has locked a file',
  'test/restored-versions.test.ts': 'backups are files',
  'test/status.test.ts': 'sizes of files, and damage',
  'test/stores.ts': 'where the engine is chosen',
  'test/year/year.ts': 'a store of the first layout on a small disk, and its backups',
};

const isAboutFiles = (path: string): boolean =>
  Object.hasOwn(aboutFiles, path) || /^(?:test|src\/store)\/sqlite\//.test(path);

const texts = new Map(
  globSync(['{src,packages}/**/*.test.ts', 'test/**/*.ts'], { cwd: root })
    .filter((path) => path !== 'test/stores.test.ts')
    .sort()
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);

test('tests ask test/stores.ts for a store: only those about SQLite files name their addresses or open them', () => {
  const direct = /['"`]sqlite:|\bnode:sqlite\b|\/sqlite\/\w+\.ts'|['"`/]bourse(?:\.control)?\.db\b/;
  const found = [...texts].filter(([path, text]) => direct.test(text) && !isAboutFiles(path));
  assert.deepEqual(
    found.map(([path]) => path),
    [],
  );
});

test('every test that is said to be about SQLite files is there and is', () => {
  const direct = /sqlite/;
  assert.deepEqual(
    Object.keys(aboutFiles).filter((path) => !direct.test(texts.get(path) ?? '')),
    [],
  );
});
