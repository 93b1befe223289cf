// Runs the tests, some files side by side, and says at the end what failed, what was skipped and why, and
// what took longest.
//   node test/run.ts               all of them, but for PostgreSQL and for the long forms in test/ci
//   node test/run.ts --quick       what starts no processes
//   node test/run.ts --postgres    what is about PostgreSQL; with --all every test that has a store, on PostgreSQL
//   node test/run.ts --ci          everything: the first, the third, and test/ci
//   node test/run.ts FILE…         these; with --postgres on PostgreSQL
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startHost } from './commands.ts';
import { filesTogether } from './files-together.ts';
import { postgresPrograms, withPostgres } from './postgres/server.ts';
import { filesOnPostgres, leftOutWords, ofPostgres, ofSqliteAlone } from './postgres/test-files.ts';
import type { Ended, Note } from './run-events.ts';

const root = join(import.meta.dirname, '..');

/** How much random tests try, where nothing else is said: in CI four times as much as before a commit. */
const times = { ci: '2', usual: '0.5' };

/**
 * A file of which no test ends for so long, and which prints nothing, waits in vain: it is stopped, with all
 * that it started.
 */
const SILENCE_MS = 180_000;
const LOOK_MS = 1_000;

/** Files side by side: more than there are processors, for they also wait. */
const CONCURRENCY = 2 * availableParallelism();

/** The load of the machine that these files make by themselves, with what they start. */
const OWN_LOAD = 2 * CONCURRENCY;

/** The time after which a silent file is stopped: longer where others keep the processors busy too. */
const silenceMaxMs = (): number => SILENCE_MS * Math.max(1, loadavg()[0]! / OWN_LOAD);

/** Of what a file that failed has printed, the last of it is shown. */
const OUTPUT_CHARACTERS_MAX = 20_000;

/** Of the errors of a test that failed, the last lines of the run have so much. */
const ERROR_CHARACTERS_MAX = 600;

const SLOWEST = 10;

/** Begun first, so that none of them runs alone at the end. */
const longest = [
  'test/explorer/**',
  'src/{cli/import/watch,serve/outgoing/sending,serve/threads/query-queue}*',
  'test/{examples,import-formats,import-groups,raw-http,reader-process,sqlite/away}*',
  'test/mcp/http*',
  'test/fuzz*',
  'test/ci/{explorer,examples}/**',
  'test/ci/**',
  'test/postgres/**',
];

const everyFile = ['{src,packages,test,bench}/**/*.test.ts'];
const longForms = ['test/ci/**/*.test.ts'];

/**
 * What starts no processes and keeps within a minute: most of what stands beside the sources, and some of
 * test/.
 */
const quick = [
  ...[...filesTogether[0]!, 'src/{imports,queries,runs,series,serve/keys}/**/*.test.ts'],
  'src/serve/!(handshakes|server|refusals).test.ts',
  'test/{import-law,stores,rules,container,import-instruments,instrument-terms,undo,security}.test.ts',
];

/** A file to run, or files that share a process, and the engine of their stores. */
type Job = { readonly files: readonly string[]; readonly engine: 'sqlite' | 'postgres' };

/** A process that a test left, in a group of its own, may keep the output open for ever. */
const CLOSE_MS = 5_000;

/** How a file ended. */
type Outcome = Job & {
  readonly ms: number;
  readonly tests: readonly Ended[];
  readonly notes: readonly string[];
  /** What it wrote on standard output and error, the last of it. */
  readonly printed: string;
};

const { values: asked, positionals: named } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    ci: { type: 'boolean', default: false },
  },
});

const filesOf = (globs: readonly string[], exclude: readonly string[] = []): string[] =>
  globSync(globs, { cwd: root, exclude }).toSorted();

const on = (engine: Job['engine'], files: readonly string[]): Job[] =>
  files.map((file) => ({ files: [file], engine }));

/** The same, where those of a group share a process. */
function together(engine: Job['engine'], files: readonly string[]): Job[] {
  const groups = filesTogether
    .map((globs) => filesOf(globs).filter((file) => files.includes(file)))
    .filter((group) => group.length > 1);
  const alone = files.filter((file) => !groups.some((group) => group.includes(file)));
  return [...groups.map((group) => ({ files: group, engine })), ...on(engine, alone)];
}

