// What the explorer shows beside prices, in a browser: actions, coverage, findings, options, news, calendars
// (contract 9.3).
import assert from 'node:assert/strict';
import { dateText, dayText } from '../../../packages/explorer/market-clock.ts';
import {
  accessibleViews,
  barCount,
  drawn,
  explorerWorld,
  painted,
  pressUntil,
  violations,
} from '../../explorer/explorer-world.ts';

const { world, explorerTest } = explorerWorld(async () => {
  await importHole();
  await importCut();
  await importLate();
  await importHostileNews();
});

const DAY_MS = 86_400_000;
const dayBefore = (count: number): string => new Date(Date.now() - count * DAY_MS).toISOString().slice(0, 10);

type Bar = { datetime: string; session_date: string; open: number; high: number; low: number; close: number };

const HEAD = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close';

/** The sessions that the file of HOLE has spoiled: one it lacks, one with forty minutes less. */
let missing = '';
let holed = '';

/** A stock with some weeks of the demo's minutes of SPY, but for a session and forty minutes. */
async function importHole(): Promise<void> {
  const rows: Bar[] = [];
  const range = `/api/v2/stock/bars/US:SPY/1M/from/${dayBefore(21)}/to/2199-01-01?limit=1000&session_date=true`;
  for (let next: string | null = ''; next !== null; ) {
    const page: { data: Bar[]; next_page_key: string | null } = await world.ask(
      `${range}&next_page_key=${next}`,
    );
    rows.push(...page.data);
    next = page.next_page_key;
  }
  const days = [...new Set(rows.map(({ session_date }) => session_date))];
  missing = days.at(-6)!;
  holed = days.at(-4)!;
  const start = rows.findIndex(({ session_date }) => session_date === holed) + 100;
  const kept = rows.filter(
    ({ session_date }, index) => session_date !== missing && !(index >= start && index < start + 40),
  );
  const lines = kept.map(
    ({ datetime, open, high, low, close }) => `stock,US,HOLE,1M,${datetime},${open},${high},${low},${close}`,
  );
  await world.import('bars', 'csv', `${HEAD}\n${lines.join('\n')}\n`);
}

/** Minutes of ten sessions of a stock, of which some are left out by their day and number. */
async function importMinutes(
  symbol: string,
  isLeftOut: (day: string, minute: number) => boolean,
): Promise<void> {
  const days = ['02-26', '02-27', '02-28', '02-29', '03-01', '03-04', '03-05', '03-06', '03-07', '03-08'];
  const lines = days.flatMap((day) =>
    Array.from({ length: 390 }, (_, minute) => {
      const low = 50 + (minute % 7);
      const datetime = new Date(Date.parse(`2024-${day}T14:30:00Z`) + minute * 60_000).toISOString();
      return `stock,US,${symbol},1M,${datetime},${low},${low + 2},${low},${low + 1}`;
    }).filter((_, minute) => !isLeftOut(day, minute)),
  );
  await world.import('bars', 'csv', `${HEAD}\n${lines.join('\n')}\n`);
}

/** The third last session lacks forty minutes: the chart's first page begins in it, after them. */
const importCut = (): Promise<void> =>
  importMinutes('CUT', (day, minute) => day === '03-06' && minute >= 60 && minute < 100);

/** The first session begins forty minutes late. */
const importLate = (): Promise<void> =>
  importMinutes('LATE', (day, minute) => day === '02-26' && minute < 40);

const NEWS = 300;

/** News items, more than two pages of the view, that try to become scripts, HTML or addresses that run. */
async function importHostileNews(): Promise<void> {
  const texts = [
    '<script>window.hostile = 1</script>',
    '<img src=x onerror="window.hostile = 1">',
    '"><svg onload=window.hostile=1>',
    "'; window.hostile = 1; //",
    '{{constructor.constructor("window.hostile=1")()}}',
    `\u202Emoc.elpmaxe\u202C ${'wide'.repeat(60)}`,
  ];
  // An import takes no other addresses than these.
  const addresses = ['https://example.com/"onclick="window.hostile=1', 'http://example.com/<script>'];
  const lines = Array.from({ length: NEWS }, (_, index) => {
    const text = texts[index % texts.length]!;
    const published_date = new Date(Date.now() - 60_000 * (index + 10)).toISOString();
    const item = { published_date, title: `${index} ${text}`, text_content: text, publisher: text };
    return JSON.stringify({ ...item, publisher_url: `${addresses[index % addresses.length]!}#${index}` });
  });
  await world.import('news', 'ndjson', `${lines.join('\n')}\n`);
}

