// The presets. Adding one is its file and its line here.
import { alpaca } from './alpaca.ts';
import { alpacaNews } from './alpaca-news.ts';
import { binance } from './binance.ts';
import { databento } from './databento.ts';
import { dukascopy, dukascopyNode } from './dukascopy.ts';
import { eodhdDaily, eodhdIntraday } from './eodhd.ts';
import { forexFactory } from './forex-factory.ts';
import { fred } from './fred.ts';
import { histdata } from './histdata.ts';
import { lean } from './lean.ts';
import { leanFactors } from './lean-factors.ts';
import { leanMap } from './lean-map.ts';
import { leanUniverse } from './lean-universe.ts';
import { massive } from './massive.ts';
import { massiveNews } from './massive-news.ts';
import { nasdaqListed, otherListed } from './nasdaq-trader.ts';
import { occ } from './occ.ts';
import type { Preset } from './preset.ts';
import { stooq, stooqPage } from './stooq.ts';
import { tradingview } from './tradingview.ts';
import { yahoo } from './yahoo.ts';
import { yfinanceChain } from './yfinance.ts';

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
];
