// Lists as vendors write them - dividends, splits, tickers, calendars, option contracts - and what is stored
// of them, by hand (contract 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { rowsOf } from '../stores.ts';
import { Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

const rows = (sql: string): unknown[][] => rowsOf(vendor.url, sql).map((row) => Object.values(row));
const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;
const json = (value: unknown): string => JSON.stringify(value);
const us = { dataset: 'corporate-actions', fields: { country_iso_code: 'US', symbol: 'A' } };
const actions =
  'select symbol, action_type, ex_date, cash_amount, split_from, split_to from corporate_actions order by ex_date, action_type';

test('actions of yfinance: a day with a dividend and a split is two, and both are adjusted for later splits', async () => {
  const content = [
    'Date,Dividends,Dividends FX,Stock Splits,Capital Gains',
    '2012-08-13 00:00:00-04:00,0.5,USD,2.0,0.0',
    '2025-03-14 00:00:00-04:00,0.51,USD,0.0,0.0',
    '2025-06-13 00:00:00-04:00,0.0,,0.0,1.25',
    '2025-06-16 00:00:00-04:00,0.0,,0.05,0.0',
    '',
  ].join('\n');
  const report = await vendor.import('a.csv', content, us);
  assert.deepEqual([report.preset?.name, report.preset?.says.prices], ['yfinance-actions', 'split']);
  assert.deepEqual(report.findings['capital gains of a fund, left out'], 1);
  assert.deepEqual(rows(actions), [
    ['A', 'dividend', day('2012-08-13'), 0.5, null, null],
    ['A', 'split', day('2012-08-13'), null, 1, 2],
    ['A', 'dividend', day('2025-03-14'), 0.51, null, null],
    ['A', 'split', day('2025-06-16'), null, 20, 1],
  ]);
  const alone = await vendor.import('KO.csv', 'Date,Stock Splits\n2012-08-13 00:00:00-04:00,2.0\n', {
    dataset: 'corporate-actions',
    fields: { country_iso_code: 'US' },
  });
  assert.deepEqual([alone.preset?.name, alone.rowsNew], ['yfinance-actions', 1]);
});

test('days of a history of yfinance have its dividends and splits, weeks do not say when', async () => {
  const history = (...dates: readonly string[]): string =>
    ['Date,Open,High,Low,Close,Volume,Dividends,Stock Splits']
      .concat(
        dates.map((date) => `${date} 00:00:00-04:00,120,123,117,121.7,314162700,0.01,10.0`),
        '',
      )
      .join('\n');
  const { rowsNew } = await vendor.import('a.csv', history('2024-06-10', '2024-06-11'), us);
  assert.equal(rowsNew, 4);
  assert.deepEqual(rows(actions).slice(0, 2), [
    ['A', 'dividend', day('2024-06-10'), 0.01, null, null],
    ['A', 'split', day('2024-06-10'), null, 1, 10],
  ]);
  const weeks = history('2024-06-03', '2024-06-10', '2024-06-17');
  assert.match(await vendor.refusal('a.csv', weeks, us), /required columns missing: action_type/);
});

test('dividends of Massive in both forms: special ones are known, and refused rows are read again', async () => {
  const of = (more: object) => ({
    ...{ cash_amount: 0.25, currency: 'USD', ex_dividend_date: '2024-11-08', ticker: 'A' },
    ...more,
  });
  const kinds = 'select action_type, ex_date, cash_amount from corporate_actions order by ex_date';
  const dataset = { dataset: 'corporate-actions' };
  const expected = [
    ['dividend', day('2024-11-08'), 0.25],
    ['special_dividend', day('2024-12-02'), 3],
  ];
  for (const [key, usual, special] of [
    ['dividend_type', 'CD', 'SC'],
    ['distribution_type', 'recurring', 'special'],
  ] as const) {
    const results = [
      of({ [key]: usual }),
      of({ [key]: special, cash_amount: 3, ex_dividend_date: '2024-12-02' }),
    ];
    const report = await vendor.import('d.json', json({ results, status: 'OK' }), dataset);
    assert.deepEqual([report.preset?.name, report.rowsRefused], ['massive-dividends', 0]);
    assert.deepEqual(rows(kinds), expected);
  }
  const mended = [
    'results[].ticker,results[].dividend_type,results[].ex_dividend_date,results[].cash_amount,results[].currency,rejected_row,rejected_column,rejected_reason',
    'A,SC,2024-12-02,3,USD,1,x,y',
    '',
  ].join('\n');
  const again = await vendor.import('d.rejected.csv', mended, dataset);
  assert.deepEqual([again.preset?.name, again.rowsNew], ['massive-dividends', 1]);
  assert.deepEqual(rows(kinds), expected.slice(1));
});

test('tickers of Massive and the changes of one', async () => {
  const ticker = (more: object) => ({
    ...{ ticker: 'A', name: 'Agilent', market: 'stocks', locale: 'us', primary_exchange: 'XNYS' },
    ...{ active: true, ...more },
  });
  const results = [
    ticker({}),
    ticker({
      ticker: 'X:BTCUSD',
      name: 'Bitcoin',
      market: 'crypto',
      locale: 'global',
      primary_exchange: null,
    }),
    ticker({ ticker: 'I:SPX', name: 'S&P 500', market: 'indices', primary_exchange: null }),
    ticker({ ticker: 'OLD', name: 'Old', active: false }),
  ];
  const dataset = { dataset: 'instruments' };
  const report = await vendor.import('t.json', json({ results, status: 'OK', count: 4 }), dataset);
  assert.deepEqual([report.preset?.name, report.rowsNew], ['massive-tickers', 4]);
  assert.deepEqual(
    rows('select asset_schema, country_iso_code, symbol, exchange, status from instruments order by symbol'),
    [
      ['stock', 'US', 'A', 'XNYS', 'active'],
      ['crypto', 'GLOBAL', 'BTCUSD', null, 'active'],
      ['stock', 'US', 'OLD', 'XNYS', 'inactive'],
      ['stock', 'US', 'SPX', null, 'active'],
    ],
  );
  const changed = (ticker: string, date: string) => ({
    ...{ ticker_change: { ticker }, type: 'ticker_change', date },
  });
  const answer = (name: string, ...events: object[]): string =>
    json({ results: { name, events }, status: 'OK' });
  const both = [
    answer('Meta', changed('META', '2022-06-09'), changed('FB', '2012-05-18')),
    answer('Alone', changed('ALON', '2020-01-02')),
  ].join('\n');
  const events = await vendor.import('e.json', both, dataset);
  assert.deepEqual([events.preset?.name, events.rowsNew, events.rowsRefused], ['massive-events', 2, 0]);
  assert.deepEqual(
    rows('select symbol, name, former_symbols from instruments order by symbol').map(
      ([symbol, name, former]) => [symbol, name, former === null ? null : JSON.parse(former as string)],
    ),
    [
      ['ALON', 'Alone', null],
      ['META', 'Meta', [{ symbol: 'FB', from_day: day('2012-05-18'), to_day: day('2022-06-08') }]],
    ],
  );
});

test('holidays of Massive: a day of both exchanges is one, with its hours where it is short', async () => {
  const holiday = (exchange: string, name: string, date: string, more: object = {}) => ({
    ...{ exchange, name, date, status: 'closed', ...more },
  });
  const short = {
    ...{ status: 'early-close', open: '2026-11-27T14:30:00.000Z', close: '2026-11-27T18:00:00.000Z' },
  };
  const list = [
    ...['NYSE', 'NASDAQ', 'OTC'].map((one) => holiday(one, "Washington's Birthday", '2026-02-16')),
    ...['NYSE', 'NASDAQ'].map((one) => holiday(one, 'Thanksgiving', '2026-11-27', short)),
  ];
  const report = await vendor.import('u.json', json(list), { dataset: 'holidays' });
  assert.deepEqual([report.preset?.name, report.rowsNew], ['massive-holidays', 2]);
  assert.deepEqual(
    rows(
      'select asset_name, symbol, holiday_code, calendar_date, session_template, close_timestamp from holidays order by calendar_date',
    ),
    [
      ['stock', '*', 'HOLIDAY_WASHINGTONS_BIRTHDAY', day('2026-02-16'), 'CLOSED', null],
      ['stock', '*', 'HOLIDAY_THANKSGIVING', day('2026-11-27'), 'EARLY_CLOSE', Date.parse(short.close)],
    ],
  );
});

test('chains of Massive and quotes of Cboe make their contracts and quotes', async () => {
  const quotesOf =
    'select symbol, bid, ask, last, volume, open_interest, implied_volatility, delta, vega, quote_datetime from option_quotes order by symbol';
  const contracts =
    'select symbol, underlying_name, option_type, strike_price, expiration_date from option_contracts order by symbol';
  const details = {
    ...{ contract_type: 'put', exercise_style: 'european', expiration_date: '2026-01-16' },
    ...{ shares_per_contract: 100, strike_price: 6000.5, ticker: 'O:SPXW260116P06000500' },
  };
  const greeks = { delta: -0.42, gamma: 0.001, theta: -1.5, vega: 7.25 };
  const last_quote = { ask: 121.7, bid: 120.6, last_updated: 1_767_390_300_123_000_000 };
  const traded = { last_quote, last_trade: { price: 121 }, day: { volume: 12, last_updated: 1 } };
  const held = { open_interest: 1543, implied_volatility: 0.177, greeks };
  const results = [{ details, ...traded, ...held, underlying_asset: { ticker: 'I:SPX' } }];
  const dataset = { dataset: 'option-contracts' };
  const chain = await vendor.import('c.json', json({ results, status: 'OK' }), dataset);
  assert.deepEqual([chain.preset?.name, chain.rowsNew], ['massive-chain', 1]);
  assert.deepEqual(rows(contracts), [['SPXW260116P06000500', 'SPX', 'put', 6000.5, day('2026-01-16')]]);
  const moment = Date.parse('2026-01-02T21:45:00.123Z');
  assert.deepEqual(rows(quotesOf), [
    ['SPXW260116P06000500', 120.6, 121.7, 121, 12, 1543, 0.177, -0.42, 7.25, moment],
  ]);
  const quotes = [
    'underlying_symbol,quote_date,root,expiration,strike,option_type,open,close,trade_volume,bid_eod,ask_eod,open_interest',
    '^SPX,2024-01-03,SPXW,2024-01-19,4700.000,C,30.1,31.7,1250,31.4,31.8,8133',
    'BRK.B,2024-01-03,BRKB,2024-01-19,362.500,P,0,0.0000,0,3.14,3.18,5',
    '',
  ].join('\n');
  const cboe = await vendor.import('q.csv', quotes, dataset);
  assert.deepEqual([cboe.preset?.name, cboe.rowsNew], ['cboe', 2]);
  assert.deepEqual(rows(contracts), [
    ['BRKB240119P00362500', 'BRK.B', 'put', 362.5, day('2024-01-19')],
    ['SPXW240119C04700000', 'SPX', 'call', 4700, day('2024-01-19')],
  ]);
  const end = Date.parse('2024-01-04T00:00:00-05:00');
  assert.deepEqual(rows(quotesOf), [
    ['BRKB240119P00362500', 3.14, 3.18, null, 0, 5, null, null, null, end],
    ['SPXW240119C04700000', 31.4, 31.8, 31.7, 1250, 8133, null, null, null, end],
  ]);
});

test('dividends and splits of EODHD and Financial Modeling Prep: amounts as they were paid', async () => {
  const dividend = { date: '2012-08-09', value: 0.1, unadjustedValue: 2.8, currency: 'USD' };
  const dates = { declarationDate: '2012-07-24', recordDate: null, paymentDate: '2012-08-16' };
  const dataset = { dataset: 'corporate-actions' };
  const dividends = await vendor.import('AAPL.US.json', json([{ ...dividend, ...dates }]), dataset);
  assert.deepEqual([dividends.preset?.name, dividends.rowsNew], ['eodhd-dividends', 1]);
  assert.deepEqual(rows(actions), [['AAPL', 'dividend', day('2012-08-09'), 2.8, null, null]]);
  const splits = [
    { date: '2014-06-09', split: '7.000000/1.000000' },
    { date: '2022-01-03', split: '1.000000/20.000000' },
  ];
  const report = await vendor.import('s.json', json(splits), us);
  assert.deepEqual([report.preset?.name, report.rowsNew], ['eodhd-splits', 2]);
  assert.deepEqual(rows(actions), [
    ['A', 'split', day('2014-06-09'), null, 1, 7],
    ['A', 'split', day('2022-01-03'), null, 20, 1],
  ]);
  const paid = { date: '2025-02-10', adjDividend: 0.1, dividend: 0.4, paymentDate: '2025-02-13' };
  const fmp = [
    { symbol: 'A', ...paid },
    { symbol: 'B.DE', ...paid },
  ];
  const refused = await vendor.import('f.json', json(fmp), dataset);
  assert.deepEqual([refused.preset?.name, refused.rowsNew], ['fmp-dividends', 1]);
  assert.deepEqual(
    refused.refused.map(({ row, column }) => [row, column]),
    [[2, 'symbol']],
  );
  assert.deepEqual(rows(actions), [['A', 'dividend', day('2025-02-10'), 0.4, null, null]]);
});

test('calendars of Trading Economics and EODHD: values with their units, and the clock', async () => {
  const event = (Country: string, Event: string, Actual: string, Previous: string, Importance: number) => ({
    ...{ CalendarId: '1', Date: '2016-12-02T13:30:00', Country, Category: 'X', Event, Reference: 'Nov' },
    ...{ Actual, Previous, Forecast: '', Importance },
  });
  const list = [
    event('United States', 'Non Farm Payrolls', '178K', '142K', 3),
    event('Euro Area', 'Balance of Trade', '€-3.25B', '€1,200M', 2),
    event('United Kingdom', 'Inflation Rate YoY', '-0.1%', '0.2%', 1),
    event('Japan', 'Vote', '0-2-7', '', 1),
    event('Atlantis', 'Tide', '1', '', 1),
  ];
  const dataset = { dataset: 'economic-events' };
  const stored =
    'select country_iso_code, event_code, event_timestamp, rank, period, actual_value, previous_value, unit from economic_events order by country_iso_code';
  const report = await vendor.import('c.json', json(list), dataset);
  assert.deepEqual([report.preset?.name, report.rowsNew], ['trading-economics', 4]);
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [[5, 'Country']],
  );
  const at = Date.parse('2016-12-02T13:30:00Z');
  assert.deepEqual(rows(stored), [
    ['EU', 'BALANCE_OF_TRADE', at, 1, 'Nov', -3.25e9, 1.2e9, null],
    ['JP', 'VOTE', at, 2, 'Nov', null, null, null],
    ['UK', 'INFLATION_RATE_YOY', at, 2, 'Nov', -0.1, 0.2, '%'],
    ['US', 'NON_FARM_PAYROLLS', at, 0, 'Nov', 178000, 142000, null],
  ]);
  const eodhd = [
    {
      ...{ type: 'CPI', comparison: 'yoy', period: 'May', country: 'GB', date: '2025-06-12 12:30:00' },
      ...{ actual: 3.2, previous: 3.4, estimate: null, change: -0.2, change_percentage: -5.88 },
    },
  ];
  const unclear = await vendor.import('e.json', json(eodhd), dataset);
  assert.match(unclear.refused[0]!.reason, /for local times give --zone/);
  await vendor.import('e.json', json(eodhd), { ...dataset, zone: 'UTC' });
  assert.deepEqual(rows(stored), [
    ['UK', 'CPI_YOY', Date.parse('2025-06-12T12:30:00Z'), 3, 'May', 3.2, 3.4, null],
  ]);
});

