// Files that are tables of names, and answers of Massive, as their vendors write them: the first and the last
// bar by hand (contract 11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import * as arrow from 'apache-arrow';
import { holdReader } from '../../src/imports/read/reader-process.ts';
import { runStatement } from '../duckdb.ts';
import { rowsOf } from '../stores.ts';
import { type Flags, type ServedBar, Vendor } from './vendor.ts';

const vendor = new Vendor();
process.once('exit', holdReader());
after(() => vendor.close());

const us = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'A' };
const eurusd = { asset_schema: 'forex', country_iso_code: 'GLOBAL' };
const yfinance = 'Open,High,Low,Close,Volume,Dividends,Stock Splits';
const akshare = ',日期,股票代码,开盘,收盘,最高,最低,成交量,成交额,振幅,涨跌幅,涨跌额,换手率';

const bhavdata =
  'SYMBOL, SERIES, DATE1, PREV_CLOSE, OPEN_PRICE, HIGH_PRICE, LOW_PRICE, LAST_PRICE, CLOSE_PRICE';

type Case = {
  readonly preset: string;
  readonly file: string;
  readonly lines: readonly string[];
  readonly flags?: Flags;
  /** The series as it is asked for, and its first and last bar: datetime or session, open to vwap. */
  readonly series: string;
  readonly interval: string;
  /** Undefined where the vendor does not say it. */
  readonly prices: string | undefined;
  readonly bars: readonly ServedBar[];
};

