// Binance public klines (data.binance.vision): spot, USD-M and COIN-M futures.
import { unfitProblem } from '../../read/file-problem.ts';
import { linesOf, type Sample, stemOf } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { begins, doubtOfDate, firstCells, known, type Preset } from './preset.ts';

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
      asset_schema: 'crypto',
      country_iso_code: 'GLOBAL',
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
