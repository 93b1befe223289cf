// EODHD (EOD Historical Data): end of day and intraday, as CSV.
import { type Sample, stemOf } from '../../read/sample.ts';
import { begins, intervalOfDates, known, minutesOf, type Preset, rowsBelow } from './preset.ts';

const daily = 'Date,Open,High,Low,Close,Adjusted_close,Volume';
const intraday = 'Timestamp,Gmtoffset,Datetime,Open,High,Low,Close,Volume';

const values = { open: 'Open', high: 'High', low: 'Low', close: 'Close', volume: 'Volume' };

/** `AAPL.US` is AAPL of the US. */
function named(sample: Sample): { symbol?: string; country_iso_code?: string } {
  const [, symbol, exchange] = /^([A-Z0-9][A-Z0-9-]*)\.(US|CC|FOREX)$/.exec(stemOf(sample)) ?? [];
  if (symbol === undefined) return {};
  return { symbol, country_iso_code: exchange === 'US' ? 'US' : 'GLOBAL' };
}

export const eodhdDaily: Preset = {
  name: 'eodhd',
  says: 'EODHD end of day prices: days, weeks, months',
  dataset: 'bars',
  example: [daily, '2020-08-28,504.05,505.77,498.31,499.23,121.0234,187630000'],
  fits: begins(daily),
  mappingOf: (sample) => ({
    columns: { ...values, datetime: 'Date' },
    values: known({ ...named(sample), interval: intervalOfDates(sample) }),
    prices: 'raw',
    volumes: 'split',
    symbols: 'now',
    notation: 'yahoo',
  }),
};

export const eodhdIntraday: Preset = {
  name: 'eodhd-intraday',
  says: 'EODHD intraday prices: minutes, five minutes, hours',
  dataset: 'bars',
  example: [intraday, '1744810200,0,2025-04-16 13:30:00,198.36,198.9,197.8,198.11,3120410'],
  fits: begins(intraday),
  mappingOf: (sample) => ({
    columns: { ...values, datetime: { column: 'Timestamp', epoch: 's' } },
    values: known({ ...named(sample), interval: minutesOf(rowsBelow(sample).map(([at]) => Number(at))) }),
    prices: 'raw',
    symbols: 'now',
    notation: 'yahoo',
  }),
};
