// The explorer's overview and chart, in a browser (contract 9.3).
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import {
  accessibleViews,
  barCount,
  barPixels,
  copied,
  drawn,
  explorerWorld,
  pastDay,
  press,
  pressUntil,
  show,
} from '../../explorer/explorer-world.ts';
import { until } from '../../until.ts';

const { world, explorerTest } = explorerWorld();

explorerTest(
  'the overview has what is stored, and the search finds an instrument by its name from the keys alone',
  async () => {
    const page = await world.page();
    await page.waitForSelector('text=EURUSD');
    const symbols = await page.locator('.stored th a').allTextContents();
    assert.deepEqual(symbols, ['AAPL', 'MSFT', 'SPY', 'BTCUSD', 'EURUSD']);
    await page.keyboard.press('/');
    await page.keyboard.type('micro');
    await page.waitForSelector('[role=option] >> text=MSFT');
    await page.keyboard.press('Enter');
    await drawn(page);
    assert.match(page.url(), /#\/stock\/US:MSFT\/DAY$/);
    assert.equal(await page.title(), 'US:MSFT · DAY · stock · Bourse');
    await page.goBack();
    await page.waitForSelector('text=What is stored');
  },
);

explorerTest(
  'the filter asks the service for symbols that begin so, and says what it did not find',
  async () => {
    const page = await world.page();
    await page.waitForSelector('text=EURUSD');
    await page.fill('input[type=search]', 'btc');
    await page.waitForFunction(() => document.querySelectorAll('.stored tbody tr').length === 1);
    assert.match(page.url(), /query=btc/);
    await page.fill('input[type=search]', 'nothing');
    await page.waitForSelector('text=No stored symbol begins with nothing');
  },
);

explorerTest(
  'presses in one moment all hold, and a filter that was typed on leaving leads back to nothing',
  async () => {
    const page = await world.page('#/stock/US:AAPL/DAY');
    await drawn(page);
    const pressed = await page.evaluate(() => {
      document.querySelector<HTMLElement>('[role=switch]')!.click();
      const adjust = document.querySelector<HTMLSelectElement>('.toolbar select')!;
      adjust.value = 'split';
      adjust.dispatchEvent(new Event('change', { bubbles: true }));
      document.querySelector<HTMLElement>('button[title="60 minutes"]')!.click();
      return location.hash;
    });
    assert.equal(pressed, '#/stock/US:AAPL/60M?eth=1&adjust=split');
    await show(page, '#/');
    await page.waitForSelector('text=EURUSD');
    const left = await page.evaluate(async () => {
      const filter = document.querySelector<HTMLInputElement>('input[type=search]')!;
      filter.value = 'btc';
      filter.dispatchEvent(new Event('input', { bubbles: true }));
      location.hash = '#/news';
      // Longer than the filter waits for more letters.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return location.hash;
    });
    assert.equal(left, '#/news');
  },
);

explorerTest('the chart draws bars, and its newest is that of the service', async () => {
  const page = await world.page('#/stock/US:AAPL/DAY');
  await drawn(page);
  assert.ok((await barPixels(page)) > 2_000);
  const { data } = await world.ask<{ data: { readonly close: number }[] }>(
    '/api/v2/stock/bars/US:AAPL/DAY/latest?limit=1',
  );
  assert.match((await page.textContent('.legend'))!, new RegExp(`C${data[0]!.close.toFixed(2)}`));
});

explorerTest(
  'interval buttons and any number of minutes change the bars, extended hours add some',
  async () => {
    const page = await world.page('#/stock/US:SPY/60M');
    await drawn(page);
    const regular = await barCount(page);
    await page.check('text=Extended hours');
    await page.waitForFunction(
      (count) => !document.querySelector('.chart-foot')!.textContent.startsWith(count),
      regular.toLocaleString('en-US'),
    );
    assert.ok((await barCount(page)) > regular);
    await page.fill('[name=interval]', '45');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/45M\?eth=1/);
    await drawn(page);
    await page.click('text="WEEK"');
    await page.waitForURL(/\/WEEK/);
    await page.waitForFunction(() => /^1\d\d bars/.test(document.querySelector('.chart-foot')!.textContent));
    await page.fill('[name=interval]', '9999');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[name=interval][aria-invalid=true]');
  },
);

