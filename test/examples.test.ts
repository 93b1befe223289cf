// The examples of the README, of CONTRIBUTING and of the pages for users are run, and what they show is compared.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Help } from 'commander';
import { allOf, examplesOf, readCommands } from './examples/commands.ts';
import { Desk, type Service } from './examples/desk.ts';
import { brokenLinks } from './examples/links.ts';
import { readPage } from './examples/page.ts';
import { isNew, PageCheck } from './examples/page-check.ts';
import { programs } from './examples/programs.ts';
import { command, patiently, Server, Workshop } from './service.ts';
import { fileStore } from './sqlite/files.ts';

const root = join(import.meta.dirname, '..');
const shop = new Workshop();
const bourse = await readCommands();
const pages = ['README.md', 'CONTRIBUTING.md', 'docs/using/*.md', 'docs/operating/*.md'].flatMap((pattern) =>
  globSync(pattern, { cwd: root }).sort(),
);

/** Commands that have been run, so that none is run on every page. */
const done = new Set<string>();

let demo: Server;
let service: Service;

before(async () => {
  const child = spawn(command, ['demo', '--port', '0'], {
    cwd: shop.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  demo = new Server(child);
  await demo.listening;
  while (!demo.printed.includes('Ctrl-C')) await pause(20);
  const key = /Your key is (\S+)/.exec(demo.printed)![1]!;
  service = { url: demo.url, key, store: fileStore(shop.path('data/demo.db')) };
});

after(async () => {
  await demo.stop();
  shop.close();
});

const deskFor = (name: string): Desk => {
  const folder = shop.path(`pages/${name.replaceAll('/', '-')}`);
  mkdirSync(folder, { recursive: true });
  return new Desk(folder, service);
};

/** Fails with all that is wrong, and says what could not be tried as a user would. */
function conclude(t: TestContext, problems: readonly string[], reasons: ReadonlySet<string>): void {
  for (const reason of reasons) t.diagnostic(reason);
  assert.equal(problems.join('\n\n'), '');
}

suite('examples', { concurrency: 3 }, () => {
  for (const path of pages)
    test(`${path}: each example does what the page shows`, { timeout: 300_000 }, async (t) => {
      const check = new PageCheck(readPage(path), deskFor(path), bourse, done);
      await check.run();
      conclude(t, check.problems, check.reasons);
    });

  test('the examples in the help of every command run', { timeout: 240_000 }, async (t) => {
    const desk = deskFor('help');
    const problems: string[] = [];
    const reasons = new Set<string>();
    for (const line of allOf(bourse).flatMap(examplesOf)) {
      const reason = programs.whyNot(line);
      if (reason !== null) reasons.add(reason);
      else if (isNew(done, line)) problems.push((await desk.run(line)).problem ?? '');
    }
    conclude(t, problems.filter(Boolean), reasons);
  });
});

test('bourse query answers every request of the sample file with the bytes of the service (contract 10)', {
  timeout: 240_000,
}, async () => {
  const requests = readFileSync(join(root, 'examples/requests.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('/'));
  assert.ok(requests.length >= 18);
  const secret = `secret_key=${service.key}`;
  // Both have the moment of their request in the key.
  const pageKeys = /(?<=next_page_key(?:=|":"))[\w-]+/g;
  const asServed = async (path: string): Promise<string> => {
    const url = `${service.url}${path.replace('secret_key=<API_KEY>', secret)}`;
    // On a busy machine a service refuses some of so many at once.
    const body = await (await patiently(() => fetch(url))).text();
    const written = body
      .replaceAll(service.url, '')
      .replaceAll(`&${secret}`, '')
      .replace('"reference":"cached"', '"reference":null')
      .replaceAll(pageKeys, '');
    return written.endsWith('\n') ? written : `${written}\n`;
  };
  const told = await shop.runWith({ BOURSE_STORE: service.store }, 'query', ...requests);
  assert.equal(told.status, 0, told.stderr);
  const answers = told.stdout
    .replaceAll('"reference":"cached"', '"reference":null')
    .replaceAll(pageKeys, '')
    .split('\n');
  for (const [index, line] of (await Promise.all(requests.map(asServed))).join('').split('\n').entries())
    assert.equal(answers[index], line);
});

test('every link between pages leads to a page and a heading that are there', () => {
  const all = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort();
  assert.deepEqual(
    all.flatMap((path) => brokenLinks(readPage(path))),
    [],
  );
});

test('the pages for users and operators write bourse, and those with a command say what it is in a checkout', () => {
  const problems = pages
    .filter((path) => path.startsWith('docs/') && !path.endsWith('/install.md'))
    .filter((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const note =
        /^In a checkout the command is `bin\/bourse` \(\[three ways to install\]\(.*install\.md#which-command\)\)\.$/m;
      const others = text.replace(note, '');
      return /(?<![\w./])bin\/bourse/.test(others) || (/\bbourse [a-z]/.test(others) && !note.test(text));
    });
  assert.deepEqual(problems, []);
});

test('bourse --help lists every command as the command itself declares it', async () => {
  const help = (await shop.must('--help')).split('Commands:')[1]!;
  const terms = Array.from(help.matchAll(/^ {2}([a-z].*?)(?= {2}|$)/gm), ([, term]) => term!);
  const declared = new Help();
  assert.deepEqual(terms.sort(), bourse.commands.map((one) => declared.subcommandTerm(one)).sort());
});