const cases: readonly Case[] = [
  {
    preset: 'barchart',
    file: 'cl_daily_historical-data-02-28-2025.csv',
    lines: [
      'Symbol,Time,Open,High,Low,Last,Change,%Chg,Volume,"Open Int"',
      'CLJ25,02/28/2025,"1,070.50","1,070.80",1070,1070.71,0.26,+0.37%,"19,876,500","196,888"',
      'CLJ25,02/27/2025,970.3,970.8,970.1,970.45,-0.2,-0.29%,N/A,"186,786"',
      '"Downloaded from Barchart.com as of 02-28-2025 05:09pm CST"',
    ],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:CLJ25', interval: 'DAY', prices: undefined },
    bars: [
      ['2025-02-27', 970.3, 970.8, 970.1, 970.45, null, null],
      ['2025-02-28', 1070.5, 1070.8, 1070, 1070.71, 19876500, null],
    ],
  },
  {
    preset: 'firstrate',
    file: 'BRK.B_full_1day_UNADJUSTED.txt',
    lines: ['2025-02-27,70.3,70.8,70.1,70.45,12345600', '2025-02-28,70.5,70.8,70,70.71,19876500'],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:BRK.B', interval: 'DAY', prices: 'raw' },
    bars: [
      ['2025-02-27', 70.3, 70.8, 70.1, 70.45, 12345600, null],
      ['2025-02-28', 70.5, 70.8, 70, 70.71, 19876500, null],
    ],
  },
  {
    preset: 'firstrate',
    file: 'KO_full_1hour_adjsplitdiv.txt',
    lines: ['2025-07-01 10:00:00,70.3,70.8,70.1,70.45,12345', '2025-07-01 11:00:00,70.5,70.8,70,70.71,19876'],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:KO', interval: '60M', prices: 'all' },
    bars: [
      ['2025-07-01T14:00:00+00:00', 70.3, 70.8, 70.1, 70.45, 12345, null],
      ['2025-07-01T15:00:00+00:00', 70.5, 70.8, 70, 70.71, 19876, null],
    ],
  },
  {
    preset: 'yfinance',
    file: 'KO.csv',
    lines: [
      `Date,${yfinance}`,
      '2025-02-27 00:00:00-05:00,70.3,70.8,70.1,70.45,12345600,0.0,0.0',
      '2025-02-28 00:00:00-05:00,70.5,70.8,70,70.71,19876500,0.485,0.0',
    ],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:KO', interval: 'DAY', prices: 'all' },
    bars: [
      ['2025-02-27', 70.3, 70.8, 70.1, 70.45, 12345600, null],
      ['2025-02-28', 70.5, 70.8, 70, 70.71, 19876500, null],
    ],
  },
  {
    preset: 'yfinance',
    file: 'KO.csv',
    lines: [
      `Datetime,${yfinance}`,
      '2025-02-27 09:30:00-05:00,70.3,70.8,70.1,70.45,12345,0.0,0.0',
      '2025-02-27 09:35:00-05:00,70.5,70.8,70,70.71,19876,0.0,0.0',
    ],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:KO', interval: '5M', prices: 'raw' },
    bars: [
      ['2025-02-27T14:30:00+00:00', 70.3, 70.8, 70.1, 70.45, 12345, null],
      ['2025-02-27T14:35:00+00:00', 70.5, 70.8, 70, 70.71, 19876, null],
    ],
  },
  {
    preset: 'metatrader5',
    file: 'EURUSD_M1_202401030000_202401030001.csv',
    lines: [
      '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>',
      '2024.01.03\t02:00:00\t1.0941\t1.0942\t1.0940\t1.0941\t40\t0\t15',
      '2024.01.03\t02:01:00\t1.0941\t1.0943\t1.0941\t1.0943\t31\t7\t15',
    ],
    flags: { zone: 'Etc/GMT-2', fields: eurusd },
    ...{ series: 'forex/GLOBAL:EURUSD', interval: '1M', prices: 'raw' },
    bars: [
      ['2024-01-03T00:00:00+00:00', 1.0941, 1.0942, 1.094, 1.0941, 40, null],
      ['2024-01-03T00:01:00+00:00', 1.0941, 1.0943, 1.0941, 1.0943, 31, null],
    ],
  },
  {
    preset: 'metatrader4',
    file: 'EURUSD60.csv',
    lines: [
      '2024.01.03,02:00,1.0941,1.0942,1.0940,1.0941,40',
      '2024.01.03,03:00,1.0941,1.0943,1.0941,1.0943,31',
    ],
    flags: { zone: 'Etc/GMT-2', fields: eurusd },
    ...{ series: 'forex/GLOBAL:EURUSD', interval: '60M', prices: 'raw' },
    bars: [
      ['2024-01-03T00:00:00+00:00', 1.0941, 1.0942, 1.094, 1.0941, 40, null],
      ['2024-01-03T01:00:00+00:00', 1.0941, 1.0943, 1.0941, 1.0943, 31, null],
    ],
  },
  {
    preset: 'tiingo',
    file: 'a.csv',
    lines: [
      'date,close,high,low,open,volume,adjClose,adjHigh,adjLow,adjOpen,adjVolume,divCash,splitFactor',
      '2020-08-27,12,13,10,11,100,3,3.25,2.5,2.75,400,0.0,1.0',
      '2020-08-28,13,14,11,12,200,3.25,3.5,2.75,3,800,0.0,1.0',
    ],
    flags: { fields: us },
    ...{ series: 'stock/US:A', interval: 'DAY', prices: 'raw' },
    bars: [
      ['2020-08-27', 11, 13, 10, 12, 100, null],
      ['2020-08-28', 12, 14, 11, 13, 200, null],
    ],
  },
  {
    preset: 'alpha-vantage',
    file: 'daily_adjusted_IBM.csv',
    lines: [
      'timestamp,open,high,low,close,adjusted_close,volume,dividend_amount,split_coefficient',
      '2020-08-31,12,14,11,13,12.9,200,0.0000,1.0',
      '2020-08-28,11,13,10,12,11.9,100,0.0000,1.0',
    ],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:IBM', interval: 'DAY', prices: 'raw' },
    bars: [
      ['2020-08-28', 11, 13, 10, 12, 100, null],
      ['2020-08-31', 12, 14, 11, 13, 200, null],
    ],
  },
  {
    preset: 'yfinance-download',
    file: 'a.csv',
    lines: [
      'Ticker,KO,KO,KO,KO,KO,KO',
      'Price,Open,High,Low,Close,Adj Close,Volume',
      'Date,,,,,,',
      '2025-02-27,70.3,70.8,70.1,70.45,70.2,12345600',
      '2025-02-28,70.5,70.8,70,70.71,70.5,19876500',
    ],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:KO', interval: 'DAY', prices: 'split' },
    bars: [
      ['2025-02-27', 70.3, 70.8, 70.1, 70.45, 12345600, null],
      ['2025-02-28', 70.5, 70.8, 70, 70.71, 19876500, null],
    ],
  },
  {
    preset: 'yfinance-download',
    file: 'a.csv',
    lines: [
      'Price,Close,High,Low,Open,Volume',
      'Ticker,KO,KO,KO,KO,KO',
      'Datetime,,,,,',
      '2025-02-27 14:30:00+00:00,70.45,70.8,70.1,70.3,12345',
      '2025-02-27 15:30:00+00:00,70.71,70.8,70,70.5,19876',
    ],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:KO', interval: '60M', prices: 'raw' },
    bars: [
      ['2025-02-27T14:30:00+00:00', 70.3, 70.8, 70.1, 70.45, 12345, null],
      ['2025-02-27T15:30:00+00:00', 70.5, 70.8, 70, 70.71, 19876, null],
    ],
  },
  {
    preset: 'kibot',
    file: 'MSFT.txt',
    lines: ['02/27/2025,70.3,70.8,70.1,70.45,12345600', '02/28/2025,70.5,70.8,70,70.71,19876500'],
    flags: { preset: 'kibot', fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:MSFT', interval: 'DAY', prices: 'all' },
    bars: [
      ['2025-02-27', 70.3, 70.8, 70.1, 70.45, 12345600, null],
      ['2025-02-28', 70.5, 70.8, 70, 70.71, 19876500, null],
    ],
  },
  {
    preset: 'massive-grouped',
    file: 'prev.json',
    lines: [
      '{"ticker":"AAPL","queryCount":1,"resultsCount":1,"adjusted":true,"results":[{"T":"AAPL","v":95,"vw":15.8,"o":16.2,"c":15.6,"h":16.3,"l":15.5,"t":1651003200000,"n":8}],"status":"OK","count":1}',
    ],
    ...{ series: 'stock/US:AAPL', interval: 'DAY', prices: 'split' },
    bars: [['2022-04-26', 16.2, 16.3, 15.5, 15.6, 95, 15.8]],
  },
  {
    preset: 'kraken',
    file: 'XBTUSD_720.csv',
    lines: ['1704067200,10,12,9,11,71.5,1134', '1704110400,11,13,10,12,0.25,7'],
    ...{ series: 'crypto/GLOBAL:XBTUSD', interval: '720M', prices: 'raw' },
    bars: [
      ['2024-01-01T00:00:00+00:00', 10, 12, 9, 11, 71.5, null],
      ['2024-01-01T12:00:00+00:00', 11, 13, 10, 12, 0.25, null],
    ],
  },
  {
    preset: 'kraken',
    file: 'XBTUSD_60.csv',
    lines: ['1704067200,10,12,9,11,71.5,1134', '1704070800,11,13,10,12,0.25,7'],
    ...{ series: 'crypto/GLOBAL:XBTUSD', interval: '60M', prices: 'raw' },
    bars: [
      ['2024-01-01T00:00:00+00:00', 10, 12, 9, 11, 71.5, null],
      ['2024-01-01T01:00:00+00:00', 11, 13, 10, 12, 0.25, null],
    ],
  },
  {
    preset: 'cryptodatadownload',
    file: 'Binance_BTCUSDT_1h.csv',
    lines: [
      'https://www.CryptoDataDownload.com',
      'Unix,Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USDT,tradecount',
      '1704070800000,2024-01-01 01:00:00,BTCUSDT,11,13,10,12,2.5,30,7',
      '1704067200,2024-01-01 00:00:00,BTCUSDT,10,12,9,11,1.5,16,5',
    ],
    ...{ series: 'crypto/GLOBAL:BTCUSDT', interval: '60M', prices: 'raw' },
    bars: [
      ['2024-01-01T00:00:00+00:00', 10, 12, 9, 11, 1.5, null],
      ['2024-01-01T01:00:00+00:00', 11, 13, 10, 12, 2.5, null],
    ],
  },
  {
    preset: 'coinmarketcap',
    file: 'Bitcoin_1_1_2024-1_2_2024_historical_data_coinmarketcap.csv',
    lines: [
      'timeOpen;timeClose;timeHigh;timeLow;name;open;high;low;close;volume;marketCap;circulatingSupply;timestamp',
      '"2024-01-02T00:00:00.000Z";"2024-01-02T23:59:59.999Z";"2024-01-02T03:00:00.000Z";"2024-01-02T05:00:00.000Z";"2781";11;13;10;12;3e9;8e11;19588756;"2024-01-02T23:59:59.999Z"',
      '"2024-01-01T00:00:00.000Z";"2024-01-01T23:59:59.999Z";"2024-01-01T03:00:00.000Z";"2024-01-01T05:00:00.000Z";"2781";10;12;9;11;2e9;8e11;19588756;"2024-01-01T23:59:59.999Z"',
    ],
    flags: { fields: { symbol: 'BTCUSD' } },
    ...{ series: 'crypto/GLOBAL:BTCUSD', interval: 'DAY', prices: 'raw' },
    bars: [
      ['2024-01-01', 10, 12, 9, 11, null, null],
      ['2024-01-02', 11, 13, 10, 12, null, null],
    ],
  },
  {
    preset: 'nasdaq-com',
    file: 'HistoricalData_1.csv',
    lines: [
      'Date,Close/Last,Volume,Open,High,Low',
      '12/13/2024,"$1,191.38",18883220,"$1,192.71","$1,194.34","$1,191.26"',
      '12/12/2024,$193.63,N/A,$196.30,$196.7053,$193.28',
    ],
    flags: { fields: us },
    ...{ series: 'stock/US:A', interval: 'DAY', prices: 'split' },
    bars: [
      ['2024-12-12', 196.3, 196.7053, 193.28, 193.63, null, null],
      ['2024-12-13', 1192.71, 1194.34, 1191.26, 1191.38, 18883220, null],
    ],
  },
  {
    preset: 'nse-bhavcopy',
    file: 'cm01JAN2024bhav.csv',
    lines: [
      'SYMBOL,SERIES,OPEN,HIGH,LOW,CLOSE,LAST,PREVCLOSE,TOTTRDQTY,TOTTRDVAL,TIMESTAMP,TOTALTRADES,ISIN,',
      'SBIN,EQ,641.95,643.5,635.6,640.9,641.4,642.05,10345678,6612345678.9,01-JAN-2024,150234,INE062A01020,',
      'SBIN,N5,10900,10900,10900,10900,10900,10900,5,54500,01-JAN-2024,1,INE062A08165,',
    ],
    ...{ series: 'stock/IN:SBIN', interval: 'DAY', prices: 'raw' },
    bars: [['2024-01-01', 641.95, 643.5, 635.6, 640.9, 10345678, null]],
  },
  {
    preset: 'tushare',
    file: 'daily.csv',
    lines: [
      ',ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount',
      '0,000001.SZ,20240703,10.2,10.4,10.1,10.3,10.2,0.1,0.98,2000.0,2050.0',
      '1,000001.SZ,20240702,10.1,10.3,10,10.2,10.1,0.1,0.99,1000.5,1020.51',
    ],
    ...{ series: 'stock/CN:000001.SZ', interval: 'DAY', prices: 'raw' },
    bars: [
      ['2024-07-02', 10.1, 10.3, 10, 10.2, 100050, 10.2],
      ['2024-07-03', 10.2, 10.4, 10.1, 10.3, 200000, 10.25],
    ],
  },
  {
    preset: 'akshare',
    file: 'hist.csv',
    lines: [
      akshare,
      '0,2024-07-02,000001,10.1,10.2,10.3,10,1000,1020000.0,1,1,0.1,0.4',
      '1,2024-07-03,000001,10.2,10.3,10.4,10.1,2000,2050000.0,1,1,0.1,0.4',
    ],
    flags: { fields: { interval: 'DAY' } },
    ...{ series: 'stock/CN:000001', interval: 'DAY', prices: 'raw' },
    bars: [
      ['2024-07-02', 10.1, 10.3, 10, 10.2, 100000, null],
      ['2024-07-03', 10.2, 10.4, 10.1, 10.3, 200000, null],
    ],
  },
  {
    preset: 'finam',
    file: 'SBER_240103_240103.txt',
    lines: [
      '<TICKER>;<PER>;<DATE>;<TIME>;<OPEN>;<HIGH>;<LOW>;<CLOSE>;<VOL>',
      'SBER;60;20240103;100000;271.9;274.7;271;274.56;2013',
      'SBER;60;20240103;110000;274.5;275;274;274.1;907',
    ],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'RU' } },
    ...{ series: 'stock/RU:SBER', interval: '60M', prices: 'raw' },
    bars: [
      ['2024-01-03T07:00:00+00:00', 271.9, 274.7, 271, 274.56, 2013, null],
      ['2024-01-03T08:00:00+00:00', 274.5, 275, 274, 274.1, 907, null],
    ],
  },
  {
    preset: 'massive-aggregates',
    file: 'aggs.json',
    lines: [
      '{"ticker":"X:BTCUSD","queryCount":2,"resultsCount":2,"adjusted":true,"results":[',
      '{"v":7.5,"vw":11.2,"o":10,"c":11,"h":12,"l":9,"t":1704067200000,"n":6},',
      '{"v":2.5,"vw":12,"o":11,"c":12,"h":13,"l":10,"t":1704067260000,"n":7}],"status":"OK","request_id":"a"}',
    ],
    ...{ series: 'crypto/GLOBAL:BTCUSD', interval: '1M', prices: 'raw' },
    bars: [
      ['2024-01-01T00:00:00+00:00', 10, 12, 9, 11, 7.5, 11.2],
      ['2024-01-01T00:01:00+00:00', 11, 13, 10, 12, 2.5, 12],
    ],
  },
  {
    preset: 'massive-aggregates',
    file: 'aggs.json',
    lines: [
      '{"ticker":"AAPL","queryCount":1,"resultsCount":1,"adjusted":true,"results":[{"v":7,"vw":11.2,"o":10,"c":11,"h":12,"l":9,"t":1673240400000,"n":6}],"status":"OK"}',
      '{"ticker":"KO","queryCount":1,"resultsCount":1,"adjusted":true,"results":[{"v":8,"vw":31.2,"o":30,"c":31,"h":32,"l":29,"t":1673240400000,"n":6}],"status":"OK"}',
    ],
    flags: { fields: { interval: 'DAY' } },
    ...{ series: 'stock/US:KO', interval: 'DAY', prices: 'split' },
    bars: [['2023-01-09', 30, 32, 29, 31, 8, 31.2]],
  },
  {
    // Hong Kong's volumes are shares, and its turnover is in dollars.
    preset: 'tushare',
    file: 'hk_daily.csv',
    lines: [
      ',ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount',
      '0,00001.HK,20240703,40.1,40.6,40,40.5,40,0.5,1.25,2000.0,80900.0',
    ],
    ...{ series: 'stock/HK:00001.HK', interval: 'DAY', prices: 'raw' },
    bars: [['2024-07-03', 40.1, 40.6, 40, 40.5, 2000, 40.45]],
  },
  {
    // An index has the turnover of its shares, which is no price of its own.
    preset: 'tushare',
    file: 'index_daily.csv',
    lines: [
      'ts_code,trade_date,close,open,high,low,pre_close,change,pct_chg,vol,amount',
      '399300.SZ,20240703,3463.4,3470.2,3481.1,3455.5,3471.8,-8.3,-0.24,99000000.0,170000000.0',
    ],
    ...{ series: 'stock/CN:399300.SZ', interval: 'DAY', prices: 'raw' },
    bars: [['2024-07-03', 3470.2, 3481.1, 3455.5, 3463.4, 9900000000, null]],
  },
  {
    preset: 'akshare',
    file: 'stock_hk_hist.csv',
    lines: [
      akshare.replace('股票代码,', ''),
      '0,2024-07-02,40.1,40.5,40.6,40,2000,80900.0,1,1,0.1,0.4',
      '1,2024-07-03,40.5,40.4,40.6,40.2,0,0.0,1,1,0.1,0.4',
    ],
    flags: { fields: { country_iso_code: 'HK', symbol: '00001', interval: 'DAY' } },
    ...{ series: 'stock/HK:00001', interval: 'DAY', prices: 'raw' },
    bars: [
      ['2024-07-02', 40.1, 40.6, 40, 40.5, 2000, null],
      ['2024-07-03', 40.5, 40.6, 40.2, 40.4, 0, null],
    ],
  },
  {
    preset: 'akshare',
    file: 'fund_etf_hist_em.csv',
    lines: [akshare.replace('股票代码,', ''), '0,2024-07-02,3.5,3.52,3.53,3.49,2000,703000.0,1,1,0.1,0.4'],
    flags: { fields: { country_iso_code: 'CN', symbol: '510300', interval: 'DAY' } },
    ...{ series: 'stock/CN:510300', interval: 'DAY', prices: 'raw' },
    bars: [['2024-07-02', 3.5, 3.53, 3.49, 3.52, 200000, null]],
  },
  {
    // Adjusted prices do not tell the unit.
    preset: 'akshare',
    file: 'hfq.csv',
    lines: [akshare.replace('股票代码,', ''), '0,2024-07-02,700,704,706,698,2000,703000.0,1,1,0.1,0.4'],
    flags: { fields: { country_iso_code: 'CN', symbol: '510300', interval: 'DAY' } },
    ...{ series: 'stock/CN:510300', interval: 'DAY', prices: 'raw' },
    bars: [['2024-07-02', 700, 706, 698, 704, null, null]],
  },
  {
    preset: 'nse-bhavdata',
    file: 'sec_bhavdata_full_02022024.csv',
    lines: [
      `${bhavdata}, AVG_PRICE, TTL_TRD_QNTY, TURNOVER_LACS, NO_OF_TRADES, DELIV_QTY, DELIV_PER`,
      '20MICRONS, EQ, 02-Feb-2024, 163, 165.00, 168.50, 162.10, 164.00, 163.95, 165, 146321, 241, 3, 6, 44.5',
      '20MICRONS, N1, 02-Feb-2024, 22, 22.75, 22.75, 22.70, 22.70, 22.75, 22.75, 18432, 4.19, 47, -, -',
    ],
    ...{ series: 'stock/IN:20MICRONS', interval: 'DAY', prices: 'raw' },
    bars: [['2024-02-02', 165, 168.5, 162.1, 163.95, 146321, null]],
  },
  {
    preset: 'cryptodatadownload',
    file: 'Gemini_BTCUSD_2020_1min.csv',
    lines: [
      'https://www.CryptoDataDownload.com',
      'Unix Timestamp,Date,Symbol,Open,High,Low,Close,Volume,Volume USD',
      '1609459140000,2020-12-31 23:59:00,BTCUSD,28971.69,28976.46,28965.48,28976.46,0.5,14488',
    ],
    flags: { fields: { interval: '1M' } },
    ...{ series: 'crypto/GLOBAL:BTCUSD', interval: '1M', prices: 'raw' },
    bars: [['2020-12-31T23:59:00+00:00', 28971.69, 28976.46, 28965.48, 28976.46, 0.5, null]],
  },
  {
    preset: 'yfinance-download',
    file: 'spy.csv',
    lines: [
      'Price,Adj Close,Capital Gains,Close,Dividends,High,Low,Open,Stock Splits,Volume',
      `Ticker${',SPY'.repeat(9)}`,
      'Date,,,,,,,,,',
      '2025-02-27,70.05,0.0,70.45,0.0,70.8,70.1,70.3,0.0,12345600',
      '2025-02-28,70.5,0.0,70.71,0.5,70.8,70,70.5,0.0,19876500',
    ],
    flags: { fields: { asset_schema: 'stock', country_iso_code: 'US' } },
    ...{ series: 'stock/US:SPY', interval: 'DAY', prices: 'split' },
    bars: [
      ['2025-02-27', 70.3, 70.8, 70.1, 70.45, 12345600, null],
      ['2025-02-28', 70.5, 70.8, 70, 70.71, 19876500, null],
    ],
  },
  {
    preset: 'eodhd-intraday',
    file: 'intraday.json',
    lines: [
      '[{"timestamp":1740666600,"gmtoffset":0,"datetime":"2025-02-27 14:30:00",',
      '"open":11,"high":13,"low":10,"close":12,"volume":200},',
      '{"timestamp":1740666660,"gmtoffset":0,"datetime":"2025-02-27 14:31:00",',
      '"open":12,"high":14,"low":11,"close":13,"volume":null}]',
    ],
    flags: { fields: us },
    ...{ series: 'stock/US:A', interval: '1M', prices: 'raw' },
    bars: [
      ['2025-02-27T14:30:00+00:00', 11, 13, 10, 12, 200, null],
      ['2025-02-27T14:31:00+00:00', 12, 14, 11, 13, null, null],
    ],
  },
];

