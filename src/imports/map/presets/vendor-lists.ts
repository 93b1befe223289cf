// Lists of vendors: dividends and splits of Financial Modeling Prep, and chains and end-of-day quotes of
// option contracts.
import { indices } from '../../../store/schema/options.ts';
import type { NativeRows, NumberedRow } from '../../read/convert.ts';
import { contentProblem, unfitProblem } from '../../read/file-problem.ts';
import { linesOf, type Sample } from '../../read/sample.ts';
import { quoted } from '../../read/scan.ts';
import type { Cell } from '../cell.ts';
import { contains, digits, fitsList, given, hasColumns, isMended, type Preset, strict } from './preset.ts';

/** The symbols of Financial Modeling Prep: those of other markets have a point. */
const fmpSymbol: Cell = strict(
  `case when not contains({symbol}, '.') then {symbol} end`,
  'is of another market than the US: its country and currency are not in the file',
);

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

/** The parts of a symbol, counted from its end. */
const root = 'left({contractSymbol}, length({contractSymbol}) - 15)';
const expiration = 'substr({contractSymbol}, length({contractSymbol}) - 14, 6)';
const ofExpiration = `strptime(${expiration}, '%y%m%d')`;
const expirationDate = `strftime(${ofExpiration}, '%Y-%m-%d')`;
const type = 'substr({contractSymbol}, length({contractSymbol}) - 8, 1)';
const thousandths = 'cast(right({contractSymbol}, 8) as double)';

const byIndex = indices.map(([one, index]) => `when ${quoted(one)} then ${quoted(index)}`).join(' ');

/** The underlying of a root in SQL: `AAPL` of `AAPL1`, `SPX` of `SPXW`. */
const underlyingOf = (root: string): string =>
  `case when regexp_matches(${root}, '^[A-Z]+[0-9]$') then left(${root}, length(${root}) - 1)
    when not regexp_matches(${root}, '^[0-9]|[0-9]$') then case ${root} ${byIndex} else ${root} end end`;

/** The fields of a contract by its symbol, and the strike beside it. */
const ofSymbol: Readonly<Record<string, Cell>> = {
  symbol: 'contractSymbol',
  underlying_name: strict(underlyingOf(root), 'names no underlying'),
  expiration_date: strict(expirationDate, 'has no expiration'),
  option_type: strict(
    `case ${type} when 'C' then 'call' when 'P' then 'put' end`,
    'is neither a call nor a put',
  ),
  strike_price: strict(
    `case when round({strike}::double * 1000) = ${thousandths} then #{strike} end`,
    'is not the strike of contractSymbol',
  ),
};

/** A chain does not say when it was quoted: `lastTradeDate` is that of the last price alone. */
const yfinanceQuotes = {
  ...{ bid: 'bid', ask: 'ask', last: 'lastPrice', volume: 'volume' },
  ...{ open_interest: 'openInterest', implied_volatility: 'impliedVolatility' },
};

const yfinanceChain: Preset = {
  name: 'yfinance-chain',
  says: 'Option chains of the Python package yfinance, calls or puts of one expiration',
  dataset: 'option-contracts',
  example: [
    'contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,change,percentChange,volume,openInterest,impliedVolatility,inTheMoney,contractSize,currency',
    'AAPL260116C00200000,2025-10-01 19:59:59+00:00,200.0,57.73,58.3,61.5,0.0,0.0,2.0,1,0.35,True,REGULAR,USD',
  ],
  fits: contains('contractSymbol', 'lastTradeDate', 'strike', 'contractSize'),
  mappingOf: (sample) => ({
    columns: {
      ...ofSymbol,
      contract_value: { column: 'contractSize', lookup: { REGULAR: '100' } },
      ...given(sample, yfinanceQuotes),
    },
    values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
    symbols: 'now',
    namesRoots: true,
  }),
};

const cboeSide = 'Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest';
const cboeHeader = `Expiration Date,Calls,${cboeSide},Strike,Puts,${cboeSide}`;

/** The columns of one contract a row, in the order of a side; `net` is the change of the last price. */
const cboeRow = [
  ...['Expiration Date', 'strike', 'quote_datetime', 'contractSymbol', 'last', 'net', 'bid', 'ask'],
  ...['volume', 'implied_volatility', 'delta', 'gamma', 'open_interest'],
];

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

/**
 * A moment as Cboe writes it for readers of English: by EDT or EST it has one meaning in an hour that repeats.
 */
const CBOE_MOMENT = /^"?Date: ([A-Z][a-z]+) (\d{1,2}, \d{4}) at (\d{1,2}:\d\d)\s([AP]M E[DS]T)"?,/m;

