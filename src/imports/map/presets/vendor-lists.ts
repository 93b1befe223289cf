// Lists that are tables of names: dividends and splits of Financial Modeling Prep, and end-of-day quotes of
// option contracts.
import type { Cell } from '../cell.ts';
import { contains, digits, fitsList, given, hasColumns, type Preset } from './preset.ts';
import { underlyingOf } from './yahoo.ts';

/** The symbols of Financial Modeling Prep: those of other markets have a point. */
const fmpSymbol: Cell = {
  sql: `case when not contains({symbol}, '.') then {symbol} end`,
  isStrict: true,
  reason: 'is of another market than the US: its country and currency are not in the file',
};

/**
 * Source: site.financialmodelingprep.com/developer/docs/stable/dividends-calendar: `dividend` is what was
 * paid.
 */
const fmpDividends: Preset = {
  name: 'fmp-dividends',
  says: 'Financial Modeling Prep dividends, JSON of one stock or of the calendar: those of the US',
  dataset: 'corporate-actions',
  example: [
    '[{"symbol":"AAPL","date":"2025-02-10","recordDate":"2025-02-10","paymentDate":"2025-02-13","declarationDate":"2025-01-30","adjDividend":0.25,"dividend":0.25}]',
  ],
  fits: fitsList('symbol', 'date', 'adjDividend', 'dividend', 'paymentDate'),
  mappingOf: (sample) => ({
    columns: {
      ...{ symbol: fmpSymbol, ex_date: 'date', cash_amount: 'dividend' },
      ...given(sample, {
        declaration_date: 'declarationDate',
        record_date: 'recordDate',
        pay_date: 'paymentDate',
      }),
    },
    values: { action_type: 'dividend', country_iso_code: 'US' },
    symbols: 'now',
    notation: 'yahoo',
  }),
};

/**
 * Source: site.financialmodelingprep.com/developer/docs/stable/splits-company and splits-calendar:
 * numerator and denominator are the new shares for every old share.
 */
const fmpSplits: Preset = {
  name: 'fmp-splits',
  says: 'Financial Modeling Prep splits, JSON of one stock or of the calendar: those of the US',
  dataset: 'corporate-actions',
  example: [
    '[{"symbol":"AAPL","date":"2020-08-31","numerator":4,"denominator":1,"splitType":"stock-split"}]',
  ],
  fits: fitsList('symbol', 'date', 'numerator', 'denominator'),
  mappingOf: () => ({
    columns: { symbol: fmpSymbol, ex_date: 'date', split_from: 'denominator', split_to: 'numerator' },
    values: { action_type: 'split', country_iso_code: 'US' },
    symbols: 'now',
    notation: 'yahoo',
  }),
};

/** A symbol of root, expiration, type and strike (contract 1.4). */
const symbolOf = (root: string, expiration: string, type: string, thousandths: string): string =>
  `${root} || strftime(${expiration}, '%y%m%d') || ${type} || lpad(cast(cast(round(${thousandths}) as bigint) as varchar), 8, '0')`;

/** The end of a day of trading, New York's midnight: until then its quotes were not known. */
const endOf = (day: string): string => `strftime(${day} + interval 1 day, '%Y-%m-%dT%H:%M:%S')`;

const cboeColumns = ['underlying_symbol', 'quote_date', 'root', 'expiration', 'strike', 'option_type'];

/** The quotes of a day's end; the file also has those of 15:45, with volatility and greeks. */
const cboeQuotes = {
  ...{ bid: 'bid_eod', ask: 'ask_eod', volume: 'trade_volume', open_interest: 'open_interest' },
};

/**
 * Source: datashop.cboe.com/option-eod-summary and its specification of
 * UnderlyingOptionsEODCalcs_YYYY-MM-DD: an index has a caret, the type is C or P, a close of 0 is no trade.
 */
