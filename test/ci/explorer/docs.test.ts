// The documentation in a browser: search, navigation, copying and theme, with a service and as files without
// one; and what axe finds (contract 9.3).
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { writeSite } from '../../docs-site.ts';
import { copied, explorerWorld, painted, violations } from '../../explorer/explorer-world.ts';

const { world, explorerTest } = explorerWorld();

/** Searches by keys alone, and opens the first result. */
async function searchByKeys(page: Page): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type('mapping files');
  await page.waitForSelector('#found a');
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.evaluate(() => document.activeElement?.closest('ul')?.id), 'found');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'search');
  await page.keyboard.press('Enter');
  await page.waitForURL(/using\/import\.html#mapping-files$/);
  assert.match((await page.textContent('#mapping-files'))!, /^Mapping files/);
}

explorerTest(
  'the search finds a part of a page by keys alone, from any page, and says if there is none',
  async () => {
    const page = await world.newPage('docs');
    await searchByKeys(page);
    await page.keyboard.press('/');
    await page.keyboard.type('xyzzy <b>');
    await page.waitForSelector('text=Nothing is found for xyzzy <b>');
    await page.keyboard.press('Escape');
    assert.equal(await page.isVisible('text=Nothing is found'), false);
    assert.equal(await page.inputValue('#search'), '');
  },
);

explorerTest('a block of code is copied, of a terminal only what was typed', async () => {
  const page = await world.newPage('docs/using/python.html');
  const block = page.locator('.code', { hasText: 'pip install' }).first();
  await block.hover();
  await block.getByText('Copy').click();
  const text = await block.locator('pre').textContent();
  assert.equal(await copied(page, /pip install/), text!.replace(/\n$/, ''));
});

explorerTest('in a demo the forms have its key, which the explorer keeps too', async () => {
  const page = await world.newPage('docs/endpoints.html');
  assert.equal(await page.inputValue('#key'), world.key);
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('#latestBars [name=country_symbol]')?.value === 'US:AAPL',
  );
  await page.click('#latestBars button.main');
  await page.locator('#latestBars .status', { hasText: /^200 / }).waitFor();
});

explorerTest('the theme that a person chooses holds in the explorer and in the documentation', async () => {
  const page = await world.newPage('docs/faq.html');
  await page.click('#theme');
  await page.goto(world.url);
  await page.waitForSelector('text=What is stored');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.goto(`${world.url}/docs`);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
});

explorerTest(
  'the static site works as files, without a server: search, navigation and pictures',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bourse-site-'));
    try {
      await writeSite(folder);
      const page = await world.newPage('docs');
      await page.goto(pathToFileURL(join(folder, 'index.html')).href);
      await searchByKeys(page);
      await page.click('#pages >> text=Performance');
      await page.waitForURL(/performance\.html$/);
      const widths = () => Array.from(document.images, ({ naturalWidth }) => naturalWidth);
      assert.ok((await page.evaluate(widths)).every((width) => width > 0));
      await page.click('header >> text=Docs');
      await page.waitForURL(/index\.html$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

for (const path of ['docs', 'docs/using/import.html', 'docs/endpoints.html'])
  explorerTest(
    `axe finds nothing in /${path}, light and dark, and a phone shows it without scrolling sideways`,
    async () => {
      const page = await world.newPage(path, { width: 390, height: 844 });
      await page.waitForSelector('h1');
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
      assert.equal(await page.isVisible('#pages'), false);
      await page.evaluate(() => scrollTo(0, 1_000));
      await page.click('#menu');
      assert.ok((await page.locator('#pages >> text=Recipes').boundingBox())!.y > 0);
      assert.deepEqual(await violations(page), []);
      await page.emulateMedia({ colorScheme: 'dark' });
      await painted(page);
      assert.deepEqual(await violations(page, 'colours'), []);
    },
  );
