// `npm run test:postgres`: the tests of PostgreSQL, on servers that are started for them; with --all the whole suite on PostgreSQL; or the
// files that are named.
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { filesOnPostgres, leftOutWords } from './left-out.ts';
import { withPostgres } from './server.ts';

const CONCURRENCY = 4;

/** A file that does not end fails. */
const FILE_MS = 15 * 60_000;

const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const files = positionals.length > 0 ? positionals : filesOnPostgres(values.all);
const isLoad = (path: string): boolean => path.startsWith('test/reliability/');
const found = { passed: 0, failed: 0, skipped: 0 };

/** Runs files, so many at the same time, and prints what they say. */
async function runAll(some: readonly string[], concurrency: number): Promise<void> {
  if (some.length === 0) return;
  const tests = run({ files: some, concurrency, timeout: FILE_MS });
  tests.on('test:pass', ({ name, skip, details }) => {
    if (details.type === 'suite') return;
    if (skip === undefined || skip === false) found.passed++;
    else {
      found.skipped++;
      console.log(`skipped: ${name}: ${String(skip)}`);
    }
  });
  tests.on('test:fail', () => found.failed++);
  for await (const text of tests.compose(spec)) process.stdout.write(text as string);
}

const startedMs = performance.now();
await withPostgres(async () => {
  process.env.TEST_STORE = 'postgres';
  await runAll(
    files.filter((path) => !isLoad(path)),
    CONCURRENCY,
  );
  // What is under load itself has the machine for itself.
  await runAll(files.filter(isLoad), 1);
});
if (values.all) console.log(leftOutWords(files));
console.log(
  `on PostgreSQL: ${files.length} files, ${found.passed} tests passed, ${found.failed} failed, ${found.skipped} skipped, ` +
    `${((performance.now() - startedMs) / 1_000).toFixed(0)} s`,
);
process.exitCode = found.failed === 0 ? 0 : 1;