explorerTest(
  'a session without bars and a gap in another have a reason, and the chart shows them (contract 9.9, 9.10)',
  async () => {
    const page = await world.page('#/stock/US:HOLE/5M');
    await drawn(page);
    const lines = page.locator('.line');
    await lines.filter({ hasText: '40 minutes without a bar inside the session' }).click();
    assert.match((await page.textContent('.legend .why'))!, /info, gap: 40 minutes without a bar/);
    const session = await world.ask<{ data: { condition: string }[] }>(
      `/api/v2/stock/coverage/US:HOLE?from_date=${missing}&to_date=${missing}`,
    );
    const [{ condition }] = session.data as [{ condition: string }];
    assert.match(
      (await lines.filter({ hasText: `is ${condition}` }).textContent())!,
      new RegExp(`0 of \\d+ bars|${condition}`),
    );
    assert.deepEqual(await violations(page), []);
  },
);

explorerTest(
  'the gap has room in the chart of its own minutes, and its reason stands where one points',
  async () => {
    const page = await world.page('#/stock/US:HOLE/1M');
    await drawn(page);
    await page.focus('.canvas');
    const line = page.locator('.line', { hasText: '40 minutes' });
    await pressUntil(page, 'PageUp', 'the gap is listed', () => line.isVisible());
    // The last key may have asked for more bars: the chart that comes with them points to nothing.
    await drawn(page);
    await line.click();
    await painted(page);
    assert.match((await page.textContent('.legend .why'))!, /40 minutes/);
  },
);

explorerTest('a gap before the oldest bar that is loaded is listed once its bars are there', async () => {
  const page = await world.page('#/stock/US:CUT/1M');
  await drawn(page);
  const loaded = await barCount(page);
  assert.ok(loaded > 2 * 390 && loaded < 3 * 390 - 100, `${loaded} bars: all after the gap`);
  const line = page.locator('.line', { hasText: '40 minutes' });
  assert.equal(await line.count(), 0);
  await page.focus('.canvas');
  await pressUntil(page, 'PageUp', 'the gap is listed', () => line.isVisible());
  await line.click();
  await painted(page);
  assert.match((await page.textContent('.legend .why'))!, /40 minutes/);
});

explorerTest('a finding before the first bar of all is listed where all bars are loaded', async () => {
  const page = await world.page('#/stock/US:LATE/5M');
  await drawn(page);
  const line = page.locator('.line', { hasText: 'begin 40 minutes after it opens' });
  await line.click();
  await painted(page);
  assert.match((await page.textContent('.legend .why'))!, /40 minutes/);
});

explorerTest('dividends and splits stand at their bars, and the list leads to them', async () => {
  const page = await world.page('#/stock/US:AAPL/DAY');
  await drawn(page);
  const line = page.locator('.line.dividend').last();
  const text = (await line.locator('span').last().textContent())!;
  await line.click();
  assert.equal(await page.textContent('.legend .why'), text);
  const { data } = await world.ask<{ data: { cash_amount: number; ex_date: string }[] }>(
    '/api/v2/stock/stock_corporate_action/list/US:AAPL?from_date=2000-01-01&action_type=dividend',
  );
  const when = await line.locator('.when').textContent();
  const action = data.find(({ ex_date }) => dayText(ex_date) === when);
  assert.ok(text.startsWith(`Dividend ${action!.cash_amount} USD`));
});