function chosenJobs(): Job[] {
  if (named.length > 0) {
    const files = named.flatMap((name) => (existsSync(name) ? [name] : filesOf([name])));
    const areOnPostgres = asked.postgres ? files : files.filter((file) => ofPostgres().includes(file));
    const others = files.filter((file) => !areOnPostgres.includes(file));
    const wrong = areOnPostgres.filter((file) => ofSqliteAlone().includes(file));
    if (wrong.length > 0)
      throw new Error(`about SQLite alone, run it without --postgres: ${wrong.join(', ')}`);
    return [...on('postgres', areOnPostgres), ...on('sqlite', others)];
  }
  if (asked.quick) return together('sqlite', filesOf(quick, ofPostgres()));
  const onPostgres = together('postgres', filesOnPostgres(asked.all));
  if (asked.postgres) return onPostgres;
  const usual = together('sqlite', filesOf(everyFile, [...longForms, ...ofPostgres()]));
  return asked.ci ? [...usual, ...on('sqlite', filesOf(longForms)), ...onPostgres] : usual;
}

const rank = new Map(longest.flatMap((glob, at) => filesOf([glob]).map((file) => [file, at] as const)));
const rankOf = ({ files }: Job): number => (files.length > 1 ? 0 : (rank.get(files[0]!) ?? longest.length));

/** The folder of Linux for files in memory, and the room that the tests want there. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

/** True if files may be in memory. A disk holds up each commit, and tests make many thousands of them. */
function hasMemory(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) >= MEMORY_BYTES_MIN;
}

const temporary = mkdtempSync(join(hasMemory() ? MEMORY : tmpdir(), 'bourse-run-'));
// Some tests run commands as another user.
chmodSync(temporary, 0o1777);

/** Long forms fill disks, and crash on them. */
const folderOf = ({ files }: Job): string => (files[0]!.startsWith('test/ci/') ? tmpdir() : temporary);
const running = new Set<ChildProcess>();

/** Ends a test file, and the servers and browsers that it started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    for (const child of running) killGroup(child);
    rmSync(temporary, { recursive: true, force: true });
    process.exit(1);
  });

let started = 0;

async function runFiles({ files, engine }: Job, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const events = join(temporary, `${started++}.ndjson`);
  const startedMs = performance.now();
  const flags = [
    `--import=${join(root, 'test/untracked.ts')}`,
    `--test-reporter=${join(root, 'test/run-events.ts')}`,
    `--test-reporter-destination=${events}`,
  ];
  const options = { cwd: root, env: environment, detached: true } as const;
  const program = files.length > 1 ? ['test/files-together.ts', ...files] : files;
  const child = spawn(process.execPath, [...flags, ...program], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let printed = '';
  let printedCharacters = 0;
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      printed = (printed + piece).slice(-OUTPUT_CHARACTERS_MAX);
      printedCharacters += piece.length;
    });
  let silentMs: number | null = null;
  let heard = { size: 0, ms: startedMs };
  const watch = setInterval(() => {
    const size = printedCharacters + (existsSync(events) ? statSync(events).size : 0);
    const ms = performance.now();
    if (size !== heard.size) heard = { size, ms };
    if (ms - heard.ms <= silenceMaxMs()) return;
    silentMs = ms - heard.ms;
    killGroup(child);
  }, LOOK_MS);
  const closed = once(child, 'close');
  const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  clearInterval(watch);
  killGroup(child);
  await Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
  for (const stream of [child.stdout!, child.stderr!]) stream.destroy();
  running.delete(child);
  const text = existsSync(events) ? readFileSync(events, 'utf8') : '';
  const told = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Ended | Note);
  const tests = told.filter((one): one is Ended => 'name' in one);
  const notes = told.flatMap((one) => ('note' in one ? [one.note] : []));
  const problem =
    silentMs !== null
      ? `no test of it ended for ${secondsOf(silentMs)}`
      : status !== 0 && tests.every(({ error }) => error === null)
        ? `it ended with ${signal ?? status}`
        : tests.length === 0
          ? 'it has no test'
          : null;
  if (problem !== null) tests.push({ file: files[0]!, name: 'as a whole', error: problem, skipped: null });
  return { files, engine, ms: performance.now() - startedMs, tests, notes, printed };
}

function titleOf({ files, engine }: Job): string {
  const [first, ...others] = files;
  const title = others.length === 0 ? first! : `${first} and ${others.length} more`;
  return engine === 'sqlite' ? title : `${title} on PostgreSQL`;
}

/** A test of a job, by the file that makes it where several share a process. */
const testTitleOf = ({ files, engine }: Job, { file, name }: Ended): string =>
  `${titleOf({ files: files.length > 1 ? [file] : files, engine })}: ${name}`;

