// The bars of the explorer's chart, in a browser: adjusted, as of a day, back to the first, and each at its
// market's time (contract 9.3).
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { barCount, drawn, explorerWorld, pastDay, pressUntil, show } from '../../explorer/explorer-world.ts';

const { world, explorerTest } = explorerWorld();

type Bar = { readonly session_date: string; readonly close: number };

/** The first page of bars that the chart gets after something was done: it repeats what a busy service refuses. */
async function barsOf(page: Page, act: () => Promise<unknown>): Promise<Bar[]> {
  const answered = page.waitForResponse(
    (response) => response.ok() && /\/bars\/.*\/from\//.test(response.url()),
  );
  await act();
  const { result } = (await (await answered).json()) as { result: { data: Bar[] } };
  return result.data;
}

explorerTest('as of a day the chart has no later bar', async () => {
  const page = await world.page(`#/stock/US:AAPL/DAY?as_of=${pastDay}`);
  await drawn(page);
  const newest = async () => Date.parse((await page.textContent('.legend .when'))!.split(', ')[1]!);
  const day = 86_400_000;
  const shown = await newest();
  assert.ok(shown <= Date.parse(pastDay) + day && shown >= Date.parse(pastDay) - 6 * day);
  assert.ok((await page.textContent('.request pre'))!.endsWith(`?as_of=${pastDay}T23%3A59%3A59Z`));
  await page.click('text="Now"');
  await page.waitForFunction(
    (before) => Date.parse(document.querySelector('.legend .when')!.textContent.split(', ')[1]!) > before,
    shown + 100 * day,
  );
});

explorerTest('adjusted bars differ from the stored ones before a split', async () => {
  const page = await world.page();
  const first = await barsOf(page, () => show(page, '#/stock/US:AAPL/DAY'));
  const adjusted = await barsOf(page, () => page.selectOption('.toolbar select', 'split'));
  const path = '/api/v2/stock/stock_corporate_action/list/US:AAPL?from_date=2000-01-01&action_type=split';
  const exDate = (await world.ask<{ data: { ex_date: string }[] }>(path)).data[0]!.ex_date;
  assert.ok(
    first.some(({ session_date }) => session_date < exDate),
    'the chart shows bars before the split',
  );
  for (const [at, bar] of first.entries()) {
    // One old share is four new ones (contract 3.14).
    const factor = bar.session_date < exDate ? 4 : 1;
    assert.equal(adjusted[at]!.session_date, bar.session_date);
    assert.ok(Math.abs(adjusted[at]!.close * factor - bar.close) < 0.02, `${bar.session_date}`);
  }
});

explorerTest('scrolling back goes on to the first bar that is stored', async () => {
  const page = await world.page('#/crypto/GLOBAL:BTCUSD/60M');
  await drawn(page);
  await page.focus('.canvas');
  await pressUntil(page, 'PageUp', 'all bars are there', () =>
    page.evaluate(() => document.querySelector('.chart-foot')!.textContent.includes('all there are')),
  );
  const path = '/api/v2/crypto/bars/GLOBAL:BTCUSD/60M/from/2000-01-01/to/2199-01-01?limit=1000';
  let count = 0;
  for (let key: string | null = ''; key !== null; ) {
    const part: { count: number; next_page_key: string | null } = await world.ask(
      `${path}&next_page_key=${key}`,
    );
    count += part.count;
    key = part.next_page_key;
  }
  assert.equal(await barCount(page), count);
});

/** A time as the market's clock shows it, by the runtime's own rules: `Sun, 9 Mar 2025 17:00 EDT`. */
function shownAt(zone: string, ms: number): string {
  const options = {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  } as const;
  const format = new Intl.DateTimeFormat('en-US', {
    ...options,
    weekday: 'short',
    timeZone: zone,
    timeZoneName: 'short',
    hourCycle: 'h23',
  });
  const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  return `${part.weekday}, ${part.day} ${part.month} ${part.year} ${part.hour}:${part.minute} ${part.timeZoneName}`;
}

/**
 * Hours of two days on both sides of a change of the clocks in New York on a Sunday, in which a market is
 * open.
 */
function hoursAround(sunday: string, isOpen: (shown: string) => boolean): number[] {
  const startMs = Date.parse(sunday) - 2 * 86_400_000;
  return Array.from({ length: 4 * 24 }, (_, hour) => startMs + hour * 3_600_000).filter((ms) =>
    isOpen(shownAt('America/New_York', ms)),
  );
}

/** Forex rests from Friday 17:00 to Sunday 17:00 (contract 3.7). */
const isForexOpen = (shown: string): boolean => {
  const hour = Number(/ (\d\d):/.exec(shown)![1]);
  if (shown.startsWith('Sat')) return false;
  return shown.startsWith('Fri') ? hour < 17 : !shown.startsWith('Sun') || hour >= 17;
};

/**
 * In the page: what the legend shows after each of so many presses of the left arrow, faster than by the
 * driver.
 */
async function timesBackwards(count: number): Promise<string[]> {
  const shown: string[] = [];
  for (let press = 0; press < count; press++) {
    const canvas = document.querySelector('.canvas')!;
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve));
    shown.push(document.querySelector('.legend .when')!.textContent);
  }
  return shown;
}

for (const [change, sunday] of [
  ['SPRING', '2025-03-09'],
  ['AUTUMN', '2025-11-02'],
] as const)
  for (const [asset, zone, isOpen] of [
    ['forex', 'America/New_York', isForexOpen],
    ['crypto', 'UTC', () => true],
  ] as const)
    explorerTest(
      `over a change of the clocks, ${change}, each bar of ${asset} has its market's time`,
      async () => {
        const hours = hoursAround(sunday, isOpen);
        const lines = hours.map(
          (ms) => `${asset},GLOBAL,${change},60M,${new Date(ms).toISOString()},1,1,1,1`,
        );
        const head = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close';
        await world.import('bars', 'csv', `${head}\n${lines.join('\n')}\n`);
        const page = await world.page(`#/${asset}/GLOBAL:${change}/60M`);
        await drawn(page);
        assert.deepEqual(
          await page.evaluate(timesBackwards, hours.length),
          hours.toReversed().map((ms) => shownAt(zone, ms)),
        );
      },
    );

explorerTest('as of a day, what is said about its bars is of that day too (contract 9.8)', async () => {
  const page = await world.page();
  const asked = (kind: string) =>
    page.waitForRequest((request) => request.url().includes(`/api/v2/stock/${kind}/`));
  const both = Promise.all([asked('coverage'), asked('findings')]);
  await show(page, `#/stock/US:AAPL/DAY?as_of=${pastDay}`);
  for (const request of await both)
    assert.equal(new URL(request.url()).searchParams.get('as_of'), `${pastDay}T23:59:59Z`);
});
