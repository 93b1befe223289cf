// Option chains of the Python package yfinance: `option_chain(date).calls.to_csv()`, or its puts.
import { europeanRoots, indexOfRoot, indexRoots } from '../../datasets/option-roots.ts';
import { quoted } from '../../files/computed-column.ts';
import type { Cell } from '../cell.ts';
import { contains, type Preset } from './preset.ts';

/** The parts of a symbol, counted from its end. */
const root = 'left({contractSymbol}, length({contractSymbol}) - 15)';
const expiration = 'substr({contractSymbol}, length({contractSymbol}) - 14, 6)';
const type = 'substr({contractSymbol}, length({contractSymbol}) - 8, 1)';
const thousandths = 'cast(right({contractSymbol}, 8) as double)';

const indices = indexRoots.map((one) => `when ${quoted(one)} then ${quoted(indexOfRoot(one)!)}`).join(' ');

const columns: Readonly<Record<string, Cell>> = {
  symbol: 'contractSymbol',
  underlying_name: {
    sql: `case when not regexp_matches(${root}, '^[0-9]|[0-9]$') then case ${root} ${indices} else ${root} end end`,
    isStrict: true,
    reason: 'was adjusted by a corporate action: it delivers something else than the underlying',
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
  exercise_style: {
    sql: `case when ${root} in (${europeanRoots.map(quoted).join()}) then 'european' else 'american' end`,
  },
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
  mappingOf: () => ({
    columns,
    values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
    symbols: 'now',
  }),
};
