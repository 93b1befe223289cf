// What runs leave out: `npm test` where PostgreSQL is not installed, `npm run test:postgres` the tests about SQLite's files.
import { globSync, readFileSync } from 'node:fs';
import { postgresPrograms } from './server.ts';

/** Files of tests about SQLite alone. */
const ofSqlite = ['src/store/sqlite/**', 'test/sqlite/**'];

/** Those of modules that know no store, by the import law, of the explorer on the demo, whose store is always a file, and of the memory of caches. */
const ofNoStore = [
  'src/{base,disk,contract,explorer,datasets,calendar,bars,files,mapping}/**',
  'test/explorer/**',
  'src/http/sending/**',
  'test/cache-memory.test.ts',
];

/** What a run on PostgreSQL leaves out as whole files. */
export const leftOut = [...ofSqlite, ...ofNoStore];

/** What a run on PostgreSQL leaves out, in words with the reason. */
export function leftOutWords(files: readonly string[]): string {
  const countIn = (folders: readonly string[]): number =>
    globSync(folders).filter((path) => path.endsWith('.test.ts')).length;
  const among = files.flatMap((path) => {
    const count = readFileSync(path, 'utf8').match(/^ *testOfSqlite\(/gm)?.length ?? 0;
    return count === 0 ? [] : [`${count} in ${path}`];
  });
  return [
    `left out, about files of SQLite: ${countIn(ofSqlite)} files (${ofSqlite.join(', ')}); of other files ${among.join(', ')}`,
    `left out, the same on every engine (npm test has them): ${countIn(ofNoStore)} files about no store (${ofNoStore.join(', ')})`,
  ].join('\n');
}

if (import.meta.main && postgresPrograms() === null)
  console.log(
    'left out: the tests of PostgreSQL, which is not installed here (apt-get install postgresql-15). ' +
      'They are skipped in src/store/postgres and test/postgres/commands.test.ts.',
  );
