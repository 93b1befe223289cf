// The presets. Adding one is its file and its line here.
import { alpaca, alpacaNews } from './alpaca.ts';
import { binance } from './binance.ts';
import { databento } from './databento.ts';
import { dukascopy, dukascopyNode } from './dukascopy.ts';
import { eodhdDaily, eodhdIntraday } from './eodhd.ts';
import { forexFactory } from './forex-factory.ts';
import { fred } from './fred.ts';
import { histdata } from './histdata.ts';
import { lean, leanUniverse } from './lean.ts';
import { leanFactors, leanMap } from './lean-factors.ts';
import {
  massive,
  massiveAggregates,
  massiveContracts,
  massiveDividends,
  massiveNews,
  massiveSplits,
} from './massive.ts';
import { nasdaqListed, otherListed } from './nasdaq-trader.ts';
import { occ } from './occ.ts';
import type { Preset } from './preset.ts';
import { stooq, stooqPage } from './stooq.ts';
import { tradingview } from './tradingview.ts';
import { tables } from './vendor-tables.ts';
import { yahoo, yfinance, yfinanceChain } from './yahoo.ts';

export const presets: readonly Preset[] = [
  massive,
  binance,
  databento,
  alpaca,
  lean,
  leanFactors,
  leanMap,
  stooq,
  stooqPage,
  yahoo,
  eodhdDaily,
  eodhdIntraday,
  histdata,
  dukascopy,
  dukascopyNode,
  tradingview,
  nasdaqListed,
  otherListed,
  occ,
  yfinanceChain,
  leanUniverse,
  massiveNews,
  alpacaNews,
  fred,
  forexFactory,
  ...tables,
  yfinance,
  massiveAggregates,
  massiveContracts,
  massiveDividends,
  massiveSplits,
];
