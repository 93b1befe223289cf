// The explorer in a real browser, on the demo, with more data where a test needs it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, afterEach, before, type TestContext, test } from 'node:test';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { importFile } from '../../src/imports/load/importers.ts';
import { launchBrowser, PATIENCE_MS, skipBrowser } from '../browser.ts';
import { copyDemo, demoFile, demoKey, startDemo } from '../demo-store.ts';
import { stored } from '../importing.ts';
import { type Server, Workshop } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';
import { until } from '../until.ts';

/** A day some months ago, of which the demo has days but no minutes of MSFT. */
export const pastDay = new Date(Date.now() - 200 * 86_400_000).toISOString().slice(0, 10);

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What a window is like. */
export type Look = {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly hasTouch?: boolean;
};

/** A demo of its own, and a browser. */
export class ExplorerWorld {
  readonly #shop = new Workshop();
  #browser: Browser | null = null;
  #server: Server | null = null;
  /** The window of all tests, and those that are open. */
  #shared: Page | null = null;
  #pages: Page[] = [];
  #files = 0;
  /** What pages complained of: errors of scripts, and what the policy forbade. */
  readonly complaints: string[] = [];

  get url(): string {
    return this.#server!.url;
  }

  /** The demo's key. */
  get key(): string {
    return demoKey(this.#server!);
  }

  /** Starts all. */
  async open(): Promise<void> {
    const launched = launchBrowser();
    await copyDemo(this.#shop.folder);
    await this.start('0');
    this.#browser = await launched;
  }

  /** Starts the demo, again on the port that it had. */
  async start(port: string = new URL(this.url).port): Promise<void> {
    this.#server = await startDemo(this.#shop, port);
  }

  async stop(): Promise<void> {
    await this.#server!.stop();
  }

  /** Imports rows, as text of a file, into the demo's store. */
  async import(dataset: 'bars' | 'news' | 'option-contracts', ending: string, text: string): Promise<void> {
    const file = this.#shop.path(`${++this.#files}.${ending}`);
    writeFileSync(file, text);
    const store = fileStore(demoFile(this.#shop.folder));
    await stored({ store }, file, (opened, request) => importFile(opened, dataset, request));
  }

  /** Asks the service. */
  async ask<T>(path: string): Promise<T> {
    const answer = await this.#server!.get(path, { headers: { Authorization: `Bearer ${this.key}` } });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return ((await answer.json()) as { result: T }).result;
  }

  /**
   * Opens a place of the explorer in the window that all tests of a file have: to load the page anew costs
   * more than most tests. What was there before is gone: another view was shown in between, from whose
   * beginning the Tab key goes on.
   */
  async page(hash = '', { width = 1_280, height = 800, theme = 'light' }: Look = {}): Promise<Page> {
    this.#shared ??= await this.newPage('#/nowhere');
    const page = this.#shared;
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    await show(page, '#/nowhere');
    await page.waitForSelector('text=There is no such view');
    await page.evaluate(() => {
      const start = document.createElement('span');
      start.tabIndex = -1;
      document.body.prepend(start);
      start.focus();
      start.remove();
      scrollTo(0, 0);
    });
    await show(page, hash === '' ? '#/' : hash);
    return page;
  }

  /** Opens a place of the explorer in a window of its own, as somebody does who comes to it. */
  async newPage(
    place = '',
    { width = 1_280, height = 800, theme = 'light', hasTouch = false }: Look = {},
  ): Promise<Page> {
    const context = await this.#browser!.newContext({
      hasTouch,
      viewport: { width, height },
      colorScheme: theme,
      // Nothing is on its way to another place or colour when it is pressed or judged.
      reducedMotion: 'reduce',
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
      bypassCSP: false,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('console', (message) => {
      const text = message.text();
      // A browser reports each failed request, also those that a test makes fail.
      if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
        this.complaints.push(text);
    });
    this.#pages.push(page);
    await page.goto(`${this.url}/${place}`);
    return page;
  }

  /**
   * Ends a test: no page complained, and its windows are closed, since one that stays open goes on drawing.
   */
  async endTest(hasPassed: boolean): Promise<void> {
    // Leftovers of a failed test may stop the others.
    if (!hasPassed) this.#shared = null;
    const own = this.#pages.filter((page) => page !== this.#shared);
    this.#pages = this.#shared === null ? [] : [this.#shared];
    await Promise.all(own.map((page) => page.context().close()));
    assert.deepEqual(this.complaints.splice(0), []);
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#server?.stop();
    this.#shop.close();
  }
}
/**
 * A file's world, opened and filled before its tests and closed after them, and the function that declares
 * one.
 */
export function explorerWorld(fill?: (world: ExplorerWorld) => Promise<void>): {
  readonly world: ExplorerWorld;
  readonly explorerTest: ExplorerTest;
} {
  const world = new ExplorerWorld();
  before(async () => {
    if (skipBrowser !== false) return;
    await world.open();
    await fill?.(world);
  });
  after(() => world.close());
  afterEach((t) => world.endTest((t as unknown as { passed: boolean }).passed));
  return { world, explorerTest: (name, run) => void test(name, { skip: skipBrowser }, run) };
}

type ExplorerTest = (name: string, run: (t: TestContext) => Promise<void>) => void;

/** Goes to another place of the explorer by its address. */
export const show = (page: Page, hash: string): Promise<void> =>
  page.evaluate((next) => {
    location.hash = next;
  }, hash);

/** Waits until the page has painted what it was told: a chart moves with the next frame. */
export const painted = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
  });

/** Waits until a chart has drawn bars. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForSelector('.chart:not(.waiting) ~ .chart-foot [role=status]');
  await painted(page);
}

/** Presses a key, and waits until the chart has moved by it. */
export async function press(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key);
  await painted(page);
}

/** Presses a key until something holds. */
export const pressUntil = (page: Page, key: string, what: string, holds: () => Promise<boolean>) =>
  until(what, async () => {
    if (await holds()) return true;
    await press(page, key);
    return false;
  });

/** Waits until the clipboard has a text of some form. It may have one of an earlier test. */
export const copied = (page: Page, form: RegExp): Promise<string> =>
  until(`the clipboard has ${form}`, async () => {
    const text = await page.evaluate(() => navigator.clipboard.readText());
    return form.test(text) && text;
  });

/** The bars that a chart says it has. */
export async function barCount(page: Page): Promise<number> {
  const text = await page.textContent('.chart-foot [role=status]');
  return Number(/^[\d,]+/.exec(text!)![0].replaceAll(',', ''));
}

/** How many pixels of the chart's canvases have about one of the colours of bars. */
export const barPixels = (page: Page): Promise<number> =>
  page.evaluate(() => {
    let count = 0;
    for (const canvas of document.querySelectorAll<HTMLCanvasElement>('.canvas canvas')) {
      if (canvas.width === 0 || canvas.height === 0) continue;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, opaque] = [data[at]!, data[at + 1]!, data[at + 3]!];
        if (opaque > 200 && Math.abs(red - green) > 60) count++;
      }
    }
    return count;
  });

