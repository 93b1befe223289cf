// A real browser, where the machine has one.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The first is Chromium without windows: its tests take two thirds of the processor time. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** Longest wait for something that a page shows, also on a slow machine. */
export const PATIENCE_MS = 120_000;

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The file of the browser's program; undefined where there is none. */
const program = names
  .flatMap((name) => process.env.PATH!.split(delimiter).map((folder) => join(folder, name)))
  .find(isProgram);

/** Why tests are skipped here; false where there is a browser. */
export const skipBrowser = program === undefined && 'there is no browser here';

/** Starts the browser. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: program!, args: ['--no-sandbox'], timeout: PATIENCE_MS });

/** Opens an address in a browser of its own, which is closed after the use of the page. */
export async function withPage(address: string, use: (page: Page) => Promise<void>): Promise<void> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(address);
    await use(page);
  } finally {
    await browser.close();
  }
}