test('calendars of splits of EODHD and FMP: new shares for old ones, those of other markets are refused', async () => {
  const split = (code: string, old_shares: number, new_shares: number) => ({
    ...{ code, split_date: '2018-12-03', optionable: 'N', old_shares, new_shares },
  });
  const answer = {
    ...{
      type: 'Splits',
      description: 'Historical and upcoming splits',
      from: '2018-12-02',
      to: '2018-12-06',
    },
    splits: [split('BRK-B.US', 3, 1), split('A.US', 1000, 1032), split('SDV.AU', 10, 1)],
  };
  const dataset = { dataset: 'corporate-actions' };
  const report = await vendor.import('calendar.json', json(answer), dataset);
  assert.deepEqual([report.preset?.name, report.rowsNew], ['eodhd-calendar', 2]);
  assert.deepEqual(
    report.refused.map(({ row, column, value }) => [row, column, value]),
    [[3, 'splits[].code', 'SDV.AU']],
  );
  const stored = 'select symbol, split_from, split_to from corporate_actions order by symbol';
  // Stored as 250 old shares for 258 new ones or as the file has it: the ratio is what counts.
  assert.deepEqual(
    rows(stored).map(([symbol, from, to]) => [symbol, Number(to) / Number(from)]),
    [
      ['A', 1.032],
      ['BRK-B', 1 / 3],
    ],
  );
  const fmp = [
    { symbol: 'A', date: '2020-08-31', numerator: 4, denominator: 1, splitType: 'stock-split' },
    { symbol: 'A', date: '2022-01-03', numerator: 1, denominator: 20, splitType: 'stock-split' },
    { symbol: 'IPCALAB.BO', date: '2021-01-10', numerator: 2, denominator: 1, splitType: 'stock-split' },
  ];
  const splits = await vendor.import('f.json', json(fmp), dataset);
  assert.deepEqual([splits.preset?.name, splits.rowsNew], ['fmp-splits', 2]);
  assert.deepEqual(
    splits.refused.map(({ row, column }) => [row, column]),
    [[3, 'symbol']],
  );
  assert.deepEqual(rows(actions), [
    ['A', 'split', day('2020-08-31'), null, 1, 4],
    ['A', 'split', day('2022-01-03'), null, 20, 1],
  ]);
});

