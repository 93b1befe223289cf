// Option chains of yfinance, option universes of LEAN and the calendar of Forex Factory, as they come
// (contract 11).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { rowsOf } from '../stores.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const values = (sql: string): unknown[][] => rowsOf(vendor.url, sql).map((row) => Object.values(row));
const quoted = 'bid ask last volume open_interest implied_volatility delta theta quote_datetime'.split(' ');
const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;

test('a chain of yfinance, with the index of a data frame: what was adjusted is marked, what is not its symbol refused (contract 8.5, 11)', async () => {
  const header =
    ',contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,change,percentChange,volume,openInterest,impliedVolatility,inTheMoney,contractSize,currency';
  const row = (at: number, symbol: string, strike: string, size = 'REGULAR'): string =>
    `${at},${symbol},2025-10-01 19:59:59+00:00,${strike},57.73,58.3,61.5,0.0,0.0,2.0,1,0.35,True,${size},USD`;
  const rows = [
    row(0, 'AAPL260116C00202500', '202.5'),
    row(1, 'SPXW260116P06000000', '6000.0'),
    row(2, 'AAPL1260116C00200000', '200.0'),
    row(3, 'AAPL260116C00205000', '200.0'),
    row(4, 'AAPL260116C00210000', '210.0', 'MINI'),
  ];
  const content = [header, ...rows, ''].join('\n');
  const report = await vendor.import('calls.csv', content, { dataset: 'option-contracts' });
  assert.deepEqual([report.preset?.name, report.rowsNew], ['yfinance-chain', 3]);
  assert.deepEqual(
    report.refused.map((one) => [one.row, one.column]),
    [
      [4, 'strike'],
      [5, 'contractSize'],
    ],
  );
  assert.deepEqual(
    values(
      'select symbol, underlying_name, strike_price, expiration_date, option_type, exercise_style from option_contracts order by symbol',
    ),
    [
      ['AAPL1260116C00200000', 'AAPL', 200, day('2026-01-16'), 'call', 'american'],
      ['AAPL260116C00202500', 'AAPL', 202.5, day('2026-01-16'), 'call', 'american'],
      ['SPXW260116P06000000', 'SPX', 6000, day('2026-01-16'), 'put', 'european'],
    ],
  );
  // 9.22: the quotes of the last file; it does not say when they were.
  assert.deepEqual(
    values(`select ${quoted.join()} from option_quotes where symbol = 'AAPL260116C00202500'`),
    [[58.3, 61.5, 57.73, 2, 1, 0.35, null, null, null]],
  );
});

test('a universe of LEAN: the folder names the underlying, whose prices are left out (contract 11)', async () => {
  const rows = [
    '#expiry,strike,right,open,high,low,close,volume,open_interest,implied_volatility,delta,gamma,vega,theta,rho',
    ',,,646.7500,646.9900,646.7500,649.56,370,,,,,,,',
    '20140606,492.5,C,152.7250,156.6250,150.5000,153.9000,0,,0,0,0,0,0,0',
    '20140621,490,P,0.0250,0.0250,0.0250,0.0250,0,,0.25,-0.5,0.02,0.1,-0.04,0.01',
    '20140621,490,X,0.0250,0.0250,0.0250,0.0250,0,,0,0,0,0,0,0',
    '',
  ];
  const flags = { dataset: 'option-contracts' };
  const report = await vendor.import('option/usa/universes/aapl/20140605.csv', rows.join('\n'), flags);
  assert.deepEqual(
    [report.preset?.name, report.rowsNew, report.findings],
    ['lean-universe', 2, { 'prices of the underlying, left out': 1 }],
  );
  assert.deepEqual(
    report.refused.map((one) => [one.row, one.column]),
    [[4, 'right']],
  );
  assert.deepEqual(
    values(
      'select symbol, underlying_name, strike_price, expiration_date, option_type from option_contracts order by symbol',
    ),
    [
      ['AAPL140606C00492500', 'AAPL', 492.5, day('2014-06-06'), 'call'],
      ['AAPL140621P00490000', 'AAPL', 490, day('2014-06-21'), 'put'],
    ],
  );
  const midnight = Date.parse('2014-06-06T00:00:00-04:00');
  assert.deepEqual(values(`select ${quoted.join()} from option_quotes where symbol like 'AAPL14%'`), [
    [null, null, null, 0, null, 0, 0, 0, midnight],
    [null, null, null, 0, null, 0.25, -0.5, -0.04, midnight],
  ]);
  assert.match(
    await vendor.refusal('futureoption/cme/universes/es/202003/20200102.csv', rows.join('\n'), flags),
    /recognized by its folder\. .*options on futures cannot be imported/,
  );
});

