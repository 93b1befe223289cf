// Option chains of yfinance, option universes of LEAN and the calendar of Forex Factory, as they come (contract 11).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { rowsOf } from '../stores.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const values = (sql: string): unknown[][] => rowsOf(vendor.url, sql).map((row) => Object.values(row));
const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;

test('a chain of yfinance, with the index of a data frame: what was adjusted, or is not its symbol, is refused (contract 11)', async () => {
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
  assert.deepEqual([report.preset?.name, report.rowsNew], ['yfinance-chain', 2]);
  assert.deepEqual(
    report.refused.map((one) => [one.row, one.column]),
    [
      [3, 'contractSymbol'],
      [4, 'strike'],
      [5, 'contractSize'],
    ],
  );
  assert.deepEqual(
    values(
      'select symbol, underlying_name, strike_price, expiration_date, option_type, exercise_style from option_contracts order by symbol',
    ),
    [
      ['AAPL260116C00202500', 'AAPL', 202.5, day('2026-01-16'), 'call', 'american'],
      ['SPXW260116P06000000', 'SPX', 6000, day('2026-01-16'), 'put', 'european'],
    ],
  );
});

test('a universe of LEAN: the folder names the underlying, whose prices are left out (contract 11)', async () => {
  const rows = [
    '#expiry,strike,right,open,high,low,close,volume,open_interest,implied_volatility,delta,gamma,vega,theta,rho',
    ',,,646.7500,646.9900,646.7500,649.56,370,,,,,,,',
    '20140606,492.5,C,152.7250,156.6250,150.5000,153.9000,0,,0,0,0,0,0,0',
    '20140621,490,P,0.0250,0.0250,0.0250,0.0250,0,,0,0,0,0,0,0',
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
    event('10-y Bond Auction', { previous: '4.31|2.6' }),
  ];
  const report = await vendor.import('week.json', JSON.stringify(events), { dataset: 'economic-events' });
  assert.deepEqual([report.preset?.name, report.rowsNew], ['forex-factory', 3]);
  assert.deepEqual(
    report.refused.map((one) => [one.row, one.column, one.value]),
    [[4, 'previous', '4.31|2.6']],
  );
  const ms = Date.parse('2025-04-10T12:30:00Z');
  assert.deepEqual(stored(), [
    ['NZ', 'BANK_HOLIDAY', ms, 3, null, null, null],
    ['US', 'CORE_CPI_M_M', ms, 0, 0.1, -0.2, '%'],
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
