// The explorer by keys alone: every control of every view is reached, shows that it is, and does its work (contract 9.3).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { drawn, ExplorerWorld, skip } from './explorer-world.ts';

const world = new ExplorerWorld();
before(async () => {
  if (!skip) await world.open();
});
after(() => world.close());

/** Each view, and what is there once it has its data. */
const views: readonly (readonly [string, string])[] = [
  ['', 'text=EURUSD'],
  ['#/stock/US:AAPL/60M', '.notes'],
  ['#/forex/GLOBAL:EURUSD/60M', '.chart:not(.waiting) ~ .chart-foot [role=status]'],
  ['#/stock/US:AAPL/options', '.chain a'],
  ['#/stock/US:AAPL/news', 'article'],
  ['#/news', 'article'],
  ['#/calendar', '.events, .notice'],
  ['#/holidays', '.month'],
  ['#/nowhere', '.notice'],
];

/** A control that a walk of the Tab key stops at. */
type Stop = { readonly id: string; readonly isSeen: boolean; readonly isMarked: boolean };

/** Numbers every control that is shown, and returns what each is. */
const numberControls = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, [tabindex="0"]',
    );
    const shown = [...all].filter((one) => one.checkVisibility() && !(one as HTMLButtonElement).disabled);
    return shown.map((one, index) => {
      one.dataset.control = `${index} ${one.tagName} ${(one.ariaLabel ?? one.textContent ?? '').slice(0, 40)}`;
      return one.dataset.control;
    });
  });

/** What has the focus; null where it is no control of the page. */
const focused = (page: Page): Promise<Stop | null> =>
  page.evaluate(() => {
    const one = document.activeElement as HTMLElement | null;
    if (one?.dataset.control === undefined) return null;
    const { top, bottom, left, right } = one.getBoundingClientRect();
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    return {
      id: one.dataset.control,
      isSeen: bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
      isMarked: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
    };
  });

for (const width of [1_280, 390])
  for (const [hash, ready] of views)
    test(`the Tab key reaches every control of ${hash || 'the first page'}, in order and in sight, ${width} px wide`, {
      skip,
      timeout: 120_000,
    }, async () => {
      const page = await world.page(hash, { width, height: 844 });
      await page.waitForSelector(ready);
      await page.waitForLoadState('networkidle');
      const controls = await numberControls(page);
      const stops: Stop[] = [];
      for (let press = 0; press <= controls.length + 20; press++) {
        await page.keyboard.press('Tab');
        const stop = await focused(page);
        if (stop === null && stops.length > 0) break;
        // A field of a date has several stops.
        if (stop !== null && stop.id !== stops.at(-1)?.id) stops.push(stop);
      }
      assert.deepEqual(
        stops.map(({ id }) => id),
        controls,
      );
      assert.deepEqual(
        stops.filter(({ isSeen, isMarked }) => !isSeen || !isMarked),
        [],
      );
      await page.context().close();
    });

/** Presses Tab until something has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector);
  for (let press = 0; press < 300; press++) {
    if (await page.evaluate((name) => document.activeElement?.matches(name) === true, selector)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`no press of Tab reaches ${selector}`);
}

async function press(page: Page, selector: string, ...keys: readonly string[]): Promise<void> {
  await tabTo(page, selector);
  for (const key of keys) await page.keyboard.press(key);
}

/** Draws the controls again, as answers may at any moment: what was typed so far must stay. */
async function drawAgain(page: Page): Promise<void> {
  await page.evaluate(() => window.dispatchEvent(new HashChangeEvent('hashchange')));
  await page.waitForTimeout(100);
}

test('by keys alone: a stock is found, its chart set up, its request copied', {
  skip,
  timeout: 120_000,
}, async () => {
  const page = await world.page();
  await page.waitForSelector('text=EURUSD');
  await page.keyboard.press('/');
  await page.keyboard.type('aapl');
  await page.waitForSelector('[role=option] >> text=AAPL');
  await page.keyboard.press('Enter');
  await drawn(page);
  await press(page, '.segments button[title="60 minutes"]', 'Enter');
  await page.waitForFunction(() => location.hash.includes('/60M'));
  await press(page, 'input[role=switch]', 'Space');
  await page.waitForFunction(() => location.hash.includes('eth=1'));
  await press(page, '.toolbar select', 'ArrowDown');
  await page.waitForFunction(() => location.hash.includes('adjust=split'));
  await press(page, '.as-of input', '0', '3', '0', '2', '2', '0');
  await drawAgain(page);
  await page.keyboard.type('26');
  await page.waitForFunction(() => location.hash.includes('as_of=2026-03-02'));
  await press(page, '.as-of button', 'Enter');
  await page.waitForFunction(() => !location.hash.includes('as_of='));
  await drawn(page);
  await press(page, '.canvas', 'ArrowLeft', 'ArrowLeft');
  await page.waitForSelector('.legend .when');
  await press(page, '.request summary', 'Enter');
  await press(page, '.request .segments button:last-child', 'Enter');
  await tabTo(page, '.request-bar > button');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.request-bar >> text=Copied');
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /client\.bars\(|\.bars\(/);
});

test('by keys alone: the chain of an expiration, a contract, the week and the impact of events, a month of holidays', {
  skip,
  timeout: 120_000,
}, async () => {
  const page = await world.page('#/stock/US:AAPL/options');
  await page.waitForSelector('.chain a');
  const before = page.url();
  await press(page, '.segments[aria-label=Expiration] button:nth-child(2)', 'Enter');
  await page.waitForFunction((url) => location.href !== url && location.hash.includes('expiration='), before);
  await page.waitForSelector('.chain a');
  await press(page, '.chain a', 'Enter');
  await page.waitForFunction(() => location.hash.startsWith('#/option/'));
  await page.goto(`${world.url}/#/calendar`);
  await press(page, '.steps button:last-child', 'Enter');
  await page.waitForFunction(() => location.hash.includes('week='));
  await press(page, '.segments[aria-label=Impact] button:last-child', 'Enter');
  await page.waitForFunction(() => location.hash.includes('impact='));
  await press(page, '.country', 'U');
  await drawAgain(page);
  await press(page, '.country', 'S', 'Enter');
  await page.waitForFunction(() => location.hash.includes('country=US'));
  await page.goto(`${world.url}/#/holidays`);
  await page.waitForSelector('.month');
  const market = await page.inputValue('.toolbar select');
  await press(page, '.toolbar select', 'ArrowDown');
  await page.waitForFunction(
    (was) => document.querySelector<HTMLSelectElement>('.toolbar select')!.value !== was,
    market,
  );
});
