// The presets. Adding one is its file and its line here.
import { alpaca, alpacaNews, alpacaPy } from './alpaca.ts';
import { eodhdEvents, fmpEvents, forexFactory, fred, tradingEconomics } from './calendars-of-events.ts';
import { binance, coinMarketCap, cryptoDataDownload, freqtrade, kraken } from './coins.ts';
import { databento } from './databento.ts';
import { eodhdCalendar, eodhdDaily, eodhdDividends, eodhdIntraday, eodhdSplits } from './eodhd.ts';
import { dukascopy, dukascopyNode, histdata } from './forex-minutes.ts';
import { lean, leanUniverse } from './lean.ts';
import { leanFactors, leanMap } from './lean-factors.ts';
import { massive, massiveAggregates, massiveFrame, massiveGrouped, massiveNews } from './massive.ts';
import {
  massiveChain,
  massiveContracts,
  massiveDividends,
  massiveEvents,
  massiveHolidays,
  massiveSplits,
  massiveTickers,
} from './massive-lists.ts';
import type { Preset } from './preset.ts';
import { stooq, stooqPage } from './stooq.ts';
import { tradingview } from './tradingview.ts';
import { nasdaqListed, occ, otherListed } from './us-symbols.ts';
import { lists } from './vendor-lists.ts';
import { tables } from './vendor-tables.ts';
import { yahoo, yfinance, yfinanceActions, yfinanceDownload } from './yahoo.ts';

export const presets: readonly Preset[] = [
  massive,
  binance,
  databento,
  alpaca,
  alpacaPy,
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
  leanUniverse,
  massiveNews,
  alpacaNews,
  fred,
  forexFactory,
  eodhdEvents,
  fmpEvents,
  tradingEconomics,
  ...tables,
  kraken,
  cryptoDataDownload,
  coinMarketCap,
  freqtrade,
  eodhdDividends,
  eodhdSplits,
  eodhdCalendar,
  ...lists,
  yfinanceDownload,
  yfinance,
  yfinanceActions,
  massiveAggregates,
  massiveGrouped,
  massiveFrame,
  massiveContracts,
  massiveChain,
  massiveDividends,
  massiveSplits,
  massiveTickers,
  massiveEvents,
  massiveHolidays,
];