explorerTest('scrolling back asks for older bars by page keys', async () => {
  const page = await world.page('#/crypto/GLOBAL:BTCUSD/1M');
  await drawn(page);
  assert.equal(await barCount(page), 1_000);
  let isSeen = false;
  const asked = page.waitForRequest(/next_page_key=/).then(() => {
    isSeen = true;
  });
  await page.focus('.canvas');
  await pressUntil(page, 'PageUp', 'older bars are asked for', () => Promise.resolve(isSeen));
  await asked;
  await page.waitForFunction(() => /^[2-9],/.test(document.querySelector('.chart-foot')!.textContent));
  assert.ok((await barCount(page)) >= 2_000);
});

explorerTest('Page Up stops at the first bar, Page Down and End at the newest', async () => {
  const page = await world.page('#/stock/US:SPY/WEEK');
  await drawn(page);
  const atStart = await barPixels(page);
  await page.focus('.canvas');
  for (const [key, times] of [
    ['PageUp', 3],
    ['PageDown', 6],
    ['End', 1],
  ] as const) {
    for (let count = 0; count < times; count++) await press(page, key);
    const shown = await barPixels(page);
    assert.ok(shown > atStart / 4, `${key}: ${shown} pixels of bars, ${atStart} at first`);
  }
});

explorerTest('a chart without bars says what is stored instead', async () => {
  const page = await world.page(`#/stock/US:MSFT/60M?as_of=${pastDay}`);
  await page.waitForSelector('text=No bars of 60M as of');
  await page.click('.notice a >> text="DAY"');
  await drawn(page);
});

explorerTest(
  'the request is the one that was sent, in each language, and has no key; CSV and Parquet are saved',
  async () => {
    const page = await world.page('#/stock/US:AAPL/60M?eth=1&adjust=split');
    await drawn(page);
    await page.click('summary');
    const address = (await page.textContent('.request pre'))!;
    const answer = await fetch(address, { headers: { Authorization: `Bearer ${world.key}` } });
    assert.deepEqual([answer.status, answer.headers.get('X-Ignored-Parameters')], [200, null]);
    await page.click('text="Python"');
    assert.match(
      (await page.textContent('.request pre'))!,
      /bourse\.bars\('US:AAPL', '60M', '\d{4}-\d\d-\d\d', '\d{4}-\d\d-\d\d', is_eth=True, adjust='split'\)/,
    );
    await page.click('text="TypeScript"');
    assert.match(
      (await page.textContent('.request pre'))!,
      /bourse\.bars\('stock', 'US:AAPL', '60M', \{ from: '.*', is_eth: true, adjust: 'split' \}\)\.toArray\(\)/,
    );
    await page.click('text="Copy"');
    await copied(page, /^import \{ Bourse \}/);
    const downloads = await Promise.all([page.waitForEvent('download'), page.click('text="CSV"')]);
    const csv = await readFile(await downloads[0].path(), 'utf8');
    assert.match(csv, /^asset_schema,interval,/);
    assert.ok(!csv.includes(world.key) && !downloads[0].url().includes(world.key));
    const [parquet] = await Promise.all([page.waitForEvent('download'), page.click('text="Parquet"')]);
    assert.equal((await readFile(await parquet.path())).subarray(0, 4).toString(), 'PAR1');
  },
);

explorerTest('what comes after the bars moves nothing that one may be about to press', async () => {
  const page = await world.page();
  const { promise: permitted, resolve: permit } = Promise.withResolvers<void>();
  await page.route(/\/(?:stock_corporate_action|coverage|findings)\//, async (route) => {
    await permitted;
    await route.continue();
  });
  await show(page, '#/stock/US:AAPL/60M');
  await drawn(page);
  const place = await page.locator('summary').boundingBox();
  permit();
  await page.waitForSelector('.notes');
  assert.deepEqual(await page.locator('summary').boundingBox(), place);
});