for (const { preset, file, lines, flags, series, interval, prices, bars } of cases)
  test(`${preset}: ${file}, ${interval}`, async () => {
    const report = await vendor.import(file, `${lines.join('\n')}\n`, flags);
    assert.equal(report.preset?.name, preset);
    assert.equal(report.rowsRefused, 0);
    assert.equal(report.preset?.says.prices, prices);
    assert.deepEqual(await vendor.served(series, interval), bars);
  });

test('candles of freqtrade as Feather: its name says pair and interval, but not of futures', async () => {
  const times = ['2024-01-01T00:00:00Z', '2024-01-01T04:00:00Z'].map((at) => Date.parse(at));
  const column = (...values: readonly number[]) => arrow.vectorFromArray([...values], new arrow.Float64());
  const table = new arrow.Table({
    date: arrow.vectorFromArray(times, new arrow.Timestamp(arrow.TimeUnit.MILLISECOND, 'UTC')),
    ...{ open: column(10, 11), high: column(12, 13), low: column(9, 10), close: column(11, 12) },
    volume: column(71.5, 0.25),
  });
  const bytes = Buffer.from(arrow.tableToIPC(table, 'file'));
  const report = await vendor.import('BTC_USDT-4h.feather', bytes);
  assert.deepEqual([report.preset?.name, report.preset?.says.prices], ['freqtrade', 'raw']);
  const bars = await vendor.served('crypto/GLOBAL:BTCUSDT', '240M');
  assert.deepEqual(bars, [
    ['2024-01-01T00:00:00+00:00', 10, 12, 9, 11, 71.5, null],
    ['2024-01-01T04:00:00+00:00', 11, 13, 10, 12, 0.25, null],
  ]);
  const future = 'BTC_USDT_USDT-4h-futures.feather';
  assert.match(await vendor.refusal(future, bytes), /symbol.*--symbol/);
  assert.equal((await vendor.import(future, bytes, { fields: { symbol: 'BTCUSDT.P' } })).rowsNew, 2);
  const marks = await vendor.refusal('BTC_USDT_USDT-4h-mark.feather', bytes);
  assert.match(marks, /--schema/);
});

