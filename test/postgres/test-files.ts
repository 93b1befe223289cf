// Which files of tests run on PostgreSQL, and what a run of all of them leaves out.
import { readFileSync, globSync as seek } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const globSync = (globs: readonly string[], exclude: readonly string[] = []): string[] =>
  seek(globs, { cwd: root, exclude });

/**
 * The tests of PostgreSQL itself: its engine, and both engines side by side. An undo reads several versions
 * of one block, and an import with
 * --replace removes rows in its own write, which nothing else does.
 */
const ownTests = ['src/store/postgres/**/*.test.ts', 'test/postgres/*.test.ts'];
const onEachEngine = ['test/undo.test.ts', 'test/replace.test.ts'];

/** Files of tests about SQLite alone. */
const sqliteAlone = ['src/store/sqlite/**', 'test/sqlite/**'];
/** These, and the long forms. */
const ofSqlite = [...sqliteAlone, 'test/ci/**'];

/**
 * Those of modules that know no store, by the import law, of the explorer on the demo, whose store is always
 * a file.
 */
const ofNoStore = [
  '{src/{base,contract,market,store/schema,imports/read,imports/map},packages}/**',
  'test/explorer/**',
  'src/serve/outgoing/**',
];

/** The files that run on PostgreSQL alone. */
export const ofPostgres = (): string[] => globSync(ownTests);

/** The files that run on SQLite alone: another engine has none of their tests. */
export const ofSqliteAlone = (): string[] => globSync(sqliteAlone);

/** The files of a run on PostgreSQL: the tests of PostgreSQL, or all tests that ask a store. */
export const filesOnPostgres = (all: boolean): string[] =>
  (all
    ? globSync(['{src,packages,test}/**/*.test.ts'], [...ofSqlite, ...ofNoStore])
    : globSync([...ownTests, ...onEachEngine])
  ).toSorted();

/** What a run of all tests on PostgreSQL leaves out, with the reason. */
export function leftOutWords(files: readonly string[]): string {
  const countIn = (folders: readonly string[]): number =>
    globSync(folders).filter((path) => path.endsWith('.test.ts')).length;
  const among = files.flatMap((path) => {
    const count = readFileSync(join(root, path), 'utf8').match(/^ *testOfSqlite\(/gm)?.length ?? 0;
    return count === 0 ? [] : [`${count} in ${path}`];
  });
  return [
    `about files of SQLite: ${countIn(ofSqlite)} files (${ofSqlite.join(', ')}); of other files ${among.join(', ')}`,
    `the same on every engine (npm test has them): ${countIn(ofNoStore)} files about no store (${ofNoStore.join(', ')})`,
  ].join('\n');
}