explorerTest(
  'the option chain has every contract of an expiration, in the money as the service says (spec 4.6)',
  async () => {
    const page = await world.page('#/stock/US:AAPL/options');
    await page.waitForSelector('.chain');
    const day = await world.ask<{ expiration_date: string }[]>(
      '/api/v2/option/expiration_date_list/stock/US:AAPL',
    );
    for (const [type, letter] of [
      ['call', 'C'],
      ['put', 'P'],
    ] as const) {
      const filter = `expiration_date=${day[0]!.expiration_date}&limit=1000`;
      const path = `/api/v2/option/search/stock/US:AAPL/${type}/moneyness/in_the_money?${filter}`;
      const { data } = await world.ask<{ data: Record<string, { symbol: string }[]> }>(path);
      const shown = await page.locator(`.chain .${type}.in-the-money a`).allTextContents();
      assert.deepEqual(
        shown.sort(),
        Object.values(data)
          .flat()
          .map(({ symbol }) => symbol)
          .sort(),
        letter,
      );
    }
    await page.click('.request summary');
    const requests = page.locator('select', { hasText: 'calls in the money' });
    for (const [index, type] of ['call', 'call', 'put', 'put'].entries()) {
      await requests.selectOption(String(index));
      const side = index % 2 === 0 ? 'in_the_money' : 'out_of_the_money';
      const url = (await page.textContent('.request pre'))!;
      assert.match(url, new RegExp(`/option/search/stock/US%3AAAPL/${type}/moneyness/${side}\\?`));
      assert.match(url, new RegExp(`expiration_date=${day[0]!.expiration_date}`));
    }
    await page.locator('[aria-label=Expiration] button').nth(1).click();
    await page.waitForURL(new RegExp(`expiration=${day[1]!.expiration_date}`));
  },
);

explorerTest(
  'the overview names the first and last session by their dates, also where they open on the evening before (contract 3.6, 3.7)',
  async () => {
    const page = await world.page();
    for (const [asset, symbol] of [
      ['stock', 'US:MSFT'],
      ['forex', 'GLOBAL:EURUSD'],
      ['crypto', 'GLOBAL:BTCUSD'],
    ] as const) {
      const row = page.locator(`table[aria-labelledby=stored-${asset}] tr`, {
        hasText: symbol.split(':')[1]!,
      });
      await row.waitFor();
      const days: string[] = [];
      for (const interval of await row.locator('.chip').allTextContents())
        for (const sort of ['asc', 'desc']) {
          const range = `/api/v2/${asset}/bars/${symbol}/${interval}/from/2000-01-01/to/2199-01-01`;
          const { data } = await world.ask<{ data: { session_date: string }[] }>(
            `${range}?limit=1&session_date=true&sort=${sort}`,
          );
          days.push(data[0]!.session_date);
        }
      days.sort();
      const expected = [days[0]!, days.at(-1)!].map((day) => dateText(Date.parse(day)));
      const [, from, to] = await row.locator('td.wide').allTextContents();
      assert.deepEqual([from, to], expected, symbol);
    }
  },
);

explorerTest(
  'the overview asks once for the newest days of all instruments of a kind, and shows them',
  async () => {
    const page = await world.newPage('#/nowhere');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.evaluate(() => {
      location.hash = '#/?kind=stock';
    });
    for (const symbol of ['AAPL', 'MSFT', 'SPY']) {
      const row = page.locator('.stored tr', { hasText: symbol });
      await row.locator('.sparkline').waitFor();
      const path = `/api/v2/stock/bars/US:${symbol}/DAY/latest?limit=1`;
      const { data } = await world.ask<{ data: { close: number }[] }>(path);
      const last = await row.locator('td.number').first().textContent();
      assert.equal(Number(last!.replaceAll(',', '')), Number(data[0]!.close.toFixed(2)), symbol);
    }
    const closes = asked.filter((url) => url.includes('/bars/'));
    assert.deepEqual(
      closes
        .map((url) => new URL(url))
        .map((url) => `${url.pathname} ${url.searchParams.get('interval')}`)
        .sort(),
      ['/api/v2/stock/bars/latest DAY', '/api/v2/stock/bars/latest WEEK'],
    );
  },
);

explorerTest('while the overview waits for an answer it does not say that nothing is stored', async () => {
  const page = await world.newPage('#/nowhere');
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**/coverage?*', async (route) => {
    await promise;
    await route.continue();
  });
  const asked = page.waitForRequest(/\/option\/coverage/);
  await page.evaluate(() => {
    location.hash = '#/';
  });
  await asked;
  await page.waitForSelector('text=What is stored');
  assert.equal(await page.isVisible('text=Nothing is stored yet'), false);
  resolve();
  await page.waitForSelector('.stored >> text=AAPL');
});

