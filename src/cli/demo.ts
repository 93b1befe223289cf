// `bourse demo`
import { renameSync, rmSync } from 'node:fs';
import { Command } from 'commander';
import { DAY_MS, formatDay } from '../base/instant.ts';
import { replaceKey } from '../keys/keys.ts';
import { openControl, openStore, resolveStore } from '../store/engines.ts';
import { StoreUnusable } from '../store/store.ts';
import { readSettings, type SettingFlags, type Settings } from './config.ts';
import { isCurrent, writeDemo } from './demo-data.ts';
import { settingOption } from './options.ts';
import { startService, untilStopped, warnOfExposure } from './serving.ts';

const DEMO_FILE = 'data/demo.db';
const DEMO_KEY = 'demo';

async function holdsDemo(today: number): Promise<boolean> {
  try {
    const store = await openStore(`sqlite:${DEMO_FILE}`, 'read');
    try {
      return await isCurrent(store, today);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreUnusable) return false;
    throw error;
  }
}

/** Makes the demo's store beside its place and moves it there, so that a server on the old one is not disturbed. */
async function makeDemo(today: number): Promise<void> {
  const fresh = `${DEMO_FILE}.new`;
  for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true });
  const store = await openStore(`sqlite:${fresh}`, 'write');
  try {
    await writeDemo(store, today, Date.now());
  } finally {
    await store.close();
  }
  for (const suffix of ['-wal', '-shm']) rmSync(DEMO_FILE + suffix, { force: true });
  renameSync(fresh, DEMO_FILE);
}

/** Requests to try: each answers 200. */
function sampleRequests(base: string, key: string, today: number): [what: string, url: string][] {
  const from = formatDay(today - 30);
  const to = formatDay(today - 1);
  const year = to.slice(0, 4);
  const call = (rest: string, query = ''): string => `${base}/api/v2/${rest}?secret_key=${key}${query}`;
  return [
    ['the newest minutes of a stock', call('stock/bars/US:AAPL/1M/latest', '&limit=5')],
    ['its days of the last month', call(`stock/bars/US:AAPL/DAY/from/${from}/to/${to}`)],
    [
      'hours with pre- and post-market, as CSV',
      call(`stock/bars/US:SPY/60M/from/${from}/to/${to}`, '&is_eth=true&format=csv'),
    ],
    [
      'any interval: 45 minutes, newest first',
      call(`stock/bars/US:MSFT/45M/from/${from}/to/${to}`, '&sort=desc&limit=10'),
    ],
    ['a cryptocurrency, weeks', call('crypto/bars/GLOBAL:BTCUSD/WEEK/latest', '&limit=10')],
    [
      'a currency pair, with the session each bar belongs to',
      call('forex/bars/GLOBAL:EURUSD/240M/latest', '&limit=10&session_date=true'),
    ],
    [
      'dividends and splits of a stock, with their factors',
      call('stock/stock_corporate_action/list/US:AAPL', `&from_date=${formatDay(today - 1000)}`),
    ],
    ['the newest news of a market', call('news/latest', '&full_symbol=stock:US:*&limit=5&sort=desc')],
    [
      'news of one instrument in the last month',
      call('news/list', `&full_symbol=crypto:GLOBAL:BTCUSD&from_date=${from}&to_date=${to}`),
    ],
    [
      'closed and shortened days of the US stock market, this year',
      call('holiday/list', `&full_symbol=stock:US:*&from_date=${year}-01-01&to_date=${year}-12-31`),
    ],
    [
      'calls on a stock that are in the money by its newest price, the next expiration first',
      call('option/search/stock/US:AAPL/call/moneyness/in_the_money', '&limit=5'),
    ],
    [
      'puts on a fund below 550, the highest strike first',
      call(
        'option/search/stock/US:SPY/put/moneyness/out_of_the_money',
        '&ref_asset_price=550&sort_by=strike_price%20desc,expiration_date&limit=5',
      ),
    ],
    ['when its options expire', call('option/expiration_date_list/stock/US:SPY')],
    ['what holiday codes mean', call('holiday/holiday_codes/US')],
    ['what is known of an instrument', call('stock/reference/US:AAPL')],
    ['instruments by symbol or name', call('stock/reference/search', '&query=micro')],
    [
      'economic events of the United States, the weighty ones of the last month',
      call(
        'economic_calendar/event_list',
        `&country_iso_code=US&impact=high&from_date=${from}&to_date=${to}&format=json`,
      ),
    ],
    [
      'the newest inflation figure',
      call('economic_calendar/event', '&event_code=INFLATION_RATE_HEADLINE_YOY'),
    ],
    ['what comes next', call('economic_calendar/latest_event_list', '&date_type=upcoming&format=json')],
    ['what economic event codes mean', call('economic_calendar/event_codes/US')],
  ];
}

function introduce(base: string, key: string, today: number): string {
  const requests = sampleRequests(base, key, today).map(([what, url]) => `  ${what}\n    ${url}\n`);
  return `Bourse serves a demo on ${base}
Its prices, dividends and news are synthetic, two years up to ${formatDay(today - 1)}: AAPL, MSFT, SPY, BTCUSD, EURUSD.
Your key is ${key}

Try (paste into a browser, or after: curl -s):
${requests.join('')}
Your own data: bourse import --help. To stop: Ctrl-C.
`;
}

async function demoSettings(flags: SettingFlags): Promise<Settings> {
  const settings = readSettings(flags);
  return { ...settings, store: resolveStore(`sqlite:${DEMO_FILE}`) };
}

export function demoCommand(): Command {
  return new Command('demo')
    .addOption(settingOption('host'))
    .addOption(settingOption('port'))
    .addOption(settingOption('logLevel'))
    .addHelpText('before', 'Examples:\n  bourse demo\n  bourse demo --port 9000\n')
    .action(async (flags: SettingFlags) => {
      const settings = await demoSettings(flags);
      const today = Math.floor(Date.now() / DAY_MS);
      if (!(await holdsDemo(today))) {
        process.stderr.write('making the demo store, a few seconds\n');
        await makeDemo(today);
      }
      await warnOfExposure(settings);
      const service = await startService(settings);
      // Only now: a demo that cannot start must not end the key of one that runs.
      const control = await openControl(settings.store, 'write');
      const { secret } = await replaceKey(control, DEMO_KEY, Date.now());
      await control.close();
      process.stdout.write(introduce(service.url, secret, today));
      await untilStopped(service);
    });
}
