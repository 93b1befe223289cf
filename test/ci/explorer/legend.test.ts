// The line above a chart is about the bar beneath the crosshair, or the newest: one that is drawn, whatever
// was shown before (contract 9.3, 9.8).
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { drawn, explorerWorld, pastDay, press, show } from '../../explorer/explorer-world.ts';
import { until } from '../../until.ts';

const { world, explorerTest } = explorerWorld();

const PAST = `#/stock/US:AAPL/DAY?as_of=${pastDay}`;
const NOW = '#/stock/US:AAPL/DAY';

const legend = async (page: Page): Promise<string> => (await page.textContent('.legend'))!;

/** Does what changes the bars of a chart, and waits until others are drawn. */
async function changed(page: Page, act: () => Promise<unknown>): Promise<void> {
  const answered = page.waitForResponse((response) => /\/bars\/.*\/from\//.test(response.url()));
  await act();
  await answered;
  await drawn(page);
}

type Bar = { readonly session_date: string; readonly close: number };

/** That the legend is about a bar of DAY that the service has, as of a day where one is named. */
async function isOfADrawnBar(page: Page, asOf: string | null): Promise<void> {
  const moment = asOf === null ? '' : `&as_of=${asOf}T23:59:59Z`;
  const path = `/api/v2/stock/bars/US:AAPL/DAY/from/2000-01-01/to/2199-01-01?session_date=true&sort=desc&limit=1000${moment}`;
  const { data } = await world.ask<{ data: Bar[] }>(path);
  const text = await legend(page);
  const day = new Date(`${(await page.textContent('.legend .when'))!.split(', ')[1]!} UTC`)
    .toISOString()
    .slice(0, 10);
  const bar = data.find(({ session_date }) => session_date === day);
  assert.ok(bar !== undefined, `${text}: no such bar${moment}`);
  assert.ok(text.includes(`C${bar.close.toFixed(2)}`), `${text}: its close is ${bar.close}`);
}

/** The middle of the bars, in the window. */
async function middle(page: Page): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await page.locator('.canvas').boundingBox())!;
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 3) };
}

explorerTest(
  'as of a day the legend leaves a later bar to which keys had pointed (contract 9.8)',
  async () => {
    const page = await world.page(NOW);
    await drawn(page);
    await page.focus('.canvas');
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft']) await press(page, key);
    await isOfADrawnBar(page, null);
    await changed(page, () => show(page, PAST));
    await isOfADrawnBar(page, pastDay);
    // The keys go on from the bar that the legend has.
    const before = await legend(page);
    await page.focus('.canvas');
    await press(page, 'ArrowLeft');
    await isOfADrawnBar(page, pastDay);
    assert.notEqual(await legend(page), before);
    await press(page, 'ArrowRight');
    assert.equal(await legend(page), before);
  },
);

explorerTest(
  'back to a day the legend leaves a later bar to which keys had pointed (contract 9.8)',
  async () => {
    const page = await world.page(PAST);
    await drawn(page);
    await changed(page, () => page.click('text="Now"'));
    await page.focus('.canvas');
    await press(page, 'ArrowLeft');
    await press(page, 'ArrowLeft');
    await isOfADrawnBar(page, null);
    await changed(page, () => page.goBack());
    await isOfADrawnBar(page, pastDay);
  },
);

explorerTest(
  'as of a day the legend leaves a later bar that a finger had pointed to (contract 9.8)',
  async () => {
    const page = await world.newPage(NOW, { hasTouch: true });
    await drawn(page);
    const newest = await legend(page);
    const driver = await page.context().newCDPSession(page);
    const finger = (type: 'touchStart' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
      driver.send('Input.dispatchTouchEvent', { type, touchPoints });
    await finger('touchStart', [await middle(page)]);
    await until('a long touch points to a bar', async () => (await legend(page)) !== newest);
    await finger('touchEnd', []);
    await isOfADrawnBar(page, null);
    await changed(page, () => show(page, PAST));
    await isOfADrawnBar(page, pastDay);
  },
);

explorerTest(
  'under a mouse at rest the legend has the bar beneath it, whatever bars come there (contract 9.8)',
  async () => {
    const page = await world.page(NOW);
    await drawn(page);
    const { x, y } = await middle(page);
    await page.mouse.move(x, y);
    for (const [place, asOf] of [
      [PAST, pastDay],
      [NOW, null],
    ] as const) {
      await changed(page, () => show(page, place));
      await isOfADrawnBar(page, asOf);
      const before = await legend(page);
      // Up or down it is the same bar.
      await page.mouse.move(x, y + 1);
      await page.mouse.move(x, y);
      assert.equal(await legend(page), before);
    }
    await changed(page, () => show(page, '#/stock/US:AAPL/60M'));
    assert.match((await page.textContent('.legend .when'))!, /\d\d:\d\d/);
    await page.mouse.move(0, 0);
  },
);