/** The frame of a header and rows in the other kinds of files that pandas writes. */
async function framesOf(index: string, rows: readonly (readonly [string, ...number[]])[]) {
  const names = yfinance.split(',');
  const times = rows.map(([at]) => Date.parse(at));
  const values = names.map((_, place) => rows.map((row) => row[place + 1] as number));
  const objects = rows.map((_, row) => Object.fromEntries(names.map((name, at) => [name, values[at]![row]])));
  const records = (made: (ms: number) => number | string): Record<string, unknown>[] =>
    objects.map((object, row) => ({ [index]: made(times[row]!), ...object }));
  const table = new arrow.Table({
    [index]: arrow.vectorFromArray(times, new arrow.Timestamp(arrow.TimeUnit.NANOSECOND, 'America/New_York')),
    ...Object.fromEntries(
      names.map((name, at) => [name, arrow.vectorFromArray(values[at]!, new arrow.Float64())]),
    ),
  });
  const path = vendor.shop.path(`${index}.parquet`);
  const select = rows.map(
    (
      [at],
      row,
    ) => `select ${names.map((name, place) => `${values[place]![row]}::double as "${name}"`).join()},
      timestamptz '${at}' as "${index}"`,
  );
  await runStatement(`copy (${select.join(' union all ')} order by 8) to '${path}' (format parquet)`);
  const columns = names.map((name, at) => [
    name,
    Object.fromEntries(times.map((ms, row) => [ms, values[at]![row]])),
  ]);
  return {
    'KO.parquet': readFileSync(path),
    'KO.feather': Buffer.from(arrow.tableToIPC(table, 'file')),
    'KO.json': JSON.stringify(records((ms) => ms)),
    'KO.ndjson': records((ms) => new Date(ms).toISOString())
      .map((row) => JSON.stringify(row))
      .join('\n'),
    // Without the name of the index.
    'columns/KO.json': JSON.stringify(Object.fromEntries(columns)),
    'split/KO.json': JSON.stringify({ columns: names, index: times, data: rows.map(([, ...row]) => row) }),
  };
}