const cboe: Preset = {
  name: 'cboe',
  says: 'Cboe DataShop, end-of-day option quotes: the contracts and their quotes',
  dataset: 'option-contracts',
  example: [
    `${cboeColumns.join()},open,high,low,close,trade_volume,bid_1545,ask_1545,bid_eod,ask_eod,vwap,open_interest`,
    '^SPX,2024-01-03,SPXW,2024-01-19,4700.000,C,30.1,35.2,28.4,31.7,1250,31.5,31.9,31.4,31.8,31.9,8133',
  ],
  fits: contains(...cboeColumns),
  mappingOf: (sample) => ({
    columns: {
      symbol: {
        sql: symbolOf(
          '{root}',
          `strptime({expiration}, '%Y-%m-%d')`,
          '{option_type}',
          'cast({strike} as double) * 1000',
        ),
        isStrict: true,
        reason: 'makes no symbol of a contract with its expiration, type and strike',
      },
      underlying_name: { column: 'underlying_symbol', remove: '^\\^' },
      ...{ expiration_date: 'expiration', option_type: 'option_type', strike_price: 'strike' },
      ...given(sample, cboeQuotes),
      quote_datetime: {
        sql: endOf(`strptime({quote_date}, '%Y-%m-%d')`),
        isStrict: true,
        reason: 'is not a date YYYY-MM-DD',
      },
      ...(hasColumns(sample, ['close']) && {
        last: { sql: 'case when try_cast({close} as double) <> 0 then {close} end' },
      }),
    },
    values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
    zone: 'America/New_York',
  }),
};

/** A day as WRDS and IvyDB write it. */
const ivyDay = (column: string): string =>
  `try_strptime({${column}}, ['%Y-%m-%d', '%Y%m%d', '%Y/%m/%d', '%d%b%Y'])`;

/** The root in a symbol such as `SPXW 240119C4700000`; null in those from before 2010, `SXB AC`. */
const ivyRoot = `nullif(regexp_extract({symbol}, '^([A-Z0-9]+) *${digits(6)}[CP][0-9]+$', 1), '')`;

const ivyNumbers = {
  ...{ bid: 'best_bid', ask: 'best_offer', volume: 'volume', open_interest: 'open_interest' },
  ...{ implied_volatility: 'impl_volatility', delta: 'delta', gamma: 'gamma', vega: 'vega', theta: 'theta' },
};

/** A number, where -99.99 stands for one that could not be computed. */
const ivyNumber = (column: string): Cell => ({
  sql: `case when try_cast({${column}} as double) <> -99.99 then {${column}} end`,
});

/**
 * Source: OptionMetrics, IvyDB US File and Data Reference Manual 3.0, Option_Price file: strikes times
 * 1000, the best bid and offer of the day's end, -99.99 for what could not be computed; its columns as WRDS
 * writes them (optionm.opprcd).
 */
const optionMetrics: Preset = {
  name: 'optionmetrics',
  says: 'OptionMetrics IvyDB option prices, CSV as WRDS writes it: the contracts and their quotes',
  dataset: 'option-contracts',
  example: [
    'secid,date,symbol,exdate,cp_flag,strike_price,best_bid,best_offer,volume,open_interest,impl_volatility,delta,gamma,vega,theta,ticker',
    '108105,2024-01-03,SPXW 240119C4700000,2024-01-19,C,4700000,31.4,31.8,1250,8133,0.1132,0.4871,0.0032,391.2,-512.4,SPX',
  ],
  fits: contains('secid', 'date', 'symbol', 'exdate', 'cp_flag', 'strike_price', 'best_bid', 'best_offer'),
  mappingOf: (sample) => ({
    columns: {
      symbol: {
        sql: symbolOf(ivyRoot, ivyDay('exdate'), '{cp_flag}', 'cast({strike_price} as double)'),
        isStrict: true,
        reason: 'is no symbol with a root, such as SPXW 240119C4700000: those from before 2010 are not read',
      },
      underlying_name: hasColumns(sample, ['ticker'])
        ? 'ticker'
        : { sql: underlyingOf(ivyRoot), isStrict: true, reason: 'names no underlying' },
      expiration_date: {
        sql: `strftime(${ivyDay('exdate')}, '%Y-%m-%d')`,
        isStrict: true,
        reason: 'is not a date YYYY-MM-DD or YYYYMMDD',
      },
      option_type: { column: 'cp_flag', lookup: { C: 'call', P: 'put' } },
      strike_price: { column: 'strike_price', scale: 0.001 },
      ...(hasColumns(sample, ['exercise_style']) && {
        exercise_style: {
          column: 'exercise_style',
          lookup: { A: 'american', E: 'european' },
          odd: 'missing' as const,
        },
      }),
      ...Object.fromEntries(
        Object.entries(given(sample, ivyNumbers)).map(([field, column]) => [field, ivyNumber(column)]),
      ),
      quote_datetime: {
        sql: endOf(ivyDay('date')),
        isStrict: true,
        reason: 'is not a date YYYY-MM-DD or YYYYMMDD',
      },
    },
    values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
    zone: 'America/New_York',
    symbols: 'then',
    ...(!hasColumns(sample, ['ticker']) && { namesRoots: true as const }),
  }),
};

export const lists: readonly Preset[] = [fmpDividends, fmpSplits, cboe, optionMetrics];
