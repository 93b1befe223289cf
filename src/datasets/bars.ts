// Series of bars: one an instrument and interval. The bars themselves are blocks, not rows (docs/architecture.md).
import { intervalsAllowed, parseInterval } from '../contract/interval.ts';
import { boolean, dataset, instant, integer, orNull, text } from './dataset.ts';
import {
  anyNumber,
  assetSchemaField,
  countryField,
  type Fields,
  optional,
  parsedBy,
  required,
  symbolField,
  textThat,
} from './field.ts';

/** The fields that name a series, and the fields of its values, in the order of the arrays of an import. */
export const seriesFields = ['asset_schema', 'country_iso_code', 'symbol', 'interval', 'exchange'] as const;
export const valueFields = ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const;

/** The most characters of an exchange in a row. */
export const EXCHANGE_LENGTH_MAX = 20;

/** The fields of a bars file (contract 11). */
export const barFields: Fields = {
  datetime: required({ unit: 'minute' }),
  open: required(anyNumber),
  high: required(anyNumber),
  low: required(anyNumber),
  close: required(anyNumber),
  asset_schema: assetSchemaField,
  country_iso_code: countryField,
  symbol: symbolField,
  interval: required(parsedBy(parseInterval, `must be one of ${intervalsAllowed}`), { flag: '--interval' }),
  volume: optional(anyNumber),
  vwap: optional(anyNumber),
  exchange: optional(
    textThat(
      (text) => text.length <= EXCHANGE_LENGTH_MAX,
      `must be a MIC of up to ${EXCHANGE_LENGTH_MAX} characters`,
    ),
    { flag: '--exchange' },
  ),
};

export const series = dataset({
  name: 'series',
  columns: {
    instrument_id: integer,
    interval: text,
    series_id: integer,
    /** The adjustment of the prices before the import: raw, split, all (contract 9.4). */
    prices: text,
    /** The adjustment of the volumes before the import, where it is not that of the prices: raw, split (contract 9.4). */
    volumes: orNull(text),
    /** Keys of the first and the last stored bar; 0 without bars. */
    first_ms: instant,
    last_ms: instant,
    /** 0 where all bars are gone but runs that can be undone still name them: such a series is hidden. */
    bar_count: integer,
    /** Whether a stored bar opened off the session grid: such a series is never used to derive (contract 3.10). */
    off_grid: boolean,
  },
  key: ['instrument_id', 'interval'],
  indexes: [['series_id']],
});

/**
 * The end of the newest import into a market at an interval (contract 3.9). A venue beside the default market of its asset type
 * and country has separate rows: its `asset_schema` is `future/US_FUTURE_CBOT_GRAIN`.
 */
export const barCoverage = dataset({
  name: 'bar_coverage',
  columns: { asset_schema: text, country_iso_code: text, interval: text, finished_ms: instant },
  key: ['asset_schema', 'country_iso_code', 'interval'],
});
