// `npm run test:postgres`: the whole suite on PostgreSQL, on a server that is started for it. What is about SQLite alone is left out.
import { globSync } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { leftOut, leftOutWords } from './left-out.ts';
import { startPostgres } from './server.ts';

/** Why a test may be skipped: this machine lacks what it needs, whatever the engine. */
const ofMachine =
  /(?:there is no|no \/|no file|is not there|is not on this machine|only Linux|openssl|npm|root |mount|midnight)/;

const CONCURRENCY = 6;

/** A file that does not end fails, as with npm test: the longest takes six minutes on a very busy machine. */
const FILE_MS = 15 * 60_000;

/** Files that take longest: begun first, so that none runs alone at the end. */
const longest = [
  'test/fuzz.test.ts',
  'src/http/cache/answers-after-commits.test.ts',
  'test/postgres/copy.test.ts',
  'test/postgres/away.test.ts',
];

function longestFirst(one: string, other: string): number {
  const placeOf = (path: string): number => (longest.includes(path) ? longest.indexOf(path) : longest.length);
  return placeOf(one) - placeOf(other) || (one < other ? -1 : 1);
}

const started = performance.now();
const server = await startPostgres();
Object.assign(process.env, { TEST_STORE: 'postgres', TEST_POSTGRES: server.url });
const given = process.argv.slice(2);
const files =
  given.length > 0
    ? given
    : globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { exclude: leftOut }).toSorted(longestFirst);

const found = { passed: 0, failed: 0 };
const skipped: string[] = [];

/** Runs files, so many at the same time, and prints what they say. */
async function runAll(some: readonly string[], concurrency: number): Promise<void> {
  if (some.length === 0) return;
  const tests = run({ files: some, concurrency, timeout: FILE_MS });
  tests.on('test:pass', ({ name, skip, details }) => {
    if (details.type === 'suite') return;
    if (skip === undefined || skip === false) found.passed++;
    else skipped.push(`${name}: ${String(skip)}`);
  });
  tests.on('test:fail', () => found.failed++);
  for await (const text of tests.compose(spec)) process.stdout.write(text as string);
}

const isLoad = (path: string): boolean => path.startsWith('test/reliability/');
await runAll(
  files.filter((path) => !isLoad(path)),
  CONCURRENCY,
);
// What is under load itself has the machine for itself.
await runAll(files.filter(isLoad), 1);
await server.stop();

const unfit = skipped.filter((one) => !ofMachine.test(one));
for (const one of skipped) console.log(`skipped: ${one}`);
if (given.length === 0) console.log(leftOutWords(files));
for (const one of unfit) console.log(`skipped, which counts as a failure: ${one}`);
console.log(
  `on PostgreSQL: ${files.length} files, ${found.passed} tests passed, ${found.failed} failed, ${skipped.length} skipped, ` +
    `${((performance.now() - started) / 1_000).toFixed(0)} s`,
);
process.exitCode = found.failed === 0 && unfit.length === 0 ? 0 : 1;