const stored = (): unknown[][] =>
  values(
    'select country_iso_code, event_code, event_timestamp, rank, forecast_value, previous_value, unit from economic_events order by event_code',
  );

test('the calendar of Forex Factory: currencies are countries, numbers have their units (contract 11)', async () => {
  const event = (title: string, more: object) => ({
    ...{ title, country: 'USD', date: '2025-04-10T08:30:00-04:00', impact: 'High' },
    ...{ forecast: '', previous: '', ...more },
  });
  const events = [
    event('Core CPI m/m', { forecast: '0.1%', previous: '-0.2%' }),
    event('Unemployment Claims', { impact: 'Low', forecast: '223K', previous: '219.3K' }),
    event('Bank Holiday', { country: 'NZD', impact: 'Holiday' }),
    event('Trade Balance', { country: 'AUD', impact: 'Tentative' }),
    event('10-y Bond Auction', { forecast: '', previous: '4.31|2.6' }),
    event('MPC Official Bank Rate Votes', { country: 'GBP', forecast: '0-2-7', previous: '0-1-8' }),
    event('Official Bank Rate', { country: 'CHF', forecast: '<0.50%', previous: '0.50%' }),
  ];
  const report = await vendor.import('week.json', JSON.stringify(events), { dataset: 'economic-events' });
  assert.deepEqual([report.preset?.name, report.rowsNew, report.refused], ['forex-factory', 7, []]);
  const odd = 'that is not a number, alone or with %, K, M, B or T, such as';
  assert.deepEqual(report.findings, {
    [`stored without forecast ${odd} "0-2-7"`]: 2,
    [`stored without previous ${odd} "4.31|2.6"`]: 2,
    'stored without impact that is not one of High, Medium, Low, Holiday, Non-Economic, such as "Tentative"': 1,
  });
  const ms = Date.parse('2025-04-10T12:30:00Z');
  assert.deepEqual(stored(), [
    ['US', '10_Y_BOND_AUCTION', ms, 0, null, null, null],
    ['NZ', 'BANK_HOLIDAY', ms, 3, null, null, null],
    ['US', 'CORE_CPI_M_M', ms, 0, 0.1, -0.2, '%'],
    ['UK', 'MPC_OFFICIAL_BANK_RATE_VOTES', ms, 0, null, null, null],
    ['CH', 'OFFICIAL_BANK_RATE', ms, 0, null, 0.5, '%'],
    ['AU', 'TRADE_BALANCE', ms, 3, null, null, null],
    ['US', 'UNEMPLOYMENT_CLAIMS', ms, 2, 223000, 219300, null],
  ]);
});

test('its CSV has no offsets: the zone is asked for (contract 11)', async () => {
  const content = [
    'Title,Country,Date,Time,Impact,Forecast,Previous,URL',
    'CPI m/m,USD,04-10-2025,12:30pm,High,0.1%,0.2%,https://www.forexfactory.com/calendar/1',
    '',
  ].join('\n');
  const flags = { dataset: 'economic-events' };
  const { refused } = await vendor.import('week.csv', content, flags);
  assert.match(refused[0]!.reason, /for local times give --zone/);
  await vendor.import('week.csv', content, { ...flags, zone: 'UTC' });
  assert.equal(stored()[0]?.[2], Date.parse('2025-04-10T12:30:00Z'));
});
