// The help texts, the sample file and the links of the pages. The examples of every page are run by
// test/ci/examples, a file for each share.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Help } from 'commander';
import { allOf, examplesOf } from './examples/commands.ts';
import { brokenLinks } from './examples/links.ts';
import { commandsOf, consoleOf, readPage } from './examples/page.ts';
import { isNew } from './examples/page-check.ts';
import { programs } from './examples/programs.ts';
import { conclude, demoWorld, deskFor, pages, shares } from './examples/shares.ts';

const root = join(import.meta.dirname, '..');
const world = await demoWorld();

test('every page is in one share, and every share has its test file', () => {
  assert.deepEqual(Object.values(shares).flat().sort(), pages.toSorted());
  for (const share of Object.keys(shares))
    assert.ok(existsSync(join(import.meta.dirname, `ci/examples/${share}.test.ts`)), share);
});

/** The commands that the shares run. */
const shown = pages.flatMap((path) =>
  readPage(path).blocks.flatMap(({ kind, text }) => {
    if (kind === 'console') return consoleOf(text).map(({ command }) => command);
    return kind === 'sh' ? commandsOf(text) : [];
  }),
);

test('the examples in the help of every command run, but those that a page shows too', async (t) => {
  const desk = deskFor(world, 'help');
  const done = new Set<string>();
  for (const command of shown) isNew(done, command);
  const problems: string[] = [];
  const reasons = new Set<string>();
  for (const line of allOf(world.bourse).flatMap(examplesOf)) {
    const reason = programs.whyNot(line);
    if (reason !== null) reasons.add(reason);
    else if (isNew(done, line)) problems.push((await desk.run(line)).problem ?? '');
  }
  conclude(t, problems.filter(Boolean), reasons);
});

test('bourse query answers every request of the sample file with the bytes of the service (contract 10)', async () => {
  const service = world.service();
  const requests = readFileSync(join(root, 'examples/requests.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('/'));
  assert.ok(requests.length >= 18);
  const secret = `secret_key=${service.key}`;
  // Both have the moment of their request in the key.
  const pageKeys = /(?<=next_page_key(?:=|":"))[\w-]+/g;
  const asServed = async (path: string): Promise<string> => {
    const url = `${service.url}${path.replace('secret_key=<API_KEY>', secret)}`;
    const body = await (await fetch(url)).text();
    const written = body
      .replaceAll(service.url, '')
      .replaceAll(`&${secret}`, '')
      .replace('"reference":"cached"', '"reference":null')
      .replaceAll(pageKeys, '');
    return written.endsWith('\n') ? written : `${written}\n`;
  };
  const today = (): string => new Date().toISOString().slice(0, 10);
  let answers: string[] = [];
  let served: string[] = [];
  // Some requests mean the day on which they are made: both are asked on one.
  for (let day = ''; day !== today(); ) {
    day = today();
    const told = await world.shop.runWith({ BOURSE_STORE: service.store }, 'query', ...requests);
    assert.equal(told.status, 0, told.stderr);
    answers = told.stdout
      .replaceAll('"reference":"cached"', '"reference":null')
      .replaceAll(pageKeys, '')
      .split('\n');
    let text = '';
    for (const request of requests) text += await asServed(request);
    served = text.split('\n');
  }
  for (const [index, line] of served.entries()) assert.equal(answers[index], line);
});

test('every link between pages leads to a page and a heading that are there', () => {
  const all = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort();
  assert.deepEqual(
    all.flatMap((path) => brokenLinks(readPage(path))),
    [],
  );
});

test('the pages for users and operators write bourse, which README defines for a checkout', () => {
  const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
  assert.match(textOf('README.md'), /^alias bourse="\$PWD\/bin\/bourse"$/m);
  const problems = pages
    .filter((path) => path.startsWith('docs/') && !path.endsWith('/install.md'))
    .filter((path) => /(?<![\w./])bin\/bourse/.test(textOf(path)));
  assert.deepEqual(problems, []);
});

test('bourse --help lists every command as the command itself declares it', async () => {
  const help = (await world.shop.must('--help')).split('Commands:')[1]!;
  const terms = Array.from(help.matchAll(/^ {2}([a-z].*?)(?= {2}|$)/gm), ([, term]) => term!);
  const declared = new Help();
  assert.deepEqual(terms.sort(), world.bourse.commands.map((one) => declared.subcommandTerm(one)).sort());
});
