// The explorer in a real browser, on the demo, with more data where a test needs it.
import assert from 'node:assert/strict';
import { accessSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import type { AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { browserProgram } from '../browser.ts';
import { runCommand } from '../commands.ts';
import { Server, Workshop } from '../service.ts';

/** Why tests are skipped here; false where there is a browser. */
export const skip = browserProgram === null && 'there is no browser here';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** The file of a program; playwright looks for none in the path. */
function fileOf(program: string): string {
  const files = process.env.PATH!.split(delimiter).map((folder) => join(folder, program));
  return files.find((file) => {
    try {
      accessSync(file);
      return true;
    } catch {
      return false;
    }
  })!;
}

/** What a window is like. */
export type Look = { readonly width?: number; readonly height?: number; readonly theme?: 'light' | 'dark' };

/** A demo of its own, and a browser. */
export class ExplorerWorld {
  readonly #shop = new Workshop();
  #browser: Browser | null = null;
  #server: Server | null = null;
  /** What pages complained of: errors of scripts, and what the policy forbade. */
  readonly complaints: string[] = [];

  get folder(): string {
    return this.#shop.folder;
  }

  get url(): string {
    return this.#server!.url;
  }

  /** The demo's key. */
  get key(): string {
    return /Your key is (\S+)/.exec(this.#server!.printed)![1]!;
  }

  /** Starts all. */
  async open(): Promise<void> {
    this.#browser = await chromium.launch({
      executablePath: fileOf(browserProgram!),
      args: ['--no-sandbox'],
    });
    await this.start('0');
  }

  /** Starts the demo, again on the port that it had. */
  async start(port: string = new URL(this.url).port): Promise<void> {
    this.#server = new Server(this.#shop.start(['demo', '--port', port]));
    await this.#server.listening;
    while (!/Your key is \S+\n/.test(this.#server.printed))
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async stop(): Promise<void> {
    await this.#server!.stop();
  }

  /** Imports a file into the demo's store. */
  async import(...words: readonly string[]): Promise<void> {
    const environment = { ...process.env, BOURSE_STORE: `sqlite:${join(this.folder, 'data/demo.db')}` };
    const { status, stderr } = await runCommand({
      words: ['import', ...words],
      folder: this.folder,
      environment,
    });
    assert.equal(status, 0, stderr);
  }

  /** Opens a place of the explorer in a window of its own. */
  async page(hash = '', { width = 1_280, height = 800, theme = 'light' }: Look = {}): Promise<Page> {
    const context = await this.#browser!.newContext({
      viewport: { width, height },
      colorScheme: theme,
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
      bypassCSP: false,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('console', (message) => {
      const text = message.text();
      // A browser reports each failed request, also those that a test makes fail.
      if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
        this.complaints.push(text);
    });
    await page.goto(`${this.url}/${hash}`);
    return page;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#server?.stop();
    this.#shop.close();
  }
}

/** Waits until a chart has drawn bars. */
export const drawn = (page: Page) => page.waitForSelector('.chart:not(.waiting) ~ .chart-foot [role=status]');

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

/** The violations of the rules of accessibility that axe finds. */
export async function violations(page: Page): Promise<string[]> {
  // Its text is evaluated by the driver, which the page's policy does not bind.
  await page.evaluate(await readFile(axePath, 'utf8'));
  const results = (await page.evaluate('axe.run()')) as AxeResults;
  return results.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, any }) => `${html} ${any[0]?.message ?? ''}`).join(' | ')}`,
  );
}