const secondsOf = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const failuresOf = ({ tests }: Outcome): Ended[] => tests.filter(({ error }) => error !== null);

/** What a file's failures are, with what it printed. */
function failureWords(outcome: Outcome): string {
  const { printed, notes } = outcome;
  return [
    ...failuresOf(outcome).map((test) => `✖ ${testTitleOf(outcome, test)}\n${test.error}`),
    ...notes.map((note) => `told by ${titleOf(outcome)}: ${note}`),
    ...(printed.trim() === '' ? [] : [`printed by ${titleOf(outcome)}:\n${printed.trimEnd()}`]),
  ].join('\n');
}

function tellOutcome(outcome: Outcome): void {
  const hasFailed = failuresOf(outcome).length > 0;
  const count = `${outcome.tests.length} tests, ${secondsOf(outcome.ms)}`;
  console.log(`${hasFailed ? '✖' : '✔'} ${titleOf(outcome)} (${count})`);
  if (hasFailed) console.log(failureWords(outcome));
  // Long forms are run for their figures too.
  else if (outcome.files[0]!.startsWith('test/ci/'))
    for (const note of outcome.notes) console.log(`  ${note}`);
}

/** What is no part of this run, and how to run it. */
function leftOut(jobs: readonly Job[]): string[] {
  if (named.length > 0 || asked.quick || asked.ci) return [];
  if (asked.postgres) return asked.all ? [leftOutWords(jobs.flatMap(({ files }) => files))] : [];
  return [
    `${filesOf(longForms).length} files of long forms: npm test -- '${longForms.join(' ')}'`,
    `${filesOnPostgres(false).length} files about PostgreSQL: npm run test:postgres`,
  ];
}

function tellSummary(outcomes: readonly Outcome[], ms: number): void {
  const tests = outcomes.flatMap((outcome) => outcome.tests.map((test) => ({ ...test, outcome })));
  const skipped = tests.filter((test) => test.skipped !== null);
  const failed = tests.filter((test) => test.error !== null);
  console.log(`\nThe slowest files of ${outcomes.length}:`);
  for (const outcome of outcomes.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST))
    console.log(`  ${secondsOf(outcome.ms).padStart(7)} ${titleOf(outcome)}`);
  for (const test of skipped) console.log(`skipped: ${testTitleOf(test.outcome, test)}: ${test.skipped}`);
  for (const words of leftOut(outcomes)) console.log(`left out: ${words}`);
  if (failed.length > 0) console.log('\nThe failures:');
  for (const outcome of outcomes) if (failuresOf(outcome).length > 0) console.log(failureWords(outcome));
  console.log(`\n${secondsOf(ms)}`);
  // The last lines may be all that is kept of a run.
  for (const test of failed)
    console.log(`✖ ${testTitleOf(test.outcome, test)}: ${test.error!.slice(0, ERROR_CHARACTERS_MAX)}`);
  console.log(
    `${tests.length - skipped.length - failed.length} passed, ${failed.length} failed, ${skipped.length} skipped`,
  );
}

const startedMs = performance.now();
const jobs = chosenJobs().toSorted((one, other) => rankOf(one) - rankOf(other));
if (jobs.length === 0) throw new Error('there is no such test file');
if (postgresPrograms() === null && (asked.ci || asked.postgres))
  throw new Error('PostgreSQL is not installed: apt-get install postgresql-15');
const outcomes: Outcome[] = [];

async function runJobs(): Promise<void> {
  const queue = [...jobs];
  const environment = {
    TEST_TIMES: asked.ci ? times.ci : times.usual,
    ...process.env,
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/bourse'),
  };
  const runNext = async (): Promise<void> => {
    let host = await startHost(environment);
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const more = { TEST_STORE: job.engine, TEST_COMMAND_HOST: host.socket, TMPDIR: folderOf(job) };
      const outcome = await runFiles(job, { ...environment, ...more });
      outcomes.push(outcome);
      tellOutcome(outcome);
      if (failuresOf(outcome).length === 0) continue;
      // A command may go on that the file has not waited for.
      host.child.kill('SIGKILL');
      host = await startHost(environment);
    }
    host.child.disconnect();
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, queue.length) }, runNext));
}

const needsServer = jobs.some(({ engine }) => engine === 'postgres');
await (needsServer ? withPostgres(runJobs) : runJobs());
rmSync(temporary, { recursive: true, force: true });
tellSummary(outcomes, performance.now() - startedMs);
process.exitCode = outcomes.every((outcome) => failuresOf(outcome).length === 0) ? 0 : 1;