test('the economic calendar of FMP asks for its clock; observations of FRED have their name in that of the file', async () => {
  const event = {
    ...{ date: '2024-03-01 03:35:00', country: 'JP', event: '3-Month Bill Auction', currency: 'JPY' },
    ...{
      previous: -0.112,
      estimate: null,
      actual: -0.096,
      change: 0.016,
      impact: 'Low',
      changePercentage: 14.286,
    },
  };
  const dataset = { dataset: 'economic-events' };
  const unclear = await vendor.import('e.json', json([event]), dataset);
  assert.match(unclear.refused[0]!.reason, /for local times give --zone/);
  const content = json([event, { ...event, event: 'Tide', impact: 'None' }]);
  const report = await vendor.import('e.json', content, { ...dataset, zone: 'UTC' });
  assert.deepEqual([report.preset?.name, report.rowsNew, report.rowsRefused], ['fmp-events', 2, 0]);
  const stored =
    'select country_iso_code, event_code, event_timestamp, rank, actual_value, previous_value, forecast_value from economic_events order by event_code';
  const at = Date.parse('2024-03-01T03:35:00Z');
  assert.deepEqual(rows(stored), [
    ['JP', '3_MONTH_BILL_AUCTION', at, 2, -0.096, -0.112, null],
    ['JP', 'TIDE', at, 3, -0.096, -0.112, null],
  ]);
  const dates = { realtime_start: '2013-08-14', realtime_end: '2013-08-14' };
  const fred = {
    ...dates,
    ...{
      observation_start: '1776-07-04',
      observation_end: '9999-12-31',
      units: 'lin',
      output_type: 1,
      file_type: 'json',
    },
    ...{ order_by: 'observation_date', sort_order: 'asc', count: 2, offset: 0, limit: 100000 },
    observations: [
      { ...dates, date: '1929-01-01', value: '1065.9' },
      { ...dates, date: '1930-01-01', value: '.' },
    ],
  };
  const us = { ...dataset, fields: { country_iso_code: 'US' } };
  const series = await vendor.import('GNPCA.json', json(fred), us);
  assert.deepEqual([series.preset?.name, series.rowsNew, series.rowsRefused], ['fred', 2, 0]);
  assert.deepEqual(
    rows('select event_code, event_timestamp, actual_value from economic_events order by event_timestamp'),
    [
      ['GNPCA', Date.parse('1929-01-01T00:00:00Z'), 1065.9],
      ['GNPCA', Date.parse('1930-01-01T00:00:00Z'), null],
    ],
  );
  assert.match(await vendor.refusal('observations.json', json(fred), us), /event_code.*name the file by it/s);
});

