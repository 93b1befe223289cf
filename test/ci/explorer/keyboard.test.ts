// The explorer by keys alone: every control of every view is reached, shows that it is, and does its work
// (contract 9.3).
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { copied, drawn, explorerWorld, show } from '../../explorer/explorer-world.ts';
import { until } from '../../until.ts';

const { world, explorerTest } = explorerWorld();

/** Each view, and what is there once it has its data. */
const views: readonly (readonly [string, string])[] = [
  ['', 'text=EURUSD'],
  ['#/stock/US:AAPL/60M', '.notes'],
  ['#/stock/US:AAPL/options', '.chain a'],
  ['#/news', 'article'],
  ['#/calendar', '.events, .notice'],
  ['#/holidays', '.month'],
  ['#/nowhere', '.notice'],
];

/** A control that a walk of the Tab key stops at. */
type Stop = { readonly id: string; readonly isSeen: boolean; readonly isMarked: boolean };

/**
 * Numbers every control that is shown, and returns what each is. From now on what has the focus when Tab is
 * pressed is written down.
 */
const numberControls = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, [tabindex="0"]',
    );
    const shown = [...all].filter((one) => one.checkVisibility() && !(one as HTMLButtonElement).disabled);
    const stops: (Stop | null)[] = [];
    const write = ({ key }: KeyboardEvent): void => {
      if (key !== 'Tab') return;
      const one = document.activeElement as HTMLElement | null;
      if (one?.dataset.control === undefined) {
        stops.push(null);
        return;
      }
      const { top, bottom, left, right } = one.getBoundingClientRect();
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
      stops.push({
        id: one.dataset.control,
        isSeen: bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
        isMarked: (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none',
      });
    };
    const walked = window as unknown as { stops: typeof stops; write?: typeof write };
    if (walked.write !== undefined) removeEventListener('keydown', walked.write, true);
    Object.assign(walked, { stops, write });
    addEventListener('keydown', write, true);
    return shown.map((one, index) => {
      one.dataset.control = `${index} ${one.tagName} ${(one.ariaLabel ?? one.textContent ?? '').slice(0, 40)}`;
      return one.dataset.control;
    });
  });

/**
 * Presses of Tab between two looks at where it has come, and more than a walk can have beside its controls: a
 * date has several stops.
 */
const PRESSES = 20;

/**
 * The controls at which Tab stops, from the beginning of the page until it leaves the page, or is at its
 * first control again.
 */
async function walk(page: Page, count: number): Promise<Stop[]> {
  for (let press = 0; press < count + 2 * PRESSES; press += PRESSES) {
    for (let times = 0; times < PRESSES; times++) await page.keyboard.press('Tab');
    const all = await page.evaluate(() => (window as unknown as { stops: (Stop | null)[] }).stops);
    const stops = all.filter((stop, at) => stop === null || stop.id !== all[at - 1]?.id);
    const start = stops.findIndex((stop) => stop !== null);
    const end = stops.findIndex((stop, at) => at > start && (stop === null || stop.id === stops[start]?.id));
    if (start !== -1 && end !== -1) return stops.slice(start, end) as Stop[];
  }
  assert.fail('Tab does not come to an end');
}

for (const [hash, ready] of views)
  explorerTest(
    `the Tab key reaches every control of ${hash || 'the first page'}, in order and in sight, wide and narrow`,
    async () => {
      for (const width of [1_280, 390]) {
        // Controls that appear late count: if the page changed meanwhile, the walk was of another page.
        const { controls, stops } = await until('a walk of a page that stays', async () => {
          const page = await world.page(hash, { width, height: 844 });
          await page.waitForSelector(ready);
          const controls = await numberControls(page);
          const stops = await walk(page, controls.length);
          const after = await numberControls(page);
          return after.join() === controls.join() && { controls, stops };
        });
        assert.deepEqual(
          stops.map(({ id }) => id),
          controls,
        );
        assert.deepEqual(
          stops.filter(({ isSeen, isMarked }) => !isSeen || !isMarked),
          [],
        );
      }
    },
  );

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
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
}

explorerTest('by keys alone: a stock is found, its chart set up, its request copied', async () => {
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
  const said = page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const button = document.querySelector('.request-bar > button')!;
        // It says so for a moment only.
        const watch = new MutationObserver(() => {
          if (button.textContent === 'Copied') resolve();
        });
        watch.observe(button, { childList: true, characterData: true, subtree: true });
      }),
  );
  await page.keyboard.press('Enter');
  await said;
  await copied(page, /client\.bars\(|\.bars\(/);
});

explorerTest(
  'by keys alone: the chain of an expiration, a contract, the week and the impact of events, a month of holidays',
  async () => {
    const page = await world.page('#/stock/US:AAPL/options');
    await page.waitForSelector('.chain a');
    const before = page.url();
    await press(page, '.segments[aria-label=Expiration] button:nth-child(2)', 'Enter');
    await page.waitForFunction(
      (url) => location.href !== url && location.hash.includes('expiration='),
      before,
    );
    await page.waitForSelector('.chain a');
    await press(page, '.chain a', 'Enter');
    await page.waitForFunction(() => location.hash.startsWith('#/option/'));
    await show(page, '#/calendar');
    await press(page, '.steps button:last-child', 'Enter');
    await page.waitForFunction(() => location.hash.includes('week='));
    await press(page, '.segments[aria-label=Impact] button:last-child', 'Enter');
    await page.waitForFunction(() => location.hash.includes('impact='));
    await press(page, '.country', 'U');
    await drawAgain(page);
    await press(page, '.country', 'S', 'Enter');
    await page.waitForFunction(() => location.hash.includes('country=US'));
    await show(page, '#/holidays');
    await page.waitForSelector('.month');
    const market = await page.inputValue('.toolbar select');
    await press(page, '.toolbar select', 'ArrowDown');
    await page.waitForFunction(
      (was) => document.querySelector<HTMLSelectElement>('.toolbar select')!.value !== was,
      market,
    );
  },
);