for (const [index, rows] of [
  [
    'Date',
    [
      ['2025-02-27 00:00:00-05:00', 70.3, 70.8, 70.1, 70.45, 12345600, 0, 0],
      ['2025-02-28 00:00:00-05:00', 70.5, 70.8, 70, 70.71, 19876500, 0.485, 2],
    ],
  ],
  [
    'Datetime',
    [
      ['2025-02-27 09:30:00-05:00', 70.3, 70.8, 70.1, 70.45, 12345, 0, 0],
      ['2025-02-27 09:35:00-05:00', 70.5, 70.8, 70, 70.71, 19876, 0, 0],
    ],
  ],
] as const)
  test(`yfinance's ${index} is the same in every kind of file (contract 9.4, 11)`, async () => {
    const flags = { fields: { asset_schema: 'stock', country_iso_code: 'US' } };
    const csv = [[index, yfinance].join(), ...rows.map((row) => row.join())].join('\n');
    const { preset } = await vendor.import('KO.csv', csv, flags);
    assert.equal(preset?.name, 'yfinance');
    const interval = index === 'Date' ? 'DAY' : '5M';
    const bars = await vendor.served('stock/US:KO', interval);
    assert.equal(bars.length, 2);
    for (const [name, content] of Object.entries(await framesOf(index, rows))) {
      for (const more of [{}, { preset: 'yfinance' }]) {
        const report = await vendor.import(name, content, { ...flags, ...more });
        assert.deepEqual([report.preset, report.rowsRefused], [preset, 0], name);
        assert.deepEqual(await vendor.served('stock/US:KO', interval), bars, name);
      }
      assert.match(
        await vendor.refusal(name, content, { ...flags, preset: 'tiingo' }),
        /KO\.\w+: is not a file of the preset tiingo; its files begin: date,close,high,low/,
      );
    }
  });

