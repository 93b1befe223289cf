// Yahoo Finance: historical prices by the former download of its page, which many tools still write; and of
// the Python package yfinance: `Ticker(…).history().to_csv()`, and option chains,
// `option_chain(date).calls.to_csv()` or its puts.
import { MINUTE_MS } from '../../../base/instant.ts';
import { indices } from '../../../store/schema/options.ts';
import { type Sample, stemOf } from '../../read/sample.ts';
import { quoted } from '../../read/scan.ts';
import type { Cell } from '../cell.ts';
import {
  begins,
  contains,
  firstCells,
  hasColumns,
  intervalOfDates,
  known,
  type Preset,
  rowsBelow,
  thoseOf,
} from './preset.ts';

const header = 'Date,Open,High,Low,Close,Adj Close,Volume';

/** A file named by its symbol as Yahoo writes it: `AAPL`, `BRK-B`, `^GSPC`, `VOD.L`, `EURUSD=X`. */
const SYMBOL = /^\^?[A-Z0-9]{1,10}(?:[.\-=][A-Z0-9]{1,4})?$/;

function symbolNamed(sample: Sample): string | null {
  const stem = stemOf(sample);
  return SYMBOL.test(stem) && !/^\d{4}-|^(DATA|PRICES|TABLE|HISTORY)$/.test(stem) ? stem : null;
}

export const yahoo: Preset = {
  name: 'yahoo',
  says: 'Yahoo Finance historical prices: days, weeks, months',
  dataset: 'bars',
  isOpenEnded: true,
  example: [header, '2020-08-31,127.580002,131.000000,126.000000,129.039993,126.750000,225702700'],
  fits: begins(header),
  mappingOf: (sample) => ({
    columns: { datetime: 'Date', open: 'Open', high: 'High', low: 'Low', close: 'Close', volume: 'Volume' },
    values: known({ symbol: symbolNamed(sample), interval: intervalOfDates(sample) }),
    prices: 'split',
    symbols: 'now',
    notation: 'yahoo',
  }),
};

/** The columns of `history()`; those of funds are followed by `Capital Gains`. */
const history = ['Open', 'High', 'Low', 'Close', 'Volume', 'Dividends', 'Stock Splits'];

/** The interval by the distance of times with their offset. */
function intervalOfTimes(sample: Sample): string | null {
  const times = rowsBelow(sample).map(([at = '']) => Date.parse(at.replace(' ', 'T')) / MINUTE_MS);
  const gaps = times.slice(1).map((at, index) => at - times[index]!);
  const least = Math.min(...gaps.filter((gap) => gap > 0));
  return [1, 2, 5, 15, 30, 60, 90].includes(least) ? `${least}M` : null;
}

export const yfinance: Preset = {
  name: 'yfinance',
  says: 'History of the Python package yfinance: Ticker(…).history().to_csv()',
  dataset: 'bars',
  example: [`Date,${history.join()}`, '2025-02-27 00:00:00-05:00,70.3,70.8,70.1,70.45,12345600,0.0,0.0'],
  fits: contains(...history),
  mappingOf(sample) {
    const [at = ''] = firstCells(sample);
    // Days are adjusted for dividends unless Adj Close beside them shows that they are not; minutes never are.
    const isDaily = at === 'Date';
    const isAdjusted = isDaily && !hasColumns(sample, ['Adj Close']);
    return {
      columns: { datetime: at, open: 'Open', high: 'High', low: 'Low', close: 'Close', volume: 'Volume' },
      values: known({
        symbol: symbolNamed(sample),
        interval: isDaily ? intervalOfDates(sample) : intervalOfTimes(sample),
      }),
      prices: isAdjusted ? 'all' : 'split',
      symbols: 'now',
      notation: 'yahoo',
    };
  },
};

/** The parts of a symbol, counted from its end. */
const root = 'left({contractSymbol}, length({contractSymbol}) - 15)';
const letters = `left(${root}, length(${root}) - 1)`;
const expiration = 'substr({contractSymbol}, length({contractSymbol}) - 14, 6)';
const type = 'substr({contractSymbol}, length({contractSymbol}) - 8, 1)';
const thousandths = 'cast(right({contractSymbol}, 8) as double)';

const byIndex = indices.map(([one, index]) => `when ${quoted(one)} then ${quoted(index)}`).join(' ');

const columns: Readonly<Record<string, Cell>> = {
  symbol: 'contractSymbol',
  underlying_name: {
    sql: `case when regexp_matches(${root}, '^[A-Z]+[0-9]$') then ${letters} when not regexp_matches(${root}, '^[0-9]|[0-9]$') then case ${root} ${byIndex} else ${root} end end`,
    isStrict: true,
    reason: 'names no underlying',
  },
  expiration_date: {
    sql: `strftime(strptime(${expiration}, '%y%m%d'), '%Y-%m-%d')`,
    isStrict: true,
    reason: 'has no expiration',
  },
  option_type: {
    sql: `case ${type} when 'C' then 'call' when 'P' then 'put' end`,
    isStrict: true,
    reason: 'is neither a call nor a put',
  },
  strike_price: {
    sql: `case when round({strike}::double * 1000) = ${thousandths} then #{strike} end`,
    isStrict: true,
    reason: 'is not the strike of contractSymbol',
  },
  contract_value: { column: 'contractSize', lookup: { REGULAR: '100' } },
};

/** A chain does not say when it was quoted: `lastTradeDate` is that of the last price alone. */
const quotes = {
  ...{ bid: 'bid', ask: 'ask', last: 'lastPrice', volume: 'volume' },
  ...{ open_interest: 'openInterest', implied_volatility: 'impliedVolatility' },
};

export const yfinanceChain: Preset = {
  name: 'yfinance-chain',
  says: 'Option chains of the Python package yfinance, calls or puts of one expiration',
  dataset: 'option-contracts',
  example: [
    'contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,change,percentChange,volume,openInterest,impliedVolatility,inTheMoney,contractSize,currency',
    'AAPL260116C00200000,2025-10-01 19:59:59+00:00,200.0,57.73,58.3,61.5,0.0,0.0,2.0,1,0.35,True,REGULAR,USD',
  ],
  fits: contains('contractSymbol', 'lastTradeDate', 'strike', 'contractSize'),
  mappingOf: (sample) => ({
    columns: { ...columns, ...thoseOf(sample, quotes) },
    values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
    symbols: 'now',
    namesRoots: true,
  }),
};