/** The moment of a chain's quotes. @throws FileProblem where a browser of another language wrote it */
function cboeMoment(sample: Sample): string {
  const [, month = '', day, time, zone] = CBOE_MOMENT.exec(sample.text) ?? [];
  // Names that only begin as these do are parsed as well.
  const ms = MONTHS.includes(month) ? Date.parse(`${month} ${day} ${time} ${zone}`) : Number.NaN;
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  const line = linesOf(sample).find((one) => one.includes(':') && !one.includes('Last:')) ?? '';
  throw unfitProblem(
    sample.name,
    `does not say in English when its quotes were, as in "Date: July 4, 2026 at 12:23 AM EDT"; it says ${line.slice(0, 100)}. Download it with a browser in English (United States)`,
  );
}

/** A row for each call and each put. @throws FileProblem where a row has other cells */
function cboeContracts({ name }: Sample, all: readonly NumberedRow[], moment: string): NativeRows {
  const headerAt = all.findIndex(({ cells }) => cells.join() === cboeHeader);
  const rows = all.slice(headerAt + 1).flatMap(({ row, cells }) => {
    const [number, width] = [row - headerAt - 1, all[headerAt]!.cells.length];
    if (cells.length !== width)
      throw contentProblem(
        name,
        `row ${number} has ${cells.length} cells, its header has ${width}. Nothing was imported.`,
      );
    const [expiration = '', ...values] = cells;
    const [calls, [strike = '', ...puts]] = [values.slice(0, 10), values.slice(10)];
    return [calls, puts].map(([symbol = '', last = '', ...quotes]) => ({
      row: number,
      // A last price of 0 is no trade.
      cells: [expiration, strike, moment, symbol, Number(last) === 0 ? '' : last, ...quotes],
    }));
  });
  if (rows.length === 0) throw contentProblem(name, 'has no rows');
  return { header: cboeRow, rows };
}

/**
 * Source: cboe.com/delayed_quotes, "Download CSV" of an option chain, as programs that read it show it: two
 * lines of the underlying, behind an empty one in the newer form, and a call and a put beside each strike.
 */
const cboeChain: Preset = {
  name: 'cboe-chain',
  says: 'Cboe delayed quotes of an option chain, quotedata.csv: the contracts and their quotes',
  dataset: 'option-contracts',
  example: [
    'S&P 500 INDEX,Last: 6279.35,Change: 51.93',
    '"Date: July 4, 2026 at 12:23 AM EDT",Bid: 6277.1,Ask: 6281.2,Size: 1*1,Volume: 0',
    cboeHeader,
    'Fri Oct 02 2026,SPXW261002C06300000,101.5,-2.1,100.9,102.3,12,0.1432,0.5121,0.0011,340,6300.00,SPXW261002P06300000,0,0,98.1,99.4,0,0.1401,-0.4879,0.0011,12',
  ],
  fits: (sample) => (linesOf(sample).includes(cboeHeader) || isMended(sample, cboeRow) ? 'surely' : 'no'),
  mappingOf(sample) {
    const moment = isMended(sample, cboeRow) ? null : cboeMoment(sample);
    return {
      header: cboeRow,
      columns: {
        ...ofSymbol,
        expiration_date: strict(
          `case when strptime({Expiration Date}, '%a %b %d %Y') = ${ofExpiration} then ${expirationDate} end`,
          'is not the expiration of contractSymbol',
        ),
      },
      values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
      symbols: 'now',
      namesRoots: true,
      ownColumns: ['net'],
      ...(moment !== null && { convert: (rows) => cboeContracts(sample, rows, moment) }),
    };
  },
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
      symbol: strict(
        symbolOf(
          '{root}',
          `strptime({expiration}, '%Y-%m-%d')`,
          '{option_type}',
          'cast({strike} as double) * 1000',
        ),
        'makes no symbol of a contract with its expiration, type and strike',
      ),
      underlying_name: { column: 'underlying_symbol', remove: '^\\^' },
      ...{ expiration_date: 'expiration', option_type: 'option_type', strike_price: 'strike' },
      ...given(sample, cboeQuotes),
      quote_datetime: strict(endOf(`strptime({quote_date}, '%Y-%m-%d')`), 'is not a date YYYY-MM-DD'),
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
      symbol: strict(
        symbolOf(ivyRoot, ivyDay('exdate'), '{cp_flag}', 'cast({strike_price} as double)'),
        'is not a symbol with a root, such as SPXW 240119C4700000; symbols from before 2010 are not read',
      ),
      underlying_name: hasColumns(sample, ['ticker'])
        ? 'ticker'
        : strict(underlyingOf(ivyRoot), 'names no underlying'),
      expiration_date: strict(
        `strftime(${ivyDay('exdate')}, '%Y-%m-%d')`,
        'is not a date YYYY-MM-DD or YYYYMMDD',
      ),
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
      quote_datetime: strict(endOf(ivyDay('date')), 'is not a date YYYY-MM-DD or YYYYMMDD'),
    },
    values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
    zone: 'America/New_York',
    symbols: 'then',
    ...(!hasColumns(sample, ['ticker']) && { namesRoots: true as const }),
  }),
};

export const lists: readonly Preset[] = [
  yfinanceChain,
  cboeChain,
  fmpDividends,
  fmpSplits,
  cboe,
  optionMetrics,
];