test('dates of Investing.com with the day first, with names of months, and with either meaning', async () => {
  const file = (first: string, second: string): string =>
    ['"Date","Price","Open","High","Low","Vol.","Change %"']
      .concat(
        [first, second].map((date) => `"${date}","70.45","70.3","70.8","70.1","-","1%"`),
        '',
      )
      .join('\n');
  for (const [first, second] of [
    ['28/02/2025', '27/02/2025'],
    ['Feb 28, 2025', 'Feb 27, 2025'],
  ] as const) {
    const report = await vendor.import('a.csv', file(first, second), { fields: us });
    assert.match(report.preset?.doubt ?? '', /how prices of stocks are adjusted/);
    assert.deepEqual(
      (await vendor.served('stock/US:A', 'DAY')).map(([at]) => at),
      ['2025-02-27', '2025-02-28'],
    );
  }
  assert.match(
    await vendor.refusal('a.csv', file('03/02/2025', '04/02/2025'), { fields: us }),
    /03\/02\/2025.* may begin with the day or with the month: use --preset none with --date-format/,
  );
});

test('dividends, splits and contracts of Massive', async () => {
  const answer = (...results: readonly object[]): string => JSON.stringify({ results, status: 'OK' });
  const actions = { dataset: 'corporate-actions' };
  const dividend = {
    ...{ cash_amount: 0.25, currency: 'USD', declaration_date: '2024-10-31', dividend_type: 'CD' },
    ...{ ex_dividend_date: '2024-11-08', frequency: 4, id: 'E1', pay_date: '2024-11-14', ticker: 'AAPL' },
  };
  const dividends = await vendor.import('dividends.json', answer(dividend), actions);
  assert.deepEqual([dividends.preset?.name, dividends.rowsNew], ['massive-dividends', 1]);
  const split = { execution_date: '2020-08-31', id: 'E2', split_from: 1, split_to: 4, ticker: 'AAPL' };
  const splits = await vendor.import('splits.json', answer(split), actions, false);
  assert.deepEqual([splits.preset?.name, splits.rowsNew], ['massive-splits', 1]);
  const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;
  const stored = rowsOf(
    vendor.url,
    'select symbol, action_type, ex_date, cash_amount, currency, pay_date, split_from, split_to from corporate_actions order by ex_date',
  );
  assert.deepEqual(
    stored.map((row) => Object.values(row)),
    [
      ['AAPL', 'split', day('2020-08-31'), null, null, null, 1, 4],
      ['AAPL', 'dividend', day('2024-11-08'), 0.25, 'USD', day('2024-11-14'), null, null],
    ],
  );
  const contract = {
    ...{ cfi: 'OCASPS', contract_type: 'call', exercise_style: 'american', expiration_date: '2026-01-16' },
    ...{ primary_exchange: 'BATO', shares_per_contract: 100, strike_price: 200 },
    ...{ ticker: 'O:AAPL260116C00200000', underlying_ticker: 'AAPL' },
  };
  const contracts = await vendor.import('contracts.json', answer(contract), { dataset: 'option-contracts' });
  assert.deepEqual([contracts.preset?.name, contracts.rowsNew], ['massive-contracts', 1]);
  assert.deepEqual(
    rowsOf(
      vendor.url,
      'select symbol, underlying_name, strike_price, contract_value from option_contracts',
    ).map((row) => Object.values(row)),
    [['AAPL260116C00200000', 'AAPL', 200, 100]],
  );
});

