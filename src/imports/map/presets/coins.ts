// Bars of coins: Binance's public klines (data.binance.vision), Kraken, CryptoDataDownload, CoinMarketCap,
// and those of freqtrade and ccxt. `source` is where the vendor's program or documentation shows the form.
import { unfitProblem } from '../../read/file-problem.ts';
import { cellsOf, linesOf, type Sample, stemOf } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { begins, codes, doubtOfDate, firstCells, known, lower, named, type Preset } from './preset.ts';

const coins = { asset_schema: 'crypto', country_iso_code: 'GLOBAL' };

/** The header, where a file has one; the columns are always these. */
const header =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore';
const columns = header.split(',');

/** Binance's codes, in its letter case: `1m` is a minute, `1M` and `1mo` a month. */
const intervals: Readonly<Record<string, string>> = {
  ...Object.fromEntries([1, 3, 5, 15, 30].map((minutes) => [`${minutes}m`, `${minutes}M`])),
  ...Object.fromEntries([1, 2, 4, 6, 8, 12].map((hours) => [`${hours}h`, `${hours * 60}M`])),
  '1d': 'DAY',
  '1w': 'WEEK',
  '1mo': 'MON',
  '1M': 'MON',
};

/** `BTCUSDT-1h-2020-08`, `BTCUSD_PERP-1m-2024-01-02`. */
const NAME = /^([A-Z0-9]+(?:_[A-Z0-9]+)?)-(\d{1,2}(?:mo|[smhdwM]))-(\d{4}-\d{2}(?:-\d{2})?)/;

const EPOCH = /^1\d{12}(\d{3})?$/;

/** The worth of one contract of a coin-margined future in US dollars. */
const contractWorth = (symbol: string): number => (symbol.startsWith('BTCUSD') ? 100 : 10);

/** The open of the first bar; microseconds have three digits more than milliseconds. */
function firstMs(sample: Sample): number {
  const opens = linesOf(sample).map((line) => line.slice(0, line.indexOf(',')));
  return Number(opens.find((open) => EPOCH.test(open))?.slice(0, 13) ?? 0);
}

function mappingOf(sample: Sample): ColumnMapping {
  const [, symbol, code, date] = NAME.exec(stemOf(sample)) ?? [];
  if (code !== undefined && intervals[code] === undefined)
    throw unfitProblem(
      sample.name,
      `has bars of ${code}, which cannot be stored. The intervals are minutes, DAY, WEEK and MON`,
    );
  const isCoinMargined = symbol !== undefined && /USD_(PERP|\d{6})$/.test(symbol);
  // There `volume` counts contracts, and `quote_volume` is the volume of the coin.
  const [volume, worth] = isCoinMargined
    ? ['quote_volume', `#{volume} * ${contractWorth(symbol)}`]
    : ['volume', '#{quote_volume}'];
  return {
    header: columns,
    columns: {
      datetime: 'open_time',
      volume,
      vwap: { sql: `round(${worth} / nullif(#{${volume}}, 0), 12)` },
    },
    values: known({
      ...coins,
      symbol,
      interval: intervals[code ?? ''],
    }),
    prices: 'raw',
    ...doubtOfDate(date, firstMs(sample)),
  };
}

export const binance: Preset = {
  name: 'binance',
  says: 'Binance public klines: spot, USD-M and COIN-M, with and without a header',
  dataset: 'bars',
  example: [
    '1596240000000,12.0100,12.2000,11.9500,12.1200,5120.10,1596243599999,61837.91,412,2540.00,30702.44,0',
  ],
  fits(sample) {
    const cells = firstCells(sample);
    const [open = '', , , , , , close = ''] = cells;
    const isRow = cells.length === columns.length && EPOCH.test(open) && EPOCH.test(close);
    return isRow && Number(open) < Number(close) ? 'surely' : begins(header)(sample);
  },
  mappingOf,
};

/** The second line of a file of CryptoDataDownload is its header; the first is its address. */
const secondCells = (sample: Sample): string[] => cellsOf(linesOf(sample)[1] ?? '', ',') ?? [];

/** Source: cryptodatadownload.com/data: newest first, UTC, epochs of seconds or milliseconds. */
export const cryptoDataDownload: Preset = {
  name: 'cryptodatadownload',
  says: 'CryptoDataDownload, one pair of one exchange: Binance_BTCUSDT_1h.csv',
  dataset: 'bars',
  example: [
    'https://www.CryptoDataDownload.com',
    'Unix,Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USDT,tradecount',
    '1704067200000,2024-01-01 00:00:00,BTCUSDT,42283.58,42554.57,42261.02,42475.23,1271.68,53957248.97,47134',
  ],
  fits(sample) {
    const cells = secondCells(sample).map((cell) => cell.toLowerCase());
    const isTable = ['date', 'symbol', 'open', 'close'].every((one) => cells.includes(one));
    return isTable && cells[0]!.startsWith('unix') && /cryptodatadownload/i.test(firstCells(sample)[0] ?? '')
      ? 'surely'
      : 'no';
  },
  mappingOf(sample) {
    const cells = secondCells(sample);
    const column = (name: string) => cells.find((cell) => cell.toLowerCase() === name)!;
    return {
      skip: 1,
      columns: {
        datetime: cells[0]!,
        ...Object.fromEntries(['symbol', 'open', 'high', 'low', 'close'].map((one) => [one, column(one)])),
        // That of the coin comes first, that of the currency second.
        volume: cells.find((cell) => /^volume/i.test(cell))!,
      },
      values: known({ ...coins, interval: codes[/_(minute|1h|d)$/.exec(stemOf(sample))?.[1] ?? ''] }),
      prices: 'raw',
    };
  },
};