explorerTest('a search and notes that the service refuses for a while come by themselves', async () => {
  const page = await world.page();
  await page.waitForSelector('text=EURUSD');
  let isAway = true;
  const refused = new Set<string>();
  await page.route(/\/(?:search|stock_corporate_action)\b/, async (route) => {
    if (!isAway) return route.continue();
    refused.add(/search|stock_corporate_action/.exec(route.request().url())![0]);
    // So long that the client itself does not wait for it.
    const headers = { 'Retry-After': '600', 'Content-Type': 'application/json' };
    const detail = { error: 'unavailable' };
    return route.fulfill({
      status: 503,
      headers,
      body: JSON.stringify({ code: 503, message: 'busy', detail }),
    });
  });
  await page.keyboard.press('/');
  await page.keyboard.type('micro');
  await until('a search is refused', () => refused.has('search'));
  isAway = false;
  await page.waitForSelector('[role=option] >> text=MSFT');
  await page.keyboard.press('Escape');
  isAway = true;
  await show(page, '#/stock/US:AAPL/DAY');
  await until('notes are refused', () => refused.has('stock_corporate_action'));
  await drawn(page);
  isAway = false;
  await page.waitForSelector('.notes >> text=Dividends and splits');
});

explorerTest('the key is in no address, link, cookie or lasting storage', async () => {
  const page = await world.newPage('#/stock/US:AAPL/DAY');
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.url()));
  await drawn(page);
  await page.click('text="60M"');
  await page.waitForSelector('button[aria-pressed=true] >> text="60M"');
  await drawn(page);
  const { key } = world;
  const links = await page
    .locator('a')
    .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href));
  const kept = await page.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), document.cookie, location.href, history.state]),
  );
  for (const text of [...sent, ...links, kept]) assert.ok(!text.includes(key), text);
});

explorerTest(
  'a wrong key is refused with the reason, and the right one opens what was asked for',
  async () => {
    const page = await world.newPage('#/stock/US:AAPL/DAY');
    await drawn(page);
    await page.click('text="Key"');
    await page.fill('#key', 'wrong');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.problem >> text=/key/');
    await page.fill('#key', world.key);
    await page.keyboard.press('Enter');
    await drawn(page);
    assert.match(page.url(), /US:AAPL/);
    await page.reload();
    await drawn(page);
  },
);

explorerTest('by keys alone: bars are pointed to one by one, and the window moves and zooms', async () => {
  const page = await world.page('#/stock/US:AAPL/DAY');
  await drawn(page);
  await page.focus('.canvas');
  const shown = () => page.textContent('.legend .when');
  await page.keyboard.press('ArrowLeft');
  const last = await shown();
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await shown(), last);
  await page.keyboard.press('ArrowRight');
  assert.equal(await shown(), last);
  await page.keyboard.press('-');
  await page.keyboard.press('End');
});

explorerTest('light and dark follow the system, and the button changes and keeps them', async () => {
  const page = await world.newPage('', { theme: 'dark' });
  await page.waitForSelector('text=EURUSD');
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  await page.click('[aria-label="Light or dark"]');
  assert.notEqual(await paper(), dark);
  await page.reload();
  assert.equal(await paper(), 'rgb(255, 255, 255)');
});

accessibleViews(
  { world, explorerTest },
  ['', '#/stock/US:AAPL/DAY', '#/stock/US:NONE/DAY', '#/nowhere'],
  '.stored th a, .chart:not(.waiting), .notice >> visible=true',
);

explorerTest('a service that goes away is said, and the view goes on when it is back', async () => {
  const page = await world.page('#/stock/US:AAPL/DAY');
  await drawn(page);
  const { key } = world;
  await page.evaluate((filled) => sessionStorage.setItem('bourse-key', filled), key);
  await world.stop();
  await page.click('text="WEEK"');
  await page.waitForSelector('text=The service does not answer');
  await world.start();
  // The demo that starts again has the same key.
  assert.equal(world.key, key);
  await drawn(page);
});
