// The pages whose examples are tried, divided into shares that are tried side by side, each on a demo of its
// own by a test file of its name.
import assert from 'node:assert/strict';
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import type { Command } from 'commander';
import { copyDemo, startDemo } from '../demo-store.ts';
import { type Server, Workshop } from '../service.ts';
import { readCommands } from './commands.ts';
import { Desk, type Service, serviceOf } from './desk.ts';
import { readPage } from './page.ts';
import { PageCheck } from './page-check.ts';

const root = join(import.meta.dirname, '../..');

const found = (patterns: readonly string[]): string[] =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).sort());

/** All pages. */
export const pages = found([
  ...['README.md', 'CONTRIBUTING.md', 'docs/{README,comparison,faq,recipes}.md'],
  ...['docs/using/*.md', 'docs/operating/*.md'],
]);

const programs = found(['README.md', 'docs/recipes.md', 'docs/using/{export,python,typescript}.md']);
const operating = found(['CONTRIBUTING.md', 'docs/operating/*.md', 'docs/using/command-line.md']);

export const shares = {
  programs,
  operating,
  using: pages.filter((path) => !programs.includes(path) && !operating.includes(path)),
} as const;

/** A demo of a share's own, and the commands as they are declared. */
export type World = { readonly shop: Workshop; readonly bourse: Command; readonly service: () => Service };

/** Starts a demo before the tests of a file, and stops it after them. */
export async function demoWorld(): Promise<World> {
  const shop = new Workshop();
  let demo: Server;
  let service: Service;
  before(async () => {
    await copyDemo(shop.folder);
    demo = await startDemo(shop);
    service = serviceOf(demo, shop.folder);
  });
  after(async () => {
    await demo.stop();
    shop.close();
  });
  return { shop, bourse: await readCommands(), service: () => service };
}

export function deskFor({ shop, service }: World, name: string): Desk {
  const folder = shop.path(`pages/${name.replaceAll('/', '-')}`);
  mkdirSync(folder, { recursive: true });
  return new Desk(folder, service());
}

/** Fails with all that is wrong, and says what could not be tried as a user would. */
export function conclude(t: TestContext, problems: readonly string[], reasons: ReadonlySet<string>): void {
  for (const reason of reasons) t.diagnostic(reason);
  assert.equal(problems.join('\n\n'), '');
}

/** Declares a test for each page of a share. */
export async function tryPages(share: keyof typeof shares): Promise<void> {
  const world = await demoWorld();
  /** Commands that have been run, so that none is run on every page. */
  const done = new Set<string>();
  suite('examples', { concurrency: 2 }, () => {
    for (const path of shares[share])
      test(`${path}: each example does what the page shows`, async (t) => {
        const check = new PageCheck(readPage(path), deskFor(world, path), world.bourse, done);
        await check.run();
        conclude(t, check.problems, check.reasons);
      });
  });
}