test('an answer of Twelve Data of several symbols: rows of another interval or clock are refused', async () => {
  const answer = (symbol: string, close: string, interval = '1day', zone = 'America/New_York') => ({
    meta: { symbol, interval, exchange_timezone: zone },
    values: [{ datetime: '2025-02-28', open: '70', high: '99', low: '60', close, volume: '9' }],
    status: 'ok',
  });
  const failed = { code: 404, message: 'symbol not found', status: 'error' };
  const fields = { asset_schema: 'stock', country_iso_code: 'US' };
  const [a, b] = [answer('TWA', '71'), answer('TWB', '72')];
  for (const batch of [
    { 'TWA:XNAS': a, XYZ: failed, TWB: b },
    { XYZ: failed, TWA: a, TWB: b },
  ]) {
    const report = await vendor.import('batch.json', JSON.stringify(batch), { fields });
    assert.deepEqual(
      [report.preset?.name, report.rowsNew, report.findings],
      ['twelve-data', 2, { 'symbols without rows, such as XYZ': 1 }],
    );
    for (const [symbol, close] of [
      ['TWA', 71],
      ['TWB', 72],
    ] as const)
      assert.deepEqual(await vendor.served(`stock/US:${symbol}`, 'DAY'), [
        ['2025-02-28', 70, 99, 60, close, 9, null],
      ]);
  }
  const odd = {
    TWA: answer('TWA', '71'),
    TWB: answer('TWB', '72', '1week'),
    TWC: answer('TWC', '73', '1day', 'Asia/Tokyo'),
  };
  const refused = await vendor.import('odd.json', JSON.stringify(odd), { fields });
  assert.deepEqual([refused.rowsNew, refused.refused.map(({ row }) => row)], [1, [2, 3]]);
  // Of several symbols one may be known.
  const one = await vendor.import('one.json', JSON.stringify({ TWA: answer('TWA', '71'), XYZ: failed }), {
    fields,
  });
  assert.deepEqual([one.preset?.name, one.rowsNew], ['twelve-data', 1]);
});