/**
 * The violations of the rules of accessibility that axe finds: of all, or of those that a theme's colours may
 * break.
 */
export async function violations(page: Page, rules?: 'colours'): Promise<string[]> {
  // Its text is evaluated by the driver, which the page's policy does not bind.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(await readFile(axePath, 'utf8'));
  const options = rules === undefined ? {} : { runOnly: ['color-contrast'] };
  const results = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults;
  return results.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, any }) => `${html} ${any[0]?.message ?? ''}`).join(' | ')}`,
  );
}

/**
 * Declares the tests that axe finds nothing in a view, light and dark, on a phone. `ready` is there once the
 * view has its data.
 */
export function accessibleViews(
  { world, explorerTest }: ReturnType<typeof explorerWorld>,
  views: readonly string[],
  ready: string,
): void {
  for (const hash of views)
    explorerTest(
      `axe finds nothing in ${hash || 'the overview'}, light and dark, and a phone shows it without scrolling sideways`,
      async () => {
        const page = await world.page(hash, { width: 390, height: 844 });
        await page.waitForSelector(ready);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
        assert.deepEqual(await violations(page), []);
        await page.emulateMedia({ colorScheme: 'dark' });
        await painted(page);
        assert.deepEqual(await violations(page, 'colours'), []);
      },
    );
}