explorerTest('the overview asks for the name of an instrument once in a tab', async () => {
  const page = await world.newPage('#/nowhere');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const { name } = await world.ask<{ name: string }>('/api/v2/stock/reference/US:MSFT');
  for (const hash of ['#/?kind=stock', '#/news', '#/?query=MS']) {
    await page.evaluate((next) => {
      location.hash = next;
    }, hash);
    if (hash === '#/news') await page.locator('.stored').first().waitFor({ state: 'detached' });
    else await page.locator('.stored tr', { hasText: name }).waitFor();
  }
  const names = asked.filter((path) => path.endsWith('/reference/US%3AMSFT'));
  assert.deepEqual(names, ['/api/v2/stock/reference/US%3AMSFT']);
});

explorerTest('a chain whose underlying has no price has all strikes, and none in the money', async () => {
  const contracts = ['C', 'P'].flatMap((letter) =>
    [10, 12.5].map((strike) => {
      const symbol = `UNPR351221${letter}${String(strike * 1000).padStart(8, '0')}`;
      return `${symbol},US,stock,UNPR,${strike},2035-12-21,${letter === 'C' ? 'call' : 'put'}`;
    }),
  );
  const head =
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type';
  await world.import('option-contracts', 'csv', [head, ...contracts, ''].join('\n'));
  const page = await world.page('#/stock/US:UNPR/options');
  await page.waitForSelector('.chain');
  for (const [type, letter] of [
    ['call', 'C'],
    ['put', 'P'],
  ] as const)
    assert.deepEqual(
      await page.locator(`.chain td.${type} a`).allTextContents(),
      ['00010000', '00012500'].map((strike) => `UNPR351221${letter}${strike}`),
    );
  assert.equal(await page.locator('.chain .in-the-money').count(), 0);
  assert.equal(await page.locator('.options .failure').count(), 0);
  assert.ok(await page.isVisible('text=no price of the underlying is stored'));
  // The requests are those that answered.
  await page.click('.request summary');
  const requests = page.locator('select', { hasText: 'puts' });
  assert.deepEqual(await requests.locator('option').allTextContents(), ['calls', 'puts']);
  const [path] = /\/api\/\S+/.exec((await page.textContent('.request pre'))!)!;
  assert.match(path, /ref_asset_price=/);
  const { count } = await world.ask<{ count: number }>(path);
  assert.equal(count, 2);
});

explorerTest(
  'hostile news items are text: no script runs, the policy has nothing to forbid, no link runs (contract 7.4)',
  async () => {
    const page = await world.page('#/news');
    await page.waitForSelector('article');
    while (await page.locator('text="Older news"').isVisible()) {
      const count = await page.locator('article').count();
      await page.click('text="Older news"');
      await page.waitForFunction((before) => document.querySelectorAll('article').length > before, count);
    }
    const shown = await page.locator('article h3').allTextContents();
    assert.ok(shown.filter((title) => title.includes('hostile')).length >= 0.8 * NEWS);
    await page.locator('article .link').first().click();
    assert.equal(await page.evaluate(() => 'hostile' in window), false);
    assert.equal(await page.locator('article img, article script, article svg').count(), 0);
    const links = await page
      .locator('article h3 a')
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).protocol));
    assert.deepEqual(new Set(links), new Set(['https:', 'http:']));
  },
);

explorerTest(
  'what is not there leaves no sign: news without a publisher, an underlying without expirations',
  async () => {
    const head = 'published_date,title,publisher_url,asset_name,country_iso_code,symbol';
    const item = '2025-01-02T14:30:00Z,Bare,https://example.com/bare,stock,US,HOLE';
    await world.import('news', 'csv', `${head}\n${item}\n`);
    const page = await world.page('#/stock/US:HOLE/news');
    await page.waitForSelector('article');
    assert.equal(await page.textContent('article p.quiet'), 'HOLE');
    await page.click('.tabs >> text=Options');
    await page.waitForSelector('text=No option expires after this moment');
    assert.equal(await page.locator('[aria-label=Expiration]').count(), 0);
  },
);

explorerTest(
  'the economic calendar has a week by day, leads to the next events, and filters by impact',
  async () => {
    const events = await world.ask<{ data: { event_name: string; event_timestamp: string }[] }>(
      '/api/v2/economic_calendar/event_list?format=json&limit=1&impact=high&sort=desc&from_date=2020-01-01',
    );
    const [event] = events.data;
    const page = await world.page(`#/calendar?week=${event!.event_timestamp.slice(0, 10)}&impact=high`);
    await page.waitForSelector(`text=${event!.event_name}`);
    assert.deepEqual(new Set(await page.locator('.impact').allTextContents()), new Set(['high']));
    await page.click('text=Next week');
    await page.waitForSelector('text=No events in this week');
    await page.click('.notice a');
    await page.waitForSelector('.events');
  },
);