test('option prices of OptionMetrics: strikes in thousandths, quotes of the end of the day, -99.99 is missing', async () => {
  const columns =
    'secid,date,symbol,exdate,cp_flag,strike_price,best_bid,best_offer,volume,open_interest,impl_volatility,delta,gamma,vega,theta';
  const lines = [
    '108105,20240103,SPXW 240119C4700000,20240119,C,4700000,31.4,31.8,1250,8133,0.1132,0.4871,0.0032,391.2,-512.4',
    '101594,2024-07-03,AAPL1 240719P187500,2024-07-19,P,187500,0,0.05,0,3,-99.99,-99.99,-99.99,-99.99,-99.99',
    '101594,20090103,AAQ AJ,20090117,P,187500,0,0.05,0,3,0.1,0.1,0.1,0.1,0.1',
  ];
  const content = [columns, ...lines, ''].join('\n');
  const report = await vendor.import('opprcd.csv', content, { dataset: 'option-contracts' });
  assert.deepEqual([report.preset?.name, report.rowsNew], ['optionmetrics', 2]);
  assert.deepEqual(
    report.refused.map(({ row, column }) => [row, column]),
    [[3, 'symbol']],
  );
  assert.deepEqual(
    rows('select symbol, underlying_name, strike_price, option_type from option_contracts order by symbol'),
    [
      ['AAPL1240719P00187500', 'AAPL', 187.5, 'put'],
      ['SPXW240119C04700000', 'SPX', 4700, 'call'],
    ],
  );
  // New York's midnight: five hours behind UTC in winter, four in summer.
  assert.deepEqual(
    rows(
      'select symbol, bid, ask, volume, open_interest, implied_volatility, delta, theta, vega, quote_datetime from option_quotes order by symbol',
    ),
    [
      ['AAPL1240719P00187500', 0, 0.05, 0, 3, null, null, null, null, Date.parse('2024-07-04T04:00:00Z')],
      [
        'SPXW240119C04700000',
        31.4,
        31.8,
        1250,
        8133,
        0.1132,
        0.4871,
        -512.4,
        391.2,
        Date.parse('2024-01-04T05:00:00Z'),
      ],
    ],
  );
  const named = [`${columns},ticker,exercise_style`, `${lines[0]},^X,E`, `${lines[0]},SPX,E`, ''];
  const ticker = await vendor.import('t.csv', [named[0], named[2], ''].join('\n'), {
    dataset: 'option-contracts',
  });
  assert.deepEqual([ticker.rowsNew, ticker.rowsRefused], [1, 0]);
});