/** Source: coinmarketcap.com, "Historical Data", download: newest first, UTC days, prices in US dollars. */
export const coinMarketCap: Preset = {
  name: 'coinmarketcap',
  says: 'CoinMarketCap historical data of one coin, days in US dollars (these need --symbol)',
  dataset: 'bars',
  example: [
    'timeOpen;timeClose;timeHigh;timeLow;name;open;high;low;close;volume;marketCap;circulatingSupply;timestamp',
    '"2024-01-01T00:00:00.000Z";"2024-01-01T23:59:59.999Z";"2024-01-01T23:59:00.000Z";"2024-01-01T00:03:00.000Z";"2781";42280.24;44175.44;42214.98;44167.33;18426978443.46;865112222222.1;19588756;"2024-01-01T23:59:59.999Z"',
  ],
  fits: (sample) => {
    const cells = new Set(firstCells(sample, ';'));
    return ['timeOpen', 'timeClose', 'timeHigh', 'open', 'marketCap'].every((one) => cells.has(one))
      ? 'surely'
      : 'no';
  },
  mappingOf: () => ({
    delimiter: ';',
    columns: { open: 'open', high: 'high', low: 'low', close: 'close', datetime: 'timeOpen' },
    values: { ...coins, interval: 'DAY' },
    prices: 'raw',
  }),
};

const krakenColumns = ['time', 'open', 'high', 'low', 'close', 'volume', 'trades'];
const KRAKEN = /^([A-Z0-9.]+)_(1|5|15|30|60|240|720|1440)$/;

/**
 * Source: support.kraken.com/hc/en-us/articles/360047124832, "Downloadable historical OHLCVT data": open,
 * high, low, close, volume, trades behind the time, intervals of 1 to 1440 minutes, only those with trades;
 * no header.
 */
export const kraken: Preset = {
  name: 'kraken',
  says: 'Kraken OHLCVT history: XBTUSD_60.csv',
  dataset: 'bars',
  example: ['1704067200,42283.58,42554.57,42261.02,42475.23,71.68,1134'],
  fits(sample) {
    const cells = firstCells(sample);
    const isRow = cells.length === krakenColumns.length && cells.every((cell) => /^[\d.]+$/.test(cell));
    if (!krakenColumns.every((one, at) => cells[at] === one) && !(isRow && /^1\d{9}$/.test(cells[0]!)))
      return 'no';
    return KRAKEN.test(stemOf(sample)) ? 'surely' : 'perhaps';
  },
  mappingOf: (sample) => ({
    header: krakenColumns,
    columns: { ...lower, datetime: { column: 'time', epoch: 's' } },
    values: { ...coins, ...named(sample, KRAKEN) },
    prices: 'raw',
  }),
};

/**
 * `BTC_USDT-5m`, and of futures `BTC_USDT_USDT-1h-futures`: others than these are no prices that were traded.
 */
const FREQTRADE =
  /(?:^|[/\\])([A-Z0-9]+)_([A-Z0-9]+)(?:_[A-Z0-9]+)?-(\d+)(m|h|d|w|Mo)(-futures)?\.(json|feather|parquet)(?:\.gz)?$/;
const CANDLE = /^[\s\ufeff]*\[\s*\[\s*1\d{12}\s*(?:,\s*[\d.eE+-]+\s*){5}\]/;

const periodOf = (count: number, unit: string): string | undefined => {
  if (unit === 'm' || unit === 'h') return `${unit === 'm' ? count : count * 60}M`;
  return count === 1 ? { d: 'DAY', w: 'WEEK', Mo: 'MON' }[unit] : undefined;
};

/**
 * Source: github.com/freqtrade/freqtrade, freqtrade/data/history/datahandlers (names of files, columns) and
 * freqtrade/misc.py (pairs in names); docs.ccxt.com, "OHLCV Structure": UTC milliseconds of the open,
 * volume in the base currency.
 */
export const freqtrade: Preset = {
  name: 'freqtrade',
  says: 'freqtrade, candles of one pair: BTC_USDT-5m.json, .feather or .parquet; lists of ccxt',
  dataset: 'bars',
  example: ['[[1704067200000,42283.58,42554.57,42261.02,42475.23,71.68]]'],
  fits({ name, text }) {
    const isBinary = text === '';
    if (!isBinary && !CANDLE.test(text)) return 'no';
    return FREQTRADE.test(name) ? 'surely' : isBinary ? 'no' : 'perhaps';
  },
  mappingOf({ name, text }) {
    const [, base, quote, count, unit = '', isFuture] = FREQTRADE.exec(name) ?? [];
    const symbol = base === undefined || isFuture !== undefined ? null : `${base}${quote}`;
    return {
      ...(text !== '' && { header: ['date', ...Object.keys(lower)] }),
      columns: { ...lower, datetime: 'date' },
      values: known({ ...coins, symbol, interval: periodOf(Number(count), unit) }),
      prices: 'raw',
      label: 'open',
    };
  },
};