explorerTest('as of the day before an event the calendar has no figure of it (contract 9.8)', async () => {
  const { data } = await world.ask<{
    data: { event_name: string; event_timestamp: string; actual_value: number }[];
  }>(
    `/api/v2/economic_calendar/event_list?format=json&limit=1&impact=high&sort=desc&to_date=${new Date().toISOString()}`,
  );
  const { event_name, event_timestamp, actual_value } = data[0]!;
  const week = event_timestamp.slice(0, 10);
  const before = new Date(Date.parse(week) - 86_400_000).toISOString().slice(0, 10);
  const actual = async (hash: string): Promise<string | null> => {
    const page = await world.page(hash);
    const row = page.locator('.events tr', { hasText: event_name }).last();
    return row.locator('.number').first().textContent();
  };
  assert.equal(await actual(`#/calendar?week=${week}`), String(actual_value));
  assert.equal(await actual(`#/calendar?week=${week}&as_of=${before}`), '–');
});

explorerTest("a market's month has its holidays and early closes (spec 4.8)", async () => {
  const page = await world.page('#/holidays?month=2026-11');
  await page.waitForSelector('.month .closed >> text=Thanksgiving Day');
  assert.match((await page.textContent('.month .short'))!, /09:30–13:00 EST/);
  await page.selectOption('select', 'stock:JP');
  await page.waitForSelector('.month .closed >> text=23');
});

accessibleViews(
  { world, explorerTest },
  ['#/news', '#/calendar', '#/holidays', '#/stock/US:AAPL/options', '#/stock/US:AAPL/news'],
  'article, .notice, .events, .month, .chain',
);

explorerTest(
  'the documentation has bars first, asks for what is stored once it has a key, and writes the request as programs',
  async () => {
    const page = await world.newPage('docs/endpoints.html');
    assert.equal(await page.locator('.reference > h2').first().textContent(), 'bars');
    await page.fill('#key', world.key);
    await page.keyboard.press('Tab');
    const form = page.locator('#historicalBars');
    const [stored] = (
      await world.ask<{ data: { last_datetime: string }[] }>('/api/v2/stock/coverage?limit=1')
    ).data;
    await page.waitForFunction(
      (day) => document.querySelector<HTMLInputElement>('#historicalBars [name=to_date]')!.value === day,
      stored!.last_datetime.slice(0, 10),
    );
    assert.equal(await form.locator('[name=country_symbol]').inputValue(), 'US:AAPL');
    await form.locator('[name=is_eth]').selectOption('true');
    await form.locator('button', { hasText: 'Send' }).click();
    await form.locator('.status', { hasText: /^200 / }).waitFor();
    const program = (name: string) => form.locator(`.${name}`).textContent();
    assert.match(
      (await program('typescript'))!,
      /bourse\.bars\('stock', 'US:AAPL', '[^']+', \{ from: '[^']+', to: '[^']+', is_eth: true \}\)/,
    );
    assert.match(
      (await program('python'))!,
      /bourse\.bars\('US:AAPL', '[^']+', '[^']+', '[^']+', is_eth=True\)/,
    );
    assert.ok(!(await form.textContent())!.includes(world.key));
  },
);

explorerTest(
  'where a market closes by an auction, its bars are shaded as such with extended hours (contract 3.13)',
  async () => {
    const minutes = Array.from({ length: 96 }, (_, minute) => {
      const datetime = new Date(Date.parse('2025-03-03T15:00:00Z') + minute * 60_000).toISOString();
      return `stock,UK,CLOSE,1M,${datetime},10,10,10,10`;
    });
    await world.import('bars', 'csv', `${HEAD}\n${minutes.join('\n')}\n`);
    const page = await world.page('#/stock/UK:CLOSE/1M');
    await drawn(page);
    assert.match((await page.textContent('.legend .when'))!, /16:29 GMT/);
    await page.check('text=Extended hours');
    await page.locator('.legend .when', { hasText: '16:35 GMT' }).waitFor();
    await page.focus('.canvas');
    await page.keyboard.press('ArrowRight');
    await page.locator('.legend .why', { hasText: 'Closing auction' }).waitFor();
  },
);