test('the securities that a bhavcopy of bars leaves out are counted', async () => {
  const lines = [
    'SYMBOL,SERIES,OPEN,HIGH,LOW,CLOSE,LAST,PREVCLOSE,TOTTRDQTY,TOTTRDVAL,TIMESTAMP,TOTALTRADES,ISIN,',
    ...['EQ', 'BE', 'SM'].map(
      (series) => `SBIN,${series},64,65,63,64.5,64,64,10,640,01-JAN-2024,1,INE062A01020,`,
    ),
  ];
  const report = await vendor.import('cm01JAN2024bhav.csv', lines.join('\n'));
  assert.deepEqual([report.rowsNew, report.findings], [1, { 'of series other than EQ, left out': 2 }]);
});

test('volumes of AKShare and Tushare are hands or shares where that is certain, else none or refused', async () => {
  const [withSymbols, without] = [akshare, akshare.replace('股票代码,', '')];
  const low = '0,2024-07-02,0.01,0.01,0.01,0.01,2000,20.0,1,1,0.1,0.4';
  const quiet = Array.from({ length: 3 }, (_, row) => `${row},2024-07-0${row + 1},10,10,10,10,0,0.0,0,0,0,0`);
  const doubt = /its turnover does not show whether its volumes are hands or shares: they are not stored/;
  const shares = '5,2024-07-05,10,10,10,10,2000,20000.0,1,1,0.1,0.4';
  for (const [lines, volume] of [
    [[without, ...quiet], null],
    [[without, ...quiet, shares], 2000],
    [[without, ...quiet, shares.replace(',20000.0', ',2000000.0')], 200_000],
    // A price of less than two hundredths fits both.
    [[without, low], null],
  ] as const) {
    const fields = { country_iso_code: 'HK', symbol: 'X', interval: 'DAY' };
    const report = await vendor.import('hist.csv', lines.join('\n'), { fields });
    assert.equal((await vendor.served('stock/HK:X', 'DAY')).at(-1)![5], volume);
    assert.match(report.preset?.doubt ?? '', volume === null ? doubt : /^$/);
  }
  // A column of symbols does not make hands of volumes that the turnover shows to be shares.
  const ofCode = (code: string, row = shares): string =>
    [withSymbols, row.replace('2024-07-05,', `2024-07-05,${code},`)].join('\n');
  const fields = { country_iso_code: 'HK', interval: 'DAY' };
  await vendor.import('hist.csv', ofCode('00001'), { fields });
  assert.equal((await vendor.served('stock/HK:00001', 'DAY'))[0]![5], 2000);
  // Prices of China times 100 fit shares, though its volumes are hands; other adjusted prices fit neither.
  const china = { fields: { country_iso_code: 'CN', interval: 'DAY' } };
  const report = await vendor.import('hist.csv', ofCode('000001'), china);
  assert.match(report.preset?.doubt ?? '', doubt);
  assert.equal((await vendor.served('stock/CN:000001', 'DAY'))[0]![5], null);
  const adjusted = await vendor.import(
    'hist.csv',
    ofCode('000001', shares.replace(',20000.0', ',2500000.0')),
    china,
  );
  assert.match(adjusted.preset?.doubt ?? '', /its turnover does not fit its prices: .* give --prices all/);
  assert.equal((await vendor.served('stock/CN:000001', 'DAY'))[0]![5], 200_000);
  const rowOf = (code: string, date = '20240703'): string =>
    `${code},${date},10.2,10.4,10.1,10.3,10.2,0.1,0.98,20,20.5`;
  const mixed = ['000001.SZ', '00001.HK', 'AAPL'].map((code) => rowOf(code));
  const header = 'ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount';
  for (const [rows, refused] of [
    [mixed, [2, 3]],
    [[mixed[1]!, mixed[0]!], [2]],
    // Bonds of Shanghai and Shenzhen, and a fund.
    [['600000.SH', '113050.SH', '123456.SZ', '159915.SZ'].map((code) => rowOf(code)), [2, 3]],
  ] as const) {
    const report = await vendor.import('daily.csv', [header, ...rows].join('\n'));
    assert.deepEqual(
      report.refused.map(({ row, column }) => [row, column]),
      refused.map((row) => [row, 'ts_code']),
    );
  }
  for (const dates of [
    ['20240719', '20240712', '20240705'],
    ['20240731', '20240628', '20240531'],
  ]) {
    const rows = dates.map((date) => rowOf('000001.SZ', date));
    assert.match(await vendor.refusal('daily.csv', [header, ...rows].join('\n')), /has weeks or months/);
  }
});