test('snapshots of options of Massive: the ticker is beside the details', async () => {
  const answer = {
    status: 'OK',
    results: [
      {
        details: {
          ...{ contract_type: 'call', exercise_style: 'american', expiration_date: '2022-10-14' },
          ...{ shares_per_contract: 100, strike_price: 5, underlying_ticker: 'NCLH' },
        },
        greeks: { delta: 0.55, gamma: 0.007, theta: -0.018, vega: 0.72 },
        last_quote: { ask: 21.25, bid: 20.9, last_updated: 1636573458756383500n },
        ...{ implied_volatility: 0.3, last_trade: { price: 0.05 }, open_interest: 8921 },
        ...{ session: { close: 6.65, volume: 67 }, ticker: 'O:NCLH221014C00005000', type: 'options' },
        underlying_asset: { ticker: 'NCLH', price: 147.951 },
      },
    ],
  };
  const content = JSON.stringify(answer, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  const report = await vendor.import('snapshot.json', content, { dataset: 'option-contracts' });
  assert.deepEqual([report.preset?.name, report.rowsNew, report.rowsRefused], ['massive-chain', 1, 0]);
  assert.deepEqual(
    rows('select symbol, bid, ask, last, volume, open_interest, delta, quote_datetime from option_quotes'),
    [['NCLH221014C00005000', 20.9, 21.25, 0.05, 67, 8921, 0.55, 1636573458756]],
  );
});

test('a chain of Cboe: a call and a put at each strike, and the moment above (contract 8.5, 9.22, 11)', async () => {
  const side = 'Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest';
  const row = (expiration: string, call: string, strike: string, put: string): string =>
    [
      `${expiration},${call},10.5,-0.2,10.4,10.7,12,0.1432,0.5121,0.0011,340`,
      `${strike},${put},0,0,9.8,9.9,0,0,-0.4879,0.0011,7`,
    ].join();
  const fileOf = (moment: string, isOld = false): string =>
    [
      ...(isOld ? [] : ['']),
      'PX HOUR INC,Last: 6279.35,Change: 51.93',
      `"Date: ${moment}",Bid: 6277.1,Ask: 6281.2,Size: 1*1,Volume: 0`,
      `Expiration Date,Calls,${side},Strike,Puts,${side}`,
      row('Fri Nov 20 2026', 'SPXW261120C06300000', '6300.00', 'SPXW261120P06300000'),
      row('Fri Nov 20 2026', 'PXHR1261120C00047500', '47.50', 'PXHR261120P00047000'),
      row('Thu Nov 19 2026', 'PXHR261119C00048000', '48.00', 'PXHR261120P00048000'),
      '',
    ].join('\r\n');
  const contracts = (): unknown[][] =>
    rowsOf(
      vendor.url,
      `select c.symbol, underlying_name, strike_price, expiration_date, option_type, last, bid, ask, volume,
        open_interest, implied_volatility, delta, gamma, quote_datetime
        from option_contracts c join option_quotes q on q.symbol = c.symbol order by c.symbol`,
    ).map((one) => Object.values(one));
  const day = Date.parse('2026-11-20T00:00:00Z') / 86_400_000;
  // The hour from 1:00 comes twice on that day: New York is four hours behind UTC in the first, then five.
  for (const [moment, at] of [
    ['November 1, 2026 at 1:30 AM EDT', '2026-11-01T05:30:00Z'],
    ['November 1, 2026 at 1:30 AM EST', '2026-11-01T06:30:00Z'],
    ['July 4, 2026 at 12:23 AM EDT', '2026-07-04T04:23:00Z'],
    ['July 4, 2026 at 12:23\u202fPM EDT', '2026-07-04T16:23:00Z'],
  ] as const) {
    const content = fileOf(moment, moment.startsWith('July'));
    const report = await vendor.import('quotedata.csv', content, { dataset: 'option-contracts' });
    assert.deepEqual([report.preset?.name, report.rowsRead, report.rowsNew], ['cboe-chain', 6, 4]);
    const ms = Date.parse(at);
    const call = [10.5, 10.4, 10.7, 12, 340, 0.1432, 0.5121, 0.0011, ms];
    assert.deepEqual(contracts(), [
      ['PXHR1261120C00047500', 'PXHR', 47.5, day, 'call', ...call],
      ['PXHR261119C00048000', 'PXHR', 48, day - 1, 'call', ...call],
      ['SPXW261120C06300000', 'SPX', 6300, day, 'call', ...call],
      // A last price of 0 is no trade.
      ['SPXW261120P06300000', 'SPX', 6300, day, 'put', null, 9.8, 9.9, 0, 7, 0, -0.4879, 0.0011, ms],
    ]);
    assert.deepEqual(
      report.refused.map((one) => [one.row, one.column]),
      [
        [2, 'strike'],
        [3, 'Expiration Date'],
      ],
    );
    // The refused rows are one contract each, with the moment of their quotes.
    const mended = readFileSync(report.rejectedFile!, 'utf8')
      .replace(',47.50,', ',47.00,')
      .replace('Thu Nov 19', 'Fri Nov 20');
    const again = await vendor.import('mended.csv', mended, { dataset: 'option-contracts' }, false);
    assert.deepEqual([again.preset?.name, again.rowsNew, again.rowsRefused], ['cboe-chain', 2, 0]);
    assert.deepEqual(new Set(contracts().map((one) => one.at(-1))), new Set([ms]));
  }
  for (const moment of ['1 de noviembre de 2026, 01:30 GMT-5', 'Julio 4, 2026 at 1:30 AM EDT'])
    assert.match(
      await vendor.refusal('quotedata.csv', fileOf(moment), { dataset: 'option-contracts' }),
      /^quotedata\.csv: does not say in English when its quotes were.* it says "Date: .*Download it with a browser/,
    );
  assert.match(
    await vendor.refusal(
      'quotedata.csv',
      fileOf('July 4, 2026 at 12:23 AM EDT').replace(',340,47.50', ',47.50'),
      {
        dataset: 'option-contracts',
      },
    ),
    /row 2 has 21 cells, its header has 22/,
  );
});
