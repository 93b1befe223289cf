// What somebody does who sees the explorer for the first time, from the address alone (contract 9.3): each
// step by what the page shows.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import { copied, drawn, explorerWorld, pressUntil } from '../../explorer/explorer-world.ts';
import { python, pythonClient, skipPython } from '../../python.ts';

const { world, explorerTest } = explorerWorld();

const DAY_MS = 86_400_000;

/** The last day of the last March that is over. */
function lastMarch(): string {
  const now = new Date();
  const year = now.getUTCMonth() >= 3 ? now.getUTCFullYear() : now.getUTCFullYear() - 1;
  return `${year}-03-31`;
}

const footOf = (page: Page): Promise<string | null> => page.textContent('.chart-foot');

/** The first day of the chart, such as that of "2,024 bars since 3 Mar 2025". */
const sinceOf = async (page: Page): Promise<number> =>
  Date.parse(`${/since (\d+ \w+ \d{4})/.exec((await footOf(page))!)![1]!} UTC`);

explorerTest(
  'AAPL, hours with extended hours, a year back, as of last March, the chain, and its lines in Python',
  async (t) => {
    const startedMs = Date.now();
    const march = lastMarch();
    const page = await world.newPage();
    await page.waitForSelector('text=What is stored');
    await page.keyboard.press('/');
    await page.keyboard.type('aapl');
    await page.waitForSelector('[role=option] >> text=AAPL');
    await page.keyboard.press('Enter');
    await drawn(page);
    await page.click('text="60M"');
    await page.waitForURL(/\/60M/);
    await page.check('text=Extended hours');
    await page.waitForURL(/eth=1/);
    await page.getByLabel('As of').fill(march);
    await page.waitForURL(new RegExp(`as_of=${march}`));
    await page.waitForFunction(() => document.querySelector('.legend .when')?.textContent.includes(' Mar '));
    await drawn(page);
    await page.focus('.canvas');
    // The demo has minutes of two years: late in March a year back is nearly all of them.
    await pressUntil(
      page,
      'PageUp',
      'a year back is shown',
      async () =>
        (await sinceOf(page)) <= Date.parse(march) - 360 * DAY_MS ||
        (await footOf(page))!.includes('all there are'),
    );
    t.diagnostic(`the chart: ${Date.now() - startedMs} ms after the address`);
    await page.click('text="Options"');
    await page.waitForSelector('.chain, .notice');
    await page.click('text="Now"');
    await page.waitForSelector('.chain');
    await page.click('.request summary');
    await page.click('text="Python"');
    await page.click('text="Copy"');
    const lines = await copied(
      page,
      /bourse\.options\('US:AAPL', 'call', 'in_the_money', expiration_date='\d{4}-\d\d-\d\d'\)/,
    );
    t.diagnostic(`the lines in Python: ${Date.now() - startedMs} ms after the address`);
    if (python === null) return t.diagnostic(`not run: ${skipPython}`);
    const ran = spawnSync(python, ['-c', lines], {
      encoding: 'utf8',
      env: { ...process.env, BOURSE_KEY: world.key, PYTHONPATH: pythonClient },
    });
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /^\s*instrument_id .*\n0 /);
  },
);

explorerTest('a day with missing minutes, one without a bar, and why', async () => {
  const page = await world.page();
  await page.click('.stored th a >> text="MSFT"');
  await drawn(page);
  await page.click('text="60M"');
  await page.waitForSelector('text=/gap: 30 minutes without a bar inside the session/');
  await page.waitForSelector('text=/is missing: no data was imported for this day/');
});

explorerTest('the last split of a stock, and its adjusted chart', async () => {
  const page = await world.page();
  await page.click('.stored th a >> text="AAPL"');
  await drawn(page);
  await page.click('text=/^Show all/');
  await page.waitForSelector('text=/Split 4 for 1 on/');
  await page.selectOption('select', { label: 'Splits' });
  await page.waitForURL(/adjust=split/);
  await drawn(page);
});

/** The Monday after a moment. */
function nextMonday(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  // Day 4 of the count of days was the first Monday.
  return new Date((day + 7 - ((day - 4 + 7) % 7)) * DAY_MS).toISOString().slice(0, 10);
}

explorerTest('the events of next week with a high impact', async () => {
  const before = nextMonday(Date.now());
  const page = await world.page();
  await page.click('text="Calendar"');
  await page.click('text=/^Next week/');
  await page.click('text="High"');
  await page.waitForURL(/week=.*impact=high|impact=high.*week=/);
  const [, monday] = /week=(\d{4}-\d\d-\d\d)/.exec(page.url())!;
  // The week may have ended in between.
  assert.ok([before, nextMonday(Date.now())].includes(monday!), monday);
  const sunday = new Date(Date.parse(monday!) + 6 * DAY_MS).toISOString().slice(0, 10);
  const { data } = await world.ask<{ data: { event_name: string }[] }>(
    `/api/v2/economic_calendar/event_list?from_date=${monday}&to_date=${sunday}&impact=high&format=json`,
  );
  assert.ok(data.length > 0 || monday !== before, 'the demo has some');
  for (const { event_name } of data) await page.waitForSelector(`.events >> text="${event_name}"`);
});
